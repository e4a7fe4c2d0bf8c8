//! Stochastic fairness queueing (McKenney, 1990), as `tc sfq`: flows are hashed to queues, which take turns by bytes. If a
//! packet does not fit, the queue with most packets loses its last one.
//!
//! With `perturb`, flows are hashed anew each time that this time has passed, so that two flows do not share a queue for
//! long. Packets that wait stay where they are: those of a flow may then leave in another order, as in Linux before
//! 2.6.39. Later kernels move waiting packets to their new queues.

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::Duration;

use super::deficit_rounds::DeficitRounds;
use super::fair_queue::{FairPolicy, FairQueue, flows_option, quantum_option};
use super::{Arrival, Limit, Verdict, Victim, Waiting};
use crate::catalogue::{Attribute, Catalogued, Description};

/// Stochastic fairness queueing.
pub type Sfq = FairQueue<Stochastic>;

/// The hashes of [`Sfq`], and the limit of each queue.
#[derive(Clone, Debug)]
pub struct Stochastic {
    /// Most packets of a queue.
    depth: u32,
    /// The time after which flows are hashed anew; zero for never.
    perturb: Duration,
    seed: u64,
    /// How often they were hashed anew.
    epoch: u64,
}

/// As `tc sfq`: 1024 queues of up to 127 packets.
impl Default for Sfq {
    fn default() -> Self {
        let policy = Stochastic { depth: 127, perturb: Duration::ZERO, seed: 0, epoch: 0 };
        Self { rounds: DeficitRounds::new(1024, false), policy }
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
            |queue| queue.policy.depth.into(),
            |queue, packets| queue.policy.depth = packets as u32,
        ),
        Attribute::duration(
            "perturb",
            "the time after which flows are hashed anew, which may reorder their packets; 0 stands for never",
            |queue| queue.policy.perturb,
            |queue, time| queue.policy.perturb = time,
        ),
    ];
}

/// 16 bits that depend on every bit of `n` (the finaliser of SplitMix64).
fn mixed(n: u64) -> u16 {
    let n = (n ^ n >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let n = (n ^ n >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    (n ^ n >> 31) as u16
}

impl FairPolicy for Stochastic {
    fn begin(&mut self, random: &mut Pcg64Mcg) {
        if !self.perturb.is_zero() {
            self.seed = random.next_u64();
        }
    }

    fn usual_limit(&self) -> Option<Limit> {
        Some(Limit::Packets(127))
    }

    fn hashed(&self, arrival: &Arrival) -> Arrival {
        match self.epoch {
            0 => *arrival,
            epoch => Arrival { flow: mixed(self.seed ^ epoch << 16 ^ u64::from(arrival.flow)), ..*arrival },
        }
    }

    fn on_arrival(&mut self, arrival: &Arrival, _own: u16) -> Verdict {
        if !self.perturb.is_zero() {
            self.epoch = arrival.at.as_nanos() / self.perturb.as_nanos();
        }
        Verdict::Pass
    }

    fn admits(&self, own: u16, waiting: &Waiting) -> bool {
        waiting.queue(own).packets < self.depth
    }

    fn victim(&mut self, _arrival: &Arrival, own: u16, waiting: &Waiting) -> Option<Victim> {
        let after = waiting.queue(own).packets + 1;
        if after > self.depth {
            return None;
        }
        let longest = waiting.occupied().max_by_key(|(_, queue)| queue.packets);
        longest.filter(|(_, queue)| queue.packets > after).map(|(number, _)| Victim::Tail(number))
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Instant;

    use super::*;
    use crate::queue::tests::arrival;
    use crate::queue::{Backlog, Codepoint, Head, QueueDiscipline};

    #[test]
    fn the_queue_with_most_packets_loses_its_last_or_the_one_that_comes() {
        let (mut sfq, mut backlog) = (Sfq::default(), Backlog::default());
        sfq.policy.depth = 3;
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

    #[test]
    fn two_flows_of_one_queue_are_hashed_anew_after_the_time_of_perturb() {
        let mut sfq = Sfq::default();
        sfq.policy.perturb = Duration::from_secs(10);
        sfq.begin_with(&mut Pcg64Mcg::new(1));
        // 64 hashes next to each other are one queue of 1024.
        let mut queues = |second: u64| {
            let at = Instant::from_nanos(second * 1_000_000_000);
            [640, 703].map(|flow| {
                sfq.on_arrival(&arrival(at, flow, 1000));
                sfq.queue_of(&arrival(at, flow, 1000))
            })
        };
        assert_eq!([queues(0), queues(9)], [[10, 10]; 2]);
        let shared = (1..=100).filter(|&period| queues(10 * period)[0] == queues(10 * period)[1]).count();
        assert!(shared < 3, "{shared} of 100 times in one queue");
        assert_eq!(queues(25), queues(29), "the hash stays until the time has passed");
    }
}
