//! Segments that are not what they seem: RFC 5961 (blind attacks), PAWS, acknowledgments of nothing.

use subflow_transport::tcp::{Closed, State};
use subflow_wire::Packet;
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use crate::harness::tamper::{drop_all, has_data, is_pure_ack};
use crate::harness::{CLIENT, Pair, SERVER, Setup, ms, secs};

/// A segment as the client would send it next, changed by `change`.
fn forge(pair: &Pair, change: impl FnOnce(&mut TcpSegment)) -> Packet {
    let last = pair.log.iter().rev().find(|sent| sent.from == CLIENT).expect("the client has spoken");
    let mut segment = last.segment.clone();
    segment.sequence = segment.sequence.wrapping_add(segment.payload.length);
    segment.payload = Default::default();
    change(&mut segment);
    pair.first_path(SERVER, segment)
}

/// Gives the server a forged segment and returns how many segments it answers with.
fn answers(pair: &mut Pair, packet: &Packet) -> usize {
    let before = pair.log.len();
    pair.inject(SERVER, packet, ms(1));
    pair.run_for(ms(5));
    pair.log[before..].iter().filter(|sent| sent.from == SERVER && is_pure_ack(&sent.segment)).count()
}

fn talking() -> Pair {
    let mut pair = Setup::tcp().connected();
    pair.transfer(CLIENT, 20_000);
    pair.settle();
    pair
}

#[test]
fn a_reset_at_exactly_the_next_number_closes() {
    let mut pair = talking();
    let reset = forge(&pair, |segment| segment.flags = TcpFlags::RST);
    assert_eq!(answers(&mut pair, &reset), 0);
    assert_eq!(pair.state(SERVER), State::Closed(Closed::Reset));
}

#[test]
fn a_reset_elsewhere_in_the_window_is_challenged() {
    let mut pair = talking();
    let reset = forge(&pair, |segment| {
        segment.flags = TcpFlags::RST;
        segment.sequence = segment.sequence.wrapping_add(1000);
    });
    assert_eq!(answers(&mut pair, &reset), 1);
    assert_eq!(pair.state(SERVER), State::Established);
}

#[test]
fn a_reset_outside_the_window_is_ignored() {
    let mut pair = talking();
    for distance in [-5000i32, 1 << 30] {
        let reset = forge(&pair, |segment| {
            segment.flags = TcpFlags::RST;
            segment.sequence = segment.sequence.wrapping_add_signed(distance);
        });
        assert_eq!(answers(&mut pair, &reset), 0);
        assert_eq!(pair.state(SERVER), State::Established);
    }
}

#[test]
fn a_reset_with_an_old_timestamp_is_still_a_reset() {
    // RFC 7323, section 5.2: PAWS does not apply to RST.
    let mut pair = talking();
    let reset = forge(&pair, |segment| {
        segment.flags = TcpFlags::RST;
        segment.options.timestamps.as_mut().expect("timestamps").value -= 500;
    });
    answers(&mut pair, &reset);
    assert_eq!(pair.state(SERVER), State::Closed(Closed::Reset));
}

#[test]
fn a_syn_on_an_established_connection_is_challenged() {
    let mut pair = talking();
    let syn = forge(&pair, |segment| segment.flags = TcpFlags::SYN);
    assert_eq!(answers(&mut pair, &syn), 1);
    assert_eq!(pair.state(SERVER), State::Established);
}

#[test]
fn an_acknowledgment_of_what_was_never_sent_is_answered_and_takes_no_effect() {
    let mut pair = talking();
    let ack = forge(&pair, |segment| {
        segment.flags = TcpFlags::ACK;
        segment.acknowledgment = segment.acknowledgment.wrapping_add(50_000);
        segment.payload.length = 100;
    });
    let received = pair.received(SERVER);
    assert_eq!(answers(&mut pair, &ack), 1);
    assert_eq!(pair.received(SERVER), received);
}

