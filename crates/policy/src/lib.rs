//! The algorithms of multipath transport, as pure code: no I/O, no clock, no protocol.
//!
//! An algorithm can be asked without a network:
//!
//! ```
//! use subflow_policy::scheduler::{QueueView, Scheduler, Scheduling, SubflowView};
//! use subflow_quantity::Duration;
//!
//! // Two subflows with free windows, and 5000 bytes that wait: the scheduler chooses the faster one.
//! let subflow = |srtt_ms| SubflowView {
//!     srtt: Some(Duration::from_millis(srtt_ms)),
//!     cwnd: 10,
//!     mss: 1000,
//!     established: true,
//!     can_send: true,
//!     ..SubflowView::default()
//! };
//! let queue = QueueView { new_data: 0..5000, fragment_end: 5000, backlog: 5000, ..QueueView::default() };
//! let mut scheduler = Scheduling::from_name("ll").expect("a scheduler");
//! let assignment = scheduler.next(&[subflow(40), subflow(10)], &queue).expect("both can send");
//! assert_eq!(assignment.subflow, 1);
//! ```
//!
//! [`congestion`] decides how windows grow and shrink, [`scheduler`] which subflow carries which data, [`path_manager`]
//! which subflows are opened, [`bottleneck`] which of them queue at the same link, [`routing`] which path their packets
//! take, [`queue`] which packets a link drops, marks or sends next, [`adaptation`] which quality a video player requests.
//! Transports, networks and applications call these algorithms; time is an argument. [`catalogue`] describes them by name,
//! [`custom`] lets other crates add theirs.

pub mod adaptation;
pub mod bottleneck;
pub mod catalogue;
pub mod congestion;
pub mod path_manager;
pub mod queue;
pub mod routing;
pub mod scheduler;

pub mod custom {
    //! Algorithms of a library user's crate, next to the built-in ones.
    //!
    //! [`Algorithm`](crate::congestion::Algorithm), [`Scheduling`](crate::scheduler::Scheduling),
    //! [`PathManagement`](crate::path_manager::PathManagement) and [`Discipline`](crate::queue::Discipline) have one
    //! variant `Custom` each, which holds a trait object. The built-in algorithms stay variants of their own, with
    //! static dispatch: only a custom one costs a dynamic call.
    //!
    //! A type gets the traits of this module by implementing the algorithm's own trait, [`Clone`] and
    //! [`Debug`](core::fmt::Debug). What a configuration holds is a prototype: each connection, or each direction of a
    //! link, takes a clone of it.

    pub use crate::FlowEnd;
    pub use crate::congestion::CustomCongestionControl;
    pub use crate::path_manager::CustomPathManager;
    pub use crate::queue::CustomQueue;
    pub use crate::scheduler::CustomScheduler;
}

/// The end of a flow that an algorithm serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEnd {
    /// Seed for random decisions: a function of the run's seed, the flow, and the end. All connections of the end have
    /// the same.
    pub seed: u64,
    /// Whether this end sends the bulk of the flow's data.
    pub sends: bool,
}
