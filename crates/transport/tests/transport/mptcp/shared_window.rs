//! One receive window for all subflows (RFC 8684, section 3.3.5), and what helps where it is small: opportunistic
//! retransmission and penalisation.

use subflow_quantity::Duration;
use subflow_transport::tcp::config::{ReceiveBuffer, SendBuffer};

use super::exchange_and_close;
use crate::harness::tamper::is_syn_ack;
use crate::harness::{CLIENT, Fate, Pair, Path, SERVER, Setup, ms, secs};

fn stalled(buffer: u64) -> Pair {
    let mut pair = Setup::mptcp(2, 1).on(SERVER, |stack| stack.receive_buffer(buffer)).connected();
    pair.transfer(CLIENT, 3000);
    pair.settle();
    pair.act(SERVER, |endpoint, now| endpoint.set_reading(false, now));
    pair.write(CLIENT, 300_000);
    pair.run_for(secs(3));
    pair
}

#[test]
fn a_reader_that_stops_closes_the_window_of_all_subflows() {
    let pair = stalled(40_000);
    let unread = pair.received(SERVER) - 3000;
    assert!((36_000..=41_500).contains(&unread), "{unread}");
    for path in [0, 1] {
        let last = pair.log.iter().rfind(|sent| sent.from == SERVER && sent.path == path).expect("acknowledgments");
        assert!(u32::from(last.segment.window) < 2000, "path {path}: {}", last.segment.window);
    }
}

#[test]
fn a_new_subflow_does_not_open_it() {
    let mut pair = stalled(40_000);
    // As Linux does: the handshake of a join offers a window as if nothing had been received.
    pair.tamper(|leaving| {
        if leaving.from == SERVER && is_syn_ack(leaving.segment) {
            leaving.segment.window = 60_000;
        }
        Fate::Pass
    });
    let before = pair.received(SERVER);
    pair.lose_address(CLIENT, 1);
    pair.run_for(ms(500));
    pair.regain_address(CLIENT, 1);
    pair.run_for(secs(3));
    assert_eq!(pair.established_subflows(CLIENT), 2);
    assert!(pair.received(SERVER) - before < 3000, "{}", pair.received(SERVER) - before);
    pair.act(SERVER, |endpoint, now| endpoint.set_reading(true, now));
    pair.run_until("the data", |pair| pair.received(SERVER) == 303_000);
    exchange_and_close(&mut pair);
}

#[test]
fn a_reader_that_goes_on_opens_it() {
    for wait in [0, 1, 30] {
        let mut pair = stalled(40_000);
        pair.run_for(secs(wait));
        pair.act(SERVER, |endpoint, now| endpoint.set_reading(true, now));
        let start = pair.now();
        pair.run_until("the data", |pair| pair.received(SERVER) == 303_000);
        assert!(pair.now().since(start) < ms(500), "{:?}", pair.now().since(start));
        exchange_and_close(&mut pair);
    }
}

/// The buffer is the connection's, but each subflow opens the window by what it receives itself, and acknowledges every
/// segment meanwhile (Linux `tcp_grow_window`).
#[test]
fn after_the_buffer_has_grown_the_slower_subflow_acknowledges_every_segment() {
    let fast = Path::with_delay(ms(20)).rate(100, 500);
    let slow = Path::with_delay(ms(20)).rate(2, 20);
    let mut pair = Setup::mptcp(2, 1).path(0, fast).path(1, slow).connected();
    pair.write(CLIENT, 20_000_000);
    pair.run_for(secs(1));
    let start = pair.now();
    pair.run_for(ms(500));
    let segments_an_acknowledgment = |path| {
        let of = |side| pair.sent(side, start).filter(|sent| sent.path == path).count() as f64;
        of(CLIENT) / of(SERVER)
    };
    assert!(segments_an_acknowledgment(0) > 1.8, "{}", segments_an_acknowledgment(0));
    assert!(segments_an_acknowledgment(1) < 1.2, "{}", segments_an_acknowledgment(1));
    pair.run_until("the data", |pair| pair.received(SERVER) == 20_000_000);
    exchange_and_close(&mut pair);
}

/// The buffer does not grow again after the change of paths, and the new subflow may use all of it.
#[test]
fn a_subflow_that_joins_late_has_the_buffer_that_the_connection_has_grown() {
    for own in [false, true] {
        let path = Path::with_delay(ms(40)).rate(100, 700);
        let setup = Setup::mptcp(2, 1).path(0, path.clone()).path(1, path);
        let mut pair = setup.both(|stack| stack.multipath().subflows_open_window = own).connected();
        pair.lose_address(CLIENT, 1);
        pair.write(CLIENT, 300_000_000);
        pair.run_for(secs(6));
        pair.regain_address(CLIENT, 1);
        pair.run_for(secs(1));
        pair.lose_address(CLIENT, 0);
        pair.run_for(secs(2));
        let before = pair.received(SERVER);
        pair.run_for(secs(5));
        let rate = (pair.received(SERVER) - before) as f64 * 8e-6 / 5.0;
        assert!(rate > 85.0, "subflows_open_window = {own}: {rate} of 100 Mbit/s");
    }
}

#[test]
fn a_lost_window_update_is_asked_for() {
    let mut pair = stalled(40_000);
    for path in &mut pair.paths {
        path.up = false;
    }
    pair.act(SERVER, |endpoint, now| endpoint.set_reading(true, now));
    for path in &mut pair.paths {
        path.up = true;
    }
    pair.run_until("the data", |pair| pair.received(SERVER) == 303_000);
    exchange_and_close(&mut pair);
}

