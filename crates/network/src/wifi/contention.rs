//! Backoff of the stations of a channel: which of them send when.
//!
//! All stations hear each other, so that the waits of all of them begin at the same instant, when the channel becomes
//! idle, and are counted in the same slots. A packet that comes to a station without backoff while the channel is idle is
//! sent with the next slot.

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};

use super::ContentionConfig;

/// The stations of a channel and when it is idle.
#[derive(Debug)]
pub(super) struct Contention {
    slot: Duration,
    sifs: Duration,
    /// When the channel becomes, or became, idle.
    idle_from: Instant,
    stations: Vec<Station>,
}

#[derive(Debug)]
struct Station {
    config: ContentionConfig,
    window: u32,
    /// The slots that are left of it, counted from the time at which the station may send without backoff.
    backoff: u64,
    /// Attempts at the frames that it has.
    attempts: u32,
    has_frames: bool,
    random: Pcg64Mcg,
}

impl Contention {
    pub(super) fn new(slot: Duration, sifs: Duration) -> Self {
        Self { slot, sifs, idle_from: Instant::ZERO, stations: Vec::new() }
    }

    /// Adds a station without frames and returns its number.
    pub(super) fn add(&mut self, config: ContentionConfig, random: Pcg64Mcg) -> usize {
        let window = config.cw_min;
        self.stations.push(Station { config, window, backoff: 0, attempts: 0, has_frames: false, random });
        self.stations.len() - 1
    }

    /// `station` has frames at `now`, if it had none before.
    pub(super) fn has_frames(&mut self, station: usize, now: Instant) {
        let (is_busy, slot) = (now < self.idle_from, self.slot_at(now));
        let station = &mut self.stations[station];
        if core::mem::replace(&mut station.has_frames, true) {
            return;
        }
        if !is_busy {
            station.backoff = station.backoff.max(slot.saturating_sub(station.config.aifsn.into()));
        } else if station.backoff == 0 {
            station.draw_backoff();
        }
    }

    /// `station` has no frames any more.
    pub(super) fn has_none(&mut self, station: usize) {
        let station = &mut self.stations[station];
        (station.has_frames, station.attempts) = (false, 0);
    }

    /// When the next transmission begins, if no other station gets frames before.
    pub(super) fn next_access(&self) -> Option<Instant> {
        self.first_slot().map(|slot| self.idle_from + self.sifs + self.slot * slot)
    }

    /// The stations whose turn the [next access](Self::next_access) is.
    pub(super) fn access(&self) -> Vec<usize> {
        let Some(first) = self.first_slot() else { return Vec::new() };
        let is_due = |station: &Station| station.has_frames && station.slot() == first;
        (0..self.stations.len()).filter(|&number| is_due(&self.stations[number])).collect()
    }

    /// Stations send at the next access: all have waited until then, and the others wait until the channel is idle again.
    pub(super) fn count_down(&mut self) {
        let Some(first) = self.first_slot() else { return };
        for station in &mut self.stations {
            let waited = first.saturating_sub(station.config.aifsn.into());
            station.backoff = station.backoff.saturating_sub(waited);
        }
    }

    /// The channel is busy until `end`.
    pub(super) fn busy_until(&mut self, end: Instant) {
        self.idle_from = end;
    }

    /// The frames of `station` were acknowledged.
    pub(super) fn succeeded(&mut self, station: usize) {
        self.stations[station].begin_again();
    }

    /// The frames of `station` were not. Returns whether this was the last attempt.
    pub(super) fn failed(&mut self, station: usize) -> bool {
        let station = &mut self.stations[station];
        station.attempts += 1;
        if station.attempts >= station.config.attempts {
            station.begin_again();
            return true;
        }
        station.window = (2 * station.window + 1).min(station.config.cw_max);
        station.draw_backoff();
        false
    }

    fn first_slot(&self) -> Option<u64> {
        self.stations.iter().filter(|station| station.has_frames).map(Station::slot).min()
    }

    /// The first slot after SIFS that begins at or after `now`.
    fn slot_at(&self, now: Instant) -> u64 {
        now.since(self.idle_from + self.sifs).as_nanos().div_ceil(self.slot.as_nanos())
    }
}

