//! The size of segments: what the path, the peer and the options of each segment leave for payload (RFC 9293, section
//! 3.7.1; RFC 6691).

use super::Config;

/// MSS of a peer that sends no MSS option over IPv4 (RFC 9293, section 3.7.1).
const DEFAULT_MSS: u32 = 536;
/// Most option bytes of a TCP header.
const OPTION_SPACE: u32 = 40;
/// The least payload of a full-sized segment, whatever the options.
const LEAST_MSS: u32 = 64;
/// Bytes of the timestamps option, with padding.
const TIMESTAMPS: u32 = 12;

/// The size of segments. Its MSS is always the one that the other values give.
#[derive(Clone, Debug)]
pub(super) struct SegmentSize {
    /// Payload bytes of a full-sized segment.
    mss: u32,
    /// Bytes of the IP header and of a TCP header without options.
    headers: u32,
    /// Bytes of the timestamps option; 0 without.
    timestamps: u32,
    /// Option bytes that MPTCP adds to a data segment, and to a pure acknowledgment.
    reserved: u32,
    reserved_in_acks: u32,
    /// Largest segment payload the peer accepts, before options.
    peer_mss: u32,
    /// Largest IP packet to send.
    path_mtu: u16,
    configured_mtu: u16,
}

impl SegmentSize {
    /// Before the peer's SYN has arrived.
    pub(super) fn new(config: &Config, is_ipv4: bool) -> Self {
        let headers = if is_ipv4 { 40 } else { 60 };
        let timestamps = if config.timestamps { TIMESTAMPS } else { 0 };
        Self {
            mss: u32::from(config.mtu) - headers - timestamps,
            headers,
            timestamps: 0,
            reserved: 0,
            reserved_in_acks: 0,
            peer_mss: DEFAULT_MSS,
            path_mtu: config.mtu,
            configured_mtu: config.mtu,
        }
    }

    /// Payload bytes of a full-sized segment.
    #[inline]
    pub(super) fn mss(&self) -> u32 {
        self.mss
    }

    /// The same if MPTCP had no options (Linux: `mss_cache`, by which pacing rates are computed).
    #[inline]
    pub(super) fn mss_without_reserve(&self) -> u32 {
        self.mss + self.reserved
    }

    /// Largest IP packet to send.
    pub(super) fn path_mtu(&self) -> u16 {
        self.path_mtu
    }

    /// The largest packet that both ends admit.
    pub(super) fn largest_mtu(&self) -> u16 {
        u32::from(self.configured_mtu).min(self.peer_mss + self.headers) as u16
    }

    /// The MSS option of this side's SYN.
    pub(super) fn mss_option(&self) -> u16 {
        self.configured_mtu - self.headers as u16
    }

    /// The peer's SYN arrived, with its MSS option.
    pub(super) fn on_syn(&mut self, mss: Option<u16>, timestamps: bool) {
        self.peer_mss = mss.map_or(DEFAULT_MSS, u32::from);
        self.timestamps = if timestamps { TIMESTAMPS } else { 0 };
        self.fit();
    }

    /// Reserves option bytes, `in_data` in every data segment and `in_acks` in every pure acknowledgment.
    pub(super) fn reserve(&mut self, in_data: u32, in_acks: u32) {
        (self.reserved, self.reserved_in_acks) = (in_data, in_acks);
        self.fit();
    }

    /// Sets the path MTU, and returns the one before.
    pub(super) fn set_path_mtu(&mut self, mtu: u16) -> u16 {
        let before = core::mem::replace(&mut self.path_mtu, mtu);
        self.fit();
        before
    }

    fn fit(&mut self) {
        self.mss = self.within(self.path_mtu);
    }

    /// The largest payload of a segment whose packet fits into `mtu` bytes.
    pub(super) fn within(&self, mtu: u16) -> u32 {
        let base = self.peer_mss.min(u32::from(mtu) - self.headers);
        base.saturating_sub(self.timestamps + self.reserved).max(LEAST_MSS)
    }

    /// Option bytes of a pure acknowledgment that are left for SACK blocks.
    #[inline]
    pub(super) fn space_in_ack(&self) -> u32 {
        OPTION_SPACE - self.timestamps - self.reserved_in_acks
    }

    /// Option bytes that are left for SACK blocks in a segment with `length` bytes of data, without making its packet
    /// larger than a full-sized one.
    #[inline]
    pub(super) fn space_beside(&self, length: u32) -> u32 {
        let spare = self.mss - length.min(self.mss);
        // 28 bytes are all that the timestamps option leaves.
        spare.min(OPTION_SPACE - TIMESTAMPS - self.reserved.min(OPTION_SPACE - TIMESTAMPS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_the_smaller_of_path_and_peer_bound_the_payload() {
        let mut size = SegmentSize::new(&Config::default(), true);
        assert_eq!((size.mss(), size.mss_option()), (1448, 1460));
        size.on_syn(Some(1460), true);
        assert_eq!(size.mss(), 1448);
        size.reserve(20, 12);
        assert_eq!((size.mss(), size.space_in_ack(), size.space_beside(1428), size.space_beside(0)), (1428, 16, 0, 8));
        assert_eq!(size.mss_without_reserve(), 1448);
        assert_eq!((size.set_path_mtu(1280), size.mss()), (1500, 1208));
        assert_eq!((size.within(1500), size.largest_mtu()), (1428, 1500));
        size.on_syn(None, false);
        assert_eq!((size.mss(), size.largest_mtu()), (516, 576));
    }
}