#[test]
fn paws_drops_data_with_an_old_timestamp() {
    let mut pair = talking();
    let old = forge(&pair, |segment| {
        segment.payload.length = 100;
        segment.options.timestamps.as_mut().expect("timestamps").value -= 500;
    });
    let received = pair.received(SERVER);
    assert_eq!(answers(&mut pair, &old), 1);
    assert_eq!(pair.received(SERVER), received);
}

#[test]
fn data_beyond_the_window_is_not_taken() {
    let mut pair = talking();
    let beyond = forge(&pair, |segment| {
        segment.payload.length = 100;
        segment.sequence = segment.sequence.wrapping_add(2_000_000);
    });
    let received = pair.received(SERVER);
    assert_eq!(answers(&mut pair, &beyond), 1);
    assert_eq!(pair.received(SERVER), received);
}

#[test]
fn two_confused_ends_do_not_acknowledge_each_other_for_ever() {
    let mut pair = talking();
    let early = forge(&pair, |segment| segment.sequence = segment.sequence.wrapping_sub(30_000));
    let start = pair.now();
    answers(&mut pair, &early);
    pair.settle();
    assert!(pair.sent(SERVER, start).filter(|sent| !has_data(&sent.segment)).count() <= 2);
}

#[test]
fn the_timestamp_of_a_segment_whose_acknowledgment_is_refused_is_not_taken() {
    let mut pair = talking();
    let forged = forge(&pair, |segment| {
        segment.acknowledgment = segment.acknowledgment.wrapping_add(50_000);
        segment.options.timestamps.as_mut().expect("timestamps").value += 1_000_000;
    });
    assert_eq!(answers(&mut pair, &forged), 1);
    assert!(pair.transfer(CLIENT, 1000) < ms(15), "PAWS turns good data away");
}

#[test]
fn an_acknowledgment_older_than_the_largest_window_is_challenged() {
    // RFC 5961, section 5.2: SND.UNA - MAX.SND.WND <= SEG.ACK.
    let mut pair = Setup::tcp().both(|stack| stack.receive_buffer(30_000)).connected();
    pair.transfer(SERVER, 200_000);
    pair.settle();
    for (behind, taken) in [(300_000, 0), (31_000, 0), (29_000, 100)] {
        let old = forge(&pair, |segment| {
            segment.payload.length = 100;
            segment.acknowledgment = segment.acknowledgment.wrapping_sub(behind);
        });
        let received = pair.received(SERVER);
        pair.trust_content = true;
        answers(&mut pair, &old);
        assert_eq!(pair.received(SERVER) - received, taken, "{behind} bytes behind");
        pair.settle();
    }
}

/// A server in SYN-RECEIVED, with the client's segments lost.
fn half_open() -> Pair {
    let mut pair = Setup::tcp().build();
    pair.tamper(drop_all(|leaving| leaving.from == CLIENT && is_pure_ack(leaving.segment)));
    pair.connect();
    pair.run_for(ms(30));
    assert_eq!(pair.state(SERVER), State::SynReceived);
    pair
}

#[test]
fn a_reset_in_syn_received_must_have_exactly_the_next_number() {
    for (ahead, answered, state) in
        [(1000, 1, State::SynReceived), (1 << 30, 0, State::SynReceived), (0, 0, State::Closed(Closed::Reset))]
    {
        let mut pair = half_open();
        let reset = forge(&pair, |segment| {
            segment.flags = TcpFlags::RST;
            segment.sequence = segment.sequence.wrapping_add(ahead);
        });
        assert_eq!((answers(&mut pair, &reset), pair.state(SERVER)), (answered, state), "{ahead} bytes ahead");
    }
}

#[test]
fn after_24_days_of_silence_timestamps_are_compared_no_more() {
    // RFC 7323, section 5.5: after 24.8 days the peer's clock has gone half round, and looks old.
    let mut pair = talking();
    pair.run_for(secs(25 * 24 * 3600));
    assert!(pair.transfer(CLIENT, 1000) < ms(15));
}
