//! Changes of a link while packets are on it, duplicates, and packets that overtake others.

use std::sync::Arc;

use subflow_network::{
    Bernoulli, CapacityTrace, Distribution, Jitter, LinkChange, LinkConfig, Overtaking, Probability, Reordering,
    Service,
};
use subflow_quantity::Duration;

use super::{MICROSECOND, rate, ten_mbit};
use crate::support::{Pair, ms, us};

#[test]
fn a_new_rate_applies_to_the_rest_of_the_packet_in_transmission() {
    let mut pair = Pair::new(ten_mbit());
    pair.burst(0, 3);
    // By 1.8 ms packet 0 and half of packet 1 have been sent: the other half takes 2 · 0.6 ms, packet 2 takes 2.4 ms.
    pair.network.schedule_change(us(1800), pair.link, rate(5));
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.times(), [6200, 5000 + 1800 + 1200, 5000 + 1800 + 1200 + 2400].map(|us| us * MICROSECOND));
    assert_eq!(pair.network.link_metrics(pair.link).busy, Duration::from_micros(1800 + 1200 + 2400));
}

#[test]
fn rate_changes_up_and_down_lose_no_transmitted_part() {
    let mut pair = Pair::new(ten_mbit());
    pair.burst(0, 1);
    pair.network.schedule_change(us(300), pair.link, rate(20));
    pair.network.schedule_change(us(450), pair.link, rate(5));
    // A quarter at 10 Mbit/s, a quarter at 20 Mbit/s, half at 5 Mbit/s.
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.times(), [(300 + 150 + 1200 + 5000) * MICROSECOND]);
}

#[test]
fn a_smaller_delay_does_not_let_packets_overtake() {
    let mut pair = Pair::new(ten_mbit());
    pair.burst(0, 5);
    pair.network.schedule_change(us(2400), pair.link, LinkChange::Delay(Duration::from_millis(1)));
    pair.run_until(ms(100));
    // Packets 0 and 1 have left by 2.4 ms; 2 and 3 would arrive at 4.6 and 5.8 ms.
    assert_eq!(pair.hosts.times(), [6200, 7400, 7400, 7400, 7400].map(|us| us * MICROSECOND));
    pair.burst(5, 1);
    pair.run_until(ms(200));
    assert_eq!(pair.hosts.times()[5], (100_000 + 1200 + 1000) * MICROSECOND);
}

#[test]
fn a_larger_delay_applies_to_packets_that_have_not_left() {
    let mut pair = Pair::new(ten_mbit());
    pair.burst(0, 3);
    pair.network.schedule_change(us(1200), pair.link, LinkChange::Delay(Duration::from_millis(20)));
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.times(), [6200, 22_400, 23_600].map(|us| us * MICROSECOND));
}

#[test]
fn a_failed_link_drops_its_queue_but_not_packets_that_have_left() {
    let mut pair = Pair::new(ten_mbit());
    pair.burst(0, 4);
    pair.network.schedule_change(us(2500), pair.link, LinkChange::Down);
    pair.network.schedule_change(us(4000), pair.link, LinkChange::Up);
    let Pair { network, hosts, a, b, .. } = &mut pair;
    hosts.send_at(network, us(3000), *a, *b, 4, 1500);
    hosts.send_at(network, us(4000), *a, *b, 5, 1500);
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.numbers(), [0, 1, 5]);
    assert_eq!(pair.hosts.times(), [6200, 7400, 10_200].map(|us| us * MICROSECOND));
    let metrics = pair.network.link_metrics(pair.link);
    assert_eq!(metrics.dropped_down, 3);
    assert_eq!(metrics.busy, Duration::from_micros(2500 + 1200));
    assert_eq!(pair.network.metrics().in_flight, 0);
}

