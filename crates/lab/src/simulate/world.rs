//! The hosts of a run: endpoints, the applications on them, and their timers, between the network and the transports.

use std::net::{IpAddr, SocketAddr};

use subflow_network::{HostId, Hosts, InterfaceId, Network, PacketId, TimerId};
use subflow_quantity::Instant;
use subflow_scenario::HostEvent;
use subflow_transport::{EndpointId, Host};

use super::application::Application;

/// One host of the run.
pub(crate) struct Node {
    pub(crate) id: HostId,
    pub(crate) transport: Host,
    /// Its addresses and the interfaces they are on.
    pub(crate) interfaces: Vec<(IpAddr, InterfaceId)>,
    /// Per endpoint, its timer and the flow it belongs to; every endpoint is registered when it is made.
    sockets: Vec<Socket>,
    /// Which flow listens on a port.
    listening: Vec<(u16, usize)>,
}

#[derive(Clone, Copy)]
struct Socket {
    timer: TimerId,
    flow: usize,
}

/// What a timer of the network is for.
#[derive(Clone, Copy)]
enum TimerOwner {
    Endpoint { node: usize, endpoint: EndpointId },
    Application { flow: usize },
    Addresses { change: usize },
}

/// Everything above the network.
pub(crate) struct World {
    pub(crate) nodes: Vec<Node>,
    /// By flow; absent only while it acts.
    pub(crate) applications: Vec<Option<Box<Application>>>,
    timers: Vec<TimerOwner>,
    /// What hosts lose and get back, each at its own timer.
    address_changes: Vec<HostEvent>,
    /// The place in the network where the next packet is built.
    reserved: PacketId,
}

impl Node {
    pub(crate) fn new(id: HostId, transport: Host, interfaces: Vec<(IpAddr, InterfaceId)>) -> Self {
        Self { id, transport, interfaces, sockets: Vec::new(), listening: Vec::new() }
    }

    pub(crate) fn listens(&mut self, port: u16, flow: usize) {
        self.listening.push((port, flow));
    }
}

/// The interface that packets from `source` leave on: the one that has the address.
#[inline]
fn interface_of(interfaces: &[(IpAddr, InterfaceId)], source: IpAddr) -> InterfaceId {
    match interfaces {
        [(_, only)] => *only,
        _ => interfaces.iter().find(|(address, _)| *address == source).unwrap_or(&interfaces[0]).1,
    }
}

impl World {
    pub(crate) fn new(network: &mut Network, nodes: Vec<Node>) -> Self {
        Self {
            nodes,
            applications: Vec::new(),
            timers: Vec::new(),
            address_changes: Vec::new(),
            reserved: network.reserve(),
        }
    }

    fn new_timer(&mut self, network: &mut Network, owner: TimerOwner) -> TimerId {
        let timer = network.new_timer();
        debug_assert_eq!(timer.index(), self.timers.len());
        self.timers.push(owner);
        timer
    }

    /// Lets a host lose addresses or get them back at `at`.
    pub(super) fn add_address_change(&mut self, network: &mut Network, at: Instant, event: &HostEvent) {
        let change = self.address_changes.len();
        let timer = self.new_timer(network, TimerOwner::Addresses { change });
        self.address_changes.push(event.clone());
        network.set_timer(timer, Some(at));
    }

    fn change_addresses(&mut self, network: &mut Network, change: usize) {
        let HostEvent { host: node, addresses, present, .. } = self.address_changes[change].clone();
        let transport = &mut self.nodes[node].transport;
        for address in addresses {
            match present {
                true => transport.add_address(address, network.now()),
                false => transport.remove_address(address, network.now()),
            }
        }
        for endpoint in transport.endpoint_ids() {
            self.drain(network, node, endpoint);
        }
    }

    /// Adds an application; its timer is its own.
    pub(crate) fn add_application(&mut self, network: &mut Network, make: impl FnOnce(TimerId) -> Application) {
        let flow = self.applications.len();
        let timer = self.new_timer(network, TimerOwner::Application { flow });
        self.applications.push(Some(Box::new(make(timer))));
    }

    /// Registers a new endpoint with the flow it belongs to.
    pub(crate) fn register(&mut self, network: &mut Network, node: usize, endpoint: EndpointId, flow: usize) {
        let timer = self.new_timer(network, TimerOwner::Endpoint { node, endpoint });
        let sockets = &mut self.nodes[node].sockets;
        let index = endpoint.0 as usize;
        let socket = Socket { timer, flow };
        if sockets.len() <= index {
            sockets.resize(index + 1, socket);
        }
        sockets[index] = socket;
    }

