//! The thesis's figures with our numbers: curves over loss, box plots, bars for each experiment.

use subflow_report::{Axis, Bars, Boxes, Curve, Curves, Figure};

use super::report::variants;
use super::{ADAPTIVE, CONGESTED, CONGESTION, GOODPUT, SCHEDULERS, TRANSFER, adaptive, case, cases};
use crate::study::{Results, Row};

const INTERVALS: &str = "Means of the runs with the 95 % interval of the mean.";

/// All figures of what was run, study by study.
pub(super) fn figures(all: &Results) -> Vec<Figure> {
    let mut figures = Vec::new();
    for item in all.items() {
        for congestion in CONGESTION.into_iter().filter(|_| item != TRANSFER) {
            let figure = match item {
                CONGESTED => over_loss(all, congestion),
                _ => by_experiment(all, item, congestion),
            };
            figures.push(figure.section(item));
        }
        if item == CONGESTED {
            figures.push(under_loss(all).section(item));
        }
    }
    let gaps = adaptive::gaps_by_item(all);
    if !gaps.is_empty() {
        figures.push(
            Figure::distributions("adaptive below the best fixed scheduler", Axis::new("below the best", "%"), gaps)
                .section(ADAPTIVE)
                .caption("One sample for each cell; below zero adaptive is the best."),
        );
    }
    figures
}

fn goodput() -> Axis {
    Axis::new("goodput", "Mbit/s")
}

fn of(row: &Row, scheduler: &str, congestion: &str) -> bool {
    row.cell.is("scheduler", scheduler) && row.cell.is("congestion", congestion)
}

/// Goodput over loss, as figures 10 to 13 have it.
fn over_loss(all: &Results, congestion: &str) -> Figure {
    let mut curves = Curves::new(Axis::new("loss on all links", "%"), goodput());
    for (_, scheduler, _) in variants(CONGESTED) {
        let cells = all.of(CONGESTED).filter(|row| of(row, scheduler, congestion));
        curves.add(Curve::new(scheduler).with_intervals(cells.map(|row| {
            let (low, high) = row.ends(GOODPUT);
            (case(row) as f64, row.mean(GOODPUT), low, high)
        })));
    }
    Figure::curves(format!("congested, {congestion}: goodput over loss"), curves).caption(INTERVALS)
}

/// What the losses of 4 % and more leave, as figure 15 has it.
fn under_loss(all: &Results) -> Figure {
    let mut boxes = Boxes::new(goodput());
    for congestion in CONGESTION {
        for scheduler in SCHEDULERS.into_iter().chain([ADAPTIVE]) {
            let lossy = all.of(CONGESTED).filter(|row| case(row) >= 4);
            let means: Vec<f64> =
                lossy.filter(|row| of(row, scheduler, congestion)).map(|row| row.mean(GOODPUT)).collect();
            boxes.add(congestion, scheduler, &means);
        }
    }
    Figure::boxes("congested: goodput at 4 to 12 % loss", boxes)
        .caption("One sample for each loss, the mean of its runs.")
}

/// Experiments side by side, as figures 18 to 25 have them.
fn by_experiment(all: &Results, item: &str, congestion: &str) -> Figure {
    let mut bars = Bars::new(goodput());
    for number in cases(all, item) {
        for (heading, scheduler, path_manager) in variants(item) {
            let mut cells = all.of(item).filter(|row| {
                case(row) == number && of(row, scheduler, congestion) && row.cell.is("path_manager", path_manager)
            });
            if let Some(row) = cells.next() {
                bars.add(row.cell.text("case_name"), heading, row.mean(GOODPUT), Some(row.ends(GOODPUT)));
            }
        }
    }
    Figure::bars(format!("{item}, {congestion}: goodput by experiment"), bars).caption(INTERVALS)
}

#[cfg(test)]
mod tests {
    use super::super::MESH;
    use super::super::tests::made;
    use super::*;
    use subflow_report::Chart;

    #[test]
    fn curves_run_over_loss_and_have_an_interval_at_each_point() {
        let figures = figures(&made(CONGESTED, |cell| (100 - cell.integer("case")) as f64));
        assert_eq!(figures.len(), 4 + 1 + 1, "a figure for each congestion control, the boxes, and adaptive");
        let Chart::Curves(curves) = &figures[0].chart else { panic!("curves") };
        assert_eq!(curves.curves.len(), 5);
        let point = curves.curves[0].points[6];
        let (low, high) = point.interval.expect("two runs");
        assert_eq!((point.x, point.y), (6.0, 95.0));
        assert!(low < 95.0 && high > 95.0);
    }

    #[test]
    fn meshes_stand_side_by_side_in_each_experiment() {
        let figures = figures(&made(MESH, |_| 50.0));
        assert_eq!(figures.len(), 4);
        let Chart::Bars(bars) = &figures[0].chart else { panic!("bars") };
        let first: Vec<_> = bars.bars[..3].iter().map(|bar| (bar.group.as_str(), bar.series.as_str())).collect();
        assert_eq!(first, [("Exp 1", "full-mesh"), ("Exp 1", "single-mesh"), ("Exp 2", "full-mesh")]);
    }
}
