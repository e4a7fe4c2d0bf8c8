//! Congestion control: one object per connection, told which path an event is about and shown all of them.
//!
//! **Who does what.** Loss detection and recovery (SACK, RACK, PRR, RTO) belong to the transport; growth and decrease
//! of the window belong to the algorithm. The transport calls [`CongestionControl::on_ack`] only where a window may
//! grow: the window was the limit, and the path is neither in recovery nor reducing.
//!
//! **Units.** Windows, thresholds and acknowledged amounts are counted in the transport's own unit and
//! [`Path::quantum`] says how much of it one full-sized segment is: TCP and MPTCP count packets (quantum 1), as Linux
//! does; SCTP counts bytes (quantum = path MTU). The formulas are homogeneous in the unit, so one code serves both.
//!
//! **Uncoupled algorithms** ignore the siblings: they touch `paths[path]` and nothing else.

mod algorithm;
pub mod balia;
pub mod cmt_rpv1;
pub mod cmt_rpv2;
mod controller;
pub mod cubic;
pub mod hystart;
pub mod lia;
pub mod olia;
mod pooled_growth;
pub mod reno;
pub mod sctp;
mod siblings;
pub mod wvegas;

pub use algorithm::{Algorithm, Description, Options};
pub use balia::Balia;
pub use cmt_rpv1::CmtRpV1;
pub use cmt_rpv2::CmtRpV2;
pub use controller::Controller;
pub use cubic::Cubic;
pub use lia::Lia;
pub use olia::Olia;
pub use reno::Reno;
pub use sctp::Sctp;
pub use wvegas::WVegas;

use subflow_quantity::{Duration, Instant};

/// What phase of loss recovery a path is in (Linux: `tcp_ca_state`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecoveryState {
    /// Nothing suspicious.
    #[default]
    Open,
    /// SACKs or duplicate ACKs arrived, no loss declared yet.
    Disorder,
    /// The window is being reduced for a reason other than loss (ECN, local congestion).
    WindowReduced,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// How a window's growth is counted. The default is that of today's kernels and of the RFCs; the switches are what older
/// kernels did, among them those of the out-of-tree MPTCP 0.9x.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// Slow start goes on while the window is at the threshold, and ends one quantum past it (Linux before 4.3, in
    /// `tcp_reno_cong_avoid` and in every algorithm of MPTCP 0.9x: `snd_cwnd <= snd_ssthresh`).
    pub slow_start_at_threshold: bool,
    /// Congestion avoidance counts acknowledgments, not what they acknowledge: half as much where every second packet is
    /// acknowledged (`snd_cwnd_cnt++`: Linux before 4.0, and LIA, OLIA and BALIA of MPTCP 0.9x).
    pub count_acks: bool,
}

/// One path (TCP: the connection; MPTCP: a subflow; SCTP: a destination) as congestion control sees it.
#[derive(Clone, Debug)]
pub struct Path {
    /// Congestion window, in the transport's unit.
    pub cwnd: u32,
    /// Slow-start threshold in the same unit; [`Path::INFINITE`] before the first loss.
    pub ssthresh: u32,
    /// One full-sized segment in that unit: 1 where packets are counted, the path MTU where bytes are.
    pub quantum: u32,
    /// Acknowledged amount not yet turned into window by congestion avoidance (Linux: `snd_cwnd_cnt`; SCTP:
    /// `partial_bytes_acked`).
    pub credit: u32,
    /// Smoothed RTT, absent before the first sample.
    pub srtt: Option<Duration>,
    /// Smallest RTT seen.
    pub min_rtt: Option<Duration>,
    /// Recovery phase.
    pub state: RecoveryState,
    /// Whether the path is fully established and not closed; others do not count in any sum.
    pub established: bool,
    /// Paths with the same number are coupled with each other, others are not; all start in group 0.
    pub group: usize,
    /// How its growth is counted.
    pub growth: Growth,
}

impl Path {
    /// The threshold of a path that has not seen a loss.
    pub const INFINITE: u32 = u32::MAX >> 1;

    /// A new path with an initial window of `initial_window` (same unit as `quantum`).
    pub fn new(quantum: u32, initial_window: u32) -> Self {
        Self {
            cwnd: initial_window,
            ssthresh: Self::INFINITE,
            quantum,
            credit: 0,
            srtt: None,
            min_rtt: None,
            state: RecoveryState::Open,
            established: false,
            group: 0,
            growth: Growth::default(),
        }
    }

    /// Whether the window is below the threshold, or at it where [`Growth::slow_start_at_threshold`] says so.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh || self.growth.slow_start_at_threshold && self.cwnd == self.ssthresh
    }

    /// The window that counts in sums over siblings: in recovery the threshold, not the momentary window.
    pub fn settled_cwnd(&self) -> u32 {
        match self.state {
            RecoveryState::Recovery | RecoveryState::WindowReduced => self.ssthresh.min(self.cwnd.max(self.quantum)),
            _ => self.cwnd,
        }
    }
}