    /// Drains an endpoint: packets to the network, events to its application, its deadline to its timer.
    pub(crate) fn drain(&mut self, network: &mut Network, node: usize, id: EndpointId) {
        let now = network.now();
        loop {
            let host = &mut self.nodes[node];
            let endpoint = host.transport.endpoint_mut(id);
            while endpoint.poll_transmit_into(now, network.packet_mut(self.reserved)) {
                let interface = interface_of(&host.interfaces, network.packet(self.reserved).ip.source);
                network.transmit_reserved(host.id, interface, self.reserved);
                self.reserved = network.reserve();
            }
            let socket = host.sockets[id.0 as usize];
            match endpoint.poll_event() {
                Some(event) => self.on_event(network, node, id, socket.flow, event),
                None => return network.set_timer(socket.timer, endpoint.poll_timeout()),
            }
        }
    }

    /// Lets an application act on an event, or on its timer.
    fn on_event(
        &mut self,
        network: &mut Network,
        node: usize,
        endpoint: EndpointId,
        flow: usize,
        event: subflow_transport::Event,
    ) {
        let Some(mut application) = self.applications[flow].take() else { return };
        application.on_event(self, network, node, endpoint, event);
        self.applications[flow] = Some(application);
    }

    fn on_application_timer(&mut self, network: &mut Network, flow: usize) {
        let Some(mut application) = self.applications[flow].take() else { return };
        let touched = application.on_timer(self, network, flow);
        self.applications[flow] = Some(application);
        if let Some((node, endpoint)) = touched {
            self.drain(network, node, endpoint);
        }
    }

    /// New connections of a node's listeners, and its packets to nobody's connections.
    fn after_packet(&mut self, network: &mut Network, node: usize) {
        while let Some(endpoint) = self.nodes[node].transport.poll_accept() {
            let port = self.nodes[node].transport.endpoint(endpoint).ends().local.port();
            let listening = &self.nodes[node].listening;
            let Some(&(_, flow)) = listening.iter().find(|(known, _)| *known == port) else { continue };
            self.register(network, node, endpoint, flow);
            if let Some(mut application) = self.applications[flow].take() {
                application.on_accept(self, node, endpoint);
                self.applications[flow] = Some(application);
            }
        }
        while let Some(packet) = self.nodes[node].transport.poll_reply() {
            let interface = interface_of(&self.nodes[node].interfaces, packet.ip.source);
            network.transmit(self.nodes[node].id, interface, packet);
        }
    }

    /// Opens the end of `flow` that datagrams go to, where nobody here sends them.
    #[cfg(target_os = "linux")]
    pub(crate) fn open_datagram_receiver(&mut self, network: &mut Network, flow: usize) {
        if let Some(mut application) = self.applications[flow].take() {
            application.open_datagram_receiver(self, network, flow);
            self.applications[flow] = Some(application);
        }
    }

    /// The host's address on `interface` of scenario host `node`.
    pub(crate) fn address(&self, node: usize, interface: usize) -> IpAddr {
        self.nodes[node].interfaces[interface].0
    }

    /// A socket address on a scenario interface.
    pub(crate) fn socket_address(&self, node: usize, interface: usize, port: u16) -> SocketAddr {
        SocketAddr::new(self.address(node, interface), port)
    }
}

impl World {
    /// `packet` is for the endpoint that it returns, which has it now. [`Self::respond`] has to follow.
    pub(crate) fn accept(&mut self, network: &Network, host: HostId, packet: PacketId) -> Option<EndpointId> {
        self.nodes[host.index()].transport.handle_packet(network.now(), network.packet(packet))
    }

    /// Lets a host react to what it [accepted](Self::accept) for `endpoint`.
    pub(crate) fn respond(&mut self, network: &mut Network, host: HostId, endpoint: Option<EndpointId>) {
        let node = host.index();
        if self.nodes[node].transport.has_news() {
            self.after_packet(network, node);
        }
        if let Some(endpoint) = endpoint {
            self.drain(network, node, endpoint);
        }
    }
}

impl Hosts for World {
    fn handle_packet(&mut self, network: &mut Network, host: HostId, _interface: InterfaceId, packet: PacketId) {
        let endpoint = self.accept(network, host, packet);
        network.release(packet);
        self.respond(network, host, endpoint);
    }

    fn handle_timer(&mut self, network: &mut Network, timer: TimerId) {
        match self.timers[timer.index()] {
            TimerOwner::Endpoint { node, endpoint } => {
                let now = network.now();
                self.nodes[node].transport.handle_timeout(now, endpoint);
                self.drain(network, node, endpoint);
            }
            TimerOwner::Application { flow } => self.on_application_timer(network, flow),
            TimerOwner::Addresses { change } => self.change_addresses(network, change),
        }
    }
}
