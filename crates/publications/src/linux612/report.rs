//! Rows in the measurements' columns, tables to read, and figures: ours beside the kernel's, and how far off they are.

use subflow_lab::statistics::mean;
use subflow_report::{Axis, Bars, Cell, Figure, Table};

use super::checks::{self, Deviation};
use super::comparison::{BYTES, COMPLETION, Comparison, DROPS, GOODPUT, LOSSES, Outcome, RETRANSMISSIONS, TAIL};
use super::distributions::{self, Distribution};
use super::measurements::{ALL, flow_name};
use crate::study::{Results, distinct};

type Column = (&'static str, fn(&Comparison<'_>) -> Cell);
/// The columns of rows before those of distributions and the status: those of the measurements, and what stands next to
/// them.
const COLUMNS: [Column; 32] = [
    ("case", |of| of.outcome.text("case").into()),
    ("protocol", |of| of.reference.protocol.as_str().into()),
    ("cc", |of| of.reference.cc.as_str().into()),
    ("paths", |of| of.outcome.text("paths_text").into()),
    ("loss_pct", |of| of.outcome.text("loss_text").into()),
    ("duration_s", |of| of.outcome.duration_s().or_else(|| of.ours_of(COMPLETION)).into()),
    ("rep", |_| Cell::Integer(1)),
    ("flow", |of| if of.reference.flow == ALL { "all".into() } else { Cell::Integer(of.reference.flow.into()) }),
    ("goodput_mbps", |of| of.ours_of(GOODPUT).into()),
    ("goodput_tail_mbps", |of| of.ours_of(TAIL).filter(|_| !of.outcome.is("transfer")).into()),
    ("completion_s", |of| of.ours_of(COMPLETION).into()),
    ("retransmits", |of| of.ours_of(RETRANSMISSIONS).into()),
    ("drops", |of| (0..of.outcome.paths.len()).map(|path| of.path(path, DROPS)).sum::<Option<f64>>().into()),
    ("path1_bytes", |of| of.path(0, BYTES).into()),
    ("path2_bytes", |of| of.path(1, BYTES).into()),
    ("queue_drops_path1", |of| of.path(0, DROPS).into()),
    ("queue_drops_path2", |of| of.path(1, DROPS).into()),
    ("loss_drops_path1", |of| of.path(0, LOSSES).into()),
    ("loss_drops_path2", |of| of.path(1, LOSSES).into()),
    ("flow_start_s", |of| of.outcome.start_s(of.reference.flow).filter(|_| of.outcome.is_run()).into()),
    ("reference_goodput_mbps", |of| mean(&of.reference.goodput_mbps).into()),
    ("reference_completion_s", |of| mean(&of.reference.completion_s).into()),
    ("reference_path1_bytes", |of| mean(&of.reference.path_bytes[0]).into()),
    ("reference_path2_bytes", |of| mean(&of.reference.path_bytes[1]).into()),
    ("stall_s", |of| of.outcome.outage().map(|ours| ours.stall_s).into()),
    ("reference_stall_s", |of| of.outcome.outage_of_kernel().map(|kernel| kernel.stall_s).into()),
    ("return_s", |of| of.outcome.outage().map(|ours| ours.return_s).into()),
    ("reference_return_s", |of| of.outcome.outage_of_kernel().map(|kernel| kernel.return_s).into()),
    ("deviation_pct", |of| Deviation::of(*of).percent().into()),
    ("runs", |of| Cell::Integer(of.outcome.row.runs.len() as i64)),
    ("reference_reps", |of| Cell::Integer(of.reference.goodput_mbps.len() as i64)),
    ("reference_spread_pct", |of| of.spread_pct().into()),
];

