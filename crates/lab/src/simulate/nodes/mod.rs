//! The hosts of a run and their timers, between the network and the transports.

use std::collections::BTreeSet;
use std::net::IpAddr;

use subflow_network::{HostId, InterfaceId, Network, PacketId, TimerId};
use subflow_quantity::Instant;
use subflow_transport::tcp::Ends;
use subflow_transport::{ConnectError, EndpointId, Event, Host};
use subflow_wire::{Dscp, Packet};

use super::flow_data::DataRecord;
use super::observer::{Observer, Occasion, Watched};
use crate::RunError;

mod look_ahead;
mod recording;

use look_ahead::Expected;

/// One host of the run.
pub(super) struct Node {
    id: HostId,
    pub(super) transport: Host,
    /// Its addresses and their interfaces.
    interfaces: Vec<(IpAddr, InterfaceId)>,
    /// The interfaces that report what leaves their queues.
    reporting: Vec<InterfaceId>,
    /// Those of its addresses that it has lost: packets neither leave from there nor are received there, as on Linux
    /// (`ip_route_output_key_hash_rcu`, `ip_route_input_slow`).
    lost: Vec<IpAddr>,
    /// The timer and the flow of each endpoint; every endpoint is registered when it is created.
    sockets: Vec<Socket>,
    /// The flow that listens on a port.
    listening: Vec<(u16, usize)>,
}

#[derive(Clone, Copy)]
struct Socket {
    timer: TimerId,
    flow: usize,
    /// The codepoint of its packets.
    dscp: Dscp,
    /// How often it was drained, and that number when its RTTs were recorded last.
    drains: u64,
    recorded: u64,
    /// What is recorded of the endpoint: known here, so that little is done where it is nothing.
    watched: Watched,
}

/// The owner of a timer of the network.
#[derive(Clone, Copy)]
pub(super) enum TimerOwner {
    Endpoint {
        node: usize,
        endpoint: EndpointId,
    },
    Application {
        flow: usize,
    },
    Reader {
        flow: usize,
    },
    /// The far end of a flow whose exchanges are listed.
    Responder {
        flow: usize,
    },
    Addresses {
        change: usize,
    },
}

/// All hosts of a run.
pub(crate) struct Nodes {
    nodes: Vec<Node>,
    timers: Vec<TimerOwner>,
    /// The codepoints of packets, by flow.
    dscps: Vec<Dscp>,
    /// The slot of the network in which the next packet is built.
    reserved: PacketId,
    /// The first flow that could not begin, and the reason.
    failure: Option<String>,
    /// Watches what the nodes do, if anything is recorded.
    pub(super) observer: Option<Box<Observer>>,
    /// Takes packets that are not to enter the network here.
    outlet: Option<Outlet>,
    /// For whom the next packets are, each in the place of its number.
    expected: Expected,
    /// Orders what happens at this instant, if data is recorded ([`Network::arrival_order`]).
    pub(super) cause: u64,
}

/// Gets the number of a node and each packet that it sends. Returns whether it takes the packet, which then does not
/// enter the network at the node's interface.
pub(crate) type Outlet = Box<dyn FnMut(usize, &mut Packet) -> bool + Send>;

/// The cause of what a timer does: after all packets of the same instant.
pub(super) const TIMER: u64 = u64::MAX;

impl Node {
    pub(super) fn new(id: HostId, transport: Host, interfaces: Vec<(IpAddr, InterfaceId)>) -> Self {
        Self {
            id,
            transport,
            interfaces,
            reporting: Vec::new(),
            lost: Vec::new(),
            sockets: Vec::new(),
            listening: Vec::new(),
        }
    }

    pub(super) fn listens(&mut self, port: u16, flow: usize) {
        self.listening.push((port, flow));
    }

    /// The host has lost `address`, or has it again. Drain every endpoint afterwards.
    pub(super) fn set_present(&mut self, address: IpAddr, present: bool, now: Instant) {
        self.lost.retain(|&lost| lost != address);
        if present {
            self.transport.add_address(address, now);
        } else {
            self.lost.push(address);
            self.transport.remove_address(address, now);
        }
    }

    /// Passes `packet` to its endpoint and returns this, unless it is for an address that the host has lost.
    #[inline]
    pub(super) fn accept(&mut self, now: Instant, packet: &Packet) -> Option<EndpointId> {
        if !self.lost.is_empty() && self.lost.contains(&packet.ip.destination) {
            return None;
        }
        self.transport.handle_packet(now, packet)
    }
}

