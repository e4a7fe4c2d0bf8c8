//! Computes the figures of a run from its state.

use subflow_network::{DuplexLink, LinkId, LinkMetrics, Network, RadioState, RadioUse};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::{InterfaceIndex, Scenario};
use subflow_transport::mptcp::PathRecord;
use subflow_transport::{Endpoint, EndpointId, Figures};
use subflow_wire::{PROTOCOL_SCTP, PROTOCOL_TCP, PROTOCOL_UDP};

use super::build::Run;
use super::figures::{FlowBaseline, MeasuredFlow};
use super::flow_data::DataRecord;
use crate::results::{DirectionResult, ExchangeResult, FlowResult, InterfaceResult, LinkResult};

/// The data delivered and transmitted before measuring began.
pub(super) struct Baseline {
    flows: Vec<FlowBaseline>,
    links: LinkBaseline,
}

impl Run {
    /// Measuring begins. Returns the state at which it does.
    pub(super) fn begin_measuring(&mut self) -> Baseline {
        self.world.nodes.complete_records();
        for flow in 0..self.world.applications.len() {
            if let Some(record) = self.world.nodes.data_record_mut(flow) {
                record.begin_delays();
            }
        }
        let of = |flow| {
            let (sender, receiver) = self.data_ends(flow);
            let figures = |end: Option<&Endpoint>| end.map(|end| self.figures(end, flow));
            FlowBaseline::of(figures(sender).as_ref(), figures(receiver).as_ref())
        };
        Baseline {
            flows: (0..self.world.applications.len()).map(of).collect(),
            links: LinkBaseline::of(&self.network, &self.links),
        }
    }

    fn endpoint(&self, node: usize, id: Option<EndpointId>) -> Option<&Endpoint> {
        Some(self.world.nodes.transport(node).endpoint(id?))
    }

    /// The figures of an end of a flow. Its peer's addresses and ports are those that the peer has, whatever middlebox has
    /// translated them.
    fn figures(&self, endpoint: &Endpoint, flow: usize) -> Figures {
        let mut figures = endpoint.figures();
        if self.world.applications[flow].flow().read.is_some() {
            figures.delivered = endpoint.bytes_read();
        }
        if self.network.has_middleboxes() {
            let protocol = match &self.world.applications[flow].flow().protocol {
                protocol if protocol.is_udp() => PROTOCOL_UDP,
                protocol if protocol.sctp().is_some() => PROTOCOL_SCTP,
                _ => PROTOCOL_TCP,
            };
            for path in &mut figures.paths {
                path.ends.remote = self.network.original_end(protocol, path.ends.remote);
            }
        }
        figures
    }

    /// The sending and the receiving end of a flow's data.
    pub(super) fn data_ends(&self, flow: usize) -> (Option<&Endpoint>, Option<&Endpoint>) {
        let application = &self.world.applications[flow];
        let flow = application.flow();
        let from = self.endpoint(flow.from.host, application.from);
        let to = self.endpoint(flow.to.host, application.to);
        if flow.data_sender() == flow.from.host { (from, to) } else { (to, from) }
    }

    /// How often the ends of a flow were drained.
    pub(super) fn drains(&self, flow: usize) -> u64 {
        let application = &self.world.applications[flow];
        let (from, to) = (application.flow().from.host, application.flow().to.host);
        self.world.nodes.drains(from, application.from) + self.world.nodes.drains(to, application.to)
    }

    /// Brings the records of the flows' data up to date, and drops what they keep of data that is not sent again.
    pub(super) fn complete_records(&mut self) {
        self.world.nodes.complete_records();
        for flow in 0..self.world.applications.len() {
            let Some(sender) = self.data_ends(flow).0 else { continue };
            let chunks = sender.chunks_acknowledged();
            let has_one_stream = sender.as_quic().is_some() && !self.world.applications[flow].flow().has_streams();
            let frames = has_one_stream.then(|| sender.bytes_acknowledged());
            let Some(record) = self.world.nodes.data_record_mut(flow) else { continue };
            chunks.into_iter().for_each(|tsn| record.forget_chunks_through(tsn));
            frames.into_iter().for_each(|offset| record.forget_frames_below(offset));
        }
    }

    /// The samples of each flow's subflows at the end that sends the data.
    pub(super) fn path_records(&self) -> Vec<Vec<PathRecord>> {
        let of = |flow| self.data_ends(flow).0.map_or_else(Vec::new, |sender| sender.path_records().to_vec());
        (0..self.world.applications.len()).map(of).collect()
    }

