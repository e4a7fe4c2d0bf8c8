//! Retransmission timeouts: backoff, giving up, spurious ones, tail loss probes (RFC 6298, RFC 5682, RFC 8985).

use subflow_transport::Event;
use subflow_transport::tcp::Closed;

use crate::harness::tamper::{drop_all, drop_first, has_data};
use crate::harness::{CLIENT, Fate, Pair, SERVER, Setup, ms, secs};

/// A connection with a settled RTT of 20 ms: the RTO is 220 ms.
fn warm(setup: Setup) -> Pair {
    let mut pair = setup.connected();
    for _ in 0..20 {
        pair.transfer(CLIENT, 2 * 1448);
        pair.run_for(ms(50));
    }
    pair
}

#[test]
fn timeouts_double_until_the_connection_is_given_up() {
    let mut pair = warm(Setup::tcp().both(|stack| {
        stack.tcp.max_retries = 5;
        stack.tcp.tail_loss_probe = false;
    }));
    pair.tamper(drop_all(|leaving| leaving.from == CLIENT));
    let start = pair.now();
    pair.write(CLIENT, 1448);
    pair.drive();
    let sent: Vec<_> = pair.sent(CLIENT, start).map(|sent| sent.at.since(start).as_millis()).collect();
    assert_eq!(sent.len(), 1 + 5);
    let rto = sent[1];
    assert!((220..=225).contains(&rto), "{sent:?}");
    for (i, &at) in sent.iter().enumerate().skip(1) {
        let expected = rto * ((1 << i) - 1);
        // Milliseconds are rounded down, and that doubles, too.
        assert!(at.abs_diff(expected) <= 1 << i, "retransmission {i}: {sent:?}");
    }
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::TimedOut)), 1);
    assert_eq!(pair.count(CLIENT, Event::Acknowledged), 0);
}

#[test]
fn a_timeout_brings_the_window_down_to_one() {
    let mut pair = warm(Setup::tcp().both(|stack| stack.tcp.tail_loss_probe = false));
    pair.induce_loss(10);
    pair.write(CLIENT, 10 * 1448);
    pair.run_until("the timeout", |pair| pair.tcp(CLIENT).counters().timeouts == 1);
    assert_eq!(pair.cwnd(CLIENT, 0), 1);
    assert_eq!(pair.tcp(CLIENT).in_flight(), 1, "the head went again, the rest is believed lost");
    pair.run_until("the data", |pair| pair.received(SERVER) == 50 * 1448);
    assert_eq!(pair.tcp(CLIENT).counters().timeouts, 1, "slow start repairs the rest");
}

#[test]
fn backoff_ends_with_the_first_sample() {
    let mut pair = warm(Setup::tcp());
    pair.tamper(drop_first(5, |leaving| leaving.from == CLIENT && has_data(leaving.segment)));
    pair.transfer(CLIENT, 1448);
    pair.transfer(CLIENT, 1448);
    pair.settle();
    let timeouts = pair.tcp(CLIENT).counters().timeouts;
    pair.induce_loss(2);
    let took = pair.transfer(CLIENT, 1448);
    assert!(timeouts >= 3 && took < secs(1), "{timeouts} timeouts, then {took:?}");
}

#[test]
fn a_probe_repairs_a_lost_tail_without_a_timeout() {
    let mut pair = warm(Setup::tcp());
    let before = *pair.tcp(CLIENT).counters();
    let mut number = 0;
    pair.tamper(move |leaving| {
        number += u32::from(leaving.from == CLIENT && has_data(leaving.segment));
        if leaving.from == CLIENT && number == 10 { Fate::Drop } else { Fate::Pass }
    });
    let took = pair.transfer(CLIENT, 10 * 1448);
    pair.settle();
    let after = *pair.tcp(CLIENT).counters();
    assert_eq!((after.loss_probes - before.loss_probes, after.timeouts - before.timeouts), (1, 0));
    assert!(took < ms(310), "{took:?}: a lone segment may be waiting for a delayed acknowledgment of 200 ms");
    assert!(pair.cwnd(CLIENT, 0) < 30, "a loss that the probe repaired halves the window");
}

#[test]
fn an_unnecessary_probe_does_not_reduce_the_window() {
    let mut pair = warm(Setup::tcp());
    let (window, before) = (pair.cwnd(CLIENT, 0), *pair.tcp(CLIENT).counters());
    let soon = pair.now() + ms(30);
    pair.tamper(drop_all(move |leaving| leaving.from == SERVER && leaving.at < soon));
    pair.transfer(CLIENT, 2 * 1448);
    pair.settle();
    let after = *pair.tcp(CLIENT).counters();
    assert_eq!((after.loss_probes - before.loss_probes, after.timeouts - before.timeouts), (1, 0));
    assert!(pair.cwnd(CLIENT, 0) >= window);
}

