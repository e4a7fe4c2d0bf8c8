//! How large packets may be, and how much of them is left for chunks (RFC 9260, sections 6.9 and 7.3).

use std::net::IpAddr;

use subflow_wire::sctp::{DataChunk, HEADER_LENGTH};

use super::Association;
use super::config::Config;

/// The length of a chunk in a packet, in bytes: chunks are padded.
#[inline]
pub(super) fn padded(length: u32) -> u32 {
    length.next_multiple_of(4)
}

/// Bytes for chunks in an IP packet of `mtu` bytes to `remote`, UDP header or not.
#[inline]
pub(super) fn room_for_chunks(config: &Config, mtu: u32, remote: IpAddr) -> u32 {
    let ip_header = if remote.is_ipv4() { 20 } else { 40 };
    let udp_header = if config.encapsulation.is_some() { 8 } else { 0 };
    mtu.saturating_sub(ip_header + udp_header + HEADER_LENGTH)
}

impl Association {
    /// Bytes for chunks in a packet.
    #[inline]
    pub(super) fn room(&self) -> u32 {
        room_for_chunks(&self.config, self.mtu, self.destinations[0].address())
    }

    /// The most user data of one chunk: it fits in a packet on every path.
    #[inline]
    pub(super) fn fragmentation_point(&self) -> u32 {
        let most = self.room().saturating_sub(DataChunk::HEADER_LENGTH);
        (most / 4 * 4).max(4)
    }

    /// The largest IP packet that the association sends: the configured MTU, or what routers reported of any path.
    pub fn mtu(&self) -> u32 {
        self.mtu
    }

    /// Chunks in flight that no longer fit into a packet were dropped with theirs: they are sent again at once, each in
    /// a packet of its own that routers may fragment, since a chunk with a TSN cannot be cut again (section 6.9).
    pub(super) fn lower_mtu(&mut self, mtu: u32) {
        let before = core::mem::replace(&mut self.mtu, mtu);
        (0..self.destinations.len()).for_each(|index| self.congestion.scale_to_mtu(index, before, mtu));
        let room = self.room();
        let in_flight = self.outbound.queue.iter().filter(|(_, chunk)| chunk.is_in_flight());
        let too_large: Vec<u64> = in_flight
            .filter(|(_, chunk)| padded(DataChunk::HEADER_LENGTH + chunk.fragment().length) > room)
            .map(|(tsn, _)| tsn)
            .collect();
        too_large.into_iter().for_each(|tsn| self.mark_lost(tsn));
    }
}
