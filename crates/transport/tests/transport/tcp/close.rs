//! Ends of a connection: FINs in any order, TIME-WAIT, resets.

use subflow_transport::Event;
use subflow_transport::tcp::{Closed, State};
use subflow_wire::Packet;
use subflow_wire::tcp::TcpFlags;

use crate::harness::tamper::{delay_first, drop_first, has_fin, is_pure_ack, is_reset};
use crate::harness::{CLIENT, Fate, Pair, SERVER, Setup, ms, secs};

#[test]
fn the_side_that_closes_first_enters_time_wait() {
    for first in [CLIENT, SERVER] {
        let mut pair = Setup::tcp().connected();
        let start = pair.now();
        pair.finish(first);
        pair.run_for(ms(30));
        assert_eq!((pair.state(first), pair.state(1 - first)), (State::FinWait2, State::CloseWait));
        pair.finish(1 - first);
        pair.run_for(ms(30));
        assert_eq!(pair.state(first), State::TimeWait);
        assert_eq!(pair.state(1 - first), State::Closed(Closed::Gracefully));
        pair.drive();
        let closed = Event::Closed(Closed::Gracefully);
        assert_eq!(pair.when(1 - first, closed), Some(start + ms(50)));
        assert_eq!(pair.when(first, closed), Some(start + ms(40) + secs(60)));
    }
}

#[test]
fn both_may_close_at_once() {
    let mut pair = Setup::tcp().connected();
    pair.finish(CLIENT);
    pair.finish(SERVER);
    pair.run_for(ms(15));
    assert_eq!((pair.state(CLIENT), pair.state(SERVER)), (State::Closing, State::Closing));
    pair.run_for(ms(10));
    assert_eq!((pair.state(CLIENT), pair.state(SERVER)), (State::TimeWait, State::TimeWait));
    pair.drive();
    assert_eq!(pair.state(CLIENT), State::Closed(Closed::Gracefully));
}

#[test]
fn a_half_closed_connection_still_carries_data_the_other_way() {
    let mut pair = Setup::tcp().connected();
    pair.finish(CLIENT);
    pair.settle();
    pair.transfer(SERVER, 100_000);
    pair.close_gracefully();
}

#[test]
fn a_fin_travels_with_the_last_data() {
    let mut pair = Setup::tcp().connected();
    let start = pair.now();
    pair.write(CLIENT, 500);
    pair.finish(CLIENT);
    pair.settle();
    let fins: Vec<_> = pair.sent(CLIENT, start).filter(|sent| has_fin(&sent.segment)).collect();
    assert_eq!(pair.received(SERVER), 500);
    assert!(fins.len() == 1 && pair.when(SERVER, Event::PeerFinished).is_some());
    assert!(pair.when(CLIENT, Event::Acknowledged).is_some());
}

#[test]
fn a_lost_fin_is_sent_again() {
    let mut pair = Setup::tcp().connected();
    pair.tamper(drop_first(1, |leaving| has_fin(leaving.segment)));
    pair.write(CLIENT, 20_000);
    pair.close_gracefully();
    assert_eq!(pair.received(SERVER), 20_000);
}

#[test]
fn a_fin_whose_acknowledgment_was_lost_is_acknowledged_again() {
    let mut pair = Setup::tcp().connected();
    pair.finish(CLIENT);
    pair.settle();
    let mut seen = false;
    pair.tamper(move |leaving| {
        // The last acknowledgment: the client is in TIME-WAIT then, the server in LAST-ACK.
        let last = leaving.from == CLIENT && is_pure_ack(leaving.segment) && !seen;
        seen |= last;
        if last { Fate::Drop } else { Fate::Pass }
    });
    pair.finish(SERVER);
    pair.run_for(secs(5));
    assert_eq!(pair.state(SERVER), State::Closed(Closed::Gracefully));
}

