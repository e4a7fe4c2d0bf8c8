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
//! | an algorithm | `NAME.rs` |
//! | the events of a transport | `events.rs`, `controller.rs` |
//! | what an algorithm decides, and may decide | `congestion_control.rs` |
//! | recovery, timeouts, idle times, undo, pacing | `window_rules.rs`, `prr.rs` |
//! | slow start | `slow_start.rs`, `hystart.rs` |
//! | growth after it, as far as algorithms share it | `congestion_control.rs`, `pooled_growth.rs` |
//! | what coupled algorithms know of the other paths | `siblings.rs` |

// The types of all congestion controls, in the order of lists. See `catalogue/list.rs`.
macro_rules! algorithms {
    ($macro:ident! $($arguments:tt)*) => {
        $macro! {
            [Reno Cubic Lia Olia Balia WVegas Sctp CmtRpV1 CmtRpV2]
            [Custom CustomCongestionControl]
            $($arguments)*
        }
    };
}

mod algorithm;
pub mod balia;
pub mod cmt_rpv1;
pub mod cmt_rpv2;
mod congestion_control;
mod controller;
pub mod cubic;
mod events;
pub mod hystart;
pub mod lia;
pub mod olia;
mod path;
mod pooled_growth;
mod prr;
pub mod reno;
pub mod sctp;
mod siblings;
mod slow_start;
mod window_rules;
pub mod wvegas;

pub use algorithm::Algorithm;
pub use balia::Balia;
pub use cmt_rpv1::CmtRpV1;
pub use cmt_rpv2::{CmtRpV2, CmtRpV2Form};
pub use congestion_control::{CongestionControl, additive_increase};
pub use controller::Controller;
pub use cubic::Cubic;
pub use events::{Ack, DeliverySample, Loss, Outstanding, Timeout};
pub use lia::Lia;
pub use olia::Olia;
pub use path::{Growth, Path, RecoveryState, Rules, WindowReduction};
pub use reno::Reno;
pub use sctp::Sctp;
pub use slow_start::slow_start;
pub use wvegas::WVegas;

/// The meaning of the switch of the algorithms whose kernel code is in fixed-point arithmetic. It makes a difference at
/// windows of some hundred packets; the published tables were measured with it.
const FIXED_POINT_DOC: &str = "whether it rounds as the fixed-point arithmetic of the MPTCP kernel 0.9x does";

/// The meaning of the switch of the algorithms whose definitions have a least threshold of one segment. OLIA uses
/// `tcp_reno_ssthresh` in MPTCP 0.9x.
const TWO_SEGMENT_FLOOR_DOC: &str = "whether the least threshold is two packets, as in Linux's Reno, instead of one";

/// Makes `new` the state of path `path`: the next one, or in the place of a closed one.
fn set_state<T>(states: &mut Vec<T>, path: usize, new: T) {
    match states.get_mut(path) {
        Some(state) => *state = new,
        None => states.push(new),
    }
}
