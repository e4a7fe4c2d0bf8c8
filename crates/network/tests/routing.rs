//! Routing as packets see it: real MPTCP handshakes go through the network, and what counts is which links were used.

mod support;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;
use subflow_network::{
    HostId, Hosts, InterfaceId, LinkChange, LinkConfig, LinkId, Network, PacketId, RouterMode, RoutingConfig, Shape,
    ShapeEnd, TimerId, TopologyBuilder,
};
use subflow_policy::routing::{MultiflowOptions, ReturnPath, token_of};
use subflow_quantity::{Duration, Instant, Rate};
use subflow_wire::tcp::TcpFlags;
use subflow_wire::tcp::mptcp::{Capable, CapableFlags, Join, MptcpOption};
use subflow_wire::{Body, Ecn, IpHeader, Packet, TcpSegment};

/// Hosts that only count what arrives.
#[derive(Default)]
struct Sink {
    arrived: u32,
}

impl Hosts for Sink {
    fn handle_packet(&mut self, network: &mut Network, _: HostId, _: InterfaceId, packet: PacketId) {
        network.release(packet);
        self.arrived += 1;
    }

    fn handle_timer(&mut self, _: &mut Network, _: TimerId) {}
}

/// A network with one host at each end of what is tested.
struct Lab {
    network: Network,
    sink: Sink,
    client: InterfaceId,
    server: InterfaceId,
    /// The links between routers.
    core: Vec<usize>,
}

const KEY: u64 = 0x1234_5678_9abc_def0;

impl Lab {
    /// Routers below `routers` with `links` between them; the client at router 0, the server at the last one.
    fn new(routers: usize, links: &[(usize, usize)], mode: RouterMode, config: RoutingConfig) -> Self {
        let mut topology = TopologyBuilder::new();
        topology.routing(config);
        let ids: Vec<_> = (0..routers).map(|number| topology.router(&format!("r{number}"), mode)).collect();
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
        let (client, server) = (end("client", 0), end("server", routers - 1));
        let network = topology.build(7).expect("a valid topology");
        Self { network, sink: Sink::default(), client, server, core: (0..links.len()).collect() }
    }

