//! Paths that drop large packets, of which no router tells (RFC 4821, section 7.7).

use std::collections::BTreeSet;

use crate::harness::tamper::drop_all;
use crate::harness::{CLIENT, Fate, Pair, SERVER, Setup, ms, secs};

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
