//! From what was tracked at each point of capture to rows: a connection that two points show is one.
//!
//! | to find | look in |
//! |---|---|
//! | the points that show one TCP connection or subflow, and which is where | `points.rs` |
//! | their clocks | `clocks.rs`; times by one clock: `corrections.rs` |
//! | connections of several subflows | `multipath.rs` |
//! | the rows | `rows.rs` |

mod clocks;
mod corrections;
mod multipath;
mod points;
mod rows;

use std::collections::BTreeMap;

use crate::bottlenecks::BottleneckRow;
use crate::over_time::{Curves, Seen};
use crate::sctp::Association;
use crate::tracker::{Datagrams, Tracker};

pub use clocks::Clocks;
pub use corrections::ClockRow;
use corrections::Corrections;
use multipath::Subflows;
use points::{Points, grouped};
use rows::seconds;
pub use rows::{ConnectionRow, DirectionRow, SubflowRow};

/// Everything that the tracker has seen, as rows.
pub(crate) struct Summary {
    pub(crate) connections: Vec<ConnectionRow>,
    pub(crate) subflows: Vec<SubflowRow>,
    pub(crate) bottlenecks: Vec<BottleneckRow>,
    pub(crate) clocks: Vec<ClockRow>,
    pub(crate) seen: Seen,
    origin: u64,
}

/// What makes a row of connections.
enum Entry<'a> {
    Single(Points<'a>, &'static str),
    Multipath(Subflows<'a>),
    Association(Vec<&'a Association>),
    Datagrams(Datagrams),
}

/// Rows in the order of first packets; times are counted from `origin`, in nanoseconds.
pub(crate) fn summarise(tracker: &Tracker, origin: u64, clocks: Clocks) -> Summary {
    let as_they_are = Corrections::default();
    let corrections = clocks::corrections(&grouped(tracker, &as_they_are), clocks, origin);
    let mut entries = tcp_entries(tracker, &corrections);
    entries.extend(associations(tracker));
    let datagrams = tracker.datagrams.iter().map(|&(_, datagrams)| (datagrams.times[0], Entry::Datagrams(datagrams)));
    entries.extend(datagrams);
    entries.sort_by_key(|&(time, _)| time);
    let mut summary = Summary {
        connections: Vec::new(),
        subflows: Vec::new(),
        bottlenecks: Vec::new(),
        clocks: corrections.rows().to_vec(),
        seen: Seen::default(),
        origin,
    };
    for (first, entry) in entries {
        match entry {
            Entry::Single(points, note) => summary.add_tcp(&points, note),
            Entry::Multipath(subflows) => summary.add_mptcp(first, &subflows),
            Entry::Association(associations) => summary.add_sctp(first, &associations),
            Entry::Datagrams(datagrams) => summary.add_udp(&datagrams),
        }
    }
    summary
}

/// TCP connections, and MPTCP connections with their subflows.
fn tcp_entries<'a>(tracker: &'a Tracker, corrections: &'a Corrections) -> Vec<(u64, Entry<'a>)> {
    type Flows<'a> = Vec<(Points<'a>, bool)>;
    let mut entries = Vec::new();
    // By token; by position if there is none.
    let mut connections: BTreeMap<(Option<u32>, usize), Flows<'_>> = BTreeMap::new();
    for points in grouped(tracker, corrections) {
        let member = points.member();
        let connection = member.map(|member| &tracker.connections[member.connection].1);
        match (member, connection) {
            (Some(member), Some(connection)) if connection.is_confirmed => {
                let token = connection.tokens[1].or(connection.tokens[0]);
                let unique = if token.is_some() { 0 } else { member.connection };
                connections.entry((token, unique)).or_default().push((points, member.is_reversed));
            }
            (_, connection) => {
                let note = if connection.is_some() { "MPTCP was offered and not confirmed" } else { "" };
                entries.push((points.first_time(), Entry::Single(points, note)));
            }
        }
    }
    for flows in connections.into_values() {
        let first = flows.iter().map(|(points, _)| points.first_time()).min().unwrap_or(0);
        let mut shown: Vec<usize> = flows.iter().flat_map(|(points, _)| points.connections()).collect();
        shown.sort_unstable();
        shown.dedup();
        let connections = shown.into_iter().map(|at| (at, &tracker.connections[at].1)).collect();
        entries.push((first, Entry::Multipath(Subflows { connections, flows })));
    }
    entries
}

/// Associations that several points show have the same tags.
fn associations(tracker: &Tracker) -> Vec<(u64, Entry<'_>)> {
    let mut groups: BTreeMap<([Option<u32>; 2], usize), Vec<&Association>> = BTreeMap::new();
    for (at, (_, association)) in tracker.associations.iter().enumerate() {
        let unique = if association.tags.contains(&None) { at } else { 0 };
        groups.entry((association.tags, unique)).or_default().push(association);
    }
    let first = |group: &Vec<&Association>| group.iter().map(|it| it.first_time).min().unwrap_or(0);
    groups.into_values().map(|group| (first(&group), Entry::Association(group))).collect()
}

