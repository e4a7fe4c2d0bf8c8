//! `fq`: a queue for each flow, which take turns, as `tc fq`.
//!
//! It is the flow isolation of that discipline. Packets leave as soon as it is their flow's turn; the pacing of Linux's
//! `fq` needs the times at which hosts want them to leave. Flows are those of 16 bits of hash, where Linux has each
//! socket for itself.

use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;

use super::deficit_rounds::{ALL_HASHES, DeficitRounds, QUANTUM};
use super::{Arrival, Departure, Limit, Place, QueueDiscipline, Verdict, Waiting};
use crate::catalogue::{Attribute, Catalogued, Conflict, Description};

/// `fq`.
#[derive(Clone, Debug)]
pub struct Fq {
    /// Bytes per turn; 0 stands for two full-sized packets.
    quantum: u32,
    /// Bytes that a flow may send when it begins; 0 stands for 20 full-sized packets.
    initial_quantum: u32,
    /// Most packets of a flow.
    flow_limit: u32,
    rounds: DeficitRounds,
}

/// As `tc fq`.
impl Default for Fq {
    fn default() -> Self {
        Self { quantum: 0, initial_quantum: 0, flow_limit: 100, rounds: DeficitRounds::new(ALL_HASHES, true) }
    }
}

impl Catalogued for Fq {
    const DESCRIPTION: Description = Description {
        name: "fq",
        aliases: &[],
        summary: "flows take turns, those that begin first; without pacing",
        source: "Linux sch_fq",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::integer(
            "quantum",
            "the bytes, with overhead, that a flow may send per turn; 0 stands for two full-sized packets",
            QUANTUM,
            |queue| queue.quantum.into(),
            |queue, bytes| queue.quantum = bytes as u32,
        ),
        Attribute::integer(
            "initial_quantum",
            "the bytes that a flow which begins may send at its first turn; 0 stands for 20 full-sized packets",
            QUANTUM,
            |queue| queue.initial_quantum.into(),
            |queue, bytes| queue.initial_quantum = bytes as u32,
        ),
        Attribute::integer(
            "flow_limit",
            "the most packets of a flow that wait",
            [1, 1_000_000],
            |queue| queue.flow_limit.into(),
            |queue, packets| queue.flow_limit = packets as u32,
        ),
    ];
}

impl QueueDiscipline for Fq {
    fn begin_with(&mut self, _random: &mut Pcg64Mcg) {}

    fn fit(&mut self, place: &Place) -> Result<(), Conflict> {
        let full = place.full_packet();
        let chosen_or = |bytes, packets| if bytes > 0 { bytes } else { packets * full };
        self.rounds.set_quanta(chosen_or(self.quantum, 2), chosen_or(self.initial_quantum, 20));
        Ok(())
    }

    fn usual_limit(&self) -> Option<Limit> {
        Some(Limit::Packets(10_000))
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
        waiting.queue(arrival.flow).packets < self.flow_limit
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
    fn a_flow_that_begins_may_send_20_packets_and_later_two_per_turn() {
        let (mut fq, mut backlog) = (Fq::default(), Backlog::default());
        fq.fit(&Place::default()).expect("it fits everywhere");
        for flow in [1, 2] {
            for _ in 0..30 {
                let queue = fq.queue_of(&arrival(Instant::ZERO, flow, 1500));
                backlog.push(queue, Head { came: Instant::ZERO, bytes: 1500, ecn: Codepoint::NotEct }, flow);
            }
        }
        let mut leave = |count: usize| -> Vec<u16> {
            (0..count).map(|_| backlog.depart(&mut fq, Instant::ZERO, |_| {}).expect("it waits").packet).collect()
        };
        assert_eq!(leave(40), [[1; 20], [2; 20]].concat());
        assert_eq!(leave(6), [1, 1, 2, 2, 1, 1]);
    }

    #[test]
    fn a_flow_at_its_limit_is_not_admitted_and_others_are() {
        let fq = Fq { flow_limit: 2, ..Fq::default() };
        let mut backlog = Backlog::default();
        for admitted in [true, true, false] {
            assert_eq!(fq.admits(&arrival(Instant::ZERO, 5, 1500), backlog.waiting()), admitted);
            backlog.push(5, Head { came: Instant::ZERO, bytes: 1500, ecn: Codepoint::NotEct }, ());
        }
        assert!(fq.admits(&arrival(Instant::ZERO, 6, 1500), backlog.waiting()));
    }
}
