//! Why points of a sweep came out the same, as far as their results prove it.

use crate::results::{Experiment, FlowResult, LinkResult, Run};

/// Why the swept value at `path` made no difference between points whose results are those of `point`; `None` if the
/// results do not prove a reason.
pub(super) fn reason(experiment: &Experiment, point: usize, path: &str) -> Option<String> {
    // Runs are ordered by point.
    let first = experiment.runs.partition_point(|run| run.point < point);
    let count = experiment.runs[first..].iter().take_while(|run| run.point == point).count();
    let runs = &experiment.runs[first..first + count];
    let why = match path.strip_prefix("links.") {
        Some(path) => of_link(runs, path),
        None => of_flow(runs, path.strip_prefix("flows.")?),
    };
    why.map(|why| format!("{path} made no difference: {why}"))
}

/// The key in `path`, of which the first part is `name`; `None` if it is another's. Of a key in a table, that of the
/// table.
fn key_of<'p>(name: &str, path: &'p str) -> Option<&'p str> {
    path.strip_prefix(name)?.strip_prefix('.')?.split('.').next()
}

fn of_link(runs: &[Run], path: &str) -> Option<&'static str> {
    let of_path = |link: &&LinkResult| key_of(&link.name, path).is_some();
    let links: Vec<&LinkResult> = runs.iter().flat_map(|run| &run.result.links).filter(of_path).collect();
    let key = key_of(&links.first()?.name, path)?;
    let all = |is: fn(&LinkResult) -> bool| links.iter().all(|link| is(link));
    let is_idle = |link: &LinkResult| {
        link.packets + link.drops + link.losses + link.up.max_queue_packets + link.down.max_queue_packets == 0
    };
    if all(is_idle) {
        return Some("no packet passed the link");
    }
    match key {
        "queue" if all(|link| link.drops == 0) => Some("the link's queues dropped no packet"),
        "loss" if all(|link| link.losses == 0) => Some("the link lost no packet"),
        _ => None,
    }
}

fn of_flow(runs: &[Run], path: &str) -> Option<&'static str> {
    let of_path = |flow: &&FlowResult| key_of(flow.line(), path).is_some();
    let flows: Vec<&FlowResult> = runs.iter().flat_map(|run| &run.result.flows).filter(of_path).collect();
    let key = key_of(flows.first()?.line(), path)?;
    let all = |is: fn(&FlowResult) -> bool| flows.iter().all(|flow| is(flow));
    if all(has_sent_nothing) {
        return Some("the flow sent nothing");
    }
    match key {
        "scheduler" if all(|flow| flow.subflows.len() <= 1) => Some("the flow had one subflow"),
        "scheduler" if all(|flow| !flow.subflows.is_empty()) => {
            Some("each subflow sent as many packets with each value")
        }
        "congestion" if all(has_lost_nothing) => Some("the flow sent no segment again, so it knew of no loss"),
        _ => None,
    }
}

fn has_sent_nothing(flow: &FlowResult) -> bool {
    let sent: u64 = flow.subflows.iter().map(|subflow| subflow.packets_sent).sum();
    sent + flow.bytes_delivered + flow.datagrams.as_ref().map_or(0, |datagrams| datagrams.sent) == 0
}

fn has_lost_nothing(flow: &FlowResult) -> bool {
    !flow.subflows.is_empty() && flow.retransmissions + flow.timeouts == 0
}
