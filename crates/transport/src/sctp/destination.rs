//! One destination: an address of the peer, with its path's state (RFC 9260, sections 6.3, 7 and 8).

use std::collections::VecDeque;
use std::net::IpAddr;

use subflow_quantity::Instant;

use super::RtoEstimator;
use super::bursts::DestinationBurst;
use super::config::{Config, WindowGrowth};
use super::congestion_window::IdleTime;
use super::cuc::{CucVersion, PseudoCumack};
use super::fast_recovery::FastRecovery;
use super::gap_blocks::GapReport;
use super::heartbeat::Heartbeat;
use super::outbound::{Flight, SentChunk};
use super::reachability::{Health, Reachability};
use super::retransmission_timer::RetransmissionTimer;

/// What a destination has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DestinationCounters {
    /// Packets sent there, of any kind.
    pub packets_sent: u64,
    /// DATA chunks sent there, repetitions included.
    pub data_chunks_sent: u64,
    /// Their user data.
    pub data_bytes_sent: u64,
    /// DATA chunks sent there again after three misses.
    pub fast_retransmissions: u64,
    /// DATA chunks sent there again after a timeout.
    pub timeout_retransmissions: u64,
    /// DATA chunks sent there that were sent to another destination last.
    pub chunks_moved: u64,
    /// Their user data.
    pub bytes_moved: u64,
    /// Chunks sent there that were believed lost, by misses or a timeout.
    pub chunks_lost: u64,
    /// T3-rtx expirations.
    pub timeouts: u64,
    /// Fast retransmissions as Linux counts them (`SctpFastRetransmits`): one for each SACK whose misses made chunks be
    /// sent again that were sent there.
    pub fast_retransmits: u64,
    /// Entries into fast recovery.
    pub fast_recoveries: u64,
    /// User data acknowledged that was sent there last.
    pub bytes_acknowledged: u64,
    /// HEARTBEATs sent there.
    pub heartbeats_sent: u64,
    /// Times it became potentially failed.
    pub suspicions: u64,
    /// Times it became inactive.
    pub failures: u64,
}

/// One destination of an association. Its congestion window is the path of the same index in
/// [`Association::congestion`](super::Association::congestion).
#[derive(Clone, Debug)]
pub struct Destination {
    /// The peer's address.
    pub(super) remote: IpAddr,
    /// This host's address that packets to it leave from.
    pub(super) local: IpAddr,
    /// The addresses that packets left from before, each once, in the order of their first use.
    former: Vec<IpAddr>,
    /// The number of the address that they leave from if this host has it and it reaches the peer's.
    pub(super) preferred_source: usize,
    pub(super) health: Health,
    pub(super) heartbeat: Heartbeat,
    pub(super) timer: RetransmissionTimer,
    pub(super) flight: Flight,
    /// Chunks assigned here that wait to be sent.
    pub(super) assigned: AssignedChunks,
    pub(super) burst: DestinationBurst,
    pub(super) idle: IdleTime,
    /// Its own fast recovery (see [`RecoveryScope::Destination`](super::config::RecoveryScope)).
    pub(super) recovery: FastRecovery,
    pub(super) cuc: PseudoCumack,
    /// What the last SACK from there has reported.
    pub(super) report: GapReport,
    /// The highest TSN sent there that is in a gap block of the last SACK.
    pub(super) highest_reported: Option<u64>,
    pub(super) counters: DestinationCounters,
}

impl Destination {
    /// The peer's address `remote`, which is reached from `local`: the address with this number, or the one in its place.
    pub(super) fn new(config: &Config, (number, local): (usize, IpAddr), remote: IpAddr, confirmed: bool) -> Self {
        let version = match config.window_growth {
            WindowGrowth::Cuc(version) => version,
            _ => CucVersion::One,
        };
        Self {
            remote,
            local,
            former: Vec::new(),
            preferred_source: number,
            health: Health::new(confirmed),
            heartbeat: Heartbeat::default(),
            timer: RetransmissionTimer::new(config.rto),
            flight: Flight::default(),
            assigned: AssignedChunks::default(),
            burst: DestinationBurst::default(),
            idle: IdleTime::default(),
            recovery: FastRecovery::default(),
            cuc: PseudoCumack::new(version),
            report: GapReport::default(),
            highest_reported: None,
            counters: DestinationCounters::default(),
        }
    }

