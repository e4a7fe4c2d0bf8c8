//! Connections that leave the table: of them only totals are kept. Memory depends on how many are open at a time, and not
//! on the length of files.
//!
//! When [`MOST_FLOWS`] are followed, some leave until half of that remain. As the records of flow meters (RFC 5470,
//! section 5.1.1), first those that have ended do, of them those with least data; if more are open, then those that have
//! sent nothing for the longest time. The [`LARGEST`] connections with most data leave last.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::{MOST_FLOWS, Tracker};
use crate::datagrams::SentDatagrams;
use crate::exchanges;
use crate::mptcp;
use crate::positions::renumber;
use crate::sctp::Association;
use crate::tcp::{Flow, Half};
use crate::totals::{TotalRow, Totals, add};

/// Connections with most data, which leave last.
const LARGEST: usize = 1000;

/// Without a packet for so long a connection has ended, in nanoseconds: the times of Zeek (`tcp_close_delay`,
/// `tcp_attempt_delay`, `udp_inactivity_timeout`, `tcp_inactivity_timeout`).
mod silence {
    /// After both ends have finished, a reset or an abort; and of an attempt to connect without an answer.
    pub(super) const ENDED: u64 = 5_000_000_000;
    pub(super) const DATAGRAMS: u64 = 60_000_000_000;
    pub(super) const OPEN: u64 = 300_000_000_000;
}

/// What is followed, by numbers: flows, then associations, then pairs of UDP ports; and what leaves together: the subflows
/// of a connection, and what several points of capture show of one. Each has the number of another, or its own.
struct Groups(Vec<usize>);

/// What leaves together.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    followed: usize,
    is_open: bool,
    last_time: u64,
    bytes: u64,
}

impl Groups {
    fn of(tracker: &Tracker) -> Self {
        let (flows, associations) = (tracker.flows.len(), tracker.associations.len());
        let mut groups = Self((0..flows + associations + tracker.datagrams.len()).collect());
        let mut tokens = FxHashMap::default();
        for (_, connection) in &tracker.connections {
            let Some(&(first, _)) = connection.subflows.first() else { continue };
            connection.subflows.iter().for_each(|&(other, _)| groups.join(first, other));
            connection.tokens.iter().flatten().for_each(|&token| groups.join_same(&mut tokens, token, first));
        }
        if tracker.passages.is_some() {
            let sorted = |[a, b]: [std::net::SocketAddr; 2]| [a.min(b), a.max(b)];
            let (mut ports, mut tags, mut udp_ports) =
                (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
            for (at, (_, flow)) in tracker.flows.iter().enumerate() {
                groups.join_same(&mut ports, sorted(flow.ends), at);
            }
            for (at, (_, association)) in tracker.associations.iter().enumerate() {
                if let [Some(a), Some(b)] = association.tags {
                    groups.join_same(&mut tags, [a.min(b), a.max(b)], flows + at);
                }
            }
            for (at, (_, datagrams)) in tracker.datagrams.iter().enumerate() {
                groups.join_same(&mut udp_ports, sorted(datagrams.ends), flows + associations + at);
            }
        }
        groups
    }

    /// Joins one with that of the same key.
    fn join_same<K: Eq + Hash>(&mut self, known: &mut FxHashMap<K, usize>, key: K, at: usize) {
        let first = *known.entry(key).or_insert(at);
        self.join(first, at);
    }

    fn join(&mut self, a: usize, b: usize) {
        let [a, b] = [self.first(a), self.first(b)];
        self.0[a.max(b)] = a.min(b);
    }

    /// The number of the first of a group.
    fn first(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }
}

impl Tracker {
    /// Makes room by giving up connections at a time, of which totals stay.
    pub(super) fn fold(&mut self, now: u64) {
        let mut groups = Groups::of(self);
        let mut all = vec![Group::default(); groups.0.len()];
        for at in 0..all.len() {
            let (is_open, last_time, bytes) = self.state(at, now);
            let group = &mut all[groups.first(at)];
            group.followed += 1;
            group.is_open |= is_open;
            group.last_time = group.last_time.max(last_time);
            group.bytes += bytes;
        }
        let mut order: Vec<usize> = (0..all.len()).filter(|&at| all[at].followed > 0).collect();
        order.sort_by_key(|&at| Reverse(all[at].bytes));
        let smaller = order.split_off(order.len().min(LARGEST));
        let (largest, mut order) = (order, smaller);
        order.sort_by_key(|&at| {
            let Group { is_open, bytes, last_time, .. } = all[at];
            (is_open, if is_open { 0 } else { bytes }, last_time)
        });
        order.extend(largest.into_iter().rev());
        let mut remaining = all.len();
        let mut leaves = vec![false; all.len()];
        for at in order {
            if remaining <= MOST_FLOWS / 2 {
                break;
            }
            remaining -= all[at].followed;
            leaves[at] = true;
        }
        let leaves: Vec<Option<usize>> =
            (0..all.len()).map(|at| Some(groups.first(at)).filter(|&it| leaves[it])).collect();
        self.add_totals(&leaves, &all);
        self.keep(|at| leaves[at].is_none());
    }

