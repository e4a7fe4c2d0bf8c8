//! Our stacks in real time: the simulator's hosts, with real bytes if the other end is a kernel.

use subflow_linux::{Pattern, Payload, Userspace};
use subflow_network::{HostId, Hosts, InterfaceId, Network, PacketId, TimerId};
use subflow_scenario::{Protocol, Scenario};
use subflow_transport::EndpointId;

use crate::simulate::world::World;

/// The hosts of a run with our stack.
pub(super) struct RealWorld {
    pub(super) world: World,
    /// Flows of datagrams from kernels to hosts with our stack.
    datagram_flows: Vec<usize>,
    /// Describes the first range of bytes that differ from those sent.
    wrong: Option<String>,
}

impl RealWorld {
    pub(super) fn new(world: World, scenario: &Scenario, is_kernel: impl Fn(usize) -> bool) -> Self {
        let flows = scenario.flows.iter().enumerate();
        let datagrams = flows.filter(|(_, flow)| {
            matches!(flow.protocol, Protocol::Udp) && is_kernel(flow.from.host) && !is_kernel(flow.to.host)
        });
        Self { datagram_flows: datagrams.map(|(index, _)| index).collect(), world, wrong: None }
    }

    /// Opens the ends that kernels send datagrams to.
    pub(super) fn open_datagram_receivers(&mut self, network: &mut Network) {
        for &flow in &self.datagram_flows {
            self.world.open_datagram_receiver(network, flow);
        }
    }

    /// A description of the first bytes that arrived at one of our stacks and differ from those sent.
    pub(super) fn wrong_byte(&self) -> Option<&str> {
        self.wrong.as_deref()
    }

    fn check(&mut self, host: HostId, endpoint: EndpointId, payload: &[u8]) {
        let Some(taken) = self.world.nodes.transport(host.index()).endpoint(endpoint).taken() else { return };
        let length = (taken.stream.end - taken.stream.start) as usize;
        let bytes = payload.get(taken.payload_offset as usize..).and_then(|bytes| bytes.get(..length));
        let right = bytes.is_some_and(|bytes| Pattern.first_difference(taken.stream.start, bytes).is_none());
        if !right {
            let range = taken.stream;
            self.wrong.get_or_insert_with(|| format!("the received bytes {range:?} differ from those that were sent"));
        }
    }
}

impl Userspace for RealWorld {
    fn handle_packet(
        &mut self,
        network: &mut Network,
        host: HostId,
        _interface: InterfaceId,
        packet: PacketId,
        payload: Payload<'_>,
    ) {
        let endpoint = self.world.accept(network, host, packet);
        if let (Some(endpoint), Payload::Bytes(bytes)) = (endpoint, payload) {
            self.check(host, endpoint, bytes);
        }
        self.world.respond(network, host, endpoint);
    }

    fn handle_timer(&mut self, network: &mut Network, timer: TimerId) {
        self.world.handle_timer(network, timer);
    }
}
