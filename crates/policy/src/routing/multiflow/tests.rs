use std::net::SocketAddr;

use super::*;

/// A graph similar to two pods of a fat tree: edge switches 0 and 1, connected through switches 2 to 5.
fn four_ways() -> Graph {
    let mut graph = Graph::new(6);
    for middle in 0..4 {
        graph.add_link(2 * middle, 0, 2 + middle, [0; 2]);
        graph.add_link(2 * middle + 1, 2 + middle, 1, [0; 2]);
    }
    graph
}

/// The path over switch 2 + `middle`.
fn way(middle: u32) -> Path {
    vec![4 * middle, 4 * middle + 2]
}

fn flow(port: u16) -> FlowKey {
    let end = |host, port| SocketAddr::from(([10, 0, 0, host], port));
    FlowKey { source: end(1, port), destination: end(2, 80), protocol: 6 }
}

fn request(port: u16, signal: Signal) -> Request {
    Request { flow: flow(port), signal, from: 0, to: 1, random: u64::from(port) }
}

/// Opens a connection from `port` whose server has `key`, with `joins` joins. Returns the paths of all subflows.
fn open(controller: &mut Multiflow, port: u16, key: u64, joins: u16) -> Vec<Path> {
    let mut paths = vec![controller.route(request(port, Signal::Capable)).expect("a path")];
    let reply = Request { flow: flow(port).reversed(), from: 1, to: 0, ..request(port, Signal::CapableReply { key }) };
    controller.route(reply);
    for join in 1..=joins {
        let token = token_of(key);
        paths.push(controller.route(request(port + join, Signal::Join { token })).expect("a path"));
    }
    paths
}

#[test]
fn as_published_the_first_join_shares_the_path_of_the_initial_subflow() {
    let mut controller = Multiflow::new(four_ways(), MultiflowOptions::PUBLISHED);
    assert_eq!(open(&mut controller, 1000, 7, 2), [way(0), way(0), way(1)]);
}

#[test]
fn as_published_every_connection_takes_the_same_paths() {
    let mut controller = Multiflow::new(four_ways(), MultiflowOptions::PUBLISHED);
    let first = open(&mut controller, 1000, 7, 3);
    assert_eq!(open(&mut controller, 2000, 8, 3), first);
}

#[test]
fn an_exhausted_topology_is_reset() {
    let mut controller = Multiflow::new(four_ways(), MultiflowOptions::PUBLISHED);
    let paths = open(&mut controller, 1000, 7, 6);
    assert_eq!(paths[1..], [way(0), way(1), way(2), way(3), way(0), way(1)]);
}

#[test]
fn with_the_servers_key_the_initial_subflow_is_included() {
    let options = MultiflowOptions { initial: InitialSubflow::Included, ..MultiflowOptions::PUBLISHED };
    let mut controller = Multiflow::new(four_ways(), options);
    assert_eq!(open(&mut controller, 1000, 7, 3), [way(0), way(1), way(2), way(3)]);
}

#[test]
fn an_initial_subflow_on_the_default_route_is_not_placed_and_joins_do_not_know_of_it() {
    let options = MultiflowOptions { initial: InitialSubflow::DefaultRoute, ..MultiflowOptions::PUBLISHED };
    let mut controller = Multiflow::new(four_ways(), options);
    assert_eq!(controller.route(request(1000, Signal::Capable)), None);
    let joins = [1001, 1002].map(|port| controller.route(request(port, Signal::Join { token: token_of(7) })));
    assert_eq!(joins, [Some(way(0)), Some(way(1))]);
}

#[test]
fn load_spreads_connections_evenly() {
    let options = MultiflowOptions { ties: Ties::LeastLoaded, ..MultiflowOptions::PUBLISHED };
    let mut controller = Multiflow::new(four_ways(), options);
    let mut firsts: Vec<Path> =
        (0..4).map(|n| controller.route(request(1000 + n, Signal::Capable)).expect("a path")).collect();
    firsts.sort();
    assert_eq!(firsts, [way(0), way(1), way(2), way(3)]);
}

#[test]
fn random_ties_use_every_path() {
    let options = MultiflowOptions { ties: Ties::Random, ..MultiflowOptions::PUBLISHED };
    let mut controller = Multiflow::new(four_ways(), options);
    let mut counts = [0; 4];
    for port in 0..400 {
        let path = controller.route(request(port, Signal::Capable)).expect("a path");
        counts[path[0] as usize / 4] += 1;
    }
    assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
}

#[test]
fn a_retransmitted_syn_and_the_reverse_direction_stay_on_the_path() {
    let mut controller = Multiflow::new(four_ways(), MultiflowOptions::IMPROVED);
    let paths = open(&mut controller, 1000, 7, 1);
    let again = controller.route(request(1001, Signal::Join { token: token_of(7) }));
    assert_eq!(again.as_ref(), Some(&paths[1]));
    assert_ne!(paths[0], paths[1], "the token is learned from the SYN/ACK although the flow already has a path");
    let backwards: Path = paths[1].iter().rev().map(|edge| edge ^ 1).collect();
    assert_eq!(controller.path_of(flow(1001).reversed()), Some(backwards));
    let published = Multiflow::new(four_ways(), MultiflowOptions::PUBLISHED);
    assert_eq!(
        published.path_of(flow(1001).reversed()),
        None,
        "as published, the reverse direction takes the default route"
    );
}

#[test]
fn packets_without_mptcp_take_the_default_route() {
    let mut controller = Multiflow::new(four_ways(), MultiflowOptions::IMPROVED);
    assert_eq!(controller.route(request(1000, Signal::None)), None);
}

