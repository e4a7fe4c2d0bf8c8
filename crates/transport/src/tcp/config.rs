//! What a TCP connection may be told, with the defaults of Linux 6.12.

use subflow_policy::congestion::Growth;
use subflow_quantity::Duration;

use super::timers::Tick;

/// How lost segments are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// RACK (RFC 8985, section 6): by time, with an adaptive reordering window.
    Rack,
    /// RFC 6675: by three SACKed segments above the hole.
    DupThresh,
}

/// How the window comes down after a fast retransmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowReduction {
    /// Proportional rate reduction with the slow-start reduction bound (RFC 6937; Linux `tcp_cwnd_reduction`).
    Proportional,
    /// To the threshold at once; the pipe of RFC 6675 then decides when to send.
    Immediate,
}

/// When acknowledgments are sent (RFC 9293, section 3.8.6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// Every segment is acknowledged at once.
    EverySegment,
    /// Every second full-sized segment, or after the delayed-ACK timer, as Linux does: the timer adapts to the
    /// segments' spacing from `minimum` up, and a connection begins in quick-ACK mode when `quick_start` is set.
    Delayed {
        /// Shortest delay (Linux: `TCP_DELACK_MIN`, 40 ms).
        minimum: Duration,
        /// Longest delay (Linux: `TCP_DELACK_MAX`, 200 ms).
        maximum: Duration,
        /// Acknowledge the first segments (Linux: up to 16) and those after a pause at once.
        quick_start: bool,
    },
}

/// Linux's SACK compression (`tcp_comp_sack_*`): while data is missing, acknowledgments past the third duplicate are
/// held back for a small part of the RTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackCompression {
    /// Longest delay; the delay is the smaller of this and a twentieth of the RTT.
    pub delay: Duration,
    /// What the machine's timer adds (`tcp_comp_sack_slack_ns`).
    pub slack: Duration,
    /// Most acknowledgments held back in a row.
    pub count: u32,
}

/// The receive buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveBuffer {
    /// A buffer of this many bytes, all of it advertised.
    Fixed(u64),
    /// Dynamic right-sizing (Linux `tcp_rcv_space_adjust`): half of `initial` bytes is advertised at first; what the
    /// application read in a round trip then decides, up to half of `maximum`.
    Automatic {
        /// Bytes at the start (`tcp_rmem[1]`).
        initial: u64,
        /// Upper bound in bytes (`tcp_rmem[2]`).
        maximum: u64,
    },
}

impl ReceiveBuffer {
    /// Bytes to which it may grow.
    pub(crate) fn largest(self) -> u64 {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::Automatic { initial, maximum } => maximum.max(initial),
        }
    }
}

/// Everything about a TCP connection that is not its addresses. [`Config::default`] is Linux 6.12 with default
/// sysctls.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
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
    /// Lower bound of the variance term of the RTO, as in Linux: RTO = SRTT + max(this, 4·RTTVAR).
    pub min_rto: Duration,
    /// Upper bound of the RTO.
    pub max_rto: Duration,
    /// How often a segment is retransmitted by timeout before the connection gives up (`tcp_retries2`).
    pub max_retries: u32,
    /// How often a SYN is sent again (`tcp_syn_retries`).
    pub syn_retries: u32,
    /// Acknowledgments.
    pub ack_policy: AckPolicy,
    /// SACK compression; `None` turns it off.
    pub sack_compression: Option<SackCompression>,
    /// Loss detection.
    pub loss_detection: LossDetection,
    /// Window reduction in fast recovery.
    pub window_reduction: WindowReduction,
    /// Tail loss probes (RFC 8985, section 7).
    pub tail_loss_probe: bool,
    /// Detection of spurious timeouts (F-RTO, RFC 5682).
    pub frto: bool,
    /// Undo of a window reduction that timestamps or D-SACK prove wrong (RFC 3522, RFC 3708).
    pub undo: bool,
    /// Grow the window only when it was the limit (Linux `tcp_is_cwnd_limited`, after RFC 7661).
    pub window_validation: bool,
    /// How a window's growth is counted.
    pub growth: Growth,
    /// Restart slow start after an idle time of one RTO (RFC 5681, section 4.1).
    pub slow_start_after_idle: bool,
    /// Nagle's algorithm (RFC 9293, section 3.7.4) in Minshall's variant, as in Linux: a segment below full size waits
    /// while another small one is unacknowledged. Linux turns it off with the socket option `TCP_NODELAY`.
    pub nagle: bool,
    /// The receive buffer.
    pub receive_buffer: ReceiveBuffer,
    /// The kernel timer's tick: timers fire on its multiples, never early. Zero for exact timers.
    pub timer_tick: Duration,
    /// Whether timers of 63 ticks and more fire on multiples of 8 ticks, of 504 and more on multiples of 64, and so
    /// on: Linux's timer wheel since 4.8 (`kernel/time/timer.c`).
    pub timer_wheel: bool,
    /// How long TIME-WAIT lasts.
    pub time_wait: Duration,
}

impl Config {
    /// When timers fire.
    pub(crate) fn tick(&self) -> Tick {
        Tick { tick: self.timer_tick, wheel: self.timer_wheel }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mtu: 1500,
            initial_window: 10,
            timestamps: true,
            sack: true,
            initial_rto: Duration::from_secs(1),
            min_rto: Duration::from_millis(200),
            max_rto: Duration::from_secs(120),
            max_retries: 15,
            syn_retries: 6,
            ack_policy: AckPolicy::Delayed {
                minimum: Duration::from_millis(40),
                maximum: Duration::from_millis(200),
                quick_start: true,
            },
            sack_compression: Some(SackCompression {
                delay: Duration::from_millis(1),
                slack: Duration::from_micros(100),
                count: 44,
            }),
            loss_detection: LossDetection::Rack,
            window_reduction: WindowReduction::Proportional,
            tail_loss_probe: true,
            frto: true,
            undo: true,
            window_validation: true,
            growth: Growth::default(),
            slow_start_after_idle: true,
            nagle: true,
            receive_buffer: ReceiveBuffer::Automatic { initial: 131_072, maximum: 16_777_216 },
            timer_tick: Duration::from_millis(4),
            timer_wheel: true,
            time_wait: Duration::from_secs(60),
        }
    }
}

impl Config {
    /// The Linux 3.18 and 4.1 of the papers (out-of-tree MPTCP 0.9x): loss detection of RFC 6675 with tail loss probes
    /// instead of RACK, no SACK compression, slow start also at the threshold, ticks of 4 ms (HZ = 250, as
    /// distributions have it) and the timer wheel before 4.8, which fires every timer on its tick.
    pub fn linux_4_1() -> Self {
        Self {
            growth: Growth { slow_start_at_threshold: true, ..Growth::default() },
            loss_detection: LossDetection::DupThresh,
            sack_compression: None,
            receive_buffer: ReceiveBuffer::Automatic { initial: 87_380, maximum: 6_291_456 },
            timer_wheel: false,
            ..Self::default()
        }
    }
}
