//! Whole networks with simple hosts.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use subflow_network::{
    Direction, InterfaceId, LinkConfig, LinkId, Passage, QueueConfig, RouteMetric, RouterId, RouterMode, Tap,
    TopologyBuilder,
};
use subflow_quantity::{Duration, Rate};
use subflow_wire::Packet;

use crate::support::random_network::scenario;
use crate::support::{Recorder, ms, number, packet, send, us};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn every_packet_is_delivered_dropped_or_in_flight(scenario in scenario()) {
        let metrics = scenario.run(true, 1).0.network;
        prop_assert_eq!(
            metrics.transmitted + metrics.duplicated,
            metrics.delivered + metrics.dropped + metrics.in_flight
        );
    }

    #[test]
    fn the_same_seed_gives_the_same_run(scenario in scenario()) {
        prop_assert_eq!(scenario.run(true, 1), scenario.run(true, 1));
    }
}

fn link(milliseconds: u64) -> LinkConfig {
    LinkConfig::new(Rate::from_mbit(100), Duration::from_millis(milliseconds))
}

/// a – r0 – r1 – b, and a detour from r0 over r2 and r3 to r1 with a smaller delay.
fn diamond(metric: RouteMetric) -> (TopologyBuilder, InterfaceId, InterfaceId) {
    let mut topology = TopologyBuilder::new();
    let (a, b) = (topology.host("a"), topology.host("b"));
    let (a, b) = (topology.interface(a, "eth"), topology.interface(b, "eth"));
    let r: Vec<_> = (0..4).map(|n| topology.router(&format!("r{n}"), RouterMode::ShortestPath)).collect();
    topology.link("a", a, r[0], link(1), link(1));
    topology.link("b", r[1], b, link(1), link(1));
    topology.link("short", r[0], r[1], link(10), link(10));
    for (name, from, to) in [("long1", 0, 2), ("long2", 2, 3), ("long3", 3, 1)] {
        topology.link(name, r[from], r[to], link(2), link(2));
    }
    topology.metric(metric);
    (topology, a, b)
}

#[test]
fn packets_take_the_path_of_fewest_links_or_of_least_delay() {
    for (metric, hops, delay) in [(RouteMetric::Hops, 3, 12), (RouteMetric::Delay, 5, 8)] {
        let (topology, a, b) = diamond(metric);
        let mut network = topology.build(1).unwrap();
        let mut hosts = Recorder::default();
        send(&mut network, a, b, 0, 1500);
        network.run_until(&mut hosts, ms(100));
        assert_eq!(hosts.times(), [delay * 1_000_000 + hops * 120_000]);
        assert_eq!(network.metrics().packet_hops, hops);
        assert_eq!(network.path_delay(a, b), Some(Duration::from_millis(delay)));
    }
}

/// The links of [`diamond`] in order, and its routers.
const B: LinkId = LinkId::from_index(2);
const LONG_1: LinkId = LinkId::from_index(2 * 3);
const LONG_2: LinkId = LinkId::from_index(2 * 4);
const R0: RouterId = RouterId::from_index(0);
const R2: RouterId = RouterId::from_index(2);

#[test]
fn a_static_route_overrides_the_shortest_path() {
    let (mut topology, a, b) = diamond(RouteMetric::Hops);
    topology.route(R0, b, LONG_1);
    topology.route(R2, b, LONG_2);
    let network = topology.build(1).unwrap();
    assert_eq!(network.path_delay(a, b), Some(Duration::from_millis(8)));
}

#[test]
fn a_static_route_must_start_at_its_router() {
    let (mut topology, _, b) = diamond(RouteMetric::Hops);
    topology.route(R0, b, B);
    let error = topology.build(1).err().unwrap();
    assert_eq!(error.to_string(), "router 'r0' cannot send over link 'b', which does not start there");
}

#[test]
fn route_loops_are_refused() {
    // From r2 the shortest path to b leads back to r0.
    let (mut topology, _, b) = diamond(RouteMetric::Hops);
    topology.route(R0, b, LONG_1);
    let error = topology.build(1).err().unwrap().to_string();
    assert!(error.starts_with("routes to interface 'b.eth' form a loop through router 'r"), "{error}");
}

