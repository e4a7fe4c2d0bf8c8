//! The congestion-control state of one path, and the choice of rules for its windows.

use subflow_quantity::Duration;

use super::prr::Prr;

/// The loss-recovery state of a path (Linux: `tcp_ca_state`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecoveryState {
    /// Normal operation.
    #[default]
    Open,
    /// SACKs or duplicate ACKs arrived, but no loss was detected yet.
    Disorder,
    /// The window is being reduced for a reason other than loss (ECN, local congestion).
    WindowReduced,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

impl RecoveryState {
    /// Whether the window is being reduced (Linux: `tcp_in_cwnd_reduction`).
    pub fn is_reducing(self) -> bool {
        matches!(self, Self::WindowReduced | Self::Recovery)
    }
}

/// How the growth of a window is counted. The default is that of current kernels and of the RFCs; the options are the
/// behaviour of older kernels, among them those of the out-of-tree MPTCP 0.9x.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// Slow start continues while the window equals the threshold and ends one quantum above it (Linux before 4.3, in
    /// `tcp_reno_cong_avoid` and in every algorithm of MPTCP 0.9x: `snd_cwnd <= snd_ssthresh`).
    pub slow_start_at_threshold: bool,
    /// Congestion avoidance counts acknowledgments instead of acknowledged packets: half as many if every second packet
    /// is acknowledged (`snd_cwnd_cnt++`: Linux before 4.0, and LIA, OLIA and BALIA of MPTCP 0.9x).
    pub count_acks: bool,
}

/// Reduction of the congestion window in fast recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowReduction {
    /// Proportional rate reduction with the slow-start reduction bound (RFC 6937; Linux `tcp_cwnd_reduction`).
    #[default]
    Proportional,
    /// Immediately to the slow start threshold; the pipe of RFC 6675 then governs transmission.
    Immediate,
}

/// Rules for the windows of a connection's paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Those of TCP in Linux: windows in packets, no growth in recovery, undo.
    Linux {
        /// How growth is counted.
        growth: Growth,
        /// How recovery reduces the window.
        reduction: WindowReduction,
    },
    /// Those of SCTP (RFC 9260, section 7.2): windows in bytes.
    Rfc9260,
    /// Those of QUIC (RFC 9002, section 7): windows in packets, no growth in recovery, and no reduction by a timeout
    /// alone.
    Rfc9002,
}

impl Default for Rules {
    fn default() -> Self {
        Self::Linux { growth: Growth::default(), reduction: WindowReduction::default() }
    }
}

/// A window and a slow-start threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Windows {
    pub(super) cwnd: u32,
    pub(super) ssthresh: u32,
}

/// The congestion-control state of one path (TCP: the connection; MPTCP: a subflow; SCTP: a destination).
///
/// An algorithm gets the paths of its connection and may set [windows](Self::set_cwnd), [thresholds](Self::set_ssthresh)
/// and [credits](Self::set_credit). A transport only reads them, through
/// [`Controller::path`](super::Controller::path).
#[derive(Clone, Debug)]
pub struct Path {
    pub(super) cwnd: u32,
    pub(super) ssthresh: u32,
    pub(super) quantum: u32,
    pub(super) credit: u32,
    pub(super) srtt: Option<Duration>,
    /// The smoothed RTT in seconds, at least a nanosecond. The coupled algorithms read it of all paths at each
    /// acknowledgment, and a division takes as long as ten other operations.
    pub(super) rtt_s: f64,
    pub(super) min_rtt: Option<Duration>,
    pub(super) state: RecoveryState,
    pub(super) established: bool,
    pub(super) paced: bool,
    pub(super) group: usize,
    pub(super) rules: Rules,
    /// The initial window, which is also the restart window (RFC 5681, section 4.1).
    pub(super) initial_window: u32,
    /// Proportional rate reduction of the current recovery.
    pub(super) prr: Prr,
    /// What an undo restores: the windows before the current episode of recovery.
    pub(super) before_loss: Option<Windows>,
}

