//! Disciplines with a queue for each flow, which take turns by bytes: fq, drr, sfq, FQ-CoDel, FQ-PIE. They differ in the
//! limits of a flow, in who loses a packet, and in what each queue does besides.

use core::fmt::Debug;

use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;

use super::deficit_rounds::{ALL_HASHES, DeficitRounds, QUANTUM};
use super::{Arrival, Departure, Limit, Place, QueueDiscipline, Verdict, Victim, Waiting};
use crate::catalogue::{Attribute, Conflict};

/// A discipline whose queues take turns. `P` decides the rest.
#[derive(Clone, Debug)]
pub struct FairQueue<P> {
    pub(super) rounds: DeficitRounds,
    pub(super) policy: P,
}

/// What a discipline decides besides whose turn it is. Defaults are those of [`QueueDiscipline`].
pub trait FairPolicy: Clone + Debug + 'static {
    /// Takes the random numbers of the queue, if it makes random decisions.
    fn begin(&mut self, _random: &mut Pcg64Mcg) {}

    /// Sets the bytes per turn, and adapts itself to the queue. Default: an option, or a full-sized packet.
    fn fit(&mut self, rounds: &mut DeficitRounds, place: &Place) {
        rounds.fit(place.full_packet());
    }

    /// The limit of the queue where none is given.
    fn usual_limit(&self) -> Option<Limit> {
        None
    }

    /// The packet with the hash that leads to its queue. Default: that of its flow.
    fn hashed(&self, arrival: &Arrival) -> Arrival {
        *arrival
    }

    /// What is done with a packet that comes to the internal queue `own`.
    fn on_arrival(&mut self, _arrival: &Arrival, _own: u16) -> Verdict {
        Verdict::Pass
    }

    /// A packet of `bytes` will wait in `queue`.
    fn on_join(&mut self, _queue: u16, _bytes: u32) {}

    /// Whether a packet may wait beside those of its own queue.
    fn admits(&self, _own: u16, _waiting: &Waiting) -> bool {
        true
    }

    /// Which packet to drop in favour of one that comes to the queue `own`, or `None` for that one.
    fn victim(&mut self, _arrival: &Arrival, _own: u16, _waiting: &Waiting) -> Option<Victim> {
        None
    }

    /// Which packet to drop besides.
    fn surplus(&mut self, _waiting: &Waiting) -> Option<Victim> {
        None
    }

    /// The turn of `queue` has found it empty.
    fn on_idle(&mut self, _queue: u16) {}

    /// What is done with the packet whose turn it is. One that is dropped takes nothing of its queue's turn.
    fn on_departure(&mut self, _departure: &Departure<'_>) -> Verdict {
        Verdict::Pass
    }

    /// No packet is waiting in any queue.
    fn on_empty(&mut self) {}
}

impl<P: FairPolicy> QueueDiscipline for FairQueue<P> {
    fn begin_with(&mut self, random: &mut Pcg64Mcg) {
        self.policy.begin(random);
    }

    fn fit(&mut self, place: &Place) -> Result<(), Conflict> {
        self.policy.fit(&mut self.rounds, place);
        Ok(())
    }

    fn usual_limit(&self) -> Option<Limit> {
        self.policy.usual_limit()
    }

    fn acts_on_departure(&self) -> bool {
        true
    }

    fn reads_flow(&self) -> bool {
        true
    }

    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        let own = self.own_queue(arrival);
        self.policy.on_arrival(arrival, own)
    }

    fn queue_of(&mut self, arrival: &Arrival) -> u16 {
        let queue = self.rounds.join(&self.policy.hashed(arrival));
        self.policy.on_join(queue, arrival.bytes);
        queue
    }

    fn admits(&self, arrival: &Arrival, waiting: &Waiting) -> bool {
        self.policy.admits(self.own_queue(arrival), waiting)
    }

    fn victim(&mut self, arrival: &Arrival, waiting: &Waiting) -> Option<Victim> {
        let own = self.own_queue(arrival);
        self.policy.victim(arrival, own, waiting)
    }

    fn surplus(&mut self, waiting: &Waiting) -> Option<Victim> {
        self.policy.surplus(waiting)
    }

    fn next_queue(&mut self, _now: Instant, waiting: &Waiting) -> u16 {
        let policy = &mut self.policy;
        self.rounds.next(waiting, |queue| policy.on_idle(queue)).unwrap_or_default()
    }

    fn on_departure(&mut self, departure: &Departure<'_>) -> Verdict {
        let verdict = self.policy.on_departure(departure);
        if verdict != Verdict::Drop {
            self.rounds.charge(departure.queue, departure.bytes);
        }
        verdict
    }

    fn on_empty(&mut self, _at: Instant) {
        self.policy.on_empty();
    }
}

impl<P: FairPolicy> FairQueue<P> {
    /// The internal queue of a packet that comes.
    fn own_queue(&self, arrival: &Arrival) -> u16 {
        self.rounds.queue_for(&self.policy.hashed(arrival))
    }
}

/// The option for the number of queues.
pub(super) const fn flows_option<P: FairPolicy>() -> Attribute<FairQueue<P>> {
    Attribute::integer(
        "flows",
        "the number of queues to which flows are hashed",
        [1, ALL_HASHES as u64],
        |queue| queue.rounds.flows.into(),
        |queue, flows| queue.rounds.flows = flows as u32,
    )
}

/// The option for the bytes per turn.
pub(super) const fn quantum_option<P: FairPolicy>() -> Attribute<FairQueue<P>> {
    Attribute::integer(
        "quantum",
        "the bytes, with overhead, that a flow may send per turn; 0 stands for a full-sized packet",
        QUANTUM,
        |queue| queue.rounds.chosen.into(),
        |queue, bytes| queue.rounds.chosen = bytes as u32,
    )
}
