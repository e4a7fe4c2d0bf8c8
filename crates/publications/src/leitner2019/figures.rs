//! The thesis's figures with our numbers: transfer times, retransmissions and their ratios over loss; what lies beyond
//! as bars.

use subflow_report::{Axis, Bars, Curve, Curves, Figure, Reference};

use super::grid::{BEYOND, EQUAL_LOSS, LOSS_ON_PATH_2};
use super::measurement::{
    BY_TIMEOUT, FAST_RECOVERIES, Measurement, Measurements, RETRANSMISSIONS, TIMEOUTS, TRANSFER, ratio,
};

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
pub(super) fn figures(all: &Measurements) -> Vec<Figure> {
    let mut figures = Vec::new();
    for item in [LOSS_ON_PATH_2, EQUAL_LOSS] {
        let pairs = all.pairs(item);
        if pairs.is_empty() {
            continue;
        }
        for rtt in rtts(&pairs) {
            let at: Vec<_> = pairs.iter().copied().filter(|(reference, _)| reference.cell.rtt_ms[1] == rtt).collect();
            figures.extend(OVER_LOSS.map(|figure| over_loss(&at, item, rtt, figure).section(item)));
        }
        figures.extend(
            [TRANSFER, RETRANSMISSIONS, BY_TIMEOUT, FAST_RECOVERIES]
                .map(|index| ratios(&pairs, item, index).section(item)),
        );
    }
    if all.0.iter().any(|measurement| measurement.cell.item == BEYOND) {
        figures.push(beyond(all).section(BEYOND));
    }
    figures
}

type Pair<'a> = (&'a Measurement, &'a Measurement);

fn rtts(pairs: &[Pair<'_>]) -> Vec<u32> {
    let mut rtts: Vec<u32> = pairs.iter().map(|(reference, _)| reference.cell.rtt_ms[1]).collect();
    rtts.dedup();
    rtts
}

fn loss(item: &str) -> Axis {
    Axis::new(if item == EQUAL_LOSS { "loss on each path" } else { "loss on path 2" }, "%")
}

/// The reference and the proposal at one RTT.
fn over_loss(
    pairs: &[Pair<'_>],
    item: &str,
    rtt: u32,
    (index, title, axis, unit): (usize, &str, &str, &str),
) -> Figure {
    let mut curves = Curves::new(loss(item), Axis::new(axis, unit));
    let point = |measurement: &Measurement| {
        let figure = &measurement.figures[index];
        let (low, high) = figure.interval.map_or((figure.mean, figure.mean), |interval| (interval.low, interval.high));
        (f64::from(measurement.cell.loss_pct[1]), figure.mean, low, high)
    };
    curves.add(Curve::new("reference").with_intervals(pairs.iter().map(|(reference, _)| point(reference))));
    curves.add(Curve::new("proposal").with_intervals(pairs.iter().map(|(_, proposal)| point(proposal))));
    Figure::curves(format!("{title}, {rtt} ms"), curves).caption(INTERVALS)
}

/// Proposal over reference, a curve for each RTT.
fn ratios(pairs: &[Pair<'_>], item: &str, index: usize) -> Figure {
    let (_, title, ..) = OVER_LOSS[index];
    let mut curves = Curves::new(loss(item), Axis::new("proposal / reference", ""));
    for rtt in rtts(pairs) {
        let at = pairs.iter().filter(|(reference, _)| reference.cell.rtt_ms[1] == rtt);
        let points = at.filter_map(|(reference, proposal)| {
            let ratio = ratio(reference, proposal, index)?;
            let loss = f64::from(reference.cell.loss_pct[1]);
            Some((loss, ratio.value, ratio.low(), ratio.high()))
        });
        curves.add(Curve::new(format!("{rtt} ms")).with_intervals(points));
    }
    curves.mark(Reference::Value { label: "alike".to_owned(), at: 1.0 });
    Figure::curves(format!("{title}, proposal / reference"), curves)
        .caption("Ratios of means with 95 % intervals by the delta method; below 1 the proposal has less.")
}

/// Transfer times of every variant, a bar for each mode.
fn beyond(all: &Measurements) -> Figure {
    let mut bars = Bars::new(Axis::new("transfer time", "s"));
    for measurement in all.0.iter().filter(|measurement| measurement.cell.item == BEYOND) {
        let cell = &measurement.cell;
        let [one, two] = cell.loss_pct;
        let loss = if one == two { format!("{one} %") } else { format!("{one}/{two} %") };
        let figure = &measurement.figures[TRANSFER];
        let ends = figure.interval.map(|interval| (interval.low, interval.high));
        bars.add(format!("{}, {loss}", cell.variant), cell.mode.name, figure.mean, ends);
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
