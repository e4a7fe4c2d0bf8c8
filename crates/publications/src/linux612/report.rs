//! Rows in the measurements' columns, tables to read, and figures: ours beside the kernel's, and how far off they are.

use subflow_lab::statistics::mean;
use subflow_report::{Axis, Bars, Cell, Figure, Table};

use super::checks::{self, verdict};
use super::comparison::{BYTES, COMPLETION, Comparison, DROPS, GOODPUT, LOSSES, Outcome, RETRANSMISSIONS, TAIL};
use super::distributions::{self, Distribution};
use super::measurements::{ALL, COLUMNS, flow_name};
use crate::study::{Results, distinct};

/// What stands next to the columns of the measurements, before those of distributions and the status.
const ADDED: [&str; 12] = [
    "reference_goodput_mbps",
    "reference_completion_s",
    "reference_path1_bytes",
    "reference_path2_bytes",
    "stall_s",
    "reference_stall_s",
    "return_s",
    "reference_return_s",
    "deviation_pct",
    "runs",
    "reference_reps",
    "reference_spread_pct",
];

/// All rows. The columns of distributions are there if a row has them.
pub(super) fn rows(results: &Results) -> Table {
    let outcomes = Outcome::all(results);
    let distributions = distributions::all(&outcomes);
    let of_distributions: &[&str] = if distributions.is_empty() { &[] } else { &distributions::COLUMNS };
    let columns = COLUMNS.into_iter().chain(ADDED).chain(of_distributions.iter().copied());
    let mut table = Table::new(columns.chain(["status"]));
    for comparison in outcomes.iter().flat_map(Outcome::comparisons) {
        let of_it = distributions.iter().find(|distribution| distribution.is_of(&comparison));
        let added = of_it.map_or_else(|| vec![Cell::Empty; of_distributions.len()], Distribution::cells);
        let status = if comparison.outcome.is_run() { "ok" } else { "not supported" };
        table.row(cells(&comparison).into_iter().chain(added).chain([status.into()]));
    }
    table
}

fn cells(comparison: &Comparison<'_>) -> Vec<Cell> {
    let Comparison { outcome, reference } = comparison;
    // Queues and losses are of all flows together: where flows share them, only the row of all has them.
    let own_paths = outcome.flows() == 1 || reference.flow == ALL;
    let path = |path: usize, figure: usize| if own_paths { outcome.path(path, figure) } else { None };
    let drops: Option<f64> = (0..outcome.paths.len()).map(|index| path(index, DROPS)).sum();
    let flow = if reference.flow == ALL { "all".into() } else { Cell::Integer(reference.flow.into()) };
    let ours = |figure: usize| comparison.ours_of(figure);
    let kernel_path = |index: usize| reference.path_bytes.get(index).and_then(|bytes| mean(bytes));
    let (our_outage, kernel_outage) = (outcome.outage(), outcome.outage_of(&outcome.per_second));
    vec![
        outcome.text("case").into(),
        reference.protocol.as_str().into(),
        reference.cc.as_str().into(),
        outcome.text("paths_text").into(),
        outcome.text("loss_text").into(),
        outcome.duration_s().or_else(|| ours(COMPLETION)).into(),
        Cell::Integer(1),
        flow,
        ours(GOODPUT).into(),
        if outcome.is("transfer") { Cell::Empty } else { ours(TAIL).into() },
        ours(COMPLETION).into(),
        ours(RETRANSMISSIONS).into(),
        drops.into(),
        path(0, BYTES).into(),
        path(1, BYTES).into(),
        path(0, DROPS).into(),
        path(1, DROPS).into(),
        path(0, LOSSES).into(),
        path(1, LOSSES).into(),
        outcome.is_run().then(|| outcome.start_s(reference.flow)).flatten().into(),
        mean(&reference.goodput_mbps).into(),
        mean(&reference.completion_s).into(),
        kernel_path(0).into(),
        kernel_path(1).into(),
        our_outage.map(|outage| outage.stall_s).into(),
        kernel_outage.map(|outage| outage.stall_s).into(),
        our_outage.map(|outage| outage.return_s).into(),
        kernel_outage.map(|outage| outage.return_s).into(),
        comparison.deviation_pct().into(),
        Cell::Integer(outcome.row.runs.len() as i64),
        Cell::Integer(reference.goodput_mbps.len() as i64),
        comparison.spread_pct().into(),
    ]
}

