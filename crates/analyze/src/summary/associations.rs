//! SCTP associations as the points of capture show them, and their rows.

use std::collections::BTreeMap;

use super::clocks::Shared;
use super::corrections::Corrections;
use super::points::Delays;
use super::rows::ms;
use super::{DirectionRow, Summary, note_list};
use crate::sctp::{Association, Path};
use crate::summary::rows::seconds;
use crate::summary::{ConnectionRow, SubflowRow};
use crate::tracker::Tracker;

/// What each point shows of one association: the points in the order from its end 0 to its end 1.
#[derive(Clone, Debug)]
pub(super) struct Associations<'a> {
    places: Vec<(u16, &'a Association)>,
}

/// The associations of all points; those that several points show have the same tags.
pub(super) fn grouped(tracker: &Tracker) -> Vec<Associations<'_>> {
    let mut groups: BTreeMap<([Option<u32>; 2], usize), Associations<'_>> = BTreeMap::new();
    for (at, (point, association)) in tracker.associations.iter().enumerate() {
        let unique = if association.tags.contains(&None) { at + 1 } else { 0 };
        let group = groups.entry((association.tags, unique));
        group.or_insert_with(|| Associations { places: Vec::new() }).places.push((*point, association));
    }
    let mut groups: Vec<Associations<'_>> = groups.into_values().collect();
    groups.iter_mut().for_each(Associations::order);
    groups
}

impl<'a> Associations<'a> {
    /// The handshake tells which end a point is near; else the point of a sender shows more of its packets.
    fn order(&mut self) {
        let packets = |association: &Association, end: usize| -> u64 {
            association.paths.iter().map(|path| path.sent[end].packets).sum()
        };
        self.places.sort_by_key(|(_, association)| {
            let sent_more = packets(association, 1).cast_signed() - packets(association, 0).cast_signed();
            (association.nearest_end().unwrap_or(0), sent_more)
        });
    }

    /// The point nearest to the end `end`.
    fn place(&self, end: usize) -> (u16, &'a Association) {
        self.places[if end == 0 { 0 } else { self.places.len() - 1 }]
    }

    pub(super) fn first_time(&self, corrections: &Corrections) -> u64 {
        let times = self.places.iter().map(|(point, it)| corrections.corrected(*point, it.first_time));
        times.min().unwrap_or(0)
    }

    /// The one-way delays of the end `end`'s packets on a path, if there are two points.
    fn delays(&self, path: &Path, end: usize, corrections: &Corrections) -> Option<Delays> {
        if self.places.len() < 2 || !self.has_one_clock(corrections) {
            return None;
        }
        let [sender, receiver] = [self.place(end), self.place(1 - end)];
        let arrivals = &path_of(receiver.1, path)?.sent[end].passages;
        let mut times = path.sent[end].passages.matched(arrivals);
        for [sent, arrived] in &mut times {
            *sent = corrections.corrected(sender.0, *sent);
            *arrived = corrections.corrected(receiver.0, *arrived);
        }
        Delays::of(&times)
    }

    fn has_one_clock(&self, corrections: &Corrections) -> bool {
        corrections.are_comparable([self.place(0).0, self.place(1).0])
    }

    /// Whether what a point shows of the end `end` is complete.
    fn is_at_sender(&self, end: usize) -> bool {
        self.places.len() > 1 || self.places[0].1.nearest_end().is_none_or(|nearest| nearest == end)
    }
}

impl Shared for Associations<'_> {
    fn points(&self) -> Vec<u16> {
        self.places.iter().map(|(point, _)| *point).collect()
    }

    fn between(&self, end: usize, points: [u16; 2]) -> Vec<(bool, [u64; 2])> {
        let [first, second] = points.map(|point| self.places.iter().position(|(its, _)| *its == point));
        let (Some(first), Some(second)) = (first, second) else { return Vec::new() };
        let is_from_first = (first < second) == (end == 0);
        let paths = self.places[first].1.paths.iter();
        let both = paths.filter_map(|path| Some((path, path_of(self.places[second].1, path)?)));
        both.flat_map(|(here, there)| here.sent[end].passages.matched(&there.sent[end].passages))
            .map(|times| (is_from_first, times))
            .collect()
    }
}

/// The same path at another point.
fn path_of<'a>(association: &'a Association, path: &Path) -> Option<&'a Path> {
    association.paths.iter().find(|other| other.ends == path.ends)
}

impl Summary {
    pub(super) fn add_sctp(&mut self, begin: u64, points: &Associations<'_>, corrections: &Corrections) {
        let number = self.connections.len() + 1;
        let mut directions = <[DirectionRow; 2]>::default();
        for (end, direction) in directions.iter_mut().enumerate() {
            let [(sender_point, sender), (receiver_point, receiver)] = [points.place(end), points.place(1 - end)];
            let chunks = &sender.data[end];
            direction.packets = sender.paths.iter().map(|path| path.sent[end].packets).sum();
            direction.bytes = chunks.bytes;
            direction.retransmissions = chunks.retransmissions;
            direction.timeouts = sender.paths.iter().map(|path| path.sent[end].timeouts).sum();
            let arrived = receiver.data[end].last_new;
            let arrived = arrived.filter(|_| points.places.len() > 1 && points.has_one_clock(corrections));
            let arrived = arrived.map(|time| corrections.corrected(receiver_point, time));
            let shown = chunks.last_acknowledged.or(chunks.last_new);
            let done = arrived.or(shown.map(|time| corrections.corrected(sender_point, time)));
            direction.finish(begin, done.filter(|_| chunks.bytes > 0), self.origin);
        }
        let mut curves = Vec::new();
        let association = points.places[0].1;
        let all = association.paths.iter().chain(
            points.places[1..]
                .iter()
                .flat_map(|(_, other)| other.paths.iter().filter(|path| path_of(association, path).is_none())),
        );
        let mut count = 0;
        for (at, path) in all.enumerate() {
            count = at + 1;
            for end in [0, 1] {
                let (_, sender) = points.place(end);
                let shown = path_of(sender, path).unwrap_or(path);
                if shown.sent[end].data_packets == 0 {
                    continue;
                }
                let arrived = path_of(points.place(1 - end).1, path).filter(|_| points.places.len() > 1);
                let is_at_sender = points.is_at_sender(end);
                let row = SubflowRow::of_path((number, at + 1), shown, end, is_at_sender, directions[end].duration_s);
                let handshake = if at == 0 { association.handshake.round_trip().map(ms) } else { None };
                let lost = arrived.map(|it| shown.sent[end].packets.saturating_sub(it.sent[end].packets));
                let delays = points.delays(shown, end, corrections);
                self.subflows.push(SubflowRow { handshake_ms: handshake, lost, ..row }.with_delays(delays));
                let name = format!("{}-{}", path.ends[end], path.ends[1 - end]);
                curves.push((name.clone(), shown.sent[end].over_time.series(&name, self.origin)));
                let traced = shown.traced.iter().flat_map(|ends| ends[end].sequences(number, &name));
                self.sequences.extend(traced);
            }
        }
        let first = association.paths.first();
        let name = |end: usize| first.map(|path| path.ends[end].to_string()).unwrap_or_default();
        let row = ConnectionRow {
            number,
            protocol: "sctp",
            client: name(0),
            server: name(1),
            subflows: count,
            start_s: seconds(begin, self.origin),
            outcome: association.outcome(),
            notes: note_list([if association.handshake.init.is_some() { "" } else { "its INIT was not captured" }]),
            directions,
        };
        self.seen.add(row.shown_with(curves));
        self.connections.push(row);
    }
}
