//! Claims about averages: what one value of a variable makes of a figure, on average over many cells.
//!
//! A ratio of two means has its interval by the delta method, and the mean of such ratios one of the independent errors
//! within the cells: that they differ from cell to cell is no error.

use subflow_lab::statistics::Interval;
use subflow_report::Measured;

use super::ratio::Ratio;
use super::results::{Part, Results, Row};
use super::selection::Selection;
use super::template::shown;

/// An average that differs by less than this share is no finding, however narrow its interval.
const NEGLIGIBLE: f64 = 0.01;

/// What the average of ratios is to be, with the share within which two are about equal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tendency {
    Less,
    More,
    Equal(f64),
    NoMore(f64),
}

impl Tendency {
    pub(super) fn text(self) -> String {
        match self {
            Self::Less => "the average ratio and its interval are below 1, by 1 % and more".to_owned(),
            Self::More => "the average ratio and its interval are above 1, by 1 % and more".to_owned(),
            Self::Equal(share) => {
                format!("the average ratio is 1, with an interval of ± {:.0} % at most", 100.0 * share)
            }
            Self::NoMore(share) => format!("the interval of the average ratio ends below {:.2}", 1.0 + share),
        }
    }

    /// Whether an average is as it should be; `None` where its interval allows both.
    fn admits(self, average: Ratio) -> Option<bool> {
        let differs = average.is_below_one() || average.is_above_one();
        match self {
            Self::Less if average.is_below_one() && average.value < 1.0 - NEGLIGIBLE => Some(true),
            Self::Less if average.high >= 1.0 && average.low < 1.0 - NEGLIGIBLE => None,
            Self::Less => Some(false),
            Self::More => Self::Less.admits(Ratio::around(2.0 - average.value, average.half())),
            Self::Equal(_) if differs && (average.value - 1.0).abs() > NEGLIGIBLE => Some(false),
            Self::Equal(share) => (average.half() < share).then_some(true),
            Self::NoMore(_) if average.is_above_one() => Some(false),
            Self::NoMore(share) => (average.high <= 1.0 + share).then_some(true),
        }
    }
}

/// Two cells that differ only in what is compared.
struct Point<'r> {
    /// Where it is, in words.
    name: String,
    rows: [&'r Row; 2],
}

/// The points of a claim. One that two experiments have counts once.
fn points<'r>(of: &Selection, results: &'r Results) -> Vec<Point<'r>> {
    let mut points: Vec<Point<'r>> = Vec::new();
    for pair in &of.pairs {
        for row in of.groups(results).into_iter().flat_map(|(_, rows)| rows) {
            let is_new = || points.iter().all(|point| point.rows[0].cell.variables != row.cell.variables);
            if !row.cell.is(&pair.variable, pair.values[0].clone()) || !is_new() {
                continue;
            }
            let Some(other) = results.beside(row, &pair.variable, &pair.values[1]) else { continue };
            let fixed =
                row.cell.swept().filter(|name| other.cell.variables.get(*name) == row.cell.variables.get(*name));
            let name = fixed.map(|name| format!("{name} {}", shown(&row.cell.variables[name]))).collect::<Vec<_>>();
            points.push(Point { name: name.join(", "), rows: [row, other] });
        }
    }
    points
}

pub(super) fn on_average(of: &Selection, tendency: Tendency, results: &Results) -> Option<Part> {
    let told = of.claim.told;
    let points = points(of, results);
    let ratio = |point: &Point<'_>| Ratio::by_errors(point.rows[0], point.rows[1], of.metric);
    let ratios: Vec<(&str, Ratio)> =
        points.iter().filter_map(|point| Some((point.name.as_str(), ratio(point)?))).collect();
    let average = Ratio::average(&ratios.iter().map(|(_, ratio)| *ratio).collect::<Vec<_>>())?;
    let by_value = |a: &&(&str, Ratio), b: &&(&str, Ratio)| a.1.value.total_cmp(&b.1.value);
    let ends = [ratios.iter().min_by(by_value)?, ratios.iter().max_by(by_value)?];
    let [least, most] = ends.map(|(name, ratio)| format!("{} ({name})", told.text(*ratio)));
    let count = |is_so: fn(Ratio) -> bool| ratios.iter().filter(|(_, ratio)| is_so(*ratio)).count();
    let (less, more) = (count(Ratio::is_below_one), count(Ratio::is_above_one));
    let text = format!(
        "{} on average over {} points, from {least} to {most}; less for certain at {less} of them, more at {more}, equal as \
         far as the intervals tell at {}",
        told.text(average),
        ratios.len(),
        ratios.len() - less - more,
    );
    Some(Part { holds: tendency.admits(average), measured: told.measured(average.measured()), text })
}

