//! When packets leave a link, and which of them find space in its queue.

use std::sync::Arc;

use subflow_network::{CapacityTrace, LinkConfig, LossPosition, Peak, QueueConfig, Service, TokenBucketConfig, Trace};
use subflow_quantity::{Duration, Instant, Rate};

use super::{MICROSECOND, rate, ten_mbit};
use crate::support::{Pair, ms, send, us};

#[test]
fn packets_are_sent_in_sequence_and_then_propagate() {
    let mut pair = Pair::new(ten_mbit());
    pair.burst(0, 2);
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.times(), [6200 * MICROSECOND, 7400 * MICROSECOND]);
    let metrics = pair.network.link_metrics(pair.link);
    assert_eq!((metrics.packets, metrics.bytes), (2, 3000));
    assert_eq!(metrics.busy, Duration::from_micros(2400));
    assert!((metrics.mean_queue - (1.2 + 2.4) / 100.0).abs() < 1e-12);
    assert_eq!(metrics.max_queue, 2);
}

#[test]
fn a_packet_leaves_at_the_first_nanosecond_by_which_all_before_it_and_itself_have_been_sent() {
    let mut pair = Pair::new(LinkConfig::new(Rate::from_mbit(7), Duration::ZERO));
    pair.burst(0, 7);
    pair.run_until(ms(100));
    // 12,000 bits at 7 Mbit/s are 1,714,285 5/7 ns.
    let expected: Vec<u64> = (1..=7u64).map(|n| (n * 12_000_000).div_ceil(7)).collect();
    assert_eq!(pair.hosts.times(), expected);
    assert_eq!(expected[6], 12_000_000, "seven of them end with a whole one");
}

#[test]
fn after_a_pause_nothing_is_carried_over() {
    let mut pair = Pair::new(LinkConfig::new(Rate::from_mbit(7), Duration::ZERO));
    let Pair { network, hosts, a, b, .. } = &mut pair;
    for (number, at) in [(0, 0), (1, 1_714_285), (2, 3_428_572), (3, 9_000_000)] {
        hosts.send_at(network, Instant::from_nanos(at), *a, *b, number, 1500);
    }
    pair.run_until(ms(100));
    // The first leaves at ….71, the second comes before that; the third in the nanosecond in which that has left
    // (….43), and begins there.
    assert_eq!(pair.hosts.times(), [1_714_286, 3_428_572, 5_142_858, 10_714_286]);
}

#[test]
fn a_busy_link_of_100_gbit_carries_100_gbit_of_packets_that_take_no_whole_nanosecond() {
    let mut pair = Pair::new(LinkConfig::new(Rate::from_mbit(100_000), Duration::ZERO));
    let (a, b) = (pair.a, pair.b);
    for number in 0..100_000 {
        send(&mut pair.network, a, b, number, 128);
    }
    pair.run_until(us(1000));
    let metrics = pair.network.link_metrics(pair.link);
    assert_eq!(metrics.packets, 1_000_000 * 100 / 1024, "10.24 ns each");
    assert_eq!(metrics.busy, Duration::from_millis(1));
    pair.run_until(ms(2));
    assert_eq!(pair.hosts.times().last(), Some(&1_024_000));
    assert_eq!(pair.network.link_metrics(pair.link).busy, Duration::from_nanos(1_024_000));
}

#[test]
fn overhead_takes_time_on_the_link() {
    let mut pair = Pair::new(LinkConfig { overhead: 38, ..LinkConfig::new(Rate::from_mbit(100), Duration::ZERO) });
    pair.burst(0, 1);
    pair.run_until(ms(1));
    assert_eq!(pair.hosts.times(), [1538 * 80]);
    assert_eq!(pair.network.link_metrics(pair.link).bytes, 1500, "reported bytes are IP bytes");
}

#[test]
fn an_infinitely_fast_link_only_adds_delay() {
    let mut pair = Pair::new(LinkConfig::instant(Duration::from_millis(3)));
    pair.burst(0, 3);
    pair.run_until(ms(3));
    assert_eq!(pair.hosts.times(), [3_000_000; 3]);
    assert_eq!(pair.network.link_metrics(pair.link).max_queue, 0);
}

#[test]
fn a_trace_sends_at_its_times() {
    let trace = CapacityTrace::parse("2\n3\n10\n").unwrap();
    let service = Service::Trace(Arc::new(trace));
    let mut pair = Pair::new(LinkConfig { service, ..LinkConfig::instant(Duration::from_millis(1)) });
    pair.burst(0, 5);
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.times(), [3, 4, 11, 13, 14].map(|ms| ms * 1_000_000));
}

#[test]
fn many_short_runs_give_the_same_result_as_one_long_run() {
    let run = |step: u64| {
        let mut pair = Pair::new(ten_mbit().with_queue(QueueConfig::packets(7)));
        pair.network.schedule_change(us(5555), pair.link, rate(3));
        for number in 0..40 {
            let Pair { network, hosts, a, b, .. } = &mut pair;
            hosts.send_at(network, us(u64::from(number) * 700), *a, *b, number, 1500);
        }
        for at in (0..=100_000).step_by(step as usize) {
            pair.run_until(us(at));
        }
        (pair.hosts.arrivals, pair.network.link_metrics(pair.link))
    };
    assert_eq!(run(100_000), run(10));
}

