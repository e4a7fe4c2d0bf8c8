//! Queue disciplines: which packets a queue drops or marks, and which waiting packet is transmitted next.
//!
//! A discipline implements [`QueueDiscipline`]. One that acts only on arrival (drop-tail, RED) leaves the methods for
//! departures alone: the link then knows all times of a packet when it accepts it. One that
//! [acts on departure](QueueDiscipline::acts_on_departure) (CoDel, fair queueing) has its packets in a [`Backlog`], and
//! is asked whenever the transmitter takes the next one.
//!
//! The limit of a queue is not part of its discipline: the link checks it, after the discipline has let a packet pass.
//! A discipline that depends on it or on the link gets to know both before the first packet ([`QueueDiscipline::fit`]).
//!
//! | what | where |
//! |---|---|
//! | a discipline | `NAME.rs`; all as one type: [`Discipline`], here |
//! | the limit and the speed of the queue in which a discipline is | `place.rs` |
//! | what all fair queueing has: flows that take turns by bytes | `fair_queue.rs`, with the turns of `deficit_rounds.rs` |
//! | the state of CoDel and of PIE for one queue or flow | `codel_state.rs`, `pie_state.rs` |
//! | CAKE: its tins, the isolation of hosts, COBALT | `cake/` |
//! | RED's average during idle times | `idle_ageing.rs` |
//! | the waiting packets of a discipline that acts on departure | `backlog.rs` |

mod backlog;
mod cake;
mod codel;
mod codel_state;
mod deficit_rounds;
mod drop_tail;
mod drr;
mod dual_pi2;
mod fair_queue;
mod fq;
mod fq_codel;
mod fq_pie;
mod idle_ageing;
mod pfifo_fast;
mod pie;
mod pie_state;
mod place;
mod prio;
mod red;
mod sfq;

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};

use crate::catalogue::{Conflict, catalogue, dispatch};

pub use backlog::{Backlog, Departed, Head, InternalQueue, Removed, Waiting};
pub use cake::Cake;
pub use codel::CoDel;
pub use codel_state::{CoDelConfig, SquareRoot};
pub use drop_tail::DropTail;
pub use drr::Drr;
pub use dual_pi2::DualPi2;
pub use fq::Fq;
pub use fq_codel::FqCoDel;
pub use fq_pie::FqPie;
pub use idle_ageing::IdleAgeing;
pub use pfifo_fast::PfifoFast;
pub use pie::Pie;
pub use pie_state::PieConfig;
pub use place::{FULL_PACKET, Limit, Place, Speed};
pub use prio::Prio;
pub use red::{Red, RedConfig, RedDrop, RedUnit};
pub use sfq::Sfq;

/// The meaning of the option of the disciplines that may mark packets instead of dropping them.
const ECN_DOC: &str = "whether packets of transports that use ECN are marked instead of dropped";

/// The rule of one queue.
///
/// Calls are in the order of time. A link asks, for every packet that comes to the queue, [`on_arrival`], also if the
/// packet then exceeds the limit. If the discipline [acts on departure], it also asks
/// - [`queue_of`] for the internal queue in which an accepted packet waits,
/// - [`admits`] and, while an arriving packet is not admitted or exceeds the limit, [`victim`],
/// - [`surplus`] after that, until there is none,
/// - [`next_queue`] and then [`on_departure`] when the transmitter takes the next packet, until a packet is not dropped,
/// - [`on_empty`] if the transmitter finds no packet.
///
/// [`on_arrival`]: Self::on_arrival
/// [acts on departure]: Self::acts_on_departure
/// [`queue_of`]: Self::queue_of
/// [`admits`]: Self::admits
/// [`victim`]: Self::victim
/// [`surplus`]: Self::surplus
/// [`next_queue`]: Self::next_queue
/// [`on_departure`]: Self::on_departure
/// [`on_empty`]: Self::on_empty
pub trait QueueDiscipline {
    /// Called once, before the first packet. The seed for random decisions is a function of the run's seed, the link
    /// and its direction: decisions that follow from nothing else are the same in equal runs.
    fn begin(&mut self, _seed: u64) {}

    /// Called by links instead of [`begin`](Self::begin), with the random numbers of the queue. A discipline without
    /// random decisions draws none, so that it changes no other random event of the link. Default: calls `begin` with a
    /// seed drawn from them.
    fn begin_with(&mut self, random: &mut Pcg64Mcg) {
        self.begin(random.next_u64());
    }

