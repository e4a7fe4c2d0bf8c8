//! Configuration of a TCP connection. The defaults are those of Linux 6.12.

use subflow_policy::catalogue::Choice;
use subflow_policy::congestion::{Growth, Rules};
use subflow_quantity::Duration;
use subflow_wire::Ecn;

pub use subflow_policy::congestion::WindowReduction;

use super::timers::Tick;

/// Loss detection algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// RACK (RFC 8985, section 6): time-based, with an adaptive reordering window.
    Rack,
    /// RFC 6675: three SACKed segments above the hole.
    DupThresh,
}

impl LossDetection {
    /// All, by the names that scenarios use.
    pub const ALL: &'static [Choice<Self>] = &[
        Choice::new("rack", Self::Rack, "by time").source("RFC 8985"),
        Choice::new("dup-thresh", Self::DupThresh, "by three duplicate acknowledgments or SACKed packets")
            .source("RFC 6675"),
    ];
}

/// Use of explicit congestion notification (RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnMode {
    /// It is neither requested nor accepted (Linux `tcp_ecn = 0`).
    Off,
    /// It is accepted from peers that request it (Linux `tcp_ecn = 2`, its default).
    Accept,
    /// It is requested and accepted (Linux `tcp_ecn = 1`).
    Request,
    /// As DCTCP needs it (RFC 8257): requested and accepted, all packets are ECN-capable, and the receiver reports the
    /// mark of every data segment.
    Dctcp,
}

impl EcnMode {
    /// All, by the names that scenarios use.
    pub const ALL: &'static [Choice<Self>] = &[
        Choice::new("off", Self::Off, "neither requested nor accepted").source("Linux tcp_ecn = 0"),
        Choice::new("accept", Self::Accept, "accepted from peers that request it").source("Linux tcp_ecn = 2"),
        Choice::new("request", Self::Request, "requested and accepted").source("RFC 3168; Linux tcp_ecn = 1"),
        Choice::new("dctcp", Self::Dctcp, "requested, on all packets, and every mark is reported").source("RFC 8257"),
    ];

    /// Whether a SYN asks for it.
    pub(super) fn requests(self) -> bool {
        matches!(self, Self::Request | Self::Dctcp)
    }

    /// The codepoint of packets without new data.
    pub(super) fn of_others(self) -> Ecn {
        if self == Self::Dctcp { Ecn::Ect0 } else { Ecn::NotEct }
    }
}

/// Pacing: whether data packets leave at the pacing rate, one after the other, instead of as soon as the windows allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// Only if the congestion control needs it, as BBR does.
    #[default]
    Off,
    /// Always (Linux: the internal pacing of TCP, which `SO_MAX_PACING_RATE` turns on).
    Internal,
}

impl Pacing {
    /// All, by the names that scenarios use.
    pub const ALL: &'static [Choice<Self>] = &[
        Choice::new("off", Self::Off, "only with a congestion control that needs it, as BBR does"),
        Choice::new("internal", Self::Internal, "always, by a timer of the connection").source("Linux 4.13"),
    ];
}

/// TCP small queues: a bound on the data that a connection has in the queue of its own host's interface. Data counts
/// with the memory that the kernel charges for it (`truesize`), from its transmission by TCP until the device has sent it.
/// New data beyond the bound waits in the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmallQueues {
    /// No bound: the congestion window alone fills the queue.
    #[default]
    Off,
    /// The larger of two packets and what the pacing rate sends in 1/1024 s; without pacing, at most
    /// [`Config::output_limit`]. With at most one packet unacknowledged there is no bound; lost packets are sent again up to
    /// twice the bound.
    Linux612,
    /// The larger of [`Config::output_limit`] and what the pacing rate sends in 1/1024 s, for new data only.
    Linux318,
}

impl SmallQueues {
    /// All, by the names that scenarios use.
    pub const ALL: &'static [Choice<Self>] = &[
        Choice::new("off", Self::Off, "the host's queue takes whatever the windows allow"),
        Choice::new("linux-6.12", Self::Linux612, "two packets, or 1/1024 s of the pacing rate if that is more")
            .source("Linux 6.12 tcp_small_queue_check"),
        Choice::new("linux-3.18", Self::Linux318, "`output_limit`, or 1/1024 s of the pacing rate if that is more")
            .source("Linux 3.13 to 3.18 tcp_write_xmit"),
    ];
}

/// Acknowledgment policy (RFC 9293, section 3.8.6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// Every segment is acknowledged immediately.
    EverySegment,
    /// One of several full-sized segments is acknowledged, or the delayed-ACK timer expires.
    Delayed(DelayedAck),
}

