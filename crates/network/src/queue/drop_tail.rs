//! The limit of a queue: a packet that does not fit is dropped on arrival.

use super::Limit;

/// A limit in packets and one in bytes; the unused one is the maximum. This takes two comparisons and no branch on the
/// kind of limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DropTail {
    packets: u32,
    bytes: u64,
}

impl DropTail {
    pub(crate) const fn new(limit: Limit) -> Self {
        match limit {
            Limit::Unlimited => Self { packets: u32::MAX, bytes: u64::MAX },
            Limit::Packets(packets) => Self { packets, bytes: u64::MAX },
            Limit::Bytes(bytes) => Self { packets: u32::MAX, bytes },
        }
    }

    /// Whether a packet of `size` bytes fits if the queue holds `packets` packets with `bytes` bytes in total.
    #[inline]
    pub(crate) const fn fits(self, packets: u32, bytes: u64, size: u32) -> bool {
        packets < self.packets && bytes + size as u64 <= self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_in_packets_counts_packets() {
        let queue = DropTail::new(Limit::Packets(2));
        assert!(queue.fits(1, 1_000_000, 1500));
        assert!(!queue.fits(2, 0, 1));
        assert!(!DropTail::new(Limit::Packets(0)).fits(0, 0, 1));
    }

    #[test]
    fn a_limit_in_bytes_includes_the_packet_that_comes() {
        let queue = DropTail::new(Limit::Bytes(3000));
        assert!(queue.fits(1, 1500, 1500));
        assert!(!queue.fits(1, 1501, 1500));
        assert!(queue.fits(1, 1501, 1499));
    }

    #[test]
    fn an_unlimited_queue_holds_any_number() {
        assert!(DropTail::new(Limit::Unlimited).fits(1_000_000, 1 << 40, 65_535));
    }
}