/// The interface on which packets from `source` leave: the one with this address.
#[inline]
fn interface_of(interfaces: &[(IpAddr, InterfaceId)], source: IpAddr) -> InterfaceId {
    match interfaces {
        [(_, only)] => *only,
        _ => interfaces.iter().find(|(address, _)| *address == source).unwrap_or(&interfaces[0]).1,
    }
}

impl Nodes {
    pub(super) fn new(network: &mut Network, mut nodes: Vec<Node>) -> Self {
        for node in &mut nodes {
            let interfaces = node.interfaces.iter().map(|&(_, interface)| interface);
            let reporting: BTreeSet<_> = interfaces.filter(|&id| network.reports_departures(id)).collect();
            node.reporting = reporting.into_iter().collect();
        }
        Self {
            nodes,
            timers: Vec::new(),
            dscps: Vec::new(),
            reserved: network.reserve(),
            failure: None,
            observer: None,
            outlet: None,
            expected: Expected::default(),
            cause: TIMER,
        }
    }

    /// From now on offers every packet that leaves a node to `outlet` first.
    #[cfg(all(target_os = "linux", feature = "linux"))]
    pub(crate) fn set_outlet(&mut self, outlet: Outlet) {
        self.outlet = Some(outlet);
    }

    /// The record of a flow's data, if it is kept.
    pub(super) fn data_record(&self, flow: usize) -> Option<&DataRecord> {
        self.observer.as_ref()?.data_record(flow)
    }

    /// The same, to add to it or to take from it.
    pub(super) fn data_record_mut(&mut self, flow: usize) -> Option<&mut DataRecord> {
        self.observer.as_mut()?.data_record_mut(flow)
    }

    /// Exchanges the nodes for which `moves` is true with those of another copy of the same nodes.
    pub(super) fn exchange(&mut self, other: &mut Self, moves: impl Fn(usize) -> bool) {
        let nodes = self.nodes.iter_mut().zip(&mut other.nodes).enumerate();
        nodes.filter(|(number, _)| moves(*number)).for_each(|(_, (own, other))| core::mem::swap(own, other));
    }

    /// Whether anything is recorded.
    #[inline]
    pub(super) fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// Records that `flow` cannot begin, which makes the run fail.
    pub(super) fn fail(&mut self, flow: &str, error: ConnectError) {
        self.failure.get_or_insert_with(|| format!("flows.{flow}: {error}"));
    }

    /// Fails if a flow could not begin.
    pub(crate) fn check_flows(&self) -> Result<(), RunError> {
        self.failure.as_ref().map_or(Ok(()), |failure| Err(RunError::Flow(failure.clone())))
    }

    pub(super) fn new_timer(&mut self, network: &mut Network, owner: TimerOwner) -> TimerId {
        let timer = network.new_timer();
        debug_assert_eq!(timer.index(), self.timers.len());
        self.timers.push(owner);
        timer
    }

    /// The next flow, whose packets have this codepoint.
    pub(super) fn add_flow(&mut self, dscp: Dscp) {
        self.dscps.push(dscp);
    }

    pub(super) fn owner_of(&self, timer: TimerId) -> TimerOwner {
        self.timers[timer.index()]
    }

    /// Registers a new endpoint with the flow it belongs to.
    pub(super) fn register(&mut self, network: &mut Network, node: usize, endpoint: EndpointId, flow: usize) {
        let timer = self.new_timer(network, TimerOwner::Endpoint { node, endpoint });
        let opened = self.nodes[node].transport.endpoint_mut(endpoint);
        let watched =
            self.observer.as_ref().map_or(Watched::Nothing, |observer| observer.on_opened(opened, node, flow));
        let sockets = &mut self.nodes[node].sockets;
        let index = endpoint.0 as usize;
        let socket = Socket { timer, flow, dscp: self.dscps[flow], drains: 0, recorded: 0, watched };
        if sockets.len() <= index {
            sockets.resize(index + 1, Socket { watched: Watched::Nothing, ..socket });
        }
        // An endpoint in the place of another one is news.
        sockets[index] = Socket { drains: sockets[index].drains + 1, ..socket };
    }

