//! Congestion control: one object per connection. Each event names the path that it concerns and comes with all paths.
//!
//! **Division of work.** Loss detection and recovery (SACK, RACK, PRR, RTO) belong to the transport; growth and
//! decrease of the window belong to the algorithm. The transport calls [`CongestionControl::on_ack`] only if a window
//! may grow: the window was the limit, and the path is neither in recovery nor in window reduction.
//!
//! **Units.** Windows, thresholds and acknowledged amounts are counted in the transport's own unit and
//! [`Path::quantum`] says how much of it one full-sized segment is: TCP and MPTCP count packets (quantum 1), as Linux
//! does; SCTP counts bytes (quantum = path MTU). The formulas are homogeneous in the unit, so the same code serves
//! both.
//!
//! **Uncoupled algorithms** ignore the siblings: they read and change only `paths[path]`.

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
pub use cmt_rpv2::{CmtRpV2, CmtRpV2Form};
pub use controller::Controller;
pub use cubic::Cubic;
pub use lia::Lia;
pub use olia::Olia;
pub use reno::Reno;
pub use sctp::Sctp;
pub use wvegas::WVegas;

use subflow_quantity::{Duration, Instant};

use crate::custom::FlowEnd;

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

/// The congestion-control state of one path (TCP: the connection; MPTCP: a subflow; SCTP: a destination).
#[derive(Clone, Debug)]
pub struct Path {
    /// Congestion window, in the transport's unit.
    pub cwnd: u32,
    /// Slow-start threshold in the same unit; [`Path::INFINITE`] before the first loss.
    pub ssthresh: u32,
    /// One full-sized segment in that unit: 1 where packets are counted, the path MTU where bytes are.
    pub quantum: u32,
    /// Acknowledged amount that congestion avoidance has not yet added to the window (Linux: `snd_cwnd_cnt`; SCTP:
    /// `partial_bytes_acked`).
    pub credit: u32,
    /// Smoothed RTT, absent before the first sample. It is set by [`set_srtt`](Self::set_srtt).
    pub srtt: Option<Duration>,
    /// The same in seconds, at least a nanosecond. The coupled algorithms read it of all paths at each acknowledgment,
    /// and a division takes as long as ten other operations.
    rtt_s: f64,
    /// Smallest RTT seen.
    pub min_rtt: Option<Duration>,
    /// Recovery phase.
    pub state: RecoveryState,
    /// Whether the path is fully established and not closed. Other paths do not count in sums.
    pub established: bool,
    /// Only paths with the same group number are coupled. All paths start in group 0.
    pub group: usize,
    /// How its growth is counted.
    pub growth: Growth,
}

impl Path {
    /// The threshold of a path that has had no loss.
    pub const INFINITE: u32 = u32::MAX >> 1;

    /// Creates a path with an initial window of `initial_window` (same unit as `quantum`).
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
            group: 0,
            growth: Growth::default(),
        }
    }

    /// Sets the smoothed RTT.
    pub fn set_srtt(&mut self, srtt: Duration) {
        self.srtt = Some(srtt);
        self.rtt_s = srtt.as_nanos().max(1) as f64 / 1e9;
    }

    /// Whether the window is below the threshold, or equal to it with [`Growth::slow_start_at_threshold`].
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh || self.growth.slow_start_at_threshold && self.cwnd == self.ssthresh
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

/// The content of an acknowledgment.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Instant,
    /// Newly delivered amount (cumulative and selective), in the path's unit.
    pub acked: u32,
    /// RTT sample of this acknowledgment, measured on the newest delivered segment that was sent only once (Linux:
    /// `ack_sample.rtt_us`). The estimate [`Path::srtt`] uses the oldest such segment, which includes the delay of the
    /// acknowledgment at the receiver; delay-based decisions must not include it.
    pub rtt: Option<Duration>,
    /// All stream bytes of this path acknowledged so far (SND.UNA as a 64-bit offset).
    pub una: u64,
    /// All stream bytes of this path sent so far (SND.NXT as a 64-bit offset): a round ends when `una` passes the value
    /// that `nxt` had at its start.
    pub nxt: u64,
    /// Amount in flight before this acknowledgment.
    pub in_flight: u32,
}

/// Makes `new` the state of path `path`: the next one, or in the place of a closed one.
fn set_state<T>(states: &mut Vec<T>, path: usize, new: T) {
    match states.get_mut(path) {
        Some(state) => *state = new,
        None => states.push(new),
    }
}

/// A congestion-control algorithm for one connection.
pub trait CongestionControl {
    /// A path was added; `paths[path]` is new: the next one of the slice, or in the place of a closed one, of which
    /// nothing may be left. Paths are never removed from the slice: a closed one has `established == false`.
    fn on_path_added(&mut self, _paths: &[Path], _path: usize) {}

    /// Called for every acknowledgment that delivers data or carries an RTT sample, in every recovery state, before
    /// [`on_ack`](Self::on_ack) (Linux: `pkts_acked`).
    fn on_sample(&mut self, _paths: &mut [Path], _path: usize, _ack: &Ack) {}

    /// Called if the window of `paths[path]` may grow (Linux: `cong_avoid`).
    fn on_ack(&mut self, paths: &mut [Path], path: usize, ack: &Ack);

    /// Returns the new slow-start threshold after a loss on `path`, at least one quantum. The transport sets the window
    /// (to the threshold, by PRR, after a fast retransmit; to one segment after a timeout).
    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, now: Instant) -> u32;

    /// Called when the path changes its recovery state to `_state`; `paths[path].state` is still the old one.
    fn on_state(&mut self, _paths: &[Path], _path: usize, _state: RecoveryState) {}

    /// Called when the path starts to send while nothing is in flight (Linux: `CA_EVENT_TX_START`); `idle` is the time
    /// since it last sent.
    fn on_transmit_after_idle(&mut self, _paths: &[Path], _path: usize, _now: Instant, _idle: Duration) {}

    /// Called when the transport restarts the path's window after an idle time longer than the RTO (RFC 5681,
    /// section 4.1; Linux: `CA_EVENT_CWND_RESTART`).
    fn on_window_restart(&mut self, _paths: &[Path], _path: usize) {}

    /// Called once, before any connection: what this algorithm and its clones serve.
    fn begin(&mut self, _end: FlowEnd) {}
}

/// Slow start (RFC 5681, section 3.1, with the byte-counting limit L = infinity as in Linux): increases the window by
/// the acknowledged amount, up to the threshold, and returns the rest for congestion avoidance (0 if that counts
/// acknowledgments: such kernels did either slow start or congestion avoidance per acknowledgment).
pub fn slow_start(path: &mut Path, acked: u32) -> u32 {
    let past = if path.growth.slow_start_at_threshold { path.quantum } else { 0 };
    let grown = path.cwnd.saturating_add(acked).min(path.ssthresh.saturating_add(past)).max(path.cwnd);
    let left = acked - (grown - path.cwnd);
    path.cwnd = grown;
    if path.growth.count_acks { 0 } else { left }
}

/// Increases the window by one quantum per `window` acknowledged (Linux: `tcp_cong_avoid_ai`).
///
/// The first branch is for a `window` that decreases between two ACKs (CUBIC): the credit collected under the larger
/// value gives one quantum, not several.
///
/// With [`Growth::count_acks`] it does what that function did before Linux 4.0: it counts acknowledgments, and one step
/// takes one more than the window.
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
    fn slow_start_at_the_threshold_ends_one_packet_above_it() {
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
