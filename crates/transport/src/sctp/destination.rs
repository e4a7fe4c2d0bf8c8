//! One destination: an address of the peer, with its path's state (RFC 9260, sections 6.3, 7 and 8).

use std::collections::VecDeque;
use std::net::IpAddr;

use subflow_quantity::{Duration, Instant};

use super::config::{Config, WindowGrowth};
use super::cuc::{CucVersion, PseudoCumack};
use super::gap_blocks::GapReport;
use super::heartbeat::Heartbeat;
use super::outbound::{Flight, SentChunk};
use super::rto::RtoEstimator;

/// Whether a destination can be used (RFC 9260, sections 5.4 and 8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reachability {
    /// The address is not confirmed: data is sent to others.
    Unconfirmed,
    /// Active.
    Active,
    /// Potentially failed after an unanswered packet: data is sent to others if possible (RFC 7829).
    PotentiallyFailed,
    /// Inactive after Path.Max.Retrans consecutive timeouts.
    Inactive,
}

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
    /// Chunks sent there that were believed lost, by misses or a timeout.
    pub chunks_lost: u64,
    /// T3-rtx expirations.
    pub timeouts: u64,
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
    pub(super) reachability: Reachability,
    pub(super) rto: RtoEstimator,
    /// When T3-rtx expires, where it runs.
    pub(super) t3: Option<Instant>,
    /// Timeouts in a row without an answer.
    pub(super) errors: u32,
    /// When it last became potentially failed or inactive.
    pub(super) failed_since: Option<Instant>,
    pub(super) flight: Flight,
    /// Chunks assigned here and not sent yet, with their lengths, and their bytes in all.
    pub(super) queue: VecDeque<(u64, u32)>,
    pub(super) queued_bytes: u64,
    pub(super) cuc: PseudoCumack,
    /// What the last SACK from there has reported.
    pub(super) report: GapReport,
    /// The highest TSN sent there that is in a gap block of the last SACK.
    pub(super) highest_reported: Option<u64>,
    /// Where its own fast recovery ends.
    pub(super) recovery_exit: Option<u64>,
    /// A packet of fast retransmissions is due, whatever the window (RFC 9260, section 7.2.4, rule 3).
    pub(super) fast_packet: bool,
    /// When data was sent there last.
    pub(super) last_sent: Option<Instant>,
    /// By how many halvings its window has shrunk since then.
    pub(super) halvings: u64,
    /// Bytes in flight up to which new data may go in this burst.
    pub(super) burst_end: Option<u64>,
    /// What T3 starts anew with after it has expired, where that is not the RTO (see [`Config::late_back_off`]).
    pub(super) restart_rto: Option<Duration>,
    pub(super) heartbeat: Heartbeat,
    pub(super) counters: DestinationCounters,
}

impl Destination {
    pub(super) fn new(config: &Config, local: IpAddr, remote: IpAddr, confirmed: bool) -> Self {
        let version = match config.window_growth {
            WindowGrowth::Cuc(version) => version,
            _ => CucVersion::One,
        };
        Self {
            remote,
            local,
            reachability: if confirmed { Reachability::Active } else { Reachability::Unconfirmed },
            rto: RtoEstimator::new(config.rto),
            t3: None,
            errors: 0,
            failed_since: None,
            flight: Flight::default(),
            queue: VecDeque::new(),
            queued_bytes: 0,
            cuc: PseudoCumack::new(version),
            report: GapReport::default(),
            highest_reported: None,
            recovery_exit: None,
            fast_packet: false,
            last_sent: None,
            halvings: 0,
            burst_end: None,
            restart_rto: None,
            heartbeat: Heartbeat::default(),
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

    /// Whether it can be used.
    pub fn reachability(&self) -> Reachability {
        self.reachability
    }

    /// Whether it is preferred for data.
    pub fn is_active(&self) -> bool {
        self.reachability == Reachability::Active
    }

    /// User data in flight, in bytes.
    pub fn bytes_in_flight(&self) -> u64 {
        self.flight.bytes()
    }

    /// Its RTT estimate and retransmission timeout.
    pub fn rtt(&self) -> &RtoEstimator {
        &self.rto
    }

    /// Whether it is in a fast recovery of its own (see [`RecoveryScope::Destination`](super::config::RecoveryScope)).
    pub fn in_own_recovery(&self) -> bool {
        self.recovery_exit.is_some()
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

    /// A chunk, or a copy of one, waits to be sent there.
    pub(super) fn enqueue(&mut self, tsn: u64, length: u32) {
        self.queue.push_back((tsn, length));
        self.queued_bytes += u64::from(length);
    }

    /// The first chunk that waits leaves the queue.
    pub(super) fn dequeue(&mut self) -> Option<u64> {
        let (tsn, length) = self.queue.pop_front()?;
        self.queued_bytes -= u64::from(length);
        Some(tsn)
    }

    /// Whether the acknowledgment of a chunk that was sent there last proves that it works.
    #[inline]
    pub(super) fn is_proven_by(&self, chunk: &SentChunk) -> bool {
        chunk.is_proof(self.failed_since)
    }

    /// The time since the last transmission, in whole retransmission timeouts.
    pub(super) fn idle_timeouts(&self, now: Instant) -> u64 {
        let idle = self.last_sent.map_or(Duration::ZERO, |last| now.since(last));
        idle.as_nanos() / self.rto.rto().as_nanos().max(1)
    }
}