/// Whether the first of two is smaller by more, the greater the variable `along` is: at its greatest value than nothing,
/// and than at its least.
pub(super) fn gain_grows(of: &Selection, along: &str, results: &Results) -> Option<Part> {
    let points = points(of, results);
    let mut places: Vec<f64> = points.iter().map(|point| point.rows[0].cell.number(along)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let half = |row: &Row| row.interval(of.metric).map_or(f64::INFINITY, |it| (it.high - it.low) / 2.0);
    let gain = |place: &f64| {
        let at = || points.iter().map(|point| point.rows).filter(|rows| rows[0].cell.number(along) == *place);
        let number = at().count() as f64;
        let sum: f64 = at().map(|[a, b]| b.mean(of.metric) - a.mean(of.metric)).sum();
        let squares: f64 = at().flatten().map(|row| half(row).powi(2)).sum();
        (*place, sum / number, squares.sqrt() / number)
    };
    let gains: Vec<(f64, f64, f64)> = places.iter().map(gain).collect();
    let [(_, near, near_half), .., (_, far, far_half)] = gains.as_slice() else { return None };
    let (growth, half) = (far - near, far_half.hypot(*near_half));
    let holds = match () {
        () if far - far_half > 0.0 && growth - half > 0.0 => Some(true),
        () if far + far_half < 0.0 || growth + half < 0.0 => Some(false),
        () => None,
    };
    let shown = gains.iter().map(|(place, gain, half)| format!("{gain:.2} ± {half:.2} {} at {along} {place}", of.unit));
    let text = format!("less by {}", shown.collect::<Vec<_>>().join(", "));
    let interval = Interval { low: growth - half, high: growth + half, confidence: 0.95 };
    Some(Part { holds, measured: Measured::new(growth, Some(interval), &format!("{} more", of.unit)), text })
}

#[cfg(test)]
mod tests {
    use subflow_report::Finding;

    use crate::find;
    use crate::study::{Effort, Results, Study};

    fn study() -> &'static Study {
        find("leitner2019").expect("it is one of the papers")
    }

    /// Results of a quick look in which each figure of the proposal is `scale` times the reference's, and runs differ by
    /// the share `spread`.
    fn made(scale: f64, spread: f64) -> Results {
        study().invented(Effort::Quick, |cell| {
            let x = if cell.is("mode", "proposal") { scale } else { 1.0 };
            [x, (1.0 + spread) * x, x, (1.0 + spread) * x].map(|x| vec![x; 6]).to_vec()
        })
    }

    fn findings(all: &Results) -> Vec<Finding> {
        study().findings(all)
    }

    fn verdicts(all: &Results) -> Vec<Option<bool>> {
        findings(all).into_iter().map(|finding| finding.verdict.confirmed()).collect()
    }

    #[test]
    fn averages_are_confirmed_or_refuted() {
        let [yes, no] = [Some(true), Some(false)];
        // The same is saved at each RTT, which leaves open whether it grows.
        assert_eq!(verdicts(&made(0.8, 0.01)), [yes, yes, yes, no, yes, None, no, yes]);
        assert_eq!(verdicts(&made(1.2, 0.01)), [no, no, no, yes, no, no, no, no]);
        assert_eq!(verdicts(&made(1.0, 0.01)), [no, no, no, no, no, None, yes, yes]);
        let grows = study().invented(Effort::Quick, |cell| {
            let saved = if cell.is("mode", "proposal") { cell.number("rtt2") / 1000.0 } else { 0.0 };
            [1.0, 1.001, 1.0, 1.001].map(|x| vec![x - saved; 6]).to_vec()
        });
        assert_eq!(verdicts(&grows)[5], yes);
    }

    #[test]
    fn too_few_runs_and_cells_that_were_not_run_decide_nothing() {
        assert_eq!(verdicts(&made(0.95, 0.9))[..5], [None; 5]);
        assert_eq!(verdicts(&Results::default()), vec![None; 8]);
        let not_run = &findings(&Results::default())[6].evidence;
        assert!(not_run.contains("equal-loss, loss-on-path-2"), "{not_run}");
    }

    #[test]
    fn figures_are_in_the_unit_of_the_published_ones_and_shared_points_count_once() {
        let findings = findings(&made(0.8, 0.0));
        let less = findings[0].measured.as_ref().expect("it was run");
        assert!((less.value - 20.0).abs() < 1e-9 && less.unit == "% less", "{less:?}");
        let evidence = &findings[6].evidence;
        // No loss on path 2 belongs to both experiments; 1 % of it to either.
        assert!(evidence.contains("on average over 3 points"), "{evidence}");
    }
}