#[test]
fn two_segments_lost_at_the_tail_are_found_by_the_probe() {
    let mut pair = warm(Setup::tcp());
    let before = *pair.tcp(CLIENT).counters();
    let mut number = 0;
    pair.tamper(move |leaving| {
        number += u32::from(leaving.from == CLIENT && has_data(leaving.segment));
        if leaving.from == CLIENT && (9..=10).contains(&number) { Fate::Drop } else { Fate::Pass }
    });
    pair.transfer(CLIENT, 10 * 1448);
    let after = *pair.tcp(CLIENT).counters();
    assert_eq!((after.loss_probes - before.loss_probes, after.timeouts - before.timeouts), (1, 0));
}

#[test]
fn a_segment_that_the_probe_repeated_waits_for_one_timeout_only() {
    let mut pair = warm(Setup::tcp());
    let before = *pair.tcp(CLIENT).counters();
    let mut number = 0;
    pair.tamper(move |leaving| {
        // The last three segments are lost, and the probe that repeats the last one.
        number += u32::from(leaving.from == CLIENT && has_data(leaving.segment));
        if leaving.from == CLIENT && (8..=11).contains(&number) { Fate::Drop } else { Fate::Pass }
    });
    pair.transfer(CLIENT, 10 * 1448);
    let after = *pair.tcp(CLIENT).counters();
    assert_eq!((after.loss_probes - before.loss_probes, after.timeouts - before.timeouts), (1, 1));
}

#[test]
fn a_probe_that_overtakes_a_late_original_costs_nothing() {
    // The D-SACK that tells so comes when nothing is outstanding any more.
    let mut pair = warm(Setup::tcp());
    let (window, before) = (pair.cwnd(CLIENT, 0), *pair.tcp(CLIENT).counters());
    let mut number = 0;
    pair.tamper(move |leaving| {
        number += u32::from(leaving.from == CLIENT && has_data(leaving.segment));
        if leaving.from == CLIENT && number == 10 { Fate::Late(ms(320)) } else { Fate::Pass }
    });
    for _ in 0..2 {
        pair.transfer(CLIENT, 10 * 1448);
        pair.settle();
    }
    assert_eq!(pair.tcp(CLIENT).counters().loss_probes - before.loss_probes, 1);
    assert!(pair.cwnd(CLIENT, 0) >= window, "{} < {window}", pair.cwnd(CLIENT, 0));
}

/// The path stands still for a moment: everything the client sends within it arrives at its end.
fn delay_spike(pair: &mut Pair, length: subflow_quantity::Duration) {
    let end = pair.now() + length;
    pair.tamper(move |leaving| if leaving.at < end { Fate::Late(end.since(leaving.at)) } else { Fate::Pass });
}

#[test]
fn a_delay_spike_is_recognised_and_undone() {
    for (frto, timestamps) in [(true, true), (true, false), (false, true)] {
        let setup = Setup::tcp().both(|stack| (stack.tcp.frto, stack.tcp.timestamps) = (frto, timestamps));
        let mut pair = warm(setup);
        pair.transfer(CLIENT, 60 * 1448);
        let (window, before) = (pair.cwnd(CLIENT, 0), *pair.tcp(CLIENT).counters());
        delay_spike(&mut pair, ms(400));
        pair.transfer(CLIENT, 200 * 1448);
        let after = *pair.tcp(CLIENT).counters();
        let case = format!("F-RTO {frto}, timestamps {timestamps}");
        assert!(after.timeouts > before.timeouts, "{case}: a timeout was provoked");
        assert!(after.undos > before.undos && pair.cwnd(CLIENT, 0) >= window, "{case}: {after:?}");
        assert!(after.retransmissions - before.retransmissions <= 4, "{case}: {after:?}");
    }
}

#[test]
fn without_undo_a_delay_spike_costs_the_window() {
    let mut pair = warm(Setup::tcp().both(|stack| (stack.tcp.frto, stack.tcp.undo) = (false, false)));
    pair.transfer(CLIENT, 60 * 1448);
    delay_spike(&mut pair, ms(400));
    pair.transfer(CLIENT, 200 * 1448);
    assert_eq!(pair.tcp(CLIENT).counters().undos, 0);
}
