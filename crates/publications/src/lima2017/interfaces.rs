//! Figures 1 and 10 to 13, goodput by interface; figures 14 and 16, means over all cases; and figure 9, second by second.

use subflow_lab::statistics::mean;
use subflow_report::{Axis, Bars, Curve, CurvePoint, Curves, Figure};

use super::measure::{GOODPUT, INTERFACE, INTERFACES, List, SHOWN};
use super::{ADAPTIVE, CONGESTED, CONGESTION, DESIGN, SCHEDULERS, SECONDS_ITEM, cases, full};
use crate::study::{Ratio, Results, Row};

/// What figure 9 prints of each of its seconds, in bytes of payload.
pub(super) const PAYLOAD_OF_FIGURE_9: [f64; SHOWN] = [
    7_469_132.0,
    8_206_136.0,
    8_129_136.0,
    7_775_728.0,
    8_336_664.0,
    8_091_852.0,
    7_915_204.0,
    9_037_500.0,
    8_533_372.0,
    8_795_052.0,
    8_393_472.0,
    8_804_736.0,
    7_745_004.0,
];

/// All of them.
pub(super) fn figures(all: &Results) -> Vec<Figure> {
    let by_interface = CONGESTION.into_iter().flat_map(|cc| SCHEDULERS.map(|scheduler| (cc, scheduler)));
    let mut figures: Vec<Figure> = by_interface.filter_map(|(cc, scheduler)| loss(all, cc, scheduler)).collect();
    figures.extend(means(all, CONGESTED, 4, "mean goodput at 4 to 12 % loss (figure 14)"));
    figures.extend(means(all, DESIGN, 1, "mean goodput over all experiments (figure 16)"));
    figures.extend(List::ALL.into_iter().filter_map(|list| seconds(all, list)));
    figures
}

/// Curves over loss, one for each interface.
fn loss(all: &Results, congestion: &str, scheduler: &str) -> Option<Figure> {
    let rows: Vec<(i64, &Row)> = cases(all, CONGESTED)
        .into_iter()
        .filter_map(|case| Some((case, full(all, CONGESTED, case, congestion, scheduler)?)))
        .filter(|(_, row)| row.has(INTERFACE))
        .collect();
    let (_, first) = rows.first()?;
    let mut curves = Curves::new(Axis::new("loss on all links", "%"), Axis::new("goodput", "Mbit/s"));
    for interface in 0..INTERFACES {
        let rate = first.cell.text(&format!("rate{}", interface + 1));
        let point = |(case, row): &(i64, &Row)| point(*case as f64, row, INTERFACE + interface);
        let points = rows.iter().map(point).collect();
        curves.add(Curve { points, ..Curve::new(format!("{rate} Mbit/s")) });
    }
    let title = format!("{CONGESTED}, {congestion}, {scheduler}: goodput by interface over loss");
    let caption = "Means of the runs with the 95 % interval of the mean; figures 1 and 10 are of ll.";
    Some(Figure::curves(title, curves).section(CONGESTED).caption(caption))
}

/// Bars of the means over cases from the first one on, with intervals by the scatter within cells.
fn means(all: &Results, item: &str, first: i64, title: &str) -> Option<Figure> {
    let cases: Vec<i64> = cases(all, item).into_iter().filter(|case| *case >= first).collect();
    let mut bars = Bars::new(Axis::new("goodput", "Mbit/s"));
    let mut shown = 0;
    for cc in CONGESTION {
        for scheduler in SCHEDULERS.into_iter().chain([ADAPTIVE]) {
            let rows: Option<Vec<&Row>> = cases.iter().map(|case| full(all, item, *case, cc, scheduler)).collect();
            let Some(rows) = rows.filter(|rows| !rows.is_empty()) else { continue };
            let mean = mean(&rows.iter().map(|row| row.mean(GOODPUT)).collect::<Vec<_>>())?;
            // The interval of the mean is that of its ratio to a number without error.
            let one = Row { runs: vec![vec![1.0]; 2], ..rows[0].clone() };
            let Ratio { low, high, .. } = Ratio::of_cells(&rows, &[&one], GOODPUT);
            bars.add(cc, scheduler, mean, high.is_finite().then_some((low, high)));
            shown += 1;
        }
    }
    let caption = "Means over cells with equal weights; 95 % intervals by the scatter of the runs within cells.";
    (shown > 0).then(|| Figure::bars(format!("{item}: {title}"), bars).section(item).caption(caption))
}

/// A list of figure 9, one curve for each congestion control.
fn seconds(all: &Results, list: List) -> Option<Figure> {
    let (title, unit) = list.words();
    let mut curves = Curves::new(Axis::new("second", "s"), Axis::new(title, unit));
    for row in all.of(SECONDS_ITEM) {
        let points = (0..SHOWN).map(|second| point((second + 1) as f64, row, list.place(second))).collect();
        curves.add(Curve { points, ..Curve::new(row.cell.text("congestion")) });
    }
    if curves.curves.is_empty() {
        return None;
    }
    let printed: Vec<f64> = match list {
        List::Payload => PAYLOAD_OF_FIGURE_9.iter().map(|bytes| bytes * 8e-6).collect(),
        List::Retransmissions | List::DuplicateAcks => vec![0.0; SHOWN],
        List::Rtt => Vec::new(),
    };
    if !printed.is_empty() {
        let points = printed.into_iter().enumerate().map(|(second, value)| ((second + 1) as f64, value));
        curves.add(Curve::new("figure 9").with_points(points).published());
    }
    let caption = match list {
        List::Rtt => {
            "Smoothed RTTs at the sender, with the own queue. Figure 9 has 0.13 to 0.17 ms: its capture sees a packet when it \
             has left that queue."
        }
        List::DuplicateAcks => "Of the whole connection; figure 9 is of one interface.",
        _ => "On the link with 100 Mbit/s, whose share of 1.5 GB is that of figure 9.",
    };
    Some(Figure::curves(format!("second by second: {title} (figure 9)"), curves).section(SECONDS_ITEM).caption(caption))
}

fn point(x: f64, row: &Row, place: usize) -> CurvePoint {
    CurvePoint { x, y: row.mean(place), interval: row.interval(place).map(|interval| (interval.low, interval.high)) }
}

#[cfg(test)]
mod tests {
    use subflow_report::Chart;

    use super::super::LIMA2017;
    use super::*;
    use crate::study::Effort;

    #[test]
    fn each_interface_and_each_second_has_its_place() {
        let run = |shift: f64| (0..66).map(|place| f64::from(place) + shift).collect::<Vec<f64>>();
        let all = LIMA2017.invented(Effort::Full, |_| vec![run(0.0), run(2.0)]);
        let figures = figures(&all);
        assert_eq!(figures.len(), 16 + 2 + 4);
        let Chart::Curves(interfaces) = &figures[0].chart else { panic!("curves") };
        let at_no_loss: Vec<f64> = interfaces.curves.iter().map(|curve| curve.points[0].y).collect();
        assert_eq!(at_no_loss, [7.0, 8.0, 9.0, 10.0, 11.0]);
        let Chart::Bars(bars) = &figures[16].chart else { panic!("bars") };
        assert_eq!((bars.bars.len(), bars.bars[0].value), (20, 1.0));
        let Chart::Curves(rtts) = &figures[21].chart else { panic!("curves") };
        assert_eq!((rtts.curves.len(), rtts.curves[0].points[12].y), (4, 66.0), "the last of all");
    }
}
