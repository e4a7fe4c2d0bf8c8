//! The thesis's figures with our numbers: transfer times, retransmissions and their ratios over loss; what lies beyond
//! as bars.

use subflow_report::{Axis, Bars, Curve, Curves, Figure, Reference};

use super::comparison::{loss, pairs, ratio, rtt};
use super::{BEYOND, BY_TIMEOUT, EQUAL_LOSS, FAST_RECOVERIES, LOSS_ON_PATH_2, RETRANSMISSIONS, TIMEOUTS, TRANSFER};
use crate::study::{Results, Row};

const INTERVALS: &str = "Means of the runs with the 95 % interval of the mean.";

/// What is drawn over loss for each RTT: the figure's place in a sample, its title, its axis.
const OVER_LOSS: [(usize, &str, &str, &str); 5] = [
    (TRANSFER, "transfer time", "transfer time", "s"),
    (RETRANSMISSIONS, "retransmissions", "chunks sent again", ""),
    (BY_TIMEOUT, "retransmissions by timeout", "chunks sent again", ""),
    (TIMEOUTS, "timeouts", "timeouts", ""),
    (FAST_RECOVERIES, "windows cut by fast recovery", "cuts", ""),
];

/// All figures of what was run, item by item.
pub(super) fn figures(all: &Results) -> Vec<Figure> {
    let mut figures = Vec::new();
    for item in [LOSS_ON_PATH_2, EQUAL_LOSS] {
        let pairs = pairs(all, item);
        if pairs.is_empty() {
            continue;
        }
        for ms in rtts(&pairs) {
            let at: Vec<_> = pairs.iter().copied().filter(|(reference, _)| rtt(reference) == ms).collect();
            figures.extend(OVER_LOSS.map(|figure| over_loss(&at, item, ms, figure).section(item)));
        }
        figures.extend(
            [TRANSFER, RETRANSMISSIONS, BY_TIMEOUT, FAST_RECOVERIES]
                .map(|index| ratios(&pairs, item, index).section(item)),
        );
    }
    if all.of(BEYOND).next().is_some() {
        figures.push(beyond(all).section(BEYOND));
    }
    figures
}

type Pair<'a> = (&'a Row, &'a Row);

fn rtts(pairs: &[Pair<'_>]) -> Vec<i64> {
    let mut rtts: Vec<i64> = pairs.iter().map(|(reference, _)| rtt(reference)).collect();
    rtts.dedup();
    rtts
}

fn axis_of_loss(item: &str) -> Axis {
    Axis::new(if item == EQUAL_LOSS { "loss on each path" } else { "loss on path 2" }, "%")
}

/// The reference and the proposal at one RTT.
fn over_loss(pairs: &[Pair<'_>], item: &str, ms: i64, (index, title, axis, unit): (usize, &str, &str, &str)) -> Figure {
    let mut curves = Curves::new(axis_of_loss(item), Axis::new(axis, unit));
    let point = |row: &Row| {
        let (low, high) = row.ends(index);
        (loss(row) as f64, row.mean(index), low, high)
    };
    curves.add(Curve::new("reference").with_intervals(pairs.iter().map(|(reference, _)| point(reference))));
    curves.add(Curve::new("proposal").with_intervals(pairs.iter().map(|(_, proposal)| point(proposal))));
    Figure::curves(format!("{title}, {ms} ms"), curves).caption(INTERVALS)
}

/// Proposal over reference, a curve for each RTT.
fn ratios(pairs: &[Pair<'_>], item: &str, index: usize) -> Figure {
    let (_, title, ..) = OVER_LOSS[index];
    let mut curves = Curves::new(axis_of_loss(item), Axis::new("proposal / reference", ""));
    for ms in rtts(pairs) {
        let at = pairs.iter().filter(|(reference, _)| rtt(reference) == ms);
        let points = at.filter_map(|(reference, proposal)| {
            let ratio = ratio(reference, proposal, index)?;
            Some((loss(reference) as f64, ratio.value, ratio.low(), ratio.high()))
        });
        curves.add(Curve::new(format!("{ms} ms")).with_intervals(points));
    }
    curves.mark(Reference::Value { label: "alike".to_owned(), at: 1.0 });
    Figure::curves(format!("{title}, proposal / reference"), curves)
        .caption("Ratios of means with 95 % intervals by the delta method; below 1 the proposal has less.")
}

/// Transfer times of every variant, a bar for each mode.
fn beyond(all: &Results) -> Figure {
    let mut bars = Bars::new(Axis::new("transfer time", "s"));
    for row in all.of(BEYOND) {
        let [one, two] = ["loss1", "loss2"].map(|name| row.cell.integer(name));
        let loss = if one == two { format!("{one} %") } else { format!("{one}/{two} %") };
        let ends = row.interval(TRANSFER).map(|interval| (interval.low, interval.high));
        bars.add(format!("{}, {loss}", row.cell.text("variant")), row.cell.text("mode"), row.mean(TRANSFER), ends);
    }
    Figure::bars("transfer time by variant", bars).caption(INTERVALS)
}

#[cfg(test)]
mod tests {
    use super::super::findings::tests::made;
    use super::*;
    use subflow_report::Chart;

    #[test]
    fn each_rtt_has_its_curves_and_ratios_tell_what_the_proposal_changes() {
        let figures = figures(&made(0.8));
        assert_eq!(figures.len(), 2 * (2 * 5 + 4) + 1, "two experiments at two RTTs, and what lies beyond");
        let Chart::Curves(times) = &figures[0].chart else { panic!("curves") };
        assert_eq!(times.curves.iter().map(|curve| curve.name.as_str()).collect::<Vec<_>>(), ["reference", "proposal"]);
        assert_eq!(times.curves[0].points.len(), 4, "a point for each loss");
        let Chart::Curves(ratios) = &figures[10].chart else { panic!("curves") };
        assert_eq!(ratios.curves.len(), 2);
        assert!((ratios.curves[0].points[1].y - 0.8).abs() < 1e-9);
    }
}
