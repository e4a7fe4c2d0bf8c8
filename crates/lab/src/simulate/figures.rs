//! The figures of the ends of a flow, of any stack, and the figures of the flow computed from them.

use std::collections::BTreeMap;
use std::net::IpAddr;

use subflow_quantity::{Duration, Instant};
use subflow_scenario::{Flow, Protocol, Scenario, Traffic};
use subflow_transport::Endpoint;
use subflow_transport::mptcp::SubflowTotals;
use subflow_transport::tcp::{Closed, Ends};

use super::flow_data::FlowDelays;
use super::sctp;
use super::subflow_figures::SubflowFigures;
use crate::results::{Abandoned, Datagrams, Exchanges, FlowResult, GroupMember, SubflowResult, goodput_mbps};
use crate::statistics::DurationSummary;

/// The name of the row for all subflows that are not listed. No subflow has this name: those of subflows contain a
/// hyphen.
const OTHER_SUBFLOWS: &str = "others";

/// The figures of one end of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct EndFigures {
    /// Payload bytes that its application has read.
    pub(crate) delivered: u64,
    /// Its subflows in the order in which they were opened; plain TCP has one, UDP none.
    pub(crate) subflows: Vec<SubflowFigures>,
    /// The sums over the subflows that are not listed.
    pub(crate) others: SubflowTotals,
    /// Bytes sent again on another subflow.
    pub(crate) reinjected_bytes: u64,
    /// Whether an MPTCP connection fell back to plain TCP.
    pub(crate) fallback: bool,
    /// How the connection ended, if it did.
    pub(crate) ended: Option<&'static str>,
    /// The messages that SCTP abandoned.
    pub(crate) abandoned: Option<Abandoned>,
    /// Datagrams sent and received, of UDP.
    pub(crate) datagrams: Option<[u64; 2]>,
}

impl EndFigures {
    /// The figures of an end with our stack.
    pub(crate) fn of(endpoint: &Endpoint) -> Self {
        let mut figures =
            Self { delivered: endpoint.bytes_received(), ended: endpoint.ended().map(end_name), ..Self::default() };
        match endpoint {
            Endpoint::Tcp(tcp) => {
                figures.subflows.push(SubflowFigures::of_tcp(tcp));
            }
            Endpoint::Mptcp(mptcp) => {
                figures.subflows = mptcp.subflow_records().iter().map(SubflowFigures::of).collect();
                figures.others = *mptcp.unlisted_subflows();
                figures.reinjected_bytes = mptcp.counters().bytes_reinjected;
                figures.fallback = mptcp.has_fallen_back();
            }
            Endpoint::Sctp(association) => {
                figures.subflows = sctp::destinations(association).collect();
                figures.abandoned = Some(sctp::abandoned(association));
            }
            Endpoint::Udp(udp) => {
                figures.datagrams = Some([udp.counters().datagrams_sent, udp.counters().datagrams_received]);
            }
        }
        figures
    }
}

/// Delivered bytes by subflow, with its ends as seen by the sender: the bytes that the receiver counted, or the
/// acknowledged ones if it does not count them.
pub(crate) fn delivered_by_subflow(sender: Option<&EndFigures>, receiver: Option<&EndFigures>) -> BTreeMap<Ends, u64> {
    let reversed = |ends: Ends| Ends { local: ends.remote, remote: ends.local };
    let subflows = |end: Option<&EndFigures>| end.map_or_else(Vec::new, |end| end.subflows.clone());
    let received = subflows(receiver).into_iter().map(|subflow| (reversed(subflow.ends), subflow.bytes_received));
    let acknowledged = subflows(sender).into_iter().filter_map(|s| Some((s.ends, s.bytes_acknowledged?)));
    received.chain(acknowledged).collect()
}

/// Delivered bytes of all subflows as in [`delivered_by_subflow`], including those that are not listed.
fn delivered_by_all(by_subflow: &BTreeMap<Ends, u64>, receiver: Option<&EndFigures>) -> u64 {
    by_subflow.values().sum::<u64>() + receiver.map_or(0, |receiver| receiver.others.bytes_received)
}

