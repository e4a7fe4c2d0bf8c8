//! The paper's future work: what detection costs, and how well it does, on 2 to 32 paths.

use std::fmt::Write;
use std::path::Path;

use rand_core::RngCore;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_lab::statistics::mean;
use subflow_lab::{CpuTimer, RunError};
use subflow_network::stream;
use subflow_policy::bottleneck::BottleneckDetector;
use subflow_report::{Axis, Cell, Curve, Curves, Figure, Table};
use subflow_scenario::Scenario;
use subflow_scenario::file::Document;
use subflow_transport::mptcp::PathRecord;

use super::part::{Part, shown};
use super::replay::{VARIANTS, Variant, replay_variant, share_above};

/// Flows start within so many milliseconds.
const START_SPREAD_MS: u64 = 1000;

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

/// Runs `paths` subflows over half as many bottlenecks, two on each, and shows what they recorded to all detectors.
pub(super) fn run(paths: usize, duration_s: u32, seed: u64) -> Result<Vec<Score>, RunError> {
    let scenario = scenario(paths, duration_s, seed);
    let result = simulate(&scenario, seed, &RunOptions { paths: true, ..RunOptions::default() })?;
    Ok(variants().map(|variant| score(variant, paths, &result.paths[0])).collect())
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

/// The number of hosts' interfaces depends on that of paths, which no sweep can say.
fn scenario(paths: usize, duration_s: u32, seed: u64) -> Scenario {
    let document = Document::parse(Path::new("red2018-scaling.toml"), text(paths, duration_s, seed));
    Scenario::read(&document.expect("it is TOML")).expect("it is a good scenario")
}

fn text(paths: usize, duration_s: u32, seed: u64) -> String {
    let names = |count: usize| (0..count).map(|n| format!("\"i{n}\"")).collect::<Vec<_>>().join(", ");
    let bottlenecks = paths / 2;
    let mut text = format!(
        "duration = \"{duration_s} s\"\nprofile = \"mptcp-0.9\"\n[hosts]\nns = [{0}]\nnd = [{0}]\nxs = [{1}]\nxd = \
         [{1}]\n\
         [routers]\n",
        names(paths),
        names(bottlenecks)
    );
    for k in 0..bottlenecks {
        let _ = writeln!(text, "in{k} = {{}}\nout{k} = {{}}");
    }
    let link = |text: &mut String, name: &str, from: &str, to: &str, rate_mbps: u32, delay_ms: usize| {
        let _ = writeln!(
            text,
            "[links.{name}]\nbetween = [\"{from}\", \"{to}\"]\nrate = \"{rate_mbps} Mbit/s\"\ndelay = \"{delay_ms} \
             ms\"\n\
             queue = \"100 packets\""
        );
    };
    for k in 0..bottlenecks {
        link(&mut text, &format!("bottleneck{k}"), &format!("in{k}"), &format!("out{k}"), 5, 10 + 2 * k);
        link(&mut text, &format!("xs{k}"), &format!("xs.i{k}"), &format!("in{k}"), 100, 1);
        link(&mut text, &format!("xd{k}"), &format!("out{k}"), &format!("xd.i{k}"), 100, 1);
    }
    for n in 0..paths {
        // The two paths of a bottleneck have different RTTs.
        link(&mut text, &format!("ns{n}"), &format!("ns.i{n}"), &format!("in{}", n / 2), 100, 1 + 5 * (n % 2));
        link(&mut text, &format!("nd{n}"), &format!("out{}", n / 2), &format!("nd.i{n}"), 100, 1);
    }
    let start = |flow: &str| stream(seed, &format!("start of {flow}")).next_u64() % START_SPREAD_MS;
    let subflows: Vec<String> = (1..paths).map(|n| format!("{{ from = \"ns.i{n}\", to = \"nd.i{n}\" }}")).collect();
    let _ = writeln!(
        text,
        "[flows.data]\nfrom = \"ns.i0\"\nto = \"nd.i0\"\nprotocol = \"mptcp\"\ncongestion = \"cubic\"\n\
         scheduler = \"redundant\"\npath_manager = \"default\"\nmptcp = {{ max_subflows = 64 }}\nstart = \"{} ms\"\n\
         subflows = [{}]",
        start("data"),
        subflows.join(", ")
    );
    for k in 0..bottlenecks {
        let _ = writeln!(
            text,
            "[flows.interference{k}]\nfrom = \"xs.i{k}\"\nto = \"xd.i{k}\"\nprotocol = \"tcp\"\ncongestion = \
             \"cubic\"\n\
             start = \"{} ms\"",
            start(&format!("interference {k}"))
        );
    }
    text
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_makes_a_good_scenario_and_a_short_run_has_samples_of_all_paths() {
        assert_eq!(scenario(32, 5, 1).flows.len(), 17);
        let scores = run(4, 3, 1).expect("the run succeeds");
        assert_eq!(scores.len(), variants().count());
        assert!(scores[0].false_positives.is_some());
    }
}