#[test]
fn a_change_of_loss_applies_to_packets_that_have_not_left() {
    let mut pair = Pair::new(ten_mbit());
    pair.burst(0, 4);
    pair.network.schedule_change(
        us(2400),
        pair.link,
        LinkChange::Loss(Some(Bernoulli::new(Probability::ALWAYS).into())),
    );
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.numbers(), [0, 1]);
    pair.burst(4, 1);
    pair.network.schedule_change(us(100_100), pair.link, LinkChange::Loss(None));
    pair.run_until(ms(200));
    assert_eq!(pair.hosts.numbers(), [0, 1, 4]);
}

#[test]
fn a_link_changes_from_a_trace_to_a_rate_and_back() {
    let trace = Service::Trace(Arc::new(CapacityTrace::parse("4\n").unwrap()));
    let mut pair = Pair::new(ten_mbit());
    pair.burst(0, 4);
    pair.network.schedule_change(us(600), pair.link, LinkChange::Service(trace));
    pair.network.schedule_change(ms(10), pair.link, rate(10));
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.times(), [9000, 13_000, 16_200, 17_400].map(|us| us * MICROSECOND));
}

#[test]
fn with_jitter_a_new_delay_applies_to_packets_that_arrive_after_the_change() {
    let overtaking = Overtaking { probability: Probability::NEVER, correlation: Probability::NEVER, gap: 1 };
    let mut pair = Pair::new(LinkConfig { overtaking: Some(overtaking), ..ten_mbit() });
    pair.network.schedule_change(ms(2), pair.link, LinkChange::Delay(Duration::from_millis(20)));
    pair.burst(0, 2);
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.times(), [6200 * MICROSECOND, 22_400 * MICROSECOND]);
}

#[test]
fn duplicates_arrive_together_and_late_packets_are_overtaken() {
    let mut pair = Pair::new(LinkConfig { duplication: Probability::ALWAYS, ..ten_mbit() });
    pair.burst(0, 2);
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.numbers(), [0, 0, 1, 1]);
    let metrics = pair.network.metrics();
    assert_eq!((metrics.transmitted, metrics.duplicated, metrics.delivered, metrics.in_flight), (2, 2, 4, 0));

    let reordering = Reordering { probability: Probability::new(0.3).unwrap(), extra_delay: Duration::from_millis(2) };
    let mut pair = Pair::new(LinkConfig { reordering: Some(reordering), ..ten_mbit() });
    pair.burst(0, 1000);
    pair.run_until(ms(10_000));
    let mut numbers = pair.hosts.numbers();
    let late = numbers.windows(2).filter(|pair| pair[0] > pair[1]).count();
    assert!((150..350).contains(&late), "{late}");
    for &(at, _, number) in &pair.hosts.arrivals {
        let on_time = 5_000_000 + u64::from(number + 1) * 1_200_000;
        assert!(at == on_time || at == on_time + 2_000_000);
    }
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..1000));
}

#[test]
fn jitter_lets_packets_overtake_each_other() {
    let deviation = Duration::from_millis(4);
    let jitter = Jitter { deviation, distribution: Distribution::Uniform, correlation: Probability::NEVER };
    let mut pair = Pair::new(LinkConfig { jitter: Some(jitter), ..ten_mbit() });
    pair.burst(0, 50);
    pair.run_until(ms(200));
    let times = pair.hosts.times();
    assert_eq!(times.len(), 50);
    assert_ne!(pair.hosts.numbers(), (0..50).collect::<Vec<_>>(), "some overtook others");
    let earliest = |sent: u32| (1200 * (u64::from(sent) + 1) + 1000) * MICROSECOND;
    for (time, sent) in times.iter().zip(pair.hosts.numbers()) {
        let first = earliest(sent);
        assert!((first..=first + 8000 * MICROSECOND).contains(time), "packet {sent} at {time}");
    }
}

#[test]
fn packets_that_overtake_take_no_delay() {
    let overtaking = Overtaking { probability: Probability::ALWAYS, correlation: Probability::NEVER, gap: 3 };
    let mut pair = Pair::new(LinkConfig { overtaking: Some(overtaking), ..ten_mbit() });
    pair.burst(0, 3);
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.times(), [3600, 6200, 7400].map(|us: u64| us * MICROSECOND));
    assert_eq!(pair.hosts.numbers(), [2, 0, 1]);
}
