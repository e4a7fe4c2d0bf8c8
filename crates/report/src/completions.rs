//! Figures of the times to completion in groups of flows.

use subflow_lab::results::{Experiment, GroupResult};

use super::figure::{Axis, Figure};
use super::parameter::label;

/// Maximum number of distributions in one figure. More would overlap too much; box plots show them instead.
pub(super) const MOST_DISTRIBUTIONS: usize = 8;
/// From this ratio of the longest to the shortest time on, the axis is logarithmic: on a linear one the short times,
/// which are most, would be in one place.
const WIDE: f64 = 30.0;

/// The times to completion of one group.
struct Times {
    group: String,
    /// By point of the sweep, over all of its runs.
    points: Vec<(String, Vec<f64>)>,
}

/// The distribution of the times to completion of each group's flows, with a curve for each point of the sweep.
pub(super) fn completions(experiment: &Experiment) -> Vec<Figure> {
    let mut groups: Vec<Times> = Vec::new();
    for (number, point) in experiment.statistics.iter().enumerate() {
        let runs = experiment.runs.iter().filter(|run| run.point == number);
        for GroupResult { name, completions_s, .. } in runs.flat_map(|run| GroupResult::all(&run.result)) {
            if !groups.iter().any(|times| times.group == name) {
                groups.push(Times { group: name.clone(), points: Vec::new() });
            }
            let times = groups.iter_mut().find(|times| times.group == name).expect("it was added");
            let place = label(&point.parameters);
            let curve = if place.is_empty() { name } else { place };
            match times.points.last_mut().filter(|(last, _)| *last == curve) {
                Some((_, all)) => all.extend(completions_s),
                None => times.points.push((curve, completions_s)),
            }
        }
    }
    groups.into_iter().filter_map(Times::figure).collect()
}

impl Times {
    fn figure(mut self) -> Option<Figure> {
        self.points.retain(|(_, times)| !times.is_empty());
        (1..=MOST_DISTRIBUTIONS).contains(&self.points.len()).then(|| {
            let axis = Axis::new("time to completion", "s");
            let (axis, scale) = match self.spans_orders_of_magnitude() {
                true => (axis.logarithmic(), " The axis is logarithmic."),
                false => (axis, ""),
            };
            Figure::distributions(format!("Time to completion of the flows of {}", self.group), axis, self.points)
                .caption(format!("The flows that completed, of all runs.{scale}"))
        })
    }
    fn spans_orders_of_magnitude(&self) -> bool {
        let all = || self.points.iter().flat_map(|(_, times)| times).copied();
        let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
        least > 0.0 && most >= WIDE * least
    }
}

#[cfg(test)]
mod tests {
    use super::super::figure::{Chart, Scale};
    use super::*;

    fn scale(times: [f64; 3]) -> Scale {
        let times = Times { group: "web".to_owned(), points: vec![("web".to_owned(), times.to_vec())] };
        let Chart::Curves(curves) = times.figure().expect("a figure").chart else { panic!("curves") };
        curves.x.scale
    }

    #[test]
    fn times_of_different_orders_of_magnitude_have_a_logarithmic_axis() {
        assert_eq!(scale([0.1, 1.0, 3.0]), Scale::Logarithmic);
        assert_eq!(scale([0.1, 1.0, 2.9]), Scale::Linear);
        assert_eq!(scale([0.0, 1.0, 2.9]), Scale::Linear, "zero is not on a logarithmic axis");
    }
}
