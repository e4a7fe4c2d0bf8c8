//! `pfifo_fast`, Linux's default where `net.core.default_qdisc` names no other: three bands with the map of [`Prio`], of
//! which the first one that has a packet sends.

use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;

use super::prio::BAND_LIMIT;
use super::{Arrival, Limit, Prio, QueueDiscipline, Waiting};
use crate::catalogue::{Attribute, Catalogued, Description};

/// Three bands whose map cannot be changed.
#[derive(Clone, Copy, Debug)]
pub struct PfifoFast(Prio);

/// As `tc pfifo_fast`, over a device with room for 1000 packets.
impl Default for PfifoFast {
    fn default() -> Self {
        Self(Prio::USUAL)
    }
}

impl Catalogued for PfifoFast {
    const DESCRIPTION: Description = Description {
        name: "pfifo-fast",
        aliases: &["pfifo_fast"],
        summary: "three bands by DSCP, of which the first one that has a packet sends",
        source: "Linux pfifo_fast_enqueue; tc-pfifo_fast(8)",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[Attribute::integer(
        "band_limit",
        BAND_LIMIT.0,
        BAND_LIMIT.1,
        |queue| queue.0.band_limit(),
        |queue, packets| queue.0.set_band_limit(packets),
    )];
}

impl QueueDiscipline for PfifoFast {
    fn begin_with(&mut self, _random: &mut Pcg64Mcg) {}

    fn usual_limit(&self) -> Option<Limit> {
        self.0.usual_limit()
    }

    fn acts_on_departure(&self) -> bool {
        true
    }

    fn queue_of(&mut self, arrival: &Arrival) -> u16 {
        self.0.queue_of(arrival)
    }

    fn admits(&self, arrival: &Arrival, waiting: &Waiting) -> bool {
        self.0.admits(arrival, waiting)
    }

    fn next_queue(&mut self, now: Instant, waiting: &Waiting) -> u16 {
        self.0.next_queue(now, waiting)
    }
}
