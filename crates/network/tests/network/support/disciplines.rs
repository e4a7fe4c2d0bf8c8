//! Queue disciplines of the tests.

use subflow_policy::queue::{Arrival, QueueDiscipline, Victim, Waiting};
use subflow_quantity::Instant;

/// First in, first out, from a backlog: what a link does without it, too.
#[derive(Clone, Debug)]
pub(crate) struct WaitingFifo;

impl QueueDiscipline for WaitingFifo {
    fn acts_on_departure(&self) -> bool {
        true
    }
}

/// Four internal queues for the flows, which send a packet in turn. Of a full queue the longest one loses its last
/// packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct InTurn {
    last: u16,
}

impl QueueDiscipline for InTurn {
    fn acts_on_departure(&self) -> bool {
        true
    }
    fn reads_flow(&self) -> bool {
        true
    }
    fn queue_of(&mut self, arrival: &Arrival) -> u16 {
        arrival.flow % 4
    }
    fn victim(&mut self, _arrival: &Arrival, waiting: &Waiting) -> Option<Victim> {
        waiting.occupied().max_by_key(|(_, queue)| queue.packets).map(|(number, _)| Victim::Tail(number))
    }
    fn next_queue(&mut self, _now: Instant, waiting: &Waiting) -> u16 {
        let following = waiting.occupied().map(|(number, _)| number).find(|&number| number > self.last);
        self.last = following.or_else(|| waiting.occupied().map(|(number, _)| number).next()).unwrap_or_default();
        self.last
    }
}
