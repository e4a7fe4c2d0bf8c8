//! A network whose parts run on threads of their own has the results of one thread.

use proptest::prelude::*;
use subflow_network::{
    DuplexLink, Exchange, HostId, Hosts, InterfaceId, LinkChange, LinkConfig, Network, PacketId, Partition,
    PartitionError, RouterMode, TimerId, TopologyBuilder,
};
use subflow_quantity::{Duration, Rate};

use crate::support::random_network::{Outcome, scenario};
use crate::support::{ms, send};

/// The same outcome with the arrivals by interface: parts do not know their order at different hosts.
fn by_interface(mut outcome: Outcome) -> Outcome {
    outcome.arrivals.sort_by_key(|&(_, interface, _)| interface);
    outcome
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn parts_have_exactly_the_results_of_one_thread(
        scenario in scenario(),
        wishes in proptest::collection::vec(0usize..3, 1..12),
        steps in prop_oneof![Just(1u64), Just(7)],
    ) {
        let partition = scenario.partition(&wishes);
        let (expected, events) = scenario.run(true, 1);
        let (outcome, events_of_parts) = scenario.run_parts(&partition, steps);
        prop_assert_eq!(by_interface(outcome), by_interface(expected));
        prop_assert_eq!(events_of_parts, events);
    }
}

/// Two hosts with a router between them; the second link has this delay.
fn two_hops(mode: RouterMode, delay: Duration) -> (Network, DuplexLink) {
    let mut topology = TopologyBuilder::new();
    let (a, b) = (topology.host("a"), topology.host("b"));
    let (from, to) = (topology.interface(a, "eth"), topology.interface(b, "eth"));
    let middle = topology.router("middle", mode);
    let link = |delay| LinkConfig::new(Rate::from_mbit(10), delay);
    topology.link("near", from, middle, link(Duration::ZERO), link(Duration::ZERO));
    let far = topology.link("far", middle, to, link(Duration::from_millis(2)), link(delay));
    (topology.build(1).expect("a valid topology"), far)
}

#[test]
fn the_lookahead_is_the_least_delay_between_parts() {
    let (mut network, _) = two_hops(RouterMode::ShortestPath, Duration::from_millis(1));
    let partition = Partition::new(vec![0, 1], vec![0]);
    assert_eq!((partition.parts(), network.restrict(&partition, 0)), (2, Ok(Duration::from_millis(1))));
}

#[test]
fn what_cannot_be_between_parts_is_refused() {
    let far_alone = Partition::new(vec![0, 1], vec![0]);
    let refuse = |(mut network, _): (Network, DuplexLink), partition: &Partition| network.restrict(partition, 0);
    let delay = Duration::from_millis(1);
    let no_delay = Err(PartitionError::NoDelay { link: "far".to_owned() });
    assert_eq!(refuse(two_hops(RouterMode::ShortestPath, Duration::ZERO), &far_alone), no_delay);
    assert_eq!(refuse(two_hops(RouterMode::Multiflow, delay), &far_alone), Err(PartitionError::Controller));
    let other = Partition::new(vec![0, 1], vec![0, 1]);
    assert_eq!(refuse(two_hops(RouterMode::ShortestPath, delay), &other), Err(PartitionError::OtherNetwork));
    let (mut changing, far) = two_hops(RouterMode::ShortestPath, delay);
    changing.schedule_change(ms(1), far.backward, LinkChange::Down);
    assert_eq!(changing.restrict(&far_alone, 0), Err(PartitionError::Changes { link: "far".to_owned() }));
}

/// Hosts that cannot stand any packet.
struct Fragile;

impl Hosts for Fragile {
    fn handle_packet(&mut self, _: &mut Network, _: HostId, _: InterfaceId, _: PacketId) {
        panic!("a packet");
    }

    fn handle_timer(&mut self, _: &mut Network, _: TimerId) {}
}

#[test]
fn a_panic_in_one_part_ends_the_others() {
    let far_alone = Partition::new(vec![0, 1], vec![0]);
    let [mut near, mut far] = [0, 1].map(|part| {
        let (mut network, _) = two_hops(RouterMode::ShortestPath, Duration::from_millis(1));
        network.restrict(&far_alone, part).expect("a partition of this network");
        network
    });
    let [from, to] = [0, 1].map(InterfaceId::from_index);
    send(&mut near, from, to, 1, 1500);
    let exchange = Exchange::new(2, Duration::from_millis(1));
    let ended = std::thread::scope(|scope| {
        [&mut near, &mut far]
            .map(|network| scope.spawn(|| network.run_part_until(&mut Fragile, ms(100), &exchange)))
            .map(|thread| thread.join().is_err())
    });
    assert_eq!(ended, [true, true]);
}
