//! Stochastic fairness queueing (McKenney, 1990), as `tc sfq`: flows are hashed to queues, which take turns by bytes. If a
//! packet does not fit, the queue with most packets loses its last one.
//!
//! Linux can hash flows anew after some time (`perturb`), which by default it does not; here the hash stays.

use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;

use super::deficit_rounds::{DeficitRounds, InTurns, flows_option, quantum_option};
use super::{Arrival, Departure, Limit, Place, QueueDiscipline, Verdict, Victim, Waiting};
use crate::catalogue::{Attribute, Catalogued, Conflict, Description};

/// Stochastic fairness queueing.
#[derive(Clone, Debug)]
pub struct Sfq {
    /// Most packets of a queue.
    depth: u32,
    rounds: DeficitRounds,
}

/// As `tc sfq`: 1024 queues of up to 127 packets.
impl Default for Sfq {
    fn default() -> Self {
        Self { depth: 127, rounds: DeficitRounds::new(1024, false) }
    }
}

impl Catalogued for Sfq {
    const DESCRIPTION: Description = Description {
        name: "sfq",
        aliases: &[],
        summary: "flows are hashed to queues that take turns, and the one with most packets loses its last",
        source: "McKenney, INFOCOM 1990; Linux sch_sfq",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        flows_option(),
        quantum_option(),
        Attribute::integer(
            "depth",
            "the most packets of a flow that wait",
            [1, 1_000_000],
            |queue| queue.depth.into(),
            |queue, packets| queue.depth = packets as u32,
        ),
    ];
}

impl InTurns for Sfq {
    fn rounds(&self) -> &DeficitRounds {
        &self.rounds
    }

    fn rounds_mut(&mut self) -> &mut DeficitRounds {
        &mut self.rounds
    }
}

impl QueueDiscipline for Sfq {
    fn begin_with(&mut self, _random: &mut Pcg64Mcg) {}

    fn fit(&mut self, place: &Place) -> Result<(), Conflict> {
        self.rounds.fit(place.full_packet());
        Ok(())
    }

    fn usual_limit(&self) -> Option<Limit> {
        Some(Limit::Packets(127))
    }

    fn acts_on_departure(&self) -> bool {
        true
    }

    fn reads_flow(&self) -> bool {
        true
    }

    fn queue_of(&mut self, arrival: &Arrival) -> u16 {
        self.rounds.join(arrival)
    }

    fn admits(&self, arrival: &Arrival, waiting: &Waiting) -> bool {
        waiting.queue(self.rounds.queue_for(arrival)).packets < self.depth
    }

    fn victim(&mut self, arrival: &Arrival, waiting: &Waiting) -> Option<Victim> {
        let own = self.rounds.queue_for(arrival);
        let after = waiting.queue(own).packets + 1;
        if after > self.depth {
            return None;
        }
        let longest = waiting.occupied().max_by_key(|(_, queue)| queue.packets);
        longest.filter(|(_, queue)| queue.packets > after).map(|(number, _)| Victim::Tail(number))
    }

    fn next_queue(&mut self, _now: Instant, waiting: &Waiting) -> u16 {
        self.rounds.next(waiting, |_| {}).unwrap_or_default()
    }

    fn on_departure(&mut self, departure: &Departure<'_>) -> Verdict {
        self.rounds.charge(departure.queue, departure.bytes);
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::arrival;
    use crate::queue::{Backlog, Codepoint, Head};

    #[test]
    fn the_queue_with_most_packets_loses_its_last_or_the_one_that_comes() {
        let (mut sfq, mut backlog) = (Sfq { depth: 3, ..Sfq::default() }, Backlog::default());
        for flow in [0, 30_000, 30_000, 30_000] {
            let queue = sfq.queue_of(&arrival(Instant::ZERO, flow, 1000));
            backlog.push(queue, Head { came: Instant::ZERO, bytes: 1000, ecn: Codepoint::NotEct }, ());
        }
        let long = sfq.rounds.queue_for(&arrival(Instant::ZERO, 30_000, 1000));
        let mut victim = |flow| sfq.victim(&arrival(Instant::ZERO, flow, 1000), backlog.waiting());
        assert_eq!(
            [victim(0), victim(60_000), victim(30_000)],
            [Some(Victim::Tail(long)), Some(Victim::Tail(long)), None]
        );
        assert!(!sfq.admits(&arrival(Instant::ZERO, 30_000, 1000), backlog.waiting()));
    }
}
