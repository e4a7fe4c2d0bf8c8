//! The table `statistics`.

use subflow_lab::results::{Experiment, FlowStatistics, PointStatistics};
use subflow_lab::statistics::Summary;

use crate::Table;
use crate::columns::Columns;

/// A quantity's name, its unit (empty for counts), and what the runs say about it.
type Quantity<'r> = (&'static str, &'static str, &'r Summary);

/// One quantity of one thing at one point of the sweep.
struct Row<'r> {
    index: usize,
    point: &'r PointStatistics,
    kind: &'static str,
    name: Option<&'r str>,
    flow: Option<&'r str>,
    quantity: &'static str,
    unit: &'static str,
    summary: &'r Summary,
}

/// A row for each quantity of each flow, group, subflow and link, and of the whole, at each point of the sweep.
pub fn statistics(experiment: &Experiment) -> Table {
    let rows: Vec<Row<'_>> =
        experiment.statistics.iter().enumerate().flat_map(|(index, point)| of_point(index, point)).collect();
    let mut columns = Columns::of(&rows);
    columns
        .counts(("point", "", "Number of the point of the sweep, from 0."), |row| Some(row.index as u64))
        .measured_parameters(|row| &row.point.parameters)
        .words(("kind", "", "flow, group, subflow, link or total."), |row| Some(row.kind))
        .words(("flow", "", "Name of the flow or group, also of a subflow."), |row| row.flow)
        .words(("name", "", "Name of the flow, group, subflow or link."), |row| row.name)
        .words(("quantity", "", "What was measured."), |row| Some(row.quantity))
        .words(("unit", "", "Unit of the numbers in this row."), |row| Some(row.unit))
        .counts(("n", "", "Runs that have the quantity."), |row| Some(row.summary.n as u64));
    numbers(&mut columns);
    columns.table("statistics").of(experiment)
}

fn numbers<'r>(columns: &mut Columns<'r, Row<'r>>) {
    columns
        .numbers(("mean", "see unit", "Mean."), |row| row.summary.mean)
        .numbers(("median", "see unit", "Median."), |row| row.summary.median)
        .numbers(("sd", "see unit", "Sample standard deviation."), |row| row.summary.sd)
        .numbers(("ci95_low", "see unit", "Lower end of the 95 % interval of the mean."), |row| row.summary.ci95_low)
        .numbers(("ci95_high", "see unit", "Upper end of it."), |row| row.summary.ci95_high)
        .numbers(("median_ci95_low", "see unit", "Lower end of the 95 % interval of the median."), |row| {
            row.summary.median_ci95_low
        })
        .numbers(("median_ci95_high", "see unit", "Upper end of it."), |row| row.summary.median_ci95_high)
        .numbers(("min", "see unit", "Smallest."), |row| row.summary.min)
        .numbers(("q1", "see unit", "First quartile."), |row| row.summary.q1)
        .numbers(("q3", "see unit", "Third quartile."), |row| row.summary.q3)
        .numbers(("max", "see unit", "Largest."), |row| row.summary.max);
}

fn of_point<'r>(index: usize, point: &'r PointStatistics) -> Vec<Row<'r>> {
    let mut rows = Vec::new();
    let mut add = |kind, flow, name, quantities: &[Quantity<'r>]| {
        let row =
            |&(quantity, unit, summary): &Quantity<'r>| Row { index, point, kind, name, flow, quantity, unit, summary };
        rows.extend(quantities.iter().map(row));
    };
    for flow in &point.flows {
        let name = Some(flow.name.as_str());
        add("flow", name, name, &of_flow(flow));
        for subflow in &flow.subflows {
            let quantities = [
                ("goodput_mbps", "Mbit/s", &subflow.goodput_mbps),
                ("packets_sent", "", &subflow.packets_sent),
                ("retransmissions", "", &subflow.retransmissions),
            ];
            add("subflow", name, Some(&subflow.name), &quantities);
        }
    }
    for group in &point.groups {
        let quantities = [
            ("started", "", &group.started),
            ("completed", "", &group.completed),
            ("completion_mean_s", "s", &group.completion_mean_s),
            ("completion_p50_s", "s", &group.completion_p50_s),
            ("completion_p95_s", "s", &group.completion_p95_s),
            ("completion_p99_s", "s", &group.completion_p99_s),
        ];
        add("group", Some(group.name.as_str()), Some(&group.name), &quantities);
    }
    for link in &point.links {
        add("link", None, Some(&link.name), &[("utilisation", "1", &link.utilisation), ("drops", "", &link.drops)]);
    }
    let total = [("goodput_mbps", "Mbit/s", &point.total_goodput_mbps), ("jain_index", "1", &point.jain_index)];
    add("total", None, None, &total);
    rows
}

fn of_flow(flow: &FlowStatistics) -> Vec<Quantity<'_>> {
    let mut quantities = vec![
        ("goodput_mbps", "Mbit/s", &flow.goodput_mbps),
        ("completion_s", "s", &flow.completion_s),
        ("retransmissions", "", &flow.retransmissions),
        ("timeouts", "", &flow.timeouts),
    ];
    if let Some(exchanges) = &flow.exchanges {
        quantities.push(("exchanges", "", &exchanges.completed));
        quantities.push(("exchange_mean_ms", "ms", &exchanges.mean_ms));
    }
    quantities
}
