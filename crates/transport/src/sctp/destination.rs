//! One destination: an address of the peer, with its path's state (RFC 9260, sections 6.3, 7 and 8).

use std::collections::VecDeque;
use std::net::IpAddr;

use subflow_quantity::{Duration, Instant};

use super::config::{Config, WindowGrowth};
use super::cuc::{CucVersion, PseudoCumack};
use super::gap_blocks::GapReport;
use super::heartbeat::Heartbeat;
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
    pub(crate) remote: IpAddr,
    /// This host's address that packets to it leave from.
    pub(crate) local: IpAddr,
    pub(crate) reachability: Reachability,
    pub(crate) rto: RtoEstimator,
    /// When T3-rtx expires, where it runs.
    pub(crate) t3: Option<Instant>,
    /// Timeouts in a row without an answer.
    pub(crate) errors: u32,
    /// When it last became potentially failed or inactive.
    pub(crate) failed_since: Option<Instant>,
    /// Bytes in flight.
    pub(crate) in_flight: u64,
    /// Chunks in flight.
    pub(crate) chunks_in_flight: u64,
    /// Chunks assigned here and not sent yet, with their lengths, and their bytes in all.
    pub(crate) queue: VecDeque<(u64, u32)>,
    pub(crate) queued_bytes: u64,
    pub(crate) cuc: PseudoCumack,
    /// What the last SACK from there has reported.
    pub(crate) report: GapReport,
    /// The highest TSN sent there that is in a gap block of the last SACK.
    pub(crate) highest_reported: Option<u64>,
    /// Where its own fast recovery ends.
    pub(crate) recovery_exit: Option<u64>,
    /// A packet of fast retransmissions is due, whatever the window (RFC 9260, section 7.2.4, rule 3).
    pub(crate) fast_packet: bool,
    /// A chunk in flight is being timed.
    pub(crate) timing: bool,
    /// When data was sent there last.
    pub(crate) last_sent: Option<Instant>,
    /// By how many halvings its window has shrunk since then.
    pub(crate) halvings: u64,
    /// Bytes in flight up to which new data may go in this burst.
    pub(crate) burst_end: Option<u64>,
    /// What T3 starts anew with after it has expired, where that is not the RTO (see [`Config::late_back_off`]).
    pub(crate) restart_rto: Option<Duration>,
    pub(crate) heartbeat: Heartbeat,
    pub(crate) counters: DestinationCounters,
}

impl Destination {
    pub(crate) fn new(config: &Config, local: IpAddr, remote: IpAddr, confirmed: bool) -> Self {
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
            in_flight: 0,
            chunks_in_flight: 0,
            queue: VecDeque::new(),
            queued_bytes: 0,
            cuc: PseudoCumack::new(version),
            report: GapReport::default(),
            highest_reported: None,
            recovery_exit: None,
            fast_packet: false,
            timing: false,
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
        self.in_flight
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
    pub(crate) fn enqueue(&mut self, tsn: u64, length: u32) {
        self.queue.push_back((tsn, length));
        self.queued_bytes += u64::from(length);
    }

    /// The first chunk that waits leaves the queue.
    pub(crate) fn dequeue(&mut self) -> Option<u64> {
        let (tsn, length) = self.queue.pop_front()?;
        self.queued_bytes -= u64::from(length);
        Some(tsn)
    }

    /// The amount in flight as congestion control counts it.
    pub(crate) fn amount_in_flight(&self) -> u32 {
        u32::try_from(self.in_flight).unwrap_or(u32::MAX)
    }

    /// So many bytes more are in flight.
    pub(crate) fn add_in_flight(&mut self, length: u64) {
        self.in_flight += length;
        self.chunks_in_flight += 1;
    }

    /// So many bytes are no longer in flight.
    pub(crate) fn remove_in_flight(&mut self, length: u64) {
        self.in_flight -= length;
        self.chunks_in_flight -= 1;
    }

    /// The time since the last transmission, in whole retransmission timeouts.
    pub(crate) fn idle_timeouts(&self, now: Instant) -> u64 {
        let idle = self.last_sent.map_or(Duration::ZERO, |last| now.since(last));
        idle.as_nanos() / self.rto.rto().as_nanos().max(1)
    }
}