/// All rows. The columns of distributions are there if a row has them.
pub(super) fn rows(results: &Results) -> Table {
    let outcomes = Outcome::all(results);
    let distributions = distributions::all(&outcomes);
    let of_distributions = if distributions.is_empty() { Vec::new() } else { distributions::columns() };
    let columns = COLUMNS.iter().map(|(name, _)| *name).chain(of_distributions.iter().map(String::as_str));
    let mut table = Table::new(columns.chain(["status"]));
    for comparison in outcomes.iter().flat_map(Outcome::comparisons) {
        let of_it = distributions.iter().find(|distribution| distribution.is_of(&comparison));
        let added = of_it.map_or_else(|| vec![Cell::Empty; of_distributions.len()], Distribution::cells);
        let status = if comparison.outcome.is_run() { "ok" } else { "not supported" };
        let cells = COLUMNS.iter().map(|(_, cell)| cell(&comparison));
        table.row(cells.chain(added).chain([status.into()]));
    }
    table
}

/// The rows that are no distributions, by the title of their table: one for each letter that cases begin with, and transfers
/// on their own.
fn by_title<'o>(outcomes: &'o [Outcome<'o>]) -> Vec<(String, Vec<Comparison<'o>>)> {
    let single = outcomes.iter().filter(|outcome| !outcome.is_chaotic());
    let rows: Vec<Comparison<'_>> = single.flat_map(Outcome::comparisons).collect();
    let of = |title: String| {
        let rows = rows.iter().copied().filter(|row| row.table_title() == title).collect();
        (title, rows)
    };
    distinct(rows.iter().map(Comparison::table_title)).into_iter().map(of).collect()
}

/// The same to read, with what is compared besides, and the distributions.
pub(super) fn readable(results: &Results) -> Vec<(String, Table)> {
    let outcomes = Outcome::all(results);
    let mut tables: Vec<(String, Table)> = Vec::new();
    for (title, comparisons) in by_title(&outcomes) {
        let columns =
            ["case", "protocol", "cc", "paths", "loss %", "flow", "ours", "kernel", "dev %", "spread %", "verdict"];
        let mut table = Table::new(columns);
        for comparison in comparisons {
            let Comparison { outcome, reference } = comparison;
            let deviation = Deviation::of(comparison);
            let decimals = if outcome.is("transfer") { 4 } else { 2 };
            let figure = |figure: Option<f64>| figure.map_or("–".to_owned(), |figure| format!("{figure:.decimals$}"));
            table.row([
                outcome.text("case").into(),
                reference.protocol.as_str().into(),
                reference.cc.as_str().into(),
                outcome.text("paths_text").into(),
                outcome.text("loss_text").into(),
                flow_name(reference.flow).into(),
                figure(comparison.ours()).into(),
                figure(comparison.kernel()).into(),
                deviation.percent().into(),
                comparison.spread_pct().into(),
                deviation.verdict().into(),
            ]);
        }
        tables.push((title, table));
    }
    tables.extend(checks::readable(&outcomes));
    tables.extend(distributions::readable(&distributions::all(&outcomes)));
    tables
}

/// For each table the deviations, then both figures. Then the distributions.
pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let outcomes = Outcome::all(results);
    let of = |(title, rows): (String, Vec<Comparison<'_>>)| [deviations(&title, &rows), both(&title, &rows)];
    let mut figures: Vec<Figure> = by_title(&outcomes).into_iter().flat_map(of).collect();
    figures.extend(distributions::figures(&distributions::all(&outcomes)));
    figures
}

fn deviations(title: &str, comparisons: &[Comparison<'_>]) -> Figure {
    let mut bars = Bars::new(Axis::new("deviation", "%"));
    for comparison in comparisons {
        if let Some(deviation) = Deviation::of(*comparison).percent() {
            bars.add(comparison.name(), "deviation", deviation, None);
        }
    }
    Figure::bars(format!("{title}: deviation from Linux 6.12"), bars)
        .section(title)
        .caption("Ours less the kernel's, as a share of the kernel's.")
}

fn both(title: &str, comparisons: &[Comparison<'_>]) -> Figure {
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
