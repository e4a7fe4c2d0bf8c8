//! The tables at the top of an experiment's report: all figures of a single run, or the means of several runs.

use std::borrow::Cow;

use subflow_lab::number;
use subflow_lab::results::{Experiment, FlowResult, GroupResult, PointStatistics, Run, flows_and_groups};
use subflow_lab::statistics::Summary;

use super::markup::{Cell, table};
use super::parameter::word;

/// The tables of an experiment.
pub(super) fn tables(experiment: &Experiment) -> String {
    match &experiment.runs[..] {
        [run] => one_run(run),
        _ => points(experiment),
    }
}

fn one_run(run: &Run) -> String {
    let word = |word: &Option<String>| word.as_ref().map_or(Cell::Empty, |word| Cell::text(word.as_str()));
    let of_run = flows_and_groups(&run.result);
    let flows: Vec<Vec<Cell>> = of_run
        .iter()
        .map(|flow| {
            vec![
                Cell::text(&flow.name),
                Cell::text(&flow.protocol),
                word(&flow.congestion),
                word(&flow.scheduler),
                word(&flow.path_manager),
                Cell::Number(flow.goodput_mbps, 3),
                Cell::Number(flow.bytes_delivered as f64 / 1e6, 3),
                Cell::number(flow.completion_s, 3),
                Cell::count(flow.retransmissions),
                Cell::count(flow.timeouts),
            ]
        })
        .collect();
    let flow_columns = [
        "flow",
        "protocol",
        "congestion",
        "scheduler",
        "paths",
        "goodput Mbit/s",
        "delivered MB",
        "completion s",
        "retransmissions",
        "timeouts",
    ];
    [table("flows", "Flows", &flow_columns, &flows), groups(run), subflows(&of_run), others(&of_run), links(run)]
        .concat()
}

