//! Queue disciplines of a library user's crate, next to the built-in ones.
//!
//! [`Discipline::Custom`](super::Discipline::Custom) holds a trait object. Only links that have one make a dynamic call
//! for each packet; links with built-in disciplines do what they did without it.

use subflow_quantity::{Duration, Instant};

/// A packet that comes to a queue, and what it finds there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When it comes.
    pub at: Instant,
    /// What it takes on the link: its IP length and the link's overhead, in bytes.
    pub bytes: u32,
    /// The packets in the queue, with the one in transmission if that counts
    /// ([`QueueConfig::counts_transmitting`](super::QueueConfig::counts_transmitting)).
    pub held_packets: u32,
    /// Their bytes, including overhead.
    pub held_bytes: u64,
    /// How long it would wait until its transmission begins, in a queue of unlimited length.
    pub wait: Duration,
    /// How long the queue has been empty, if it is empty.
    pub idle: Option<Duration>,
}

/// The rule of one queue: which packets are dropped although there is room for them.
pub trait QueueDiscipline {
    /// Whether the packet is dropped. Called for every packet that comes, in the order of time, also if the packet then
    /// exceeds the limit of the queue.
    fn drops(&mut self, arrival: &Arrival) -> bool;

    /// Called once, before the first packet. The seed for random decisions is a function of the run's seed, the link
    /// and its direction: decisions that follow from nothing else are the same in equal runs.
    fn begin(&mut self, _seed: u64) {}
}

/// A discipline that can be [`Discipline::Custom`](super::Discipline::Custom). A type gets this trait by implementing
/// [`QueueDiscipline`], [`Clone`] and [`core::fmt::Debug`]. What a configuration holds is a prototype: each direction of
/// a link takes a clone of it.
pub trait CustomQueue: QueueDiscipline + core::fmt::Debug + Send + Sync {
    /// A copy with the same state.
    fn clone_boxed(&self) -> Box<dyn CustomQueue>;
}

impl<T: QueueDiscipline + Clone + core::fmt::Debug + Send + Sync + 'static> CustomQueue for T {
    fn clone_boxed(&self) -> Box<dyn CustomQueue> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn CustomQueue> {
    fn clone(&self) -> Self {
        (**self).clone_boxed()
    }
}
