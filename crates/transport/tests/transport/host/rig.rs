//! A client and a server driven by hand, and packets of strangers.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;
use subflow_transport::{EndpointId, Host, Listener};
use subflow_wire::Packet;

use crate::harness::{CLIENT, SERVER, Setup};

pub(super) const CLIENT_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
pub(super) const SERVER_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
/// The server's ports for TCP and for MPTCP.
pub(super) const TCP: u16 = 80;
pub(super) const MPTCP: u16 = 81;

/// A client and a server that are driven by hand. What the client's address has sent to it goes to the client, everything else
/// that the server sends goes nowhere.
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
        rig.server.listen(TCP, Setup::tcp().stacks[SERVER].listener());
        rig.server.listen(MPTCP, Setup::mptcp(1, 1).stacks[SERVER].listener());
        rig
    }

    /// Opens a connection of the client's to the server's `port`.
    pub(super) fn connect(&mut self, port: u16) -> EndpointId {
        let (local, remote) = (SocketAddr::new(CLIENT_ADDRESS, 0), SocketAddr::new(SERVER_ADDRESS, port));
        let setup = if port == TCP { Setup::tcp() } else { Setup::mptcp(1, 1) };
        let id = match setup.stacks[CLIENT].listener() {
            Listener::Tcp(options) => self.client.connect_tcp(&options, local, remote, self.now),
            Listener::Mptcp(config) => self.client.connect_mptcp(config, local, remote, self.now),
            Listener::Sctp(_) => unreachable!("the set-ups above"),
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
}

pub(super) fn transmitted(host: &mut Host, id: EndpointId, now: Instant) -> Vec<Packet> {
    core::iter::from_fn(|| host.poll_transmit(now, id)).collect()
}
