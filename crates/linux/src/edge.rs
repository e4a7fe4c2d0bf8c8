//! The edge: converts between packets as bytes, on devices, and packets as descriptions, in the network and our stack.
//!
//! The network moves packets without payload bytes. The bytes of a packet that a kernel sent are stored by packet id
//! and are passed on unchanged to a kernel at the other end. A packet of our stack gets its bytes when it is written to
//! a kernel: they are [`Pattern`](crate::Pattern), so they can be generated when needed and checked on arrival.

use std::net::IpAddr;
use std::os::fd::BorrowedFd;

use subflow_network::{HostId, Hosts, InterfaceId, Network, PacketId, TimerId};
use subflow_quantity::Instant;
use subflow_wire::Packet;
use subflow_wire::icmp::IcmpError;

use crate::echo;
use crate::frames::{Frame, Frames};
use crate::packet_writer::PacketWriter;
use crate::sctp_traffic::SctpTraffic;
use crate::{Device, Punctuality, WallClock};

/// Our stacks, on the hosts that are not kernels.
pub trait Userspace {
    /// As [`Hosts::handle_packet`], but the caller releases the packet. `payload` is its payload.
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

    /// As [`Hosts::handle_icmp`]. Default: the error is ignored.
    fn handle_icmp(&mut self, _network: &mut Network, _interface: InterfaceId, _error: &IcmpError) {}

    /// The sockets by which our stacks use kernels' IP, to wait for packets.
    fn sockets(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    /// Handles packets that have arrived at these sockets. Returns whether there were any.
    ///
    /// # Errors
    ///
    /// If a socket cannot be read.
    fn receive(&mut self, _network: &mut Network) -> std::io::Result<bool> {
        Ok(false)
    }
}

/// The payload of a packet for our stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// The packet is from another of our stacks: there are no bytes, only the description.
    Described,
    /// The packet is from a kernel, with these bytes.
    Bytes(&'a [u8]),
}

/// Observes packets as bytes, for captures: all packets that kernels send and receive, and those that our stacks
/// receive.
pub trait ByteTap {
    /// Called when a packet passes `interface` of `host` at `time`. A sent packet is observed before its first queue.
    fn packet(&mut self, time: Instant, host: HostId, interface: InterfaceId, bytes: &[u8]);
}

/// A device with its interface in the network.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) host: HostId,
    pub(crate) interface: InterfaceId,
    pub(crate) device: Device,
}

/// The hosts of a network: kernels behind devices, and our stacks.
pub(crate) struct Edge<U> {
    pub(crate) userspace: U,
    pub(crate) ports: Vec<Port>,
    /// The index in `ports`, per interface.
    port_of: Vec<Option<u32>>,
    /// The addresses of kernels. A packet from one of them has a frame.
    kernel_addresses: Vec<IpAddr>,
    /// Per interface, whether what arrives there has a frame; without it, that depends on the source address.
    pub(crate) have_frames: Option<Vec<bool>>,
    frames: Frames,
    clock: WallClock,
    /// The read buffer for devices.
    incoming: Vec<u8>,
    writer: PacketWriter,
    pub(crate) tap: Option<Box<dyn ByteTap + Send>>,
    pub(crate) punctuality: Punctuality,
    /// Packets from a kernel that the network does not support: other protocols, fragments.
    pub(crate) ignored: u64,
    /// Packets that a kernel did not accept.
    pub(crate) refused: u64,
    /// The SCTP packets of kernels' hosts.
    pub(crate) sctp: SctpTraffic,
}

