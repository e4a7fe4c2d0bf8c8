//! Rows, and tables to read.

use subflow_report::{Cell, Table};

use super::measurement::{FlowMeasurement, Measurement, Measurements};

const COLUMNS: [&str; 15] = [
    "table",
    "topology",
    "queue",
    "latency_ms",
    "matchup",
    "capacity_mbps",
    "case",
    "flow",
    "congestion",
    "goodput_mbps",
    "sd_mbps",
    "ci95_low",
    "ci95_high",
    "runs",
    "published_mbps",
];

/// All rows.
pub(super) fn rows(measurements: &Measurements) -> Table {
    let mut table = Table::new(COLUMNS);
    for measurement in &measurements.0 {
        for (index, flow) in measurement.flows.iter().enumerate() {
            table.row(row(measurement, index, flow));
        }
    }
    table
}

fn row(measurement: &Measurement, index: usize, flow: &FlowMeasurement) -> [Cell; 15] {
    let cell = &measurement.cell;
    [
        cell.table.name.into(),
        cell.table.topology.name().into(),
        cell.table.queue.name().into(),
        Cell::Integer(cell.latency_ms.into()),
        cell.table.matchup.name().into(),
        Cell::Integer(cell.capacity_mbps.into()),
        cell.case.into(),
        Cell::Integer(index as i64),
        flow.congestion.into(),
        flow.median.into(),
        flow.sd.into(),
        flow.interval.map(|interval| interval.low).into(),
        flow.interval.map(|interval| interval.high).into(),
        Cell::Integer(flow.runs as i64),
        flow.published.into(),
    ]
}

/// The tables as the thesis prints them, a line for each capacity, ours and its figures side by side; then the
/// deviations.
pub(super) fn readable(measurements: &Measurements) -> Vec<(String, Table)> {
    let mut tables = Vec::new();
    for name in measurements.tables() {
        let first = measurements.of(name, "").next().expect("the table was run");
        for &latency in first.cell.table.latencies_ms {
            let title = format!(
                "{name}: {}, {}, {latency} ms, {}; goodput in Mbit/s, the thesis's in brackets",
                first.cell.table.topology.name(),
                first.cell.table.queue.name(),
                first.cell.table.matchup.name(),
            );
            let cells: Vec<&Measurement> =
                measurements.of(name, "").filter(|measurement| measurement.cell.latency_ms == latency).collect();
            tables.push((title, side_by_side(&cells)));
        }
    }
    tables.push(("Mean absolute deviation from the thesis, in % of capacity".to_owned(), deviations(measurements)));
    tables
}

/// `cells` of one table and latency: capacities down, cases across.
fn side_by_side(cells: &[&Measurement]) -> Table {
    let mut cases: Vec<&str> = cells.iter().map(|measurement| measurement.cell.case).collect();
    let mut capacities: Vec<u32> = cells.iter().map(|measurement| measurement.cell.capacity_mbps).collect();
    cases.sort_by_key(|case| cells.iter().position(|measurement| measurement.cell.case == *case));
    cases.dedup();
    capacities.dedup();
    let headings = cases.iter().map(|&case| {
        let first = cells.iter().find(|m| m.cell.case == case).expect("cases come from cells");
        first.cell.flows.join(" : ")
    });
    let headings: Vec<String> = std::iter::once("Mbit/s".to_owned()).chain(headings).collect();
    let mut table = Table::new(headings.iter().map(String::as_str));
    for capacity in capacities {
        let shown = cases.iter().map(|&case| {
            let found = cells.iter().find(|m| m.cell.case == case && m.cell.capacity_mbps == capacity);
            Cell::Text(found.map_or_else(String::new, |measurement| shown(measurement)))
        });
        table.row(std::iter::once(Cell::Integer(capacity.into())).chain(shown.collect::<Vec<_>>()));
    }
    table
}

fn shown(measurement: &Measurement) -> String {
    let join = |value: &dyn Fn(&FlowMeasurement) -> String| {
        measurement.flows.iter().map(value).collect::<Vec<_>>().join(" : ")
    };
    let ours = join(&|flow| format!("{:.1}", flow.median));
    match measurement.flows[0].published {
        None => ours,
        Some(_) => format!("{ours} ({})", join(&|flow| flow.published.map_or_else(String::new, |p| format!("{p:.0}")))),
    }
}

fn deviations(measurements: &Measurements) -> Table {
    let mut table = Table::new(["of", "deviation"]);
    for name in measurements.tables() {
        if let Some(deviation) = measurements.deviation_of_table(name) {
            table.row([name.into(), deviation.into()]);
        }
    }
    for (name, bottleneck) in [("bottleneck, all", true), ("half-bottleneck, all", false)] {
        if let Some(deviation) = measurements.deviation_of_topology(bottleneck) {
            table.row([name.into(), deviation.into()]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::measurement::tests::made;
    use super::*;

    #[test]
    fn rows_carry_the_published_figure_next_to_ours() {
        let csv = rows(&made(0, "lia", &[52.0, 44.0])).to_csv();
        let lia = csv.lines().nth(1).expect("a row");
        assert_eq!(lia, "A.1,bottleneck,droptail,0,vs-reno,100,lia,0,lia,52.0,0.0,52.0,52.0,2,50.0");
    }

    #[test]
    fn a_table_reads_like_the_thesis_s() {
        let tables = readable(&made(0, "lia", &[52.0, 44.0]));
        assert!(tables[0].1.to_text().contains("52.0 : 44.0 (50 : 45)"), "{}", tables[0].1.to_text());
        assert_eq!(tables.len(), 2, "the table and the deviations");
    }
}
