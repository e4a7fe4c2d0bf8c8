//! What single points of capture show of TCP connections and subflows, which of them show the same one, and in which order
//! they are on the way.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::corrections::Corrections;
use crate::mptcp::Connection;
use crate::passages::{Passages, farther};
use crate::tcp::{Flow, Half};
use crate::tracker::Tracker;

/// Connections between the same ports that one without a SYN is compared with, at most.
const MOST_COMPARED: usize = 64;

/// What one point shows of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// The position of the flow.
    pub(super) at: usize,
    pub(super) point: u16,
    pub(super) flow: &'a Flow,
    passages: Option<&'a [Passages; 2]>,
    /// Whether its ends are the other way round: it has not shown who opened the flow.
    is_reversed: bool,
}

impl<'a> Place<'a> {
    /// What the end `end` of all places sent.
    pub(super) fn half(&self, end: usize) -> &'a Half {
        &self.flow.halves[self.end(end)]
    }

    pub(super) fn passages(&self, end: usize) -> Option<&'a Passages> {
        self.passages.map(|both| &both[self.end(end)])
    }

    /// The number that the end `end` of all places has in its flow.
    pub(super) fn end(&self, end: usize) -> usize {
        end ^ usize::from(self.is_reversed)
    }

    /// Whether it shows the SYN.
    pub(super) fn has_begin(&self) -> bool {
        self.flow.halves[0].initial_sequence().is_some()
    }

    /// The position of its MPTCP connection, and the number that the end `end` of all places has in that.
    pub(super) fn connection(&self, end: usize) -> Option<(usize, usize)> {
        let member = self.flow.member?;
        Some((member.connection, self.end(end) ^ usize::from(member.is_reversed)))
    }

    /// Whether its point knows the keys of its MPTCP connection.
    pub(super) fn has_keys(&self, connections: &[(u16, Connection)]) -> bool {
        self.flow.member.is_some_and(|member| connections[member.connection].1.version.is_some())
    }

    /// The times of packets of each end here and at another place.
    fn matched(&self, other: &Self) -> [Vec<[u64; 2]>; 2] {
        [0, 1].map(|end| self.passages(end).zip(other.passages(end)).map_or_else(Vec::new, |(a, b)| a.matched(b)))
    }
}

/// The places that show one flow, those of each together. Flows are told apart by the number of their SYN. One whose SYN a
/// point does not show is that which has packets in common with it; without any, the n-th flow between two ports at one
/// point is the n-th at another.
pub(super) fn together(tracker: &Tracker) -> Vec<Vec<Place<'_>>> {
    type Identity = ([SocketAddr; 2], Option<u32>, usize);
    let mut groups: Vec<Vec<Place<'_>>> = Vec::new();
    let mut known: BTreeMap<Identity, usize> = BTreeMap::new();
    let mut seen: BTreeMap<(u16, [SocketAddr; 2], Option<u32>), usize> = BTreeMap::new();
    let mut same_ports: BTreeMap<[SocketAddr; 2], Vec<usize>> = BTreeMap::new();
    let place = |at: usize, is_reversed: bool| {
        let (point, flow) = &tracker.flows[at];
        Place { at, point: *point, flow, passages: tracker.passages.as_ref().map(|all| &all[at]), is_reversed }
    };
    let (begun, others): (Vec<usize>, Vec<usize>) =
        (0..tracker.flows.len()).partition(|&at| tracker.flows[at].1.halves[0].initial_sequence().is_some());
    for at in begun.into_iter().chain(others) {
        let (point, flow) = &tracker.flows[at];
        let [a, b] = flow.ends;
        let initial = flow.halves[0].initial_sequence();
        let candidates = same_ports.entry([a.min(b), a.max(b)]).or_default();
        let found = candidates.iter().take(MOST_COMPARED).filter(|_| initial.is_none()).find_map(|&group| {
            let places: &[Place<'_>] = &groups[group];
            let place = place(at, places[0].flow.ends != flow.ends);
            let is_another = places.iter().all(|other| other.point != *point);
            let is_same = is_another && places.iter().any(|other| place.matched(other).iter().any(|it| !it.is_empty()));
            is_same.then_some((group, place))
        });
        if let Some((group, place)) = found {
            groups[group].push(place);
            continue;
        }
        let nth = seen.entry((*point, flow.ends, initial)).and_modify(|count| *count += 1).or_default();
        let group = *known.entry((flow.ends, initial, *nth)).or_insert_with(|| {
            groups.push(Vec::new());
            candidates.push(groups.len() - 1);
            groups.len() - 1
        });
        groups[group].push(place(at, false));
    }
    groups
}

/// Puts places in the order from end 0 to end 1. Between SYN and SYN/ACK passes the way to end 1 and back: the longer, the
/// nearer is the point to end 0, whatever its clock says. Without a handshake at each point, packets of both ends tell it;
/// without those, the times of the first packets.
pub(super) fn order(places: &mut [Place<'_>], corrections: &Corrections) {
    let beyond = |place: &Place<'_>| {
        let handshake = &place.flow.handshake;
        handshake.syn_ack?.checked_sub(handshake.syn?)
    };
    if places.iter().all(|place| beyond(place).is_some()) {
        places.sort_by_key(|place| Reverse(beyond(place)));
        return;
    }
    let Some(&first) = places.first() else { return };
    let distance = |place: &Place<'_>| if place.at == first.at { Some(0) } else { farther(&first.matched(place)) };
    let distances: Option<BTreeMap<usize, i128>> =
        places.iter().map(|place| Some((place.at, distance(place)?))).collect();
    let time =
        |place: &Place<'_>| place.half(0).first_time.map_or(u64::MAX, |time| corrections.corrected(place.point, time));
    match distances {
        Some(distances) => places.sort_by_key(|place| distances[&place.at]),
        None => places.sort_by_key(time),
    }
}
