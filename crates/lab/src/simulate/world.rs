//! Everything above the network: the hosts of a run, their applications, and changes of hosts during the run.

use subflow_network::{HostId, Hosts, InterfaceId, LookAhead, Network, PacketId, TimerId};
use subflow_quantity::Instant;
use subflow_scenario::HostEvent;
use subflow_transport::EndpointId;
#[cfg(all(target_os = "linux", feature = "linux"))]
use subflow_wire::Packet;
use subflow_wire::icmp::IcmpError;

use super::application::{Application, Reader};
use super::nodes::{Node, Nodes, TIMER, TimerOwner};
use super::page::Waiting;

/// Everything above the network.
pub(crate) struct World {
    pub(crate) nodes: Nodes,
    /// By flow.
    pub(crate) applications: Vec<Application>,
    /// Addresses that hosts lose and get back, each with its own timer.
    address_changes: Vec<HostEvent>,
    /// Exchanges that wait for others.
    pub(super) waiting: Waiting,
}

impl World {
    pub(super) fn new(network: &mut Network, nodes: Vec<Node>) -> Self {
        let (applications, address_changes) = (Vec::new(), Vec::new());
        Self { nodes: Nodes::new(network, nodes), applications, address_changes, waiting: Waiting::default() }
    }

    /// Removes addresses from a host, or returns them, at `at`.
    pub(super) fn add_address_change(&mut self, network: &mut Network, at: Instant, event: &HostEvent) {
        let change = self.address_changes.len();
        let timer = self.nodes.new_timer(network, TimerOwner::Addresses { change });
        self.address_changes.push(event.clone());
        network.set_timer(timer, Some(at));
    }

    fn change_addresses(&mut self, network: &mut Network, change: usize) {
        let HostEvent { host: node, addresses, present, .. } = self.address_changes[change].clone();
        for address in addresses {
            self.nodes.node_mut(node).set_present(address, present, network.now());
        }
        for endpoint in self.nodes.transport(node).endpoint_ids() {
            self.drain(network, node, endpoint);
        }
    }

    /// Adds an application with its own timer.
    pub(super) fn add_application(&mut self, network: &mut Network, make: impl FnOnce(TimerId) -> Application) {
        let flow = self.applications.len();
        let timer = self.nodes.new_timer(network, TimerOwner::Application { flow });
        let mut application = make(timer);
        self.nodes.add_flow(application.flow().dscp);
        if let Some(reading) = application.flow().read.clone() {
            let timer = self.nodes.new_timer(network, TimerOwner::Reader { flow });
            application.read_by(Reader::new(reading, timer));
        }
        if application.flow().planned_exchanges().is_some() {
            application.follow_script(self.nodes.new_timer(network, TimerOwner::Responder { flow }));
        }
        self.applications.push(application);
    }

    /// Drains an endpoint, and those that have waited for what has left the host's queues meanwhile.
    fn drain(&mut self, network: &mut Network, node: usize, id: EndpointId) {
        let mut next = Some(id);
        while let Some(id) = next {
            self.drain_endpoint(network, node, id);
            next = self.nodes.next_unthrottled(network, node);
        }
    }

    /// Drains an endpoint: packets to the network, events to its application, its deadline to its timer.
    fn drain_endpoint(&mut self, network: &mut Network, node: usize, id: EndpointId) {
        while let Some((flow, event)) = self.nodes.next_event(network, node, id) {
            let was_open = self.applications[flow].completed_at.is_none();
            self.applications[flow].on_event(&mut self.nodes, network, node, id, event);
            if was_open && self.applications[flow].completed_at.is_some() && self.nodes.is_observed() {
                self.nodes.record_completion(network.now(), node, flow, id);
            }
            if !self.waiting.is_empty() {
                self.release_waiting(network, flow);
            }
        }
    }

    /// Lets those exchanges go that have waited for what `flow` has just completed.
    fn release_waiting(&mut self, network: &mut Network, flow: usize) {
        for exchange in self.applications[flow].take_news() {
            for &(other, waiting) in self.waiting.for_exchange(flow, exchange) {
                self.applications[other].release(network, waiting);
            }
        }
    }

    /// The reader of a flow reads on.
    fn read(&mut self, network: &mut Network, flow: usize) {
        let was_open = self.applications[flow].completed_at.is_none();
        let Some((node, id)) = self.applications[flow].on_read_timer(&mut self.nodes, network) else { return };
        if was_open && self.applications[flow].completed_at.is_some() && self.nodes.is_observed() {
            self.nodes.record_completion(network.now(), node, flow, id);
        }
        self.release_waiting(network, flow);
        self.drain(network, node, id);
    }

