//! The paper's future work: what detection costs, and how well it does, on 2 to 32 paths.

use subflow_lab::CpuTimer;
use subflow_policy::bottleneck::BottleneckDetector;
use subflow_report::{Axis, Cell, Curve, Curves, Figure, Table};
use subflow_transport::mptcp::PathRecord;

use super::part::{Part, shown};
use super::replay::{VARIANTS, Variant, replay, share_above};
use crate::study::{Results, Sample};

/// The figures of a detector in a sample: microseconds of CPU for a sample of a path, with all degrees asked for after it, as
/// the scheduler does; the share of pairs without a common bottleneck that are taken to have one, NaN where there is no such
/// pair; and that of pairs with one.
const COST: usize = 0;
const ERRORS: usize = 1;
const HITS: usize = 2;
const OF_DETECTOR: usize = 3;

/// The detectors whose cost and accuracy are compared.
fn variants() -> impl Iterator<Item = Variant> {
    VARIANTS.into_iter().filter(|variant| !variant.is_costly())
}

/// What all detectors say of the records of a run with `paths` subflows over half as many bottlenecks, two on each.
pub(super) fn measure(paths: usize, records: &[PathRecord]) -> Sample {
    variants().flat_map(|variant| of_detector(variant, paths, records)).collect()
}

fn of_detector(variant: Variant, paths: usize, records: &[PathRecord]) -> [f64; OF_DETECTOR] {
    let pairs: Vec<(usize, usize)> = (0..paths).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    let degrees = replay(variant.build(), records, &pairs);
    let threshold = variant.build().correlations().threshold();
    let rate = |shared: bool| {
        let is_of = |(a, b): (usize, usize)| (a / 2 == b / 2) == shared;
        let of = degrees.iter().zip(&pairs).filter(|(_, pair)| is_of(**pair)).map(|(degrees, _)| degrees.as_slice());
        share_above(of, threshold)
    };
    [cost_us(variant, records), rate(false).unwrap_or(f64::NAN), rate(true).unwrap_or(0.0)]
}

/// At most so many samples are timed.
const TIMED: usize = 100_000;

fn cost_us(variant: Variant, records: &[PathRecord]) -> f64 {
    let mut detector = variant.build();
    let timed = &records[..records.len().min(TIMED)];
    let timer = CpuTimer::start();
    for record in timed {
        detector.on_sample(record.subflow, &record.sample);
        std::hint::black_box(detector.correlations());
    }
    timer.seconds() * 1e6 / timed.len().max(1) as f64
}

/// Item `scaling`.
pub(super) fn scaling(results: &Results) -> Part {
    let mut part = Part::default();
    let mut table = Table::new(["paths", "detector", "CPU us a sample", "false positives %", "true positives %"]);
    let log = |label: &str, unit: &str| Axis::new(label, unit).logarithmic();
    let mut cost = Curves::new(log("paths", ""), log("CPU a sample", "us"));
    let mut hits = Curves::new(log("paths", ""), Axis::new("share", "").between(0.0, 1.0));
    for (v, variant) in variants().enumerate() {
        let place = |figure: usize| OF_DETECTOR * v + figure;
        for row in results.of("scaling") {
            let paths = row.cell.integer("size");
            let [costs, errors, found] = [COST, ERRORS, HITS].map(|figure| row.samples(place(figure)));
            let case = format!("{paths} paths");
            part.row("scaling", &case, variant.name, "cpu_us_per_sample", &costs);
            part.row("scaling", &case, variant.name, "false_positive_rate", &errors);
            part.row("scaling", &case, variant.name, "true_positive_rate", &found);
            let percent = |rates: &[f64]| shown(&rates.iter().map(|rate| rate * 100.0).collect::<Vec<_>>(), 1);
            let texts = [shown(&costs, 2), percent(&errors), percent(&found)].map(Cell::Text);
            table.row([Cell::Integer(paths), variant.name.into()].into_iter().chain(texts));
        }
        let points = |figure: usize| {
            let with_figure = results.of("scaling").filter(move |row| row.has(OF_DETECTOR * v + figure));
            with_figure.map(move |row| (row.cell.number("size"), row.mean(OF_DETECTOR * v + figure)))
        };
        cost.add(Curve::new(variant.name).with_points(points(COST)));
        hits.add(Curve::new(format!("{}: hits", variant.name)).with_points(points(HITS)).colour(v));
        hits.add(Curve::new(format!("{}: errors", variant.name)).with_points(points(ERRORS)).colour(v).published());
    }
    part.readable.push(("Future work: cost and accuracy by number of paths, two on each bottleneck".to_owned(), table));
    part.figures
        .push(Figure::curves("Cost of a sample", cost).section("Scaling").caption("With every degree asked for."));
    part.figures.push(
        Figure::curves("Hits and errors", hits)
            .section("Scaling")
            .caption("Solid: pairs at one bottleneck found. Dashed: other pairs taken to share one."),
    );
    part
}
