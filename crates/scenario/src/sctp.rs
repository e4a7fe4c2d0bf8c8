//! The switches of SCTP, as scenarios have them. Defaults stand in the reference table (`scenarios/REFERENCE.md`).

use subflow_quantity::Duration;
use subflow_transport::sctp::config::{
    BufferSplitting, InitialThreshold, RecoveryScope, Reliability, RetransmissionPolicy, WindowGrowth,
};

use super::{Congestion, Scheduler, Stack};

/// An SCTP flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Sctp {
    /// Congestion control of both ends.
    pub congestion: Congestion,
    /// Which path gets new data with CMT; `None` for the one with the most free window.
    pub scheduler: Option<Scheduler>,
    /// The primary path, as the place of its interface among those of [`Flow::to`](super::Flow::to)'s host, that of the
    /// flow first.
    pub primary: usize,
    /// The stack at [`Flow::from`](super::Flow::from).
    pub from_stack: Stack,
    /// The stack at [`Flow::to`](super::Flow::to).
    pub to_stack: Stack,
}

/// Switches of SCTP (RFC 9260) and of concurrent multipath transfer.
#[derive(Clone, Debug, PartialEq)]
pub struct SctpOptions {
    /// Data goes over all paths at once.
    pub cmt: bool,
    /// The handshake lists all addresses.
    pub multihomed: bool,
    /// Which acknowledgments grow windows.
    pub window_growth: WindowGrowth,
    /// Whose state fast recovery is.
    pub fast_recovery: RecoveryScope,
    /// Congestion avoidance goes on in fast recovery.
    pub avoidance_in_recovery: bool,
    /// Where data goes that is sent again.
    pub retransmission: RetransmissionPolicy,
    /// Split fast retransmit (SFR).
    pub split_fast_retransmit: bool,
    /// Delayed acknowledgment for CMT (DAC).
    pub delayed_ack_cmt: bool,
    /// Offer NR-SACK.
    pub nr_sack: bool,
    /// Data beyond a gap may be dropped when the buffer is full.
    pub reneging: bool,
    /// Which buffers are split among the paths.
    pub buffer_splitting: BufferSplitting,
    /// Largest IP packet in bytes.
    pub mtu: u16,
    /// Where slow start ends before the first loss.
    pub initial_ssthresh: InitialThreshold,
    /// Most packets of new data at once.
    pub max_burst: Option<u32>,
    /// Every message written may leave in a burst of its own.
    pub burst_per_message: bool,
    /// A window shrinks while nothing is sent.
    pub idle_decay: bool,
    /// Outbound streams asked for.
    pub streams: u16,
    /// Bytes of a message.
    pub message_size: u32,
    /// Messages may be delivered out of order.
    pub unordered: bool,
    /// How long a message is worth sending.
    pub reliability: Reliability,
    /// A packet that is not full does not wait.
    pub nodelay: bool,
    /// Retransmission timeout before the first RTT sample.
    pub initial_rto: Duration,
    /// Lower bound of the retransmission timeout.
    pub min_rto: Duration,
    /// Upper bound of the retransmission timeout.
    pub max_rto: Duration,
    /// News beyond a gap restarts the retransmission timer.
    pub gap_acks_restart_timer: bool,
    /// A fast retransmission of the earliest chunk restarts the retransmission timer.
    pub fast_retransmission_restarts_timer: bool,
    /// A timeout doubles the retransmission timeout only for the next timer but one.
    pub late_back_off: bool,
    /// Only the packet that leaves with the SACK at hand ignores the window.
    pub single_fast_packet: bool,
    /// One packet of retransmissions may be cut into several.
    pub segmentation_offload: bool,
    /// How long a SACK waits.
    pub sack_delay: Duration,
    /// Packets of data for each SACK.
    pub sack_frequency: u32,
    /// Most gap blocks of a SACK; `None` for as many as fit.
    pub max_gap_blocks: Option<u16>,
    /// How far ahead of the cumulative TSN data is taken.
    pub most_tsns_ahead: u16,
    /// Receive buffer in bytes.
    pub receive_buffer: u64,
    /// Send buffer in bytes; `None` for no bound.
    pub send_buffer: Option<u64>,
    /// Timeouts in a row that an association survives.
    pub association_max_retransmissions: u32,
    /// Timeouts in a row that a path survives.
    pub path_max_retransmissions: u32,
    /// With more timeouts in a row a path is potentially failed (RFC 7829); `None`: it never is.
    pub potentially_failed_max_retransmissions: Option<u32>,
    /// Whether it is probed at once then, or an RTO later.
    pub probe_at_once: bool,
    /// Whether the acknowledgment of data that was sent only over a potentially failed path makes it active again.
    pub sack_ends_potentially_failed: bool,
    /// How often INIT and COOKIE ECHO are sent again.
    pub init_retransmissions: u32,
    /// How often an idle path is probed; `None` for never.
    pub heartbeat_interval: Option<Duration>,
    /// How long the handshake's cookie is valid.
    pub cookie_life: Duration,
    /// Packets travel in UDP.
    pub udp_encapsulation: bool,
    /// Timers fire on multiples of this; zero for exact timers.
    pub timer_tick: Duration,
    /// Long timers fire on multiples of more (Linux's timer wheel).
    pub timer_wheel: bool,
}
