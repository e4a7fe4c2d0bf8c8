//! Paths that drop large packets, of which no router tells (RFC 4821, section 7.7).

use std::collections::BTreeSet;

use subflow_quantity::Instant;
use subflow_transport::Endpoint;

use crate::harness::tamper::drop_all;
use crate::harness::{CLIENT, Fate, Pair, Path, SERVER, Setup, ms, secs};

const DATA: u64 = 500_000;

/// A connection over one path that drops segments with more than `most` bytes of payload.
fn carrying_at_most(most: u32, detection: bool) -> Pair {
    let mut pair = Setup::tcp().both(|stack| stack.tcp.black_hole_detection = detection).connected();
    pair.tamper(drop_all(move |leaving| leaving.segment.payload.length > most));
    pair.write(CLIENT, DATA);
    pair
}

#[test]
fn packets_become_as_small_as_arrive() {
    // Headers with timestamps take 52 bytes.
    for (most, mtu) in [(1448, 1500), (1447, 1280), (1228, 1280), (1227, 552), (500, 552)] {
        let mut pair = carrying_at_most(most, true);
        pair.run_until("the data", |pair| pair.received(SERVER) == DATA);
        assert_eq!(pair.tcp(CLIENT).path_mtu(), mtu, "{most}");
        assert_eq!(pair.tcp(SERVER).path_mtu(), 1500, "it has sent nothing large");
    }
}

#[test]
fn without_detection_the_data_does_not_arrive() {
    let mut pair = carrying_at_most(1447, false);
    pair.run_for(secs(300));
    assert!(pair.received(SERVER) < DATA);
    assert_eq!(pair.tcp(CLIENT).path_mtu(), 1500);
}

#[test]
fn a_path_that_was_down_carries_large_packets_afterwards() {
    let mut pair = carrying_at_most(1448, true);
    pair.run_for(ms(30));
    pair.tamper(drop_all(|_| true));
    pair.run_for(secs(5));
    assert!(pair.tcp(CLIENT).counters().timeouts > 3);
    pair.stop_tampering();
    pair.run_until("the data", |pair| pair.received(SERVER) == DATA);
    assert_eq!(pair.tcp(CLIENT).path_mtu(), 1500);
}

#[test]
fn losses_after_an_outage_do_not_make_packets_small() {
    for lost in 1..=12 {
        let mut pair = carrying_at_most(1448, true);
        pair.run_for(ms(30));
        pair.tamper(drop_all(|_| true));
        pair.run_for(secs(5));
        pair.stop_tampering();
        // Each is lost once, and passes when it is sent again.
        let mut seen = BTreeSet::new();
        pair.tamper(move |leaving| {
            let large = leaving.segment.payload.length > 1300;
            if large && seen.len() < lost && seen.insert(leaving.segment.sequence) { Fate::Drop } else { Fate::Pass }
        });
        pair.run_until("the data", |pair| pair.received(SERVER) == DATA);
        assert_eq!(pair.tcp(CLIENT).path_mtu(), 1500, "{lost} lost");
    }
}

#[test]
fn a_subflow_in_a_black_hole_carries_data_again() {
    let mut pair = Setup::mptcp(2, 1).both(|stack| stack.tcp.black_hole_detection = true).connected();
    pair.transfer(CLIENT, 5000);
    pair.settle();
    pair.tamper(drop_all(|leaving| leaving.path == 1 && leaving.segment.payload.length > 1300));
    pair.transfer(CLIENT, DATA);
    pair.run_for(secs(10));
    let carried = |pair: &Pair| pair.mptcp(CLIENT).subflows()[1].connection().counters().bytes_acknowledged;
    let mtus = pair.mptcp(CLIENT).subflows().iter().map(|subflow| subflow.connection().path_mtu());
    assert_eq!(mtus.collect::<Vec<_>>(), [1500, 1280]);
    let before = carried(&pair);
    pair.transfer(CLIENT, 10 * DATA);
    assert!(carried(&pair) > before + 10 * 1204, "{before}, {}", carried(&pair));
}

/// Drops packets above `mtu` bytes and says nothing.
fn path_of(pair: &mut Pair, mtu: u32) {
    pair.stop_tampering();
    // Headers with timestamps take 52 bytes.
    pair.tamper(drop_all(move |leaving| leaving.segment.payload.length + 52 > mtu));
}

/// A connection whose path has had an MTU of 1280 bytes without telling; 590 s are over since packets became small.
fn after_a_black_hole() -> Pair {
    // With a rate, no segment leaves at the same instant as another, which RACK could not tell apart.
    let setup = Setup::tcp().path(0, Path::with_delay(ms(10)).rate(100, 1000));
    let mut pair = setup.both(|stack| stack.tcp.black_hole_detection = true).connected();
    path_of(&mut pair, 1280);
    pair.transfer(CLIENT, DATA);
    assert_eq!(pair.tcp(CLIENT).path_mtu(), 1280);
    pair.run_for(secs(590));
    pair
}

/// The client's slow start threshold.
fn threshold(pair: &Pair) -> u32 {
    match pair.endpoint(CLIENT) {
        Endpoint::Tcp(tcp) => tcp.congestion().path(0).ssthresh(),
        _ => panic!("no TCP connection"),
    }
}

/// Sizes of packets with data that the client has sent since `from`.
fn sizes(pair: &Pair, from: Instant) -> BTreeSet<u32> {
    let payloads = pair.sent(CLIENT, from).map(|sent| sent.segment.payload.length);
    payloads.filter(|&length| length > 1200).map(|length| length + 52).collect()
}

