//! A peer that shook hands and then sends what costs most: whatever it sends, memory stays under a bound, and so does
//! what it is answered.

use proptest::prelude::*;
use subflow_quantity::{Duration, Instant};
use subflow_wire::sctp::{
    Chunk, DataChunk, ForwardTsnChunk, GapBlock, InitChunk, NrSackChunk, Parameter, RawChunk, RawParameter, SackChunk,
    SkippedStream,
};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Payload, SctpPacket};

use super::config::Config;
use super::cookie::Extensions;
use super::outbound::SentChunk;
use super::packet_walk::established_with;
use super::{Association, Destination};
use crate::blank_packet;

/// What a peer can make an association hold beside the receive buffer and what this side's application has written
/// (docs/src/sctp.md, "Bounds").
const MEMORY_BOUND: usize = 24 << 20;
/// What a node of a B-tree takes for each entry beside the entry itself, at most: half of it may be empty.
const TREE_FACTOR: usize = 2;

/// One packet of an attack; numbers go on from one to the next.
#[derive(Clone, Copy, Debug)]
enum Attack {
    /// A byte in every second TSN.
    EverySecondTsn,
    /// Messages of one byte on all streams, of each of which the first one is missing.
    WithoutTheFirst,
    /// A message of one-byte fragments that does not end.
    EndlessMessage,
    /// FORWARD-TSNs that name many streams.
    ForwardAllStreams,
    /// SACKs of as many overlapping gap blocks as a packet of 64 KiB has, of both kinds.
    OverlappingGaps,
    /// Chunks that are to be reported.
    UnknownChunks,
    /// DATA for streams that do not exist.
    UnknownStreams,
    /// INITs with addresses and parameters that are to be reported.
    Inits,
    /// HEARTBEATs of many sizes.
    Heartbeats,
}

const ATTACKS: [Attack; 9] = [
    Attack::EverySecondTsn,
    Attack::WithoutTheFirst,
    Attack::EndlessMessage,
    Attack::ForwardAllStreams,
    Attack::OverlappingGaps,
    Attack::UnknownChunks,
    Attack::UnknownStreams,
    Attack::Inits,
    Attack::Heartbeats,
];

/// Chunks of a packet: DATA of one byte takes 20 bytes.
const CHUNKS: u32 = 3000;

impl Attack {
    /// The chunks of the `n`th packet, for an association with this cumulative TSN.
    fn chunks(self, n: u32, association: &Association) -> Vec<Chunk> {
        let next = association.inbound.cumulative_tsn().wrapping_add(2000);
        let data = |offset: u32| DataChunk {
            tsn: next.wrapping_add(offset),
            payload: Payload { length: 1, ..Payload::default() },
            ..DataChunk::default()
        };
        let many = |chunk: &dyn Fn(u32) -> Chunk| (0..CHUNKS).map(chunk).collect::<Vec<_>>();
        match self {
            Self::EverySecondTsn => many(&|i| {
                Chunk::Data(DataChunk { unordered: true, begin: true, ..data(1 + 2 * (n * CHUNKS + i) % 40_000) })
            }),
            Self::WithoutTheFirst => many(&|i| {
                let number = n * CHUNKS + i;
                let (stream, stream_sequence) = (number as u16, (number >> 16) as u16 + 1);
                Chunk::Data(DataChunk { begin: true, end: true, stream, stream_sequence, ..data(i) })
            }),
            Self::EndlessMessage => many(&|i| Chunk::Data(DataChunk { begin: n == 0 && i == 0, ..data(i) })),
            Self::ForwardAllStreams => {
                let skipped =
                    |i: u32| SkippedStream { stream: (i * 4 + n) as u16, stream_sequence: (n * 1000 + 5) as u16 };
                let streams = (0..16_000).map(skipped).collect();
                vec![Chunk::ForwardTsn(ForwardTsnChunk { new_cumulative_tsn: next.wrapping_add(n), streams })]
            }
            Self::OverlappingGaps => {
                let block = |i: u32| GapBlock { start: 2 + (i * 7 % 50) as u16, end: 3 + (i * 11 % 900) as u16 };
                let cumulative_tsn = association.cumulative_tsn_acknowledged();
                let gaps = (0..8000).map(block).collect();
                let sack = SackChunk { cumulative_tsn, a_rwnd: u32::MAX, gaps, ..SackChunk::default() };
                let non_renegable = (0..8000).map(|i| block(i + n)).collect();
                vec![Chunk::NrSack(NrSackChunk { sack, non_renegable })]
            }
            Self::UnknownChunks => {
                many(&|i| Chunk::Unknown(RawChunk { kind: 0xc5, flags: 0, value: vec![0; i as usize % 40].into() }))
            }
            Self::UnknownStreams => many(&|i| Chunk::Data(DataChunk { stream: 65_535, ..data(i) })),
            Self::Inits => {
                let unknown =
                    |i: u8| Parameter::Unknown(RawParameter { kind: 0xffff, value: vec![0; usize::from(i)].into() });
                let address = |i: u8| Parameter::Ipv4Address([10, 0, 9, i].into());
                let parameters = (0..200).flat_map(|i| [unknown(i), address(i)]).collect();
                let (outbound_streams, inbound_streams) = (65_535, 65_535);
                let init = InitChunk {
                    initiate_tag: 5,
                    a_rwnd: 9000,
                    outbound_streams,
                    inbound_streams,
                    initial_tsn: n,
                    parameters,
                };
                vec![Chunk::Init(Box::new(init))]
            }
            Self::Heartbeats => (0..40).map(|i| Chunk::Heartbeat(vec![1; i * 20].into())).collect(),
        }
    }
}

