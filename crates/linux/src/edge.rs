//! The edge between bytes and descriptions: devices on one side, the network and our stack on the other.
//!
//! The network moves packets without their payload's bytes. What the kernel sent is kept beside, by the packet's place
//! in the network, and goes on unchanged to a kernel at the other end. What our stack sent gets its bytes when a kernel
//! is to have it: they are [`Pattern`](crate::Pattern), so they can be made when they are needed, and checked when they
//! arrive.

use core::ops::Range;
use std::net::IpAddr;

use subflow_network::{HostId, Hosts, InterfaceId, Network, PacketId, TimerId};
use subflow_quantity::Instant;
use subflow_wire::Packet;

use crate::{Device, PacketWriter, Punctuality, WallClock};

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

/// Sees packets as bytes, for captures: all that kernels send and receive, and those that our stacks receive.
pub trait ByteTap {
    /// A packet of these bytes passes `interface` of `host` at `time`. One that is sent is seen before its first queue.
    fn packet(&mut self, time: Instant, host: HostId, interface: InterfaceId, bytes: &[u8]);
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
    writer: PacketWriter,
    pub(crate) tap: Option<Box<dyn ByteTap + Send>>,
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
            writer: PacketWriter::default(),
            tap: None,
            punctuality: Punctuality::default(),
            ignored: 0,
            refused: 0,
        }
    }

    /// Takes the next packet that the kernel behind port `position` sends, and puts it on its way. Returns whether
    /// there was one.
    pub(crate) fn receive(&mut self, network: &mut Network, position: usize) -> std::io::Result<bool> {
        let port = &self.ports[position];
        let Some(length) = port.device.read(&mut self.incoming)? else { return Ok(false) };
        let bytes = &self.incoming[..length];
        if let Some(tap) = &mut self.tap {
            tap.packet(network.now(), port.host, port.interface, bytes);
        }
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
        let time = network.now();
        let bytes = if self.comes_from_a_kernel(network.packet(id)) {
            &self.frames[id.index()].bytes
        } else {
            self.writer.write(network.packet_mut(id))
        };
        let port = &self.ports[position];
        let taken = port.device.write(bytes);
        // One that cannot be written is lost, as on any link, and counted.
        if !matches!(taken, Ok(true)) {
            self.refused += 1;
        }
        if let Some(tap) = &mut self.tap {
            tap.packet(time, port.host, port.interface, bytes);
        }
    }

    /// Shows the tap a packet that a stack of ours receives.
    fn show(&mut self, network: &mut Network, host: HostId, interface: InterfaceId, id: PacketId) {
        let Some(tap) = &mut self.tap else { return };
        let time = network.now();
        let bytes = if self.kernel_addresses.contains(&network.packet(id).ip.source) {
            &self.frames[id.index()].bytes
        } else {
            self.writer.write(network.packet_mut(id))
        };
        tap.packet(time, host, interface, bytes);
    }
}

impl<U: Userspace> Hosts for Edge<U> {
    fn handle_packet(&mut self, network: &mut Network, host: HostId, interface: InterfaceId, packet: PacketId) {
        match self.port_of.get(interface.index()).copied().flatten() {
            Some(position) => self.send(network, position as usize, packet),
            None => {
                self.show(network, host, interface, packet);
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
