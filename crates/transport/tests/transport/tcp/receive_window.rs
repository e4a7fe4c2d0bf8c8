//! Flow control: closed windows and probes, slivers, buffers smaller than a segment (RFC 9293, section 3.8.6).

use subflow_quantity::Duration;
use subflow_transport::Event;
use subflow_transport::tcp::{Closed, State};

use crate::harness::tamper::{drop_all, drop_first, has_data, is_pure_ack};
use crate::harness::{CLIENT, Pair, SERVER, Setup, ms, secs};

/// The server does not read, and its buffer of 20 000 bytes is full.
fn stalled() -> Pair {
    let mut pair = Setup::tcp().on(SERVER, |stack| stack.receive_buffer(20_000)).connected();
    pair.act(SERVER, |endpoint, now| endpoint.set_reading(false, now));
    pair.write(CLIENT, 100_000);
    pair.run_for(secs(2));
    pair
}

fn read_again(pair: &mut Pair) {
    pair.act(SERVER, |endpoint, now| endpoint.set_reading(true, now));
}

#[test]
fn a_full_buffer_stops_the_sender() {
    let pair = stalled();
    let received = pair.received(SERVER);
    assert!((18_000..=20_000).contains(&received), "{received}");
    assert_eq!(pair.log.iter().rfind(|sent| sent.from == SERVER).map(|sent| sent.segment.window), Some(0));
}

#[test]
fn a_closed_window_is_probed_with_backoff() {
    let mut pair = stalled();
    let start = pair.now();
    pair.run_for(secs(20));
    let probes: Vec<_> = pair.sent(CLIENT, start).map(|sent| sent.at.since(start)).collect();
    assert!((3..=8).contains(&probes.len()), "{probes:?}");
    let gaps: Vec<_> = probes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.windows(2).all(|pair| pair[1] > pair[0] + pair[0] / 2), "each gap is twice the last: {gaps:?}");
}

#[test]
fn a_peer_that_answers_probes_is_never_given_up() {
    let mut pair = stalled();
    pair.run_for(secs(3 * 3600));
    assert_eq!(pair.state(CLIENT), State::Established);
    read_again(&mut pair);
    pair.run_until("the rest", |pair| pair.received(SERVER) == 100_000);
}

#[test]
fn a_peer_that_answers_no_probe_is_given_up() {
    let mut pair = stalled();
    pair.tamper(drop_all(|leaving| leaving.from == SERVER));
    pair.drive();
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::TimedOut)), 1);
}

#[test]
fn a_window_that_opens_is_announced_at_once() {
    let mut pair = stalled();
    pair.run_for(secs(2));
    let start = pair.now();
    read_again(&mut pair);
    pair.run_until("the rest", |pair| pair.received(SERVER) == 100_000);
    assert!(pair.now().since(start) < ms(200), "no probe was waited for: {:?}", pair.now().since(start));
}

#[test]
fn a_lost_window_update_is_found_by_the_next_probe() {
    let mut pair = stalled();
    pair.tamper(drop_first(1, |leaving| leaving.from == SERVER && is_pure_ack(leaving.segment)));
    read_again(&mut pair);
    let start = pair.now();
    pair.run_until("the rest", |pair| pair.received(SERVER) == 100_000);
    assert!(pair.now().since(start) < secs(2));
}

#[test]
fn no_small_segment_is_sent_because_of_a_small_window() {
    // The server reads when it likes; the window opens by more than a segment or not at all.
    let mut pair = stalled();
    for _ in 0..40 {
        pair.run_for(ms(300));
        read_again(&mut pair);
        pair.act(SERVER, |endpoint, now| endpoint.set_reading(false, now));
    }
    let sizes = pair.log.iter().map(|sent| sent.segment.payload.length).filter(|&length| length > 0);
    let slivers = sizes.filter(|&length| length < 1448).count();
    assert_eq!(pair.received(SERVER), 100_000);
    // What is left of a window when it is closed, and the last bytes, may be short.
    assert!(slivers <= 100_000 / 20_000 + 1, "{slivers} short segments");
}

#[test]
fn buffers_smaller_than_a_segment_still_pass_data() {
    for buffer in [1, 100, 600, 1000, 1448, 2000, 2900] {
        let mut pair = Setup::tcp().on(SERVER, |stack| stack.receive_buffer(buffer)).connected();
        let took = pair.transfer(CLIENT, 20 * buffer);
        assert!(took < Duration::from_secs(60), "buffer {buffer}: {took:?}");
        assert!(pair.log.iter().all(|sent| u64::from(sent.segment.payload.length) <= buffer.max(1)));
        pair.close_gracefully();
    }
}

#[test]
fn a_window_is_never_taken_back() {
    let mut pair = stalled();
    read_again(&mut pair);
    pair.run_until("the rest", |pair| pair.received(SERVER) == 100_000);
    let scale = pair.log.iter().find(|sent| sent.from == SERVER).and_then(|sent| sent.segment.options.syn.window_scale);
    let mut edge = 0u32;
    for sent in pair.log.iter().filter(|sent| sent.from == SERVER && is_pure_ack(&sent.segment)) {
        let window = u32::from(sent.segment.window) << scale.unwrap_or(0);
        let next = sent.segment.acknowledgment.wrapping_add(window);
        assert!(edge == 0 || next.wrapping_sub(edge) as i32 >= 0, "the right edge moved back");
        edge = next;
    }
}

#[test]
fn the_buffer_grows_with_what_is_read() {
    let mut pair = Setup::tcp().both(|stack| stack.tcp.initial_window = 100).connected();
    pair.transfer(CLIENT, 4_000_000);
    let windows = pair.log.iter().filter(|sent| sent.from == SERVER && !has_data(&sent.segment));
    let widest = windows.map(|sent| u64::from(sent.segment.window) << 9).max().expect("acknowledgments");
    assert!(widest > 1_000_000, "{widest}");
}
