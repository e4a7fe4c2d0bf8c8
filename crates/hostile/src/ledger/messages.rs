//! SCTP's messages: what each chunk holds, whether what is delivered is what was written, once, in the order of its
//! stream.

use std::collections::{BTreeMap, BTreeSet};

use subflow_transport::sctp::{Association, Delivery};
use subflow_wire::SctpPacket;
use subflow_wire::sctp::{Chunk, DataChunk};

use super::bytes::{Sender, pattern};

/// Where the data of each TSN stands in what its sender wrote.
#[derive(Debug, Default)]
pub(super) struct SentMessages {
    offsets: BTreeMap<u32, u64>,
}

impl SentMessages {
    pub(super) fn note(&mut self, packet: &SctpPacket) {
        for data in packet.chunks.iter().filter_map(data_of) {
            self.offsets.insert(data.tsn, data.payload.stream_offset);
        }
    }
}

/// What one end has taken, and delivered.
#[derive(Debug, Default)]
pub(super) struct Deliveries {
    /// Chunks taken and not delivered, by TSN counted from 1.
    chunks: BTreeMap<u64, (DataChunk, Vec<u8>)>,
    /// Offsets of what was delivered.
    delivered: BTreeSet<u64>,
    /// The end of what was last delivered in order, by stream.
    ends: BTreeMap<u16, u64>,
    bytes: u64,
}

impl Deliveries {
    /// Keeps what `association` took of a packet whose user data is `bytes`.
    pub(super) fn take(&mut self, association: &Association, packet: &SctpPacket, bytes: &[u8]) {
        let mut rest = bytes;
        for (index, data) in packet.chunks.iter().enumerate().filter_map(|(at, chunk)| Some((at, data_of(chunk)?))) {
            let (own, behind) = rest.split_at(data.payload.length as usize);
            rest = behind;
            if let Some(taken) = association.taken_chunks().iter().find(|taken| taken.index == index) {
                self.chunks.insert(taken.tsn, (*data, own.to_vec()));
            }
        }
    }

    /// Compares what `association` delivers with what `sender` wrote; where it is not known what that was (`sent` is
    /// `None`), only that everything delivered was taken.
    pub(super) fn check(&mut self, sender: Sender, sent: Option<&SentMessages>, association: &mut Association) {
        while let Some(delivery) = association.poll_delivery() {
            self.check_delivery(sender, sent, &delivery);
        }
        assert_eq!(self.bytes, association.bytes_received(), "deliveries and the count of bytes differ");
    }

    fn check_delivery(&mut self, sender: Sender, sent: Option<&SentMessages>, delivery: &Delivery) {
        let mut length = 0;
        for tsn in delivery.tsns.0..=delivery.tsns.1 {
            let taken = self.chunks.remove(&tsn);
            let (data, bytes) = taken.unwrap_or_else(|| panic!("TSN {tsn} was delivered and never taken"));
            length += bytes.len() as u64;
            let Some(sent) = sent else { continue };
            let offset = sent.offsets.get(&data.tsn).unwrap_or_else(|| panic!("TSN {} was never sent", data.tsn));
            let right = (*offset..).map(|at| pattern(sender, at));
            assert!(right.zip(&bytes).all(|(right, &byte)| right == byte), "TSN {tsn} is not what was written");
            assert!(self.delivered.insert(*offset), "TSN {tsn} was delivered twice");
            if !delivery.unordered {
                let end = self.ends.entry(delivery.stream).or_default();
                assert!(*offset >= *end, "stream {} goes back from {end} to {offset}", delivery.stream);
                *end = offset + bytes.len() as u64;
            }
        }
        assert_eq!(length, delivery.bytes, "a delivery of other bytes than those of its chunks");
        self.bytes += length;
    }
}

fn data_of(chunk: &Chunk) -> Option<&DataChunk> {
    match chunk {
        Chunk::Data(data) => Some(data),
        _ => None,
    }
}
