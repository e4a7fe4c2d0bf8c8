//! Verification tags: a packet with the wrong one changes nothing, whatever it carries (RFC 9260, sections 5.1.5, 8.4
//! and 8.5).

use subflow_transport::Event;
use subflow_transport::sctp::State;
use subflow_transport::tcp::Closed;
use subflow_wire::sctp::{Chunk, DataChunk, RawChunk, UdpEncapsulation, chunk_type};
use subflow_wire::{Payload, SctpPacket};

use crate::harness::sctp::{data_of, has};
use crate::harness::{CLIENT, Fate, Pair, SERVER, Setup, ms, secs};

/// A message of its own that follows what `from` has sent.
fn next_data(pair: &Pair, from: usize) -> Chunk {
    let sent = pair.sctp.log.iter().filter(|sent| sent.from == from);
    let last = sent.flat_map(|sent| &sent.packet.chunks).filter_map(data_of).next_back().expect("it has sent data");
    let payload = Payload { length: 100, ..Payload::default() };
    Chunk::Data(DataChunk {
        tsn: last.tsn.wrapping_add(1),
        stream_sequence: last.stream_sequence + 1,
        begin: true,
        end: true,
        payload,
        ..*last
    })
}

fn sent_cookie(pair: &Pair) -> Chunk {
    let mut chunks = pair.sctp.log.iter().flat_map(|sent| &sent.packet.chunks);
    chunks.rfind(|chunk| matches!(chunk, Chunk::CookieEcho(_))).expect("a cookie was sent").clone()
}

#[test]
fn a_cookie_echo_with_the_wrong_tag_and_the_data_behind_it_are_discarded() {
    let mut pair = Setup::sctp(1).connected();
    pair.transfer(CLIENT, 1000);
    pair.trust_content = true;
    let before = pair.sctp.log.len();
    let chunks = vec![sent_cookie(&pair), next_data(&pair, CLIENT)];
    pair.inject_sctp(SERVER, chunks.clone(), |packet| packet.verification_tag ^= 1);
    pair.run_for(secs(1));
    assert_eq!((pair.received(SERVER), pair.sctp.log.len()), (1000, before));
    // With the right tag both are taken: it is a repetition.
    pair.inject_sctp(SERVER, chunks, |_| {});
    pair.run_for(secs(1));
    assert_eq!(pair.received(SERVER), 1100);
}

#[test]
fn a_cookie_echo_with_a_chunk_that_is_not_bundled_with_it_opens_nothing() {
    for beside in [Chunk::ShutdownComplete { reflected: false }, Chunk::ShutdownAck] {
        let mut pair = Setup::sctp(1).build();
        let mut beside = Some(beside);
        pair.tamper_sctp(move |leaving| {
            if has(leaving.packet, |chunk| matches!(chunk, Chunk::CookieEcho(_))) {
                leaving.packet.chunks.extend(beside.take());
            }
            Fate::Pass
        });
        pair.connect();
        pair.run_for(ms(500));
        assert!(!pair.has_connection(SERVER), "an association that neither opens nor ends");
        // T1-cookie expires, and the cookie comes alone.
        pair.run_for(secs(2));
        assert_eq!(pair.sctp(SERVER).state(), State::Established);
    }
}

#[test]
fn a_stale_cookie_with_the_wrong_tag_is_not_answered() {
    for tag_error in [1, 0] {
        let mut pair = Setup::sctp(1).both(|stack| stack.association().cookie_life = ms(15)).build();
        pair.tamper_sctp(move |leaving| {
            if has(leaving.packet, |chunk| matches!(chunk, Chunk::CookieEcho(_))) {
                leaving.packet.verification_tag ^= tag_error;
            }
            Fate::Pass
        });
        pair.connect();
        pair.run_for(ms(100));
        let answered = pair.sctp.log.iter().any(|sent| has(&sent.packet, |chunk| matches!(chunk, Chunk::Error(_))));
        assert_eq!(answered, tag_error == 0);
    }
}

#[test]
fn while_the_peers_tag_is_unknown_no_abort_reflects_it() {
    let mut pair = Setup::sctp(1).build();
    pair.connect();
    let abort = vec![Chunk::Abort { reflected: true, causes: Vec::new() }];
    pair.inject_sctp(CLIENT, abort, |packet| packet.verification_tag = 0);
    pair.run_for(ms(5));
    assert_eq!(pair.sctp(CLIENT).state(), State::CookieWait);
    // The peer that has no association answers the INIT with the tag that it names.
    pair.inject_sctp(CLIENT, vec![Chunk::Abort { reflected: false, causes: Vec::new() }], |_| {});
    pair.run_for(ms(5));
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::Refused)), 1);
}