    /// Sends a segment of subflow `port`, to the server or back, and tells which links between routers it took.
    fn send(&mut self, port: u16, back: bool, flags: TcpFlags, option: Option<MptcpOption>) -> BTreeSet<usize> {
        let before = self.hops();
        let (from, to) = if back { (self.server, self.client) } else { (self.client, self.server) };
        let address = |interface| self.network.addresses(interface)[0];
        let mut segment = TcpSegment { source_port: port, destination_port: 80, flags, ..TcpSegment::default() };
        if back {
            core::mem::swap(&mut segment.source_port, &mut segment.destination_port);
        }
        segment.options.mptcp.extend(option);
        let ip = IpHeader { source: address(from), destination: address(to), hop_limit: 64, ecn: Ecn::NotEct };
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

    /// Opens a connection with `joins` joins: what the SYN of each subflow took.
    fn open(&mut self, joins: u16) -> Vec<BTreeSet<usize>> {
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

    /// What data of subflow `number` takes, and what its acknowledgments take.
    fn both_ways(&mut self, number: u16) -> [BTreeSet<usize>; 2] {
        [false, true].map(|back| self.send(1000 + number, back, TcpFlags::ACK, None))
    }
}

fn multiflow(options: MultiflowOptions) -> RoutingConfig {
    RoutingConfig { multiflow: options, ..RoutingConfig::default() }
}

/// How many paths without a common link lead from router 0 to the last one: Ford and Fulkerson with breadth-first
/// search over units of flow, written for this test alone.
fn max_flow(routers: usize, links: &[(usize, usize)]) -> usize {
    let mut room: BTreeMap<(usize, usize), i32> = BTreeMap::new();
    for &(a, b) in links {
        *room.entry((a, b)).or_default() += 1;
        *room.entry((b, a)).or_default() += 1;
    }
    let mut flow = 0;
    loop {
        let mut before = vec![None; routers];
        let mut queue = VecDeque::from([0]);
        while let Some(at) = queue.pop_front() {
            for (next, reached_from) in before.iter_mut().enumerate().skip(1) {
                if reached_from.is_none() && room.get(&(at, next)).is_some_and(|&left| left > 0) {
                    *reached_from = Some(at);
                    queue.push_back(next);
                }
            }
        }
        let mut at = routers - 1;
        while let Some(previous) = before[at] {
            *room.entry((previous, at)).or_default() -= 1;
            *room.entry((at, previous)).or_default() += 1;
            at = previous;
        }
        if at != 0 {
            return flow;
        }
        flow += 1;
    }
}

/// A connected network of up to ten routers: a random tree, and some links more.
fn random_links() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    (3usize..10).prop_flat_map(|routers| {
        let tree: Vec<_> = (1..routers).map(|router| (0..router).prop_map(move |up| (up, router))).collect();
        let more = proptest::collection::vec((0..routers, 0..routers), 0..14);
        (Just(routers), tree, more).prop_map(|(routers, tree, more)| {
            let links = tree.into_iter().chain(more.into_iter().filter(|(a, b)| a != b)).collect();
            (routers, links)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn as_many_subflows_are_disjoint_as_can_be((routers, links) in random_links(), set in 2usize..5) {
        let options = MultiflowOptions { set, ..MultiflowOptions::IMPROVED };
        let mut lab = Lab::new(routers, &links, RouterMode::Multiflow, multiflow(options));
        let possible = max_flow(routers, &links).min(set);
        let paths = lab.open(4);
        prop_assert_eq!(lab.sink.arrived, 6, "every handshake packet arrives");
        for a in 0..possible {
            for b in 0..a {
                prop_assert!(paths[a].is_disjoint(&paths[b]), "{:?} of {possible} over {:?}", &paths, &links);
            }
        }
        for number in 0..5 {
            let [forth, back] = lab.both_ways(number);
            prop_assert_eq!(&forth, &paths[usize::from(number)]);
            prop_assert_eq!(&forth, &back);
        }
    }

    #[test]
    fn as_published_joins_are_disjoint_until_nothing_is_left((routers, links) in random_links()) {
        let mut lab = Lab::new(routers, &links, RouterMode::Multiflow, multiflow(MultiflowOptions::PUBLISHED));
        let paths = lab.open(6);
        let exhausted = (2..=6).find(|&join| (1..join).any(|other| !paths[join].is_disjoint(&paths[other])));
        if let Some(join) = exhausted {
            // The rest of the network, without the paths of the joins before, has no path left.
            let used: BTreeSet<usize> = paths[1..join].iter().flatten().copied().collect();
            let left: Vec<_> = (0..links.len()).filter(|link| !used.contains(link)).map(|link| links[link]).collect();
            prop_assert_eq!(max_flow(routers, &left), 0);
            prop_assert_eq!(&paths[join], &paths[1], "the topology begins anew");
        }
        prop_assert_eq!(&paths[0], &paths[1], "the initial subflow is not known to the joins");
    }

    #[test]
    fn a_failed_link_is_routed_around((routers, links) in random_links()) {
        for (mode, options) in [
            (RouterMode::ShortestPath, MultiflowOptions::PUBLISHED),
            (RouterMode::EcmpFlow, MultiflowOptions::PUBLISHED),
            (RouterMode::EcmpPacket, MultiflowOptions::PUBLISHED),
            (RouterMode::Multiflow, MultiflowOptions::IMPROVED),
        ] {
            let config = RoutingConfig { multiflow: options, reroute_after: Some(Duration::from_millis(50)) };
            let mut lab = Lab::new(routers, &links, mode, config);
            let paths = lab.open(1);
            let Some(&cut) = paths[1].first() else { continue };
            let now = lab.network.now();
            for direction in [2 * cut, 2 * cut + 1] {
                lab.network.schedule_change(now, LinkId::from_index(direction), LinkChange::Down);
            }
            let end = now + Duration::from_millis(60);
            lab.network.run_until(&mut lab.sink, end);
            let arrived = lab.sink.arrived;
            let [forth, back] = lab.both_ways(1);
            let mut left = links.clone();
            left.remove(cut);
            let reachable = max_flow(routers, &left) > 0;
            prop_assert_eq!(lab.sink.arrived - arrived, if reachable { 2 } else { 0 }, "{:?}", mode);
            if reachable {
                prop_assert!(!forth.contains(&cut) && !back.contains(&cut));
            }
        }
    }
}

/// The links of a shape between its first and its last host, as [`Lab::new`] takes them: the first host's switch
/// becomes router 0, the last one's the last router.
fn links_of(shape: &Shape) -> (usize, Vec<(usize, usize)>) {
    let mut ends = Vec::new();
    let mut links = Vec::new();
    for link in &shape.links {
        match link.from {
            ShapeEnd::Host(_) => ends.push(link.to),
            ShapeEnd::Switch(from) => links.push((from, link.to)),
        }
    }
    let routers = shape.switches.len();
    let swap = |a: usize, b: usize, at: usize| {
        if at == a {
            b
        } else if at == b {
            a
        } else {
            at
        }
    };
    let last = swap(ends[0], 0, ends[ends.len() - 1]);
    let place = |at| swap(last, routers - 1, swap(ends[0], 0, at));
    (routers, links.into_iter().map(|(a, b)| (place(a), place(b))).collect())
}

#[test]
fn named_topologies_have_the_disjoint_paths_that_they_are_known_for() {
    for (shape, paths) in [
        (Shape::fat_tree(4), 2),
        (Shape::fat_tree(8), 4),
        (Shape::leaf_spine(3, 5, 1), 5),
        (Shape::ring(6, 1), 2),
        (Shape::diamond(3, 1), 3),
        (Shape::dumbbell(1), 1),
        (Shape::trap(1), 2),
    ] {
        let (routers, links) = links_of(&shape);
        assert_eq!(max_flow(routers, &links), paths);
    }
}

#[test]
fn greed_misses_the_pair_of_the_trap_and_a_set_of_two_finds_it() {
    let (routers, links) = links_of(&Shape::trap(1));
    let disjoint = |set| {
        let options = MultiflowOptions { set, ..MultiflowOptions::IMPROVED };
        let paths = Lab::new(routers, &links, RouterMode::Multiflow, multiflow(options)).open(1);
        paths[0].is_disjoint(&paths[1])
    };
    assert_eq!((disjoint(1), disjoint(2)), (false, true));
}

#[test]
fn as_published_answers_take_the_default_route() {
    let (routers, links) = links_of(&Shape::ring(4, 1));
    let options = MultiflowOptions { return_path: ReturnPath::Default, ..MultiflowOptions::IMPROVED };
    let mut lab = Lab::new(routers, &links, RouterMode::Multiflow, multiflow(options));
    let paths = lab.open(1);
    let [_, back] = lab.both_ways(1);
    let [_, back_of_initial] = lab.both_ways(0);
    assert_eq!(back, back_of_initial);
    assert!(paths.contains(&back), "one of the two, {back:?}, of {paths:?}");
}

#[test]
fn ecmp_by_flow_spreads_flows_and_keeps_each_on_its_way() {
    let (routers, links) = links_of(&Shape::fat_tree(4));
    let mut lab = Lab::new(routers, &links, RouterMode::EcmpFlow, RoutingConfig::default());
    let mut ways = BTreeSet::new();
    for port in 0..40 {
        let way = lab.send(port, false, TcpFlags::SYN, None);
        assert_eq!((way.len(), lab.send(port, false, TcpFlags::ACK, None)), (4, way.clone()));
        ways.insert(way);
    }
    assert_eq!(ways.len(), 4, "forty flows find all four shortest ways");
}

#[test]
fn ecmp_by_packet_takes_ways_in_turn() {
    let (routers, links) = links_of(&Shape::diamond(3, 1));
    let mut lab = Lab::new(routers, &links, RouterMode::EcmpPacket, RoutingConfig::default());
    let ways: Vec<_> = (0..6).map(|_| lab.send(9, false, TcpFlags::ACK, None)).collect();
    assert_eq!(ways[..3], ways[3..]);
    assert_eq!(ways[..3].iter().collect::<BTreeSet<_>>().len(), 3);
}

#[test]
fn a_hash_chooses_the_same_way_whether_it_is_asked_once_or_at_each_hop() {
    let (routers, links) = links_of(&Shape::fat_tree(4));
    let mut per_flow = Lab::new(routers, &links, RouterMode::EcmpFlow, RoutingConfig::default());
    // The same network where one switch, which has no choice, would choose for each packet.
    let mut topology = TopologyBuilder::new();
    let last = routers - 1;
    let ids: Vec<_> = (0..routers)
        .map(|number| {
            topology.router(
                &format!("r{number}"),
                if number == last { RouterMode::EcmpPacket } else { RouterMode::EcmpFlow },
            )
        })
        .collect();
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
    let (client, server) = (end("client", 0), end("server", last));
    let network = topology.build(7).expect("a valid topology");
    let mut per_hop = Lab { network, sink: Sink::default(), client, server, core: (0..links.len()).collect() };
    for port in 0..40 {
        let way = per_flow.send(port, false, TcpFlags::SYN, None);
        assert_eq!(way, per_hop.send(port, false, TcpFlags::SYN, None));
        // Back, the last switch chooses for each packet, and those behind it by the flow's hash.
        assert_eq!(per_hop.send(port, true, TcpFlags::ACK, None).len(), 4);
    }
    let end = Instant::ZERO + Duration::from_secs(1000);
    per_hop.network.run_until(&mut per_hop.sink, end);
    assert_eq!(per_hop.sink.arrived, 80);
}
