//! The tables of a single run: flows, groups, subflows, and links.

use std::borrow::Cow;
use std::fmt::Write;

use super::{join, optional, percent, word};
use crate::number;
use crate::results::Align::{Left, Right};
use crate::results::{FlowResult, GroupResult, Run, RunResult, TextTable, flows_and_groups};

/// Tables of connections, subflows and links.
pub(super) fn one_run(text: &mut String, run: &Run) {
    let mut flows = TextTable::new([
        ("connection", Left),
        ("protocol", Left),
        ("congestion", Left),
        ("scheduler", Left),
        ("paths", Left),
        ("Mbit/s", Right),
        ("MB", Right),
        ("done s", Right),
        ("retrans", Right),
        ("RTOs", Right),
    ]);
    let mut subflows = TextTable::new([
        ("connection", Left),
        ("subflow", Left),
        ("Mbit/s", Right),
        ("packets", Right),
        ("retrans", Right),
        ("srtt ms", Right),
        ("cwnd", Right),
    ]);
    let of_run = flows_and_groups(&run.result);
    for flow in &of_run {
        flows.row([
            flow.name.clone(),
            flow.protocol.clone(),
            word(&flow.congestion),
            word(&flow.scheduler),
            word(&flow.path_manager),
            number::fixed(flow.goodput_mbps, 3),
            number::fixed(flow.bytes_delivered as f64 / 1e6, 3),
            done(flow),
            flow.retransmissions.to_string(),
            flow.timeouts.to_string(),
        ]);
        for subflow in &flow.subflows {
            subflows.row([
                flow.name.clone(),
                subflow.name.clone(),
                number::fixed(subflow.goodput_mbps, 3),
                subflow.packets_sent.to_string(),
                subflow.retransmissions.to_string(),
                optional(subflow.srtt_ms, 1),
                optional(subflow.cwnd_packets, 0),
            ]);
        }
    }
    let mut links = TextTable::new([
        ("link", Left),
        ("packets", Right),
        ("drops", Right),
        ("losses", Right),
        ("used up", Right),
        ("used down", Right),
    ]);
    for link in &run.result.links {
        links.row([
            link.name.clone(),
            link.packets.to_string(),
            link.drops.to_string(),
            link.losses.to_string(),
            percent(link.up.utilisation),
            percent(link.down.utilisation),
        ]);
    }
    let groups = groups(&run.result);
    join(text, [flows, groups, subflows, exchanges(&of_run), abandoned(&of_run), datagrams(&of_run), links]);
    real_time(text, run);
}

/// The completion time, or how a connection ended that failed before.
fn done(flow: &FlowResult) -> String {
    match (flow.completion_s, flow.ended) {
        (None, Some(how)) if how != "gracefully" => how.to_owned(),
        (completion_s, _) => optional(completion_s, 3),
    }
}

/// A line for a run in real time, and one for each note and objection.
fn real_time(text: &mut String, run: &Run) {
    let Some(real) = &run.result.real_time else { return };
    let _ = write!(
        text,
        "\nLinux {}, {} devices, packets late by {} µs (99 %), {} µs (99.9 %), {} µs (the latest), CPU left {}\n",
        real.kernel,
        real.device,
        number::fixed(real.late_p99_us, 0),
        number::fixed(real.late_p999_us, 0),
        number::fixed(real.late_max_us, 0),
        percent(real.cpu_left),
    );
    for note in &real.notes {
        let _ = writeln!(text, "note: {note}");
    }
    for objection in &real.objections {
        let _ = writeln!(text, "NOT VALID: {objection}");
    }
}

/// Times to completion of the flows of each group.
fn groups(run: &RunResult) -> TextTable {
    let mut table = TextTable::new([
        ("group", Left),
        ("flows", Right),
        ("started", Right),
        ("done", Right),
        ("mean s", Right),
        ("median s", Right),
        ("p95 s", Right),
        ("p99 s", Right),
    ]);
    for group in GroupResult::all(run) {
        let counts = [group.flows, group.started, group.completions_s.len()].map(|count| count.to_string());
        let times = [0.5, 0.95, 0.99].map(|p| optional(group.quantile_s(p), 3));
        table.row([group.name.clone()].into_iter().chain(counts).chain([optional(group.mean_s(), 3)]).chain(times));
    }
    table
}

fn exchanges(flows: &[Cow<'_, FlowResult>]) -> TextTable {
    let columns =
        [("connection", Left), ("exchanges", Right), ("mean ms", Right), ("median ms", Right), ("p95 ms", Right)];
    let mut table = TextTable::new(columns);
    for flow in flows {
        if let Some(e) = &flow.exchanges {
            let times = [e.mean_ms, e.median_ms, e.p95_ms].map(|time| optional(time, 1));
            table.row([flow.name.clone(), e.completed.to_string()].into_iter().chain(times));
        }
    }
    table
}

fn abandoned(flows: &[Cow<'_, FlowResult>]) -> TextTable {
    let mut table = TextTable::new([("connection", Left), ("messages given up", Right), ("MB given up", Right)]);
    for flow in flows {
        if let Some(a) = &flow.abandoned {
            table.row([flow.name.clone(), a.messages.to_string(), number::fixed(a.bytes as f64 / 1e6, 3)]);
        }
    }
    table
}

fn datagrams(flows: &[Cow<'_, FlowResult>]) -> TextTable {
    let mut table = TextTable::new([("stream", Left), ("sent", Right), ("received", Right)]);
    for flow in flows {
        if let Some(d) = &flow.datagrams {
            table.row([flow.name.clone(), d.sent.to_string(), d.received.to_string()]);
        }
    }
    table
}