    /// Whether one of those that are followed has not ended, when its last packet was captured, and its data.
    fn state(&self, at: usize, now: u64) -> (bool, u64, u64) {
        let (flows, associations) = (self.flows.len(), self.associations.len());
        let (silence, last_time, bytes) = if let Some((_, flow)) = self.flows.get(at) {
            let bytes = flow.halves.iter().map(Half::delivered).sum();
            let is_attempt = bytes == 0 && flow.halves.iter().any(|half| half.packets == 0);
            (if flow.is_closed() || is_attempt { silence::ENDED } else { silence::OPEN }, flow.last_time, bytes)
        } else if let Some((_, association)) = self.associations.get(at - flows) {
            let has_ended = association.is_aborted || association.is_shut_down;
            let bytes = association.data.iter().map(|data| data.bytes).sum();
            (if has_ended { silence::ENDED } else { silence::OPEN }, association.last_time, bytes)
        } else {
            let datagrams = &self.datagrams[at - flows - associations].1;
            (silence::DATAGRAMS, datagrams.last_time(), datagrams.sent.iter().map(|sent| sent.bytes).sum())
        };
        (now.saturating_sub(last_time) < silence, last_time, bytes)
    }

    /// Adds to the totals what leaves: of each its group, if it does. Of several points the one with most packets counts.
    fn add_totals(&mut self, leaves: &[Option<usize>], all: &[Group]) {
        let mut left = Totals::new();
        let mut shown: BTreeMap<(usize, u16), Vec<TotalRow>> = BTreeMap::new();
        let are_several = self.passages.is_some();
        self.each_that_leaves(leaves, |group, point, row| {
            let row = TotalRow { connections: 1, unfinished: all[group].is_open.into(), ..row };
            if are_several {
                shown.entry((group, point)).or_default().push(row);
            } else {
                add(&mut left, &row);
            }
        });
        let mut fullest: BTreeMap<usize, Vec<TotalRow>> = BTreeMap::new();
        let packets = |rows: &[TotalRow]| rows.iter().map(|row| row.packets).sum::<u64>();
        for ((group, _), rows) in shown {
            let known = fullest.entry(group).or_default();
            if packets(&rows) > packets(known) {
                *known = rows;
            }
        }
        fullest.values().flatten().for_each(|row| add(&mut left, row));
        left.values().for_each(|row| add(&mut self.totals, row));
    }

    /// The connections that leave, each with its group and its point of capture.
    fn each_that_leaves(&self, leaves: &[Option<usize>], mut show: impl FnMut(usize, u16, TotalRow)) {
        let (of_flows, others) = leaves.split_at(self.flows.len());
        let (of_associations, of_datagrams) = others.split_at(self.associations.len());
        for ((point, flow), group) in self.flows.iter().zip(of_flows) {
            let is_subflow = flow.member.is_some_and(|member| self.connections[member.connection].1.is_confirmed);
            if let Some(group) = group.filter(|_| !is_subflow) {
                show(group, *point, of_flow(flow));
            }
        }
        for (at, (point, connection)) in self.connections.iter().enumerate() {
            let first = connection.subflows.first().and_then(|&(first, _)| of_flows[first]);
            if let Some(group) = first.filter(|_| connection.is_confirmed) {
                show(group, *point, self.of_connection(at));
            }
        }
        for ((point, association), group) in self.associations.iter().zip(of_associations) {
            group.iter().for_each(|&group| show(group, *point, of_association(association)));
        }
        for ((point, datagrams), group) in self.datagrams.iter().zip(of_datagrams) {
            let sum = |of: fn(&SentDatagrams) -> u64| datagrams.sent.iter().map(of).sum();
            let (packets, bytes) = (sum(|sent| sent.packets), sum(|sent| sent.bytes));
            let row = TotalRow { protocol: "udp", packets, bytes, ..TotalRow::default() };
            group.iter().for_each(|&group| show(group, *point, row));
        }
    }