/// What an acknowledgment said.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Instant,
    /// Newly delivered amount (cumulative and selective), in the path's unit.
    pub acked: u32,
    /// RTT sample of this acknowledgment: of the newest segment it delivers that was sent only once (Linux:
    /// `ack_sample.rtt_us`). The estimate behind [`Path::srtt`] takes the oldest such segment, which includes the
    /// receiver's delay; delay-based decisions must not.
    pub rtt: Option<Duration>,
    /// All stream bytes of this path acknowledged so far (SND.UNA as a 64-bit offset).
    pub una: u64,
    /// All stream bytes of this path sent so far (SND.NXT as a 64-bit offset): a round ends when `una` passes the `nxt`
    /// noted at its start.
    pub nxt: u64,
    /// Amount in flight before this acknowledgment.
    pub in_flight: u32,
}

/// A congestion-control algorithm for one connection.
pub trait CongestionControl {
    /// A path was added; `paths[path]` is new. Paths are never removed from the slice: a closed one has
    /// `established == false`.
    fn on_path_added(&mut self, _paths: &[Path], _path: usize) {}

    /// An acknowledgment arrived that delivered something or carries an RTT sample; called on every such
    /// acknowledgment, in every recovery state, before [`on_ack`](Self::on_ack) (Linux: `pkts_acked`).
    fn on_sample(&mut self, _paths: &mut [Path], _path: usize, _ack: &Ack) {}

    /// The window of `paths[path]` may grow (Linux: `cong_avoid`).
    fn on_ack(&mut self, paths: &mut [Path], path: usize, ack: &Ack);

    /// A loss was found on `path`: the new slow-start threshold, at least one quantum. The transport sets the window
    /// (down to the threshold by PRR after fast retransmit, to one segment after a timeout).
    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, now: Instant) -> u32;

    /// The path changed its recovery state; `paths[path].state` is still the old one.
    fn on_state(&mut self, _paths: &[Path], _path: usize, _state: RecoveryState) {}

    /// The path begins to send after it had nothing in flight (Linux: `CA_EVENT_TX_START`); `idle` is the time since it
    /// last sent.
    fn on_transmit_after_idle(&mut self, _paths: &[Path], _path: usize, _now: Instant, _idle: Duration) {}

    /// The transport restarts the path's window because it was idle for longer than the RTO (RFC 5681, section 4.1;
    /// Linux: `CA_EVENT_CWND_RESTART`).
    fn on_window_restart(&mut self, _paths: &[Path], _path: usize) {}
}

/// Slow start (RFC 5681, section 3.1, with the byte-counting limit L = infinity as in Linux): grows the window by what
/// was acknowledged, up to the threshold, and returns what is left over for congestion avoidance (nothing where that counts
/// acknowledgments: such kernels did one or the other).
pub fn slow_start(path: &mut Path, acked: u32) -> u32 {
    let past = if path.growth.slow_start_at_threshold { path.quantum } else { 0 };
    let grown = path.cwnd.saturating_add(acked).min(path.ssthresh.saturating_add(past)).max(path.cwnd);
    let left = acked - (grown - path.cwnd);
    path.cwnd = grown;
    if path.growth.count_acks { 0 } else { left }
}

/// Grows the window by one quantum for every `window` acknowledged (Linux: `tcp_cong_avoid_ai`).
///
/// The first branch matters where `window` shrinks between two ACKs (CUBIC): credit saved up under the larger one buys
/// one quantum, not several.
///
/// With [`Growth::count_acks`] as that function was before Linux 4.0: a count per acknowledgment, and one more for the step.
pub fn additive_increase(path: &mut Path, window: u32, acked: u32) {
    let window = window.max(1);
    if path.growth.count_acks {
        if path.credit < window {
            path.credit = path.credit.saturating_add(path.quantum);
        } else {
            path.credit = 0;
            path.cwnd = path.cwnd.saturating_add(path.quantum);
        }
        return;
    }
    if path.credit >= window {
        path.credit = 0;
        path.cwnd = path.cwnd.saturating_add(path.quantum);
    }
    path.credit = path.credit.saturating_add(acked);
    if path.credit >= window {
        let steps = path.credit / window;
        path.credit -= steps * window;
        path.cwnd = path.cwnd.saturating_add(steps.saturating_mul(path.quantum));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(cwnd: u32, ssthresh: u32, growth: Growth) -> Path {
        Path { ssthresh, growth, ..Path::new(1, cwnd) }
    }

    #[test]
    fn slow_start_at_the_threshold_ends_one_packet_past_it() {
        let growth = Growth { slow_start_at_threshold: true, ..Growth::default() };
        let mut old = path(10, 10, growth);
        assert!(old.in_slow_start() && !path(10, 10, Growth::default()).in_slow_start());
        assert_eq!((slow_start(&mut old, 3), old.cwnd), (2, 11));
        assert!(!old.in_slow_start());
    }

    #[test]
    fn counting_acknowledgments_takes_one_more_than_the_window_however_much_each_acknowledges() {
        let mut path = path(10, 1, Growth { count_acks: true, ..Growth::default() });
        for _ in 0..10 {
            additive_increase(&mut path, 10, 2);
        }
        assert_eq!(path.cwnd, 10);
        additive_increase(&mut path, 10, 2);
        assert_eq!((path.cwnd, path.credit), (11, 0));
    }
}
