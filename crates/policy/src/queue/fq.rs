//! `fq`: a queue for each flow, which take turns, as `tc fq`.
//!
//! It is the flow isolation of that discipline. Packets leave as soon as it is their flow's turn; the pacing of Linux's
//! `fq` needs the times at which hosts want them to leave. Flows are those of 16 bits of hash, where Linux has each
//! socket for itself.

use super::deficit_rounds::{ALL_HASHES, DeficitRounds, QUANTUM};
use super::fair_queue::{FairPolicy, FairQueue};
use super::{Limit, Place, Waiting};
use crate::catalogue::{Attribute, Catalogued, Description};

/// `fq`.
pub type Fq = FairQueue<FlowLimit>;

/// The bytes per turn and the limit of each flow of [`Fq`].
#[derive(Clone, Copy, Debug)]
pub struct FlowLimit {
    /// Bytes per turn; 0 stands for two full-sized packets.
    quantum: u32,
    /// Bytes that a flow may send when it begins; 0 stands for 20 full-sized packets.
    initial_quantum: u32,
    /// Most packets of a flow.
    flow_limit: u32,
}

/// As `tc fq`.
impl Default for Fq {
    fn default() -> Self {
        let policy = FlowLimit { quantum: 0, initial_quantum: 0, flow_limit: 100 };
        Self { rounds: DeficitRounds::new(ALL_HASHES, true), policy }
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
            |queue| queue.policy.quantum.into(),
            |queue, bytes| queue.policy.quantum = bytes as u32,
        ),
        Attribute::integer(
            "initial_quantum",
            "the bytes that a flow which begins may send at its first turn; 0 stands for 20 full-sized packets",
            QUANTUM,
            |queue| queue.policy.initial_quantum.into(),
            |queue, bytes| queue.policy.initial_quantum = bytes as u32,
        ),
        Attribute::integer(
            "flow_limit",
            "the most packets of a flow that wait",
            [1, 1_000_000],
            |queue| queue.policy.flow_limit.into(),
            |queue, packets| queue.policy.flow_limit = packets as u32,
        ),
    ];
}

impl FairPolicy for FlowLimit {
    fn fit(&mut self, rounds: &mut DeficitRounds, place: &Place) {
        let full = place.full_packet();
        let chosen_or = |bytes, packets| if bytes > 0 { bytes } else { packets * full };
        rounds.set_quanta(chosen_or(self.quantum, 2), chosen_or(self.initial_quantum, 20));
    }

    fn usual_limit(&self) -> Option<Limit> {
        Some(Limit::Packets(10_000))
    }

    fn admits(&self, own: u16, waiting: &Waiting) -> bool {
        waiting.queue(own).packets < self.flow_limit
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Instant;

    use super::*;
    use crate::queue::tests::arrival;
    use crate::queue::{Backlog, Codepoint, Head, QueueDiscipline};

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
        let mut fq = Fq::default();
        fq.policy.flow_limit = 2;
        let mut backlog = Backlog::default();
        for admitted in [true, true, false] {
            assert_eq!(fq.admits(&arrival(Instant::ZERO, 5, 1500), backlog.waiting()), admitted);
            backlog.push(5, Head { came: Instant::ZERO, bytes: 1500, ecn: Codepoint::NotEct }, ());
        }
        assert!(fq.admits(&arrival(Instant::ZERO, 6, 1500), backlog.waiting()));
    }
}