    /// Adapts it to the queue in which it will be, before the first packet. Default: it does not depend on that.
    ///
    /// # Errors
    ///
    /// If one of its options, or the limit, does not go with the queue.
    fn fit(&mut self, _place: &Place) -> Result<(), Conflict> {
        Ok(())
    }

    /// The limit of its queue where none is given. Default: none of its own.
    fn usual_limit(&self) -> Option<Limit> {
        None
    }

    /// Whether packets wait in a [`Backlog`] and the methods for departures are called. Must not change. Default: no.
    fn acts_on_departure(&self) -> bool {
        false
    }

    /// Whether [`Arrival::flow`] is needed. Must not change. Default: no.
    fn reads_flow(&self) -> bool {
        false
    }

    /// Whether [`Arrival::hosts`] is needed, besides the flow. Must not change. Default: no.
    fn reads_hosts(&self) -> bool {
        false
    }

    /// What is done with a packet that comes. Default: it passes.
    fn on_arrival(&mut self, _arrival: &Arrival) -> Verdict {
        Verdict::Pass
    }

    /// The number of the internal queue in which the packet that comes will wait. Small numbers need less memory.
    /// Default: 0.
    fn queue_of(&mut self, _arrival: &Arrival) -> u16 {
        0
    }

    /// Whether a packet that comes may wait beside those of its own flow. Default: yes.
    fn admits(&self, _arrival: &Arrival, _waiting: &Waiting) -> bool {
        true
    }

    /// Which packet to drop, because the one that comes exceeds the limit: one that waits, or with `None` the one that
    /// comes. Called again as long as the packet that comes does not fit. Default: the one that comes.
    fn victim(&mut self, _arrival: &Arrival, _waiting: &Waiting) -> Option<Victim> {
        None
    }

    /// Which packet to drop besides, after a victim has made room: disciplines that drop in batches name one until the
    /// batch is complete. Default: none.
    fn surplus(&mut self, _waiting: &Waiting) -> Option<Victim> {
        None
    }

    /// The internal queue whose first packet leaves next; `waiting` is not empty. If there is no packet in that queue,
    /// the first internal queue that has one is taken. Default: 0.
    fn next_queue(&mut self, _now: Instant, _waiting: &Waiting) -> u16 {
        0
    }

    /// What is done with the packet that was chosen. If it is dropped, [`Self::next_queue`] is called again, at the
    /// same time. Default: it passes.
    fn on_departure(&mut self, _departure: &Departure<'_>) -> Verdict {
        Verdict::Pass
    }

    /// The transmitter was free at `at` and no packet was waiting. It may be called more than once, and is called at the
    /// latest before the next packet.
    fn on_empty(&mut self, _at: Instant) {}
}

/// What a discipline does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is accepted, or transmitted.
    Pass,
    /// The same, with Congestion Experienced set. A packet whose transport does not use ECN is dropped instead (RFC
    /// 3168, section 5).
    Mark,
    /// It is dropped.
    Drop,
}

impl Verdict {
    /// What is done with a packet that comes with `ecn`: marks become drops if it must not be marked.
    #[must_use]
    pub const fn applied_to(self, ecn: Codepoint) -> Self {
        match (self, ecn) {
            (Self::Mark, Codepoint::NotEct) => Self::Drop,
            (verdict, _) => verdict,
        }
    }
}

/// The ECN field of a packet (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Codepoint {
    /// The transport does not use ECN.
    #[default]
    NotEct,
    /// ECT(0).
    Ect0,
    /// ECT(1): L4S (RFC 9331).
    Ect1,
    /// Congestion Experienced: the packet was marked here or on an earlier link.
    Ce,
}

/// A packet that comes to a queue, and what it finds there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// When it comes.
    pub at: Instant,
    /// What it takes on the link: its IP length and the link's overhead, in bytes.
    pub bytes: u32,
    /// Its ECN field.
    pub ecn: Codepoint,
    /// Its differentiated services codepoint (RFC 2474), from 0 to 63.
    pub dscp: u8,
    /// A hash of its 5-tuple, with a seed of the link and its direction; 0 unless [`QueueDiscipline::reads_flow`].
    pub flow: u16,
    /// Hashes of its source and of its destination address; 0 unless [`QueueDiscipline::reads_hosts`].
    pub hosts: [u16; 2],
    /// The packets in the queue, with the one in transmission if the link counts that one.
    pub held_packets: u32,
    /// Their bytes, including overhead.
    pub held_bytes: u64,
    /// How long it would wait until its transmission begins, in a queue of unlimited length that drops nothing. Where
    /// packets wait in a [`Backlog`] it is computed from their bytes and the mean rate.
    pub wait: Duration,
    /// How long the queue has been empty, if it is empty.
    pub idle: Option<Duration>,
    /// How fast the link transmits.
    pub speed: Speed,
}

