//! The paper's future work: what detection costs, and how well it does, on 2 to 32 paths.

use subflow_lab::CpuTimer;
use subflow_lab::statistics::mean;
use subflow_policy::bottleneck::BottleneckDetector;
use subflow_report::{Axis, Cell, Curve, Curves, Figure, Table};
use subflow_transport::mptcp::PathRecord;

use super::part::{Part, shown};
use super::replay::{VARIANTS, Variant, replay_variant, share_above};

/// What one run says of one detector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Score {
    /// Microseconds of CPU for a sample, with all degrees asked for after it, as the scheduler does.
    cost_us: f64,
    /// `None` where no pair shares nothing.
    false_positives: Option<f64>,
    true_positives: f64,
}

/// The detectors whose cost and accuracy are compared.
fn variants() -> impl Iterator<Item = Variant> {
    VARIANTS.into_iter().filter(|variant| !variant.is_costly())
}

/// What all detectors say of the records of a run with `paths` subflows over half as many bottlenecks, two on each.
pub(super) fn scores(paths: usize, records: &[PathRecord]) -> Vec<Score> {
    variants().map(|variant| score(variant, paths, records)).collect()
}

fn score(variant: Variant, paths: usize, records: &[PathRecord]) -> Score {
    let pairs: Vec<(usize, usize)> = (0..paths).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    let degrees = replay_variant(variant, records, &pairs);
    let threshold = variant.build().correlations().threshold();
    let rate = |shared: bool| {
        let is_of = |(a, b): (usize, usize)| (a / 2 == b / 2) == shared;
        share_above(degrees.iter().zip(&pairs).filter(|(_, pair)| is_of(**pair)).map(|(degrees, _)| degrees), threshold)
    };
    Score {
        cost_us: cost_us(variant, records),
        false_positives: rate(false),
        true_positives: rate(true).unwrap_or(0.0),
    }
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

/// Item `scaling`: for each number of paths, the scores of its runs by detector.
pub(super) fn scaling(sizes: &[(usize, Vec<Vec<Score>>)]) -> Part {
    let mut part = Part::default();
    let mut table = Table::new(["paths", "detector", "CPU us a sample", "false positives %", "true positives %"]);
    let log = |label: &str, unit: &str| Axis::new(label, unit).logarithmic();
    let mut cost = Curves::new(log("paths", ""), log("CPU a sample", "us"));
    let mut hits = Curves::new(log("paths", ""), Axis::new("share", "").between(0.0, 1.0));
    for (v, variant) in variants().enumerate() {
        let (mut of_cost, mut of_hits, mut of_errors) = (Vec::new(), Vec::new(), Vec::new());
        for (paths, runs) in sizes {
            let samples =
                |figure: fn(&Score) -> Option<f64>| runs.iter().filter_map(|run| figure(&run[v])).collect::<Vec<_>>();
            let costs = samples(|score| Some(score.cost_us));
            let errors = samples(|score| score.false_positives);
            let found = samples(|score| Some(score.true_positives));
            let case = format!("{paths} paths");
            part.row("scaling", &case, variant.name, "cpu_us_per_sample", &costs);
            part.row("scaling", &case, variant.name, "false_positive_rate", &errors);
            part.row("scaling", &case, variant.name, "true_positive_rate", &found);
            let percent = |rates: &[f64]| shown(&rates.iter().map(|rate| rate * 100.0).collect::<Vec<_>>(), 1);
            table.row([
                Cell::Integer(*paths as i64),
                variant.name.into(),
                Cell::Text(shown(&costs, 2)),
                Cell::Text(percent(&errors)),
                Cell::Text(percent(&found)),
            ]);
            let x = *paths as f64;
            of_cost.extend(mean(&costs).map(|y| (x, y)));
            of_hits.extend(mean(&found).map(|y| (x, y)));
            of_errors.extend(mean(&errors).map(|y| (x, y)));
        }
        cost.add(Curve::new(variant.name).with_points(of_cost));
        hits.add(Curve::new(format!("{}: hits", variant.name)).with_points(of_hits).colour(v));
        hits.add(Curve::new(format!("{}: errors", variant.name)).with_points(of_errors).colour(v).published());
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