/// The same to read: a table for each letter that cases begin with, transfers on their own, and one of distributions.
pub(super) fn readable(results: &Results) -> Vec<(String, Table)> {
    let outcomes = Outcome::all(results);
    let mut tables: Vec<(String, Table)> = Vec::new();
    for comparison in outcomes.iter().filter(|outcome| !outcome.is_chaotic()).flat_map(Outcome::comparisons) {
        let outcome = comparison.outcome;
        let title = comparison.table_title();
        if tables.iter().all(|(known, _)| *known != title) {
            let columns =
                ["case", "protocol", "cc", "paths", "loss %", "flow", "ours", "kernel", "dev %", "spread %", "verdict"];
            tables.push((title.clone(), Table::new(columns)));
        }
        let (_, table) = tables.iter_mut().find(|(known, _)| *known == title).expect("it was made if it was missing");
        let decimals = |x: f64| if outcome.is("transfer") { format!("{x:.4}") } else { format!("{x:.2}") };
        let figure = |figure: Option<f64>| figure.map_or_else(|| "–".to_owned(), decimals);
        table.row([
            outcome.text("case").into(),
            comparison.reference.protocol.as_str().into(),
            comparison.reference.cc.as_str().into(),
            outcome.text("paths_text").into(),
            outcome.text("loss_text").into(),
            flow_name(comparison.reference.flow).into(),
            figure(comparison.ours()).into(),
            figure(comparison.kernel()).into(),
            comparison.deviation_pct().into(),
            comparison.spread_pct().into(),
            verdict(&comparison).into(),
        ]);
    }
    tables.extend(checks::readable(&outcomes));
    tables.extend(distributions::readable(&distributions::all(&outcomes)));
    tables
}

/// For each letter that cases begin with: the deviations, then both figures. Then the distributions.
pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let outcomes = Outcome::all(results);
    let single = outcomes.iter().filter(|outcome| !outcome.is_chaotic());
    let comparisons: Vec<Comparison<'_>> = single.flat_map(Outcome::comparisons).collect();
    let mut figures = Vec::new();
    for title in distinct(comparisons.iter().map(Comparison::table_title)) {
        let of_title: Vec<&Comparison<'_>> =
            comparisons.iter().filter(|comparison| comparison.table_title() == title).collect();
        figures.extend([deviations(&title, &of_title), both(&title, &of_title)]);
    }
    figures.extend(distributions::figures(&distributions::all(&outcomes)));
    figures
}

fn deviations(title: &str, comparisons: &[&Comparison<'_>]) -> Figure {
    let mut bars = Bars::new(Axis::new("deviation", "%"));
    for comparison in comparisons {
        if let Some(deviation) = comparison.deviation_pct() {
            bars.add(comparison.name(), "deviation", deviation, None);
        }
    }
    Figure::bars(format!("{title}: deviation from Linux 6.12"), bars)
        .section(title)
        .caption("Ours less the kernel's, as a share of the kernel's.")
}

fn both(title: &str, comparisons: &[&Comparison<'_>]) -> Figure {
    let axis = match comparisons.iter().any(|comparison| comparison.outcome.is("transfer")) {
        true => Axis::new("completion", "s"),
        false => Axis::new("goodput", "Mbit/s"),
    };
    let mut bars = Bars::new(axis);
    for comparison in comparisons {
        let Some(ours) = comparison.ours() else { continue };
        bars.add(comparison.name(), "ours", ours, None);
        if let Some(kernel) = comparison.kernel() {
            bars.add(
                comparison.name(),
                "Linux 6.12",
                kernel,
                (comparison.reference_samples().len() > 1).then(|| comparison.reference_ends()),
            );
        }
    }
    Figure::bars(format!("{title}: ours and Linux 6.12"), bars)
        .section(title)
        .caption("The whiskers reach from the smallest to the largest of the kernel's repetitions.")
}
