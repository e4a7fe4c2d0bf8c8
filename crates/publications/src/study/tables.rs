//! Tables and figures of papers without their own: each metric by the variables that are swept.

use serde_json::Value;
use subflow_report::{Axis, Bars, Cell, Figure, Table};

use super::metrics::Metric;
use super::results::{Results, Row, distinct};

/// A row for each cell: item, variables, runs, and each metric with its interval and the published figure.
pub(super) fn rows(metrics: &[Metric], all: &Results) -> Table {
    let variables = distinct(all.rows.iter().flat_map(|row| row.cell.swept.iter()));
    let is_published = |(place, metric): (usize, &Metric)| {
        all.rows.iter().any(|row| all.published.of_metric(&row.cell, place, &metric.name).is_some())
    };
    let published: Vec<bool> = metrics.iter().enumerate().map(is_published).collect();
    let mut columns = vec!["item".to_owned()];
    columns.extend(variables.iter().map(|name| (*name).clone()));
    columns.push("runs".to_owned());
    for (Metric { name, .. }, is_published) in metrics.iter().zip(&published) {
        columns.extend([name.clone(), format!("{name}_ci95_low"), format!("{name}_ci95_high")]);
        columns.extend(is_published.then(|| format!("{name}_published")));
    }
    let mut table = Table::new(columns.iter().map(String::as_str));
    for row in &all.rows {
        let mut cells = vec![Cell::from(row.cell.item.as_str())];
        cells.extend(variables.iter().map(|name| variable(row, name)));
        cells.push(Cell::Integer(row.runs.len() as i64));
        for (place, (metric, is_published)) in metrics.iter().zip(&published).enumerate() {
            let interval = row.interval(place);
            let mean = row.has(place).then(|| row.mean(place));
            cells.extend([mean.into(), interval.map(|of| of.low).into(), interval.map(|of| of.high).into()]);
            cells.extend(is_published.then(|| all.published.of_metric(&row.cell, place, &metric.name).into()));
        }
        table.row(cells);
    }
    table
}

/// A table for each item: a line for each cell, means with half their intervals, and published figures in brackets.
pub(super) fn readable(metrics: &[Metric], all: &Results) -> Vec<(String, Table)> {
    let of_item = |item: &str| {
        let variables = distinct(all.of(item).flat_map(|row| row.cell.swept.iter()));
        let headings = metrics.iter().map(heading);
        let headings: Vec<String> = variables.iter().map(|name| (*name).clone()).chain(headings).collect();
        let mut table = Table::new(headings.iter().map(String::as_str));
        for row in all.of(item) {
            let variables = variables.iter().map(|name| variable(row, name));
            let figures = metrics.iter().enumerate().map(|(place, metric)| shown(all, row, place, metric));
            table.row(variables.chain(figures));
        }
        table
    };
    all.items().into_iter().map(|item| (format!("{item}: means ± half their 95 % intervals"), of_item(item))).collect()
}

/// The value of a variable, as a number if it is one.
fn variable(row: &Row, name: &str) -> Cell {
    match row.cell.variables.get(name) {
        Some(Value::Number(number)) => match number.as_i64() {
            Some(whole) => Cell::Integer(whole),
            None => number.as_f64().into(),
        },
        _ => row.cell.text(name).into(),
    }
}

fn heading(metric: &Metric) -> String {
    if metric.unit.is_empty() { metric.name.clone() } else { format!("{}, {}", metric.name, metric.unit) }
}

fn shown(all: &Results, row: &Row, place: usize, metric: &Metric) -> Cell {
    let ours = match (row.has(place), row.interval(place)) {
        (false, _) => String::new(),
        (true, None) => format!("{:.2}", row.mean(place)),
        (true, Some(_)) => row.shown(place, 2, " ± "),
    };
    match all.published.of_metric(&row.cell, place, &metric.name) {
        Some(published) => format!("{ours} ({published})").into(),
        None => ours.into(),
    }
}

/// Bars for each item and metric; the values of the variable that varies fastest stand side by side.
pub(super) fn figures(metrics: &[Metric], all: &Results) -> Vec<Figure> {
    let mut figures = Vec::new();
    for item in all.items() {
        for (place, metric) in metrics.iter().enumerate() {
            let mut bars = Bars::new(Axis::new(&metric.name, &metric.unit));
            for row in all.of(item).filter(|row| row.has(place)) {
                let values: Vec<String> = row.cell.swept.iter().map(|name| row.cell.text(name)).collect();
                let (series, group) =
                    values.split_last().map_or_else(Default::default, |(last, rest)| (last.clone(), rest.join(", ")));
                bars.add(group, series, row.mean(place), Some(row.ends(place)));
            }
            if !bars.bars.is_empty() {
                let figure = Figure::bars(format!("{item}: {}", metric.name), bars);
                figures.push(figure.section(item).caption("Means with 95 % intervals."));
            }
        }
    }
    figures
}
