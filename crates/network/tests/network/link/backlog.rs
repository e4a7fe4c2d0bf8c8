//! Links whose queue discipline acts on departure.

use std::sync::Arc;

use proptest::prelude::*;
use subflow_network::{CapacityTrace, Limit, LinkChange, LinkConfig, QueueConfig, Service};
use subflow_policy::queue::{Arrival, CoDel, Departure, Discipline, QueueDiscipline, Verdict};
use subflow_quantity::{Duration, Instant};
use subflow_wire::Ecn;

use super::{MICROSECOND, rate, ten_mbit};
use crate::support::disciplines::{InTurn, WaitingFifo};
use crate::support::random_network::scenario;
use crate::support::{HEADERS, Pair, ms, packet, us};

fn queue(discipline: impl subflow_policy::custom::CustomQueue + 'static) -> QueueConfig {
    QueueConfig { discipline: Discipline::Custom("test".into(), Box::new(discipline)), ..QueueConfig::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_backlog_from_which_all_packets_leave_in_order_has_exactly_the_results_of_none(scenario in scenario()) {
        // Without a backlog the loss after the queue is drawn when a packet comes, and drawn again for all packets in the
        // queue when the model changes; with one it is drawn when a packet leaves, which takes other random numbers.
        let scenario = scenario.without_changes_of_loss_after_queues();
        let (expected, _) = scenario.run(false, 1);
        prop_assert_eq!(scenario.with_backlogs().run(false, 1).0, expected);
    }
}

#[test]
fn an_idle_link_has_one_event_per_packet_and_a_busy_one_two() {
    let run = |discipline: Discipline, gap: u64| {
        let queue = QueueConfig { discipline, ..QueueConfig::default() };
        let mut pair = Pair::new(ten_mbit().with_queue(queue));
        for number in 0..10 {
            pair.run_until(us(gap * u64::from(number)));
            pair.burst(number, 1);
        }
        pair.run_until(ms(100));
        (pair.hosts.arrivals.len(), pair.network.events())
    };
    let fifo = || Discipline::Custom("fifo".into(), Box::new(WaitingFifo));
    // A packet takes 1.2 ms.
    assert_eq!([run(Discipline::default(), 0), run(fifo(), 1200)], [(10, 10), (10, 10)]);
    assert_eq!(run(fifo(), 0), (10, 10 + 9), "the first transmission starts at once");
}

#[test]
fn internal_queues_take_turns_and_the_longest_makes_room() {
    let in_turn = QueueConfig { limit: Limit::Packets(6), ..queue(InTurn::default()) };
    let mut pair = Pair::new(ten_mbit().with_queue(in_turn.counting_waiting_only()));
    // Packet numbers are ports: two flows with 9 and 2 packets. The first packet leaves at once, six wait.
    let addresses = [pair.a, pair.b].map(|interface| pair.network.addresses(interface)[0]);
    let mut send = |port: u32, size: u32| {
        let packet = packet(addresses[0], addresses[1], port, size);
        pair.network.transmit(pair.network.host_of(pair.a), pair.a, packet);
    };
    (0..9).for_each(|_| send(1, 1500));
    (0..2).for_each(|_| send(6, 1500));
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.numbers(), [1, 6, 1, 6, 1, 1, 1]);
    let metrics = pair.network.link_metrics(pair.link);
    assert_eq!((metrics.packets, metrics.dropped_queue, metrics.max_queue), (7, 4, 7));
}

/// Marks every packet that comes if `arriving`, else every packet that leaves.
#[derive(Clone, Debug)]
struct Marking {
    arriving: bool,
}

impl QueueDiscipline for Marking {
    fn acts_on_departure(&self) -> bool {
        !self.arriving
    }
    fn on_arrival(&mut self, _arrival: &Arrival) -> Verdict {
        if self.arriving { Verdict::Mark } else { Verdict::Pass }
    }
    fn on_departure(&mut self, _departure: &Departure<'_>) -> Verdict {
        Verdict::Mark
    }
}

#[test]
fn marks_reach_the_header_and_without_ecn_packets_are_dropped() {
    for arriving in [true, false] {
        let limited = QueueConfig { limit: Limit::Packets(3), ..queue(Marking { arriving }) };
        let mut pair = Pair::new(ten_mbit().with_queue(limited));
        let addresses = [pair.a, pair.b].map(|interface| pair.network.addresses(interface)[0]);
        let before = [Ecn::Ect0, Ecn::NotEct, Ecn::Ect1, Ecn::CongestionExperienced, Ecn::Ect0];
        for (number, ecn) in (0..).zip(before) {
            let mut packet = packet(addresses[0], addresses[1], number, 1500);
            packet.ip.ecn = ecn;
            pair.network.transmit(pair.network.host_of(pair.a), pair.a, packet);
        }
        pair.run_until(ms(100));
        let metrics = pair.network.link_metrics(pair.link);
        // On arrival a packet without ECN takes no place; on departure it does.
        let expected = if arriving { vec![0, 2, 3] } else { vec![0, 2] };
        assert_eq!(pair.hosts.numbers(), expected);
        assert_eq!((metrics.marked, metrics.dropped_queue), (expected.len() as u64, 5 - expected.len() as u64));
        assert!(pair.hosts.ecn.iter().all(|&ecn| ecn == Ecn::CongestionExperienced), "{:?}", pair.hosts.ecn);
    }
}

