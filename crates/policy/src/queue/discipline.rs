//! All queue disciplines as one type.

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;

use super::{Arrival, CoDel, Departure, QueueDiscipline, Red, Verdict, Victim, Waiting};
use crate::custom::CustomQueue;

/// A queue discipline. What a configuration holds is a prototype: each direction of a link takes a clone of it.
#[derive(Clone, Debug, Default)]
pub enum Discipline {
    /// No packet is dropped before the limit.
    #[default]
    DropTail,
    /// Random early detection.
    Red(Red),
    /// Controlled delay.
    CoDel(CoDel),
    /// One of a library user's crate.
    Custom(Box<dyn CustomQueue>),
}

impl Discipline {
    /// Whether it lets every packet pass and needs not be asked.
    pub const fn is_drop_tail(&self) -> bool {
        matches!(self, Self::DropTail)
    }

    /// As [`QueueDiscipline::begin`], with the random numbers of the queue.
    pub fn begin_with(&mut self, random: &mut Pcg64Mcg) {
        match self {
            Self::DropTail | Self::CoDel(_) => {}
            Self::Red(red) => red.draw_from(random.clone()),
            Self::Custom(queue) => queue.begin(random.next_u64()),
        }
    }
}

macro_rules! ask {
    ($discipline:expr, $queue:ident => $call:expr, otherwise $default:expr) => {
        match $discipline {
            Discipline::DropTail => $default,
            Discipline::Red($queue) => $call,
            Discipline::CoDel($queue) => $call,
            Discipline::Custom($queue) => $call,
        }
    };
}

// Every method goes to every discipline: one that overrides a default of the trait is asked.
impl QueueDiscipline for Discipline {
    fn acts_on_departure(&self) -> bool {
        ask!(self, queue => queue.acts_on_departure(), otherwise false)
    }
    fn reads_flow(&self) -> bool {
        ask!(self, queue => queue.reads_flow(), otherwise false)
    }
    fn begin(&mut self, seed: u64) {
        ask!(self, queue => queue.begin(seed), otherwise ());
    }
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        ask!(self, queue => queue.on_arrival(arrival), otherwise Verdict::Pass)
    }
    fn queue_of(&mut self, arrival: &Arrival) -> u16 {
        ask!(self, queue => queue.queue_of(arrival), otherwise 0)
    }
    fn victim(&mut self, arrival: &Arrival, waiting: &Waiting) -> Option<Victim> {
        ask!(self, queue => queue.victim(arrival, waiting), otherwise None)
    }
    fn next_queue(&mut self, now: Instant, waiting: &Waiting) -> u16 {
        ask!(self, queue => queue.next_queue(now, waiting), otherwise 0)
    }
    fn on_departure(&mut self, departure: &Departure<'_>) -> Verdict {
        ask!(self, queue => queue.on_departure(departure), otherwise Verdict::Pass)
    }
    fn on_empty(&mut self, at: Instant) {
        ask!(self, queue => queue.on_empty(at), otherwise ());
    }
}