    /// Moves the endpoint's packets into the network and returns its next event with the flow it is for. Callers repeat
    /// the call until there is no event: then the endpoint's timer is set for its next deadline.
    #[inline]
    pub(super) fn next_event(&mut self, network: &mut Network, node: usize, id: EndpointId) -> Option<(usize, Event)> {
        let now = network.now();
        let host = &mut self.nodes[node];
        let endpoint = host.transport.endpoint_mut(id);
        let socket = &mut host.sockets[id.0 as usize];
        socket.drains += 1;
        let Socket { timer, flow, dscp, watched, .. } = *socket;
        let mut observer = self.observer.as_deref_mut().filter(|_| watched.sends());
        let cause = self.cause;
        let at = || Occasion { node, flow, when: (now, cause) };
        if let Some(observer) = &mut observer {
            observer.on_draining(endpoint, at());
        }
        while endpoint.poll_transmit_into(now, network.packet_mut(self.reserved)) {
            if !dscp.is_default() {
                network.packet_mut(self.reserved).ip.dscp = dscp;
            }
            if let Some(observer) = &mut observer {
                match network.has_middleboxes() {
                    true => observer.on_sent(&network.untranslated(self.reserved), endpoint, at()),
                    false => observer.on_sent(network.packet(self.reserved), endpoint, at()),
                }
            }
            if !host.lost.is_empty() && host.lost.contains(&network.packet(self.reserved).ip.source) {
                continue;
            }
            if let Some(outlet) = &mut self.outlet
                && outlet(node, network.packet_mut(self.reserved))
            {
                continue;
            }
            let interface = interface_of(&host.interfaces, network.packet(self.reserved).ip.source);
            if !host.reporting.is_empty() && network.reports_departures(interface) {
                endpoint.on_queued(network.packet(self.reserved));
            }
            network.transmit_reserved(host.id, interface, self.reserved);
            self.reserved = network.reserve();
            if !endpoint.may_transmit(now) {
                debug_assert!(!endpoint.poll_transmit_into(now, network.packet_mut(self.reserved)), "it had a packet");
                break;
            }
        }
        let event = endpoint.poll_event();
        if let Some(observer) = &mut observer {
            observer.on_drained(endpoint, event, at());
        }
        if event.is_none() {
            network.set_timer(timer, endpoint.poll_timeout());
        }
        Some((flow, event?))
    }

    /// Tells a node what has left the queues of its interfaces, and returns the next endpoint that has waited for that,
    /// which the caller has to drain.
    #[inline]
    pub(super) fn next_unthrottled(&mut self, network: &mut Network, node: usize) -> Option<EndpointId> {
        let Node { transport, reporting, .. } = &mut self.nodes[node];
        for &interface in reporting.iter() {
            while let Some(left) = network.next_departure(interface) {
                let ends = Ends { local: left.source, remote: left.destination };
                let waited = transport.on_left_queue(ends, left.payload, left.at);
                if waited.is_some() {
                    return waited;
                }
            }
        }
        None
    }

    /// Registers the next connection that a listener of the node has accepted, and returns it with its flow.
    pub(super) fn next_accepted(&mut self, network: &mut Network, node: usize) -> Option<(usize, EndpointId)> {
        loop {
            let transport = &mut self.nodes[node].transport;
            let endpoint = transport.poll_accept()?;
            let port = transport.endpoint(endpoint).ends().local.port();
            let listening = &self.nodes[node].listening;
            if let Some(&(_, flow)) = listening.iter().find(|(known, _)| *known == port) {
                self.register(network, node, endpoint, flow);
                return Some((flow, endpoint));
            }
        }
    }

    /// Sends a node's replies to packets that belong to no connection. Those from a flow's port have its codepoint.
    pub(super) fn send_replies(&mut self, network: &mut Network, node: usize) {
        let Node { id, transport, interfaces, lost, listening, .. } = &mut self.nodes[node];
        while let Some(mut packet) = transport.poll_reply() {
            let (_, port, _) = packet.body.transport_ports();
            if let Some(&(_, flow)) = listening.iter().find(|(known, _)| *known == port) {
                packet.ip.dscp = self.dscps[flow];
            }
            if lost.contains(&packet.ip.source) {
                continue;
            }
            if self.outlet.as_mut().is_some_and(|outlet| outlet(node, &mut packet)) {
                continue;
            }
            let interface = interface_of(interfaces, packet.ip.source);
            network.transmit(*id, interface, packet);
        }
    }

    /// The transports of a host.
    pub(crate) fn transport(&self, node: usize) -> &Host {
        &self.nodes[node].transport
    }

    /// The transports of a host, which the caller has to drain afterwards.
    pub(super) fn transport_mut(&mut self, node: usize) -> &mut Host {
        &mut self.nodes[node].transport
    }

    pub(super) fn node_mut(&mut self, node: usize) -> &mut Node {
        &mut self.nodes[node]
    }
}
