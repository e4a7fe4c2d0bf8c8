//! Two hosts with a network between them that records the links used by each packet.

use std::collections::BTreeSet;

use subflow_network::{
    HostId, Hosts, InterfaceId, LinkConfig, LinkId, Network, PacketId, RouterMode, RoutingConfig, TimerId,
    TopologyBuilder,
};
use subflow_policy::routing::token_of;
use subflow_quantity::{Duration, Rate};
use subflow_wire::tcp::TcpFlags;
use subflow_wire::tcp::mptcp::{Capable, CapableFlags, Join, MptcpOption};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, TcpSegment};

/// Hosts that only count arrivals.
#[derive(Default)]
pub(crate) struct Sink {
    pub(crate) arrived: u32,
}

impl Hosts for Sink {
    fn handle_packet(&mut self, network: &mut Network, _: HostId, _: InterfaceId, packet: PacketId) {
        network.release(packet);
        self.arrived += 1;
    }

    fn handle_timer(&mut self, _: &mut Network, _: TimerId) {}
}

/// A network of routers with a host at the first and at the last one.
pub(crate) struct Testbed {
    pub(crate) network: Network,
    pub(crate) sink: Sink,
    client: InterfaceId,
    server: InterfaceId,
    /// The links between routers.
    core: Vec<usize>,
}

const KEY: u64 = 0x1234_5678_9abc_def0;

impl Testbed {
    /// `routers` routers in the same mode with `links` between them; the client is at router 0, the server at the last.
    pub(crate) fn new(routers: usize, links: &[(usize, usize)], mode: RouterMode, config: RoutingConfig) -> Self {
        Self::with_modes(&vec![mode; routers], links, config)
    }

    /// The same with the mode of each router.
    pub(crate) fn with_modes(modes: &[RouterMode], links: &[(usize, usize)], config: RoutingConfig) -> Self {
        Self::build(modes, links, config, false)
    }

    /// All routers take one path to the server, whatever their mode.
    pub(crate) fn with_single_way(routers: usize, links: &[(usize, usize)], mode: RouterMode) -> Self {
        Self::build(&vec![mode; routers], links, RoutingConfig::default(), true)
    }

    fn build(modes: &[RouterMode], links: &[(usize, usize)], config: RoutingConfig, single_way: bool) -> Self {
        let mut topology = TopologyBuilder::new();
        topology.routing(config);
        let ids: Vec<_> =
            modes.iter().enumerate().map(|(number, mode)| topology.router(&format!("r{number}"), *mode)).collect();
        let link = || LinkConfig::new(Rate::from_mbit(100), Duration::from_millis(1));
        for (number, &(a, b)) in links.iter().enumerate() {
            topology.link(&format!("l{number}"), ids[a], ids[b], link(), link());
        }
        let mut end = |name: &str, router: usize| {
            let host = topology.host(name);
            let interface = topology.interface(host, "eth");
            topology.link(name, interface, ids[router], link(), link());
            interface
        };
        let (client, server) = (end("client", 0), end("server", modes.len() - 1));
        if single_way {
            topology.single_way_to(server);
        }
        let network = topology.build(7).expect("a valid topology");
        Self { network, sink: Sink::default(), client, server, core: (0..links.len()).collect() }
    }

    /// Sends a segment of subflow `port`, to the server or back. Returns the links between routers that it used.
    pub(crate) fn send(
        &mut self,
        port: u16,
        back: bool,
        flags: TcpFlags,
        option: Option<MptcpOption>,
    ) -> BTreeSet<usize> {
        let before = self.hops();
        let (from, to) = if back { (self.server, self.client) } else { (self.client, self.server) };
        let address = |interface| self.network.addresses(interface)[0];
        let mut segment = TcpSegment { source_port: port, destination_port: 80, flags, ..TcpSegment::default() };
        if back {
            core::mem::swap(&mut segment.source_port, &mut segment.destination_port);
        }
        segment.options.mptcp.extend(option);
        let ip = IpHeader {
            source: address(from),
            destination: address(to),
            hop_limit: 64,
            dscp: Dscp::DEFAULT,
            ecn: Ecn::NotEct,
        };
        let host = self.network.host_of(from);
        self.network.transmit(host, from, Packet { ip, body: Body::Tcp(segment) });
        let end = self.network.now() + Duration::from_secs(1);
        self.network.run_until(&mut self.sink, end);
        let after = self.hops();
        self.core.iter().copied().filter(|&link| after[link] > before[link]).collect()
    }

    fn hops(&self) -> Vec<u64> {
        let packets = |direction| self.network.link_metrics(LinkId::from_index(direction)).packets;
        self.core.iter().map(|link| packets(2 * link) + packets(2 * link + 1)).collect()
    }

    /// Opens a connection with `joins` joins. Returns the links used by the SYN of each subflow.
    pub(crate) fn open(&mut self, joins: u16) -> Vec<BTreeSet<usize>> {
        let capable = |sender_key| {
            let flags = CapableFlags::default();
            MptcpOption::Capable(Capable {
                version: 1,
                flags,
                sender_key,
                receiver_key: None,
                data_length: None,
                checksum: None,
            })
        };
        let mut paths = vec![self.send(1000, false, TcpFlags::SYN, Some(capable(None)))];
        self.send(1000, true, TcpFlags::SYN | TcpFlags::ACK, Some(capable(Some(KEY))));
        for join in 1..=joins {
            let option = Join::Syn { backup: false, address_id: 0, token: token_of(KEY), nonce: 1 };
            paths.push(self.send(1000 + join, false, TcpFlags::SYN, Some(MptcpOption::Join(option))));
        }
        paths
    }

    /// The links used by data of subflow `number` and by its acknowledgments.
    pub(crate) fn both_directions(&mut self, number: u16) -> [BTreeSet<usize>; 2] {
        [false, true].map(|back| self.send(1000 + number, back, TcpFlags::ACK, None))
    }
}
