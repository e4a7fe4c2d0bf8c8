//! The table `subflows`.

use subflow_lab::results::{Experiment, FlowResult, Run, SubflowResult};

use super::identify;
use crate::Table;
use crate::columns::Columns;

/// A row for each subflow of each flow of each run.
pub fn subflows(experiment: &Experiment) -> Table {
    let rows: Vec<(&Run, &FlowResult, &SubflowResult)> = experiment
        .runs
        .iter()
        .flat_map(|run| run.result.flows.iter().map(move |flow| (run, flow)))
        .flat_map(|(run, flow)| flow.subflows.iter().map(move |subflow| (run, flow, subflow)))
        .collect();
    let mut columns = Columns::of(&rows);
    identify(&mut columns, |row| row.0);
    columns
        .words(("flow", "", "Name of the flow."), |row| Some(&row.1.name))
        .words(("subflow", "", "The subflow's ends: host.interface-host.interface."), |row| Some(&row.2.name))
        .words(("protocol", "", "Transport protocol."), |row| Some(&row.1.protocol))
        .words(("congestion", "", "Congestion control."), |row| row.1.congestion.as_deref())
        .words(("scheduler", "", "Packet scheduler."), |row| row.1.scheduler.as_deref())
        .words(("path_manager", "", "Path manager."), |row| row.1.path_manager.as_deref())
        .numbers(("goodput_mbps", "Mbit/s", "Payload that it delivered first, per time."), |row| {
            Some(row.2.goodput_mbps)
        })
        .counts(("packets_sent", "", "Segments sent, with retransmissions."), |row| Some(row.2.packets_sent))
        .counts(("retransmissions", "", "Segments sent again."), |row| Some(row.2.retransmissions))
        .counts(("copies", "", "Segments that another subflow had been given before."), |row| Some(row.2.copies))
        .numbers(("srtt_ms", "ms", "Smoothed RTT at the end."), |row| row.2.srtt_ms)
        .numbers(("cwnd_packets", "packets", "Congestion window at the end."), |row| row.2.cwnd_packets)
        .latencies("one_way_delay", "time from sending data to its arrival, of data sent once.", |row| {
            row.2.one_way_delay
        })
        .latencies("rtt", "RTT sample of the sender.", |row| row.2.rtt)
        .table("subflows")
        .of(experiment)
}
