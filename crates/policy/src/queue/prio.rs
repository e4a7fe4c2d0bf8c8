//! Strict priority, as `tc prio`: a packet leaves as soon as no earlier band has one.
//!
//! The band follows from the priority of the packet, which Linux computes from the type of service of packets that it
//! forwards and of sockets with `IP_TOS` (`rt_tos2priority`). It reads the four bits between the precedence and the last
//! one, as RFC 1349 defines them: of the DSCP, the lower three. So EF has the priority of AF13 and AF23, and CS6 that of
//! packets without a codepoint; with the usual map neither is in the first band.
//!
//! Each band has a limit of its own, where Linux has the queue length of the device (`txqueuelen`).

use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;

use super::{Arrival, Limit, QueueDiscipline, Waiting};
use crate::catalogue::{Attribute, Catalogued, Conflict, Description};

/// Strict priority.
#[derive(Clone, Copy, Debug)]
pub struct Prio {
    bands: u8,
    /// The band of each priority.
    priomap: [u8; PRIORITIES],
    /// Most packets of a band.
    band_limit: u32,
}

/// Linux `TC_PRIO_MAX` + 1.
const PRIORITIES: usize = 16;

/// Linux `TCQ_PRIO_BANDS`.
const MOST_BANDS: u64 = 16;

/// The bands of priorities in `pfifo_fast` and, by default, in `prio`: in the first one what is interactive (6) or control
/// (7), in the last one bulk (2) and what is neither (1, 3, 5).
const PRIOMAP: [u8; PRIORITIES] = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];

/// The priority of a packet with this codepoint (Linux `ip_tos2prio`): best effort, bulk, interactive or interactive bulk.
const fn priority(dscp: u8) -> u8 {
    [0, 0, 2, 2, 6, 6, 4, 4][(dscp & 7) as usize]
}

/// As `tc prio`, over a device with room for 1000 packets.
impl Default for Prio {
    fn default() -> Self {
        Self::USUAL
    }
}

impl Prio {
    /// Three bands with the usual map.
    pub(super) const USUAL: Self = Self { bands: 3, priomap: PRIOMAP, band_limit: 1000 };

    fn band(&self, arrival: &Arrival) -> u16 {
        self.priomap[usize::from(priority(arrival.dscp))].into()
    }

    pub(super) fn band_limit(&self) -> u64 {
        self.band_limit.into()
    }

    pub(super) fn set_band_limit(&mut self, packets: u64) {
        self.band_limit = packets as u32;
    }
}

/// The meaning of the option for the limit of a band, and its range.
pub(super) const BAND_LIMIT: (&str, [u64; 2]) =
    ("the most packets of a band that wait, as txqueuelen of a device", [1, 1_000_000]);

impl Catalogued for Prio {
    const DESCRIPTION: Description = Description {
        name: "prio",
        aliases: &[],
        summary: "bands by DSCP, of which the first one that has a packet sends",
        source: "Linux sch_prio; tc-prio(8)",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::integer(
            "bands",
            "the number of bands",
            [2, MOST_BANDS],
            |queue| queue.bands.into(),
            |queue, bands| queue.bands = bands as u8,
        ),
        Attribute::integers(
            "priomap",
            "the band of each priority from 0 to 15. The lower three bits of the DSCP make the priority: 0 and 1 are \
             priority 0, 2 and 3 (as AF11, AF41) priority 2, 4 and 5 (as AF12, AF22) priority 6, 6 and 7 (as EF, \
             AF13) priority 4",
            (PRIORITIES, [0, MOST_BANDS - 1]),
            |queue| queue.priomap.map(u64::from).to_vec(),
            |queue, bands| queue.priomap = core::array::from_fn(|priority| bands[priority] as u8),
        ),
        Attribute::integer("band_limit", BAND_LIMIT.0, BAND_LIMIT.1, Self::band_limit, Self::set_band_limit),
    ];

    fn conflict(&self) -> Option<Conflict> {
        let is_beyond = self.priomap.iter().any(|&band| band >= self.bands);
        is_beyond.then(|| Conflict {
            key: "priomap",
            expected: format!("bands from 0 to {}, as there are {}", self.bands - 1, self.bands),
        })
    }
}

impl QueueDiscipline for Prio {
    fn begin_with(&mut self, _random: &mut Pcg64Mcg) {}

    fn usual_limit(&self) -> Option<Limit> {
        Some(Limit::Unlimited)
    }

    fn acts_on_departure(&self) -> bool {
        true
    }

    fn queue_of(&mut self, arrival: &Arrival) -> u16 {
        self.band(arrival)
    }

    fn admits(&self, arrival: &Arrival, waiting: &Waiting) -> bool {
        waiting.queue(self.band(arrival)).packets < self.band_limit
    }

    fn next_queue(&mut self, _now: Instant, waiting: &Waiting) -> u16 {
        waiting.occupied().next().map_or(0, |(band, _)| band)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::arrival;
    use crate::queue::{Backlog, Codepoint, Head};

    fn with_dscp(dscp: u8) -> Arrival {
        Arrival { dscp, ..arrival(Instant::ZERO, 0, 1000) }
    }

    #[test]
    fn bands_are_those_of_the_manual_page() {
        // tc-prio(8), the column "Band" of its table of TOS values, by the TOS bits 1000, 0100, 0010 and 0001 of RFC 1349:
        // minimum delay 0, maximum throughput 2, maximum reliability 1, minimum cost (of which DSCPs have no bit).
        let band = |tos: u8| Prio::default().band(&with_dscp(tos >> 2));
        assert_eq!([0x00, 0x10, 0x08, 0x04].map(band), [1, 0, 2, 1]);
        // "Minimize delay and maximize throughput" is interactive bulk.
        assert_eq!(band(0x18), 1);
        let [ef, cs6, af11, af12, af41] = [46, 48, 10, 12, 34].map(|dscp| Prio::default().band(&with_dscp(dscp)));
        assert_eq!([ef, cs6, af11, af12, af41], [1, 1, 2, 0, 2]);
    }

    #[test]
    fn the_first_band_with_a_packet_sends_and_each_band_is_full_by_itself() {
        let (mut prio, mut backlog) = (Prio { band_limit: 2, ..Prio::default() }, Backlog::default());
        let mut accepted = Vec::new();
        for dscp in [10, 10, 10, 0, 12, 0] {
            let coming = with_dscp(dscp);
            accepted.push(prio.admits(&coming, backlog.waiting()));
            if accepted.last() == Some(&true) {
                let head = Head { came: Instant::ZERO, bytes: 1000, ecn: Codepoint::NotEct };
                backlog.push(prio.queue_of(&coming), head, dscp);
            }
        }
        assert_eq!(accepted, [true, true, false, true, true, true]);
        let sent = core::iter::from_fn(|| backlog.depart(&mut prio, Instant::ZERO, |_| {}));
        assert_eq!(sent.map(|departed| departed.packet).collect::<Vec<_>>(), [12, 0, 0, 10, 10]);
    }

    #[test]
    fn a_map_to_a_band_that_does_not_exist_is_a_conflict() {
        assert_eq!(Prio::default().conflict(), None);
        assert_eq!(Prio { bands: 2, ..Prio::default() }.conflict().map(|conflict| conflict.key), Some("priomap"));
        assert_eq!(Prio { bands: 2, priomap: [1; 16], ..Prio::default() }.conflict(), None);
    }
}