/// An association with as many addresses of the peer as there may be, whose application does not read.
fn attacked() -> Association {
    let extensions = Extensions { forward_tsn: true, nr_sack: true, ecn: true };
    let mut association = established_with(Config { nr_sack: true, ..Config::rfc9260() }, extensions);
    association.inbound.set_streams(65_535);
    let more: Vec<_> = (10..60).map(|last| std::net::IpAddr::from([10, 0, 1, last])).collect();
    association.add_addresses(&more);
    association.set_reading(false);
    association
}

/// Bytes that the peer's packets have made the association hold, buffers' contents not counted.
fn footprint(association: &Association) -> usize {
    let blocks: usize = association.destinations.iter().map(|destination| destination.report.memory()).sum();
    association.inbound.footprint(TREE_FACTOR)
        + association.destinations.len() * size_of::<Destination>()
        + association.outbound.queue.iter().count() * size_of::<SentChunk>()
        + blocks
        + association.control.footprint()
}

/// The packet arrives, and everything that is to be sent is taken. Gives its length, and that of
/// the control chunks.
fn throw(association: &mut Association, attack: Attack, n: u32, now: Instant) -> (u32, u32) {
    let chunks = attack.chunks(n, association);
    let verification_tag = if matches!(attack, Attack::Inits) { 0 } else { association.local.tag() };
    let body = SctpPacket {
        source_port: 81,
        destination_port: 80,
        verification_tag,
        encapsulation: None,
        may_fragment: false,
        chunks,
    };
    let destination = &association.destinations[n as usize % association.destinations.len()];
    let (source, local) = (destination.remote, destination.local);
    let ip = IpHeader { source, destination: local, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct };
    association.handle_packet(now, &ip, &body);
    let (mut packet, mut sent) = (blank_packet(), 0);
    while association.poll_transmit(now, &mut packet) {
        let Body::Sctp(answer) = &packet.body else { panic!("SCTP only") };
        let control = answer.chunks.iter().filter(|chunk| chunk.payload().is_none());
        sent += control.map(Chunk::length).sum::<u32>();
    }
    (body.length(), sent)
}

fn is_bounded(association: &mut Association, attack: Attack, n: u32, now: Instant) {
    let (received, sent) = throw(association, attack, n, now);
    assert!(sent <= received + 3 * association.config.mtu, "{attack:?} {n}: {sent} bytes in answer to {received}");
    let held = footprint(association);
    assert!(held <= MEMORY_BOUND, "{attack:?} {n}: {held} bytes");
    assert!(association.inbound.held() <= association.config.receive_buffer);
}

#[test]
fn each_attack_by_itself_stays_under_the_bound() {
    for attack in ATTACKS {
        let mut association = attacked();
        association.write(2_000_000);
        for n in 0..100 {
            is_bounded(&mut association, attack, n, Instant::ZERO + Duration::from_millis(u64::from(n)));
            if association.phase.is_closed() {
                break;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn attacks_together_stay_under_the_bound(attacks in proptest::collection::vec(0..ATTACKS.len(), 40), reads in any::<bool>()) {
        let mut association = attacked();
        association.set_reading(reads);
        association.write(2_000_000);
        for (n, attack) in (0..).zip(attacks) {
            is_bounded(&mut association, ATTACKS[attack], n, Instant::ZERO + Duration::from_millis(u64::from(n)));
        }
    }
}
