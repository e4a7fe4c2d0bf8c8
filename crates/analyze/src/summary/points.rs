//! The points of capture that show one TCP connection or subflow.
//!
//! Of a direction, what the point nearest to its sender shows is complete: packets that are lost behind it are in it.
//! Nearest is the point from which the peer's answer to the SYN took longest. When data has arrived is known at the other point;
//! with a single one, which its handshake places near one end, acknowledgments tell it half a round trip later.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::clocks::Shared;
use super::corrections::Corrections;
use crate::passages::{Passages, overtaken_percent};
use crate::sequence::Traced;
use crate::tcp::{Flow, Half, Member};
use crate::tracker::Tracker;

/// What each point shows of one flow: the points in the order from its end 0 to its end 1.
#[derive(Clone, Debug)]
pub(super) struct Points<'a> {
    places: Vec<Place<'a>>,
    corrections: &'a Corrections,
}

/// What one point shows.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    /// The position of the flow.
    at: usize,
    point: u16,
    flow: &'a Flow,
    passages: Option<&'a [Passages; 2]>,
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
    type Identity = ([SocketAddr; 2], Option<u32>, usize);
    let mut groups: BTreeMap<Identity, Points<'_>> = BTreeMap::new();
    let mut seen: BTreeMap<(u16, [SocketAddr; 2], Option<u32>), usize> = BTreeMap::new();
    for (at, (point, flow)) in tracker.flows.iter().enumerate() {
        let initial = flow.halves[0].initial_sequence();
        // Without the SYN, the n-th flow between two ports at one point is the n-th at another.
        let nth = seen.entry((*point, flow.ends, initial)).and_modify(|count| *count += 1).or_default();
        let place = Place { at, point: *point, flow, passages: tracker.passages.as_ref().map(|all| &all[at]) };
        let group = groups.entry((flow.ends, initial, *nth));
        group.or_insert_with(|| Points { places: Vec::new(), corrections }).places.push(place);
    }
    let mut groups: Vec<Points<'_>> = groups.into_values().collect();
    groups.iter_mut().for_each(Points::order);
    groups.sort_by_key(Points::first_time);
    groups
}

impl Shared for Points<'_> {
    fn points(&self) -> Vec<u16> {
        self.places.iter().map(|place| place.point).collect()
    }

    fn between(&self, end: usize, points: [u16; 2]) -> Vec<(bool, [u64; 2])> {
        let [first, second] = points.map(|point| self.places.iter().position(|place| place.point == point));
        let (Some(first), Some(second)) = (first, second) else { return Vec::new() };
        let (Some(here), Some(there)) = (self.places[first].passages, self.places[second].passages) else {
            return Vec::new();
        };
        let is_from_first = (first < second) == (end == 0);
        here[end].matched(&there[end]).into_iter().map(|times| (is_from_first, times)).collect()
    }
}

impl<'a> Points<'a> {
    /// Between SYN and SYN/ACK passes the way to end 1 and back: the longer, the nearer is the point to end 0, whatever
    /// its clock says. Without a handshake the times of the first packets decide.
    fn order(&mut self) {
        let beyond = |place: &Place<'_>| {
            let handshake = &place.flow.handshake;
            handshake.syn_ack?.checked_sub(handshake.syn?)
        };
        let intervals: Vec<Option<u64>> = self.places.iter().map(beyond).collect();
        if intervals.iter().all(|interval| interval.is_some()) {
            self.places.sort_by_key(|place| Reverse(beyond(place)));
        } else {
            let corrections = self.corrections;
            let first = |place: &Place<'_>| {
                place.flow.halves[0].first_time.map_or(u64::MAX, |time| corrections.corrected(place.point, time))
            };
            self.places.sort_by_key(first);
        }
    }

    /// What one of the points shows.
    pub(super) fn first(&self) -> &'a Flow {
        self.places[0].flow
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

    pub(super) fn member(&self) -> Option<Member> {
        self.places.iter().find_map(|place| place.flow.member)
    }

    /// The packets with data that the end `end` sent, if they are kept.
    pub(super) fn traced(&self, end: usize) -> Option<&'a Traced> {
        self.places[self.place_of_sender(end)].flow.traced.as_ref().map(|ends| &ends[end])
    }

    /// The positions of its connection at each point.
    pub(super) fn connections(&self) -> impl Iterator<Item = usize> + '_ {
        self.places.iter().filter_map(|place| Some(place.flow.member?.connection))
    }

    /// Whether the flow at a position is what one of the points shows.
    pub(super) fn has(&self, at: usize) -> bool {
        self.places.iter().any(|place| place.at == at)
    }

    fn place_of_sender(&self, end: usize) -> usize {
        if end == 0 { 0 } else { self.places.len() - 1 }
    }

    /// The position of its connection at the point nearest to the end `end`.
    pub(super) fn connection_of_sender(&self, end: usize) -> Option<usize> {
        Some(self.places[self.place_of_sender(end)].flow.member?.connection)
    }

    /// What the point nearest to the end `end` shows of what that sent.
    pub(super) fn sender(&self, end: usize) -> &'a Half {
        &self.places[self.place_of_sender(end)].flow.halves[end]
    }

    /// What the point nearest to the other end shows of it, if that is another.
    pub(super) fn receiver(&self, end: usize) -> Option<&'a Half> {
        (self.places.len() > 1).then(|| &self.places[self.place_of_sender(1 - end)].flow.halves[end])
    }

    /// Whether the times of its points can be compared.
    pub(super) fn has_one_clock(&self) -> bool {
        let ends = [0, 1].map(|end| self.places[self.place_of_sender(end)].point);
        self.places.len() > 1 && self.corrections.are_comparable(ends)
    }

    /// The one-way delays of the end `end`'s packets, if there are two points.
    pub(super) fn delays(&self, end: usize) -> Option<Delays> {
        let [sender, receiver] = [end, 1 - end].map(|end| self.places[self.place_of_sender(end)]);
        if self.places.len() < 2 || !self.has_one_clock() {
            return None;
        }
        let mut times = sender.passages?[end].matched(&receiver.passages?[end]);
        for [sent, arrived] in &mut times {
            *sent = self.corrections.corrected(sender.point, *sent);
            *arrived = self.corrections.corrected(receiver.point, *arrived);
        }
        Delays::of(&times)
    }

    /// Whether the nearest point is at the sender, as far as the handshake tells.
    pub(super) fn is_at_sender(&self, end: usize) -> bool {
        self.places.len() > 1 || self.places[0].flow.is_near(end) != Some(false)
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
        self.corrections.corrected(self.places[self.place_of_sender(1 - end)].point, time)
    }

    /// A time at the point nearest to the end `end`, by the clock of the first file.
    pub(super) fn at_sender(&self, end: usize, time: u64) -> u64 {
        self.corrections.corrected(self.places[self.place_of_sender(end)].point, time)
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

    /// Packets of the end `end` that one point shows and the other does not.
    pub(super) fn lost(&self, end: usize) -> Option<u64> {
        Some(self.sender(end).packets.saturating_sub(self.receiver(end)?.packets))
    }
}
