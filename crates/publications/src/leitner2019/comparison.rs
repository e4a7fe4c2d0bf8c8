//! The proposal beside the reference: point by point, on average, and in words.

use serde_json::Value;
use subflow_lab::statistics::{Interval, mean};
use subflow_report::Measured;

use super::{EQUAL_LOSS, LOSS_ON_PATH_2, PROPOSAL, REFERENCE};
use crate::study::{Cell, Results, Row};

/// The RTT of a cell's second path, in milliseconds.
pub(super) fn rtt(row: &Row) -> i64 {
    row.cell.integer("rtt2")
}

/// The loss of a cell's second path, in percent.
pub(super) fn loss(row: &Row) -> i64 {
    row.cell.integer("loss2")
}

/// Whether path 2 loses packets by chance.
pub(super) fn has_loss(row: &Row) -> bool {
    loss(row) > 0
}

/// From this loss on, in percent, it is much.
pub(super) const MUCH_LOSS_PCT: i64 = 5;

/// Whether path 2 loses many.
pub(super) fn has_much_loss(row: &Row) -> bool {
    loss(row) >= MUCH_LOSS_PCT
}

/// The reference and the proposal at each point of `item`.
pub(super) fn pairs<'a>(all: &'a Results, item: &str) -> Vec<(&'a Row, &'a Row)> {
    let proposals = all.of(item).filter(|row| row.cell.is("mode", PROPOSAL));
    proposals.filter_map(|row| Some((at_point_of(all, row, REFERENCE)?, row))).collect()
}

/// Two modes at each point where the proposal is taken apart.
pub(super) fn side_by_side<'a>(all: &'a Results, one: &str, other: &str) -> Vec<(&'a Row, &'a Row)> {
    let apart = all.rows.iter().filter(|row| row.cell.is("variant", "growth and recovery"));
    let of_one = apart.filter(|row| row.cell.is("mode", one));
    of_one.filter_map(|row| Some((row, at_point_of(all, row, other)?))).collect()
}

/// The reference that `row` is to be set against: the same point. A reference has none.
pub(super) fn reference_of<'a>(all: &'a Results, row: &Row) -> Option<&'a Row> {
    if row.cell.is("mode", REFERENCE) { None } else { at_point_of(all, row, REFERENCE) }
}

/// `mode` at the point of `row`: all variables but those of the mode are the same.
fn at_point_of<'a>(all: &'a Results, row: &Row, mode: &str) -> Option<&'a Row> {
    all.of(&row.cell.item).find(|other| other.cell.is("mode", mode) && point(&other.cell).eq(point(&row.cell)))
}

fn point(cell: &Cell) -> impl Iterator<Item = (&String, &Value)> {
    let of_mode = ["mode", "window_growth", "fast_recovery"];
    cell.variables.iter().filter(move |(name, _)| !of_mode.contains(&name.as_str()))
}

/// One point of an experiment, and what the proposal makes of a figure there.
pub(super) struct Point<'a> {
    pub(super) reference: &'a Row,
    pub(super) proposal: &'a Row,
    pub(super) ratio: Ratio,
}

impl Point<'_> {
    /// Where it is, in words.
    pub(super) fn name(&self) -> String {
        format!("{} ms and {} %", rtt(self.reference), loss(self.reference))
    }
}

/// The points of `item` at the `wanted` cells where the ratio of the figure at `index` is known.
pub(super) fn points<'a>(all: &'a Results, item: &str, index: usize, wanted: impl Fn(&Row) -> bool) -> Vec<Point<'a>> {
    let pairs = pairs(all, item).into_iter().filter(|(reference, _)| wanted(reference));
    pairs
        .filter_map(|(reference, proposal)| {
            Some(Point { reference, proposal, ratio: ratio(reference, proposal, index)? })
        })
        .collect()
}

/// The points of both experiments. The point where both have the same loss counts once.
pub(super) fn points_of_both<'a>(all: &'a Results, index: usize, wanted: impl Fn(&Row) -> bool) -> Vec<Point<'a>> {
    let mut both = points(all, EQUAL_LOSS, index, &wanted);
    let is_new = |row: &Row| wanted(row) && (both.is_empty() || row.cell.integer("loss1") != loss(row));
    let others = points(all, LOSS_ON_PATH_2, index, is_new);
    both.extend(others);
    both
}

/// The mean of the ratios.
pub(super) fn average(points: &[Point<'_>]) -> Option<Ratio> {
    Ratio::mean(&points.iter().map(|point| point.ratio).collect::<Vec<_>>())
}

/// The average over the points, the extremes, and at how many of them the intervals tell, after the words that say of
/// what.
pub(super) fn summary(of_what: &str, points: &[Point<'_>], quantity: Quantity) -> Option<String> {
    let average = average(points)?;
    let least = points.iter().min_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value))?;
    let most = points.iter().max_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value))?;
    let lower = points.iter().filter(|point| point.ratio.is_below_one()).count();
    let higher = points.iter().filter(|point| point.ratio.is_above_one()).count();
    let (less, more) = quantity.words();
    Some(format!(
        "{of_what} {} on average over {} points: from {} at {} to {} at {}; {less} for certain at {lower} of them, \
         {more} at {higher}",
        quantity.difference(average),
        points.len(),
        quantity.difference(least.ratio),
        least.name(),
        quantity.difference(most.ratio),
        most.name(),
    ))
}

