//! Datagrams between two UDP ports as the points of capture show them, and their rows.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::clocks::Shared;
use super::corrections::Corrections;
use super::points::Delays;
use super::rows::seconds;
use super::{DirectionRow, Summary};
use crate::datagrams::{self, SentDatagrams};
use crate::summary::{ConnectionRow, SubflowRow};
use crate::tracker::Tracker;

/// What each point shows of the datagrams between two ports: the points in the order from end 0 of the first to its end 1.
#[derive(Clone, Debug)]
pub(super) struct Datagrams<'a> {
    ends: [SocketAddr; 2],
    places: Vec<Place<'a>>,
    /// Whether datagrams of both ends tell the order.
    is_ordered: bool,
}

/// What one point shows, by the ends of all.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    point: u16,
    first_time: u64,
    sent: [&'a SentDatagrams; 2],
}

/// The datagrams of all points, those between the same ports together.
pub(super) fn grouped<'a>(tracker: &'a Tracker, corrections: &Corrections) -> Vec<Datagrams<'a>> {
    let mut groups: BTreeMap<[SocketAddr; 2], Vec<(u16, &datagrams::Datagrams)>> = BTreeMap::new();
    for (point, datagrams) in &tracker.datagrams {
        let [a, b] = datagrams.ends;
        groups.entry([a.min(b), a.max(b)]).or_default().push((*point, datagrams));
    }
    let of_group = |group: Vec<(u16, &'a datagrams::Datagrams)>| {
        let first = group.iter().min_by_key(|(point, it)| corrections.corrected(*point, it.first_time))?.1;
        let place = |&(point, shown): &(u16, &'a datagrams::Datagrams)| {
            let sent = [0, 1].map(|end| shown.as_in(first, end));
            Place { point, first_time: corrections.corrected(point, shown.first_time), sent }
        };
        let mut places = group.iter().map(place).collect::<Vec<_>>();
        let is_ordered = order(&mut places, corrections);
        Some(Datagrams { ends: first.ends, places, is_ordered })
    };
    groups.into_values().filter_map(of_group).collect()
}

/// Puts points in the order from end 0 to end 1, and returns whether datagrams of both ends tell it, whatever the clocks
/// say. Else the times of those of one end decide, if the clocks were compared, or where more of them were captured.
fn order(places: &mut [Place<'_>], corrections: &Corrections) -> bool {
    let Some(&first) = places.first() else { return true };
    let mut is_certain = true;
    let mut distance = |place: &Place<'_>| {
        if place.point == first.point {
            return 0;
        }
        let later = |[here, there]: [u64; 2]| i128::from(there) - i128::from(here);
        let smallest = |end: usize| times(&first, place, end, corrections).into_iter().map(later).min();
        match (smallest(0), smallest(1)) {
            (Some(forth), Some(back)) => return forth - back,
            _ if !corrections.are_comparable([first.point, place.point]) => {}
            (Some(forth), None) => return forth,
            (None, Some(back)) => return -back,
            (None, None) => {}
        }
        is_certain = false;
        0
    };
    let distances: BTreeMap<u16, i128> = places.iter().map(|place| (place.point, distance(place))).collect();
    let sent_more = |place: &Place<'_>| place.sent[1].packets.cast_signed() - place.sent[0].packets.cast_signed();
    places.sort_by_key(|place| (distances[&place.point], sent_more(place), place.first_time));
    is_certain
}

/// The times at two points of datagrams of the end `end`, by the clock of the first file.
fn times(here: &Place<'_>, there: &Place<'_>, end: usize, corrections: &Corrections) -> Vec<[u64; 2]> {
    let matched = here.sent[end].passages.matched(&there.sent[end].passages);
    let corrected =
        |[at, later]: [u64; 2]| [corrections.corrected(here.point, at), corrections.corrected(there.point, later)];
    matched.into_iter().map(corrected).collect()
}