#[test]
fn a_token_bucket_passes_a_burst_and_its_queue_drops_the_excess() {
    let bucket = TokenBucketConfig { rate: Rate::from_mbit(12), burst: 3000, peak: None };
    let service = Service::TokenBucket(bucket);
    let queue = QueueConfig::bytes(3000);
    let mut pair = Pair::new(LinkConfig { service, queue, ..LinkConfig::instant(Duration::from_millis(5)) });
    pair.burst(0, 6);
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.times(), [5000, 5000, 6000, 7000].map(|us: u64| us * MICROSECOND));
    assert_eq!(pair.network.link_metrics(pair.link).dropped_queue, 2);
}

#[test]
fn a_peak_rate_spaces_a_burst() {
    let peak = Peak { rate: Rate::from_mbit(120), burst: 1500 };
    let bucket = TokenBucketConfig { rate: Rate::from_mbit(12), burst: 3000, peak: Some(peak) };
    let mut pair = Pair::new(LinkConfig { service: Service::TokenBucket(bucket), ..LinkConfig::default() });
    pair.burst(0, 3);
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.times(), [0, 100 * MICROSECOND, 1000 * MICROSECOND]);
}

#[test]
fn a_queue_that_is_full_for_centuries_is_counted_and_lets_nothing_through() {
    let mut pair = Pair::new(LinkConfig::new(Rate::from_bits_per_second(1), Duration::from_secs(3600)));
    let (a, b) = (pair.a, pair.b);
    for number in 0..40_000 {
        send(&mut pair.network, a, b, number, 65_000);
    }
    let end = Instant::ZERO + Duration::from_secs(1_000_000);
    pair.run_until(end);
    let metrics = pair.network.link_metrics(pair.link);
    assert_eq!((metrics.packets, metrics.busy), (1, end.since(Instant::ZERO)));
    assert!((metrics.mean_queue - 39_999.0).abs() < 1.0, "{}", metrics.mean_queue);
    pair.network.schedule_change(end, pair.link, rate(1000));
    pair.run_until(end + Duration::from_secs(10_000));
    assert_eq!(pair.hosts.arrivals.len(), 40_000);
}

#[test]
fn a_limit_may_include_the_packet_in_transmission() {
    let mut pair = Pair::new(ten_mbit().with_queue(QueueConfig::packets(3)));
    pair.burst(0, 5);
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.numbers(), [0, 1, 2]);
    assert_eq!(pair.network.link_metrics(pair.link).dropped_queue, 2);
}

#[test]
fn a_limit_may_exclude_the_packet_in_transmission() {
    let mut pair = Pair::new(ten_mbit().with_queue(QueueConfig::packets(3).counting_waiting_only()));
    pair.burst(0, 5);
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.numbers(), [0, 1, 2, 3]);
}

#[test]
fn a_packet_that_leaves_frees_its_space_at_the_same_instant() {
    for (at, numbers) in [(us(1200), vec![0, 1, 2]), (us(1199), vec![0, 1])] {
        let mut pair = Pair::new(ten_mbit().with_queue(QueueConfig::packets(2)));
        pair.burst(0, 2);
        let Pair { network, hosts, a, b, .. } = &mut pair;
        hosts.send_at(network, at, *a, *b, 2, 1500);
        pair.run_until(ms(100));
        assert_eq!(pair.hosts.numbers(), numbers);
    }
}

#[test]
fn a_limit_in_bytes_counts_bytes() {
    let mut pair = Pair::new(ten_mbit().with_queue(QueueConfig::bytes(4000)));
    pair.burst(0, 3);
    let (a, b) = (pair.a, pair.b);
    send(&mut pair.network, a, b, 3, 1000);
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.numbers(), [0, 1, 3]);
}

#[test]
fn the_kernel_reference_link_holds_q_packets_and_then_delays_them() {
    // "50/10/20": 50 Mbit/s with a queue of 20 packets, then 10 ms; 240 us per packet.
    let config = LinkConfig::new(Rate::from_mbit(50), Duration::from_millis(10)).with_queue(QueueConfig::packets(20));
    let mut pair = Pair::new(config);
    pair.burst(0, 21);
    pair.run_until(ms(100));
    let expected: Vec<u64> = (1..=20).map(|n| 10_000_000 + n * 240 * MICROSECOND).collect();
    assert_eq!(pair.hosts.times(), expected);
    assert_eq!(pair.network.link_metrics(pair.link).dropped_queue, 1);
}

#[test]
fn loss_after_the_queue_takes_space_and_time_and_loss_before_it_does_not() {
    let pattern = Trace::new([true, false].into());
    for (loss_position, expected) in [(LossPosition::AfterQueue, 6200 + 1200), (LossPosition::BeforeQueue, 6200)] {
        let mut pair = Pair::new(LinkConfig { loss_position, ..ten_mbit().with_loss(pattern.clone()) });
        pair.burst(0, 2);
        pair.run_until(ms(100));
        assert_eq!(pair.hosts.arrivals, [(expected * MICROSECOND, pair.b, 1)]);
        let metrics = pair.network.metrics();
        assert_eq!((metrics.dropped, metrics.packet_hops, metrics.in_flight), (1, 1, 0));
    }
}