fn subflows(flows: &[Cow<'_, FlowResult>]) -> String {
    let mut rows = Vec::new();
    for flow in flows {
        for subflow in &flow.subflows {
            rows.push(vec![
                Cell::text(&flow.name),
                Cell::text(&subflow.name),
                Cell::Number(subflow.goodput_mbps, 3),
                Cell::count(subflow.packets_sent),
                Cell::count(subflow.retransmissions),
                Cell::number(subflow.srtt_ms, 1),
                Cell::number(subflow.cwnd_packets, 0),
            ]);
        }
    }
    let columns =
        ["flow", "subflow", "goodput Mbit/s", "packets sent", "retransmissions", "last srtt ms", "last cwnd packets"];
    if rows.is_empty() { String::new() } else { table("subflows", "Subflows", &columns, &rows) }
}

/// Times to completion of the flows of each group.
fn groups(run: &Run) -> String {
    let row = |group: &GroupResult| {
        let counts = [group.flows, group.started, group.completions_s.len()].map(|count| Cell::count(count as u64));
        let times = [0.5, 0.95, 0.99].map(|p| Cell::number(group.quantile_s(p), 3));
        let mean = Cell::number(group.mean_s(), 3);
        [Cell::text(&group.name)].into_iter().chain(counts).chain([mean]).chain(times).collect()
    };
    let rows: Vec<Vec<Cell>> = GroupResult::all(&run.result).iter().map(row).collect();
    let columns =
        ["group", "flows", "started", "completed", "completion s", "median", "95th percentile", "99th percentile"];
    if rows.is_empty() { String::new() } else { table("groups", "Groups of flows", &columns, &rows) }
}

/// Tables of requests and datagrams, if there are any.
fn others(flows: &[Cow<'_, FlowResult>]) -> String {
    let mut exchanges = Vec::new();
    let mut datagrams = Vec::new();
    for flow in flows {
        if let Some(e) = &flow.exchanges {
            let times = [e.mean_ms, e.median_ms, e.p95_ms].map(|time| Cell::number(time, 1));
            exchanges.push([Cell::text(&flow.name), Cell::count(e.completed)].into_iter().chain(times).collect());
        }
        if let Some(d) = &flow.datagrams {
            datagrams.push(vec![Cell::text(&flow.name), Cell::count(d.sent), Cell::count(d.received)]);
        }
    }
    let mut html = String::new();
    if !exchanges.is_empty() {
        let columns = ["flow", "completed", "mean ms", "median ms", "95th percentile ms"];
        html += &table("exchanges", "Requests and their responses", &columns, &exchanges);
    }
    if !datagrams.is_empty() {
        html += &table("datagrams", "Datagrams", &["flow", "sent", "received"], &datagrams);
    }
    html
}

fn links(run: &Run) -> String {
    let rows: Vec<Vec<Cell>> = run
        .result
        .links
        .iter()
        .map(|link| {
            let mut row = vec![
                Cell::text(&link.name),
                Cell::count(link.packets),
                Cell::count(link.drops),
                Cell::count(link.losses),
            ];
            for direction in [&link.up, &link.down] {
                // Computed from the rounded share in the JSON.
                row.push(Cell::Number(number::rounded(direction.utilisation) * 100.0, 1));
                row.push(Cell::Number(direction.mean_queue_packets, 1));
                row.push(Cell::count(direction.max_queue_packets));
            }
            row
        })
        .collect();
    let columns = [
        "link",
        "packets",
        "dropped",
        "lost",
        "up: used %",
        "mean queue",
        "longest",
        "down: used %",
        "mean queue",
        "longest",
    ];
    table("links", "Links", &columns, &rows)
}

/// A row for each flow at each point of the sweep.
fn points(experiment: &Experiment) -> String {
    let parameters = &experiment.scenario.sweep;
    let mut rows = Vec::new();
    for point in &experiment.statistics {
        for flow in &point.flows {
            let values =
                parameters.iter().map(|path| point.parameters.get(path).map_or(Cell::Empty, |v| Cell::Text(word(v))));
            let mut row: Vec<Cell> = values.collect();
            row.push(Cell::text(&flow.name));
            row.push(Cell::count(point.runs as u64));
            row.extend(mean_and_interval(&flow.goodput_mbps, 3));
            row.push(Cell::number(flow.goodput_mbps.median, 3));
            row.extend(mean_and_interval(&flow.completion_s, 3));
            row.push(Cell::number(flow.retransmissions.mean, 1));
            row.push(Cell::number(flow.timeouts.mean, 1));
            rows.push(row);
        }
    }
    let mut columns: Vec<&str> = parameters.iter().map(String::as_str).collect();
    columns.extend([
        "flow",
        "runs",
        "goodput Mbit/s",
        "95 % from",
        "to",
        "median",
        "completion s",
        "95 % from",
        "to",
        "retransmissions",
        "timeouts",
    ]);
    let (columns, rows) = without_empty(columns, rows);
    let html = table("statistics", "Means over the runs of each point, with 95 % intervals", &columns, &rows);
    let html = html + &groups_of_points(experiment);
    let several_flows = experiment.statistics.iter().any(|point| point.flows.len() > 1);
    if several_flows { html + &together(parameters, &experiment.statistics) } else { html }
}

/// A row for each group of flows at each point.
fn groups_of_points(experiment: &Experiment) -> String {
    let parameters = &experiment.scenario.sweep;
    let mut rows = Vec::new();
    for point in &experiment.statistics {
        for group in &point.groups {
            let values =
                parameters.iter().map(|path| point.parameters.get(path).map_or(Cell::Empty, |v| Cell::Text(word(v))));
            let mut row: Vec<Cell> = values.collect();
            row.push(Cell::text(&group.name));
            row.push(Cell::count(point.runs as u64));
            row.push(Cell::number(group.started.mean, 1));
            row.push(Cell::number(group.completed.mean, 1));
            row.extend(mean_and_interval(&group.completion_mean_s, 3));
            row.push(Cell::number(group.completion_p50_s.mean, 3));
            row.push(Cell::number(group.completion_p95_s.mean, 3));
            row.extend(mean_and_interval(&group.completion_p99_s, 3));
            rows.push(row);
        }
    }
    let mut columns: Vec<&str> = parameters.iter().map(String::as_str).collect();
    columns.extend([
        "group",
        "runs",
        "started",
        "completed",
        "completion s",
        "95 % from",
        "to",
        "median",
        "95th percentile",
        "99th percentile",
        "95 % from",
        "to",
    ]);
    if rows.is_empty() { String::new() } else { table("groups", "Groups of flows", &columns, &rows) }
}

/// The sums over all flows of a point.
fn together(parameters: &[String], statistics: &[PointStatistics]) -> String {
    let row = |point: &PointStatistics| {
        let values =
            parameters.iter().map(|path| point.parameters.get(path).map_or(Cell::Empty, |v| Cell::Text(word(v))));
        let figures =
            mean_and_interval(&point.total_goodput_mbps, 3).into_iter().chain(mean_and_interval(&point.jain_index, 3));
        values.chain([Cell::count(point.runs as u64)]).chain(figures).collect()
    };
    let rows: Vec<Vec<Cell>> = statistics.iter().map(row).collect();
    let mut columns: Vec<&str> = parameters.iter().map(String::as_str).collect();
    columns.extend(["runs", "total Mbit/s", "95 % from", "to", "Jain's index", "95 % from", "to"]);
    table("together", "All flows together", &columns, &rows)
}

/// Removes empty columns, such as the completion of flows of unlimited length.
fn without_empty(columns: Vec<&str>, rows: Vec<Vec<Cell>>) -> (Vec<&str>, Vec<Vec<Cell>>) {
    let kept: Vec<bool> = (0..columns.len()).map(|index| rows.iter().any(|row| row[index] != Cell::Empty)).collect();
    let rows = rows
        .into_iter()
        .map(|row| row.into_iter().zip(&kept).filter(|(_, kept)| **kept).map(|(cell, _)| cell).collect());
    let columns = columns.into_iter().zip(&kept).filter(|(_, kept)| **kept).map(|(column, _)| column);
    (columns.collect(), rows.collect())
}

fn mean_and_interval(summary: &Summary, decimals: usize) -> [Cell; 3] {
    [summary.mean, summary.ci95_low, summary.ci95_high].map(|x| Cell::number(x, decimals))
}
