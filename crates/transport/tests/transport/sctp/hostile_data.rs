//! DATA and FORWARD-TSN that no sender sends that follows the protocol (RFC 9260, sections 3.3.1, 6.2, 6.5, 6.9; RFC
//! 3758, section 3.6).

use subflow_transport::sctp::State;
use subflow_transport::tcp::Closed;
use subflow_wire::Payload;
use subflow_wire::sctp::{Chunk, DataChunk, ErrorCause, ForwardTsnChunk, InitChunk, SkippedStream};

use crate::harness::sctp::{has, sack_of};
use crate::harness::{Pair, SERVER, Setup, ms, secs};

/// What the client's INIT said.
fn init(pair: &Pair) -> InitChunk {
    match &pair.sctp.log[0].packet.chunks[..] {
        [Chunk::Init(init)] => (**init).clone(),
        other => panic!("{other:?}"),
    }
}

/// A client that has sent nothing, and whose DATA is made up: its chunk number `n`, counted from 0.
struct Forger {
    pair: Pair,
    first_tsn: u32,
}

impl Forger {
    fn new(setup: Setup) -> Self {
        let mut pair = setup.connected();
        pair.trust_content = true;
        // The client would abort where the server acknowledges what it has not sent.
        pair.paths[0].up = false;
        let first_tsn = init(&pair).initial_tsn;
        Self { pair, first_tsn }
    }

    fn data(&self, n: u32, stream: u16, stream_sequence: u16, length: u32) -> DataChunk {
        let payload = Payload { length, ..Payload::default() };
        let tsn = self.first_tsn.wrapping_add(n);
        DataChunk { tsn, stream, stream_sequence, begin: true, end: true, payload, ..DataChunk::default() }
    }

    fn send(&mut self, chunks: impl IntoIterator<Item = DataChunk>) {
        self.pair.inject_sctp(SERVER, chunks.into_iter().map(Chunk::Data).collect(), |_| {});
        self.pair.run_for(ms(2));
    }

    fn is_aborted(&self) -> bool {
        self.pair.sctp(SERVER).state() == State::Closed(Closed::Aborted)
    }
}

#[test]
fn two_messages_of_one_sequence_number_are_a_violation() {
    let mut forger = Forger::new(Setup::sctp(1));
    forger.send([forger.data(0, 0, 5, 1)]);
    forger.send([forger.data(1, 0, 5, 1000)]);
    assert!(forger.is_aborted());
    let mut forger = Forger::new(Setup::sctp(1));
    forger.send([forger.data(0, 0, 1, 10), forger.data(1, 3, 1, 1000), forger.data(2, 0, 0, 10)]);
    assert_eq!((forger.pair.received(SERVER), forger.pair.sctp(SERVER).out_of_order_bytes()), (20, 1000));
}

#[test]
fn data_on_streams_that_do_not_exist_is_reported_in_one_packet() {
    let mut forger = Forger::new(Setup::sctp(1).both(|stack| stack.association().streams = 1));
    let start = forger.pair.now();
    let chunks: Vec<_> = (0..400).map(|n| forger.data(n, 7, 0, 1)).collect();
    forger.send(chunks);
    let sent: Vec<_> = forger.pair.sent_sctp(SERVER, start).collect();
    assert!(sent.len() <= 2 && sent.iter().all(|sent| sent.packet.length() <= 1480), "{}", sent.len());
    let reports = |chunk: &Chunk| match chunk {
        Chunk::Error(causes) => causes.contains(&ErrorCause::InvalidStreamIdentifier { stream: 7 }),
        _ => false,
    };
    assert!(sent.iter().any(|sent| has(&sent.packet, reports)));
    assert_eq!(forger.pair.sctp(SERVER).bytes_received(), 0);
}