impl Summary {
    fn add_tcp(&mut self, points: &Points<'_>, note: &str) {
        let number = self.connections.len() + 1;
        let flow = points.first();
        let begin = points.first_time();
        let mut directions = <[DirectionRow; 2]>::default();
        for (end, direction) in directions.iter_mut().enumerate() {
            let half = points.sender(end);
            *direction = DirectionRow::of_half(half);
            direction.bytes = half.delivered();
            direction.finish(begin, points.completed(end), self.origin);
        }
        let durations = directions.each_ref().map(|direction| direction.duration_s);
        let curves = self.add_subflow(number, 1, points, false, durations);
        let notes = note_list([note, if points.is_opening_known() { "" } else { "its SYN was not captured" }]);
        let row = ConnectionRow {
            number,
            protocol: "tcp",
            client: flow.ends[0].to_string(),
            server: flow.ends[1].to_string(),
            subflows: 1,
            start_s: seconds(begin, self.origin),
            outcome: flow.outcome(),
            notes,
            directions,
        };
        self.seen.add(row.shown_with(curves));
        self.connections.push(row);
    }

    /// Adds a row for each direction with data; one if there is none. Series of both are returned.
    fn add_subflow(
        &mut self,
        connection: usize,
        subflow: usize,
        points: &Points<'_>,
        is_reversed: bool,
        durations: [Option<f64>; 2],
    ) -> Vec<Curves> {
        let flow = points.first();
        let has_data = [0, 1].map(|end| points.sender(end).bytes > 0);
        let mut curves = Vec::new();
        for end in if is_reversed { [1, 0] } else { [0, 1] } {
            if !has_data[end] && (has_data[1 - end] || end == 1) {
                continue;
            }
            let row = SubflowRow::new((connection, subflow), points, end, durations[end]);
            let name = format!("{}-{}", flow.ends[end], flow.ends[1 - end]);
            curves.push((name.clone(), points.sender(end).over_time.series(&name, self.origin)));
            self.subflows.push(row);
        }
        curves
    }

    fn add_sctp(&mut self, begin: u64, associations: &[&Association]) {
        let number = self.connections.len() + 1;
        let mut directions = <[DirectionRow; 2]>::default();
        let count = |association: &Association, end: usize| -> u64 {
            association.paths.iter().map(|path| path.sent[end].packets).sum()
        };
        for (end, direction) in directions.iter_mut().enumerate() {
            let sender = associations.iter().max_by_key(|it| count(it, end)).expect("a group has a member");
            let receiver = associations.iter().filter(|_| associations.len() > 1).min_by_key(|it| count(it, end));
            let chunks = &sender.data[end];
            direction.packets = count(sender, end);
            direction.bytes = chunks.bytes;
            direction.retransmissions = chunks.retransmissions;
            let done = receiver.and_then(|it| it.data[end].last_new).or(chunks.last_acknowledged).or(chunks.last_new);
            direction.finish(begin, done.filter(|_| chunks.bytes > 0), self.origin);
        }
        let association = associations[0];
        for (at, path) in association.paths.iter().enumerate() {
            for end in [0, 1] {
                let sent = associations.iter().filter_map(|it| it.paths.iter().find(|other| other.ends == path.ends));
                let Some(sent) = sent.map(|path| path.sent[end]).max_by_key(|sent| sent.packets) else { continue };
                if sent.data_packets > 0 {
                    let place = (number, at + 1);
                    self.subflows.push(SubflowRow::of_path(place, path, end, sent, directions[end].duration_s));
                }
            }
        }
        let first = association.paths.first();
        let name = |end: usize| first.map(|path| path.ends[end].to_string()).unwrap_or_default();
        self.connections.push(ConnectionRow {
            number,
            protocol: "sctp",
            client: name(0),
            server: name(1),
            subflows: association.paths.len(),
            start_s: seconds(begin, self.origin),
            outcome: association.outcome(),
            notes: note_list([if association.has_init { "" } else { "its INIT was not captured" }]),
            directions,
        });
    }

    fn add_udp(&mut self, datagrams: &Datagrams) {
        let Datagrams { ends, packets, bytes, times } = *datagrams;
        let direction = |end: usize| {
            let mut row = DirectionRow { packets: packets[end], bytes: bytes[end], ..DirectionRow::default() };
            row.finish(times[0], (bytes[end] > 0).then_some(times[1]), self.origin);
            row
        };
        self.connections.push(ConnectionRow {
            number: self.connections.len() + 1,
            protocol: "udp",
            client: ends[0].to_string(),
            server: ends[1].to_string(),
            subflows: 1,
            start_s: seconds(times[0], self.origin),
            outcome: "",
            notes: Vec::new(),
            directions: [direction(0), direction(1)],
        });
    }
}

fn note_list<const N: usize>(notes: [&str; N]) -> Vec<String> {
    notes.into_iter().filter(|note| !note.is_empty()).map(str::to_owned).collect()
}
