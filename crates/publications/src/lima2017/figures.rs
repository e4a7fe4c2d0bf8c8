//! The thesis's figures with our numbers: curves over loss, box plots, bars for each experiment.

use subflow_report::{Axis, Bars, Boxes, Curve, Curves, Figure};

use super::adaptive;
use super::grid::{ADAPTIVE, CONGESTION, SCHEDULERS, Study};
use super::measurement::{Measurement, Measurements};
use super::report::variants;

const INTERVALS: &str = "Means of the runs with the 95 % interval of the mean.";

/// All figures of what was run, study by study.
pub(super) fn figures(all: &Measurements) -> Vec<Figure> {
    let mut figures = Vec::new();
    for study in Study::ALL {
        if all.of(study).next().is_none() {
            continue;
        }
        for congestion in CONGESTION.into_iter().filter(|_| study != Study::Transfer) {
            let figure = match study {
                Study::Congested => over_loss(all, congestion),
                _ => by_experiment(all, study, congestion),
            };
            figures.push(figure.section(study.name()));
        }
        if study == Study::Congested {
            figures.push(under_loss(all).section(study.name()));
        }
    }
    let gaps = adaptive::gaps_by_study(all);
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

fn of(measurement: &Measurement, scheduler: &str, congestion: &str) -> bool {
    let setup = &measurement.cell.setup;
    setup.scheduler == scheduler && setup.congestion == congestion
}

/// Goodput over loss, as figures 10 to 13 have it.
fn over_loss(all: &Measurements, congestion: &str) -> Figure {
    let mut curves = Curves::new(Axis::new("loss on all links", "%"), goodput());
    for (_, scheduler, _) in variants(Study::Congested) {
        let cells = all.of(Study::Congested).filter(|measurement| of(measurement, scheduler, congestion));
        curves.add(Curve::new(scheduler).with_intervals(cells.map(|measurement| {
            let (low, high) = ends(measurement);
            (f64::from(measurement.cell.case), measurement.mean, low, high)
        })));
    }
    Figure::curves(format!("congested, {congestion}: goodput over loss"), curves).caption(INTERVALS)
}

/// What the losses of 4 % and more leave, as figure 15 has it.
fn under_loss(all: &Measurements) -> Figure {
    let mut boxes = Boxes::new(goodput());
    for congestion in CONGESTION {
        for scheduler in SCHEDULERS.into_iter().chain([ADAPTIVE]) {
            let lossy = all.of(Study::Congested).filter(|measurement| measurement.cell.case >= 4);
            let means: Vec<f64> = lossy.filter(|m| of(m, scheduler, congestion)).map(|m| m.mean).collect();
            boxes.add(congestion, scheduler, &means);
        }
    }
    Figure::boxes("congested: goodput at 4 to 12 % loss", boxes)
        .caption("One sample for each loss, the mean of its runs.")
}

/// Experiments side by side, as figures 18 to 25 have them.
fn by_experiment(all: &Measurements, study: Study, congestion: &str) -> Figure {
    let mut bars = Bars::new(goodput());
    for case in all.cases(study) {
        for (heading, scheduler, path_manager) in variants(study) {
            let mut cells = all.of(study).filter(|measurement| {
                measurement.cell.case == case
                    && of(measurement, scheduler, congestion)
                    && measurement.cell.setup.path_manager == path_manager
            });
            if let Some(measurement) = cells.next() {
                bars.add(measurement.cell.case_name(), heading, measurement.mean, Some(ends(measurement)));
            }
        }
    }
    Figure::bars(format!("{}, {congestion}: goodput by experiment", study.name()), bars).caption(INTERVALS)
}

fn ends(measurement: &Measurement) -> (f64, f64) {
    measurement.interval.map_or((measurement.mean, measurement.mean), |interval| (interval.low, interval.high))
}

#[cfg(test)]
mod tests {
    use super::super::measurement::tests::made;
    use super::*;
    use subflow_report::Chart;

    #[test]
    fn curves_run_over_loss_and_have_an_interval_at_each_point() {
        let figures = figures(&made(Study::Congested, |cell| f64::from(100 - cell.case)));
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
        let figures = figures(&made(Study::Mesh, |_| 50.0));
        assert_eq!(figures.len(), 4);
        let Chart::Bars(bars) = &figures[0].chart else { panic!("bars") };
        let first: Vec<_> = bars.bars[..3].iter().map(|bar| (bar.group.as_str(), bar.series.as_str())).collect();
        assert_eq!(first, [("Exp 1", "full-mesh"), ("Exp 1", "single-mesh"), ("Exp 2", "full-mesh")]);
    }
}