    /// The peer's address.
    pub fn address(&self) -> IpAddr {
        self.remote
    }

    /// This host's address that packets to it leave from.
    pub fn source(&self) -> IpAddr {
        self.local
    }

    /// All addresses that packets to it have left from, the first one first.
    pub fn sources(&self) -> impl Iterator<Item = IpAddr> + '_ {
        let latest = (!self.former.contains(&self.local)).then_some(self.local);
        self.former.iter().copied().chain(latest)
    }

    /// Packets leave from `source` from now on.
    pub(super) fn leave_from(&mut self, source: IpAddr) {
        if self.counters.packets_sent > 0 && !self.former.contains(&self.local) {
            self.former.push(self.local);
        }
        self.local = source;
    }

    /// Whether it can be used.
    pub fn reachability(&self) -> Reachability {
        self.health.reachability()
    }

    /// Whether it is preferred for data.
    pub fn is_active(&self) -> bool {
        self.health.is_active()
    }

    /// User data in flight, in bytes.
    pub fn bytes_in_flight(&self) -> u64 {
        self.flight.bytes()
    }

    /// Its RTT estimate and retransmission timeout.
    pub fn rtt(&self) -> &RtoEstimator {
        self.timer.estimate()
    }

    /// Whether it is in a fast recovery of its own (see [`RecoveryScope::Destination`](super::config::RecoveryScope)).
    pub fn in_own_recovery(&self) -> bool {
        self.recovery.lasts()
    }

    /// Counters since the start.
    pub fn counters(&self) -> &DestinationCounters {
        &self.counters
    }

    /// The share of chunks sent there that were believed lost.
    pub fn loss_rate(&self) -> f64 {
        match self.counters.data_chunks_sent {
            0 => 0.0,
            sent => self.counters.chunks_lost as f64 / sent as f64,
        }
    }

    /// Whether the acknowledgment of a chunk that was sent there last proves that it works.
    #[inline]
    pub(super) fn is_proven_by(&self, chunk: &SentChunk) -> bool {
        chunk.is_proof(self.health.failed_since())
    }

    /// A chunk was sent there, for the first time or again.
    #[inline]
    pub(super) fn on_data_sent(&mut self, length: u64, config: &Config, now: Instant) {
        self.counters.data_chunks_sent += 1;
        self.counters.data_bytes_sent += length;
        self.idle.end(now);
        self.timer.on_data_sent(config, now);
    }
}

/// Chunks that are assigned to a destination and wait to be sent there, and copies of chunks.
#[derive(Clone, Debug, Default)]
pub(super) struct AssignedChunks {
    /// TSNs and lengths.
    chunks: VecDeque<(u64, u32)>,
    bytes: u64,
}

impl AssignedChunks {
    /// Bytes that wait.
    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// TSN and length of the first one.
    #[inline]
    pub(super) fn first(&self) -> Option<(u64, u32)> {
        self.chunks.front().copied()
    }

    #[inline]
    pub(super) fn push(&mut self, tsn: u64, length: u32) {
        self.chunks.push_back((tsn, length));
        self.bytes += u64::from(length);
    }

    /// Removes the first one, and returns its TSN.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u64> {
        let (tsn, length) = self.chunks.pop_front()?;
        self.bytes -= u64::from(length);
        Some(tsn)
    }

    /// Adds chunks that waited at another destination.
    pub(super) fn merge(&mut self, others: Vec<(u64, u32)>) {
        others.into_iter().for_each(|(tsn, length)| self.push(tsn, length));
        self.chunks.make_contiguous().sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_of_two_destinations_wait_in_the_order_of_their_tsns() {
        let mut assigned = AssignedChunks::default();
        assigned.push(2, 10);
        assigned.push(5, 20);
        assigned.merge(vec![(3, 30), (1, 40)]);
        assert_eq!((assigned.first(), assigned.bytes()), (Some((1, 40)), 100));
        assert_eq!(core::iter::from_fn(|| assigned.pop()).collect::<Vec<_>>(), [1, 2, 3, 5]);
        assert_eq!((assigned.is_empty(), assigned.bytes()), (true, 0));
    }
}