/// The maximum size of a packet from a device.
const MAX_PACKET_SIZE: usize = 1 << 16;

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
            have_frames: None,
            frames: Frames::default(),
            clock,
            incoming: vec![0; MAX_PACKET_SIZE],
            writer: PacketWriter::default(),
            tap: None,
            punctuality: Punctuality::default(),
            ignored: 0,
            refused: 0,
            sctp: SctpTraffic::default(),
        }
    }

    /// Reads the next packet from the kernel behind port `position` and transmits it in the network. Returns whether
    /// there was one.
    pub(crate) fn receive(&mut self, network: &mut Network, position: usize) -> std::io::Result<bool> {
        let port = &self.ports[position];
        let Some(length) = port.device.read(&mut self.incoming)? else { return Ok(false) };
        let bytes = &self.incoming[..length];
        if let Some(tap) = &mut self.tap {
            tap.packet(network.now(), port.host, port.interface, bytes);
        }
        let Some((packet, payload)) = Packet::parse(bytes).ok().or_else(|| echo::describe(bytes)) else {
            self.ignored += 1;
            return Ok(true);
        };
        self.sctp.count(&packet, network.now());
        let id = network.reserve();
        *network.packet_mut(id) = packet;
        self.adopt_derived(network);
        let bytes = &self.incoming[..length];
        let frame = self.frames.at(id);
        frame.described = network.has_middleboxes().then(|| network.packet(id).clone());
        frame.bytes.clear();
        frame.bytes.extend_from_slice(bytes);
        frame.payload = payload;
        let Port { host, interface, .. } = self.ports[position];
        network.transmit_reserved(host, interface, id);
        Ok(true)
    }

    fn port_at(&self, interface: InterfaceId) -> Option<u32> {
        self.port_of.get(interface.index()).copied().flatten()
    }

    /// Whether a packet that arrives at `interface` has a frame.
    fn has_frame(&self, network: &Network, interface: InterfaceId, packet: PacketId) -> bool {
        let content = network.packet(packet);
        let source = content.ip.source;
        match &self.have_frames {
            _ if echo::is_description(content) => true,
            Some(have_frames) => have_frames[interface.index()],
            // The address may be one that a middlebox has given.
            None if network.has_middleboxes() => {
                network.interface_for(source).is_some_and(|sender| self.port_at(sender).is_some())
            }
            None => self.kernel_addresses.contains(&source),
        }
    }

    /// Gives the packets that middleboxes have made the frames of those that have caused them.
    fn adopt_derived(&mut self, network: &mut Network) {
        network.take_derived().into_iter().for_each(|derivation| self.frames.derive(derivation));
    }

    /// Writes a packet to a kernel.
    fn send(&mut self, network: &mut Network, position: usize, id: PacketId) {
        let late = self.clock.now().since(network.now());
        self.punctuality.record(late);
        let time = network.now();
        let port = &self.ports[position];
        let bytes = if self.has_frame(network, port.interface, id) {
            self.frames.at(id).with_mark_of(network.packet(id))
        } else {
            self.writer.write(network.packet_mut(id))
        };
        let taken = port.device.write(bytes);
        // A packet that cannot be written is lost and counted.
        if !matches!(taken, Ok(true)) {
            self.refused += 1;
        }
        if let Some(tap) = &mut self.tap {
            tap.packet(time, port.host, port.interface, bytes);
        }
    }

    /// A host with our stack answers an echo request, as a kernel does.
    fn answer_echo(&mut self, network: &mut Network, (host, interface): (HostId, InterfaceId), id: PacketId) {
        self.show(network, host, interface, id);
        let Some(bytes) = echo::reply(&self.frames.at(id).bytes) else { return };
        let Some((packet, payload)) = echo::describe(&bytes) else { return };
        if let Some(tap) = &mut self.tap {
            tap.packet(network.now(), host, interface, &bytes);
        }
        let answer = network.reserve();
        *network.packet_mut(answer) = packet;
        let described = network.has_middleboxes().then(|| network.packet(answer).clone());
        *self.frames.at(answer) = Frame { bytes, payload, described };
        network.transmit_reserved(host, interface, answer);
    }

    /// Passes a packet that one of our stacks receives to the tap.
    fn show(&mut self, network: &mut Network, host: HostId, interface: InterfaceId, id: PacketId) {
        let time = network.now();
        let has_frame = self.has_frame(network, interface, id);
        let Some(tap) = &mut self.tap else { return };
        let bytes = if has_frame {
            self.frames.at(id).with_mark_of(network.packet(id))
        } else {
            self.writer.write(network.packet_mut(id))
        };
        tap.packet(time, host, interface, bytes);
    }
}

impl<U: Userspace> Hosts for Edge<U> {
    fn handle_packet(&mut self, network: &mut Network, host: HostId, interface: InterfaceId, packet: PacketId) {
        if network.has_middleboxes() {
            self.adopt_derived(network);
            if self.has_frame(network, interface, packet) {
                self.frames.refresh(packet, network.packet_mut(packet));
            }
        }
        match self.port_at(interface) {
            Some(position) => self.send(network, position as usize, packet),
            None if echo::is_description(network.packet(packet)) => {
                self.answer_echo(network, (host, interface), packet);
            }
            None => {
                self.show(network, host, interface, packet);
                let payload = if self.has_frame(network, interface, packet) {
                    Payload::Bytes(self.frames.at(packet).content())
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

    fn handle_icmp(&mut self, network: &mut Network, interface: InterfaceId, error: &IcmpError) {
        let Some(position) = self.port_at(interface) else {
            return self.userspace.handle_icmp(network, interface, error);
        };
        let port = &self.ports[position as usize];
        let mut bytes = Vec::new();
        // Routers have no addresses here.
        let is_sent =
            error.emit(error.quoted.destination, &mut bytes).is_ok() && matches!(port.device.write(&bytes), Ok(true));
        if !is_sent {
            self.refused += 1;
        }
        if let Some(tap) = &mut self.tap {
            tap.packet(network.now(), port.host, port.interface, &bytes);
        }
    }

    fn handle_copy(&mut self, network: &mut Network, original: PacketId, copy: PacketId) {
        self.adopt_derived(network);
        self.frames.copy(original, copy);
    }
}
