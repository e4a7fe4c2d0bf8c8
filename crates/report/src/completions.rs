//! Figures of the times to completion in groups of flows.

use subflow_lab::results::{Experiment, GroupResult};

use super::comparison::MOST_DISTRIBUTIONS;
use super::figure::{Axis, Figure};
use super::parameter::label;

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
            Figure::distributions(format!("Time to completion of the flows of {}", self.group), axis, self.points)
                .caption("The flows that completed, of all runs.")
        })
    }
}
