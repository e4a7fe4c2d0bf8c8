//! Partial reliability, streams, and ends that are not graceful (RFC 3758, RFC 7496; RFC 9260, sections 6.6 and 9.1).

use subflow_transport::sctp::State;
use subflow_transport::sctp::config::{MessageOptions, Reliability};
use subflow_transport::tcp::Closed;
use subflow_transport::{Endpoint, Event};
use subflow_wire::sctp::{Chunk, DataChunk, ErrorCause};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet};

use crate::harness::sctp::{LeavingSctp, data_of, drop_data, drop_first, has, has_data};
use crate::harness::{CLIENT, Fate, Pair, Path, SERVER, Setup, ms, secs};

fn send(pair: &mut Pair, bytes: u32, options: MessageOptions) {
    let sent = pair.act(CLIENT, |endpoint, _| match endpoint {
        Endpoint::Sctp(association) => association.send_message(bytes, options),
        _ => false,
    });
    assert!(sent);
}

/// Every transmission of the `number`th chunk of the client is lost.
fn lose_for_ever(number: usize) -> impl FnMut(&mut LeavingSctp<'_>) -> Fate {
    let mut seen: Vec<u32> = Vec::new();
    move |leaving| {
        let tsns: Vec<u32> =
            leaving.packet.chunks.iter().filter_map(data_of).map(|data: &DataChunk| data.tsn).collect();
        for &tsn in tsns.iter().filter(|_| leaving.from == CLIENT) {
            if !seen.contains(&tsn) {
                seen.push(tsn);
            }
        }
        let target = seen.get(number);
        if target.is_some_and(|target| tsns.contains(target)) { Fate::Drop } else { Fate::Pass }
    }
}

fn forwards(pair: &Pair) -> usize {
    pair.sctp.log.iter().filter(|sent| has(&sent.packet, |chunk| matches!(chunk, Chunk::ForwardTsn(_)))).count()
}

#[test]
fn a_message_that_may_be_repeated_once_is_given_up_after_that() {
    let mut pair = Setup::sctp(1).connected();
    pair.tamper_sctp(lose_for_ever(2));
    for _ in 0..20 {
        send(
            &mut pair,
            1000,
            MessageOptions { reliability: Reliability::Retransmissions(1), ..MessageOptions::default() },
        );
    }
    pair.run_for(secs(10));
    assert_eq!(pair.received(SERVER), 19_000, "what stood behind it is delivered");
    assert_eq!(pair.sctp(CLIENT).counters().messages_abandoned, 1);
    assert!(forwards(&pair) >= 1);
    pair.finish(CLIENT);
    pair.drive();
    assert_eq!(pair.count(SERVER, Event::Closed(Closed::Gracefully)), 1);
}

#[test]
fn a_message_is_given_up_when_its_time_is_over() {
    let mut pair = Setup::sctp(1).connected();
    pair.tamper_sctp(lose_for_ever(2));
    for _ in 0..20 {
        send(
            &mut pair,
            1000,
            MessageOptions { reliability: Reliability::Lifetime(ms(300)), ..MessageOptions::default() },
        );
    }
    pair.run_for(secs(5));
    // Nagle's algorithm held the last ones back until they were too old, too.
    let abandoned = pair.sctp(CLIENT).counters().bytes_abandoned;
    assert_eq!(pair.received(SERVER) + abandoned, 20_000);
    assert!((1000..=5000).contains(&abandoned), "{abandoned}");
    assert_eq!(pair.sctp(CLIENT).bytes_outstanding(), 0);
}

#[test]
fn a_forward_tsn_that_is_lost_is_repeated() {
    let mut pair = Setup::sctp(1).connected();
    pair.tamper_sctp(lose_for_ever(0));
    pair.tamper_sctp(drop_first(2, |leaving| has(leaving.packet, |chunk| matches!(chunk, Chunk::ForwardTsn(_)))));
    send(&mut pair, 1000, MessageOptions { reliability: Reliability::Retransmissions(0), ..MessageOptions::default() });
    pair.finish(CLIENT);
    pair.run_for(secs(60));
    assert!(pair.sctp(CLIENT).state().is_closed() && forwards(&pair) >= 3);
}

#[test]
fn streams_do_not_wait_for_each_other() {
    let mut pair = Setup::sctp(1).connected();
    pair.tamper_sctp(drop_data(CLIENT, &[0]));
    for stream in [0, 0, 1, 2] {
        send(&mut pair, 1400, MessageOptions { stream, ..MessageOptions::default() });
    }
    send(&mut pair, 1400, MessageOptions { unordered: true, ..MessageOptions::default() });
    pair.run_for(ms(300));
    let early = pair.received(SERVER);
    assert!(early == 4200 || early == 7000, "all but stream 0's: {early}");
    pair.run_for(secs(2));
    assert_eq!(pair.received(SERVER), 7000);
}

