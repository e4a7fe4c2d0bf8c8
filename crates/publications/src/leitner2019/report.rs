//! Rows, and tables to read.

use subflow_report::{Cell, Table};

use super::grid::{BEYOND, EQUAL_LOSS, LOSS_ON_PATH_2};
use super::measurement::{BY_TIMEOUT, FIGURES, Measurement, Measurements, RETRANSMISSIONS, Ratio, TRANSFER, ratio};

/// All rows: a point, a mode, and each figure with its interval and its ratio to the reference's.
pub(super) fn rows(measurements: &Measurements) -> Table {
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
    let figures = FIGURES.iter().flat_map(|name| {
        ["", "_ci95_low", "_ci95_high", "_ratio", "_ratio_ci95_half"].map(|suffix| format!("{name}{suffix}"))
    });
    let columns: Vec<String> = point.iter().map(|&name| name.to_owned()).chain(figures).collect();
    let mut table = Table::new(columns.iter().map(String::as_str));
    for measurement in &measurements.0 {
        table.row(row(measurements, measurement));
    }
    table
}

fn row(measurements: &Measurements, measurement: &Measurement) -> Vec<Cell> {
    let cell = &measurement.cell;
    let reference = measurements.reference_of(measurement);
    let mut row: Vec<Cell> = vec![
        cell.item.into(),
        cell.variant.as_str().into(),
        cell.mode.name.into(),
        cell.mode.window_growth.into(),
        cell.mode.fast_recovery.into(),
    ];
    row.extend(cell.rtt_ms.into_iter().chain(cell.loss_pct).map(|n| Cell::Integer(n.into())));
    row.push(Cell::Integer(measurement.runs as i64));
    for (index, figure) in measurement.figures.iter().enumerate() {
        let ratio = reference.and_then(|reference| ratio(reference, measurement, index));
        row.extend([
            figure.mean.into(),
            figure.interval.map(|interval| interval.low).into(),
            figure.interval.map(|interval| interval.high).into(),
            ratio.map(|ratio| ratio.value).into(),
            ratio.map(|ratio| ratio.half).into(),
        ]);
    }
    row
}

/// How to read the tables, in short.
const LEGEND: &str = "Means ± half of the 95 % interval; * where that of a ratio leaves 1 out";

/// The experiments side by side, a line for each point; then what lies beyond, a line for each mode.
pub(super) fn readable(measurements: &Measurements) -> Vec<(String, Table)> {
    let titles = [
        (LOSS_ON_PATH_2, "loss-on-path-2: no loss on path 1, that of the line on path 2"),
        (EQUAL_LOSS, "equal-loss: the same loss on both paths"),
    ];
    let mut tables = Vec::new();
    for (item, title) in titles {
        if !measurements.pairs(item).is_empty() {
            tables.push((format!("{title}. {LEGEND}"), side_by_side(measurements, item)));
        }
    }
    let mut beyond = Table::new(["variant", "mode", "RTT ms", "loss %", "transfer s", "ratio", "rtx", "by timeout"]);
    for measurement in measurements.0.iter().filter(|measurement| measurement.cell.item == BEYOND) {
        let reference = measurements.reference_of(measurement);
        let cell = &measurement.cell;
        let pair = |[a, b]: [u32; 2]| if a == b { a.to_string() } else { format!("{a}/{b}") };
        let [transfer, rtx, timeout] =
            [TRANSFER, RETRANSMISSIONS, BY_TIMEOUT].map(|index| with_interval(measurement, index));
        let ratio = reference.and_then(|reference| ratio(reference, measurement, TRANSFER)).map_or(Cell::Empty, marked);
        beyond.row([
            cell.variant.as_str().into(),
            cell.mode.name.into(),
            pair(cell.rtt_ms).into(),
            pair(cell.loss_pct).into(),
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

fn side_by_side(measurements: &Measurements, item: &str) -> Table {
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
    for (reference, proposal) in measurements.pairs(item) {
        let ratio = |index| ratio(reference, proposal, index).map_or(Cell::Empty, marked);
        table.row([
            Cell::Integer(reference.cell.rtt_ms[1].into()),
            Cell::Integer(reference.cell.loss_pct[1].into()),
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
fn with_interval(measurement: &Measurement, index: usize) -> String {
    let figure = &measurement.figures[index];
    let digits = if index == TRANSFER { 2 } else { 1 };
    match figure.interval {
        Some(interval) => format!("{:.digits$} ±{:.digits$}", figure.mean, (interval.high - interval.low) / 2.0),
        None => format!("{:.digits$}", figure.mean),
    }
}
