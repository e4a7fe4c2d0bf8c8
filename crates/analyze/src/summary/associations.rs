//! SCTP associations as the points of capture show them, and their rows.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::clocks::Shared;
use super::corrections::Corrections;
use super::points::Delays;
use super::rows::{ms, seconds};
use super::{BEGAN_LATER, ConnectionRow, DirectionRow, SubflowRow, Summary, note_list};
use crate::passages::farther;
use crate::sctp::{Association, Path, PathHalf};
use crate::tracker::Tracker;

/// What each point shows of one association: the points in the order from its end 0 to its end 1.
#[derive(Clone, Debug)]
pub(super) struct Associations<'a> {
    /// Those with its begin; all if there are none.
    places: Vec<Place<'a>>,
    /// Also those that began later.
    all: Vec<Place<'a>>,
}

/// What one point shows.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    point: u16,
    association: &'a Association,
    /// Whether its ends are the other way round: it has not shown who opened the association.
    is_reversed: bool,
}

impl<'a> Place<'a> {
    /// The number that the end `end` of all places has in its association.
    fn end(&self, end: usize) -> usize {
        end ^ usize::from(self.is_reversed)
    }

    /// What the end `end` of all places sent on a path of the association.
    fn sent(&self, path: &'a Path, end: usize) -> &'a PathHalf {
        &path.sent[self.end(end)]
    }

    /// The ends of a path of the association, in the order of all places.
    fn ends(&self, path: &Path) -> [SocketAddr; 2] {
        [0, 1].map(|end| path.ends[self.end(end)])
    }

    fn path_between(&self, ends: [SocketAddr; 2]) -> Option<&'a Path> {
        self.association.paths.iter().find(|path| self.ends(path) == ends)
    }

    /// The times of packets of the end `end` here and at another place.
    fn matched(&self, other: &Place<'_>, end: usize) -> Vec<[u64; 2]> {
        let both = self.association.paths.iter().filter_map(|path| Some((path, other.path_between(self.ends(path))?)));
        both.flat_map(|(here, there)| self.sent(here, end).passages.matched(&other.sent(there, end).passages)).collect()
    }

    fn packets(&self, end: usize) -> u64 {
        self.association.paths.iter().map(|path| self.sent(path, end).packets).sum()
    }
}

/// The associations of all points; those that several points show have the same tags.
pub(super) fn grouped(tracker: &Tracker) -> Vec<Associations<'_>> {
    let mut groups: BTreeMap<([Option<u32>; 2], usize), Vec<Place<'_>>> = BTreeMap::new();
    let all = || tracker.associations.iter().enumerate();
    let has_begin = |(_, (_, association)): &(usize, &(u16, Association))| association.handshake.init.is_some();
    let (begun, others) = (all().filter(has_begin), all().filter(|it| !has_begin(it)));
    for (at, (point, association)) in begun.chain(others) {
        let [a, b] = association.tags;
        let unique = if association.tags.contains(&None) { at + 1 } else { 0 };
        let group = groups.entry(([a.min(b), a.max(b)], unique)).or_default();
        let is_reversed = group.first().is_some_and(|first| first.association.tags != association.tags);
        group.push(Place { point: *point, association, is_reversed });
    }
    groups.into_values().map(Associations::of).collect()
}

/// The handshake tells which end a point is near; without it, packets of both ends, or where more of them were captured.
fn order(places: &mut [Place<'_>]) {
    let nearest = |place: &Place<'_>| place.association.nearest_end().map(|end| place.end(end));
    let distances: Option<BTreeMap<u16, i128>> = places.first().copied().and_then(|first| {
        let distance = |place: &Place<'_>| {
            let matched = [0, 1].map(|end| first.matched(place, end));
            if place.point == first.point { Some(0) } else { farther(&matched) }
        };
        places.iter().map(|place| Some((place.point, distance(place)?))).collect()
    });
    match distances.filter(|_| places.iter().any(|place| nearest(place).is_none())) {
        Some(distances) => places.sort_by_key(|place| distances[&place.point]),
        None => places.sort_by_key(|place| {
            let sent_more = place.packets(1).cast_signed() - place.packets(0).cast_signed();
            (nearest(place).unwrap_or(0), sent_more)
        }),
    }
}

