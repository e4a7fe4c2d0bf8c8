//! Arbitrary datagrams of QUIC that can be written.

use proptest::prelude::*;
use subflow_wire::quic::{
    AckFrame, AckRange, CloseCause, CloseFrame, ConnectionId, CryptoFrame, DatagramFrame, Direction, EcnCounts, Frame,
    MAX_VARINT, NewConnectionIdFrame, PacketHeader, PacketNumber, QuicDatagram, QuicPacket, StreamFrame, StreamId,
};
use subflow_wire::{Payload, checksum};

/// The length of the connection identifiers in short headers.
pub(crate) const ID_LENGTH: usize = 8;

/// A datagram, and the application data of all its frames.
pub(crate) fn quic_datagram_with_payload() -> impl Strategy<Value = (QuicDatagram, Vec<u8>)> {
    let long = prop::collection::vec((long_header(), frames(false)), 0..3);
    (any::<(u16, u16)>(), long, (short_header(), frames(true))).prop_map(
        |((source_port, destination_port), mut parts, last)| {
            parts.push(last);
            let mut data = Vec::new();
            let packets = parts.into_iter().map(|(header, (frames, bytes))| {
                data.extend(bytes);
                QuicPacket { header, frames }
            });
            let packets = packets.collect();
            (QuicDatagram { source_port, destination_port, packets }, data)
        },
    )
}

fn varint() -> impl Strategy<Value = u64> {
    prop_oneof![0..64_u64, 64..16_384_u64, 16_384..1_u64 << 30, (1_u64 << 30)..=MAX_VARINT]
}

fn bytes(most: usize) -> impl Strategy<Value = Box<[u8]>> {
    prop::collection::vec(any::<u8>(), 0..most).prop_map(Vec::into_boxed_slice)
}

fn connection_id() -> impl Strategy<Value = ConnectionId> {
    prop::collection::vec(any::<u8>(), 0..=20).prop_map(|bytes| ConnectionId::new(&bytes).expect("short enough"))
}

fn number() -> impl Strategy<Value = PacketNumber> {
    (0..1_u64 << 31, 0..1_u64 << 31).prop_map(|(before, further)| {
        PacketNumber::encode(before + further % (1 << (1 + further % 31)), before.checked_sub(1))
    })
}

fn long_header() -> impl Strategy<Value = PacketHeader> {
    (0..3, 1..9_u32, connection_id(), connection_id(), bytes(30), number()).prop_map(
        |(kind, version, destination, source, token, number)| match kind {
            0 => PacketHeader::Initial { version, destination, source, token, number },
            1 => PacketHeader::ZeroRtt { version, destination, source, number },
            _ => PacketHeader::Handshake { version, destination, source, number },
        },
    )
}

fn short_header() -> impl Strategy<Value = PacketHeader> {
    (any::<[u8; ID_LENGTH]>(), any::<(bool, bool)>(), number()).prop_map(|(id, (spin, key_phase), number)| {
        let destination = ConnectionId::new(&id).expect("short enough");
        PacketHeader::OneRtt { destination, spin, key_phase, number }
    })
}

/// Frames, and the data of those that carry some. Padding is only behind others: two runs of it would be one.
fn frames(with_open_end: bool) -> impl Strategy<Value = (Vec<Frame>, Vec<u8>)> {
    let part = prop_oneof![2 => data(true), 5 => control().prop_map(|frame| (frame, Vec::new()))];
    let last = prop_oneof![data(!with_open_end), (1..20_u32).prop_map(|length| (Frame::Padding(length), Vec::new())),];
    (prop::collection::vec(part, 0..5), last).prop_map(|(mut parts, last)| {
        parts.push(last);
        let (frames, data): (_, Vec<Vec<u8>>) = parts.into_iter().unzip();
        (frames, data.concat())
    })
}

fn data(has_length: bool) -> impl Strategy<Value = (Frame, Vec<u8>)> {
    let bytes = prop::collection::vec(any::<u8>(), 0..40);
    (any::<(bool, bool)>(), varint(), varint(), bytes).prop_map(move |((is_stream, fin), stream, offset, bytes)| {
        let sum = checksum::ones_complement_sum(&bytes);
        let payload = Payload { stream_offset: 0, length: bytes.len() as u32, sum };
        let (stream, offset) = (StreamId(stream), offset.min(MAX_VARINT - 40));
        let frame = match is_stream {
            true => Frame::Stream(StreamFrame { stream, offset, fin, has_length, payload }),
            false => Frame::Datagram(DatagramFrame { has_length, payload }),
        };
        (frame, bytes)
    })
}

