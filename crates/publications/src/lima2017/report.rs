//! Rows, and tables to read.

use subflow_lab::statistics::{mean, standard_deviation};
use subflow_report::{Cell, Table};

use super::{
    ADAPTIVE, BACKGROUND_TCP, CONGESTED, CONGESTION, DESIGN, GOODPUT, MESH, SCHEDULERS, SECONDS, TRANSFER, adaptive,
    cases,
};
use crate::study::{Results, Row};

const COLUMNS: [&str; 12] = [
    "item",
    "case",
    "congestion",
    "scheduler",
    "path_manager",
    "goodput_mbps",
    "sd_mbps",
    "ci95_low",
    "ci95_high",
    "runs",
    "background_tcp_mbps",
    "transfer_s",
];

/// All rows, one for each cell.
pub(super) fn rows(results: &Results) -> Table {
    let mut table = Table::new(COLUMNS);
    for measured in &results.rows {
        table.row(row(measured));
    }
    table
}

fn row(row: &Row) -> Vec<Cell> {
    let algorithms = ["case_name", "congestion", "scheduler", "path_manager"].map(|name| row.cell.text(name).into());
    let interval = row.interval(GOODPUT);
    let figures = [
        row.mean(GOODPUT).into(),
        standard_deviation(&row.samples(GOODPUT)).into(),
        interval.map(|interval| interval.low).into(),
        interval.map(|interval| interval.high).into(),
        Cell::Integer(row.runs.len() as i64),
        mean(&row.samples(BACKGROUND_TCP)).into(),
        mean(&row.samples(SECONDS)).into(),
    ];
    [row.cell.item.as_str().into()].into_iter().chain(algorithms).chain(figures).collect()
}

/// For each study and congestion control a table with a line for each case, schedulers or meshes side by side.
pub(super) fn readable(results: &Results) -> Vec<(String, Table)> {
    let mut tables = Vec::new();
    for item in results.items() {
        for congestion in CONGESTION {
            let title = format!("{item}, {congestion}: goodput in Mbit/s ± half the 95 % interval");
            tables.push((title, side_by_side(results, item, congestion)));
        }
    }
    tables.extend(adaptive::readable(results));
    tables
}

/// What stands side by side: heading, scheduler, path manager.
pub(super) fn variants(item: &str) -> Vec<(&'static str, &'static str, &'static str)> {
    let schedulers = SCHEDULERS.into_iter().chain([ADAPTIVE]).map(|name| (name, name, "full-mesh"));
    let meshes = [("full-mesh", "ll", "full-mesh"), ("single-mesh", "ll", "single-mesh")];
    match item {
        CONGESTED | DESIGN => schedulers.collect(),
        MESH => meshes.to_vec(),
        TRANSFER => meshes[..1].to_vec(),
        _ => schedulers.chain([meshes[1]]).collect(),
    }
}

fn side_by_side(results: &Results, item: &str, congestion: &str) -> Table {
    let variants = variants(item);
    let headings = std::iter::once("case").chain(variants.iter().map(|(heading, ..)| *heading));
    let mut table = Table::new(headings);
    for case in cases(results, item) {
        let of_case =
            || results.of(item).filter(|row| row.cell.is("case", case) && row.cell.is("congestion", congestion));
        let Some(first) = of_case().next() else { continue };
        let mut row = |name: String, shown: &dyn Fn(&Row) -> String| {
            let cells = variants.iter().map(|(_, scheduler, path_manager)| {
                let is_it =
                    |row: &&Row| row.cell.is("scheduler", *scheduler) && row.cell.is("path_manager", *path_manager);
                Cell::Text(of_case().find(is_it).map_or_else(String::new, shown))
            });
            table.row(std::iter::once(Cell::Text(name)).chain(cells));
        };
        row(first.cell.text("case_name"), &shown);
        for (name, metric) in [("  TCP beside it", BACKGROUND_TCP), ("  time of 1.5 GB, s", SECONDS)] {
            if !first.samples(metric).is_empty() {
                let mean = |row: &Row| mean(&row.samples(metric)).map_or_else(String::new, |mean| format!("{mean:.1}"));
                row(name.to_owned(), &mean);
            }
        }
    }
    table
}

/// The mean and half its interval.
pub(super) fn shown(row: &Row) -> String {
    row.shown(GOODPUT, 1, " ±")
}

#[cfg(test)]
mod tests {
    use super::super::tests::made;
    use super::*;

    #[test]
    fn a_row_names_the_cell_and_its_figures() {
        let csv = rows(&made(MESH, |cell| cell.integer("case") as f64 * 10.0)).to_csv();
        let first = csv.lines().nth(1).expect("a row");
        assert!(first.starts_with("mesh,Exp 1,lia,ll,full-mesh,11.0,1.414214,"), "{first}");
        assert_eq!(csv.lines().count(), 65);
    }

    #[test]
    fn tables_fit_and_have_a_line_for_each_case() {
        for item in [CONGESTED, DESIGN, MESH, "background", TRANSFER] {
            let tables = readable(&made(item, |_| 123.4));
            assert!(tables.len() >= CONGESTION.len());
            for (title, table) in tables {
                let text = table.to_text();
                assert!(text.lines().all(|line| line.chars().count() <= 110), "{title}\n{text}");
            }
        }
    }
}
