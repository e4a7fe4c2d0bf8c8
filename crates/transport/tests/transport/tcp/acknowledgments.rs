//! When acknowledgments leave: delayed, every second segment, at once (RFC 9293, section 3.8.6.3; Linux's timings).

use subflow_transport::tcp::config::{AckPolicy, DelayedAck};

use crate::harness::tamper::{drop_data, is_pure_ack};
use crate::harness::{CLIENT, Pair, SERVER, Setup, ms};

fn delayed(segments: u16, quick_start: bool) -> AckPolicy {
    AckPolicy::Delayed(DelayedAck { segments, minimum: ms(40), maximum: ms(200), quick_start })
}

fn without_quick_start() -> Setup {
    Setup::tcp().both(|stack| stack.tcp.ack_policy = delayed(2, false))
}

/// The acknowledgments of the server since `from`, as times after it.
fn acknowledgments(pair: &Pair, from: subflow_quantity::Instant) -> Vec<subflow_quantity::Duration> {
    pair.sent(SERVER, from).filter(|sent| is_pure_ack(&sent.segment)).map(|sent| sent.at.since(from)).collect()
}

#[test]
fn a_lone_segment_is_acknowledged_after_40_ms() {
    let mut pair = without_quick_start().connected();
    let start = pair.now();
    pair.write(CLIENT, 1448);
    pair.settle();
    assert_eq!(acknowledgments(&pair, start), [ms(10 + 40)]);
}

#[test]
fn every_second_segment_is_acknowledged_at_once() {
    let mut pair = without_quick_start().connected();
    let start = pair.now();
    pair.write(CLIENT, 6 * 1448);
    pair.settle();
    assert_eq!(acknowledgments(&pair, start), [ms(10); 3]);
}

#[test]
fn an_acknowledgment_of_four_segments_waits_for_the_fourth_or_for_the_delay() {
    let mut pair = Setup::tcp().both(|stack| stack.tcp.ack_policy = delayed(4, false)).connected();
    let start = pair.now();
    pair.write(CLIENT, 10 * 1448);
    pair.settle();
    assert_eq!(acknowledgments(&pair, start), [ms(10), ms(10), ms(10 + 40)], "of four, four and two segments");
}

#[test]
fn a_hole_is_reported_at_once_however_many_segments_an_acknowledgment_covers() {
    let mut pair = Setup::tcp().both(|stack| stack.tcp.ack_policy = delayed(100, false)).connected();
    pair.tamper(drop_data(CLIENT, &[0]));
    let start = pair.now();
    pair.write(CLIENT, 4 * 1448);
    pair.run_for(ms(15));
    assert_eq!(acknowledgments(&pair, start), [ms(10); 3], "one for each segment behind the hole");
}

#[test]
fn the_first_segments_of_a_connection_are_acknowledged_one_by_one() {
    let mut pair = Setup::tcp().connected();
    let start = pair.now();
    pair.write(CLIENT, 8 * 1448);
    pair.settle();
    assert_eq!(acknowledgments(&pair, start), [ms(10); 8]);
}

#[test]
fn quick_acknowledgments_run_out() {
    // A window that grows would call for more of them.
    let mut pair = Setup::tcp().both(|stack| stack.receive_buffer(1 << 20)).connected();
    pair.transfer(CLIENT, 400 * 1448);
    let start = pair.now();
    pair.write(CLIENT, 8 * 1448);
    pair.run_for(ms(15));
    let late = acknowledgments(&pair, start).iter().filter(|&&after| after == ms(10)).count();
    assert!((4..=5).contains(&late), "one for two segments: {:?}", acknowledgments(&pair, start));
}

#[test]
fn with_the_policy_for_every_segment_there_is_no_delay() {
    let mut pair = Setup::tcp().both(|stack| stack.tcp.ack_policy = AckPolicy::EverySegment).connected();
    let start = pair.now();
    pair.write(CLIENT, 5 * 1448);
    pair.settle();
    assert_eq!(acknowledgments(&pair, start), [ms(10); 5]);
}

#[test]
fn a_hole_and_its_filling_are_acknowledged_at_once() {
    let mut pair = without_quick_start().both(|stack| stack.tcp.sack_compression = None).connected();
    pair.tamper(drop_data(CLIENT, &[0]));
    let start = pair.now();
    pair.write(CLIENT, 4 * 1448);
    pair.run_for(ms(100));
    let times = acknowledgments(&pair, start);
    assert_eq!(times[..3], [ms(10); 3], "one for each segment behind the hole");
    let filled = pair.sent(SERVER, start).last().expect("an acknowledgment");
    assert!(filled.segment.options.sack.is_empty() && times.len() == 4, "and one when it is filled: {times:?}");
}

#[test]
fn an_acknowledgment_is_piggybacked_on_a_response() {
    let mut pair = without_quick_start().connected();
    pair.write(CLIENT, 100);
    pair.run_for(ms(11));
    let start = pair.now();
    pair.write(SERVER, 100);
    pair.settle();
    assert_eq!(acknowledgments(&pair, start), []);
    assert_eq!(pair.tcp(CLIENT).counters().bytes_acknowledged, 100);
}

#[test]
fn sack_compression_thins_out_the_duplicates() {
    let count = |compressed: bool| {
        let setup = Setup::tcp().both(|stack| {
            stack.tcp.sack_compression = stack.tcp.sack_compression.filter(|_| compressed);
            stack.tcp.initial_window = 60;
            // A window that still grows keeps quick acknowledgments in stock.
            stack.receive_buffer(1_000_000);
        });
        let mut pair = setup.connected();
        pair.transfer(CLIENT, 60 * 1448);
        pair.tamper(drop_data(CLIENT, &[5]));
        let start = pair.now();
        pair.transfer(CLIENT, 60 * 1448);
        acknowledgments(&pair, start).len()
    };
    assert!(count(true) + 20 < count(false), "{} against {}", count(true), count(false));
}

#[test]
fn a_repeated_segment_is_reported_by_dsack() {
    let mut pair = Setup::tcp().connected();
    pair.transfer(CLIENT, 5 * 1448);
    let mut done = false;
    pair.tamper(move |leaving| {
        let first =
            leaving.from == CLIENT && leaving.segment.payload.length > 0 && !core::mem::replace(&mut done, true);
        if first { crate::harness::Fate::Twice } else { crate::harness::Fate::Pass }
    });
    let start = pair.now();
    pair.write(CLIENT, 1448);
    pair.settle();
    let reports: Vec<_> = pair.sent(SERVER, start).filter(|sent| !sent.segment.options.sack.is_empty()).collect();
    assert_eq!(reports.len(), 1);
    let block = reports[0].segment.options.sack[0];
    assert_eq!(block.right.wrapping_sub(block.left), 1448);
    assert_eq!(block.right, reports[0].segment.acknowledgment, "below the acknowledgment");
}
