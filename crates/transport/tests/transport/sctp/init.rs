//! What INIT and INIT ACK may say, and how what they may not is answered (RFC 9260, sections 3.2.1, 3.3.2, 3.3.3, 5.1.1
//! and 5.1.2).

use subflow_transport::Event;
use subflow_transport::sctp::State;
use subflow_transport::tcp::Closed;
use subflow_wire::sctp::{Chunk, ErrorCause, InitChunk, Parameter, RawChunk, RawParameter, chunk_type, parameter_type};

use crate::harness::sctp::{SentSctp, has};
use crate::harness::{CLIENT, Fate, Pair, SERVER, Setup, ms, secs};

/// A client whose INIT `change` changes on its way.
fn opening_with(change: impl Fn(&mut InitChunk) + 'static) -> Pair {
    let mut pair = Setup::sctp(1).build();
    pair.tamper_sctp(move |leaving| {
        for chunk in &mut leaving.packet.chunks {
            if let Chunk::Init(init) = chunk {
                change(init);
            }
        }
        Fate::Pass
    });
    pair.connect();
    pair.run_for(ms(100));
    pair
}

/// A client that gets an INIT ACK changed by `change`.
fn answered_with(change: impl Fn(&mut InitChunk) + 'static) -> Pair {
    let mut pair = Setup::sctp(1).build();
    pair.tamper_sctp(move |leaving| {
        for chunk in &mut leaving.packet.chunks {
            if let Chunk::InitAck(ack) = chunk {
                change(ack);
            }
        }
        Fate::Pass
    });
    pair.connect();
    pair.run_for(ms(100));
    pair
}

fn unknown(kind: u16, length: usize) -> Parameter {
    Parameter::Unknown(RawParameter { kind, value: vec![0; length].into() })
}

fn sent(pair: &Pair, from: usize) -> Vec<&SentSctp> {
    pair.sctp.log.iter().filter(|sent| sent.from == from).collect()
}

/// The ABORTs that `from` sent: their tag, their T bit, their causes.
fn aborts(pair: &Pair, from: usize) -> Vec<(u32, bool, Vec<ErrorCause>)> {
    let packets = sent(pair, from).into_iter().map(|sent| &sent.packet);
    let abort = |packet: &subflow_wire::SctpPacket| match &packet.chunks[..] {
        [Chunk::Abort { reflected, causes }] => Some((packet.verification_tag, *reflected, causes.clone())),
        _ => None,
    };
    packets.filter_map(abort).collect()
}

/// The INIT ACK that the server sent.
fn init_ack(pair: &Pair) -> &InitChunk {
    let mut chunks = pair.sctp.log.iter().flat_map(|sent| &sent.packet.chunks);
    chunks
        .find_map(|chunk| match chunk {
            Chunk::InitAck(ack) => Some(ack.as_ref()),
            _ => None,
        })
        .expect("an INIT ACK was sent")
}

#[test]
fn an_init_without_a_tag_is_never_answered() {
    let pair = opening_with(|init| init.initiate_tag = 0);
    assert!(sent(&pair, SERVER).is_empty());
    // Neither where it would be a restart with a new address.
    let mut pair = Setup::sctp(1).connected();
    let before = pair.sctp.log.len();
    let parameters = vec![Parameter::Ipv4Address([10, 9, 9, 9].into())];
    let init = InitChunk { a_rwnd: 9000, outbound_streams: 1, inbound_streams: 1, parameters, ..InitChunk::default() };
    pair.inject_sctp(SERVER, vec![Chunk::Init(Box::new(init))], |packet| packet.verification_tag = 0);
    pair.run_for(secs(1));
    assert_eq!(pair.sctp.log.len(), before);
}

#[test]
fn an_init_with_a_value_that_it_cannot_have_is_refused_under_its_own_tag() {
    let changes: [fn(&mut InitChunk); 3] =
        [|init| init.a_rwnd = 1499, |init| init.outbound_streams = 0, |init| init.inbound_streams = 0];
    for change in changes {
        let pair = opening_with(change);
        let tag = match &sent(&pair, CLIENT)[0].packet.chunks[..] {
            [Chunk::Init(init)] => init.initiate_tag,
            other => panic!("{other:?}"),
        };
        assert_eq!(aborts(&pair, SERVER), [(tag, false, vec![ErrorCause::InvalidMandatoryParameter])]);
        assert_eq!(pair.count(CLIENT, Event::Closed(Closed::Refused)), 1);
    }
}