#[test]
fn one_flow_stays_in_order_over_many_hops() {
    let (topology, a, b) = diamond(RouteMetric::Delay);
    let mut network = topology.build(1).unwrap();
    let mut hosts = Recorder::default();
    for number in 0..1000 {
        send(&mut network, a, b, number, 28 + number % 1400);
    }
    network.run_until(&mut hosts, ms(1000));
    assert!(hosts.numbers().into_iter().eq(0..1000));
}

#[test]
fn the_order_of_arrivals_at_the_same_instant_varies() {
    // Two senders on equal links to one router, whose queue has space for one of the two packets that come each time.
    let mut topology = TopologyBuilder::new();
    let router = topology.router("r", RouterMode::ShortestPath);
    let sink = topology.host("sink");
    let sink = topology.interface(sink, "eth");
    let thin = LinkConfig::new(Rate::from_mbit(100), Duration::ZERO).with_queue(QueueConfig::packets(1));
    topology.link("sink", router, sink, thin, link(1));
    let mut senders = Vec::new();
    for name in ["s0", "s1"] {
        let host = topology.host(name);
        let interface = topology.interface(host, "eth");
        topology.link(name, interface, router, link(1), link(1));
        senders.push(interface);
    }
    let mut network = topology.build(1).unwrap();
    let mut hosts = Recorder::default();
    for round in 0..1000 {
        send(&mut network, senders[0], sink, 2 * round, 1500);
        send(&mut network, senders[1], sink, 2 * round + 1, 1500);
    }
    network.run_until(&mut hosts, ms(1000));
    let first = hosts.numbers().iter().filter(|&number| number % 2 == 0).count();
    assert_eq!(hosts.arrivals.len(), 1000);
    assert!((400..600).contains(&first), "{first}");
}

#[test]
fn unreachable_hosts_are_named() {
    let mut topology = TopologyBuilder::new();
    let (a, b, c) = (topology.host("phone"), topology.host("tablet"), topology.host("server"));
    let (ai, bi, ci) = (topology.interface(a, "w"), topology.interface(b, "w"), topology.interface(c, "eth"));
    let (r, s) = (topology.router("r", RouterMode::ShortestPath), topology.router("s", RouterMode::ShortestPath));
    topology.link("a", ai, r, link(1), link(1));
    topology.link("b", bi, r, link(1), link(1));
    topology.link("c", ci, s, link(1), link(1));
    let error = topology.clone().build(1).err().unwrap();
    assert_eq!(error.to_string(), "no path leads from host 'phone' to host 'server'");

    topology.conversation(a, b);
    let mut network = topology.build(1).unwrap();
    let mut hosts = Recorder::default();
    send(&mut network, ai, bi, 0, 100);
    send(&mut network, ai, ci, 1, 100);
    network.run_until(&mut hosts, ms(100));
    assert_eq!(hosts.numbers(), [0]);
    let metrics = network.metrics();
    assert_eq!((metrics.dropped, metrics.dropped_unroutable), (1, 1));
}

