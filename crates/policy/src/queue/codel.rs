//! Controlled delay (RFC 8289): drops packets when even the least of the recent waiting times is too long.
//!
//! A packet that leaves after waiting for less than *target* shows that there is no standing queue. If none does so
//! during *interval*, CoDel drops a packet, and the next ones at distances that decrease with the square root of their
//! number, until a packet has waited for less than target. The rules are those of the pseudocode in section 5, which
//! takes packets from the queue itself; here each call decides on one packet, and what the pseudocode does between two
//! packets is in [`Dropped`].
//!
//! Marking instead of dropping (`ecn`) is not part of the pseudocode. It is as in Linux (`codel_dequeue`): a packet is
//! marked where it would be dropped, counts like a dropped one, and leaves, so that at most one packet is marked at a
//! time.

use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};

use super::{Codepoint, Departure, FULL_PACKET, Place, QueueDiscipline, Verdict};
use crate::catalogue::{Attribute, Catalogued, Conflict, Description};

/// The parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelConfig {
    /// TARGET: the acceptable standing delay. Default: 5 ms.
    pub target: Duration,
    /// INTERVAL: how long waiting times must exceed the target until the first drop; about the round-trip time of most
    /// flows. Default: 100 ms.
    pub interval: Duration,
    /// MAXPACKET: a queue of no more than so many bytes, including link overhead, is no standing queue. Default: 1500.
    pub max_packet: u32,
    /// Whether packets of transports that use ECN are marked instead of dropped. Default: no.
    pub ecn: bool,
}

impl Default for CoDelConfig {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            max_packet: FULL_PACKET,
            ecn: false,
        }
    }
}

/// CoDel: the state of one queue.
#[derive(Clone, Debug)]
pub struct CoDel {
    config: CoDelConfig,
    /// first_above_time: when a packet may be dropped if waiting times exceed the target until then; `None` while they
    /// do not.
    first_above_time: Option<Instant>,
    /// drop_next.
    drop_next: Instant,
    count: u32,
    lastcount: u32,
    dropping: bool,
    dropped: Option<Dropped>,
}

/// The packet before this one was dropped, at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dropped {
    /// It was the first drop: this packet is transmitted in any case.
    First,
    /// It was a later one: this packet decides whether drops go on.
    Later,
}

impl CoDel {
    /// CoDel with an empty queue.
    pub const fn new(config: CoDelConfig) -> Self {
        Self {
            config,
            first_above_time: None,
            drop_next: Instant::ZERO,
            count: 0,
            lastcount: 0,
            dropping: false,
            dropped: None,
        }
    }

    /// `dodequeue`: whether waiting times have exceeded the target for an interval.
    fn ok_to_drop(&mut self, departure: &Departure<'_>) -> bool {
        if departure.sojourn < self.config.target || departure.waiting.bytes() <= self.config.max_packet.into() {
            self.first_above_time = None;
            return false;
        }
        match self.first_above_time {
            Some(time) => departure.at >= time,
            None => {
                self.first_above_time = Some(departure.at.saturating_add(self.config.interval));
                false
            }
        }
    }

    /// The time of the next drop: `t` + INTERVAL / √count.
    fn control_law(&self, t: Instant) -> Instant {
        let nanos = self.config.interval.as_nanos() as f64 / libm::sqrt(f64::from(self.count));
        t.saturating_add(Duration::from_nanos(nanos as u64))
    }

    /// Enters the dropping state. If the last one ended a short time ago, drops go on at its rate.
    fn begin_dropping(&mut self, now: Instant) {
        let delta = self.count.wrapping_sub(self.lastcount);
        let recently = now.since(self.drop_next) < self.config.interval.saturating_mul(16);
        self.count = if delta > 1 && recently { delta } else { 1 };
        self.lastcount = self.count;
        self.drop_next = self.control_law(now);
        self.dropping = true;
    }

    /// Drops or marks a packet, and remembers it if it is dropped.
    fn signal(&mut self, ecn: Codepoint, dropped: Dropped) -> Verdict {
        if self.config.ecn && ecn != Codepoint::NotEct {
            // The pseudocode schedules the next drop after it has seen the packet that follows, which a mark does not.
            if dropped == Dropped::Later {
                self.drop_next = self.control_law(self.drop_next);
            }
            return Verdict::Mark;
        }
        self.dropped = Some(dropped);
        Verdict::Drop
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

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::positive_duration(
            "target",
            "the waiting time that a packet may have although the queue does not go empty",
            |codel| codel.config.target,
            |codel, target| codel.config.target = target,
        ),
        Attribute::positive_duration(
            "interval",
            "how long all packets must have waited for the target or more until the first is dropped: about a \
             round-trip time",
            |codel| codel.config.interval,
            |codel, interval| codel.config.interval = interval,
        ),
        Attribute::flag(
            "ecn",
            "whether packets of transports that use ECN are marked instead of dropped",
            |codel| codel.config.ecn,
            |codel, ecn| codel.config.ecn = ecn,
        ),
    ];
}

impl QueueDiscipline for CoDel {
    fn begin_with(&mut self, _random: &mut Pcg64Mcg) {}

    fn fit(&mut self, place: &Place) -> Result<(), Conflict> {
        self.config.max_packet = FULL_PACKET + u32::from(place.overhead);
        Ok(())
    }

    fn acts_on_departure(&self) -> bool {
        true
    }

    fn on_departure(&mut self, departure: &Departure<'_>) -> Verdict {
        let ok_to_drop = self.ok_to_drop(departure);
        match self.dropped.take() {
            Some(Dropped::First) => return Verdict::Pass,
            Some(Dropped::Later) if ok_to_drop => self.drop_next = self.control_law(self.drop_next),
            Some(Dropped::Later) | None => {}
        }
        if !ok_to_drop {
            self.dropping = false;
            return Verdict::Pass;
        }
        if !self.dropping {
            self.begin_dropping(departure.at);
            return self.signal(departure.ecn, Dropped::First);
        }
        if departure.at < self.drop_next {
            return Verdict::Pass;
        }
        self.count = self.count.saturating_add(1);
        self.signal(departure.ecn, Dropped::Later)
    }

    fn on_empty(&mut self, _at: Instant) {
        self.first_above_time = None;
        self.dropping = false;
        self.dropped = None;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::queue::{Backlog, Head};

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
        assert!(drops > 10 && !queue.codel.dropping);
        let delta = queue.codel.count - queue.codel.lastcount;
        queue.arrive(400, Codepoint::NotEct);
        (0..107).for_each(|_| queue.step());
        assert_eq!((queue.dropped.len(), queue.codel.count), (drops + 1, delta));
        // After 16 intervals it is forgotten.
        (0..3000).for_each(|_| queue.step());
        queue.arrive(400, Codepoint::NotEct);
        (0..107).for_each(|_| queue.step());
        assert_eq!(queue.codel.count, 1);
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