#[test]
fn an_abort_behind_other_chunks_needs_the_tag_that_its_t_bit_names() {
    let mut pair = Setup::sctp(1).connected();
    let ack = Chunk::HeartbeatAck(Box::default());
    let abort = |reflected| vec![ack.clone(), Chunk::Abort { reflected, causes: Vec::new() }];
    pair.inject_sctp(SERVER, abort(true), |_| {});
    pair.run_for(ms(5));
    assert_eq!(pair.sctp(SERVER).state(), State::Established);
    pair.inject_sctp(SERVER, abort(false), |_| {});
    pair.run_for(ms(5));
    assert_eq!(pair.sctp(SERVER).state(), State::Closed(Closed::Reset));
}

#[test]
fn a_malformed_abort_is_never_answered() {
    let mut pair = Setup::sctp(1).connected();
    let before = pair.sctp.log.len();
    let value = [0, 12, 0, 9].into();
    pair.inject_sctp(SERVER, vec![Chunk::Malformed(RawChunk { kind: chunk_type::ABORT, flags: 0, value })], |_| {});
    pair.run_for(secs(1));
    assert_eq!((pair.sctp.log.len(), pair.sctp(SERVER).state()), (before, State::Established));
}

#[test]
fn a_shutdown_ack_of_an_earlier_association_is_answered_by_one_that_opens() {
    let mut pair = Setup::sctp(1).connected();
    let local = pair.sctp(CLIENT).ends().local;
    // The server waits for SHUTDOWN COMPLETE of a client that has forgotten everything and opens anew.
    pair.tamper_sctp(|leaving| {
        let complete = has(leaving.packet, |chunk| matches!(chunk, Chunk::ShutdownComplete { .. }));
        if complete { Fate::Drop } else { Fate::Pass }
    });
    pair.finish(CLIENT);
    pair.run_for(ms(100));
    assert_eq!(pair.sctp(SERVER).state(), State::ShutdownAckSent);
    pair.stop_tampering_sctp();
    pair.forget(CLIENT);
    let start = pair.now();
    pair.connect_from(local);
    pair.run_for(ms(100));
    let complete = |chunk: &Chunk| matches!(chunk, Chunk::ShutdownComplete { reflected: true });
    assert!(pair.sent_sctp(CLIENT, start).any(|sent| has(&sent.packet, complete)));
    assert_eq!(pair.sctp(SERVER).state(), State::Closed(Closed::Gracefully));
    // T1 repeats the INIT, which opens another association.
    pair.run_for(secs(2));
    assert_eq!(pair.sctp(CLIENT).state(), State::Established);
}

#[test]
fn a_packet_without_the_associations_tag_does_not_move_its_udp_port() {
    let ports = UdpEncapsulation { source_port: 9899, destination_port: 9899 };
    let mut pair = Setup::sctp(1).both(|stack| stack.association().encapsulation = Some(ports)).connected();
    pair.transfer(CLIENT, 1000);
    pair.settle();
    let elsewhere = |packet: &mut SctpPacket| packet.encapsulation = Some(UdpEncapsulation { source_port: 6, ..ports });
    let opening = pair.sctp.log[0].packet.chunks.clone();
    let start = pair.now();
    pair.inject_sctp(SERVER, opening, |packet| {
        packet.verification_tag = 0;
        elsewhere(packet);
    });
    let cookie = sent_cookie(&pair);
    pair.inject_sctp(SERVER, vec![cookie], |packet| {
        packet.verification_tag ^= 1;
        elsewhere(packet);
    });
    pair.run_for(ms(10));
    // The INIT is answered where it came from.
    let to =
        |pair: &Pair, since| pair.sent_sctp(SERVER, since).map(|sent| sent.packet.encapsulation).collect::<Vec<_>>();
    assert_eq!(to(&pair, start), [Some(UdpEncapsulation { destination_port: 6, ..ports })]);
    let start = pair.now();
    pair.transfer(CLIENT, 10_000);
    assert!(to(&pair, start).iter().all(|&sent| sent == Some(ports)));
}
