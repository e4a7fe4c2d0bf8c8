//! Deficit round robin (Shreedhar and Varghese, "Efficient Fair Queueing Using Deficit Round Robin", 1995): a queue for
//! each flow, each of which may send a quantum of bytes per round. If a packet does not fit, the longest queue loses its
//! last one (the paper's "buffer stealing").

use super::deficit_rounds::{ALL_HASHES, DeficitRounds, fattest};
use super::fair_queue::{FairPolicy, FairQueue, flows_option, quantum_option};
use super::{Arrival, Victim, Waiting};
use crate::catalogue::{Attribute, Catalogued, Description};

/// Deficit round robin.
pub type Drr = FairQueue<BufferStealing>;

/// Who loses a packet where a queue of [`Drr`] is full: the longest.
#[derive(Clone, Copy, Debug)]
pub struct BufferStealing;

/// A queue for each hash of a flow, and a quantum of a full-sized packet.
impl Default for Drr {
    fn default() -> Self {
        Self { rounds: DeficitRounds::new(ALL_HASHES, false), policy: BufferStealing }
    }
}

impl Catalogued for Drr {
    const DESCRIPTION: Description = Description {
        name: "drr",
        aliases: &[],
        summary: "flows take turns by bytes, and the longest loses its last packet if the queue is full",
        source: "Shreedhar, Varghese, SIGCOMM 1995",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[flows_option(), quantum_option()];
}

impl FairPolicy for BufferStealing {
    fn victim(&mut self, arrival: &Arrival, own: u16, waiting: &Waiting) -> Option<Victim> {
        fattest(waiting, (own, arrival.bytes)).filter(|&queue| queue != own).map(Victim::Tail)
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Instant;

    use super::*;
    use crate::queue::tests::arrival;
    use crate::queue::{Backlog, Codepoint, Head, QueueDiscipline};

    #[test]
    fn of_a_full_queue_the_longest_flow_loses_its_last_packet_or_the_one_that_comes() {
        let (mut drr, mut backlog) = (Drr::default(), Backlog::default());
        for (flow, packets) in [(1, 3), (2, 1)] {
            for _ in 0..packets {
                let queue = drr.queue_of(&arrival(Instant::ZERO, flow, 1000));
                backlog.push(queue, Head { came: Instant::ZERO, bytes: 1000, ecn: Codepoint::NotEct }, ());
            }
        }
        let mut victim = |flow, bytes| drr.victim(&arrival(Instant::ZERO, flow, bytes), backlog.waiting());
        assert_eq!([victim(2, 1000), victim(9, 1000)], [Some(Victim::Tail(1)); 2]);
        assert_eq!([victim(1, 1000), victim(2, 2001)], [None; 2]);
    }
}