impl Shared for Associations<'_> {
    fn points(&self) -> Vec<u16> {
        self.all.iter().map(|place| place.point).collect()
    }

    fn between(&self, end: usize, points: [u16; 2]) -> Vec<(bool, [u64; 2])> {
        let [first, second] = points.map(|point| self.all.iter().position(|place| place.point == point));
        let (Some(first), Some(second)) = (first, second) else { return Vec::new() };
        let is_from_first = (first < second) == (end == 0);
        let matched = self.all[first].matched(&self.all[second], end);
        matched.into_iter().map(|times| (is_from_first, times)).collect()
    }
}

impl<'a> Associations<'a> {
    fn of(mut all: Vec<Place<'a>>) -> Self {
        order(&mut all);
        let begun = all.iter().copied().filter(|place| place.association.handshake.init.is_some());
        let begun: Vec<Place<'a>> = begun.collect();
        Self { places: if begun.is_empty() { all.clone() } else { begun }, all }
    }

    /// The point nearest to the end `end`.
    fn nearest_to(&self, end: usize) -> &Place<'a> {
        &self.places[if end == 0 { 0 } else { self.places.len() - 1 }]
    }

    pub(super) fn first_time(&self, corrections: &Corrections) -> u64 {
        let times = self.places.iter().map(|place| corrections.corrected(place.point, place.association.first_time));
        times.min().unwrap_or(0)
    }

    /// The one-way delays of the end `end`'s packets on a path, if there are two points.
    fn delays(&self, ends: [SocketAddr; 2], end: usize, corrections: &Corrections) -> Option<Delays> {
        let (first, last) = (self.all.first()?, self.all.last()?);
        let (sender, receiver) = if end == 0 { (first, last) } else { (last, first) };
        if self.all.len() < 2 || !corrections.are_comparable([sender.point, receiver.point]) {
            return None;
        }
        let [sent, arrived] = [sender, receiver].map(|place| Some(place.sent(place.path_between(ends)?, end)));
        let mut times = sent?.passages.matched(&arrived?.passages);
        for [sent, arrived] in &mut times {
            *sent = corrections.corrected(sender.point, *sent);
            *arrived = corrections.corrected(receiver.point, *arrived);
        }
        Delays::of(&times)
    }

    fn has_one_clock(&self, corrections: &Corrections) -> bool {
        self.places.len() > 1 && corrections.are_comparable([0, 1].map(|end| self.nearest_to(end).point))
    }

    /// Whether what a point shows of the end `end` is complete.
    fn is_at_sender(&self, end: usize) -> bool {
        let only = &self.places[0];
        self.places.len() > 1 || only.association.nearest_end().is_none_or(|nearest| nearest == only.end(end))
    }

    /// Packets of the end `end` on a path that one point shows and the other does not, if both were capturing all the time.
    fn lost(&self, ends: [SocketAddr; 2], end: usize, corrections: &Corrections) -> Option<u64> {
        let both = [end, 1 - end].map(|near| self.nearest_to(near));
        let [sent, arrived] = both.map(|place| Some(place.sent(place.path_between(ends)?, end).packets));
        let times = both.map(|it| (it.point, [it.association.first_time, it.association.last_time]));
        let is_known = self.places.len() > 1 && corrections.were_capturing(times);
        is_known.then_some(sent?.saturating_sub(arrived?))
    }

    /// When the last data of the end `end` arrived.
    fn completed(&self, end: usize, corrections: &Corrections) -> Option<u64> {
        let [sender, receiver] = [end, 1 - end].map(|near| self.nearest_to(near));
        let arrived = receiver.association.data[receiver.end(end)].last_new;
        let arrived = arrived.filter(|_| self.has_one_clock(corrections));
        let chunks = &sender.association.data[sender.end(end)];
        let shown = chunks.last_acknowledged.or(chunks.last_new);
        let arrived = arrived.map(|time| corrections.corrected(receiver.point, time));
        arrived.or(shown.map(|time| corrections.corrected(sender.point, time)))
    }

    /// The ends of all paths, those of the first point first.
    fn paths(&self) -> Vec<[SocketAddr; 2]> {
        let mut paths: Vec<[SocketAddr; 2]> = Vec::new();
        for ends in self.places.iter().flat_map(|place| place.association.paths.iter().map(|path| place.ends(path))) {
            if !paths.contains(&ends) {
                paths.push(ends);
            }
        }
        paths
    }
}