#[test]
fn a_slow_reader_is_never_given_up() {
    let mut pair = stalled(20_000);
    pair.run_for(secs(4 * 3600));
    pair.act(SERVER, |endpoint, now| endpoint.set_reading(true, now));
    pair.run_until("the data", |pair| pair.received(SERVER) == 303_000);
    exchange_and_close(&mut pair);
}

#[test]
fn tiny_buffers_pass_everything() {
    for buffer in [1, 500, 1424, 3000, 10_000] {
        let mut pair = Setup::mptcp(2, 1).both(|stack| stack.receive_buffer(buffer)).connected();
        let bytes = 30 * buffer;
        pair.write(SERVER, bytes);
        pair.transfer(CLIENT, bytes);
        pair.close_gracefully();
        assert_eq!((pair.received(CLIENT), pair.received(SERVER)), (bytes, bytes), "buffer {buffer}");
    }
}

#[test]
fn the_buffer_is_filled_by_the_slow_path_but_never_exceeded() {
    let setup = Setup::mptcp(2, 1).path(0, Path::with_delay(ms(5)).rate(50, 100)).path(1, Path::with_delay(ms(200)));
    let mut pair = setup.on(SERVER, |stack| stack.receive_buffer(60_000)).connected();
    pair.write(CLIENT, 1_000_000);
    while pair.received(SERVER) < 1_000_000 && pair.step() {
        assert!(pair.mptcp(SERVER).out_of_order_bytes() <= 62_000, "{}", pair.mptcp(SERVER).out_of_order_bytes());
    }
    exchange_and_close(&mut pair);
}

/// How long 3 MB take over a fast path and one with this delay, with a receive buffer of 100 000 bytes.
fn over_a_slow_path(delay: Duration, opportunistic: bool, penalise: bool) -> (Duration, Pair) {
    let fast = Path::with_delay(ms(5)).rate(20, 50);
    let slow = Path::with_delay(delay).rate(1, 100);
    let setup = Setup::mptcp(2, 1).path(0, fast).path(1, slow).both(|stack| {
        stack.tcp.receive_buffer = ReceiveBuffer::Fixed(100_000);
        let multipath = stack.multipath();
        (multipath.opportunistic_retransmission, multipath.penalisation) = (opportunistic, penalise);
    });
    let mut pair = setup.connected();
    let took = pair.transfer(CLIENT, 3_000_000);
    (took, pair)
}

#[test]
fn opportunistic_retransmission_and_penalisation_make_a_small_buffer_bearable() {
    let (without, _) = over_a_slow_path(ms(150), false, false);
    let (with, mut pair) = over_a_slow_path(ms(150), true, true);
    assert!(with * 3 < without * 2, "{with:?} against {without:?}");
    let counters = *pair.mptcp(CLIENT).counters();
    assert!(counters.bytes_reinjected > 0 && counters.penalties > 0, "{counters:?}");
    exchange_and_close(&mut pair);
}

#[test]
fn a_penalty_in_slow_start_halves_the_window_and_leaves_the_threshold() {
    let (_, pair) = over_a_slow_path(ms(150), true, true);
    let slow = pair.mptcp(CLIENT).congestion().path(1);
    assert!(slow.in_slow_start() && slow.ssthresh() > 1000, "nothing was lost on it: {slow:?}");
    assert!(slow.cwnd() < 10, "the window it began with: {slow:?}");
}

#[test]
fn penalties_are_a_round_trip_of_the_fast_path_apart() {
    let (took, pair) = over_a_slow_path(ms(150), true, true);
    let penalties = pair.mptcp(CLIENT).counters().penalties;
    assert!(ms(10) * penalties <= took, "{penalties} in {took:?}");
}

#[test]
fn copies_are_made_only_where_they_arrive_much_earlier() {
    for (delay, is_repeated) in [(ms(15), false), (ms(150), true)] {
        // The fast path loses packets and leaves some to the slow one, which keeps its window of ten.
        let setup = Setup::mptcp(2, 1).path(0, Path::with_delay(ms(5)).rate(20, 10));
        let setup = setup.path(1, Path::with_delay(delay).rate(20, 500)).both(|stack| {
            stack.tcp.receive_buffer = ReceiveBuffer::Fixed(60_000);
            stack.multipath().opportunistic_retransmission = true;
        });
        let mut pair = setup.connected();
        pair.run_for(secs(1));
        pair.transfer(CLIENT, 3_000_000);
        let counters = *pair.mptcp(CLIENT).counters();
        assert_eq!((counters.bytes_reinjected > 0, counters.penalties), (is_repeated, 0), "{delay:?}: {counters:?}");
    }
}

#[test]
fn a_full_send_buffer_lets_the_fast_path_repeat_what_blocks_it() {
    for (send_buffer, is_repeated) in [(SendBuffer::Fixed(200_000), true), (SendBuffer::Unlimited, false)] {
        let setup = Setup::mptcp(2, 1).path(0, Path::with_delay(ms(5)).rate(20, 10));
        let setup = setup.path(1, Path::with_delay(ms(150)).rate(20, 500)).both(|stack| {
            stack.tcp.send_buffer = send_buffer;
            stack.receive_buffer(8 << 20);
            stack.multipath().opportunistic_retransmission = true;
        });
        let mut pair = setup.connected();
        pair.run_for(secs(1));
        pair.transfer(CLIENT, 3_000_000);
        let counters = *pair.mptcp(CLIENT).counters();
        assert_eq!(counters.bytes_reinjected > 0, is_repeated, "{counters:?}");
    }
}

#[test]
fn switched_off_nothing_is_repeated_or_penalised() {
    let (_, pair) = over_a_slow_path(ms(150), false, false);
    let counters = *pair.mptcp(CLIENT).counters();
    assert_eq!((counters.bytes_reinjected, counters.penalties), (0, 0));
}
