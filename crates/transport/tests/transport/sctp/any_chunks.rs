//! Arbitrary chunks thrown at established associations never make them panic, run in circles, or deliver bytes that no
//! chunk carried.

use std::net::Ipv4Addr;

use proptest::prelude::*;
use subflow_wire::sctp::{
    Chunk, DataChunk, ErrorCause, ForwardTsnChunk, GapBlock, InitChunk, NrSackChunk, Parameter, RawChunk, RawParameter,
    SackChunk, SkippedStream,
};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, Payload, SctpPacket};

use super::transfer::flights_add_up;
use crate::harness::sctp::{data_of, sack_of};
use crate::harness::{CLIENT, Pair, SERVER, Setup, ms, secs};

/// A packet of arbitrary chunks. TSNs count from what its receiver expects next, in data, or has sent last, in
/// acknowledgments.
#[derive(Clone, Debug)]
struct Thrown {
    to: usize,
    chunks: Vec<Chunk>,
    /// What the verification tag is off by; 0 for the right one.
    tag: u32,
    address: usize,
    wait_ms: u64,
}

/// A distance from what is expected, as a number that wraps.
fn near() -> impl Strategy<Value = u32> {
    prop_oneof![4 => -3i32..4, 2 => -300i32..300, 1 => -70_000i32..70_000, 1 => any::<i32>()].prop_map(|by| by as u32)
}

fn bytes(most: usize) -> impl Strategy<Value = Box<[u8]>> {
    proptest::collection::vec(any::<u8>(), 0..most).prop_map(Vec::into_boxed_slice)
}

fn data() -> impl Strategy<Value = Chunk> {
    (any::<[bool; 4]>(), near(), 0u16..12, any::<u16>(), prop_oneof![1 => Just(0u32), 6 => 1u32..1400]).prop_map(
        |(flags, tsn, stream, ssn, length)| {
            let [immediate, unordered, begin, end] = flags;
            let payload = Payload { length, ..Payload::default() };
            let stream_sequence = ssn % 8;
            Chunk::Data(DataChunk {
                immediate,
                unordered,
                begin,
                end,
                tsn,
                stream,
                stream_sequence,
                protocol_identifier: 0,
                payload,
            })
        },
    )
}

fn gaps() -> impl Strategy<Value = Vec<GapBlock>> {
    let edge = || prop_oneof![3 => 0u16..20, 1 => any::<u16>()];
    proptest::collection::vec((edge(), edge()).prop_map(|(start, end)| GapBlock { start, end }), 0..5)
}

fn sack() -> impl Strategy<Value = SackChunk> {
    let window = prop_oneof![Just(0u32), Just(100_000u32), any::<u32>()];
    (near(), window, 0u8..4, gaps(), proptest::collection::vec(any::<u32>(), 0..3)).prop_map(
        |(cumulative_tsn, a_rwnd, data_packets, gaps, duplicates)| SackChunk {
            cumulative_tsn,
            a_rwnd,
            data_packets,
            gaps: gaps.into_iter().collect(),
            duplicates,
        },
    )
}

fn init() -> impl Strategy<Value = Box<InitChunk>> {
    let parameter = prop_oneof![
        (1u8..4).prop_map(|last| Parameter::Ipv4Address(Ipv4Addr::new(10, last, 0, 1))),
        bytes(40).prop_map(Parameter::StateCookie),
        bytes(8).prop_map(Parameter::HostName),
        (any::<u16>(), bytes(8))
            .prop_map(|(kind, value)| Parameter::Unknown(RawParameter { kind: kind | 0x4000, value })),
    ];
    (any::<u32>(), any::<u32>(), 0u16..20, 0u16..20, any::<u32>(), proptest::collection::vec(parameter, 0..4)).prop_map(
        |(initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn, parameters)| {
            Box::new(InitChunk { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn, parameters })
        },
    )
}