/// The mean of one mode over that of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ratio {
    pub(super) value: f64,
    /// Half of the 95 % interval.
    pub(super) half: f64,
}

impl Ratio {
    /// Of two means, each with half of its interval. `None` where the denominator is zero or uncertain by half of itself:
    /// the delta method is for small errors.
    fn of((numerator, half): (f64, f64), (denominator, half_of_denominator): (f64, f64)) -> Option<Self> {
        let relative = |mean: f64, half: f64| if half == 0.0 { 0.0 } else { half / mean };
        let uncertainty = relative(denominator, half_of_denominator);
        if denominator == 0.0 || uncertainty >= 0.5 {
            return None;
        }
        let value = numerator / denominator;
        // Delta method: the relative variances of independent means add up.
        Some(Self { value, half: value * relative(numerator, half).hypot(uncertainty) })
    }

    /// The mean of ratios of independent measurements; `None` without any.
    pub(super) fn mean(ratios: &[Self]) -> Option<Self> {
        let value = mean(&ratios.iter().map(|ratio| ratio.value).collect::<Vec<_>>())?;
        let squares: f64 = ratios.iter().map(|ratio| ratio.half.powi(2)).sum();
        Some(Self { value, half: squares.sqrt() / ratios.len() as f64 })
    }

    /// As the figure that decides a finding.
    pub(super) fn measured(self) -> Measured {
        Measured::new(self.value, Some(Interval { low: self.low(), high: self.high(), confidence: 0.95 }), "times")
    }

    /// The lower end of the interval.
    pub(super) fn low(self) -> f64 {
        self.value - self.half
    }

    /// The upper end of the interval.
    pub(super) fn high(self) -> f64 {
        self.value + self.half
    }

    /// The whole interval lies below 1.
    pub(super) fn is_below_one(self) -> bool {
        self.high() < 1.0
    }

    /// The whole interval lies above 1.
    pub(super) fn is_above_one(self) -> bool {
        self.low() > 1.0
    }
}

/// Proposal over reference, of a metric; `None` where there is no interval.
pub(super) fn ratio(reference: &Row, proposal: &Row, metric: usize) -> Option<Ratio> {
    let figure = |row: &Row| {
        let interval = row.interval(metric)?;
        Some((row.mean(metric), (interval.high - interval.low) / 2.0))
    };
    Ratio::of(figure(proposal)?, figure(reference)?)
}

/// What a ratio is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    Time,
    Chunks,
}

impl Quantity {
    /// The words for less and more of it.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Time => ("shorter", "longer"),
            Self::Chunks => ("fewer", "more"),
        }
    }

    /// A ratio as a difference: `8.7 % longer (± 2.1)`, and from half as much again on `2.2 times as long (± 0.6)`.
    pub(super) fn difference(self, ratio: Ratio) -> String {
        let (less, more) = self.words();
        let equal = match self {
            Self::Time => "as long",
            Self::Chunks => "as many",
        };
        let Ratio { value, half } = ratio;
        let percent = (value - 1.0).abs() * 100.0;
        match value {
            _ if percent < 0.05 && half < 0.0005 => format!("just {equal}"),
            _ if percent < 0.05 => format!("{equal} (± {:.1} %)", half * 100.0),
            1.5.. => format!("{value:.1} times {equal} (± {half:.1})"),
            1.0.. => format!("{percent:.1} % {more} (± {:.1})", half * 100.0),
            _ => format!("{percent:.1} % {less} (± {:.1})", half * 100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::TRANSFER;
    use super::super::findings::tests::made;
    use super::*;

    #[test]
    fn differences_read_as_people_say_them() {
        let time = |value, half| Quantity::Time.difference(Ratio { value, half });
        assert_eq!(time(2.18, 0.57), "2.2 times as long (± 0.6)");
        assert_eq!(time(1.087, 0.021), "8.7 % longer (± 2.1)");
        assert_eq!(time(0.792, 0.01), "20.8 % shorter (± 1.0)");
        assert_eq!(time(1.0, 0.0), "just as long");
        assert_eq!(time(0.9996, 0.047), "as long (± 4.7 %)");
        assert_eq!(Quantity::Chunks.difference(Ratio { value: 0.999, half: 0.01 }), "0.1 % fewer (± 1.0)");
    }

    #[test]
    fn a_point_that_both_experiments_have_counts_once() {
        let all = made(0.8);
        let alone: usize =
            [LOSS_ON_PATH_2, EQUAL_LOSS].map(|item| points(&all, item, TRANSFER, |_| true).len()).iter().sum();
        assert_eq!(points_of_both(&all, TRANSFER, |_| true).len(), alone - 2, "one at each of two RTTs");
    }

    #[test]
    fn the_interval_of_a_ratio_adds_relative_errors() {
        let ratio = Ratio::of((8.0, 0.24), (10.0, 0.4)).expect("not over zero");
        assert!((ratio.value - 0.8).abs() < 1e-12 && (ratio.half - 0.8 * 0.05).abs() < 1e-12);
        assert!(ratio.is_below_one() && !ratio.is_above_one());
        assert_eq!(Ratio::of((1.0, 0.0), (0.0, 0.0)), None);
        assert_eq!(Ratio::of((33.0, 9.0), (0.2, 0.1)), None, "next to nothing");
        let both = Ratio::mean(&[ratio, Ratio { value: 1.0, half: 0.03 }]).expect("two ratios");
        assert!((both.value - 0.9).abs() < 1e-12 && (both.half - 0.025).abs() < 1e-12);
    }
}
