//! The edge between bytes and descriptions: devices on one side, the network and our stack on the other.
//!
//! The network moves packets without their payload's bytes. What the kernel sent is kept beside, by the packet's place in
//! the network, and goes on unchanged to a kernel at the other end. What our stack sent gets its bytes when a kernel is to
//! have it: they are [`Pattern`], so they can be made when they are needed, and checked when they arrive.

use core::ops::Range;
use std::net::IpAddr;

use subflow_network::{HostId, Hosts, InterfaceId, Network, PacketId, TimerId};
use subflow_transport::edge::set_payload_sum;
use subflow_wire::checksum::ones_complement_sum;
use subflow_wire::{Packet, PayloadBytes};

use crate::{Device, Pattern, Punctuality, WallClock};

/// Our stacks on the hosts that are not the kernel's.
pub trait Userspace {
    /// As [`Hosts::handle_packet`]; the packet is released by the caller. `payload` are its bytes.
    fn handle_packet(
        &mut self,
        network: &mut Network,
        host: HostId,
        interface: InterfaceId,
        packet: PacketId,
        payload: Payload<'_>,
    );

    /// As [`Hosts::handle_timer`].
    fn handle_timer(&mut self, network: &mut Network, timer: TimerId);
}

/// What a packet for our stack carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// From another stack of ours: as described, and no bytes.
    Described,
    /// From a kernel: these bytes.
    Bytes(&'a [u8]),
}

/// The bytes of a packet that a kernel sent.
#[derive(Clone, Debug, Default)]
struct Frame {
    bytes: Vec<u8>,
    payload: Range<usize>,
}

/// A device, and which of the network's interfaces it stands for.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) host: HostId,
    pub(crate) interface: InterfaceId,
    pub(crate) device: Device,
}

/// The hosts of a network as the network sees them: kernels behind devices, and our stacks.
#[derive(Debug)]
pub(crate) struct Edge<U> {
    pub(crate) userspace: U,
    pub(crate) ports: Vec<Port>,
    /// By interface, its position in `ports`.
    port_of: Vec<Option<u32>>,
    /// The addresses of kernels: what comes from them has a frame.
    kernel_addresses: Vec<IpAddr>,
    /// By packet.
    frames: Vec<Frame>,
    clock: WallClock,
    /// What a device is read into.
    incoming: Vec<u8>,
    /// What is made for a device, and its payload.
    outgoing: Vec<u8>,
    payload: Vec<u8>,
    identification: u16,
    pub(crate) punctuality: Punctuality,
    /// Packets from a kernel that the network does not carry: other protocols, fragments.
    pub(crate) ignored: u64,
    /// Packets that a kernel did not take.
    pub(crate) refused: u64,
}

/// The largest packet of a device.
const LARGEST: usize = 1 << 16;

impl<U: Userspace> Edge<U> {
    pub(crate) fn new(network: &Network, userspace: U, ports: Vec<Port>, clock: WallClock) -> Self {
        let interfaces = ports.iter().map(|port| port.interface.index() + 1).max().unwrap_or(0);
        let mut port_of = vec![None; interfaces];
        for (position, port) in ports.iter().enumerate() {
            port_of[port.interface.index()] = Some(position as u32);
        }
        let kernel_addresses = ports.iter().flat_map(|port| network.addresses(port.interface)).copied().collect();
        Self {
            userspace,
            ports,
            port_of,
            kernel_addresses,
            frames: Vec::new(),
            clock,
            incoming: vec![0; LARGEST],
            outgoing: Vec::new(),
            payload: Vec::new(),
            identification: 0,
            punctuality: Punctuality::default(),
            ignored: 0,
            refused: 0,
        }
    }

    /// Takes the next packet that the kernel behind port `position` sends, and puts it on its way. Returns whether there
    /// was one.
    pub(crate) fn receive(&mut self, network: &mut Network, position: usize) -> std::io::Result<bool> {
        let port = &self.ports[position];
        let Some(length) = port.device.read(&mut self.incoming)? else { return Ok(false) };
        let bytes = &self.incoming[..length];
        let Ok((packet, payload)) = Packet::parse(bytes) else {
            self.ignored += 1;
            return Ok(true);
        };
        let id = network.reserve();
        *network.packet_mut(id) = packet;
        if self.frames.len() <= id.index() {
            self.frames.resize_with(id.index() + 1, Frame::default);
        }
        let frame = &mut self.frames[id.index()];
        frame.bytes.clear();
        frame.bytes.extend_from_slice(bytes);
        frame.payload = payload;
        network.transmit_reserved(port.host, port.interface, id);
        Ok(true)
    }

    fn comes_from_a_kernel(&self, packet: &Packet) -> bool {
        self.kernel_addresses.contains(&packet.ip.source)
    }

    /// Gives a kernel a packet.
    fn send(&mut self, network: &mut Network, position: usize, id: PacketId) {
        let late = self.clock.now().since(network.now());
        self.punctuality.record(late);
        let bytes = if self.comes_from_a_kernel(network.packet(id)) {
            &self.frames[id.index()].bytes
        } else {
            self.attach(network.packet_mut(id));
            &self.outgoing
        };
        let taken = self.ports[position].device.write(bytes);
        // One that cannot be written is lost, as on any link, and counted.
        if !matches!(taken, Ok(true)) {
            self.refused += 1;
        }
    }

    /// Fills `outgoing` with a packet of our stack's, with its payload.
    fn attach(&mut self, packet: &mut Packet) {
        let description = *packet.payload();
        self.payload.resize(description.length as usize, 0);
        Pattern.fill(description.stream_offset, &mut self.payload);
        set_payload_sum(packet, ones_complement_sum(&self.payload));
        self.identification = self.identification.wrapping_add(1);
        self.outgoing.clear();
        packet
            .emit(PayloadBytes::Bytes(&self.payload), self.identification, &mut self.outgoing)
            .expect("endpoints make packets that can be written");
    }
}

impl<U: Userspace> Hosts for Edge<U> {
    fn handle_packet(&mut self, network: &mut Network, host: HostId, interface: InterfaceId, packet: PacketId) {
        match self.port_of.get(interface.index()).copied().flatten() {
            Some(position) => self.send(network, position as usize, packet),
            None => {
                let payload = if self.comes_from_a_kernel(network.packet(packet)) {
                    let frame = &self.frames[packet.index()];
                    Payload::Bytes(&frame.bytes[frame.payload.clone()])
                } else {
                    Payload::Described
                };
                self.userspace.handle_packet(network, host, interface, packet, payload);
            }
        }
        network.release(packet);
    }

    fn handle_timer(&mut self, network: &mut Network, timer: TimerId) {
        self.userspace.handle_timer(network, timer);
    }

    fn handle_copy(&mut self, _network: &mut Network, original: PacketId, copy: PacketId) {
        if original.index() < self.frames.len() {
            if self.frames.len() <= copy.index() {
                self.frames.resize_with(copy.index() + 1, Frame::default);
            }
            self.frames[copy.index()] = self.frames[original.index()].clone();
        }
    }
}
