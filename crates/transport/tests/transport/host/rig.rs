//! A client and a server driven by hand, and packets of strangers.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};
use subflow_transport::{EndpointId, Event, Host, Limits, Listener};
use subflow_wire::tcp::mptcp::{Capable, CapableFlags, Join, MptcpOption};
use subflow_wire::tcp::{SynOptions, TcpFlags, TcpOptions, Timestamps};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, TcpSegment};

use crate::harness::{CLIENT, SERVER, Setup};

pub(super) const CLIENT_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
pub(super) const SERVER_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
/// The server's ports for TCP, for MPTCP and for SCTP.
pub(super) const TCP: u16 = 80;
pub(super) const MPTCP: u16 = 81;
pub(super) const SCTP: u16 = 82;

/// A client and a server that are driven by hand. What the client's address has sent to it goes to the client,
/// everything else that the server sends goes nowhere.
pub(super) struct Rig {
    pub(super) now: Instant,
    pub(super) client: Host,
    pub(super) server: Host,
    /// What the server has accepted and not removed.
    pub(super) accepted: Vec<EndpointId>,
}

impl Rig {
    pub(super) fn new() -> Self {
        let host = |address, seed| Host::new(vec![address], Pcg64Mcg::seed_from_u64(seed));
        let now = Instant::from_nanos(1_000_000_000);
        let (client, server) = (host(CLIENT_ADDRESS, 1), host(SERVER_ADDRESS, 2));
        let mut rig = Self { now, client, server, accepted: Vec::new() };
        rig.listen(Limits::default().backlog);
        rig
    }

    /// The server listens on its ports, with this backlog.
    pub(super) fn listen(&mut self, backlog: usize) {
        self.server.set_limits(Limits { backlog, ..Limits::default() });
        self.server.listen(TCP, Setup::tcp().stacks[SERVER].listener());
        self.server.listen(MPTCP, Setup::mptcp(1, 1).stacks[SERVER].listener());
        self.server.listen(SCTP, Setup::sctp(1).stacks[SERVER].listener());
    }

    /// Opens a connection of the client's to the server's `port`.
    pub(super) fn connect(&mut self, port: u16) -> EndpointId {
        let (local, remote) = (SocketAddr::new(CLIENT_ADDRESS, 0), SocketAddr::new(SERVER_ADDRESS, port));
        let setup = if port == TCP { Setup::tcp() } else { Setup::mptcp(1, 1) };
        let id = match setup.stacks[CLIENT].listener() {
            Listener::Tcp(options) => self.client.connect_tcp(&options, local, remote, self.now),
            Listener::Mptcp(config) => self.client.connect_mptcp(config, local, remote, self.now),
            Listener::Sctp(_) | Listener::Quic(_) => unreachable!("the set-ups above"),
        };
        id.expect("a free port")
    }

    /// Gives `packet` to the server, and returns what it sends.
    pub(super) fn deliver(&mut self, packet: &Packet) -> Vec<Packet> {
        let taken_by = self.server.handle_packet(self.now, packet);
        self.accepted.extend(core::iter::from_fn(|| self.server.poll_accept()));
        let mut sent: Vec<_> = core::iter::from_fn(|| self.server.poll_reply()).collect();
        sent.extend(taken_by.into_iter().flat_map(|id| transmitted(&mut self.server, id, self.now)));
        sent
    }

    /// Exchanges packets between the client and the server until there are none, in no time.
    pub(super) fn talk(&mut self) {
        loop {
            let mut quiet = true;
            for id in self.client.endpoint_ids() {
                for packet in transmitted(&mut self.client, id, self.now) {
                    quiet = false;
                    let answers = self.deliver(&packet);
                    self.answer(&answers);
                }
            }
            for id in self.server.endpoint_ids() {
                let packets = transmitted(&mut self.server, id, self.now);
                quiet &= packets.is_empty();
                self.answer(&packets);
            }
            if quiet {
                return;
            }
        }
    }

    pub(super) fn answer(&mut self, packets: &[Packet]) {
        for packet in packets.iter().filter(|packet| packet.ip.destination == CLIENT_ADDRESS) {
            self.client.handle_packet(self.now, packet);
            while self.client.poll_reply().is_some() {}
        }
    }

    /// Lets time pass; every timer that is due by then fires, and packets are exchanged.
    pub(super) fn pass(&mut self, time: Duration) {
        self.now += time;
        for host in [&mut self.client, &mut self.server] {
            for id in host.endpoint_ids() {
                while host.poll_timeout(id).is_some_and(|at| at <= self.now) {
                    host.handle_timeout(self.now, id);
                    transmitted(host, id, self.now);
                }
            }
        }
        self.talk();
    }

    /// Removes every endpoint that is over.
    pub(super) fn remove_closed(&mut self) {
        for host in [&mut self.client, &mut self.server] {
            for id in host.endpoint_ids() {
                let closed = core::iter::from_fn(|| host.poll_event(id)).any(|event| matches!(event, Event::Closed(_)));
                if closed {
                    host.remove(id);
                }
            }
        }
        let server = &self.server;
        let there = server.endpoint_ids();
        self.accepted.retain(|id| there.contains(id));
    }
}

pub(super) fn transmitted(host: &mut Host, id: EndpointId, now: Instant) -> Vec<Packet> {
    core::iter::from_fn(|| host.poll_transmit(now, id)).collect()
}

/// The TCP segment of a packet.
pub(super) fn segment(packet: &Packet) -> &TcpSegment {
    match &packet.body {
        Body::Tcp(segment) => segment,
        _ => panic!("not TCP: {packet:?}"),
    }
}

/// A segment to the server, in a packet.
pub(super) fn packet(source: IpAddr, segment: TcpSegment) -> Packet {
    let ip = IpHeader { source, destination: SERVER_ADDRESS, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct };
    Packet { ip, body: Body::Tcp(segment) }
}

/// The address of one of 2²⁴ hosts that never answer.
pub(super) fn stranger(number: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(11 << 24 | number & 0xFF_FFFF))
}

/// A SYN with the options that every host sends today.
pub(super) fn syn(number: u32, port: u16) -> Packet {
    let options = TcpOptions {
        syn: SynOptions { mss: Some(1460), window_scale: Some(7), sack_permitted: true },
        timestamps: Some(Timestamps { value: number, echo: 0 }),
        ..TcpOptions::default()
    };
    packet(
        stranger(number),
        TcpSegment {
            source_port: 5000,
            destination_port: port,
            sequence: number.wrapping_mul(0x9E37_79B9),
            flags: TcpFlags::SYN,
            window: 65_535,
            options,
            ..TcpSegment::default()
        },
    )
}

/// The same with an option of MPTCP.
pub(super) fn syn_with(number: u32, option: MptcpOption) -> Packet {
    let mut packet = syn(number, MPTCP);
    if let Body::Tcp(segment) = &mut packet.body {
        segment.options.mptcp.push(option);
    }
    packet
}

/// MP_CAPABLE as a SYN has it.
pub(super) fn capable() -> MptcpOption {
    let flags = CapableFlags { checksum_required: false, deny_join_to_initial_address: false };
    MptcpOption::Capable(Capable {
        version: 1,
        flags,
        sender_key: None,
        receiver_key: None,
        data_length: None,
        checksum: None,
    })
}

/// MP_JOIN as a SYN has it.
pub(super) fn join(token: u32, nonce: u32) -> MptcpOption {
    MptcpOption::Join(Join::Syn { backup: false, address_id: 9, token, nonce })
}