/// A packet that leaves a [`Backlog`].
#[derive(Clone, Copy, Debug)]
pub struct Departure<'a> {
    /// The start of its transmission.
    pub at: Instant,
    /// How long it waited.
    pub sojourn: Duration,
    /// What it takes on the link, in bytes.
    pub bytes: u32,
    /// Its ECN field.
    pub ecn: Codepoint,
    /// The internal queue in which it was.
    pub queue: u16,
    /// The packets that wait, without it.
    pub waiting: &'a Waiting,
}

/// A packet that is dropped to make room: one end of an internal queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The first packet of this internal queue.
    Head(u16),
    /// The last packet of this internal queue.
    Tail(u16),
}

// The types of all disciplines, in the order of lists. See `catalogue/list.rs`.
macro_rules! disciplines {
    ($macro:ident! $($arguments:tt)*) => {
        $macro! { [DropTail Red CoDel FqCoDel Pie FqPie DualPi2 Fq Drr Sfq Prio PfifoFast Cake] [Custom CustomQueue: QueueDiscipline] $($arguments)* }
    };
}

disciplines! { catalogue!
    /// A queue discipline, chosen by name. Each direction of a link takes a clone.
    Discipline
}

/// `drop-tail`.
impl Default for Discipline {
    fn default() -> Self {
        Self::DropTail(DropTail)
    }
}

impl Discipline {
    /// Whether it lets every packet pass and needs not be asked.
    pub const fn is_drop_tail(&self) -> bool {
        matches!(self, Self::DropTail(_))
    }
}

// Every method goes to every discipline: one that overrides a default of the trait is asked.
impl QueueDiscipline for Discipline {
    fn begin(&mut self, seed: u64) {
        disciplines!(dispatch! self, queue => queue.begin(seed))
    }

    fn begin_with(&mut self, random: &mut Pcg64Mcg) {
        disciplines!(dispatch! self, queue => queue.begin_with(random))
    }

    fn fit(&mut self, place: &Place) -> Result<(), Conflict> {
        disciplines!(dispatch! self, queue => queue.fit(place))
    }

    fn usual_limit(&self) -> Option<Limit> {
        disciplines!(dispatch! self, queue => queue.usual_limit())
    }

    fn acts_on_departure(&self) -> bool {
        disciplines!(dispatch! self, queue => queue.acts_on_departure())
    }

    fn reads_flow(&self) -> bool {
        disciplines!(dispatch! self, queue => queue.reads_flow())
    }

    fn reads_hosts(&self) -> bool {
        disciplines!(dispatch! self, queue => queue.reads_hosts())
    }

    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        disciplines!(dispatch! self, queue => queue.on_arrival(arrival))
    }

    fn queue_of(&mut self, arrival: &Arrival) -> u16 {
        disciplines!(dispatch! self, queue => queue.queue_of(arrival))
    }

    fn admits(&self, arrival: &Arrival, waiting: &Waiting) -> bool {
        disciplines!(dispatch! self, queue => queue.admits(arrival, waiting))
    }

    fn victim(&mut self, arrival: &Arrival, waiting: &Waiting) -> Option<Victim> {
        disciplines!(dispatch! self, queue => queue.victim(arrival, waiting))
    }

    fn surplus(&mut self, waiting: &Waiting) -> Option<Victim> {
        disciplines!(dispatch! self, queue => queue.surplus(waiting))
    }

    fn next_queue(&mut self, now: Instant, waiting: &Waiting) -> u16 {
        disciplines!(dispatch! self, queue => queue.next_queue(now, waiting))
    }

    fn on_departure(&mut self, departure: &Departure<'_>) -> Verdict {
        disciplines!(dispatch! self, queue => queue.on_departure(departure))
    }

    fn on_empty(&mut self, at: Instant) {
        disciplines!(dispatch! self, queue => queue.on_empty(at));
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Rate;

    use super::*;

    /// A packet that comes to an empty queue.
    pub(super) fn arrival(at: Instant, flow: u16, bytes: u32) -> Arrival {
        Arrival {
            at,
            bytes,
            ecn: Codepoint::NotEct,
            dscp: 0,
            flow,
            hosts: [0; 2],
            held_packets: 0,
            held_bytes: 0,
            wait: Duration::ZERO,
            idle: None,
            speed: Speed::Rate(Rate::from_mbit(8)),
        }
    }
}