/// Delayed acknowledgments as in Linux: the delay adapts to the spacing of segments. [`DelayedAck::default`] has the
/// values of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// Full-sized segments per acknowledgment, at least 1. Linux and RFC 9293 have 2; acknowledgments of more are
    /// stretch ACKs (RFC 2525, section 2.13), as an ACK ratio above 2 makes them (RFC 5690, section 4).
    pub segments: u16,
    /// Shortest delay (Linux: `TCP_DELACK_MIN`, 40 ms).
    pub minimum: Duration,
    /// Longest delay (Linux: `TCP_DELACK_MAX`, 200 ms).
    pub maximum: Duration,
    /// Acknowledge the first segments (Linux: up to 16) and those after a pause immediately (quick-ACK mode).
    pub quick_start: bool,
}

impl Default for DelayedAck {
    fn default() -> Self {
        Self { segments: 2, minimum: Duration::from_millis(40), maximum: Duration::from_millis(200), quick_start: true }
    }
}

/// SACK compression (Linux `tcp_comp_sack_*`): while data is missing, acknowledgments after the third duplicate are
/// delayed for a fraction of the RTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackCompression {
    /// Longest delay. The delay is the smaller of this and 1/20 of the RTT.
    pub delay: Duration,
    /// Timer slack, added to the delay (`tcp_comp_sack_slack_ns`).
    pub slack: Duration,
    /// Maximum number of consecutive acknowledgments delayed (`tcp_comp_sack_nr`).
    pub count: u32,
}

/// The values of Linux.
impl Default for SackCompression {
    fn default() -> Self {
        Self { delay: Duration::from_millis(1), slack: Duration::from_micros(100), count: 44 }
    }
}

/// Bounds of a buffer that grows with the throughput of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Autotuning {
    /// Bytes at the start (Linux: `tcp_rmem[1]`, `tcp_wmem[1]`).
    pub initial: u64,
    /// Upper bound in bytes (Linux: `tcp_rmem[2]`, `tcp_wmem[2]`).
    pub maximum: u64,
}

impl Autotuning {
    /// The receive buffer of Linux 6.12, with a maximum of 16 MiB.
    pub const LINUX_RECEIVE: Self = Self { initial: 131_072, maximum: 16_777_216 };
    /// The send buffer of Linux, with the same maximum.
    pub const LINUX_SEND: Self = Self { initial: 16_384, maximum: 16_777_216 };
}

/// The receive buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveBuffer {
    /// A buffer of this many bytes, all of which are advertised.
    Fixed(u64),
    /// Dynamic right-sizing (Linux `tcp_rcv_space_adjust`): at first half of the initial size is advertised; then the
    /// amount that the application reads per round trip determines the size.
    Automatic(Autotuning),
}

impl ReceiveBuffer {
    /// Largest size in bytes.
    pub(crate) fn largest(self) -> u64 {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::Automatic(Autotuning { initial, maximum }) => maximum.max(initial),
        }
    }
}

/// The send buffer: bytes that the application has written and the peer has not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendBuffer {
    /// Whatever is written is accepted. Subflows of a scheduler that queues data ahead of the windows have buffers
    /// with the bounds of Linux.
    Unlimited,
    /// A buffer of this many bytes.
    Fixed(u64),
    /// A buffer for each subflow that grows with its window, as in Linux. It is the limit only if an MPTCP scheduler
    /// queues data ahead of the windows.
    Automatic(Autotuning),
}

impl SendBuffer {
    /// The size in bytes that the connection as a whole has; `None` if it does not limit what is written.
    pub(crate) fn fixed(self) -> Option<u64> {
        match self {
            Self::Fixed(bytes) => Some(bytes),
            Self::Unlimited | Self::Automatic(_) => None,
        }
    }
}

