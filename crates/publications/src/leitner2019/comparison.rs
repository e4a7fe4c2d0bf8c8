//! The proposal beside the reference: point by point, on average, and in words.

use super::{EQUAL_LOSS, LOSS_ON_PATH_2, PROPOSAL, REFERENCE};
use crate::study::{Ratio, Results, Row};

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

/// Whether path 2 loses many.
pub(super) fn has_much_loss(row: &Row) -> bool {
    loss(row) >= 5
}

/// Two modes at each point where the proposal is taken apart.
pub(super) fn side_by_side<'a>(all: &'a Results, one: &str, other: &str) -> Vec<(&'a Row, &'a Row)> {
    let apart = all.rows.iter().filter(|row| row.cell.is("variant", "growth and recovery"));
    let of_one = apart.filter(|row| row.cell.is("mode", one));
    of_one.filter_map(|row| Some((row, all.beside(row, "mode", &other.into())?))).collect()
}

/// One point of an experiment, and what the proposal makes of a figure there.
pub(super) struct Point<'a> {
    pub(super) reference: &'a Row,
    pub(super) proposal: &'a Row,
    pub(super) ratio: Ratio,
}

impl Point<'_> {
    /// Where it is, in words.
    fn name(&self) -> String {
        format!("{} ms and {} %", rtt(self.reference), loss(self.reference))
    }
}

/// The points of `item` at the `wanted` cells where the ratio of the figure at `index` is known.
pub(super) fn points<'a>(all: &'a Results, item: &str, index: usize, wanted: impl Fn(&Row) -> bool) -> Vec<Point<'a>> {
    let proposals = all.of(item).filter(|row| row.cell.is("mode", PROPOSAL));
    let point = |proposal| {
        let reference = all.beside(proposal, "mode", &REFERENCE.into()).filter(|row| wanted(row))?;
        Some(Point { reference, proposal, ratio: Ratio::by_errors(proposal, reference, index)? })
    };
    proposals.filter_map(point).collect()
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
    Ratio::average(&points.iter().map(|point| point.ratio).collect::<Vec<_>>())
}

/// The average over the points, the extremes, and at how many of them the intervals tell, after the words that say of
/// what.
pub(super) fn summary(of_what: &str, points: &[Point<'_>], quantity: Quantity) -> Option<String> {
    let average = average(points)?;
    let by_value = |a: &&Point<'_>, b: &&Point<'_>| a.ratio.value.total_cmp(&b.ratio.value);
    let (least, most) = (points.iter().min_by(by_value)?, points.iter().max_by(by_value)?);
    let lower = points.iter().filter(|point| point.ratio.is_below_one()).count();
    let higher = points.iter().filter(|point| point.ratio.is_above_one()).count();
    Some(format!(
        "{of_what} {} on average over {} points: from {} at {} to {} at {}; {} for certain at {lower} of them, {} at \
         {higher}",
        quantity.difference(average),
        points.len(),
        quantity.difference(least.ratio),
        least.name(),
        quantity.difference(most.ratio),
        most.name(),
        quantity.less,
        quantity.more,
    ))
}

/// What a ratio is of: the words for less of it, more of it, and as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quantity {
    less: &'static str,
    more: &'static str,
    equal: &'static str,
}

pub(super) const TIME: Quantity = Quantity { less: "shorter", more: "longer", equal: "as long" };
pub(super) const CHUNKS: Quantity = Quantity { less: "fewer", more: "more", equal: "as many" };

impl Quantity {
    /// A ratio as a difference: `8.7 % longer (± 2.1)`, and from half as much again on `2.2 times as long (± 0.6)`.
    pub(super) fn difference(self, ratio: Ratio) -> String {
        let Self { less, more, equal } = self;
        let (value, half) = (ratio.value, ratio.half());
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
        let time = |value, half| TIME.difference(Ratio::around(value, half));
        assert_eq!(time(2.18, 0.57), "2.2 times as long (± 0.6)");
        assert_eq!(time(1.087, 0.021), "8.7 % longer (± 2.1)");
        assert_eq!(time(0.792, 0.01), "20.8 % shorter (± 1.0)");
        assert_eq!(time(1.0, 0.0), "just as long");
        assert_eq!(time(0.9996, 0.047), "as long (± 4.7 %)");
        assert_eq!(CHUNKS.difference(Ratio::around(0.999, 0.01)), "0.1 % fewer (± 1.0)");
    }

    #[test]
    fn a_point_that_both_experiments_have_counts_once() {
        let all = made(0.8);
        let alone: usize =
            [LOSS_ON_PATH_2, EQUAL_LOSS].map(|item| points(&all, item, TRANSFER, |_| true).len()).iter().sum();
        assert_eq!(points_of_both(&all, TRANSFER, |_| true).len(), alone - 2, "one at each of two RTTs");
    }
}