impl Station {
    /// The slot after SIFS in which it sends if no other does before.
    fn slot(&self) -> u64 {
        u64::from(self.config.aifsn) + self.backoff
    }

    fn begin_again(&mut self) {
        (self.window, self.attempts) = (self.config.cw_min, 0);
        self.draw_backoff();
    }

    fn draw_backoff(&mut self) {
        let values = u64::from(self.window) + 1;
        self.backoff = ((self.random.next_u64() >> 32) * values) >> 32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream;

    fn us(microseconds: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(microseconds)
    }

    /// Slots of 20 µs, SIFS of 10 µs: DIFS has 50 µs.
    fn stations(count: usize) -> Contention {
        let mut contention = Contention::new(Duration::from_micros(20), Duration::from_micros(10));
        for number in 0..count {
            let config = ContentionConfig { aifsn: 2, cw_min: 31, cw_max: 1023, attempts: 7, eifs: true };
            contention.add(config, stream(1, &format!("station {number}")));
        }
        contention
    }

    #[test]
    fn a_packet_that_comes_to_an_idle_channel_is_sent_with_the_next_slot() {
        let mut contention = stations(1);
        contention.busy_until(us(1000));
        contention.has_frames(0, us(5003));
        assert_eq!(contention.next_access(), Some(us(5010)), "1010 µs and 200 slots");
        assert_eq!(contention.access(), [0]);
        let mut contention = stations(1);
        contention.busy_until(us(1000));
        contention.has_frames(0, us(1001));
        assert_eq!(contention.next_access(), Some(us(1050)), "not before DIFS");
    }

    #[test]
    fn the_backoff_is_counted_in_idle_slots_and_stops_while_others_send() {
        let mut contention = stations(2);
        contention.busy_until(us(100));
        (contention.stations[0].backoff, contention.stations[1].backoff) = (3, 5);
        (0..2).for_each(|station| contention.has_frames(station, us(0)));
        assert_eq!(contention.next_access(), Some(us(150 + 3 * 20)));
        assert_eq!(contention.access(), [0]);
        contention.count_down();
        contention.busy_until(us(1000));
        contention.has_none(0);
        assert_eq!(contention.next_access(), Some(us(1050 + 2 * 20)), "two slots are left");
    }

    #[test]
    fn a_station_that_does_not_send_in_its_slot_takes_no_wait_from_the_others() {
        let mut contention = stations(2);
        contention.busy_until(us(100));
        (contention.stations[0].backoff, contention.stations[1].backoff) = (3, 5);
        (0..2).for_each(|station| contention.has_frames(station, us(0)));
        assert_eq!(contention.access(), [0]);
        // Its link has failed.
        contention.has_none(0);
        assert_eq!(
            contention.next_access(),
            Some(us(150 + 5 * 20)),
            "of the same time at which the channel became idle"
        );
    }

    #[test]
    fn stations_of_the_same_slot_collide_and_double_their_windows() {
        let mut contention = stations(2);
        (0..2).for_each(|station| contention.has_frames(station, us(0)));
        assert_eq!(contention.access(), [0, 1]);
        let windows = [63, 127, 255, 511, 1023, 1023];
        for window in windows {
            assert!(!contention.failed(0));
            assert_eq!(contention.stations[0].window, window);
        }
        assert!(contention.failed(0), "the seventh attempt was the last one");
        assert_eq!(contention.stations[0].window, 31);
    }

    #[test]
    fn a_backoff_is_uniform_from_zero_to_the_window() {
        let mut contention = stations(1);
        let mut counts = [0u32; 32];
        for _ in 0..32_000 {
            contention.succeeded(0);
            counts[contention.stations[0].backoff as usize] += 1;
        }
        // Four standard deviations of a binomial distribution around 1000.
        assert!(counts.iter().all(|count| count.abs_diff(1000) < 126), "{counts:?}");
    }

    #[test]
    fn a_station_draws_a_backoff_for_what_comes_while_the_channel_is_busy() {
        let mut contention = stations(400);
        contention.busy_until(us(1000));
        (0..400).for_each(|station| contention.has_frames(station, us(500)));
        let mean = contention.stations.iter().map(|station| station.backoff).sum::<u64>() as f64 / 400.0;
        assert!((mean - 15.5).abs() < 4.0 * 9.23 / 20.0, "{mean}");
    }
}
