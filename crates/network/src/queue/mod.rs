//! The queue of a link: its discipline (`subflow_policy::queue`), and the limit, which is checked here, where it costs
//! least: most links have nothing else. A packet that does not fit is dropped on arrival.

pub use subflow_policy::queue::Limit;
use subflow_policy::queue::{Discipline, Red, RedConfig};

/// The queue of one direction of a link.
#[derive(Clone, Debug)]
pub struct QueueConfig {
    /// The discipline: which packets are dropped before the limit is reached, or marked, and which one leaves next.
    /// Default: drop-tail.
    pub discipline: Discipline,
    /// The limit; a packet that does not fit is dropped. Default: unlimited.
    pub limit: Limit,
    /// Whether the packet in transmission counts for the limit and in what the discipline sees. It counts in tc netem (which
    /// holds a packet until its transmission ends) and does not count in ns-3's device queues and FreeBSD's dummynet.
    /// Default: it counts.
    pub counts_transmitting: bool,
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self { discipline: Discipline::default(), limit: Limit::Unlimited, counts_transmitting: true }
    }
}

impl QueueConfig {
    /// Drop-tail with a limit in packets, including the one in transmission.
    pub fn packets(limit: u32) -> Self {
        Self { limit: Limit::Packets(limit), ..Self::default() }
    }

    /// Drop-tail with a limit in bytes, including the packet in transmission.
    pub fn bytes(limit: u64) -> Self {
        Self { limit: Limit::Bytes(limit), ..Self::default() }
    }

    /// RED with `limit`.
    pub fn red(config: RedConfig, limit: Limit) -> Self {
        Self { discipline: Red::new(config).into(), limit, ..Self::default() }
    }

    /// The same queue, but only waiting packets count.
    #[must_use]
    pub fn counting_waiting_only(self) -> Self {
        Self { counts_transmitting: false, ..self }
    }
}

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
