//! Algorithms of a library user's crate, next to the built-in ones.
//!
//! [`Algorithm`](crate::congestion::Algorithm), [`Scheduling`](crate::scheduler::Scheduling),
//! [`PathManagement`](crate::path_manager::PathManagement) and [`Discipline`](crate::queue::Discipline) have one variant
//! `Custom` each, which holds a trait object. The built-in algorithms stay variants of their own, with static dispatch:
//! only a custom one costs a dynamic call.
//!
//! A type gets the traits of this module by implementing the algorithm's own trait, [`Clone`] and [`core::fmt::Debug`].
//! What a configuration holds is a prototype: each connection, or each direction of a link, takes a clone of it.

use crate::congestion::CongestionControl;
use crate::path_manager::PathManager;
use crate::queue::QueueDiscipline;
use crate::scheduler::Scheduler;

/// The end of a flow that an algorithm serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEnd {
    /// Seed for random decisions: a function of the run's seed, the flow, and the end. All connections of the end have
    /// the same.
    pub seed: u64,
    /// Whether this end sends the bulk of the flow's data.
    pub sends: bool,
}

macro_rules! custom {
    ($(#[$doc:meta])* $custom:ident: $algorithm:ident) => {
        $(#[$doc])*
        pub trait $custom: $algorithm + core::fmt::Debug + Send + Sync {
            /// A copy with the same state.
            fn clone_boxed(&self) -> Box<dyn $custom>;
        }

        impl<T: $algorithm + Clone + core::fmt::Debug + Send + Sync + 'static> $custom for T {
            fn clone_boxed(&self) -> Box<dyn $custom> {
                Box::new(self.clone())
            }
        }

        impl Clone for Box<dyn $custom> {
            fn clone(&self) -> Self {
                (**self).clone_boxed()
            }
        }
    };
}

custom! {
    /// A congestion control that can be [`Algorithm::Custom`](crate::congestion::Algorithm::Custom).
    CustomCongestionControl: CongestionControl
}
custom! {
    /// A scheduler that can be [`Scheduling::Custom`](crate::scheduler::Scheduling::Custom).
    CustomScheduler: Scheduler
}
custom! {
    /// A path manager that can be [`PathManagement::Custom`](crate::path_manager::PathManagement::Custom).
    CustomPathManager: PathManager
}
custom! {
    /// A queue discipline that can be [`Discipline::Custom`](crate::queue::Discipline::Custom).
    CustomQueue: QueueDiscipline
}
