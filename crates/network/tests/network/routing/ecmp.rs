//! Equal-cost multipath by flow and by packet.

use std::collections::BTreeSet;

use subflow_network::{RouterMode, RoutingConfig, Shape};
use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::TcpFlags;

use super::graphs::links_of;
use super::testbed::Testbed;

#[test]
fn ecmp_by_flow_spreads_flows_and_keeps_each_on_its_path() {
    let (routers, links) = links_of(&Shape::fat_tree(4));
    let mut testbed = Testbed::new(routers, &links, RouterMode::EcmpFlow, RoutingConfig::default());
    let mut paths = BTreeSet::new();
    for port in 0..40 {
        let path = testbed.send(port, false, TcpFlags::SYN, None);
        assert_eq!((path.len(), testbed.send(port, false, TcpFlags::ACK, None)), (4, path.clone()));
        paths.insert(path);
    }
    assert_eq!(paths.len(), 4, "forty flows use all four shortest paths");
}

#[test]
fn ecmp_by_packet_uses_paths_in_turn() {
    let (routers, links) = links_of(&Shape::diamond(3, 1));
    let mut testbed = Testbed::new(routers, &links, RouterMode::EcmpPacket, RoutingConfig::default());
    let paths: Vec<_> = (0..6).map(|_| testbed.send(9, false, TcpFlags::ACK, None)).collect();
    assert_eq!(paths[..3], paths[3..]);
    assert_eq!(paths[..3].iter().collect::<BTreeSet<_>>().len(), 3);
}

#[test]
fn traffic_to_a_host_with_a_single_way_takes_one_path_and_its_answers_all() {
    let (routers, links) = links_of(&Shape::fat_tree(4));
    for mode in [RouterMode::EcmpFlow, RouterMode::EcmpPacket] {
        let mut testbed = Testbed::with_single_way(routers, &links, mode);
        let mut paths =
            |back| (0..40).map(|port| testbed.send(port, back, TcpFlags::ACK, None)).collect::<BTreeSet<_>>();
        assert_eq!((paths(false).len(), paths(true).len()), (1, 4), "{mode:?}");
    }
}

#[test]
fn a_hash_selects_the_same_path_whether_it_is_used_once_or_at_each_hop() {
    let (routers, links) = links_of(&Shape::fat_tree(4));
    let mut per_flow = Testbed::new(routers, &links, RouterMode::EcmpFlow, RoutingConfig::default());
    // The same network, in which one switch, which has no choice, chooses for each packet.
    let mut modes = vec![RouterMode::EcmpFlow; routers];
    modes[routers - 1] = RouterMode::EcmpPacket;
    let mut per_hop = Testbed::with_modes(&modes, &links, RoutingConfig::default());
    for port in 0..40 {
        let path = per_flow.send(port, false, TcpFlags::SYN, None);
        assert_eq!(path, per_hop.send(port, false, TcpFlags::SYN, None));
        // On the return path the last switch chooses for each packet, the other switches by the flow's hash.
        assert_eq!(per_hop.send(port, true, TcpFlags::ACK, None).len(), 4);
    }
    let end = Instant::ZERO + Duration::from_secs(1000);
    per_hop.network.run_until(&mut per_hop.sink, end);
    assert_eq!(per_hop.sink.arrived, 80);
}
