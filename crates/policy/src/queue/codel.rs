//! Controlled delay (RFC 8289): drops packets when even the least of the recent waiting times is too long.
//!
//! A packet that leaves after waiting for less than *target* shows that there is no standing queue. If none does so
//! during *interval*, CoDel drops a packet, and the next ones at distances that decrease with the square root of their
//! number, until a packet has waited for less than target. The rules are those of the pseudocode in section 5, which
//! takes packets from the queue itself; here each call decides on one packet, and what the pseudocode does between two
//! packets is in `CoDelState` (`codel_state.rs`).
//!
//! Marking instead of dropping (`ecn`) is not part of the pseudocode. It is as in Linux (`codel_dequeue`): a packet is
//! marked where it would be dropped, counts like a dropped one, and leaves, so that at most one packet is marked at a
//! time.

use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;

use super::codel_state::{CoDelConfig, CoDelState, codel_options};
use super::{Departure, Place, QueueDiscipline, Verdict};
use crate::catalogue::{Attribute, Catalogued, Conflict, Description};

/// CoDel for one queue.
#[derive(Clone, Debug)]
pub struct CoDel {
    config: CoDelConfig,
    state: CoDelState,
}

impl CoDel {
    /// CoDel with an empty queue.
    pub const fn new(config: CoDelConfig) -> Self {
        Self { config, state: CoDelState::NEW }
    }
}

impl Default for CoDel {
    fn default() -> Self {
        Self::new(CoDelConfig::default())
    }
}

impl Catalogued for CoDel {
    const DESCRIPTION: Description = Description {
        name: "codel",
        aliases: &[],
        summary: "controlled delay: drops or marks packets while none of the last ones has waited for less than the \
                  target",
        source: "RFC 8289; Linux sch_codel (ecn)",
    };

    const OPTIONS: &'static [Attribute<Self>] = codel_options![config];
}

impl QueueDiscipline for CoDel {
    fn begin_with(&mut self, _random: &mut Pcg64Mcg) {}

    fn fit(&mut self, place: &Place) -> Result<(), Conflict> {
        self.config.max_packet = place.full_packet();
        Ok(())
    }

    fn acts_on_departure(&self) -> bool {
        true
    }

    fn on_departure(&mut self, departure: &Departure<'_>) -> Verdict {
        match self.state.on_departure(&self.config, departure) {
            Verdict::Pass => self.config.at_threshold(departure.sojourn, departure.ecn),
            verdict => verdict,
        }
    }

