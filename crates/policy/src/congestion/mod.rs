//! Congestion control: one object per connection. Each event names the path that it concerns and comes with all paths.
//!
//! **Division of work.** The transport detects losses (SACK, RACK, timers) and reports what happened to its
//! [`Controller`]. The controller alone changes windows and thresholds: by the [algorithm](CongestionControl) and, where
//! that has no rule of its own, by the [`Rules`] that the transport has chosen.
//!
//! **Units.** Windows, thresholds and acknowledged amounts are counted in the transport's own unit and
//! [`Path::quantum`] says how much of it one full-sized segment is: TCP and MPTCP count packets (quantum 1), as Linux
//! does; SCTP counts bytes (quantum = path MTU). The formulas are homogeneous in the unit, so the same code serves
//! both.
//!
//! **Uncoupled algorithms** ignore the siblings: they read and change only `paths[path]`.
//!
//! # Files
//!
//! | concern | file |
//! |---|---|
//! | an algorithm | `NAME.rs`; all as one type: [`Algorithm`], here |
//! | the events of a transport | `events.rs`, `controller.rs` |
//! | what an algorithm decides, and may decide | `congestion_control.rs` |
//! | recovery, timeouts, idle times, undo, pacing rates | `window_rules.rs`, `prr.rs` |
//! | when a paced packet may leave | `pacer.rs` |
//! | slow start | `slow_start.rs`, `hystart.rs`, `hystart_plus_plus.rs` |
//! | growth after it, as far as algorithms share it | `congestion_control.rs`, `pooled_growth.rs` |
//! | what coupled algorithms know of the other paths | `siblings.rs` |

pub mod balia;
pub mod bbr;
pub mod cmt_rpv1;
pub mod cmt_rpv2;
mod congestion_control;
mod controller;
pub mod cubic;
pub mod dctcp;
mod events;
pub mod hystart;
pub mod hystart_plus_plus;
pub mod lia;
pub mod olia;
mod pacer;
mod path;
mod pooled_growth;
mod prr;
pub mod reno;
pub mod sctp;
mod siblings;
mod slow_start;
pub mod vegas;
pub mod westwood;
mod window_rules;
pub mod wvegas;

use subflow_quantity::{Duration, Instant};

use crate::FlowEnd;
use crate::catalogue::{catalogue, dispatch};

pub use balia::Balia;
pub use bbr::Bbr;
pub use bbr::coupled::CoupledBbr;
pub use bbr::v3::Bbr3;
pub use cmt_rpv1::CmtRpV1;
pub use cmt_rpv2::{CmtRpV2, CmtRpV2Form};
pub use congestion_control::{CongestionControl, additive_increase};
pub use controller::Controller;
pub use cubic::Cubic;
pub use dctcp::Dctcp;
pub use events::{Ack, DeliverySample, Loss, Outstanding, PathModel, RateSample, Timeout};
pub use lia::Lia;
pub use olia::Olia;
pub use pacer::Pacer;
pub use path::{Growth, Path, RecoveryState, Rules, WindowReduction};
pub use reno::Reno;
pub use sctp::Sctp;
pub use slow_start::slow_start;
pub use vegas::Vegas;
pub use westwood::Westwood;
pub use wvegas::WVegas;

/// The meaning of the switch of the algorithms whose kernel code is in fixed-point arithmetic. It makes a difference at
/// windows of some hundred packets; the published tables were measured with it.
const FIXED_POINT_DOC: &str = "whether it rounds as the fixed-point arithmetic of the MPTCP kernel 0.9x does";

/// The meaning of the switch of the algorithms whose definitions have a least threshold of one segment. OLIA uses
/// `tcp_reno_ssthresh` in MPTCP 0.9x.
const TWO_SEGMENT_FLOOR_DOC: &str = "whether the least threshold is two packets, as in Linux's Reno, instead of one";

/// The meaning of the option of the algorithms that have alternative backoff with ECN.
const ABE_DOC: &str = "whether a mark in congestion avoidance leaves more of the window than a loss does (alternative \
                       backoff with ECN): 0.8 for reno, 0.85 for cubic";

/// The meaning of the option of the algorithms that have HyStart++.
const HYSTART_PLUS_PLUS_DOC: &str =
    "whether HyStart++ (RFC 9406) ends the first slow start when round trips become longer";

/// Makes `new` the state of path `path`: the next one, or in the place of a closed one.
fn set_state<T>(states: &mut Vec<T>, path: usize, new: T) {
    match states.get_mut(path) {
        Some(state) => *state = new,
        None => states.push(new),
    }
}

// The types of all congestion controls, in the order of lists. See `catalogue/list.rs`.
macro_rules! algorithms {
    ($macro:ident! $($arguments:tt)*) => {
        $macro! {
            [Reno Cubic Lia Olia Balia WVegas Sctp CmtRpV1 CmtRpV2 Dctcp Bbr Bbr3 CoupledBbr Vegas Westwood]
            [Custom CustomCongestionControl: CongestionControl]
            $($arguments)*
        }
    };
}

