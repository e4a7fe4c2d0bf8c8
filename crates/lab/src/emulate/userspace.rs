//! Our stacks in real time: the simulator's hosts, with real bytes if the other end is a kernel.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;

use subflow_linux::{Pattern, Payload, SctpData, Userspace};
use subflow_network::{HostId, Hosts, InterfaceId, Network, PacketId, TimerId};
use subflow_scenario::{Flow, Scenario};
use subflow_transport::EndpointId;
use subflow_wire::icmp::IcmpError;
use subflow_wire::{Body, Packet};

use super::sctp::KernelSctp;
use crate::simulate::world::World;

/// The hosts of a run with our stack.
pub(super) struct RealWorld {
    pub(super) world: World,
    /// Flows of datagrams from kernels to hosts with our stack.
    datagram_flows: Vec<usize>,
    /// SCTP on hosts with a kernel.
    sctp: KernelSctp,
    /// Whether no flow may abandon messages: then the data of associations is checked.
    checks_sctp: bool,
    /// Whether what arrives over TCP and MPTCP has to be what was sent: no middlebox rewrites it.
    checks_streams: bool,
    /// This data, by host and endpoint.
    sctp_data: BTreeMap<(usize, u32), SctpData>,
    /// Describes the first range of bytes that differ from those sent.
    wrong: Option<String>,
}

/// The number of packets read from sockets before links are run again.
const BATCH: usize = 16;

impl RealWorld {
    pub(super) fn new(
        mut world: World,
        scenario: &Scenario,
        is_kernel: impl Fn(usize) -> bool,
        sctp: KernelSctp,
    ) -> Self {
        if let Some(outlet) = sctp.outlet() {
            world.nodes.set_outlet(outlet);
        }
        let flows = scenario.flows.iter().enumerate();
        let datagrams =
            flows.filter(|(_, flow)| flow.protocol.is_udp() && is_kernel(flow.from.host) && !is_kernel(flow.to.host));
        let datagram_flows = datagrams.map(|(index, _)| index).collect();
        let checks_sctp = !scenario.flows.iter().any(Flow::may_give_up);
        let checks_streams = !scenario.rewrites_payload();
        Self { datagram_flows, world, sctp, checks_sctp, checks_streams, sctp_data: BTreeMap::new(), wrong: None }
    }

    /// The packets for our SCTP that the sockets have dropped.
    pub(super) fn dropped_at_sockets(&self) -> subflow_linux::Result<u64> {
        self.sctp.dropped()
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

    fn check_sctp(&mut self, host: HostId, endpoint: EndpointId, packet: &Packet, bytes: &[u8]) {
        let Some(association) = self.world.nodes.transport(host.index()).endpoint(endpoint).as_sctp() else { return };
        if !self.checks_sctp {
            return;
        }
        let data = self.sctp_data.entry((host.index(), endpoint.0)).or_default();
        if let Err(wrong) = data.check(association, packet, bytes) {
            self.wrong.get_or_insert(wrong);
        }
    }

    fn check(&mut self, host: HostId, endpoint: EndpointId, payload: &[u8]) {
        let Some(taken) = self.world.nodes.transport(host.index()).endpoint(endpoint).taken() else { return };
        let length = (taken.stream.end - taken.stream.start) as usize;
        let bytes = payload.get(taken.payload_offset as usize..).and_then(|bytes| bytes.get(..length));
        let right = !self.checks_streams
            || bytes.is_some_and(|bytes| Pattern.first_difference(taken.stream.start, bytes).is_none());
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
            match network.packet(packet).body {
                Body::Sctp(_) => self.check_sctp(host, endpoint, network.packet(packet), bytes),
                _ => self.check(host, endpoint, bytes),
            }
        }
        self.world.respond(network, host, endpoint);
    }

    fn handle_timer(&mut self, network: &mut Network, timer: TimerId) {
        self.world.handle_timer(network, timer);
    }

    fn handle_icmp(&mut self, network: &mut Network, interface: InterfaceId, error: &IcmpError) {
        self.world.handle_icmp(network, interface, error);
    }

    fn sockets(&self) -> Vec<BorrowedFd<'_>> {
        self.sctp.descriptors()
    }

    fn receive(&mut self, network: &mut Network) -> std::io::Result<bool> {
        for _ in 0..BATCH {
            let Some((host, packet, bytes)) = self.sctp.receive()? else { return Ok(false) };
            let (host, bytes) = (HostId::from_index(host), bytes.to_vec());
            let endpoint = self.world.accept_from_outside(network.now(), host, &packet);
            if let Some(endpoint) = endpoint {
                self.check_sctp(host, endpoint, &packet, &bytes);
            }
            self.world.respond(network, host, endpoint);
        }
        Ok(true)
    }
}