    fn on_empty(&mut self, _at: Instant) {
        self.state.on_empty();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use subflow_quantity::Duration;

    use super::*;
    use crate::queue::{Backlog, Codepoint, Head, SquareRoot};

    /// A queue of packets of 1000 bytes from which one leaves per millisecond.
    struct Queue {
        codel: CoDel,
        backlog: Backlog<u64>,
        ms: u64,
        /// The times of drops and of marks, in milliseconds.
        dropped: Vec<u64>,
        marked: Vec<u64>,
        /// How long each transmitted packet waited, in milliseconds.
        waited: Vec<u64>,
    }

    impl Queue {
        fn new(config: CoDelConfig) -> Self {
            let (dropped, marked, waited) = (Vec::new(), Vec::new(), Vec::new());
            Self { codel: CoDel::new(config), backlog: Backlog::default(), ms: 0, dropped, marked, waited }
        }

        fn arrive(&mut self, packets: u64, ecn: Codepoint) {
            let came = Instant::ZERO + Duration::from_millis(self.ms);
            (0..packets).for_each(|_| self.backlog.push(0, Head { came, bytes: 1000, ecn }, self.ms));
        }

        /// One packet leaves.
        fn step(&mut self) {
            let now = Instant::ZERO + Duration::from_millis(self.ms);
            let (ms, dropped) = (self.ms, &mut self.dropped);
            match self.backlog.depart(&mut self.codel, now, |_| dropped.push(ms)) {
                None => self.codel.on_empty(now),
                Some(departed) => {
                    self.waited.push(ms - departed.packet);
                    if departed.marked {
                        self.marked.push(ms);
                    }
                }
            }
            self.ms += 1;
        }
    }

    #[test]
    fn drops_follow_at_the_interval_divided_by_the_square_root_of_their_number() {
        let mut queue = Queue::new(CoDelConfig::default());
        queue.arrive(2000, Codepoint::NotEct);
        for _ in 0..1000 {
            queue.step();
        }
        // Above the target from 5 ms on, the first drop an interval later; then 100 ms / √n after each other, and a
        // packet leaves each millisecond.
        let mut expected = vec![105];
        let mut exact = 105.0;
        while exact < 1000.0 {
            exact += 100.0 / (expected.len() as f64).sqrt();
            expected.push(exact.ceil() as u64);
        }
        expected.retain(|&ms| ms < 1000);
        assert_eq!(queue.dropped, expected);
        assert!(expected.len() > 20);
    }

    #[test]
    fn no_packet_is_dropped_while_waiting_times_are_below_the_target() {
        let mut queue = Queue::new(CoDelConfig::default());
        queue.arrive(5, Codepoint::NotEct);
        for _ in 0..10_000 {
            queue.step();
            queue.arrive(1, Codepoint::NotEct);
        }
        assert_eq!((queue.dropped.len(), queue.waited.iter().max()), (0, Some(&4)));
    }

    #[test]
    fn a_burst_that_is_gone_within_an_interval_passes() {
        let mut queue = Queue::new(CoDelConfig::default());
        for _ in 0..20 {
            queue.arrive(90, Codepoint::NotEct);
            (0..100).for_each(|_| queue.step());
        }
        assert_eq!((queue.dropped.len(), queue.waited.iter().max()), (0, Some(&89)));
    }

    #[test]
    fn a_queue_of_one_packet_is_no_standing_queue() {
        let mut queue = Queue::new(CoDelConfig { target: Duration::from_nanos(1), ..CoDelConfig::default() });
        queue.arrive(3, Codepoint::NotEct);
        for _ in 0..1000 {
            queue.step();
            queue.arrive(1, Codepoint::NotEct);
        }
        // Three wait, of which one leaves: 2000 bytes are more than a packet.
        assert_eq!(queue.dropped, [101], "with one packet less, 1000 bytes are not");
    }

    #[test]
    fn drops_that_begin_again_soon_go_on_at_the_last_rate() {
        let mut queue = Queue::new(CoDelConfig::default());
        queue.arrive(700, Codepoint::NotEct);
        (0..800).for_each(|_| queue.step());
        let drops = queue.dropped.len();
        assert!(drops > 10 && !queue.codel.state.dropping);
        let delta = queue.codel.state.count - queue.codel.state.lastcount;
        queue.arrive(400, Codepoint::NotEct);
        (0..107).for_each(|_| queue.step());
        assert_eq!((queue.dropped.len(), queue.codel.state.count), (drops + 1, delta));
        // After 16 intervals it is forgotten.
        (0..3000).for_each(|_| queue.step());
        queue.arrive(400, Codepoint::NotEct);
        (0..107).for_each(|_| queue.step());
        assert_eq!(queue.codel.state.count, 1);
    }

    /// The pseudocode of RFC 8289, section 5: `dequeue` takes packets from the queue until one is to be transmitted.
    /// Times are in nanoseconds, packets are pairs of their number and size.
    #[derive(Default)]
    struct Pseudocode {
        queue: VecDeque<(usize, u64, u32)>,
        first_above_time: u64,
        drop_next: u64,
        count: u32,
        lastcount: u32,
        dropping: bool,
        dropped: Vec<usize>,
    }

    impl Pseudocode {
        const CONFIG: CoDelConfig = CoDelConfig {
            target: Duration::from_millis(1),
            interval: Duration::from_millis(8),
            max_packet: 1500,
            ecn: false,
            ce_threshold: Duration::ZERO,
            square_root: SquareRoot::Exact,
        };

        fn dodequeue(&mut self, now: u64) -> (Option<usize>, bool) {
            let Some((packet, came, _)) = self.queue.pop_front() else {
                self.first_above_time = 0;
                return (None, false);
            };
            let bytes: u32 = self.queue.iter().map(|(.., bytes)| bytes).sum();
            if now - came < Self::CONFIG.target.as_nanos() || bytes <= Self::CONFIG.max_packet {
                self.first_above_time = 0;
            } else if self.first_above_time == 0 {
                self.first_above_time = now + Self::CONFIG.interval.as_nanos();
            } else if now >= self.first_above_time {
                return (Some(packet), true);
            }
            (Some(packet), false)
        }

        fn control_law(&self, time: u64) -> u64 {
            time + (Self::CONFIG.interval.as_nanos() as f64 / libm::sqrt(f64::from(self.count))) as u64
        }

        fn dequeue(&mut self, now: u64) -> Option<usize> {
            let (mut packet, mut ok_to_drop) = self.dodequeue(now);
            if self.dropping {
                self.dropping = ok_to_drop;
                while self.dropping && now >= self.drop_next {
                    self.dropped.extend(packet);
                    self.count += 1;
                    (packet, ok_to_drop) = self.dodequeue(now);
                    match ok_to_drop {
                        true => self.drop_next = self.control_law(self.drop_next),
                        false => self.dropping = false,
                    }
                }
            } else if ok_to_drop {
                self.dropped.extend(packet);
                (packet, _) = self.dodequeue(now);
                self.dropping = true;
                let delta = self.count - self.lastcount;
                let is_recent = (now as i64 - self.drop_next as i64) < 16 * Self::CONFIG.interval.as_nanos() as i64;
                self.count = if delta > 1 && is_recent { delta } else { 1 };
                self.drop_next = self.control_law(now);
                self.lastcount = self.count;
            }
            packet
        }
    }

    proptest! {
        #[test]
        fn it_drops_and_transmits_what_the_pseudocode_of_the_rfc_does(
            // Bursts, from which packets leave at all distances, and pauses of up to 40 intervals.
            steps in vec((0..4usize, 1..1500u32, vec(0..2_000_000u64, 0..60), 0..320_000_000u64), 1..12),
        ) {
            let mut rfc = Pseudocode::default();
            let mut codel = CoDel::new(Pseudocode::CONFIG);
            let mut backlog = Backlog::default();
            let (mut now, mut number, mut dropped) = (1, 0, Vec::new());
            for (packets, bytes, departures, pause) in steps {
                for gap in departures {
                    for _ in 0..packets {
                        let came = Instant::from_nanos(now);
                        backlog.push(0, Head { came, bytes, ecn: Codepoint::NotEct }, number);
                        rfc.queue.push_back((number, now, bytes));
                        number += 1;
                    }
                    now += gap;
                    let at = Instant::from_nanos(now);
                    let departed = backlog.depart(&mut codel, at, |removed| dropped.push(removed.packet));
                    if departed.is_none() {
                        codel.on_empty(at);
                    }
                    prop_assert_eq!(departed.map(|departed| departed.packet), rfc.dequeue(now));
                    prop_assert_eq!(&dropped, &rfc.dropped);
                }
                now += pause;
            }
        }
    }

    #[test]
    fn with_ecn_packets_are_marked_at_the_times_of_drops() {
        let drops = |ecn| {
            let mut queue = Queue::new(CoDelConfig { ecn: true, ..CoDelConfig::default() });
            queue.arrive(2000, ecn);
            (0..600).for_each(|_| queue.step());
            (queue.dropped, queue.marked)
        };
        let (dropped, none) = drops(Codepoint::NotEct);
        assert!(none.is_empty());
        for ecn in [Codepoint::Ect0, Codepoint::Ect1] {
            assert_eq!(drops(ecn), (Vec::new(), dropped.clone()));
        }
    }
}
