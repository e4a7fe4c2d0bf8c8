//! From the state of a run to its figures.

use std::collections::BTreeMap;

use subflow_network::{LinkId, LinkMetrics, Network};
use subflow_policy::congestion::Controller;
use subflow_quantity::{Duration, Instant};
use subflow_transport::mptcp::PathRecord;
use subflow_transport::tcp::{Closed, Connection, Ends};
use subflow_transport::{Endpoint, EndpointId};

use super::application::Application;
use super::build::Run;
use crate::results::{Datagrams, DirectionResult, Exchanges, FlowResult, LinkResult, SubflowResult, goodput_mbps};
use crate::scenario::{InterfaceIndex, Protocol, Scenario, Traffic};
use crate::statistics;

/// What had been delivered and transmitted when measuring began.
pub(super) struct Baseline {
    flows: Vec<FlowBaseline>,
    links: Vec<[LinkMetrics; 2]>,
}

struct FlowBaseline {
    delivered: u64,
    /// Data bytes by subflow.
    subflows: BTreeMap<Ends, u64>,
}

impl Run {
    /// Notes where counting begins.
    pub(super) fn baseline(&self) -> Baseline {
        let flows = (0..self.world.applications.len())
            .map(|flow| FlowBaseline { delivered: self.delivered(flow), subflows: self.receiving_subflows(flow) });
        let links = self
            .links
            .iter()
            .map(|link| [self.network.link_metrics(link.forward), self.network.link_metrics(link.backward)]);
        Baseline { flows: flows.collect(), links: links.collect() }
    }

    fn application(&self, flow: usize) -> &Application {
        self.world.applications[flow].as_ref().expect("applications are at rest between events")
    }

    fn endpoint(&self, node: usize, id: Option<EndpointId>) -> Option<&Endpoint> {
        Some(self.world.nodes[node].transport.endpoint(id?))
    }

    /// The end of a flow that its data comes from, and the one that it goes to.
    fn data_ends(&self, flow: usize) -> (Option<&Endpoint>, Option<&Endpoint>) {
        let application = self.application(flow);
        let from = self.endpoint(application.flow().from.host, application.from);
        let to = self.endpoint(application.flow().to.host, application.to);
        match application.flow().traffic {
            Traffic::RequestResponse { .. } => (to, from),
            _ => (from, to),
        }
    }

    /// Payload bytes read by the receiving application.
    pub(super) fn delivered(&self, flow: usize) -> u64 {
        self.data_ends(flow).1.map_or(0, Endpoint::bytes_received)
    }

    /// The samples of each flow's subflows at the end that its data comes from.
    pub(super) fn path_records(&self) -> Vec<Vec<PathRecord>> {
        let of = |flow| match self.data_ends(flow).0 {
            Some(Endpoint::Mptcp(mptcp)) => mptcp.path_records().to_vec(),
            _ => Vec::new(),
        };
        (0..self.world.applications.len()).map(of).collect()
    }

    /// Data bytes by subflow at the receiving end, under the sending end's view of its ends.
    fn receiving_subflows(&self, flow: usize) -> BTreeMap<Ends, u64> {
        let reversed = |ends: Ends| Ends { local: ends.remote, remote: ends.local };
        match self.data_ends(flow).1 {
            Some(Endpoint::Tcp(tcp)) => {
                let connection = tcp.connection();
                BTreeMap::from([(reversed(connection.ends()), connection.counters().bytes_received)])
            }
            Some(Endpoint::Mptcp(mptcp)) => {
                let subflows = mptcp.subflows().iter();
                subflows.map(|s| (reversed(s.connection().ends()), s.bytes_received())).collect()
            }
            _ => BTreeMap::new(),
        }
    }

    /// The figures of all flows.
    pub(super) fn flows(&self, scenario: &Scenario, baseline: &Baseline, end: Instant) -> Vec<FlowResult> {
        (0..scenario.flows.len()).map(|flow| self.flow(scenario, flow, &baseline.flows[flow], end)).collect()
    }

    fn flow(&self, scenario: &Scenario, index: usize, baseline: &FlowBaseline, end: Instant) -> FlowResult {
        let application = self.application(index);
        let flow = &scenario.flows[index];
        let started = Instant::ZERO + flow.start;
        let from = started.max(Instant::ZERO + scenario.measure_from);
        let stopped = flow.stop.map_or(end, |stop| Instant::ZERO + stop).min(end);
        let until = application.completed_at.unwrap_or(stopped);
        let delivered = self.delivered(index);
        let mut result = FlowResult {
            name: flow.name.clone(),
            goodput_mbps: goodput_mbps(delivered - baseline.delivered, until - from),
            bytes_delivered: delivered,
            completion_s: application.completed_at.map(|at| (at - started).as_secs_f64()),
            exchanges: exchanges(flow.traffic, application),
            ..protocol_fields(&flow.protocol)
        };
        let (sender, receiver) = self.data_ends(index);
        if let Some(sender) = sender {
            result.ended = sender.ended().map(how);
            self.add_sender(&mut result, scenario, sender, index, baseline, until - from);
        }
        if let (Some(Endpoint::Udp(sent)), Some(Endpoint::Udp(received))) = (sender, receiver) {
            result.datagrams = Some(Datagrams {
                sent: sent.counters().datagrams_sent,
                received: received.counters().datagrams_received,
            });
        }
        result
    }