/// Configuration of a TCP connection. [`Config::default`] is Linux 6.12 with default sysctls.
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
    /// Use of explicit congestion notification (RFC 3168).
    pub ecn: EcnMode,
    /// Retransmission timeout before the first RTT sample (RFC 6298, section 2.1).
    pub initial_rto: Duration,
    /// Lower bound of the variance term of the RTO, as in Linux: RTO = SRTT + max(this, 4·RTTVAR).
    pub min_rto: Duration,
    /// Upper bound of the RTO.
    pub max_rto: Duration,
    /// Maximum number of consecutive retransmission timeouts before the connection is closed (`tcp_retries2`).
    pub max_retries: u32,
    /// Maximum number of retransmissions of a SYN or SYN/ACK (`tcp_syn_retries`); of a SYN, those of
    /// [`syn_linear_timeouts`](Self::syn_linear_timeouts) come on top, within the time that the doubling ones alone take.
    pub syn_retries: u32,
    /// Timeouts of a SYN after which its timer does not double (`tcp_syn_linear_timeouts`, 4 since Linux 6.5). With 0
    /// each one doubles it (RFC 6298, section 5.5). A SYN/ACK has none of them.
    pub syn_linear_timeouts: u32,
    /// Acknowledgment policy.
    pub ack_policy: AckPolicy,
    /// SACK compression; `None` disables it.
    pub sack_compression: Option<SackCompression>,
    /// Loss detection.
    pub loss_detection: LossDetection,
    /// Window reduction in fast recovery.
    pub window_reduction: WindowReduction,
    /// Tail loss probes (RFC 8985, section 7).
    pub tail_loss_probe: bool,
    /// Detection of spurious timeouts (F-RTO, RFC 5682).
    pub frto: bool,
    /// Smaller packets where large ones are lost and no router says why (RFC 4821; Linux `tcp_mtu_probing`, off).
    pub black_hole_detection: bool,
    /// Undo of a window reduction that timestamps or D-SACK prove spurious (RFC 3522, RFC 3708).
    pub undo: bool,
    /// Increase the congestion window only if it limited transmission (Linux `tcp_is_cwnd_limited`, after RFC 7661).
    pub window_validation: bool,
    /// Details of how the congestion window increases.
    pub growth: Growth,
    /// Whether data packets are spaced. The pacing rate is the congestion control's; where it has none of its own, 200 %
    /// of the window per smoothed RTT while the window is below half of the threshold, else 120 % (Linux
    /// `tcp_update_pacing_rate`).
    pub pacing: Pacing,
    /// The bound on the data in the queue of the own host.
    pub small_queues: SmallQueues,
    /// Bytes of memory in that bound (Linux `tcp_limit_output_bytes`).
    pub output_limit: u64,
    /// Restart slow start after an idle time of one RTO (RFC 5681, section 4.1).
    pub slow_start_after_idle: bool,
    /// Nagle's algorithm (RFC 9293, section 3.7.4) with Minshall's modification, as in Linux: a segment below full
    /// size is held back while another one is unacknowledged. The socket option `TCP_NODELAY` disables it in Linux.
    pub nagle: bool,
    /// The receive buffer.
    pub receive_buffer: ReceiveBuffer,
    /// The send buffer.
    pub send_buffer: SendBuffer,
    /// Tick of the kernel timers: they expire at multiples of it, never early. Zero means exact timers.
    pub timer_tick: Duration,
    /// Whether timers of at least 63 ticks expire at multiples of 8 ticks, of at least 504 ticks at multiples of 64,
    /// and so on: the timer wheel of Linux since 4.8 (`kernel/time/timer.c`).
    pub timer_wheel: bool,
    /// Duration of TIME-WAIT.
    pub time_wait: Duration,
}

impl Config {
    /// The rules for its windows.
    pub(crate) fn window_rules(&self) -> Rules {
        Rules::Linux { growth: self.growth, reduction: self.window_reduction }
    }

    /// The granularity of timers.
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
            ecn: EcnMode::Accept,
            initial_rto: Duration::from_secs(1),
            min_rto: Duration::from_millis(200),
            max_rto: Duration::from_secs(120),
            max_retries: 15,
            syn_retries: 6,
            syn_linear_timeouts: 0,
            ack_policy: AckPolicy::Delayed(DelayedAck::default()),
            sack_compression: Some(SackCompression::default()),
            loss_detection: LossDetection::Rack,
            window_reduction: WindowReduction::Proportional,
            tail_loss_probe: true,
            frto: true,
            black_hole_detection: false,
            undo: true,
            window_validation: true,
            growth: Growth::default(),
            pacing: Pacing::Off,
            small_queues: SmallQueues::Off,
            output_limit: 1 << 20,
            slow_start_after_idle: true,
            nagle: true,
            receive_buffer: ReceiveBuffer::Automatic(Autotuning::LINUX_RECEIVE),
            send_buffer: SendBuffer::Unlimited,
            timer_tick: Duration::from_millis(4),
            timer_wheel: true,
            time_wait: Duration::from_secs(60),
        }
    }
}

impl Config {
    /// Linux 3.18 and 4.1 as used in publications (out-of-tree MPTCP 0.9x): loss detection of RFC 6675 with tail loss
    /// probes instead of RACK, no SACK compression, slow start also when the window equals the threshold, ticks of 4
    /// ms (HZ = 250, as in distributions), and the timer wheel before 4.8, in which every timer expires at its tick.
    pub fn linux_4_1() -> Self {
        Self {
            growth: Growth { slow_start_at_threshold: true, ..Growth::default() },
            loss_detection: LossDetection::DupThresh,
            sack_compression: None,
            receive_buffer: ReceiveBuffer::Automatic(Autotuning { initial: 87_380, maximum: 6_291_456 }),
            timer_wheel: false,
            output_limit: 128 << 10,
            ..Self::default()
        }
    }
}
