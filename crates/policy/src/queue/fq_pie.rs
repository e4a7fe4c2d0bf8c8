//! FQ-PIE: flow queuing with PIE, as `tc fq_pie`.
//!
//! Queues and turns are those of FQ-CoDel (`deficit_rounds.rs`), and each queue has a PIE of its own (`pie_state.rs`),
//! which decides when a packet comes. A packet that exceeds the limit of all queues together is dropped.

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;

use super::deficit_rounds::DeficitRounds;
use super::fair_queue::{FairPolicy, FairQueue, flows_option, quantum_option};
use super::pie_state::{PieConfig, PieState, pie_options};
use super::{Arrival, Departure, Limit, Place, Verdict};
use crate::catalogue::{Attribute, Catalogued, Description};

/// FQ-PIE.
pub type FqPie = FairQueue<Pies>;

/// The PIEs of [`FqPie`], one for each queue.
#[derive(Clone, Debug)]
pub struct Pies {
    config: PieConfig,
    queues: Vec<FlowQueue>,
    /// Bytes that wait in all queues.
    held: u64,
    random: Pcg64Mcg,
}

#[derive(Clone, Copy, Debug)]
struct FlowQueue {
    pie: PieState,
    /// Bytes that wait.
    held: u64,
}

/// As `tc fq_pie`: 1024 queues, a quantum of a full-sized packet.
impl Default for FqPie {
    fn default() -> Self {
        let random = Pcg64Mcg::seed_from_u64(0);
        let policy = Pies { config: PieConfig::default(), queues: Vec::new(), held: 0, random };
        Self { rounds: DeficitRounds::new(1024, true), policy }
    }
}

impl Catalogued for FqPie {
    const DESCRIPTION: Description = Description {
        name: "fq-pie",
        aliases: &["fq_pie"],
        summary: "flows take turns, those that begin first, and PIE limits the queue of each",
        source: "Linux sch_fq_pie; RFC 8033, RFC 8290",
    };

    const OPTIONS: &'static [Attribute<Self>] = pie_options![
        policy.config;
        flows_option(),
        quantum_option(),
        Attribute::integer(
            "ecn_prob",
            "the highest drop probability, in percent, at which packets are marked instead of dropped",
            [1, 100],
            |queue| queue.policy.config.ecn_percent.into(),
            |queue, percent| queue.policy.config.ecn_percent = percent as u32,
        ),
    ];
}

impl Pies {
    fn queue(&mut self, number: u16) -> &mut FlowQueue {
        let number = usize::from(number);
        if self.queues.len() <= number {
            let pie = PieState::new(Instant::ZERO + self.config.tupdate);
            self.queues.resize(number + 1, FlowQueue { pie, held: 0 });
        }
        &mut self.queues[number]
    }
}

impl FairPolicy for Pies {
    fn begin(&mut self, random: &mut Pcg64Mcg) {
        self.random = Pcg64Mcg::seed_from_u64(random.next_u64());
    }

    fn fit(&mut self, rounds: &mut DeficitRounds, place: &Place) {
        self.config.full_packet = place.full_packet();
        rounds.fit(self.config.full_packet);
    }

    fn usual_limit(&self) -> Option<Limit> {
        Some(Limit::Packets(10_240))
    }

    fn on_arrival(&mut self, arrival: &Arrival, own: u16) -> Verdict {
        let config = self.config;
        let FlowQueue { mut pie, held } = *self.queue(own);
        let packet = (arrival.at, arrival.bytes, arrival.ecn, held);
        let verdict = pie.on_arrival(&config, packet, &mut self.random);
        self.queue(own).pie = pie;
        verdict
    }

    fn on_join(&mut self, queue: u16, bytes: u32) {
        self.held += u64::from(bytes);
        self.queue(queue).held += u64::from(bytes);
    }

    fn on_departure(&mut self, departure: &Departure<'_>) -> Verdict {
        let config = self.config;
        self.held = departure.waiting.bytes();
        let queue = self.queue(departure.queue);
        queue.held = departure.waiting.queue(departure.queue).bytes;
        queue.pie.on_departure(&config, departure.at, departure.sojourn, queue.held);
        Verdict::Pass
    }

    fn on_empty(&mut self) {
        // The link has failed and dropped what waited, of which a discipline learns no more than this.
        if self.held > 0 {
            self.held = 0;
            self.queues.iter_mut().for_each(|queue| queue.held = 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Duration;

    use super::*;
    use crate::queue::tests::arrival;
    use crate::queue::{Backlog, Codepoint, Head, QueueDiscipline};

    #[test]
    fn a_flow_that_sends_too_much_loses_packets_and_one_that_does_not_loses_none() {
        let (mut queue, mut backlog) = (FqPie::default(), Backlog::default());
        queue.begin_with(&mut Pcg64Mcg::seed_from_u64(1));
        let (mut dropped, mut left) = ([0, 0], [0, 0]);
        for us in 0..20_000_000_u64 {
            let at = Instant::ZERO + Duration::from_micros(us);
            // A packet leaves per millisecond; one flow sends as many as that, the other a tenth.
            for (flow, gap) in [(0, 1000), (1, 10_000)] {
                if us % gap == 0 {
                    let coming = arrival(at, flow * 1000, 1500);
                    match queue.on_arrival(&coming) {
                        Verdict::Pass => {
                            let number = queue.queue_of(&coming);
                            backlog.push(number, Head { came: at, bytes: 1500, ecn: Codepoint::NotEct }, flow);
                        }
                        _ => dropped[usize::from(flow)] += 1,
                    }
                }
            }
            if us % 1000 == 999
                && let Some(departed) = backlog.depart(&mut queue, at, |_| {})
            {
                left[usize::from(departed.packet)] += 1;
            }
        }
        assert_eq!(dropped[1], 0);
        assert!(left[1] >= 1999, "{left:?}");
        assert!((1500..2500).contains(&dropped[0]), "{dropped:?}");
    }
}