pub(super) fn chunk() -> impl Strategy<Value = Chunk> {
    let skipped = (0u16..12, 0u16..8).prop_map(|(stream, stream_sequence)| SkippedStream { stream, stream_sequence });
    let raw = (any::<u8>(), any::<u8>(), bytes(40)).prop_map(|(kind, flags, value)| RawChunk { kind, flags, value });
    prop_oneof![
        8 => data(),
        6 => sack().prop_map(Chunk::Sack),
        3 => (sack(), gaps()).prop_map(|(sack, kept)| {
            Chunk::NrSack(NrSackChunk { sack, non_renegable: kept.into_iter().collect() })
        }),
        2 => (near(), proptest::collection::vec(skipped, 0..3)).prop_map(|(new_cumulative_tsn, streams)| {
            Chunk::ForwardTsn(ForwardTsnChunk { new_cumulative_tsn, streams })
        }),
        1 => init().prop_map(Chunk::Init),
        1 => init().prop_map(Chunk::InitAck),
        1 => bytes(200).prop_map(Chunk::CookieEcho),
        1 => Just(Chunk::CookieAck),
        1 => bytes(20).prop_map(Chunk::Heartbeat),
        1 => bytes(20).prop_map(Chunk::HeartbeatAck),
        1 => near().prop_map(|cumulative_tsn| Chunk::Shutdown { cumulative_tsn }),
        1 => Just(Chunk::ShutdownAck),
        1 => any::<bool>().prop_map(|reflected| Chunk::ShutdownComplete { reflected }),
        1 => any::<bool>().prop_map(|reflected| Chunk::Abort { reflected, causes: Vec::new() }),
        1 => any::<u32>().prop_map(|staleness_us| Chunk::Error(vec![ErrorCause::StaleCookie { staleness_us }])),
        2 => raw.prop_map(Chunk::Malformed),
    ]
}

fn thrown() -> impl Strategy<Value = Thrown> {
    let tag = prop_oneof![8 => Just(0u32), 1 => any::<u32>()];
    (0..2usize, proptest::collection::vec(chunk(), 1..4), tag, 0..2usize, 0u64..300)
        .prop_map(|(to, chunks, tag, address, wait_ms)| Thrown { to, chunks, tag, address, wait_ms })
}

impl Thrown {
    fn packet(&self, pair: &Pair) -> Packet {
        let of_peer = || pair.sctp.log.iter().rev().filter(|sent| sent.from != self.to).map(|sent| &sent.packet);
        let last = of_peer().find(|packet| packet.verification_tag != 0).expect("the peer has spoken");
        let tsn = of_peer().flat_map(|packet| &packet.chunks).find_map(data_of).map_or(0, |data| data.tsn);
        let acknowledged = of_peer().find_map(sack_of).map_or(0, |sack| sack.cumulative_tsn);
        let mut chunks = self.chunks.clone();
        for chunk in &mut chunks {
            match chunk {
                Chunk::Data(data) => data.tsn = data.tsn.wrapping_add(tsn),
                Chunk::ForwardTsn(forward) => {
                    forward.new_cumulative_tsn = forward.new_cumulative_tsn.wrapping_add(tsn);
                }
                Chunk::Sack(SackChunk { cumulative_tsn, .. })
                | Chunk::NrSack(NrSackChunk { sack: SackChunk { cumulative_tsn, .. }, .. })
                | Chunk::Shutdown { cumulative_tsn } => *cumulative_tsn = cumulative_tsn.wrapping_add(acknowledged),
                _ => {}
            }
        }
        let body = SctpPacket { verification_tag: last.verification_tag ^ self.tag, chunks, ..last.clone() };
        let (source, destination) = (pair.address(1 - self.to, self.address), pair.address(self.to, self.address));
        Packet {
            ip: IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct },
            body: Body::Sctp(body),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000, max_shrink_iters: 1000, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn associations_withstand_any_chunks(throws in proptest::collection::vec(thrown(), 1..25), cmt in any::<bool>()) {
        let mut pair = Setup::sctp(2)
            .both(|stack| {
                let config = stack.association();
                config.nr_sack = cmt;
                if cmt {
                    *config = config.clone().with_cmt(subflow_transport::sctp::config::WindowGrowth::PerDestination);
                }
            })
            .connected();
        pair.transfer(CLIENT, 3000);
        pair.transfer(SERVER, 3000);
        pair.trust_content = true;
        pair.write(CLIENT, 100_000);
        pair.write(SERVER, 100_000);
        for thrown in throws {
            let packet = thrown.packet(&pair);
            pair.inject(thrown.to, &packet, ms(1));
            pair.run_for(ms(1 + thrown.wait_ms));
            [CLIENT, SERVER].into_iter().for_each(|side| flights_add_up(&pair, side));
        }
        // Whatever state they are in, they must not keep each other busy for ever.
        pair.finish(CLIENT);
        pair.finish(SERVER);
        let (before, end) = (pair.steps, pair.now() + secs(600));
        while pair.next().is_some_and(|next| next <= end) {
            pair.step();
            assert!(pair.steps - before < 20_000, "packets and timers without end");
        }
    }
}
