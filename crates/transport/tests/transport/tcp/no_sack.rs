//! Peers without SACK: fast retransmit by duplicate acknowledgments and NewReno (RFC 5681, RFC 6582). And peers without
//! timestamps, or with neither.

use subflow_transport::tcp::Counters;

use crate::harness::tamper::{delay_first, drop_data, has_data};
use crate::harness::{CLIENT, Pair, SERVER, Setup, ms, secs};

fn without_sack() -> Setup {
    Setup::tcp().on(SERVER, |stack| {
        stack.tcp.sack = false;
        stack.receive_buffer(1 << 20);
    })
}

/// A transfer of 100 segments whose segments of these numbers are lost once.
fn transfer_losing(setup: Setup, numbers: &[u64]) -> (Pair, Counters) {
    let mut pair = setup.connected();
    pair.tamper(drop_data(CLIENT, numbers));
    let took = pair.transfer(CLIENT, 100 * 1448);
    assert!(took < secs(1), "{took:?}");
    let counters = *pair.tcp(CLIENT).counters();
    (pair, counters)
}

#[test]
fn three_duplicates_make_a_fast_retransmission() {
    let (mut pair, counters) = transfer_losing(without_sack(), &[20]);
    assert_eq!((counters.recoveries, counters.timeouts, counters.retransmissions), (1, 0, 1));
    assert!(pair.log.iter().all(|sent| sent.segment.options.sack.is_empty()));
    pair.close_gracefully();
}

#[test]
fn a_partial_acknowledgment_repairs_the_next_hole_without_leaving_recovery() {
    let (_, counters) = transfer_losing(without_sack(), &[20, 22, 25]);
    assert_eq!((counters.recoveries, counters.timeouts, counters.retransmissions), (1, 0, 3));
}

#[test]
fn the_window_is_halved_once() {
    let (pair, _) = transfer_losing(without_sack(), &[20, 22]);
    let flight = 2 * 10;
    assert!((flight / 2 - 2..=flight).contains(&pair.cwnd(CLIENT, 0)), "{}", pair.cwnd(CLIENT, 0));
}

#[test]
fn two_duplicates_are_only_reordering() {
    let mut pair = without_sack().connected();
    pair.transfer(CLIENT, 50_000);
    let before = *pair.tcp(CLIENT).counters();
    // Two segments overtake the third from the end.
    pair.tamper(delay_first(ms(3), |leaving| leaving.from == CLIENT && has_data(leaving.segment)));
    pair.transfer(CLIENT, 3 * 1448);
    pair.settle();
    assert_eq!(pair.tcp(CLIENT).counters().retransmissions, before.retransmissions);
}

#[test]
fn a_lost_retransmission_costs_a_timeout() {
    let mut pair = without_sack().connected();
    let mut copies = 0;
    pair.tamper(move |leaving| {
        let tenth = leaving.from == CLIENT && leaving.segment.payload.stream_offset == 9 * 1448;
        copies += u32::from(tenth);
        if tenth && copies <= 2 { crate::harness::Fate::Drop } else { crate::harness::Fate::Pass }
    });
    pair.transfer(CLIENT, 60 * 1448);
    assert_eq!(pair.tcp(CLIENT).counters().timeouts, 1);
    pair.close_gracefully();
}

#[test]
fn after_a_timeout_everything_is_repaired_in_slow_start() {
    let mut pair = without_sack().connected();
    pair.induce_loss(10);
    pair.transfer(CLIENT, 80 * 1448);
    assert_eq!(pair.tcp(CLIENT).counters().timeouts, 1);
    pair.close_gracefully();
}

#[test]
fn a_peer_without_timestamps_is_served_as_well() {
    for sack in [true, false] {
        let setup = Setup::tcp().on(SERVER, |stack| {
            (stack.tcp.timestamps, stack.tcp.sack) = (false, sack);
            stack.receive_buffer(1 << 20);
        });
        let (mut pair, counters) = transfer_losing(setup, &[20, 22]);
        assert_eq!((counters.timeouts, counters.retransmissions), (0, 2));
        assert_eq!(pair.tcp(CLIENT).mss(), 1460, "no timestamps, no room for them");
        pair.close_gracefully();
    }
}