#[test]
fn a_fin_seen_again_restarts_time_wait() {
    let mut pair = Setup::tcp().connected();
    pair.finish(CLIENT);
    pair.settle();
    let start = pair.now();
    let mut repeated = false;
    pair.tamper(move |leaving| {
        let again = leaving.from == SERVER && has_fin(leaving.segment) && core::mem::replace(&mut repeated, true);
        if again { Fate::Late(secs(20)) } else { Fate::Pass }
    });
    pair.tamper(drop_first(1, |leaving| leaving.from == CLIENT && is_pure_ack(leaving.segment)));
    pair.finish(SERVER);
    pair.drive();
    let closed = pair.when(CLIENT, Event::Closed(Closed::Gracefully)).expect("it closes");
    assert!(closed > start + secs(20 + 60), "{closed:?}");
}

#[test]
fn data_before_a_fin_that_came_early_is_waited_for() {
    let mut pair = Setup::tcp().connected();
    pair.tamper(delay_first(ms(30), |leaving| leaving.segment.payload.length == 1448));
    pair.write(CLIENT, 4000);
    pair.finish(CLIENT);
    pair.run_for(ms(15));
    assert_eq!((pair.received(SERVER), pair.state(SERVER)), (0, State::Established));
    pair.close_gracefully();
    assert_eq!(pair.received(SERVER), 4000);
}

#[test]
fn an_abort_resets_the_peer() {
    let mut pair = Setup::tcp().connected();
    pair.write(CLIENT, 50_000);
    pair.run_for(ms(5));
    pair.act(CLIENT, |endpoint, _| endpoint.abort());
    pair.drive();
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::Aborted)), 1);
    assert_eq!(pair.count(SERVER, Event::Closed(Closed::Reset)), 1);
    assert_eq!(pair.count(SERVER, Event::PeerFinished), 0, "a reset is no end of the stream");
}

#[test]
fn a_reset_connection_never_claims_that_its_data_was_acknowledged() {
    let mut pair = Setup::tcp().connected();
    pair.write(CLIENT, 5_000);
    pair.finish(CLIENT);
    pair.act(SERVER, |endpoint, _| endpoint.abort());
    pair.drive();
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::Reset)), 1);
    assert_eq!(pair.count(CLIENT, Event::Acknowledged), 0);
}

#[test]
fn segments_for_a_connection_that_is_over_are_answered_with_a_reset() {
    let mut pair = Setup::tcp().connected();
    pair.tamper(drop_first(1, |leaving| is_reset(leaving.segment)));
    pair.act(SERVER, |endpoint, _| endpoint.abort());
    pair.settle();
    assert_eq!(pair.state(CLIENT), State::Established, "the reset was lost");
    pair.write(CLIENT, 1000);
    pair.settle();
    assert_eq!(pair.state(CLIENT), State::Closed(Closed::Reset));
}

/// A FIN as the client would send it, `ahead` bytes from where it stands.
fn forged_fin(pair: &Pair, ahead: i32) -> Packet {
    let mut segment = pair.log.iter().rfind(|sent| sent.from == CLIENT).expect("the client has spoken").segment.clone();
    segment.sequence = segment.sequence.wrapping_add(segment.payload.length).wrapping_add_signed(ahead);
    segment.payload = Default::default();
    segment.flags |= TcpFlags::FIN;
    pair.first_path(SERVER, segment)
}

#[test]
fn a_fin_below_what_has_arrived_ends_nothing() {
    let mut pair = Setup::tcp().connected();
    pair.transfer(CLIENT, 5000);
    let fin = forged_fin(&pair, -1);
    pair.inject(SERVER, &fin, ms(1));
    pair.settle();
    assert_eq!(pair.state(SERVER), State::Established);
    pair.transfer(CLIENT, 5000);
    pair.close_gracefully();
}

#[test]
fn what_lies_beyond_a_fin_does_not_count() {
    let mut pair = Setup::tcp().connected();
    pair.transfer(CLIENT, 5000);
    let fin = forged_fin(&pair, 700);
    pair.inject(SERVER, &fin, ms(1));
    pair.run_for(ms(5));
    pair.write(CLIENT, 1000);
    pair.run_for(ms(15));
    assert_eq!((pair.received(SERVER), pair.state(SERVER)), (5700, State::CloseWait));
    assert_eq!(pair.count(SERVER, Event::PeerFinished), 1);
}