/// The name in results for how a connection ended.
fn end_name(closed: Closed) -> &'static str {
    match closed {
        Closed::Gracefully => "gracefully",
        Closed::Reset => "reset",
        Closed::Refused => "refused",
        Closed::TimedOut => "timed-out",
        Closed::Aborted => "aborted",
    }
}

/// The data of a flow delivered before measuring began.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowBaseline {
    delivered: u64,
    /// Data bytes by subflow.
    subflows: BTreeMap<Ends, u64>,
    /// Data bytes of all subflows.
    all_subflows: u64,
}

impl FlowBaseline {
    /// From the current state of the ends.
    pub(crate) fn of(sender: Option<&EndFigures>, receiver: Option<&EndFigures>) -> Self {
        let subflows = delivered_by_subflow(sender, receiver);
        Self {
            delivered: receiver.map_or(0, |receiver| receiver.delivered),
            all_subflows: delivered_by_all(&subflows, receiver),
            subflows,
        }
    }
}

/// A flow after its run.
pub(crate) struct MeasuredFlow<'a> {
    pub(crate) flow: &'a Flow,
    /// The end that sends the data.
    pub(crate) sender: Option<EndFigures>,
    /// The end that receives the data.
    pub(crate) receiver: Option<EndFigures>,
    /// The time at which the receiver had read the last byte.
    pub(crate) completed_at: Option<Instant>,
    /// Durations of finished exchanges.
    pub(crate) exchanges: &'a DurationSummary,
    /// Delays of its data, if they were recorded.
    pub(crate) delays: Option<&'a FlowDelays>,
}

impl MeasuredFlow<'_> {
    /// Its figures for a run that ended at `end`.
    pub(crate) fn result(&self, scenario: &Scenario, baseline: &FlowBaseline, end: Instant) -> FlowResult {
        let flow = self.flow;
        let started = Instant::ZERO + flow.start;
        let from = started.max(Instant::ZERO + scenario.measure_from);
        let stopped = flow.stop.map_or(end, |stop| Instant::ZERO + stop).min(end);
        let span = self.completed_at.unwrap_or(stopped).since(from);
        let delivered = self.receiver.as_ref().map_or(0, |receiver| receiver.delivered);
        let [delay, reassembly_delay] = self.delays.map_or([None, None], FlowDelays::of_flow);
        let mut result = FlowResult {
            name: flow.name.clone(),
            group: group_member(flow),
            goodput_mbps: goodput_mbps(delivered - baseline.delivered, span),
            bytes_delivered: delivered,
            completion_s: self.completed_at.map(|at| at.since(started).as_secs_f64()),
            exchanges: exchanges(&flow.traffic, self.exchanges),
            delay,
            reassembly_delay,
            ..protocol_fields(flow)
        };
        if let Some(sender) = &self.sender {
            result.ended = sender.ended;
            result.reinjected_bytes = sender.reinjected_bytes;
            result.fallback = sender.fallback;
            result.abandoned = sender.abandoned.filter(|_| flow.may_give_up());
            self.add_subflows(&mut result, scenario, sender, baseline, span);
        }
        let datagrams = |end: &Option<EndFigures>| end.as_ref().and_then(|end| end.datagrams);
        if let (Some([sent, _]), Some([_, received])) = (datagrams(&self.sender), datagrams(&self.receiver)) {
            result.datagrams = Some(Datagrams { sent, received });
        }
        result
    }

    fn add_subflows(
        &self,
        result: &mut FlowResult,
        scenario: &Scenario,
        sender: &EndFigures,
        baseline: &FlowBaseline,
        span: Duration,
    ) {
        let mut names = BTreeMap::new();
        let delivered = delivered_by_subflow(Some(sender), self.receiver.as_ref());
        let mut unlisted_bytes =
            delivered_by_all(&delivered, self.receiver.as_ref()).saturating_sub(baseline.all_subflows);
        for subflow in &sender.subflows {
            result.retransmissions += subflow.retransmissions;
            result.timeouts += subflow.timeouts;
            result.duplicate_acks += subflow.duplicate_acks;
            if let Some(retransmitted) = subflow.retransmitted {
                *result.retransmitted.get_or_insert_default() += retransmitted;
            }
            let before = baseline.subflows.get(&subflow.ends).copied().unwrap_or(0);
            let bytes = delivered.get(&subflow.ends).copied().unwrap_or(0).saturating_sub(before);
            unlisted_bytes = unlisted_bytes.saturating_sub(bytes);
            let [one_way_delay, rtt] = self.delays.map_or([None, None], |delays| delays.of_subflow(subflow.ends));
            result.subflows.push(SubflowResult {
                name: unique(&mut names, subflow_name(scenario, self.flow, subflow.ends)),
                goodput_mbps: goodput_mbps(bytes, span),
                packets_sent: subflow.packets_sent,
                retransmissions: subflow.retransmissions,
                copies: subflow.copies,
                retransmitted: subflow.retransmitted,
                srtt_ms: subflow.srtt.map(|srtt| srtt.as_secs_f64() * 1e3),
                cwnd_packets: Some(subflow.cwnd),
                one_way_delay,
                rtt,
            });
        }
        if sender.others.subflows > 0 {
            add_others(result, &sender.others, goodput_mbps(unlisted_bytes, span));
        }
    }
}