fn control() -> impl Strategy<Value = Frame> {
    prop_oneof![
        3 => ack().prop_map(Frame::Ack),
        3 => integers(),
        1 => (varint(), bytes(40)).prop_map(|(offset, data)| {
            Frame::Crypto(CryptoFrame { offset: offset.min(MAX_VARINT - 40), data })
        }),
        1 => bytes(30).prop_filter("a token is not empty", |token| !token.is_empty()).prop_map(Frame::NewToken),
        1 => any::<[u8; 8]>().prop_map(Frame::PathChallenge),
        1 => any::<[u8; 8]>().prop_map(Frame::PathResponse),
        1 => new_connection_id(),
        1 => close(),
    ]
}

fn ack() -> impl Strategy<Value = AckFrame> {
    let ranges = prop::collection::vec((0..70_u64, 0..300_u64), 0..6);
    let ecn =
        prop::option::of((varint(), varint(), varint()).prop_map(|(ect0, ect1, ce)| EcnCounts { ect0, ect1, ce }));
    (prop::option::of(varint()), varint(), varint(), 0..300_u64, ranges, ecn).prop_map(
        |(path, largest, delay, first_range, ranges, ecn)| AckFrame {
            path,
            largest: largest.max(10_000),
            delay,
            first_range,
            ranges: ranges.into_iter().map(|(gap, length)| AckRange { gap, length }).collect(),
            ecn,
        },
    )
}

fn integers() -> impl Strategy<Value = Frame> {
    (0..19, any::<bool>(), [varint(), varint(), varint(), varint()]).prop_map(
        |(kind, either, [one, two, three, four])| {
            let stream = StreamId(one);
            let direction = if either { Direction::Bidirectional } else { Direction::Unidirectional };
            match kind {
                0 => Frame::Ping,
                1 => Frame::ResetStream { stream, error_code: two, final_size: three },
                2 => Frame::StopSending { stream, error_code: two },
                3 => Frame::MaxData(one),
                4 => Frame::MaxStreamData { stream, maximum: two },
                5 => Frame::MaxStreams { direction, maximum: one.min(1 << 60) },
                6 => Frame::DataBlocked(one),
                7 => Frame::StreamDataBlocked { stream, limit: two },
                8 => Frame::StreamsBlocked { direction, limit: one.min(1 << 60) },
                9 => Frame::RetireConnectionId { path: either.then_some(one), sequence: two },
                10 => Frame::HandshakeDone,
                11 => Frame::ImmediateAck,
                12 => Frame::AckFrequency {
                    sequence: one,
                    eliciting_threshold: two,
                    max_ack_delay: three,
                    reordering_threshold: four,
                },
                13 => Frame::PathAbandon { path: one, error_code: two },
                14 => Frame::PathStatus { path: one, sequence: two, available: either },
                15 => Frame::MaxPathId(one),
                16 => Frame::PathsBlocked(one),
                _ => Frame::PathCidsBlocked { path: one, next_sequence: two },
            }
        },
    )
}

fn new_connection_id() -> impl Strategy<Value = Frame> {
    let id = prop::collection::vec(any::<u8>(), 1..=20);
    (prop::option::of(varint()), varint(), varint(), id, any::<[u8; 16]>()).prop_map(|(path, one, two, id, token)| {
        Frame::NewConnectionId(Box::new(NewConnectionIdFrame {
            path,
            sequence: one.max(two),
            retire_prior_to: one.min(two),
            connection_id: ConnectionId::new(&id).expect("short enough"),
            stateless_reset_token: token,
        }))
    })
}

fn close() -> impl Strategy<Value = Frame> {
    (any::<bool>(), varint(), varint(), bytes(20)).prop_map(|(is_of_transport, error_code, frame_type, reason)| {
        let cause = match is_of_transport {
            true => CloseCause::Transport { error_code, frame_type },
            false => CloseCause::Application { error_code },
        };
        Frame::ConnectionClose(Box::new(CloseFrame { cause, reason }))
    })
}
