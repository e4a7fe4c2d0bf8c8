//! The places of packets' data, and of acknowledgments, in the stream of the sender, from headers alone.

use core::ops::Range;
use std::collections::BTreeMap;
use std::net::IpAddr;

use subflow_transport::mptcp::keys::Key;
use subflow_wire::quic::{Frame, StreamFrame};
use subflow_wire::sctp::{Chunk, SctpPacket};
use subflow_wire::tcp::TcpFlags;
use subflow_wire::tcp::mptcp::MptcpOption;
use subflow_wire::{Body, Packet, TcpSegment};

/// Where a packet goes, with its ports.
pub(super) type FourTuple = (IpAddr, IpAddr, u16, u16);

/// Data in a packet: its place in the stream, and the number of its first byte on its subflow, or its TSN.
#[derive(Clone, Debug)]
pub(super) struct Data {
    pub(super) range: Range<u64>,
    pub(super) number: u32,
}

/// What is known of a connection from the packets of its handshakes, and of SCTP from all packets of the sender.
#[derive(Debug, Default)]
pub(super) struct Connection {
    /// The sequence number of the first byte that the sender sends on each subflow.
    first: BTreeMap<FourTuple, u32>,
    /// The key of the sender, of MPTCP.
    key: Option<Key>,
    /// Where the data of each chunk of SCTP begins, by TSN counted from the first; and its length.
    chunks: Vec<Range<u64>>,
    first_tsn: Option<u32>,
}

impl Connection {
    /// Learns from the packets that the sender sends.
    pub(super) fn of<'a>(sent: impl Iterator<Item = &'a Packet>) -> Self {
        let mut connection = Self::default();
        let mut lengths = BTreeMap::new();
        for packet in sent {
            match &packet.body {
                Body::Tcp(segment) => connection.learn(packet, segment),
                Body::Sctp(sctp) => connection.learn_chunks(sctp, &mut lengths),
                Body::Udp(_) | Body::Quic(_) => {}
            }
        }
        let mut at = 0;
        for (expected, (tsn, length)) in lengths.into_iter().enumerate() {
            assert_eq!(tsn as usize, expected, "all TSNs below the last one were sent");
            connection.chunks.push(at..at + u64::from(length));
            at += u64::from(length);
        }
        connection
    }

    fn learn(&mut self, packet: &Packet, segment: &TcpSegment) {
        if segment.flags.contains(TcpFlags::SYN) {
            self.first.insert(four_tuple(packet), segment.sequence.wrapping_add(1));
        }
        for option in &segment.options.mptcp {
            if let MptcpOption::Capable(capable) = option
                && let (Some(key), None) = (capable.sender_key, &self.key)
            {
                self.key = Some(Key::new(key));
            }
        }
    }

    fn learn_chunks(&mut self, sctp: &SctpPacket, lengths: &mut BTreeMap<u32, u32>) {
        for chunk in &sctp.chunks {
            match chunk {
                Chunk::Init(init) | Chunk::InitAck(init) => self.first_tsn = Some(init.initial_tsn),
                Chunk::Data(data) => {
                    let first = self.first_tsn.expect("the handshake comes first");
                    lengths.insert(data.tsn.wrapping_sub(first), data.payload.length);
                }
                _ => {}
            }
        }
    }

    /// The data in a packet of the sender.
    pub(super) fn data(&self, packet: &Packet) -> Vec<Data> {
        match &packet.body {
            Body::Tcp(segment) if segment.payload.length > 0 => {
                let start = self.offset(four_tuple(packet), segment);
                let range = start..start + u64::from(segment.payload.length);
                vec![Data { range, number: segment.sequence }]
            }
            Body::Sctp(sctp) => {
                let data = |chunk: &Chunk| match chunk {
                    Chunk::Data(data) => {
                        let index = data.tsn.wrapping_sub(self.first_tsn?) as usize;
                        Some(Data { range: self.chunks[index].clone(), number: data.tsn })
                    }
                    _ => None,
                };
                sctp.chunks.iter().filter_map(data).collect()
            }
            // Of the only stream.
            Body::Quic(quic) => {
                let frames = quic.packets.iter().flat_map(|packet| &packet.frames);
                let data = frames.filter_map(|frame| match frame {
                    Frame::Stream(StreamFrame { stream, offset, payload, .. }) if payload.length > 0 => {
                        assert_eq!(stream.index(), 0, "all data is on one stream");
                        Some(Data { range: *offset..offset + u64::from(payload.length), number: 0 })
                    }
                    _ => None,
                });
                data.collect()
            }
            Body::Tcp(_) | Body::Udp(_) => Vec::new(),
        }
    }

    fn offset(&self, tuple: FourTuple, segment: &TcpSegment) -> u64 {
        // Runs are short: no number wraps around twice.
        let in_subflow = segment.sequence.wrapping_sub(self.first[&tuple]);
        let mapping = segment.options.dss.as_ref().and_then(|dss| dss.mapping.as_ref());
        match (&self.key, mapping) {
            (Some(key), Some(mapping)) if mapping.length > 0 => {
                // Relative to the initial number, which the SYN takes.
                let into = u64::from(in_subflow.wrapping_sub(mapping.subflow_sequence - 1));
                key.offset(mapping.data_sequence, mapping.wide, 0) + into
            }
            // Plain TCP, or the first data of MPTCP, which comes with the keys.
            _ => in_subflow.into(),
        }
    }

    /// The end of the data that a packet of the receiver acknowledges in order, if it says. QUIC acknowledges packets.
    pub(super) fn acknowledged(&self, packet: &Packet) -> Option<u64> {
        match &packet.body {
            Body::Tcp(segment) => match &self.key {
                Some(key) => {
                    let ack = segment.options.dss.as_ref()?.data_ack?;
                    Some(key.offset(ack.value, ack.wide, 0))
                }
                None => {
                    let (source, destination, source_port, destination_port) = four_tuple(packet);
                    let first = self.first.get(&(destination, source, destination_port, source_port))?;
                    Some(segment.acknowledgment.wrapping_sub(*first).into())
                }
            },
            Body::Sctp(sctp) => sctp.chunks.iter().find_map(|chunk| match chunk {
                Chunk::Sack(sack) => {
                    let tsn = sack.cumulative_tsn.wrapping_sub(self.first_tsn?) as i32;
                    Some(usize::try_from(tsn).map_or(0, |tsn| self.chunks[tsn].end))
                }
                _ => None,
            }),
            Body::Udp(_) | Body::Quic(_) => None,
        }
    }
}

/// The addresses and ports of a packet.
pub(super) fn four_tuple(packet: &Packet) -> FourTuple {
    let (source_port, destination_port) = match &packet.body {
        Body::Tcp(segment) => (segment.source_port, segment.destination_port),
        Body::Sctp(sctp) => (sctp.source_port, sctp.destination_port),
        Body::Quic(quic) => (quic.source_port, quic.destination_port),
        Body::Udp(_) => (0, 0),
    };
    (packet.ip.source, packet.ip.destination, source_port, destination_port)
}