impl Path {
    /// The threshold of a path that has had no loss.
    pub const INFINITE: u32 = u32::MAX >> 1;

    /// Creates a path with an initial window of `initial_window` (same unit as `quantum`) and the rules of TCP.
    pub fn new(quantum: u32, initial_window: u32) -> Self {
        Self {
            cwnd: initial_window,
            ssthresh: Self::INFINITE,
            quantum,
            credit: 0,
            srtt: None,
            rtt_s: 0.0,
            min_rtt: None,
            state: RecoveryState::Open,
            established: false,
            paced: false,
            group: 0,
            rules: Rules::default(),
            initial_window,
            prr: Prr::begin(initial_window),
            before_loss: None,
        }
    }

    /// The same path with the rules `rules`. This and the next two are for calls of an algorithm without a controller.
    pub fn with_rules(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    /// The same path in recovery state `state`.
    pub fn with_state(self, state: RecoveryState) -> Self {
        Self { state, ..self }
    }

    /// The same path, established or closed.
    pub fn with_established(self, established: bool) -> Self {
        Self { established, ..self }
    }

    /// Congestion window, in the transport's unit.
    #[inline]
    pub fn cwnd(&self) -> u32 {
        self.cwnd
    }

    /// Slow-start threshold in the same unit; [`Path::INFINITE`] before the first loss.
    #[inline]
    pub fn ssthresh(&self) -> u32 {
        self.ssthresh
    }

    /// One full-sized segment in that unit: 1 where packets are counted, the path MTU where bytes are.
    #[inline]
    pub fn quantum(&self) -> u32 {
        self.quantum
    }

    /// Acknowledged amount that congestion avoidance has not yet added to the window (Linux: `snd_cwnd_cnt`; SCTP:
    /// `partial_bytes_acked`).
    pub fn credit(&self) -> u32 {
        self.credit
    }

    /// Smoothed RTT, absent before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// Smallest RTT seen.
    pub fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt
    }

    /// Recovery state.
    #[inline]
    pub fn state(&self) -> RecoveryState {
        self.state
    }

    /// Whether the path is fully established and not closed. Other paths do not count in sums.
    pub fn is_established(&self) -> bool {
        self.established
    }

    /// Whether the transport spaces the path's packets by their [pacing rate](super::CongestionControl::pacing_rate).
    pub fn is_paced(&self) -> bool {
        self.paced
    }

    /// How growth is counted.
    #[inline]
    pub fn growth(&self) -> Growth {
        match self.rules {
            Rules::Linux { growth, .. } => growth,
            Rules::Rfc9260 | Rules::Rfc9002 => Growth::default(),
        }
    }

    /// Only paths with the same group number are coupled. All paths start in group 0.
    pub fn group(&self) -> usize {
        self.group
    }

    /// Sets the congestion window; at least one quantum.
    pub fn set_cwnd(&mut self, cwnd: u32) {
        self.cwnd = cwnd;
    }

    /// Sets the slow-start threshold.
    pub fn set_ssthresh(&mut self, ssthresh: u32) {
        self.ssthresh = ssthresh;
    }

    /// Sets the credit of congestion avoidance.
    pub fn set_credit(&mut self, credit: u32) {
        self.credit = credit;
    }

    /// Sets the smoothed RTT.
    pub fn set_srtt(&mut self, srtt: Duration) {
        self.srtt = Some(srtt);
        self.rtt_s = srtt.as_nanos().max(1) as f64 / 1e9;
    }

    /// Whether the window is below the threshold, or equal to it with
    /// [`Growth::slow_start_at_threshold`](super::Growth::slow_start_at_threshold).
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh || self.cwnd == self.ssthresh && self.growth().slow_start_at_threshold
    }

    /// The window used in sums over paths: in recovery the threshold instead of the current window.
    #[inline]
    pub fn settled_cwnd(&self) -> u32 {
        match self.state {
            RecoveryState::Recovery | RecoveryState::WindowReduced => self.ssthresh.min(self.cwnd.max(self.quantum)),
            _ => self.cwnd,
        }
    }
}