#[test]
fn a_standing_queue_goes_to_the_target() {
    let codel = || Discipline::from(CoDel::default());
    let mean_queue = |discipline: Discipline| {
        let queue = QueueConfig { discipline, limit: Limit::Packets(1000), ..QueueConfig::default() };
        let mut pair = Pair::new(ten_mbit().with_queue(queue));
        // Twice the rate of the link for a second, then its rate: what has queued would stay.
        let (mut number, mut at) = (0, 0);
        while at < 10_000_000 {
            pair.run_until(us(at));
            pair.burst(number, 1);
            number += 1;
            at += if at < 1_000_000 { 600 } else { 1200 };
        }
        (pair.network.queue_length(pair.link), pair.network.link_metrics(pair.link).dropped_queue)
    };
    let (standing, dropped) = mean_queue(Discipline::default());
    assert!(standing > 800 && dropped == 0, "{standing} {dropped}");
    // Below 5 ms of packets of 1.2 ms.
    let (standing, dropped) = mean_queue(codel());
    assert!(standing <= 5 && dropped > 800, "{standing} {dropped}");
}

/// Drops every packet that waited for longer than `limit`, and every second packet if `limit` is zero.
#[derive(Clone, Debug)]
struct Impatient(Duration);

impl QueueDiscipline for Impatient {
    fn acts_on_departure(&self) -> bool {
        true
    }
    fn on_departure(&mut self, departure: &Departure<'_>) -> Verdict {
        if departure.sojourn > self.0 { Verdict::Drop } else { Verdict::Pass }
    }
}

#[test]
fn packets_that_are_dropped_on_departure_take_no_time_on_the_link() {
    let mut pair = Pair::new(ten_mbit().with_queue(queue(Impatient(Duration::from_millis(3)))));
    pair.burst(0, 10);
    pair.run_until(us(3100));
    assert_eq!(pair.network.queue_length(pair.link), 8);
    pair.run_until(us(3601));
    // Packets 0 to 2 were transmitted until 3.6 ms; then all others have waited for too long.
    let metrics = pair.network.link_metrics(pair.link);
    assert_eq!((metrics.dropped_queue, pair.network.queue_length(pair.link)), (7, 0));
    assert_eq!(metrics.busy, Duration::from_micros(3600));
    pair.burst(10, 1);
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.times(), [6200, 7400, 8600, 3601 + 6200].map(|us| us * MICROSECOND));
    let metrics = pair.network.metrics();
    assert_eq!((metrics.transmitted, metrics.delivered, metrics.dropped, metrics.in_flight), (11, 4, 7, 0));
}

#[test]
fn a_new_rate_applies_to_waiting_packets_and_a_failure_drops_them() {
    let mut pair = Pair::new(ten_mbit().with_queue(queue(WaitingFifo)));
    pair.burst(0, 6);
    pair.network.schedule_change(us(1800), pair.link, rate(5));
    pair.network.schedule_change(us(6000), pair.link, LinkChange::Down);
    pair.network.schedule_change(us(7000), pair.link, LinkChange::Up);
    pair.run_until(us(6500));
    // As without a backlog: half of packet 1 at 5 Mbit/s until 3 ms, then 2.4 ms each.
    let metrics = pair.network.link_metrics(pair.link);
    assert_eq!((metrics.dropped_down, pair.network.queue_length(pair.link)), (3, 0));
    assert_eq!(metrics.busy, Duration::from_micros(6000));
    pair.run_until(us(8000));
    pair.burst(6, 1);
    pair.run_until(ms(100));
    assert_eq!(pair.hosts.times(), [6200, 8000, 10_400, 8000 + 2400 + 5000].map(|us| us * MICROSECOND));
}

/// Passes everything and notes when it was asked.
#[derive(Clone, Debug, Default)]
struct Noting(Arc<std::sync::Mutex<Vec<Instant>>>);

impl QueueDiscipline for Noting {
    fn acts_on_departure(&self) -> bool {
        true
    }
    fn on_departure(&mut self, departure: &Departure<'_>) -> Verdict {
        self.0.lock().expect("one thread").push(departure.at);
        Verdict::Pass
    }
}

#[test]
fn with_a_capacity_trace_a_packet_is_chosen_at_the_opportunity() {
    let noting = Noting::default();
    let trace = Arc::new(CapacityTrace::parse("2\n5\n10\n").expect("a trace"));
    let config = LinkConfig { service: Service::Trace(trace), queue: queue(noting.clone()), ..LinkConfig::default() };
    let mut pair = Pair::new(config);
    pair.burst(0, 3);
    pair.run_until(ms(100));
    assert_eq!(*noting.0.lock().expect("one thread"), [ms(2), ms(5), ms(10)]);
    assert_eq!(pair.hosts.times(), [2000, 5000, 10_000].map(|us| us * MICROSECOND));
}

#[test]
fn a_burst_larger_than_the_ring_passes() {
    let mut pair = Pair::new(LinkConfig { queue: queue(WaitingFifo), ..LinkConfig::instant(Duration::from_millis(1)) });
    pair.burst(HEADERS, 100);
    pair.run_until(ms(2));
    assert_eq!(pair.hosts.times(), vec![1000 * MICROSECOND; 100]);
}
