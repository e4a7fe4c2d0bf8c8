//! FQ-CoDel: flow queuing with CoDel (RFC 8290), with the choices of Linux (`sch_fq_codel`).
//!
//! Each packet waits in the queue to which the hash of its flow leads. The queues take turns by bytes, those that begin
//! first (`deficit_rounds.rs`), and each has a CoDel of its own, whose MAXPACKET is compared with all waiting bytes.
//! If a packet does not fit, the queue with most bytes loses up to half of them from its head, at most a batch, which
//! its CoDel counts as its own drops.
//!
//! The limit in packets is that of the queue. Linux also limits the memory of the packets, with the kernel's overhead,
//! to 32 MB (`memory_limit`); here a limit in bytes takes its place.

use super::codel_state::{CoDelConfig, CoDelState, SquareRoot, codel_options};
use super::deficit_rounds::{DeficitRounds, fattest};
use super::fair_queue::{FairPolicy, FairQueue, flows_option, quantum_option};
use super::{Arrival, Departure, Limit, Place, Verdict, Victim, Waiting};
use crate::catalogue::{Attribute, Catalogued, Description};

/// FQ-CoDel.
pub type FqCoDel = FairQueue<CoDels>;

/// The CoDels of [`FqCoDel`], one for each queue.
#[derive(Clone, Debug)]
pub struct CoDels {
    config: CoDelConfig,
    /// So many packets are dropped at once.
    drop_batch: u32,
    codels: Vec<CoDelState>,
    /// The queue that is losing a batch, and what is left of it.
    batch: Option<Batch>,
}

/// Packets to drop from one queue.
#[derive(Clone, Copy, Debug)]
struct Batch {
    queue: u16,
    packets: u32,
    /// The queue keeps so many bytes.
    kept: u64,
}

/// As `tc fq_codel`: 1024 queues, a quantum of a full-sized packet, batches of 64, with marks.
impl Default for FqCoDel {
    fn default() -> Self {
        let config = CoDelConfig { ecn: true, square_root: SquareRoot::Newton, ..CoDelConfig::default() };
        let policy = CoDels { config, drop_batch: 64, codels: Vec::new(), batch: None };
        Self { rounds: DeficitRounds::new(1024, true), policy }
    }
}

impl Catalogued for FqCoDel {
    const DESCRIPTION: Description = Description {
        name: "fq-codel",
        aliases: &["fq_codel"],
        summary: "flows take turns, those that begin first, and CoDel limits the queue of each",
        source: "RFC 8290; Linux sch_fq_codel",
    };

    const OPTIONS: &'static [Attribute<Self>] = codel_options![
        policy.config;
        flows_option(),
        quantum_option(),
        Attribute::integer(
            "drop_batch",
            "how many packets the longest queue loses at most if the limit is reached",
            [1, 65_536],
            |queue| queue.policy.drop_batch.into(),
            |queue, packets| queue.policy.drop_batch = packets as u32,
        ),
    ];
}

impl CoDels {
    fn codel(&mut self, queue: u16) -> &mut CoDelState {
        let number = usize::from(queue);
        if self.codels.len() <= number {
            self.codels.resize(number + 1, CoDelState::NEW);
        }
        &mut self.codels[number]
    }
}

impl FairPolicy for CoDels {
    fn fit(&mut self, rounds: &mut DeficitRounds, place: &Place) {
        self.config.max_packet = place.full_packet();
        rounds.fit(self.config.max_packet);
    }

    fn usual_limit(&self) -> Option<Limit> {
        Some(Limit::Packets(10_240))
    }

    fn victim(&mut self, arrival: &Arrival, own: u16, waiting: &Waiting) -> Option<Victim> {
        let queue = fattest(waiting, (own, arrival.bytes))?;
        let coming = if own == queue { u64::from(arrival.bytes) } else { 0 };
        let held = waiting.queue(queue).bytes;
        // Half of its bytes go, with those of the packet that comes if it is its.
        let kept = held.saturating_sub((held + coming) / 2);
        self.batch = Some(Batch { queue, packets: self.drop_batch - 1, kept });
        self.codel(queue).on_overflow();
        Some(Victim::Head(queue))
    }

    fn surplus(&mut self, waiting: &Waiting) -> Option<Victim> {
        let Batch { queue, packets, kept } = self.batch?;
        if packets == 0 || waiting.queue(queue).bytes <= kept || waiting.queue(queue).packets == 0 {
            self.batch = None;
            return None;
        }
        self.batch = Some(Batch { queue, packets: packets - 1, kept });
        self.codel(queue).on_overflow();
        Some(Victim::Head(queue))
    }

    fn on_idle(&mut self, queue: u16) {
        self.codels.get_mut(usize::from(queue)).into_iter().for_each(CoDelState::on_empty);
    }

    fn on_departure(&mut self, departure: &Departure<'_>) -> Verdict {
        let config = self.config;
        match self.codel(departure.queue).on_departure(&config, departure) {
            Verdict::Pass => config.at_threshold(departure.sojourn, departure.ecn),
            verdict => verdict,
        }
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Instant;

    use super::*;
    use crate::queue::{Backlog, Codepoint, Head, QueueDiscipline};

    fn arrival(flow: u16) -> Arrival {
        crate::queue::tests::arrival(Instant::ZERO, flow, 1000)
    }

    /// A queue in which the flows with these hashes have so many packets of 1000 bytes.
    fn holding(flows: &[(u16, u32)]) -> (FqCoDel, Backlog<()>) {
        let mut queue = FqCoDel { rounds: DeficitRounds::new(8, true), ..FqCoDel::default() };
        let mut backlog = Backlog::default();
        for &(flow, packets) in flows {
            for _ in 0..packets {
                let number = queue.queue_of(&arrival(flow));
                backlog.push(number, Head { came: Instant::ZERO, bytes: 1000, ecn: Codepoint::NotEct }, ());
            }
        }
        (queue, backlog)
    }

    #[test]
    fn a_full_queue_drops_half_of_the_longest_one_from_its_head_but_no_more_than_a_batch() {
        for (long, dropped) in [(10, 5), (11, 6), (200, 64)] {
            let (mut queue, mut backlog) = holding(&[(0, 3), (16_384, long)]);
            let first = queue.victim(&arrival(0), backlog.waiting()).expect("somebody loses");
            let mut lost = 0;
            let mut next = Some(first);
            while let Some(victim) = next {
                assert_eq!(victim, Victim::Head(2));
                backlog.remove(victim);
                lost += 1;
                next = queue.surplus(backlog.waiting());
            }
            assert_eq!((lost, queue.policy.codels[2].count), (dropped, dropped));
        }
    }

    #[test]
    fn a_packet_that_is_the_only_one_of_the_longest_queue_is_dropped_itself() {
        let (mut queue, backlog) = holding(&[]);
        assert_eq!(queue.victim(&arrival(0), backlog.waiting()), None);
    }
}