/// One row for all subflows that are not listed.
fn add_others(result: &mut FlowResult, others: &SubflowTotals, goodput_mbps: f64) {
    result.retransmissions += others.counters.retransmissions;
    result.timeouts += others.counters.timeouts;
    result.duplicate_acks += others.counters.duplicate_acks;
    result.unlisted_subflows = others.subflows;
    result.subflows.push(SubflowResult {
        name: OTHER_SUBFLOWS.to_owned(),
        goodput_mbps,
        packets_sent: others.counters.segments_sent,
        retransmissions: others.counters.retransmissions,
        copies: others.copies,
        ..SubflowResult::default()
    });
}

fn group_member(flow: &Flow) -> Option<GroupMember> {
    let send_bytes = match flow.traffic {
        Traffic::Bulk { bytes } => bytes,
        Traffic::OnOff { .. } | Traffic::RequestResponse { .. } => None,
    };
    flow.group.clone().map(|name| GroupMember { name, start_s: flow.start.as_secs_f64(), send_bytes })
}

fn protocol_fields(flow: &Flow) -> FlowResult {
    let congestion = flow.congestion().map(|congestion| congestion.name().into());
    match &flow.protocol {
        Protocol::Tcp(_) => FlowResult { protocol: "tcp".into(), congestion, ..FlowResult::default() },
        Protocol::Mptcp(mptcp) => FlowResult {
            protocol: "mptcp".into(),
            congestion,
            scheduler: Some(mptcp.ends.from.scheduler.name().into()),
            path_manager: Some(mptcp.ends.from.path_manager.name().into()),
            ..FlowResult::default()
        },
        Protocol::Sctp(sctp) => FlowResult {
            protocol: "sctp".into(),
            congestion,
            scheduler: sctp.scheduler.as_ref().map(|scheduler| scheduler.name().into()),
            ..FlowResult::default()
        },
        Protocol::Udp => FlowResult { protocol: "udp".into(), ..FlowResult::default() },
    }
}

fn exchanges(traffic: &Traffic, exchanges: &DurationSummary) -> Option<Exchanges> {
    let Traffic::RequestResponse { .. } = traffic else { return None };
    let in_ms = |seconds: f64| seconds * 1e3;
    Some(Exchanges {
        completed: exchanges.count(),
        mean_ms: exchanges.mean().map(in_ms),
        median_ms: exchanges.quantile(0.5).map(in_ms),
        p95_ms: exchanges.quantile(0.95).map(in_ms),
    })
}

fn unique(names: &mut BTreeMap<String, u32>, name: String) -> String {
    let count = names.entry(name.clone()).or_insert(0);
    *count += 1;
    if *count == 1 { name } else { format!("{name}#{count}") }
}

/// `host.interface-host.interface` of two ends of a subflow of `flow`.
fn subflow_name(scenario: &Scenario, flow: &Flow, ends: Ends) -> String {
    let hosts = [flow.from.host, flow.to.host].map(|host| &scenario.hosts[host]);
    let name = |address: IpAddr| {
        let place = hosts.iter().find_map(|host| Some((host, host.interface_with(address)?)));
        place.map_or_else(
            || format!("{address}"),
            |(host, interface)| format!("{}.{}", host.name, host.interfaces[interface].name),
        )
    };
    format!("{}-{}", name(ends.local.ip()), name(ends.remote.ip()))
}
