//! Hop fusion changes only the running time, not the results.

use proptest::prelude::*;
use subflow_network::{LinkConfig, QueueConfig, RouterMode, TopologyBuilder};
use subflow_quantity::{Duration, Rate};

use crate::support::random_network::scenario;
use crate::support::{Recorder, ms, send};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_fused_run_has_exactly_the_same_results(scenario in scenario()) {
        let (expected, events) = scenario.run(false, 1);
        let (fused, fewer_events) = scenario.run(true, 1);
        prop_assert_eq!(&fused, &expected);
        prop_assert!(fewer_events <= events);
    }

    #[test]
    fn a_fused_run_in_short_steps_has_exactly_the_same_results(scenario in scenario()) {
        prop_assert_eq!(scenario.run(true, 333).0, scenario.run(false, 1).0);
    }
}

/// Senders, two routers, and receivers.
fn dumbbell(fuse: bool, zero_time: bool) -> (Vec<crate::support::Arrival>, u64) {
    let mut topology = TopologyBuilder::new();
    let link = LinkConfig::new(Rate::from_mbit(100), Duration::from_millis(1)).with_queue(QueueConfig::packets(50));
    let egress = if zero_time { LinkConfig::default() } else { link.clone() };
    let (left, right) =
        (topology.router("left", RouterMode::ShortestPath), topology.router("right", RouterMode::ShortestPath));
    topology.link("bottleneck", left, right, link.clone(), link.clone());
    let mut pairs = Vec::new();
    for pair in 0..3 {
        let (sender, receiver) = (topology.host(&format!("s{pair}")), topology.host(&format!("r{pair}")));
        let (from, to) = (topology.interface(sender, "eth"), topology.interface(receiver, "eth"));
        topology.link(&format!("s{pair}"), from, left, link.clone(), link.clone());
        topology.link(&format!("r{pair}"), right, to, egress.clone(), link.clone());
        topology.conversation(sender, receiver);
        pairs.push((from, to));
    }
    topology.fuse_hops(fuse);
    let mut network = topology.build(1).expect("a valid topology");
    let mut hosts = Recorder::default();
    for number in 0..60 {
        let (from, to) = pairs[number as usize % 3];
        send(&mut network, from, to, number, 1500);
    }
    network.run_until(&mut hosts, ms(1000));
    (hosts.arrivals, network.metrics().events)
}

#[test]
fn after_a_bottleneck_hops_are_fused() {
    let (arrivals, events) = dumbbell(true, false);
    assert_eq!(events, 2 * 60, "one event at the bottleneck and one at the receiver");
    assert_eq!(dumbbell(false, false), (arrivals, 3 * 60));
}

#[test]
fn a_link_that_takes_no_time_is_not_fused() {
    assert_eq!(dumbbell(true, true), dumbbell(false, true));
    assert_eq!(dumbbell(true, true).1, 3 * 60);
}
