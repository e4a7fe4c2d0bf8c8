//! The check of user data that arrives over SCTP.

use std::collections::BTreeMap;

use subflow_transport::sctp::Association;
use subflow_wire::{Body, Packet};

use crate::Pattern;

/// Checks that the user data of an association's peer is [`Pattern`], in the order of the TSNs, which is the order in
/// which the peer wrote it. It does not hold for a peer that abandons messages (RFC 3758).
#[derive(Clone, Debug, Default)]
pub struct SctpData {
    /// The number of TSNs checked so far, counted as [`Association::taken_chunks`] counts.
    checked: u64,
    /// The number of bytes checked so far.
    offset: u64,
    /// The data of later TSNs.
    waiting: BTreeMap<u64, Vec<u8>>,
}

impl SctpData {
    /// Handles `packet`, which `association` has just handled; `bytes` are those of the packet from the common header
    /// on.
    ///
    /// # Errors
    ///
    /// If a byte differs from what was sent.
    pub fn check(&mut self, association: &Association, packet: &Packet, bytes: &[u8]) -> Result<(), String> {
        let Body::Sctp(body) = &packet.body else { return Ok(()) };
        if association.taken_chunks().is_empty() {
            return Ok(());
        }
        let data = body.chunks.iter().enumerate().filter(|(_, chunk)| chunk.payload().is_some());
        let ranges: Vec<_> = data.map(|(index, _)| index).zip(body.payload_ranges()).collect();
        for taken in association.taken_chunks().iter().filter(|taken| taken.tsn > self.checked) {
            let range = ranges.iter().find(|(index, _)| *index == taken.index).map(|(_, range)| range.clone());
            let chunk = range.and_then(|range| bytes.get(range)).unwrap_or_default();
            self.waiting.insert(taken.tsn, chunk.to_vec());
        }
        while let Some(chunk) = self.waiting.remove(&(self.checked + 1)) {
            if let Some(position) = Pattern.first_difference(self.offset, &chunk) {
                let offset = self.offset + position as u64;
                return Err(format!("byte {offset} differs from what was sent"));
            }
            self.checked += 1;
            self.offset += chunk.len() as u64;
        }
        Ok(())
    }
}