    /// The figures of all flows; with delays if they were recorded for `series`.
    pub(super) fn flows(
        &self,
        scenario: &Scenario,
        baseline: &Baseline,
        end: Instant,
        series: bool,
    ) -> Vec<FlowResult> {
        let flow = |(index, flow)| {
            let application = &self.world.applications[index];
            let (sender, receiver) = self.data_ends(index);
            let measured = MeasuredFlow {
                flow,
                sender: sender.map(|sender| self.figures(sender, index)),
                receiver: receiver.map(|receiver| self.figures(receiver, index)),
                completed_at: application.completed_at,
                exchanges: application.exchanges(),
                player: application.player(),
                delays: self.world.nodes.data_record(index).filter(|_| series).map(DataRecord::delays),
            };
            measured.result(scenario, &baseline.flows[index], end)
        };
        scenario.flows.iter().enumerate().map(flow).collect()
    }

    /// The exchanges of all flows in a run that ended at `end`.
    pub(super) fn exchanges(&self, end: Instant) -> Vec<ExchangeResult> {
        let applications = self.world.applications.iter().enumerate();
        let logs = applications.filter_map(|(flow, application)| Some((flow, application, application.exchanges()?)));
        logs.flat_map(|(flow, application, log)| log.results(flow, application.flow().deadline(), end)).collect()
    }

    /// The figures of all links.
    pub(super) fn link_results(&self, scenario: &Scenario, baseline: &Baseline, end: Instant) -> Vec<LinkResult> {
        baseline.links.results(&self.network, &self.links, scenario, end)
    }
}

impl Run {
    /// What the radio of an interface has taken until now, if it has one.
    pub(super) fn radio(&self, InterfaceIndex { host, interface }: InterfaceIndex) -> Option<RadioUse> {
        self.network.radio(self.interfaces[host][interface])
    }

    /// The energy of the interfaces of which it is counted.
    pub(super) fn interface_results(&self, scenario: &Scenario) -> Vec<InterfaceResult> {
        let result = |(index, name)| {
            let used = self.radio(index)?;
            let seconds = |state| used.time_in(state).as_secs_f64();
            Some(InterfaceResult {
                name,
                energy_j: used.energy.as_joules(),
                sent_bytes: used.sent_bytes,
                received_bytes: used.received_bytes,
                promotions: used.promotions,
                promotion_s: seconds(RadioState::Promotion),
                active_s: seconds(RadioState::Active),
                tail_s: seconds(RadioState::Tail),
                idle_s: seconds(RadioState::Idle),
            })
        };
        scenario.radios().filter_map(result).collect()
    }
}

/// The counters of the links when measuring began.
pub(crate) struct LinkBaseline(Vec<[LinkMetrics; 2]>);

impl LinkBaseline {
    /// From the current state of the links.
    pub(crate) fn of(network: &Network, links: &[DuplexLink]) -> Self {
        let both = |link: &DuplexLink| [network.link_metrics(link.forward), network.link_metrics(link.backward)];
        Self(links.iter().map(both).collect())
    }

    /// The figures of `links`, the links of the scenario in order, for a run that ended at `end`.
    pub(crate) fn results(
        &self,
        network: &Network,
        links: &[DuplexLink],
        scenario: &Scenario,
        end: Instant,
    ) -> Vec<LinkResult> {
        let span = end - (Instant::ZERO + scenario.measure_from);
        let direction = |id: LinkId, before: &LinkMetrics| direction(network, id, before, span);
        let result = |((ids, link), before): ((&DuplexLink, &subflow_scenario::Link), &[LinkMetrics; 2])| {
            let (up, down) = (direction(ids.forward, &before[0]), direction(ids.backward, &before[1]));
            LinkResult::new(link.name.clone(), up, down)
        };
        links.iter().zip(&scenario.links).zip(&self.0).map(result).collect()
    }
}

fn direction(network: &Network, id: LinkId, before: &LinkMetrics, span: Duration) -> DirectionResult {
    let metrics = network.link_metrics(id);
    let busy = metrics.busy - before.busy;
    DirectionResult {
        packets: metrics.packets,
        bytes: metrics.bytes,
        drops: metrics.dropped_queue,
        marks: metrics.marked,
        losses: metrics.dropped_loss + metrics.dropped_down + metrics.dropped_middlebox,
        utilisation: if span.is_zero() { 0.0 } else { busy.as_secs_f64() / span.as_secs_f64() },
        max_queue_packets: u64::from(metrics.max_queue),
        mean_queue_packets: metrics.mean_queue,
    }
}