    fn add_sender(
        &self,
        result: &mut FlowResult,
        scenario: &Scenario,
        sender: &Endpoint,
        flow: usize,
        baseline: &FlowBaseline,
        span: Duration,
    ) {
        let mut names = BTreeMap::new();
        let delivered = self.receiving_subflows(flow);
        let mut add = |connection: &Connection, controller: &Controller, copies: u64, result: &mut FlowResult| {
            let counters = connection.counters();
            result.retransmissions += counters.retransmissions;
            result.timeouts += counters.timeouts;
            result.duplicate_acks += counters.duplicate_acks;
            let ends = connection.ends();
            let before = baseline.subflows.get(&ends).copied().unwrap_or(0);
            let bytes = delivered.get(&ends).copied().unwrap_or(0) - before;
            result.subflows.push(SubflowResult {
                name: unique(&mut names, scenario.subflow_name(ends)),
                goodput_mbps: goodput_mbps(bytes, span),
                packets_sent: counters.segments_sent,
                retransmissions: counters.retransmissions,
                copies,
                srtt_ms: connection.rtt().srtt().map(|srtt| srtt.as_secs_f64() * 1e3),
                cwnd_packets: Some(f64::from(controller.path(connection.path()).cwnd)),
            });
        };
        match sender {
            Endpoint::Tcp(tcp) => add(tcp.connection(), tcp.congestion(), 0, result),
            Endpoint::Mptcp(mptcp) => {
                for subflow in mptcp.subflows() {
                    add(subflow.connection(), mptcp.congestion(), subflow.copies(), result);
                }
                result.reinjected_bytes = mptcp.counters().bytes_reinjected;
                result.fallback = mptcp.has_fallen_back();
            }
            Endpoint::Sctp(_) | Endpoint::Udp(_) => {}
        }
    }

    /// The figures of all links.
    pub(super) fn link_results(&self, scenario: &Scenario, baseline: &Baseline, end: Instant) -> Vec<LinkResult> {
        let span = end - (Instant::ZERO + scenario.measure_from);
        let direction = |id: LinkId, before: &LinkMetrics| direction(&self.network, id, before, span);
        let links = self.links.iter().zip(&scenario.links).zip(&baseline.links);
        links
            .map(|((ids, link), before)| {
                LinkResult::new(
                    link.name.clone(),
                    direction(ids.forward, &before[0]),
                    direction(ids.backward, &before[1]),
                )
            })
            .collect()
    }
}

/// A word for how a connection ended.
fn how(closed: Closed) -> &'static str {
    match closed {
        Closed::Gracefully => "gracefully",
        Closed::Reset => "reset",
        Closed::Refused => "refused",
        Closed::TimedOut => "timed-out",
        Closed::Aborted => "aborted",
    }
}

fn direction(network: &Network, id: LinkId, before: &LinkMetrics, span: Duration) -> DirectionResult {
    let metrics = network.link_metrics(id);
    let busy = metrics.busy - before.busy;
    DirectionResult {
        packets: metrics.packets,
        bytes: metrics.bytes,
        drops: metrics.dropped_queue,
        losses: metrics.dropped_loss + metrics.dropped_down,
        utilisation: if span.is_zero() { 0.0 } else { busy.as_secs_f64() / span.as_secs_f64() },
        max_queue_packets: u64::from(metrics.max_queue),
        mean_queue_packets: metrics.mean_queue,
    }
}

fn protocol_fields(protocol: &Protocol) -> FlowResult {
    match protocol {
        Protocol::Tcp(tcp) => FlowResult {
            protocol: "tcp".into(),
            congestion: Some(tcp.congestion.name().into()),
            ..FlowResult::default()
        },
        Protocol::Mptcp(mptcp) => FlowResult {
            protocol: "mptcp".into(),
            congestion: Some(mptcp.congestion.name().into()),
            scheduler: Some(mptcp.scheduler.name().into()),
            path_manager: Some(mptcp.path_manager.name().into()),
            ..FlowResult::default()
        },
        Protocol::Udp => FlowResult { protocol: "udp".into(), ..FlowResult::default() },
    }
}

fn exchanges(traffic: Traffic, application: &Application) -> Option<Exchanges> {
    let Traffic::RequestResponse { .. } = traffic else { return None };
    let times: Vec<f64> = application.exchanges.iter().map(|span| span.as_secs_f64() * 1e3).collect();
    Some(Exchanges {
        completed: times.len() as u64,
        mean_ms: statistics::mean(&times),
        median_ms: statistics::quantile(&times, 0.5),
        p95_ms: statistics::quantile(&times, 0.95),
    })
}

fn unique(names: &mut BTreeMap<String, u32>, name: String) -> String {
    let count = names.entry(name.clone()).or_insert(0);
    *count += 1;
    if *count == 1 { name } else { format!("{name}#{count}") }
}

impl Scenario {
    /// `host.interface-host.interface` of two ends.
    fn subflow_name(&self, ends: Ends) -> String {
        let name = |address| {
            self.interface_with(address).map_or_else(
                || format!("{address}"),
                |InterfaceIndex { host, interface }| {
                    let host = &self.hosts[host];
                    format!("{}.{}", host.name, host.interfaces[interface].name)
                },
            )
        };
        format!("{}-{}", name(ends.local.ip()), name(ends.remote.ip()))
    }

    fn interface_with(&self, address: std::net::IpAddr) -> Option<InterfaceIndex> {
        self.hosts.iter().enumerate().find_map(|(host, node)| {
            let interface = node.interfaces.iter().position(|interface| interface.addresses.contains(&address))?;
            Some(InterfaceIndex { host, interface })
        })
    }
}