#[test]
fn errors_in_a_topology_name_their_cause() {
    let build = |describe: &dyn Fn(&mut TopologyBuilder, InterfaceId, InterfaceId)| {
        let mut topology = TopologyBuilder::new();
        let (a, b) = (topology.host("a"), topology.host("b"));
        let (a, b) = (topology.interface(a, "eth"), topology.interface(b, "eth"));
        describe(&mut topology, a, b);
        topology.build(1).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(build(&|_, _, _| {}), "interface 'eth' of host 'a' is not connected to a link");
    assert_eq!(
        build(&|topology, a, b| {
            topology.link("one", a, b, link(1), link(1));
            topology.link("two", a, b, link(1), link(1));
        }),
        "interface 'eth' of host 'a' is on two links, 'one' and 'two'"
    );
    assert_eq!(
        build(&|topology, a, b| {
            topology.link("one", a, b, link(1), LinkConfig::new(Rate::from_mbit(0), Duration::ZERO));
        }),
        "link 'one' has a rate of zero"
    );
    assert_eq!(
        build(&|topology, a, b| {
            topology.link("one", a, b, link(1), link(1));
            topology.address(a, "192.0.2.1".parse().unwrap());
            topology.address(b, "192.0.2.1".parse().unwrap());
        }),
        "address 192.0.2.1 is on two interfaces, 'a.eth' and 'b.eth'"
    );
    assert_eq!(
        build(&|topology, a, b| {
            topology.link("one", a, b, link(1), link(1));
            topology.host("a");
        }),
        "there are two hosts named 'a'"
    );
}

#[test]
fn interfaces_are_chosen_by_source_address_and_found_by_any_of_their_addresses() {
    let mut topology = TopologyBuilder::new();
    let (a, b) = (topology.host("a"), topology.host("b"));
    let (a0, a1, b0) = (topology.interface(a, "0"), topology.interface(a, "1"), topology.interface(b, "0"));
    let r = topology.router("r", RouterMode::ShortestPath);
    for (n, interface) in [a0, a1, b0].into_iter().enumerate() {
        topology.link(&format!("l{n}"), interface, r, link(1), link(1));
    }
    let (v6, second): (IpAddr, IpAddr) = ("2001:db8::1".parse().unwrap(), "10.9.9.9".parse().unwrap());
    topology.address(b0, v6);
    topology.address(b0, second);
    let mut network = topology.build(1).unwrap();
    assert_eq!(network.addresses(a1), ["10.0.1.1".parse::<IpAddr>().unwrap()]);
    assert_eq!(network.addresses(b0), [v6, second]);
    assert_eq!(network.interface_with(a, network.addresses(a1)[0]), Some(a1));
    assert_eq!(network.interface_with(b, network.addresses(a1)[0]), None);
    let mut hosts = Recorder::default();
    network.transmit(a, a0, packet("2001:db8::2".parse().unwrap(), v6, 0, 100));
    network.transmit(a, a1, packet(network.addresses(a1)[0], second, 1, 100));
    network.transmit(a, a1, packet(network.addresses(a1)[0], "10.200.0.1".parse().unwrap(), 2, 100));
    network.run_until(&mut hosts, ms(10));
    let mut numbers = hosts.numbers();
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 1]);
    assert_eq!(network.metrics().dropped_unroutable, 1);
}

#[test]
fn timers_expire_in_order_and_after_packets_of_the_same_instant() {
    let (topology, a, b) = diamond(RouteMetric::Hops);
    let mut network = topology.build(1).unwrap();
    let mut hosts = Recorder::default();
    let timers: Vec<_> = (0..3).map(|_| network.new_timer()).collect();
    network.set_timer(timers[0], Some(us(30)));
    network.set_timer(timers[1], Some(us(10)));
    network.set_timer(timers[2], Some(us(20)));
    network.set_timer(timers[2], None);
    assert_eq!(network.timer_deadline(timers[2]), None);
    send(&mut network, a, b, 7, 1500);
    network.run_until(&mut hosts, ms(100));
    assert_eq!(hosts.timers, [(10_000, timers[1]), (30_000, timers[0])]);
    network.set_timer(timers[0], Some(us(1)));
    network.run_until(&mut hosts, ms(100));
    assert_eq!(hosts.timers[2], (100_000_000, timers[0]), "a deadline in the past expires now");
}

type Seen = Arc<Mutex<Vec<(u64, InterfaceId, Direction, u32, u16)>>>;

struct RecordingTap(Seen);

impl Tap for RecordingTap {
    fn packet(&mut self, passage: Passage, packet: &Packet, mark: &mut u16) {
        let Passage { time, interface, direction, .. } = passage;
        if direction == Direction::Out {
            *mark = 1000 + number(packet) as u16;
        }
        self.0.lock().unwrap().push((time.as_nanos(), interface, direction, number(packet), *mark));
    }
}

#[test]
fn a_tap_records_what_its_interfaces_send_and_receive() {
    let (topology, a, b) = diamond(RouteMetric::Hops);
    let mut network = topology.build(1).unwrap();
    let mut hosts = Recorder { answer_below: 100, ..Recorder::default() };
    let seen = Seen::default();
    network.set_tap(&[a], Box::new(RecordingTap(seen.clone())));
    send(&mut network, a, b, 1, 1500);
    network.run_until(&mut hosts, ms(100));
    assert!(network.take_tap().is_some());
    send(&mut network, a, b, 2, 1500);
    network.run_until(&mut hosts, ms(200));
    let there = 12_000_000 + 360_000;
    let back = 12_000_000 + 3 * 4_800;
    let expected = [(0, a, Direction::Out, 1, 1001), (there + back, a, Direction::In, 101, 0)];
    assert_eq!(*seen.lock().unwrap(), expected, "the answer of the other host, which has no tap, has no mark");
}

