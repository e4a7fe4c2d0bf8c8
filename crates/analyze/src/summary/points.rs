//! The points of capture that show one TCP connection or subflow.
//!
//! Of a direction, what the point nearest to its sender shows is complete: packets that are lost behind it are in it.
//! Nearest is the point that saw the direction's first packet first. When data has arrived is known at the other point;
//! with a single one, which its handshake places near one end, acknowledgments tell it half a round trip later.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::tcp::{Flow, Half, Member};
use crate::tracker::Tracker;

/// Two captures have one clock if the first packet takes at most this long from one to the other, in nanoseconds.
const LONGEST_WAY: u64 = 2_000_000_000;

/// What each point shows of one flow.
#[derive(Clone, Debug)]
pub(super) struct Points<'a> {
    flows: Vec<&'a Flow>,
}

/// The flows of all points, those of one connection together, in the order of their first packets.
pub(super) fn grouped(tracker: &Tracker) -> Vec<Points<'_>> {
    type Identity = ([SocketAddr; 2], Option<u32>, usize);
    let mut groups: BTreeMap<Identity, Points<'_>> = BTreeMap::new();
    let mut seen: BTreeMap<(u16, [SocketAddr; 2], Option<u32>), usize> = BTreeMap::new();
    for (point, flow) in &tracker.flows {
        let initial = flow.halves[0].initial_sequence();
        // Without the SYN, the n-th flow between two ports at one point is the n-th at another.
        let nth = seen.entry((*point, flow.ends, initial)).and_modify(|count| *count += 1).or_default();
        groups.entry((flow.ends, initial, *nth)).or_insert_with(|| Points { flows: Vec::new() }).flows.push(flow);
    }
    let mut groups: Vec<Points<'_>> = groups.into_values().collect();
    groups.sort_by_key(Points::first_time);
    groups
}

impl<'a> Points<'a> {
    /// What one of the points shows.
    pub(super) fn first(&self) -> &'a Flow {
        self.flows[0]
    }

    /// When its first packet was captured, in nanoseconds.
    pub(super) fn first_time(&self) -> u64 {
        self.flows.iter().map(|flow| flow.first_time).min().unwrap_or(0)
    }

    pub(super) fn is_opening_known(&self) -> bool {
        self.flows.iter().any(|flow| flow.handshake.syn.is_some() || flow.handshake.syn_ack.is_some())
    }

    pub(super) fn member(&self) -> Option<Member> {
        self.flows.iter().find_map(|flow| flow.member)
    }

    /// The positions of its connection at each point.
    pub(super) fn connections(&self) -> impl Iterator<Item = usize> + '_ {
        self.flows.iter().filter_map(|flow| Some(flow.member?.connection))
    }

    /// The place, in the order of points, of the one nearest to the end `end`.
    pub(super) fn position_of_sender(&self, end: usize) -> usize {
        let first = |&at: &usize| self.flows[at].halves[end].first_time.unwrap_or(u64::MAX);
        (0..self.flows.len()).min_by_key(first).unwrap_or(0)
    }

    /// What the point nearest to the end `end` shows of what that sent.
    pub(super) fn sender(&self, end: usize) -> &'a Half {
        &self.flows[self.position_of_sender(end)].halves[end]
    }

    /// What another point shows of it, if there is one.
    pub(super) fn receiver(&self, end: usize) -> Option<&'a Half> {
        let sender = self.position_of_sender(end);
        let others = (0..self.flows.len()).filter(|&at| at != sender);
        let last = others.max_by_key(|&at| self.flows[at].halves[end].first_time)?;
        Some(&self.flows[last].halves[end])
    }

    /// Whether the times of two points can be compared.
    pub(super) fn has_one_clock(&self) -> bool {
        let Some(receiver) = self.receiver(0).and_then(|half| half.first_time) else { return false };
        self.sender(0).first_time.is_some_and(|sent| receiver.saturating_sub(sent) <= LONGEST_WAY)
    }

    /// Whether the nearest point is at the sender, as far as the handshake tells.
    pub(super) fn is_at_sender(&self, end: usize) -> bool {
        self.flows.len() > 1 || self.flows[0].is_near(end) != Some(false)
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
        self.flows.iter().find_map(|flow| flow.handshake.round_trip())
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
            return receiver.last_new;
        }
        if !self.is_at_sender(end) {
            return half.last_new;
        }
        half.last_acknowledged.map(|time| time.saturating_sub(self.one_way(end))).or(half.last_new)
    }

    /// Packets of the end `end` that one point shows and the other does not.
    pub(super) fn lost(&self, end: usize) -> Option<u64> {
        Some(self.sender(end).packets.saturating_sub(self.receiver(end)?.packets))
    }
}
