//! The table `flows`.

use subflow_lab::results::{Experiment, FlowResult, Run};

use super::identify;
use crate::Table;
use crate::columns::Columns;

/// A row for each flow of each run.
pub fn flows(experiment: &Experiment) -> Table {
    let rows: Vec<(&Run, &FlowResult)> =
        experiment.runs.iter().flat_map(|run| run.result.flows.iter().map(move |flow| (run, flow))).collect();
    let mut columns = Columns::of(&rows);
    identify(&mut columns, |row| row.0);
    columns
        .words(("flow", "", "Name of the flow."), |row| Some(&row.1.name))
        .words(("protocol", "", "Transport protocol."), |row| Some(&row.1.protocol))
        .words(("congestion", "", "Congestion control."), |row| row.1.congestion.as_deref())
        .words(("scheduler", "", "Packet scheduler."), |row| row.1.scheduler.as_deref())
        .words(("path_manager", "", "Path manager."), |row| row.1.path_manager.as_deref())
        .numbers(("goodput_mbps", "Mbit/s", "Payload that the receiving application read, per time."), |row| {
            Some(row.1.goodput_mbps)
        })
        .counts(("bytes_delivered", "bytes", "Payload that the receiving application read."), |row| {
            Some(row.1.bytes_delivered)
        })
        .numbers(("completion_s", "s", "Time from the flow's start to the last byte."), |row| row.1.completion_s)
        .counts(("retransmissions", "", "Segments sent again."), |row| Some(row.1.retransmissions))
        .counts(("timeouts", "", "Retransmission timeouts."), |row| Some(row.1.timeouts))
        .counts(("duplicate_acks", "", "Duplicate acknowledgments received."), |row| Some(row.1.duplicate_acks))
        .counts(("reinjected_bytes", "bytes", "Data sent again on another subflow."), |row| {
            Some(row.1.reinjected_bytes)
        })
        .flags(("fallback", "", "Whether MPTCP fell back to TCP."), |row| Some(row.1.fallback))
        .words(("ended", "", "How the sender's connection ended."), |row| row.1.ended);
    optional(&mut columns);
    columns.table("flows").of(experiment)
}

/// What only flows of some protocols and applications, and those of groups have.
fn optional<'r>(columns: &mut Columns<'r, (&'r Run, &'r FlowResult)>) {
    columns
        .words(("group", "", "Name of the group, of a flow of one with count."), |row| {
            row.1.group.as_ref().map(|group| group.name.as_str())
        })
        .numbers(("start_s", "s", "Start of a flow of a group."), |row| Some(row.1.group.as_ref()?.start_s))
        .counts(("send_bytes", "bytes", "What a flow of a group was to send."), |row| row.1.group.as_ref()?.send_bytes)
        .counts(("messages_abandoned", "", "SCTP: messages given up."), |row| row.1.abandoned.map(|a| a.messages))
        .counts(("bytes_abandoned", "bytes", "SCTP: unacknowledged data given up."), |row| {
            row.1.abandoned.map(|abandoned| abandoned.bytes)
        })
        .counts(("exchanges", "", "Requests that were answered."), |row| {
            row.1.exchanges.as_ref().map(|exchanges| exchanges.completed)
        })
        .numbers(("exchange_mean_ms", "ms", "Mean time from a request to the end of its response."), |row| {
            row.1.exchanges.as_ref()?.mean_ms
        })
        .numbers(("exchange_median_ms", "ms", "Median of it."), |row| row.1.exchanges.as_ref()?.median_ms)
        .numbers(("exchange_p95_ms", "ms", "95th percentile of it."), |row| row.1.exchanges.as_ref()?.p95_ms)
        .counts(("datagrams_sent", "", "UDP: datagrams sent."), |row| row.1.datagrams.as_ref().map(|d| d.sent))
        .counts(("datagrams_received", "", "UDP: datagrams received, with duplicates."), |row| {
            row.1.datagrams.as_ref().map(|datagrams| datagrams.received)
        })
        .latencies("delay", "time from the first transmission of data until it could be read.", |row| row.1.delay)
        .latencies("reassembly_delay", "part of it after the arrival.", |row| row.1.reassembly_delay);
}
