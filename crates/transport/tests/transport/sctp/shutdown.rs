//! The end of an association against a peer that does not play its part (RFC 9260, section 9.2).

use subflow_transport::Event;
use subflow_transport::sctp::State;
use subflow_transport::tcp::Closed;
use subflow_wire::sctp::{Chunk, GapBlock, SackChunk};

use crate::harness::sctp::{data_of, has, sack_of};
use crate::harness::{CLIENT, Fate, Pair, SERVER, Setup, ms, secs};

/// The highest TSN that `from` has sent.
fn last_tsn(pair: &Pair, from: usize) -> u32 {
    let sent = pair.sctp.log.iter().filter(|sent| sent.from == from);
    sent.flat_map(|sent| &sent.packet.chunks).filter_map(data_of).next_back().expect("data was sent").tsn
}

/// The cumulative TSN of the last SACK.
fn acknowledged(pair: &Pair) -> u32 {
    pair.sctp.log.iter().filter_map(|sent| sack_of(&sent.packet)).next_back().expect("a SACK").cumulative_tsn
}

#[test]
fn what_a_shutdown_shows_missing_is_sent_again() {
    let mut pair = Setup::sctp(1).connected();
    pair.transfer(CLIENT, 1452);
    pair.settle();
    let acknowledged = last_tsn(&pair, CLIENT);
    pair.paths[0].up = false;
    pair.write(CLIENT, 2 * 1452);
    // The peer says that it has the second, then that it has the first and no more.
    let gaps = [GapBlock { start: 2, end: 2 }].into_iter().collect();
    let sack = SackChunk { cumulative_tsn: acknowledged, a_rwnd: 1 << 20, gaps, ..SackChunk::default() };
    pair.inject_sctp(CLIENT, vec![Chunk::Sack(sack)], |_| {});
    pair.inject_sctp(CLIENT, vec![Chunk::Shutdown { cumulative_tsn: acknowledged.wrapping_add(1) }], |_| {});
    pair.run_for(ms(5));
    assert_eq!(pair.sctp(CLIENT).state(), State::ShutdownReceived);
    assert_eq!(pair.sctp(CLIENT).bytes_in_flight(), 1452);
    pair.run_for(secs(3600));
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::TimedOut)), 1);
}

#[test]
fn a_peer_that_shuts_down_and_takes_nothing_more_is_given_up_later_than_a_silent_one() {
    let change = |stack: &mut crate::harness::Stack| {
        stack.association().heartbeat_interval = None;
        stack.association().receive_buffer = 20_000;
    };
    let mut pair = Setup::sctp(1).both(change).connected();
    pair.act(SERVER, |endpoint, now| endpoint.set_reading(false, now));
    pair.write(CLIENT, 100_000);
    pair.run_for(secs(2));
    let cumulative_tsn = acknowledged(&pair);
    // The window stays closed, and every probe of it is answered.
    pair.inject_sctp(CLIENT, vec![Chunk::Shutdown { cumulative_tsn }], |_| {});
    // A silent peer would have been given up after ten retransmissions, within eleven times RTO.Max.
    pair.run_for(secs(650));
    assert_eq!(pair.sctp(CLIENT).state(), State::ShutdownReceived);
    pair.run_for(secs(100));
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::TimedOut)), 1);
    assert_eq!(pair.count(SERVER, Event::Closed(Closed::Reset)), 1, "it ends with an ABORT");
}

#[test]
fn a_peer_that_shuts_down_is_sent_everything_however_long_it_takes() {
    let mut setup = Setup::sctp(1);
    setup.paths[0] = crate::harness::Path::with_delay(ms(10)).rate(1, 100);
    let mut pair = setup.connected();
    pair.write(CLIENT, 60_000_000);
    pair.run_for(secs(1));
    let cumulative_tsn = acknowledged(&pair);
    pair.inject_sctp(CLIENT, vec![Chunk::Shutdown { cumulative_tsn }], |_| {});
    pair.run_for(secs(400));
    assert_eq!(pair.sctp(CLIENT).state(), State::ShutdownReceived);
    pair.run_until("the rest", |pair| pair.received(SERVER) == 60_000_000);
}

#[test]
fn a_shutdown_that_acknowledges_what_was_never_sent_is_a_violation() {
    let mut pair = Setup::sctp(1).connected();
    pair.transfer(CLIENT, 1000);
    pair.settle();
    let cumulative_tsn = last_tsn(&pair, CLIENT).wrapping_add(1);
    pair.inject_sctp(CLIENT, vec![Chunk::Shutdown { cumulative_tsn }], |_| {});
    pair.run_for(ms(100));
    assert_eq!(pair.sctp(CLIENT).state(), State::Closed(Closed::Aborted));
    assert_eq!(pair.sctp(SERVER).state(), State::Closed(Closed::Reset));
}

#[test]
fn the_sender_of_shutdown_gives_up_after_five_rto_max_though_its_peer_goes_on_sending() {
    let mut setup = Setup::sctp(1);
    setup.paths[0] = crate::harness::Path::with_delay(ms(10)).rate(1, 100);
    let mut pair = setup.connected();
    pair.write(SERVER, 60_000_000);
    pair.finish(CLIENT);
    pair.run_for(secs(299));
    assert_eq!(pair.sctp(CLIENT).state(), State::ShutdownSent);
    pair.run_for(secs(3));
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::TimedOut)), 1);
    assert_eq!(pair.count(SERVER, Event::Closed(Closed::Reset)), 1);
}

#[test]
fn an_init_while_waiting_for_shutdown_complete_is_answered_where_it_came_from() {
    let mut pair = super::multipath::two_paths(|_| {}).connected();
    pair.tamper_sctp(|leaving| {
        let complete = has(leaving.packet, |chunk| matches!(chunk, Chunk::ShutdownComplete { .. }));
        if complete { Fate::Drop } else { Fate::Pass }
    });
    pair.finish(CLIENT);
    pair.run_for(ms(200));
    assert_eq!(pair.sctp(SERVER).state(), State::ShutdownAckSent);
    let init = pair.sctp.log[0].packet.chunks.clone();
    let start = pair.now();
    let mut packet = pair.sctp_packet_to(SERVER, init);
    (packet.ip.source, packet.ip.destination) = (pair.address(CLIENT, 1), pair.address(SERVER, 1));
    if let subflow_wire::Body::Sctp(body) = &mut packet.body {
        body.verification_tag = 0;
    }
    pair.inject(SERVER, &packet, ms(1));
    pair.run_for(ms(10));
    let answer: Vec<_> = pair.sent_sctp(SERVER, start).collect();
    assert_eq!(answer.len(), 1);
    assert!(answer[0].path == super::multipath::SECOND && answer[0].packet.chunks == [Chunk::ShutdownAck]);
}