#[test]
fn a_message_of_tiny_fragments_is_delivered_in_parts_before_it_fills_the_memory() {
    let mut forger = Forger::new(Setup::sctp(1));
    for packet in 0..200 {
        let middle = |n| DataChunk { begin: n == 0, end: false, ..forger.data(n, 0, 0, 1) };
        let chunks: Vec<_> = (packet * 1000..packet * 1000 + 1000).map(middle).collect();
        forger.send(chunks);
        assert!(forger.pair.sctp(SERVER).out_of_order_bytes() <= 1 << 16, "packet {packet}");
    }
    assert!(forger.pair.received(SERVER) > 100_000);
    let last = DataChunk { begin: false, ..forger.data(200_000, 0, 0, 1) };
    forger.send([last]);
    assert_eq!(forger.pair.received(SERVER), 200_001);
}

#[test]
fn messages_behind_one_that_never_comes_wait_in_a_bounded_number() {
    let mut forger = Forger::new(Setup::sctp(1));
    // The first message of every stream is left out.
    for packet in 0..300 {
        let chunk = |n| forger.data(n, (n % 10) as u16, (n / 10 + 1) as u16, 1);
        let chunks: Vec<_> = (packet * 1000..packet * 1000 + 1000).map(chunk).collect();
        forger.send(chunks);
    }
    assert_eq!(forger.pair.sctp(SERVER).out_of_order_bytes(), 1 << 16);
    assert_eq!(forger.pair.sctp(SERVER).state(), State::Established);
}

#[test]
fn data_and_forward_tsns_far_outside_the_window_change_nothing() {
    let mut forger = Forger::new(Setup::sctp(1));
    forger.send([
        forger.data(40_000, 0, 0, 100),
        forger.data(1 << 30, 0, 0, 100),
        forger.data(u32::MAX - 70_000, 0, 0, 9),
    ]);
    for ahead in [70_000, 1 << 30, u32::MAX - 5] {
        let new_cumulative_tsn = forger.first_tsn.wrapping_add(ahead);
        let streams = vec![SkippedStream { stream: 0, stream_sequence: 9 }];
        let forward = Chunk::ForwardTsn(ForwardTsnChunk { new_cumulative_tsn, streams });
        forger.pair.inject_sctp(SERVER, vec![forward], |_| {});
    }
    forger.pair.run_for(ms(2));
    forger.send([forger.data(0, 0, 0, 50)]);
    forger.pair.run_for(secs(1));
    assert_eq!((forger.pair.received(SERVER), forger.pair.sctp(SERVER).out_of_order_bytes()), (50, 0));
    let sack = forger.pair.sctp.log.iter().filter_map(|sent| sack_of(&sent.packet)).next_back().expect("a SACK");
    assert_eq!((sack.cumulative_tsn, sack.gaps.len()), (forger.first_tsn, 0));
}

#[test]
fn a_forward_tsn_that_was_not_negotiated_is_passed_over() {
    let mut forger = Forger::new(Setup::sctp(1).on(SERVER, |stack| stack.association().partial_reliability = false));
    let new_cumulative_tsn = forger.first_tsn.wrapping_add(3);
    let forward = Chunk::ForwardTsn(ForwardTsnChunk { new_cumulative_tsn, streams: Vec::new() });
    forger.pair.inject_sctp(SERVER, vec![forward], |_| {});
    forger.send([forger.data(0, 0, 0, 50)]);
    assert_eq!(forger.pair.received(SERVER), 50);
}

#[test]
fn a_forward_tsn_may_name_every_stream_and_costs_no_more_than_a_number_for_each() {
    let mut forger = Forger::new(Setup::sctp(1).both(|stack| stack.association().streams = 65_535));
    let streams = (0..16_000).map(|n| SkippedStream { stream: n * 4, stream_sequence: 40_000 }).collect();
    let forward = ForwardTsnChunk { new_cumulative_tsn: forger.first_tsn, streams };
    forger.pair.inject_sctp(SERVER, vec![Chunk::ForwardTsn(forward)], |_| {});
    forger.send([forger.data(1, 4, 0, 50), forger.data(2, 5, 0, 70)]);
    assert_eq!(forger.pair.sctp(SERVER).state(), State::Established);
    assert_eq!(forger.pair.received(SERVER), 120, "sequence number 40000 lies behind, not ahead");
}