#[test]
fn a_packet_and_its_copy_arrive_with_the_mark_that_they_were_sent_with() {
    let mut topology = TopologyBuilder::new();
    let hosts = ["a", "b"].map(|name| topology.host(name));
    let [a, b] = hosts.map(|host| topology.interface(host, "eth"));
    let doubled = || LinkConfig { duplication: subflow_network::Probability::ALWAYS, ..link(1) };
    topology.link("link", a, b, doubled(), doubled());
    let mut network = topology.build(1).unwrap();
    let seen = Seen::default();
    network.set_tap(&[a, b], Box::new(RecordingTap(seen.clone())));
    for number in 1..4 {
        send(&mut network, a, b, number, 1500);
    }
    network.run_until(&mut Recorder::default(), ms(100));
    let seen = seen.lock().unwrap();
    let arrived: Vec<_> = seen.iter().filter(|seen| seen.1 == b).map(|seen| (seen.3, seen.4)).collect();
    assert_eq!(arrived, [(1, 1001), (1, 1001), (2, 1002), (2, 1002), (3, 1003), (3, 1003)]);
}

#[test]
fn running_from_event_to_event_misses_no_event() {
    let run = |step_by_step: bool| {
        let (topology, a, b) = diamond(RouteMetric::Delay);
        let mut network = topology.build(1).unwrap();
        let mut hosts = Recorder::default();
        for number in 0..5 {
            send(&mut network, a, b, number, 1500);
        }
        while step_by_step && let Some(next) = network.next_event() {
            assert!(next > network.now(), "the time increases");
            network.run_until(&mut hosts, next);
        }
        network.run_until(&mut hosts, ms(100));
        assert_eq!(network.next_event(), None);
        hosts.times()
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn packets_of_an_address_with_a_gateway_pass_it_in_both_directions() {
    // Packets of the phone's first address take the short path, those of the second one pass the relay.
    let mut topology = TopologyBuilder::new();
    let (phone, server) = (topology.host("phone"), topology.host("server"));
    let (radio, eth) = (topology.interface(phone, "radio"), topology.interface(server, "eth"));
    let addresses: [std::net::IpAddr; 2] = [[10, 1, 0, 1].into(), [10, 1, 0, 2].into()];
    addresses.iter().for_each(|&address| topology.address(radio, address));
    let [near, relay, far] = ["near", "relay", "far"].map(|name| topology.router(name, RouterMode::ShortestPath));
    topology.link("radio", radio, near, link(1), link(1));
    topology.link("short", near, far, link(1), link(1));
    topology.link("up", near, relay, link(20), link(20));
    topology.link("on", relay, far, link(20), link(20));
    topology.link("eth", far, eth, link(1), link(1));
    topology.gateway(addresses[1], relay);
    let mut network = topology.build(1).expect("a valid topology");
    let to = network.addresses(eth)[0];
    let mut hosts = Recorder { answer_below: 10, ..Recorder::default() };
    for (number, &address) in addresses.iter().enumerate() {
        network.transmit(phone, radio, packet(address, to, number as u32, 100));
    }
    network.run_until(&mut hosts, ms(1000));
    let arrivals: Vec<(u64, u32)> = hosts.arrivals.iter().map(|&(at, _, number)| (at / 1_000_000, number)).collect();
    assert_eq!(arrivals, [(3, 0), (6, 10), (42, 1), (84, 11)]);
}

#[test]
fn gateways_require_routers_that_follow_their_tables() {
    let mut topology = TopologyBuilder::new();
    let (phone, server) = (topology.host("phone"), topology.host("server"));
    let (radio, eth) = (topology.interface(phone, "radio"), topology.interface(server, "eth"));
    let address = [10, 1, 0, 1].into();
    topology.address(radio, address);
    let router = topology.router("turns", RouterMode::EcmpPacket);
    topology.link("radio", radio, router, link(1), link(1));
    topology.link("eth", router, eth, link(1), link(1));
    topology.gateway(address, router);
    let error = topology.build(1).err().expect("a router that chooses for each packet").to_string();
    assert_eq!(error, "packets of 10.1.0.1 cannot pass a gateway: router 'turns' does not follow its tables");
}