    /// An MPTCP connection with its subflows.
    fn of_connection(&self, at: usize) -> TotalRow {
        let connection = &self.connections[at].1;
        let flows = connection.subflows.iter().map(|&(at, _)| &self.flows[at].1);
        let mut row = TotalRow::default();
        flows.clone().for_each(|flow| row.add(&of_flow(flow)));
        let of_subflows = |end: usize| -> u64 {
            let ends = connection.subflows.iter().map(|&(at, is_reversed)| (at, end ^ usize::from(is_reversed)));
            ends.map(|(at, end)| self.flows[at].1.halves[end].delivered()).sum()
        };
        let data = &connection.data;
        let delivered = |end: usize| {
            if connection.is_plain(end) { of_subflows(end) } else { data[end].delivered() }
        };
        TotalRow {
            protocol: if connection.version == Some(0) { "mptcp v0" } else { "mptcp" },
            outcome: mptcp::outcome(flows.map(Flow::outcome)),
            bytes: delivered(0).saturating_add(delivered(1)),
            ..row
        }
    }

    /// Keeps what is to be kept of those that are followed; their order stays.
    fn keep(&mut self, is_kept: impl Fn(usize) -> bool) {
        let (flows, associations) = (self.flows.len(), self.associations.len());
        retain(&mut self.mappings, &is_kept);
        self.passages.iter_mut().for_each(|passages| drop(retain(passages, &is_kept)));
        let flow_at = retain(&mut self.flows, &is_kept);
        let association_at = retain(&mut self.associations, |at| is_kept(flows + at));
        let datagrams_at = retain(&mut self.datagrams, |at| is_kept(flows + associations + at));
        for (_, connection) in &mut self.connections {
            connection.subflows.retain_mut(|(at, _)| flow_at[*at].inspect(|new| *at = *new).is_some());
        }
        let has_subflows: Vec<bool> = self.connections.iter().map(|(_, it)| !it.subflows.is_empty()).collect();
        let connection_at = retain(&mut self.connections, |at| has_subflows[at]);
        for (_, flow) in &mut self.flows {
            if let Some(member) = &mut flow.member {
                member.connection = connection_at[member.connection].expect("its subflow is kept");
            }
        }
        renumber(&mut self.tcp_keys, |at| at, &flow_at);
        renumber(&mut self.udp_keys, |at| at, &datagrams_at);
        renumber(&mut self.tokens, |(at, _)| at, &connection_at);
        renumber(&mut self.sctp_keys, |(at, _)| at, &association_at);
        self.positions.renumber(&connection_at);
        let of_flows = self.flows.iter().map(|(_, flow)| flow.exchanges.all().len()).sum::<usize>();
        let of_connections = self.connections.iter().map(|(_, it)| it.exchanges.all().len()).sum::<usize>();
        self.exchanges_left = exchanges::MOST.saturating_sub(of_flows + of_connections);
        let traced_flows = self.flows.iter().filter(|(_, flow)| flow.traced.is_some()).count();
        let paths = self.associations.iter().flat_map(|(_, association)| &association.paths);
        self.tracing.keep(traced_flows + paths.filter(|path| path.traced.is_some()).count());
    }
}

/// Keeps some, and returns the new place of each.
fn retain<T>(all: &mut Vec<T>, is_kept: impl Fn(usize) -> bool) -> Vec<Option<usize>> {
    let mut kept = 0;
    let places = (0..all.len()).map(|at| {
        is_kept(at).then(|| {
            kept += 1;
            kept - 1
        })
    });
    let places: Vec<Option<usize>> = places.collect();
    let mut place = places.iter();
    all.retain(|_| place.next().is_some_and(Option::is_some));
    places
}

fn of_flow(flow: &Flow) -> TotalRow {
    let mut row = TotalRow { protocol: "tcp", outcome: flow.outcome(), ..TotalRow::default() };
    for half in &flow.halves {
        row.packets += half.packets;
        row.bytes += half.delivered();
        row.retransmissions += half.retransmissions.segments;
        row.timeouts += half.retransmissions.timeouts;
    }
    row
}

fn of_association(association: &Association) -> TotalRow {
    let paths = || association.paths.iter().flat_map(|path| &path.sent);
    TotalRow {
        protocol: "sctp",
        outcome: association.outcome(),
        packets: paths().map(|sent| sent.packets).sum(),
        bytes: association.data.iter().map(|data| data.bytes).sum(),
        retransmissions: association.data.iter().map(|data| data.retransmissions).sum(),
        timeouts: paths().map(|sent| sent.timeouts).sum(),
        ..TotalRow::default()
    }
}