impl Shared for Datagrams<'_> {
    fn points(&self) -> Vec<u16> {
        self.places.iter().map(|place| place.point).collect()
    }

    /// None if their own times do not tell which point is nearer.
    fn between(&self, end: usize, points: [u16; 2]) -> Vec<(bool, [u64; 2])> {
        let [first, second] = points.map(|point| self.places.iter().position(|place| place.point == point));
        let (Some(first), Some(second), true) = (first, second, self.is_ordered) else { return Vec::new() };
        let matched = self.places[first].sent[end].passages.matched(&self.places[second].sent[end].passages);
        matched.into_iter().map(|times| ((first < second) == (end == 0), times)).collect()
    }
}

impl<'a> Datagrams<'a> {
    /// When the first one was captured, by the clock of the first file.
    pub(super) fn first_time(&self) -> u64 {
        self.places.iter().map(|place| place.first_time).min().unwrap_or(0)
    }

    /// The point nearest to the end `end`.
    fn place(&self, end: usize) -> Place<'a> {
        self.places[if end == 0 { 0 } else { self.places.len() - 1 }]
    }

    /// When the last one of the end `end` arrived, or left if the clocks do not tell that.
    fn completed(&self, end: usize, corrections: &Corrections) -> u64 {
        let [sender, receiver] = [self.place(end), self.place(1 - end)];
        let is_known = receiver.sent[end].packets > 0 && corrections.are_comparable([sender.point, receiver.point]);
        let place = if is_known { receiver } else { sender };
        corrections.corrected(place.point, place.sent[end].last_time)
    }

    /// The one-way delays of the end `end`'s datagrams, if there are two points.
    fn delays(&self, end: usize, corrections: &Corrections) -> Option<Delays> {
        let [sender, receiver] = [self.place(end), self.place(1 - end)];
        if self.places.len() < 2 || !corrections.are_comparable([sender.point, receiver.point]) {
            return None;
        }
        Delays::of(&times(&sender, &receiver, end, corrections))
    }
}

impl Summary {
    /// A row of connections; and with several points a row for each direction, of what the one has and the other has not.
    pub(super) fn add_udp(&mut self, datagrams: &Datagrams<'_>, corrections: &Corrections) {
        let number = self.connections.len() + 1;
        let begin = datagrams.first_time();
        let ends = datagrams.ends;
        let mut directions = <[DirectionRow; 2]>::default();
        let mut sent = Vec::new();
        for (end, direction) in directions.iter_mut().enumerate() {
            let [left, arrived] = [end, 1 - end].map(|near| datagrams.place(near).sent[end]);
            let packets = left.packets.max(arrived.packets);
            if packets == 0 {
                continue;
            }
            *direction = DirectionRow { packets, bytes: arrived.bytes, ..DirectionRow::default() };
            direction.finish(begin, Some(datagrams.completed(end, corrections)), self.origin);
            let [from, to] = [end, 1 - end].map(|end| ends[end].to_string());
            let name = format!("{from}-{to}");
            sent.push((name, &left.over_time));
            if datagrams.places.len() > 1 {
                let row = SubflowRow {
                    connection: number,
                    subflow: 1,
                    from,
                    to,
                    packets,
                    data_packets: packets,
                    bytes: arrived.bytes,
                    goodput_mbps: direction.goodput_mbps,
                    lost: Some(packets - arrived.packets),
                    ..SubflowRow::default()
                };
                self.subflows.push(row.with_delays(datagrams.delays(end, corrections)));
            }
        }
        let row = ConnectionRow {
            number,
            protocol: "udp",
            client: ends[0].to_string(),
            server: ends[1].to_string(),
            subflows: 1,
            start_s: seconds(begin, self.origin),
            outcome: "",
            notes: Vec::new(),
            directions,
        };
        row.show(&mut self.seen, &sent, self.origin);
        self.connections.push(row);
    }
}
