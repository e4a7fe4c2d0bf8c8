//! The points of capture that show one TCP connection or subflow.
//!
//! Of a direction, what the point nearest to its sender shows is complete: packets that are lost behind it are in it.
//! When data has arrived is known at the other point; with a single one, which its handshake places near one end,
//! acknowledgments tell it half a round trip later. A point that began later than the connection tells one-way delays
//! only, if another shows the begin.

use super::clocks::Shared;
use super::corrections::Corrections;
use super::places::{Place, order, together};
use crate::passages::overtaken_percent;
use crate::sequence::Traced;
use crate::tcp::{Flow, Half};
use crate::tracker::Tracker;

/// What each point shows of one flow: the points in the order from its end 0 to its end 1.
#[derive(Clone, Debug)]
pub(super) struct Points<'a> {
    /// Those with its begin; all if there are none.
    places: Vec<Place<'a>>,
    /// Also those that began later.
    all: Vec<Place<'a>>,
    corrections: &'a Corrections,
}

/// The times of a direction's packets at the sender's point and at the receiver's, by one clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Delays {
    pub(super) smallest_ms: f64,
    pub(super) mean_ms: f64,
    pub(super) largest_ms: f64,
    pub(super) overtaken_percent: f64,
}

impl Delays {
    /// Those of packets with the times of their departures, in that order, and of their arrivals.
    pub(super) fn of(times: &[[u64; 2]]) -> Option<Self> {
        let overtaken_percent = overtaken_percent(times)?;
        let delays = || times.iter().map(|[sent, arrived]| (*arrived as i64).wrapping_sub(*sent as i64) as f64 / 1e6);
        Some(Self {
            smallest_ms: delays().fold(f64::INFINITY, f64::min),
            mean_ms: delays().sum::<f64>() / times.len() as f64,
            largest_ms: delays().fold(f64::NEG_INFINITY, f64::max),
            overtaken_percent,
        })
    }
}

/// The flows of all points, those of one connection together, in the order of their first packets.
pub(super) fn grouped<'a>(tracker: &'a Tracker, corrections: &'a Corrections) -> Vec<Points<'a>> {
    let of_group = |mut all: Vec<Place<'a>>| {
        order(&mut all, corrections);
        let begun: Vec<Place<'_>> = all.iter().copied().filter(Place::has_begin).collect();
        Points { places: if begun.is_empty() { all.clone() } else { begun }, all, corrections }
    };
    let mut groups: Vec<Points<'_>> = together(tracker).into_iter().map(of_group).collect();
    groups.sort_by_key(Points::first_time);
    groups
}

impl Shared for Points<'_> {
    fn points(&self) -> Vec<u16> {
        self.all.iter().map(|place| place.point).collect()
    }

    fn between(&self, end: usize, points: [u16; 2]) -> Vec<(bool, [u64; 2])> {
        let [first, second] = points.map(|point| self.all.iter().position(|place| place.point == point));
        let (Some(first), Some(second)) = (first, second) else { return Vec::new() };
        let (Some(here), Some(there)) = (self.all[first].passages(end), self.all[second].passages(end)) else {
            return Vec::new();
        };
        let is_from_first = (first < second) == (end == 0);
        here.matched(there).into_iter().map(|times| (is_from_first, times)).collect()
    }
}

