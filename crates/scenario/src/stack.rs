//! The switches of a host's stacks. What each one's default is under each profile stands in the reference table
//! (`scenarios/REFERENCE.md`), which is made from the same list that the reader takes the defaults from.

use subflow_policy::congestion::CmtRpV2Form;
use subflow_quantity::Duration;

use super::SctpOptions;

/// How one end of a connection behaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// TCP, and each subflow of MPTCP.
    pub tcp: TcpOptions,
    /// The MPTCP level; unused by plain TCP.
    pub mptcp: MptcpOptions,
    /// SCTP.
    pub sctp: SctpOptions,
}

/// Switches of TCP.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpOptions {
    /// Largest IP packet in bytes.
    pub mtu: u16,
    /// Initial congestion window in packets (RFC 6928).
    pub initial_window: u32,
    /// Offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Offer selective acknowledgments (RFC 2018) and report duplicates (RFC 2883).
    pub sack: bool,
    /// Retransmission timeout before the first RTT sample (RFC 6298, section 2.1).
    pub initial_rto: Duration,
    /// Lower bound of the variance term of the RTO, as in Linux.
    pub min_rto: Duration,
    /// Upper bound of the RTO.
    pub max_rto: Duration,
    /// How often a segment is retransmitted by timeout before the connection gives up.
    pub max_retries: u32,
    /// How often a SYN is sent again.
    pub syn_retries: u32,
    /// When acknowledgments are sent; `None` acknowledges every segment at once.
    pub delayed_ack: Option<DelayedAck>,
    /// Linux's SACK compression; `None` turns it off.
    pub sack_compression: Option<SackCompression>,
    /// How lost segments are found.
    pub loss_detection: LossDetection,
    /// Proportional rate reduction in recovery (RFC 6937); otherwise the window falls at once.
    pub prr: bool,
    /// Tail loss probes (RFC 8985, section 7).
    pub tlp: bool,
    /// Detection of spurious timeouts (F-RTO, RFC 5682).
    pub frto: bool,
    /// Undo of a window reduction that timestamps or D-SACK prove wrong (RFC 3522, RFC 3708).
    pub undo: bool,
    /// CUBIC leaves slow start early when the delay grows (HyStart).
    pub hystart: bool,
    /// LIA, OLIA and BALIA round as the fixed-point arithmetic of the MPTCP kernel 0.9x does.
    pub fixed_point: bool,
    /// OLIA's and CMT/RP's thresholds never fall below two packets, as Linux's Reno's; by their definitions it is one.
    pub two_segment_floor: bool,
    /// Which CMT/RPv2 `cmt-rpv2` is.
    pub cmt_rpv2: CmtRpV2Form,
    /// Slow start goes on at the threshold and ends one packet past it (Linux before 4.3).
    pub slow_start_at_threshold: bool,
    /// Congestion avoidance counts acknowledgments, not what they acknowledge (Linux before 4.0).
    pub count_acks: bool,
    /// The window grows only when it was the limit (Linux `tcp_is_cwnd_limited`, after RFC 7661).
    pub window_validation: bool,
    /// Slow start again after an idle time of one RTO (RFC 5681, section 4.1).
    pub slow_start_after_idle: bool,
    /// Whether a packet that is not full waits while another such packet is unacknowledged (Nagle's algorithm).
    pub nagle: bool,
    /// Receive buffer.
    pub receive_buffer: Buffer,
    /// Send buffer.
    pub send_buffer: Buffer,
    /// Timers fire on multiples of this; zero for exact timers.
    pub timer_tick: Duration,
    /// Long timers fire on multiples of more (Linux's timer wheel).
    pub timer_wheel: bool,
}

/// Delayed acknowledgments: one for several full-sized segments, or after the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// Full-sized segments per acknowledgment, at least 1.
    pub packets: u16,
    /// Shortest delay.
    pub minimum: Duration,
    /// Longest delay.
    pub maximum: Duration,
    /// Acknowledge the first segments, and those after a pause, at once (Linux: quick-ACK mode).
    pub quick_start: bool,
}

/// SACK compression: while data is missing, acknowledgments past the third duplicate are held back for a small part of
/// the RTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackCompression {
    /// Longest delay.
    pub delay: Duration,
    /// What the machine's timer adds.
    pub slack: Duration,
    /// Most acknowledgments held back in a row.
    pub count: u32,
}

/// A socket buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Never the limit.
    Unlimited,
    /// This many bytes, always.
    Fixed(u64),
    /// Grows with what the connection needs.
    Automatic {
        /// Bytes at the start.
        initial: u64,
        /// Upper bound in bytes.
        maximum: u64,
    },
}

/// How lost segments are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// By time: RACK (RFC 8985, section 6).
    Rack,
    /// By three SACKed segments above the hole, or three duplicate ACKs (RFC 6675, RFC 6582).
    DupThresh,
}

/// Switches of the MPTCP level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MptcpOptions {
    /// Most subflows of one connection, the initial one included.
    pub max_subflows: u32,
    /// DSS checksums (RFC 8684, section 3.3.1).
    pub checksum: bool,
    /// When the receive window blocks, send the oldest missing data again on the subflow that is free (Raiciu et al.,
    /// NSDI 2012).
    pub opportunistic_retransmission: bool,
    /// Halve the window of the subflow that holds the receive window up (same source).
    pub penalisation: bool,
    /// Periods without a sign of life after which a subflow is stale (Linux `net.mptcp.stale_loss_cnt`); 0 moves data
    /// at the first timeout.
    pub stale_loss_count: u8,
    /// Each subflow opens the receive window by what it receives itself (Linux `rcv_ssthresh` of each subflow).
    pub subflows_open_window: bool,
}