#[test]
fn a_malformed_init_is_refused_under_its_own_tag_and_ends_no_association() {
    let mut pair = Setup::sctp(1).connected();
    // An address parameter of no length.
    let value = [0, 0, 0, 5, 0, 0, 9, 9, 0, 1, 0, 1, 0, 0, 0, 1, 0, 5, 0, 0].into();
    let malformed = Chunk::Malformed(RawChunk { kind: chunk_type::INIT, flags: 0, value });
    pair.inject_sctp(SERVER, vec![malformed.clone()], |packet| packet.verification_tag = 0);
    pair.run_for(ms(100));
    assert_eq!(aborts(&pair, SERVER), [(5, false, vec![ErrorCause::ProtocolViolation(Box::default())])]);
    // With the association's tag it is none that anybody sends.
    pair.inject_sctp(SERVER, vec![malformed], |_| {});
    pair.run_for(ms(100));
    assert_eq!((aborts(&pair, SERVER).len(), pair.sctp(SERVER).state()), (1, State::Established));
}

#[test]
fn an_init_ack_without_a_tag_ends_the_opening() {
    let pair = answered_with(|ack| ack.initiate_tag = 0);
    let own = sent(&pair, SERVER)[0].packet.verification_tag;
    assert_eq!(aborts(&pair, CLIENT), [(own, true, Vec::new())]);
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::Refused)), 1);
}

#[test]
fn an_init_ack_with_a_value_that_it_cannot_have_is_answered_with_an_abort() {
    let changes: [fn(&mut InitChunk); 3] =
        [|ack| ack.a_rwnd = 1499, |ack| ack.outbound_streams = 0, |ack| ack.inbound_streams = 0];
    for change in changes {
        let pair = answered_with(change);
        let tag = init_ack(&pair).initiate_tag;
        assert_eq!(aborts(&pair, CLIENT), [(tag, false, vec![ErrorCause::InvalidMandatoryParameter])]);
        assert!(pair.sctp(CLIENT).state().is_closed());
    }
}

#[test]
fn a_malformed_init_ack_ends_an_opening_and_nothing_else() {
    let value: Box<[u8]> = [0, 0, 0, 5, 0, 0, 9, 9, 0, 1, 0, 1, 0, 0, 0, 1, 0, 7, 0, 0].into();
    let malformed = || Chunk::Malformed(RawChunk { kind: chunk_type::INIT_ACK, flags: 0, value: value.clone() });
    let mut pair = Setup::sctp(1).connected();
    pair.inject_sctp(CLIENT, vec![malformed()], |_| {});
    pair.run_for(secs(1));
    assert_eq!(pair.sctp(CLIENT).state(), State::Established);

    let mut pair = Setup::sctp(1).build();
    pair.connect();
    pair.inject_sctp(CLIENT, vec![malformed()], |_| {});
    pair.run_for(ms(5));
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::Aborted)), 1);
    assert_eq!(aborts(&pair, CLIENT), [(5, false, vec![ErrorCause::ProtocolViolation(Box::default())])]);
}

#[test]
fn a_host_name_is_refused_with_the_parameter_that_has_it() {
    let name = b"a.example\0";
    let pair = opening_with(|init| init.parameters.push(Parameter::HostName(name[..].into())));
    let whole = [&parameter_type::HOST_NAME.to_be_bytes()[..], &14_u16.to_be_bytes(), name].concat();
    let [(_, false, causes)] = &aborts(&pair, SERVER)[..] else { panic!("one ABORT") };
    assert_eq!(causes, &[ErrorCause::UnresolvableAddress(whole.into())]);
}

#[test]
fn no_more_streams_are_announced_than_the_peer_takes() {
    let setup = Setup::sctp(1).on(CLIENT, |stack| stack.association().inbound_streams = 3);
    let pair = setup.connected();
    assert_eq!((init_ack(&pair).outbound_streams, pair.sctp(SERVER).streams().0), (3, 3));
}