impl<'a> Points<'a> {
    /// What one of the points shows, with the ends of all.
    pub(super) fn first(&self) -> &'a Flow {
        let place = self.places.iter().find(|place| place.end(0) == 0);
        place.unwrap_or(&self.places[0]).flow
    }

    /// Points that began later than the connection, of which others show the begin.
    pub(super) fn late(&self) -> impl Iterator<Item = u16> + '_ {
        let has_begin = |place: &&Place<'_>| self.places.iter().any(|shown| shown.at == place.at);
        self.all.iter().filter(move |place| !has_begin(place)).map(|place| place.point)
    }

    /// When its first packet was captured, in nanoseconds.
    pub(super) fn first_time(&self) -> u64 {
        let times = self.places.iter().map(|place| self.corrections.corrected(place.point, place.flow.first_time));
        times.min().unwrap_or(0)
    }

    pub(super) fn is_opening_known(&self) -> bool {
        let mut handshakes = self.places.iter().map(|place| &place.flow.handshake);
        handshakes.any(|handshake| handshake.syn.is_some() || handshake.syn_ack.is_some())
    }

    /// The position of its MPTCP connection, and whether its end 0 is the connection's end 1, at a point that knows the
    /// keys if there is one.
    pub(super) fn connection(&self, tracker: &Tracker) -> Option<(usize, bool)> {
        let with_keys = self.places.iter().find(|place| place.has_keys(&tracker.connections));
        let (connection, end) =
            with_keys.or_else(|| self.places.iter().find(|place| place.flow.member.is_some()))?.connection(0)?;
        Some((connection, end == 1))
    }

    /// The packets with data that the end `end` sent, if they are kept.
    pub(super) fn traced(&self, end: usize) -> Option<&'a Traced> {
        let place = self.nearest_to(end);
        place.flow.traced.as_ref().map(|ends| &ends[place.end(end)])
    }

    /// The positions of its connection at each point, and the number of end 0 in it.
    pub(super) fn connections(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.places.iter().filter_map(|place| place.connection(0))
    }

    /// Whether the flow at a position is what one of the points shows.
    pub(super) fn has(&self, at: usize) -> bool {
        self.places.iter().any(|place| place.at == at)
    }

    pub(super) fn are_several(&self) -> bool {
        self.places.len() > 1
    }

    fn nearest_to(&self, end: usize) -> &Place<'a> {
        &self.places[if end == 0 { 0 } else { self.places.len() - 1 }]
    }

    /// The position of its MPTCP connection at the point nearest to the end `near`, and the number of the end `end` in it.
    pub(super) fn connection_near(&self, near: usize, end: usize) -> Option<(usize, usize)> {
        self.nearest_to(near).connection(end)
    }

    /// What the point nearest to the end `end` shows of what that sent.
    pub(super) fn sender(&self, end: usize) -> &'a Half {
        self.nearest_to(end).half(end)
    }

    /// What the point nearest to the other end shows of it, if that is another.
    pub(super) fn receiver(&self, end: usize) -> Option<&'a Half> {
        (self.places.len() > 1).then(|| self.nearest_to(1 - end).half(end))
    }

    /// Whether the times of its points can be compared.
    pub(super) fn has_one_clock(&self) -> bool {
        self.places.len() > 1 && self.corrections.are_comparable([0, 1].map(|end| self.nearest_to(end).point))
    }

    /// The one-way delays of the end `end`'s packets, if there are two points.
    pub(super) fn delays(&self, end: usize) -> Option<Delays> {
        let (first, last) = (self.all.first()?, self.all.last()?);
        let (sender, receiver) = if end == 0 { (first, last) } else { (last, first) };
        if self.all.len() < 2 || !self.corrections.are_comparable([sender.point, receiver.point]) {
            return None;
        }
        let mut times = sender.passages(end)?.matched(receiver.passages(end)?);
        for [sent, arrived] in &mut times {
            *sent = self.corrections.corrected(sender.point, *sent);
            *arrived = self.corrections.corrected(receiver.point, *arrived);
        }
        Delays::of(&times)
    }

    /// Whether the nearest point is at the sender, as far as the handshake tells.
    pub(super) fn is_at_sender(&self, end: usize) -> bool {
        self.places.len() > 1 || self.places[0].flow.is_near(self.places[0].end(end)) != Some(false)
    }

    /// The way of an acknowledgment to the sender's point, in nanoseconds: half the smallest round-trip time.
    pub(super) fn one_way(&self, end: usize) -> u64 {
        let half = self.sender(end);
        match half.round_trips.count {
            0 => self.round_trip().unwrap_or(0) / 2,
            _ => half.round_trips.minimum / 2,
        }
    }

    /// The round-trip time of its handshake, in nanoseconds.
    pub(super) fn round_trip(&self) -> Option<u64> {
        self.places.iter().find_map(|place| place.flow.handshake.round_trip())
    }

    /// A time at the point nearest to the receiver of the end `end`'s data, by the clock of the first file.
    pub(super) fn at_receiver(&self, end: usize, time: u64) -> u64 {
        self.corrections.corrected(self.nearest_to(1 - end).point, time)
    }

    /// A time at the point nearest to the end `end`, by the clock of the first file.
    pub(super) fn at_sender(&self, end: usize, time: u64) -> u64 {
        self.corrections.corrected(self.nearest_to(end).point, time)
    }

    /// When the last data of the end `end` arrived, in nanoseconds.
    pub(super) fn completed(&self, end: usize) -> Option<u64> {
        let half = self.sender(end);
        if half.bytes == 0 {
            return None;
        }
        if self.has_one_clock()
            && let Some(receiver) = self.receiver(end)
        {
            return receiver.last_new.map(|time| self.at_receiver(end, time));
        }
        let time = match half.last_acknowledged {
            Some(time) if self.is_at_sender(end) => Some(time.saturating_sub(self.one_way(end))),
            _ => half.last_new,
        };
        time.map(|time| self.at_sender(end, time))
    }

    /// Packets of the end `end` that one point shows and the other does not, if both were capturing all the time.
    pub(super) fn lost(&self, end: usize) -> Option<u64> {
        let lost = self.sender(end).packets.saturating_sub(self.receiver(end)?.packets);
        let both = [0, 1].map(|end| self.nearest_to(end)).map(|place| {
            let Flow { first_time, last_time, .. } = *place.flow;
            (place.point, [first_time, last_time])
        });
        self.corrections.were_capturing(both).then_some(lost)
    }
}
