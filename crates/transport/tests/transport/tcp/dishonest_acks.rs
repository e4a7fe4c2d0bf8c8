//! A receiver that acknowledges what has not arrived, or takes back what it has reported (RFC 9293, section 3.10.7.4;
//! RFC 5961, section 5; RFC 2018, section 8).

use std::collections::BTreeSet;

use subflow_wire::tcp::{SackBlock, TcpSegment};

use crate::harness::tamper::has_data;
use crate::harness::{CLIENT, Pair, SERVER, Setup, ms, secs};

const WINDOW: u64 = 65_536;
const MSS: u64 = 1448;

/// A client whose packets are lost from now on, and the server's latest acknowledgment.
fn unheard() -> (Pair, TcpSegment) {
    unheard_with(false)
}

/// The same with or without detection of black holes.
fn unheard_with(detection: bool) -> (Pair, TcpSegment) {
    let setup = Setup::tcp().both(|stack| stack.receive_buffer(WINDOW));
    let mut pair = setup.both(|stack| stack.tcp.black_hole_detection = detection).connected();
    pair.transfer(CLIENT, MSS);
    pair.settle();
    pair.paths[0].up = false;
    let last = pair.log.iter().rfind(|sent| sent.from == SERVER).expect("it has acknowledged").segment.clone();
    (pair, last)
}

/// An acknowledgment of `bytes` more than `last` reaches the client, with these blocks behind it.
fn acknowledge(pair: &mut Pair, last: &TcpSegment, bytes: u64, blocks: &[(u64, u64)]) {
    let mut ack = last.clone();
    ack.acknowledgment = last.acknowledgment.wrapping_add(bytes as u32);
    let at = |offset: u64| last.acknowledgment.wrapping_add(offset as u32);
    ack.options.sack.extend(blocks.iter().map(|&(left, right)| SackBlock { left: at(left), right: at(right) }));
    let packet = pair.first_path(CLIENT, ack);
    pair.inject(CLIENT, &packet, ms(1));
    pair.run_for(ms(1));
}

/// The end of what the client has sent, counted from what `unheard` has acknowledged.
fn sent_end(pair: &Pair) -> u64 {
    let data = pair.log.iter().filter(|sent| sent.from == CLIENT && has_data(&sent.segment));
    let ends = data.map(|sent| sent.segment.payload.stream_offset + u64::from(sent.segment.payload.length));
    ends.max().expect("data was sent") - MSS
}

#[test]
fn optimistic_acknowledgments_make_no_more_be_sent_at_a_time_than_the_window_that_was_offered() {
    let (mut pair, last) = unheard();
    pair.write(CLIENT, 10_000_000);
    let mut acknowledged = 0;
    for _ in 0..150 {
        let end = sent_end(&pair);
        assert!(end - acknowledged <= WINDOW, "{} bytes", end - acknowledged);
        acknowledged = end;
        acknowledge(&mut pair, &last, acknowledged, &[]);
    }
    assert!(acknowledged > 60 * WINDOW, "{acknowledged} bytes: the attack had no effect");
    // What was never sent is acknowledged in vain, and the answers are at least half a second apart.
    let (start, beyond) = (pair.now(), sent_end(&pair) + 1_000_000);
    let next = pair.endpoint(CLIENT).bytes_acknowledged();
    (0..100).for_each(|_| acknowledge(&mut pair, &last, beyond, &[]));
    assert_eq!(pair.endpoint(CLIENT).bytes_acknowledged(), next);
    assert!(pair.sent(CLIENT, start).filter(|sent| !has_data(&sent.segment)).count() <= 1);
}

#[test]
fn a_retransmission_is_not_repeated_for_each_duplicate_within_a_block_of_what_was_never_sent() {
    let (mut pair, last) = unheard();
    pair.write(CLIENT, 4 * MSS);
    pair.run_for(secs(1));
    assert!(pair.tcp(CLIENT).counters().timeouts > 0, "so that the first segment was sent again");
    let start = pair.now();
    (0..100).for_each(|_| acknowledge(&mut pair, &last, 0, &[(0, MSS), (0, 100 * MSS)]));
    assert!(pair.sent(CLIENT, start).count() < 10);
}

/// A block that begins where the acknowledgment ends reports the earliest segment.
#[test]
fn the_earliest_segment_that_was_sacked_and_not_acknowledged_is_sent_again_after_a_timeout() {
    for detection in [false, true] {
        let (mut pair, last) = unheard_with(detection);
        pair.write(CLIENT, MSS);
        acknowledge(&mut pair, &last, 0, &[(0, MSS)]);
        let start = pair.now();
        pair.run_for(secs(30));
        assert!(pair.tcp(CLIENT).counters().timeouts > 3, "so that small segments are tried");
        let sent: u64 = pair.sent(CLIENT, start).map(|sent| u64::from(sent.segment.payload.length)).sum();
        assert!(sent > 3 * MSS, "{sent} bytes");
        acknowledge(&mut pair, &last, MSS, &[]);
        assert_eq!(pair.endpoint(CLIENT).bytes_acknowledged(), 2 * MSS);
        // Nothing is believed to be in flight, so that more can be sent.
        assert_eq!(pair.tcp(CLIENT).in_flight(), 0);
        assert!(pair.cwnd(CLIENT, 0) >= 1);
    }
}

#[test]
fn what_was_sacked_is_kept_until_it_is_acknowledged_and_sent_again_from_a_window_of_one() {
    let (mut pair, last) = unheard();
    pair.write(CLIENT, 10 * MSS);
    acknowledge(&mut pair, &last, 0, &[(MSS, 10 * MSS)]);
    let start = pair.now();
    // The first segment has arrived, and what was reported behind it is gone.
    acknowledge(&mut pair, &last, MSS, &[]);
    assert!(pair.cwnd(CLIENT, 0) <= 2, "{}", pair.cwnd(CLIENT, 0));
    // The last one may have to wait for the timer, which is long because the timestamps of the forged echoes are old.
    for number in 2..10 {
        pair.run_for(ms(100));
        acknowledge(&mut pair, &last, number * MSS, &[]);
    }
    pair.run_for(secs(10));
    let sent = pair.sent(CLIENT, start).filter(|sent| has_data(&sent.segment));
    let again: BTreeSet<u64> = sent.map(|sent| sent.segment.payload.stream_offset / MSS).collect();
    assert_eq!(again, (1..=10).collect(), "every segment that was not acknowledged was sent again");
    acknowledge(&mut pair, &last, 10 * MSS, &[]);
    assert_eq!(pair.endpoint(CLIENT).bytes_acknowledged(), 11 * MSS);
}