    /// Exchanges the hosts for which `moves` is true, and the applications of the flows from there, with those of
    /// another copy of the same world.
    pub(super) fn exchange(&mut self, other: &mut Self, moves: impl Fn(usize) -> bool) {
        self.nodes.exchange(&mut other.nodes, &moves);
        for (own, other) in self.applications.iter_mut().zip(&mut other.applications) {
            if moves(own.flow().from.host) {
                core::mem::swap(own, other);
            }
        }
    }

    /// Opens the receiving end of `flow`, whose datagrams come from outside this world.
    #[cfg(all(target_os = "linux", feature = "linux"))]
    pub(crate) fn open_datagram_receiver(&mut self, network: &mut Network, flow: usize) {
        self.applications[flow].open_datagram_receiver(&mut self.nodes, network, flow);
    }

    /// Passes `packet` to its endpoint and returns this. [`Self::respond`] must follow.
    #[inline]
    pub(crate) fn accept(&mut self, network: &Network, host: HostId, packet: PacketId) -> Option<EndpointId> {
        self.nodes.node_mut(host.index()).accept(network.now(), network.packet(packet))
    }

    /// As [`Self::accept`], for a packet that does not come from the network.
    #[cfg(all(target_os = "linux", feature = "linux"))]
    pub(crate) fn accept_from_outside(&mut self, now: Instant, host: HostId, packet: &Packet) -> Option<EndpointId> {
        self.nodes.node_mut(host.index()).accept(now, packet)
    }

    /// Hands the connections that the listeners of a host have accepted to their flows.
    fn register_accepted(&mut self, network: &mut Network, node: usize) {
        while let Some((flow, accepted)) = self.nodes.next_accepted(network, node) {
            self.applications[flow].on_accept(&mut self.nodes, network, node, accepted);
        }
    }

    /// Sends the replies of a host to the packet that it [accepted](Self::accept) for `endpoint`.
    #[inline]
    pub(crate) fn respond(&mut self, network: &mut Network, host: HostId, endpoint: Option<EndpointId>) {
        let node = host.index();
        if self.nodes.transport(node).has_news() {
            self.register_accepted(network, node);
            self.nodes.send_replies(network, node);
        }
        if let Some(endpoint) = endpoint {
            self.drain(network, node, endpoint);
        }
    }
}

impl Hosts for World {
    #[inline]
    fn handle_packet(&mut self, network: &mut Network, host: HostId, interface: InterfaceId, packet: PacketId) {
        let endpoint = self.accept(network, host, packet);
        if self.nodes.is_observed() {
            // The packet that opens a connection may have data.
            self.register_accepted(network, host.index());
            self.nodes.record_arrival(network, (host, interface), endpoint, packet);
        }
        network.release(packet);
        self.respond(network, host, endpoint);
    }

    #[inline]
    fn look_ahead(&mut self, network: &Network, host: HostId, packet: PacketId, step: LookAhead) {
        self.nodes.look_ahead(network, host.index(), packet, step);
    }

    fn handle_icmp(&mut self, network: &mut Network, interface: InterfaceId, error: &IcmpError) {
        self.nodes.cause = TIMER;
        let node = network.host_of(interface).index();
        if let Some(endpoint) = self.nodes.transport_mut(node).handle_icmp(network.now(), error) {
            self.drain(network, node, endpoint);
        }
    }

    fn handle_departures(&mut self, network: &mut Network, interface: InterfaceId) {
        self.nodes.cause = TIMER;
        let node = network.host_of(interface).index();
        if let Some(endpoint) = self.nodes.next_unthrottled(network, node) {
            self.drain(network, node, endpoint);
        }
    }

    fn handle_timer(&mut self, network: &mut Network, timer: TimerId) {
        self.nodes.cause = TIMER;
        match self.nodes.owner_of(timer) {
            TimerOwner::Endpoint { node, endpoint } => {
                self.nodes.transport_mut(node).handle_timeout(network.now(), endpoint);
                self.drain(network, node, endpoint);
            }
            TimerOwner::Application { flow } => {
                let touched = self.applications[flow].on_timer(&mut self.nodes, network, flow);
                if let Some((node, endpoint)) = touched {
                    self.drain(network, node, endpoint);
                }
            }
            TimerOwner::Reader { flow } => self.read(network, flow),
            TimerOwner::Responder { flow } => {
                let touched = self.applications[flow].on_responder_timer(&mut self.nodes, network);
                if let Some((node, endpoint)) = touched {
                    self.drain(network, node, endpoint);
                }
            }
            TimerOwner::Addresses { change } => self.change_addresses(network, change),
        }
    }
}