#[test]
fn after_a_link_failure_a_subflow_moves_to_a_path_that_no_sibling_uses() {
    let options = MultiflowOptions { initial: InitialSubflow::Included, ..MultiflowOptions::PUBLISHED };
    let mut controller = Multiflow::new(four_ways(), options);
    open(&mut controller, 1000, 7, 2);
    controller.set_down(way(1)[1], true);
    controller.reroute(0);
    let now = |controller: &Multiflow, port| controller.path_of(flow(port)).expect("a path");
    assert_eq!([1000, 1001, 1002].map(|port| now(&controller, port)), [way(0), way(3), way(2)]);
    controller.set_down(way(3)[0], true);
    controller.reroute(0);
    let shared = now(&controller, 1001);
    assert!(shared == way(0) || shared == way(2), "a shared path is better than none: {shared:?}");
}

#[test]
fn after_a_repair_subflows_that_share_a_path_get_one_each_and_others_stay() {
    let mut controller = Multiflow::new(four_ways(), MultiflowOptions { set: 1, ..MultiflowOptions::IMPROVED });
    open(&mut controller, 1000, 7, 2);
    let now = |controller: &Multiflow| [1000, 1001, 1002].map(|port| controller.path_of(flow(port)).expect("a path"));
    let shares = |paths: &[Path; 3]| paths[0] == paths[1] || paths[1] == paths[2] || paths[0] == paths[2];
    for down in [true, false] {
        let before = now(&controller);
        controller.set_down(way(0)[1], down);
        controller.set_down(way(1)[0], down);
        controller.reroute(3);
        let moved = now(&controller).iter().zip(&before).filter(|(now, before)| now != before).count();
        assert!(shares(&now(&controller)) == down && (down || moved == 1), "{before:?}, {:?}", now(&controller));
    }
    let apart = now(&controller);
    controller.reroute(4);
    assert_eq!(now(&controller), apart);
}

#[test]
fn the_links_of_a_flow_that_ended_are_free_for_its_connection() {
    let mut controller = Multiflow::new(four_ways(), MultiflowOptions { set: 1, ..MultiflowOptions::IMPROVED });
    let paths = open(&mut controller, 1000, 7, 3);
    controller.forget(flow(1002));
    let again = controller.route(request(1004, Signal::Join { token: token_of(7) }));
    assert_eq!(again.as_ref(), Some(&paths[2]), "the only path that no other subflow uses");
    for port in [1000, 1001, 1003, 1004] {
        controller.forget(flow(port));
    }
    assert_eq!(controller.connections(), [0, 0]);
    assert_eq!(controller.load, vec![0; controller.load.len()]);
}

#[test]
fn a_half_open_connection_is_forgotten_with_its_flow() {
    let mut controller = Multiflow::new(four_ways(), MultiflowOptions::IMPROVED);
    controller.route(request(1000, Signal::Capable));
    assert_eq!(controller.connections(), [0, 1]);
    controller.forget(flow(1000));
    assert_eq!(controller.connections(), [0, 0]);
}

#[test]
fn joins_avoid_the_paths_of_adopted_subflows() {
    let mut controller =
        Multiflow::new(four_ways(), MultiflowOptions { ties: Ties::First, ..MultiflowOptions::IMPROVED });
    controller.adopt(flow(1000), [0, 1], way(0), Some(token_of(7)));
    assert_eq!(controller.path_of(flow(1000)), Some(way(0)));
    let joined = controller.route(request(1001, Signal::Join { token: token_of(7) }));
    assert_eq!(joined, Some(way(1)));
}

#[test]
fn a_link_that_was_found_later_is_used_and_nothing_else_changes() {
    let mut small = Graph::new(6);
    small.add_link(0, 0, 2, [0; 2]);
    small.add_link(1, 2, 1, [0; 2]);
    let mut controller = Multiflow::new(small, MultiflowOptions::IMPROVED);
    let [first, shared] = [1000, 1001].map(|port| controller.route(request(port, Signal::Join { token: 5 })));
    assert_eq!((first, shared), (Some(way(0)), Some(way(0))));
    controller.extend(four_ways());
    assert_eq!(controller.path_of(flow(1000)), Some(way(0)));
    let later = controller.route(request(1002, Signal::Join { token: 5 })).expect("a path");
    assert!(!later.contains(&way(0)[0]), "{later:?}");
}

#[test]
fn other_traffic_counts_like_subflows() {
    let mut controller = Multiflow::new(four_ways(), MultiflowOptions { set: 1, ..MultiflowOptions::IMPROVED });
    [0, 1, 3].iter().for_each(|&middle| controller.set_background(way(middle)[0], 3));
    let paths = [1000, 2000].map(|port| controller.route(request(port, Signal::Capable)));
    assert_eq!(paths, [Some(way(2)), Some(way(2))], "a subflow on two links is less than three");
}

#[test]
fn random_ties_spread_the_subflows_of_a_failed_link() {
    let options = MultiflowOptions { ties: Ties::Random, ..MultiflowOptions::PUBLISHED };
    let mut controller = Multiflow::new(four_ways(), options);
    let ports = 1000..1200;
    let path_of = |controller: &Multiflow, port| controller.path_of(flow(port)).expect("a path");
    ports.clone().for_each(|port| drop(controller.route(request(port, Signal::Capable))));
    let displaced: Vec<u16> = ports.filter(|&port| path_of(&controller, port) == way(0)).collect();
    controller.set_down(way(0)[0], true);
    controller.reroute(9);
    for middle in 1..4 {
        let count = displaced.iter().filter(|&&port| path_of(&controller, port) == way(middle)).count();
        assert!(count > displaced.len() / 6, "{count} of {} over {middle}", displaced.len());
    }
}
