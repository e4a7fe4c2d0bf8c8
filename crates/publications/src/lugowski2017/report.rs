//! Tables to read.

use subflow_report::{Cell, Table};

use super::{capacity, deviation_of_table, deviation_of_topology, flow_name, flows, latency, median, published};
use crate::study::{Results, Row, distinct};

/// The tables as the thesis prints them, a line for each capacity, ours and its figures side by side; then the
/// deviations.
pub(super) fn readable(all: &Results) -> Vec<(String, Table)> {
    let mut tables = Vec::new();
    for table in all.items() {
        for ms in distinct(all.of(table).map(latency)) {
            let rows: Vec<&Row> = all.of(table).filter(|row| latency(row) == ms).collect();
            let [topology, queue, matchup] = ["topology", "queue", "matchup"].map(|name| rows[0].cell.text(name));
            let title = format!(
                "{table}: {topology}, {queue}, {ms} ms, {matchup}; goodput in Mbit/s, the thesis's in brackets"
            );
            tables.push((title, side_by_side(&rows)));
        }
    }
    tables.push(("Mean absolute deviation from the thesis, in % of capacity".to_owned(), deviations(all)));
    tables
}

/// `rows` of one table and latency: capacities down, cases across.
fn side_by_side(rows: &[&Row]) -> Table {
    let cases = distinct(rows.iter().map(|row| row.cell.text("case")));
    let headings = cases.iter().filter_map(|case| {
        let first = rows.iter().find(|row| row.cell.says("case", case))?;
        Some((0..flows(first)).map(|flow| flow_name(first, flow)).collect::<Vec<_>>().join(" : "))
    });
    let headings: Vec<String> = std::iter::once("Mbit/s".to_owned()).chain(headings).collect();
    let mut table = Table::new(headings.iter().map(String::as_str));
    for mbps in distinct(rows.iter().map(|row| capacity(row))) {
        let at = |case: &String| {
            let found = rows.iter().find(|row| row.cell.says("case", case) && capacity(row) == mbps);
            Cell::Text(found.map_or_else(String::new, |row| shown(row)))
        };
        table.row(std::iter::once(Cell::Integer(mbps)).chain(cases.iter().map(at)));
    }
    table
}

fn shown(row: &Row) -> String {
    let join = |value: &dyn Fn(usize) -> String| (0..flows(row)).map(value).collect::<Vec<_>>().join(" : ");
    let ours = join(&|flow| format!("{:.1}", median(row, flow)));
    match published(row, 0) {
        None => ours,
        Some(_) => {
            let theirs = |flow| published(row, flow).map_or_else(String::new, |figure| format!("{figure:.0}"));
            format!("{ours} ({})", join(&theirs))
        }
    }
}

fn deviations(all: &Results) -> Table {
    let mut table = Table::new(["of", "deviation"]);
    for name in all.items() {
        if let Some(deviation) = deviation_of_table(all, name) {
            table.row([name.into(), deviation.into()]);
        }
    }
    for (name, bottleneck) in [("bottleneck, all", true), ("half-bottleneck, all", false)] {
        if let Some(deviation) = deviation_of_topology(all, bottleneck) {
            table.row([name.into(), deviation.into()]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::tests::made;
    use super::*;

    #[test]
    fn a_table_reads_like_the_thesis_s() {
        let tables = readable(&made("A.1", "lia", [52.0, 44.0]));
        assert!(tables[0].1.to_text().contains("52.0 : 44.0 (50 : 45)"), "{}", tables[0].1.to_text());
        assert_eq!(tables.len(), 2, "the table and the deviations");
    }
}
