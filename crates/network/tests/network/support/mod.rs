//! Simple hosts and packets for the tests.

pub(crate) mod disciplines;
pub(crate) mod random_network;

use std::net::IpAddr;

use subflow_network::{
    DuplexLink, HostId, Hosts, InterfaceId, LinkConfig, LinkId, Network, PacketId, TimerId, TopologyBuilder,
};
use subflow_quantity::{Duration, Instant};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, Payload, UdpDatagram};

/// IPv4 and UDP headers.
pub(crate) const HEADERS: u32 = 28;

/// A datagram of `size` bytes with its number in the port fields.
pub(crate) fn packet(source: IpAddr, destination: IpAddr, number: u32, size: u32) -> Packet {
    Packet {
        ip: IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct },
        body: Body::Udp(UdpDatagram {
            source_port: (number >> 16) as u16,
            destination_port: number as u16,
            payload: Payload { stream_offset: 0, length: size - HEADERS, sum: 0 },
        }),
    }
}

/// The number assigned by [`packet`].
pub(crate) fn number(packet: &Packet) -> u32 {
    match &packet.body {
        Body::Udp(datagram) => u32::from(datagram.source_port) << 16 | u32::from(datagram.destination_port),
        Body::Tcp(_) | Body::Sctp(_) | Body::Quic(_) => panic!("UDP only"),
    }
}

/// An arrival: time, interface, packet number.
pub(crate) type Arrival = (u64, InterfaceId, u32);

/// Hosts that record arrivals, send according to a script, and answer packets if configured.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) arrivals: Vec<Arrival>,
    /// The ECN fields of the packets that arrived.
    pub(crate) ecn: Vec<Ecn>,
    pub(crate) timers: Vec<(u64, TimerId)>,
    /// Timers with the packet to send when they expire: source, destination, number, size.
    pub(crate) script: Vec<(TimerId, InterfaceId, InterfaceId, u32, u32)>,
    /// Every packet below this number is answered with a packet whose number is larger by this value.
    pub(crate) answer_below: u32,
}

impl Recorder {
    /// Sends `number` from `from` to `to` at `at`.
    pub(crate) fn send_at(
        &mut self,
        network: &mut Network,
        at: Instant,
        from: InterfaceId,
        to: InterfaceId,
        number: u32,
        size: u32,
    ) {
        let timer = network.new_timer();
        network.set_timer(timer, Some(at));
        self.script.push((timer, from, to, number, size));
    }

    /// Packet numbers, in order of arrival.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.arrivals.iter().map(|arrival| arrival.2).collect()
    }

    /// Times of arrival in nanoseconds.
    pub(crate) fn times(&self) -> Vec<u64> {
        self.arrivals.iter().map(|arrival| arrival.0).collect()
    }
}

impl Hosts for Recorder {
    fn handle_packet(&mut self, network: &mut Network, host: HostId, interface: InterfaceId, id: PacketId) {
        let packet = network.take(id);
        let number = number(&packet);
        self.arrivals.push((network.now().as_nanos(), interface, number));
        self.ecn.push(packet.ip.ecn);
        if number < self.answer_below {
            let answer = self::packet(packet.ip.destination, packet.ip.source, number + self.answer_below, 60);
            network.transmit(host, interface, answer);
        }
    }

    fn handle_timer(&mut self, network: &mut Network, timer: TimerId) {
        self.timers.push((network.now().as_nanos(), timer));
        for &(_, from, to, number, size) in self.script.iter().filter(|entry| entry.0 == timer) {
            send(network, from, to, number, size);
        }
    }
}

/// Sends a packet now.
pub(crate) fn send(network: &mut Network, from: InterfaceId, to: InterfaceId, number: u32, size: u32) {
    let packet = packet(network.addresses(from)[0], network.addresses(to)[0], number, size);
    network.transmit(network.host_of(from), from, packet);
}

/// Two hosts and one link between them.
pub(crate) struct Pair {
    pub(crate) network: Network,
    pub(crate) hosts: Recorder,
    pub(crate) a: InterfaceId,
    pub(crate) b: InterfaceId,
    pub(crate) link: LinkId,
}

impl Pair {
    /// A link with `config` from a to b, and an infinitely fast one back.
    pub(crate) fn new(config: LinkConfig) -> Self {
        let mut topology = TopologyBuilder::new();
        let (a, b) = (topology.host("a"), topology.host("b"));
        let (a, b) = (topology.interface(a, "eth"), topology.interface(b, "eth"));
        let DuplexLink { forward, .. } = topology.link("ab", a, b, config, LinkConfig::default());
        let network = topology.build(1).expect("a valid topology");
        Self { network, hosts: Recorder::default(), a, b, link: forward }
    }

    /// Sends packets of 1500 bytes numbered from `first` on.
    pub(crate) fn burst(&mut self, first: u32, count: u32) {
        for number in first..first + count {
            send(&mut self.network, self.a, self.b, number, 1500);
        }
    }

    pub(crate) fn run_until(&mut self, at: Instant) {
        self.network.run_until(&mut self.hosts, at);
    }
}

pub(crate) fn ms(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

pub(crate) fn us(microseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(microseconds)
}