#[test]
fn an_abort_ends_both_sides_at_once() {
    let mut pair = Setup::sctp(2).connected();
    pair.write(CLIENT, 1_000_000);
    pair.run_for(ms(100));
    pair.act(SERVER, |endpoint, _| endpoint.abort());
    pair.drive();
    assert_eq!(pair.count(SERVER, Event::Closed(Closed::Aborted)), 1);
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::Reset)), 1);
}

#[test]
fn every_packet_of_the_end_may_be_lost() {
    let kinds: [fn(&Chunk) -> bool; 3] = [
        |chunk| matches!(chunk, Chunk::Shutdown { .. }),
        |chunk| matches!(chunk, Chunk::ShutdownAck),
        |chunk| matches!(chunk, Chunk::ShutdownComplete { .. }),
    ];
    for kind in kinds {
        let mut pair = Setup::sctp(1).connected();
        pair.transfer(CLIENT, 10_000);
        pair.tamper_sctp(drop_first(1, move |leaving| has(leaving.packet, kind)));
        pair.finish(CLIENT);
        pair.drive();
        for side in [CLIENT, SERVER] {
            assert!(pair.sctp(side).state().is_closed());
        }
        assert_eq!(pair.count(CLIENT, Event::Closed(Closed::Gracefully)), 1);
    }
}

#[test]
fn a_data_chunk_without_user_data_is_answered_with_an_abort() {
    let mut pair = Setup::sctp(1).connected();
    pair.transfer(CLIENT, 1000);
    let sent = pair.sctp.log.iter().rfind(|sent| has_data(&sent.packet)).expect("just sent");
    let mut body = sent.packet.clone();
    for chunk in &mut body.chunks {
        if let Chunk::Data(data) = chunk {
            (data.tsn, data.payload.length) = (data.tsn.wrapping_add(1), 0);
        }
    }
    let (source, destination) = (pair.address(CLIENT, 0), pair.address(SERVER, 0));
    let ip = IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct };
    pair.inject(SERVER, &Packet { ip, body: Body::Sctp(body) }, ms(1));
    pair.run_for(secs(1));
    let refused = |chunk: &Chunk| match chunk {
        Chunk::Abort { causes, .. } => causes.iter().any(|cause| matches!(cause, ErrorCause::NoUserData { .. })),
        _ => false,
    };
    assert!(pair.sctp.log.iter().any(|sent| has(&sent.packet, refused)));
    assert_eq!(pair.sctp(CLIENT).state(), State::Closed(Closed::Reset));
}

#[test]
fn an_unknown_stream_is_reported_and_its_data_acknowledged() {
    let mut pair = Setup::sctp(1).on(SERVER, |stack| stack.association().inbound_streams = 3).connected();
    assert_eq!(pair.sctp(CLIENT).streams(), (3, 10));
    pair.tamper_sctp(|leaving| {
        for chunk in &mut leaving.packet.chunks {
            if let Chunk::Data(data) = chunk {
                data.stream = 7;
            }
        }
        Fate::Pass
    });
    pair.write(CLIENT, 1000);
    pair.run_for(secs(1));
    let reported = |chunk: &Chunk| match chunk {
        Chunk::Error(causes) => causes.contains(&ErrorCause::InvalidStreamIdentifier { stream: 7 }),
        _ => false,
    };
    assert!(pair.sctp.log.iter().any(|sent| has(&sent.packet, reported)));
    assert_eq!((pair.received(SERVER), pair.sctp(CLIENT).bytes_outstanding()), (0, 0));
    assert!(pair.sctp.log.iter().filter(|sent| has_data(&sent.packet)).count() == 1);
}

#[test]
fn a_forward_tsn_is_sent_once_per_round_trip_not_with_every_sack() {
    let mut setup = Setup::sctp(1).path(0, Path::with_delay(ms(20)).rate(10, 100));
    setup.paths[0].loss = 0.05;
    let once = MessageOptions { reliability: Reliability::Retransmissions(0), ..MessageOptions::default() };
    let mut pair = setup.both(|stack| stack.association().message = once).connected();
    pair.write(CLIENT, 2_000_000);
    pair.run_for(secs(60));
    let counters = *pair.sctp(CLIENT).counters();
    assert!(counters.messages_abandoned > 50, "{counters:?}");
    assert!(counters.forward_tsns_sent <= 2 * counters.messages_abandoned, "{counters:?}");
    assert_eq!(pair.received(SERVER) + counters.bytes_abandoned, 2_000_000);
}