#[test]
fn packets_become_large_again_ten_minutes_after_a_black_hole_if_the_path_carries_them() {
    let mut pair = after_a_black_hole();
    pair.stop_tampering();
    let early = pair.now();
    pair.transfer(CLIENT, DATA);
    assert_eq!((pair.tcp(CLIENT).path_mtu(), sizes(&pair, early)), (1280, [1280].into()), "not before");
    pair.run_for(secs(20));
    let before = *pair.tcp(CLIENT).counters();
    pair.transfer(CLIENT, DATA);
    let after = pair.tcp(CLIENT).counters();
    assert_eq!(pair.tcp(CLIENT).path_mtu(), 1500);
    assert_eq!((after.retransmissions, after.timeouts), (before.retransmissions, before.timeouts));
    let late = pair.now();
    pair.transfer(CLIENT, DATA);
    assert_eq!(sizes(&pair, late).last(), Some(&1500));
}

#[test]
fn a_probe_that_is_lost_costs_a_retransmission_and_no_window() {
    let mut pair = after_a_black_hole();
    pair.run_for(secs(20));
    let (before, start) = (*pair.tcp(CLIENT).counters(), pair.now());
    let before_threshold = threshold(&pair);
    let mut least = u32::MAX;
    pair.write(CLIENT, DATA);
    while pair.received(SERVER) < 2 * DATA {
        pair.run_for(ms(1));
        least = least.min(pair.cwnd(CLIENT, 0));
    }
    let after = pair.tcp(CLIENT).counters();
    assert_eq!((pair.tcp(CLIENT).path_mtu(), after.recoveries), (1280, before.recoveries));
    assert_eq!((after.timeouts, after.undos), (before.timeouts, before.undos));
    // Each probe is lost, and is sent again in two parts.
    let probes: Vec<u32> = sizes(&pair, start).into_iter().filter(|&size| size > 1280).collect();
    assert_eq!(probes, [1286, 1293, 1307, 1335, 1390, 1500], "{probes:?}");
    assert_eq!(after.retransmissions, before.retransmissions + 2 * probes.len() as u64);
    assert!(least >= 10 && threshold(&pair) >= before_threshold, "{least}, {before_threshold}");
    // The next search begins ten minutes later.
    let later = pair.now();
    pair.transfer(CLIENT, DATA);
    assert_eq!(sizes(&pair, later), [1280].into());
}

#[test]
fn the_search_finds_what_lies_between() {
    for mtu in [1300, 1400, 1472, 1499] {
        let mut pair = after_a_black_hole();
        pair.run_for(secs(20));
        path_of(&mut pair, mtu);
        let recoveries = pair.tcp(CLIENT).counters().recoveries;
        pair.transfer(CLIENT, 4 * DATA);
        let found = u32::from(pair.tcp(CLIENT).path_mtu());
        assert!((mtu - 8..=mtu).contains(&found), "{mtu}: {found}");
        assert_eq!(pair.tcp(CLIENT).counters().recoveries, recoveries, "{mtu}");
    }
}

#[test]
fn a_path_that_becomes_narrow_again_is_found_out_again() {
    let mut pair = after_a_black_hole();
    pair.stop_tampering();
    pair.run_for(secs(20));
    pair.transfer(CLIENT, DATA);
    assert_eq!(pair.tcp(CLIENT).path_mtu(), 1500);
    path_of(&mut pair, 1280);
    pair.transfer(CLIENT, DATA);
    assert_eq!(pair.tcp(CLIENT).path_mtu(), 1280);
    pair.stop_tampering();
    pair.run_for(secs(601));
    pair.transfer(CLIENT, DATA);
    assert_eq!(pair.tcp(CLIENT).path_mtu(), 1500);
}

#[test]
fn losses_beside_that_of_a_probe_are_repaired_without_a_timeout() {
    for neighbour in 1..=4 {
        let mut pair = after_a_black_hole();
        pair.run_for(secs(20));
        let mut behind = None;
        pair.tamper(move |leaving| {
            let length = leaving.segment.payload.length;
            if length + 52 > 1280 {
                behind.get_or_insert(0);
                return Fate::Drop;
            }
            match &mut behind {
                Some(count) if length > 0 => {
                    *count += 1;
                    if *count == neighbour { Fate::Drop } else { Fate::Pass }
                }
                _ => Fate::Pass,
            }
        });
        let timeouts = pair.tcp(CLIENT).counters().timeouts;
        pair.transfer(CLIENT, DATA);
        let connection = pair.tcp(CLIENT);
        assert_eq!((connection.path_mtu(), connection.counters().timeouts), (1280, timeouts), "{neighbour}");
    }
}

#[test]
fn a_subflow_s_packets_become_large_again() {
    let mut pair = Setup::mptcp(2, 1).both(|stack| stack.tcp.black_hole_detection = true).connected();
    pair.transfer(CLIENT, 5000);
    pair.settle();
    pair.tamper(drop_all(|leaving| leaving.path == 1 && leaving.segment.payload.length > 1300));
    pair.transfer(CLIENT, DATA);
    pair.run_for(secs(10));
    let mtus = |pair: &Pair| -> Vec<u16> {
        pair.mptcp(CLIENT).subflows().iter().map(|subflow| subflow.connection().path_mtu()).collect()
    };
    assert_eq!(mtus(&pair), [1500, 1280]);
    pair.run_for(secs(600));
    pair.stop_tampering();
    pair.transfer(CLIENT, 10 * DATA);
    assert_eq!(mtus(&pair), [1500, 1500]);
}