#[test]
fn what_is_written_to_a_stream_that_the_peer_does_not_take_is_not_sent() {
    let setup = Setup::sctp(1).on(SERVER, |stack| stack.association().inbound_streams = 3);
    let mut pair = setup.on(CLIENT, |stack| stack.association().message.stream = 7).build();
    pair.connect();
    assert_eq!(pair.act(CLIENT, |endpoint, _| endpoint.write(5000)), 5000, "nobody knows yet");
    pair.settle();
    assert_eq!(pair.sctp(CLIENT).streams().0, 3);
    assert_eq!(pair.sctp(CLIENT).counters().bytes_abandoned, 5000);
    assert_eq!(pair.act(CLIENT, |endpoint, _| endpoint.write(5000)), 0);
    assert_eq!(pair.sctp(SERVER).counters().data_chunks_received, 0);
    pair.finish(CLIENT);
    pair.drive();
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::Gracefully)), 1);
}

#[test]
fn unknown_parameters_are_passed_over_and_reported_as_their_type_says() {
    let behind = Parameter::Ipv4Address([10, 9, 9, 9].into());
    for (kind, stops, reported) in
        [(0x3fff, true, false), (0x7fff, true, true), (0xbfff, false, false), (0xffff, false, true)]
    {
        let parameters = vec![unknown(kind, 5), behind.clone()];
        let pair = opening_with(move |init| init.parameters = parameters.clone());
        let addresses = pair.sctp(SERVER).destinations().len();
        assert_eq!(addresses, if stops { 1 } else { 2 }, "{kind:#x}");
        let unrecognized = init_ack(&pair).parameters.iter().any(|p| matches!(p, Parameter::Unrecognized(_)));
        assert_eq!(unrecognized, reported, "{kind:#x}");
    }
}

#[test]
fn the_cookie_counts_wherever_it_stands() {
    let pair = answered_with(|ack| ack.parameters.insert(0, unknown(0x7fff, 5)));
    assert_eq!(pair.sctp(CLIENT).state(), State::Established);
    let reports = |chunk: &Chunk| match chunk {
        Chunk::Error(causes) => causes.iter().any(|cause| matches!(cause, ErrorCause::UnrecognizedParameters(_))),
        _ => false,
    };
    assert!(sent(&pair, CLIENT).iter().any(|sent| has(&sent.packet, reports)));
}

#[test]
fn reports_of_what_is_unknown_take_no_more_than_a_packet() {
    let many = || (0..3000).map(|_| unknown(0xffff, 12));
    let pair = opening_with(move |init| init.parameters.extend(many()));
    assert_eq!(pair.sctp(CLIENT).state(), State::Established);
    let pair_2 = answered_with(move |ack| ack.parameters.extend(many()));
    let mut pair_3 = Setup::sctp(1).connected();
    let unknown_chunk = Chunk::Unknown(RawChunk { kind: 0xff, flags: 0, value: Box::default() });
    let start = pair_3.now();
    pair_3.inject_sctp(SERVER, vec![unknown_chunk; 1000], |_| {});
    pair_3.run_for(secs(1));
    assert_eq!(pair_3.sent_sctp(SERVER, start).count(), 1);
    for (pair, from) in [(pair, SERVER), (pair_2, CLIENT), (pair_3, SERVER)] {
        let lengths: Vec<u32> = sent(&pair, from).iter().map(|sent| sent.packet.length()).collect();
        assert!(lengths.iter().all(|&length| length <= 1480), "{lengths:?}");
        assert!(lengths.iter().any(|&length| length > 1400), "{lengths:?}");
    }
}

#[test]
fn a_violation_is_reported_in_no_more_than_a_packet() {
    let mut pair = Setup::sctp(1).connected();
    let value = vec![0; 60_000].into();
    pair.inject_sctp(SERVER, vec![Chunk::Malformed(RawChunk { kind: chunk_type::SACK, flags: 0, value })], |_| {});
    pair.run_for(ms(5));
    let last = sent(&pair, SERVER).pop().expect("an ABORT").packet.length();
    assert!(!aborts(&pair, SERVER).is_empty() && last <= 1480, "{last}");
}