algorithms! { catalogue!
    /// A congestion-control algorithm, chosen by name.
    Algorithm
}

// Every method goes to every algorithm: one that overrides a default of the trait is asked.
impl CongestionControl for Algorithm {
    fn on_path_added(&mut self, paths: &[Path], path: usize) {
        algorithms!(dispatch! self, algorithm => algorithm.on_path_added(paths, path))
    }

    fn on_established(&mut self, paths: &[Path], path: usize, now: Instant) {
        algorithms!(dispatch! self, algorithm => algorithm.on_established(paths, path, now))
    }

    fn on_sample(&mut self, paths: &mut [Path], path: usize, ack: &Ack) {
        algorithms!(dispatch! self, algorithm => algorithm.on_sample(paths, path, ack))
    }

    fn on_delivered(&mut self, paths: &mut [Path], path: usize, sample: &DeliverySample) {
        algorithms!(dispatch! self, algorithm => algorithm.on_delivered(paths, path, sample))
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, ack: &Ack) {
        algorithms!(dispatch! self, algorithm => algorithm.on_ack(paths, path, ack))
    }

    fn slow_start(&mut self, paths: &mut [Path], path: usize, acked: u32) -> u32 {
        algorithms!(dispatch! self, algorithm => algorithm.slow_start(paths, path, acked))
    }

    fn avoid_congestion(&mut self, paths: &mut [Path], path: usize, ack: &Ack, acked: u32) {
        algorithms!(dispatch! self, algorithm => algorithm.avoid_congestion(paths, path, ack, acked))
    }

    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, now: Instant) -> u32 {
        algorithms!(dispatch! self, algorithm => algorithm.ssthresh_after_loss(paths, path, now))
    }

    fn enter_recovery(&mut self, paths: &mut [Path], path: usize, loss: &Loss) {
        algorithms!(dispatch! self, algorithm => algorithm.enter_recovery(paths, path, loss))
    }

    fn on_mark(&mut self, paths: &mut [Path], path: usize, loss: &Loss) {
        algorithms!(dispatch! self, algorithm => algorithm.on_mark(paths, path, loss))
    }

    fn leave_recovery(&mut self, paths: &mut [Path], path: usize) {
        algorithms!(dispatch! self, algorithm => algorithm.leave_recovery(paths, path))
    }

    fn on_timeout(&mut self, paths: &mut [Path], path: usize, timeout: &Timeout) {
        algorithms!(dispatch! self, algorithm => algorithm.on_timeout(paths, path, timeout))
    }

    fn undo(&mut self, paths: &mut [Path], path: usize) {
        algorithms!(dispatch! self, algorithm => algorithm.undo(paths, path))
    }

    fn restart_after_idle(&mut self, paths: &mut [Path], path: usize, timeouts: u32) {
        algorithms!(dispatch! self, algorithm => algorithm.restart_after_idle(paths, path, timeouts))
    }

    fn on_application_limited(&mut self, paths: &mut [Path], path: usize, used: u32) {
        algorithms!(dispatch! self, algorithm => algorithm.on_application_limited(paths, path, used))
    }

    fn penalise(&mut self, paths: &mut [Path], path: usize) {
        algorithms!(dispatch! self, algorithm => algorithm.penalise(paths, path))
    }

    fn pacing_rate(&self, paths: &[Path], path: usize, outstanding: Outstanding) -> Option<u64> {
        algorithms!(dispatch! self, algorithm => algorithm.pacing_rate(paths, path, outstanding))
    }

    fn takes_rate_samples(&self) -> bool {
        algorithms!(dispatch! self, algorithm => algorithm.takes_rate_samples())
    }

    fn needs_pacing(&self) -> bool {
        algorithms!(dispatch! self, algorithm => algorithm.needs_pacing())
    }

    fn holds_back(&self, path: usize) -> bool {
        algorithms!(dispatch! self, algorithm => algorithm.holds_back(path))
    }

    fn on_restart(&mut self, paths: &mut [Path], path: usize, now: Instant) {
        algorithms!(dispatch! self, algorithm => algorithm.on_restart(paths, path, now))
    }

    fn model(&self, path: usize, unit_bytes: u32) -> Option<PathModel> {
        algorithms!(dispatch! self, algorithm => algorithm.model(path, unit_bytes))
    }

    fn on_state(&mut self, paths: &[Path], path: usize, state: RecoveryState) {
        algorithms!(dispatch! self, algorithm => algorithm.on_state(paths, path, state))
    }

    fn on_transmit_after_idle(&mut self, paths: &[Path], path: usize, now: Instant, idle: Duration) {
        algorithms!(dispatch! self, algorithm => algorithm.on_transmit_after_idle(paths, path, now, idle))
    }

    fn on_window_restart(&mut self, paths: &[Path], path: usize) {
        algorithms!(dispatch! self, algorithm => algorithm.on_window_restart(paths, path))
    }

    fn begin(&mut self, end: FlowEnd) {
        algorithms!(dispatch! self, algorithm => algorithm.begin(end))
    }
}