impl Summary {
    pub(super) fn add_sctp(&mut self, begin: u64, points: &Associations<'_>, corrections: &Corrections) {
        let number = self.connections.len() + 1;
        let mut directions = <[DirectionRow; 2]>::default();
        for (end, direction) in directions.iter_mut().enumerate() {
            let sender = points.nearest_to(end);
            let chunks = &sender.association.data[sender.end(end)];
            direction.packets = sender.packets(end);
            direction.bytes = chunks.bytes;
            direction.retransmissions = chunks.retransmissions;
            direction.timeouts = sender.association.paths.iter().map(|path| sender.sent(path, end).timeouts).sum();
            let done = points.completed(end, corrections);
            direction.finish(begin, done.filter(|_| chunks.bytes > 0), self.origin);
        }
        let association = points.places[0].association;
        let paths = points.paths();
        let mut sent = Vec::new();
        for (at, &ends) in paths.iter().enumerate() {
            for end in [0, 1] {
                let sender = points.nearest_to(end);
                let elsewhere = || points.places.iter().find_map(|place| Some((place, place.path_between(ends)?)));
                let shown = sender.path_between(ends).map(|path| (sender, path)).or_else(elsewhere);
                let Some((place, path)) = shown.filter(|(place, path)| place.sent(path, end).data_packets > 0) else {
                    continue;
                };
                let is_at_sender = points.is_at_sender(end);
                let duration = directions[end].duration_s;
                let row = SubflowRow::of_path((number, at + 1), path, place.end(end), is_at_sender, duration);
                let handshake = if at == 0 { association.handshake.round_trip().map(ms) } else { None };
                let has_sacks = sender.association.data[sender.end(end)].last_acknowledged.is_some();
                let most_in_flight = row.most_in_flight.filter(|_| has_sacks);
                let lost = points.lost(ends, end, corrections);
                let delays = points.delays(ends, end, corrections);
                let row = SubflowRow { handshake_ms: handshake, most_in_flight, lost, ..row };
                self.subflows.push(row.with_delays(delays));
                let name = format!("{}-{}", ends[end], ends[1 - end]);
                sent.push((name.clone(), &place.sent(path, end).over_time));
                let traced = path.traced.iter().flat_map(|both| both[place.end(end)].sequences(number, &name));
                self.sequences.extend(traced);
            }
        }
        let name = |end: usize| paths.first().map(|ends| ends[end].to_string()).unwrap_or_default();
        let is_late = points.all.len() > points.places.len();
        let notes = [
            if association.handshake.init.is_some() { "" } else { "its INIT was not captured" },
            if is_late { BEGAN_LATER } else { "" },
        ];
        let row = ConnectionRow {
            number,
            protocol: "sctp",
            client: name(0),
            server: name(1),
            subflows: paths.len(),
            start_s: seconds(begin, self.origin),
            outcome: association.outcome(),
            notes: note_list(notes),
            directions,
        };
        row.show(&mut self.seen, &sent, self.origin);
        self.connections.push(row);
    }
}
