//! What radios have taken: their packets are counted when they leave and when they arrive, and nothing else changes.

use proptest::prelude::*;
use subflow_network::{
    InterfaceId, LinkChange, LinkConfig, LinkId, Network, QueueConfig, RadioPower, RadioState, RadioUse,
    TopologyBuilder,
};
use subflow_quantity::{Duration, EnergyPerBit, Power, Rate};

use crate::support::random_network::{Outcome, Scenario, scenario};
use crate::support::{Recorder, ms, send, us};

/// Awake for 5 ms after each packet, at 1 W; a bit costs 1 nJ to send and 2 nJ to receive.
fn simple() -> RadioPower {
    RadioPower {
        active_power: Power::from_microwatts(1_000_000),
        up: EnergyPerBit::from_picojoules(1000),
        down: EnergyPerBit::from_picojoules(2000),
        inactivity_time: Duration::from_millis(5),
        tail_time: Duration::from_millis(5),
        ..RadioPower::default()
    }
}

/// A radio at the first of two hosts, which sends `packets` of 1000 bytes at once at 8 Mbit/s: one each millisecond.
fn phone(packets: u32, answers: u32) -> (Network, Recorder, InterfaceId, LinkId) {
    let mut topology = TopologyBuilder::new();
    let (a, b) = (topology.host("phone"), topology.host("server"));
    let (a, b) = (topology.interface(a, "lte"), topology.interface(b, "eth"));
    let config = LinkConfig::new(Rate::from_mbit(8), Duration::from_millis(100)).with_queue(QueueConfig::packets(3));
    let link = topology.link("lte", a, b, config.clone(), config);
    topology.radio(a, simple());
    let mut network = topology.build(1).expect("a valid topology");
    (0..packets).for_each(|number| send(&mut network, a, b, number, 1000));
    (network, Recorder { answer_below: answers, ..Recorder::default() }, a, link.forward)
}

fn nanojoules(used: &RadioUse) -> u128 {
    used.energy.as_femtojoules() / 1_000_000
}

#[test]
fn what_waits_in_the_queue_is_sent_when_it_leaves() {
    let (mut network, mut hosts, radio, _) = phone(5, 0);
    // Two of the five do not fit into the queue. They leave at 1, 2 and 3 ms; the radio is awake from then until 8 ms.
    for (until, sent, awake_us) in [(ms(0), 0, 0), (us(2500), 2000, 1500), (ms(4), 3000, 3000), (ms(90), 3000, 7000)] {
        network.run_until(&mut hosts, until);
        let used = network.radio(radio).expect("a radio");
        assert_eq!((used.sent_bytes, used.time_in(RadioState::Active).as_micros()), (sent, awake_us));
    }
    let used = network.radio(radio).expect("a radio");
    assert_eq!((nanojoules(&used), used.promotions), (7_000_000 + 3000 * 8, 1));
}

#[test]
fn an_answer_is_received_when_it_arrives() {
    let (mut network, mut hosts, radio, _) = phone(1, 1 << 16);
    network.run_until(&mut hosts, ms(1000));
    // Sent at 1 ms; the answer of 60 bytes takes 60 us there, and both ways take 100 ms.
    let used = network.radio(radio).expect("a radio");
    assert_eq!((used.sent_bytes, used.received_bytes, used.promotions), (1000, 60, 2));
    assert_eq!(nanojoules(&used), 10_000_000 + 1000 * 8 + 60 * 16);
}

#[test]
fn a_slower_link_keeps_the_radio_awake_for_longer() {
    let (mut network, mut hosts, radio, link) = phone(3, 0);
    // From 1.5 ms on the rest is sent at a tenth of the rate: at 6.5 and 16.5 ms.
    network.schedule_change(
        us(1500),
        link,
        LinkChange::Service(subflow_network::Service::Rate(Rate::from_bits_per_second(800_000))),
    );
    network.run_until(&mut hosts, ms(50));
    let used = network.radio(radio).expect("a radio");
    assert_eq!(used.time_in(RadioState::Active), Duration::from_micros(5000 + 5000 + 5000));
    assert_eq!(used.promotions, 3, "each leaves more than 5 ms after the one before");
}

/// The results of a run in steps, and what the radios of all interfaces have taken.
fn run(scenario: &Scenario, steps: u64) -> (Outcome, Vec<Option<RadioUse>>) {
    let (mut network, mut hosts) = scenario.begin(true, |_| true);
    for step in 1..=steps {
        network.run_until(&mut hosts, us(100_000 * step / steps));
    }
    let links = (0..network.link_count()).map(|link| network.link_metrics(LinkId::from_index(link))).collect();
    let metrics = subflow_network::NetworkMetrics { events: 0, ..network.metrics() };
    let interfaces = scenario.build(true).1;
    let radios = interfaces.into_iter().map(|interface| network.radio(interface)).collect();
    (Outcome { arrivals: hosts.arrivals, links, network: metrics }, radios)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn radios_change_nothing_but_know_what_was_sent(scenario in scenario()) {
        let (plain, none) = run(&scenario, 1);
        prop_assert!(none.iter().all(Option::is_none));
        let scenario = scenario.with_radios();
        let (outcome, radios) = run(&scenario, 1);
        prop_assert_eq!(&outcome, &plain);
        // The links of the interfaces come last, each first from the interface.
        let first = outcome.links.len() - 2 * radios.len();
        for (number, radio) in radios.iter().enumerate() {
            let (radio, up) = (radio.as_ref().expect("a radio"), &outcome.links[first + 2 * number]);
            prop_assert!(radio.sent_bytes >= up.bytes, "what has arrived was sent");
        }
        prop_assert_eq!(run(&scenario, 7), (outcome, radios), "looking at it in between changes nothing");
    }
}
