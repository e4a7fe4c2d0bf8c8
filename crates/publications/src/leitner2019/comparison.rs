//! The proposal beside the reference: point by point, on average, and in words.

use super::grid::{Cell, EQUAL_LOSS, LOSS_ON_PATH_2};
use super::measurement::{Measurement, Measurements, Ratio, ratio};

/// One point of an experiment, and what the proposal makes of a figure there.
pub(super) struct Point<'a> {
    pub(super) reference: &'a Measurement,
    pub(super) proposal: &'a Measurement,
    pub(super) ratio: Ratio,
}

impl Point<'_> {
    /// Where it is, in words.
    pub(super) fn name(&self) -> String {
        let cell = &self.reference.cell;
        format!("{} ms and {} %", cell.rtt_ms[1], cell.loss_pct[1])
    }
}

/// The points of `item` at the `wanted` cells where the ratio of the figure at `index` is known.
pub(super) fn points<'a>(
    all: &'a Measurements,
    item: &str,
    index: usize,
    wanted: impl Fn(&Cell) -> bool,
) -> Vec<Point<'a>> {
    let pairs = all.pairs(item).into_iter().filter(|(reference, _)| wanted(&reference.cell));
    pairs
        .filter_map(|(reference, proposal)| {
            Some(Point { reference, proposal, ratio: ratio(reference, proposal, index)? })
        })
        .collect()
}

/// The points of both experiments. The point where both have the same loss counts once.
pub(super) fn points_of_both<'a>(
    all: &'a Measurements,
    index: usize,
    wanted: impl Fn(&Cell) -> bool,
) -> Vec<Point<'a>> {
    let mut both = points(all, EQUAL_LOSS, index, &wanted);
    let is_new = |cell: &Cell| wanted(cell) && (both.is_empty() || cell.loss_pct[0] != cell.loss_pct[1]);
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
    use super::super::findings::tests::made;
    use super::super::measurement::TRANSFER;
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
}
