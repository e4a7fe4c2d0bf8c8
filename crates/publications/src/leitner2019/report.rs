//! Rows, and tables to read.

use subflow_report::{Cell, Table};

use super::comparison::{Ratio, loss, pairs, ratio, reference_of, rtt};
use super::{BEYOND, BY_TIMEOUT, EQUAL_LOSS, LOSS_ON_PATH_2, METRICS, RETRANSMISSIONS, TRANSFER};
use crate::study::{Results, Row};

/// All rows: a point, a mode, and each figure with its interval and its ratio to the reference's.
pub(super) fn rows(results: &Results) -> Table {
    let point = [
        "item",
        "variant",
        "mode",
        "window_growth",
        "fast_recovery",
        "rtt1_ms",
        "rtt2_ms",
        "loss1_pct",
        "loss2_pct",
        "runs",
    ];
    let figures = METRICS.iter().flat_map(|name| {
        ["", "_ci95_low", "_ci95_high", "_ratio", "_ratio_ci95_half"].map(|suffix| format!("{name}{suffix}"))
    });
    let columns: Vec<String> = point.iter().map(|&name| name.to_owned()).chain(figures).collect();
    let mut table = Table::new(columns.iter().map(String::as_str));
    for measured in &results.rows {
        table.row(row(results, measured));
    }
    table
}

fn row(results: &Results, measured: &Row) -> Vec<Cell> {
    let cell = &measured.cell;
    let reference = reference_of(results, measured);
    let mut row = vec![Cell::from(cell.item.as_str())];
    row.extend(["variant", "mode", "window_growth", "fast_recovery"].map(|name| cell.text(name).into()));
    row.extend(["rtt1", "rtt2", "loss1", "loss2"].map(|name| Cell::Integer(cell.integer(name))));
    row.push(Cell::Integer(measured.runs.len() as i64));
    for metric in 0..METRICS.len() {
        let ratio = reference.and_then(|reference| ratio(reference, measured, metric));
        let interval = measured.interval(metric);
        row.extend([
            measured.mean(metric).into(),
            interval.map(|interval| interval.low).into(),
            interval.map(|interval| interval.high).into(),
            ratio.map(|ratio| ratio.value).into(),
            ratio.map(|ratio| ratio.half).into(),
        ]);
    }
    row
}

/// How to read the tables, in short.
const LEGEND: &str = "Means ± half of the 95 % interval; * where that of a ratio leaves 1 out";

/// The experiments side by side, a line for each point; then what lies beyond, a line for each mode.
pub(super) fn readable(results: &Results) -> Vec<(String, Table)> {
    let titles = [
        (LOSS_ON_PATH_2, "loss-on-path-2: no loss on path 1, that of the line on path 2"),
        (EQUAL_LOSS, "equal-loss: the same loss on both paths"),
    ];
    let mut tables = Vec::new();
    for (item, title) in titles {
        if !pairs(results, item).is_empty() {
            tables.push((format!("{title}. {LEGEND}"), side_by_side(results, item)));
        }
    }
    let mut beyond = Table::new(["variant", "mode", "RTT ms", "loss %", "transfer s", "ratio", "rtx", "by timeout"]);
    for measured in results.of(BEYOND) {
        let reference = reference_of(results, measured);
        let cell = &measured.cell;
        let pair = |names: [&str; 2]| match names.map(|name| cell.integer(name)) {
            [a, b] if a == b => a.to_string(),
            [a, b] => format!("{a}/{b}"),
        };
        let [transfer, rtx, timeout] =
            [TRANSFER, RETRANSMISSIONS, BY_TIMEOUT].map(|index| with_interval(measured, index));
        let ratio = reference.and_then(|reference| ratio(reference, measured, TRANSFER)).map_or(Cell::Empty, marked);
        beyond.row([
            cell.text("variant").into(),
            cell.text("mode").into(),
            pair(["rtt1", "rtt2"]).into(),
            pair(["loss1", "loss2"]).into(),
            transfer.into(),
            ratio,
            rtx.into(),
            timeout.into(),
        ]);
    }
    if !beyond.rows().is_empty() {
        tables.push((format!("beyond: the thesis's future work. {LEGEND}"), beyond));
    }
    tables
}

/// A ratio, with a star where its 95 % interval leaves 1 out.
fn marked(ratio: Ratio) -> Cell {
    let star = if ratio.is_below_one() || ratio.is_above_one() { "*" } else { "" };
    format!("{:.2}{star}", ratio.value).into()
}

fn side_by_side(results: &Results, item: &str) -> Table {
    let mut table = Table::new([
        "RTT ms",
        "loss %",
        "reference s",
        "proposal s",
        "ratio",
        "rtx ref",
        "rtx prop",
        "rtx ratio",
        "timeout ref",
        "timeout prop",
    ]);
    for (reference, proposal) in pairs(results, item) {
        let ratio = |index| ratio(reference, proposal, index).map_or(Cell::Empty, marked);
        table.row([
            Cell::Integer(rtt(reference)),
            Cell::Integer(loss(reference)),
            with_interval(reference, TRANSFER).into(),
            with_interval(proposal, TRANSFER).into(),
            ratio(TRANSFER),
            with_interval(reference, RETRANSMISSIONS).into(),
            with_interval(proposal, RETRANSMISSIONS).into(),
            ratio(RETRANSMISSIONS),
            with_interval(reference, BY_TIMEOUT).into(),
            with_interval(proposal, BY_TIMEOUT).into(),
        ]);
    }
    table
}

/// A mean and half of its interval.
fn with_interval(row: &Row, metric: usize) -> String {
    row.shown(metric, if metric == TRANSFER { 2 } else { 1 }, " ±")
}
