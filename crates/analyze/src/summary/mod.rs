//! From what was tracked at each point of capture to rows: a connection that two points show is one.
//!
//! | to find | look in |
//! |---|---|
//! | the points that show one TCP connection or subflow, and which is where | `points.rs` |
//! | the rows | `rows.rs` |

mod points;
mod rows;

use std::collections::BTreeMap;

use crate::mptcp::{Connection, DataLevel};
use crate::over_time::{Curves, Seen};
use crate::sctp::Association;
use crate::tracker::{Datagrams, Tracker};

use points::{Points, grouped};
use rows::seconds;
pub use rows::{ConnectionRow, DirectionRow, SubflowRow};

/// Everything that the tracker has seen, as rows.
pub(crate) struct Summary {
    pub(crate) connections: Vec<ConnectionRow>,
    pub(crate) subflows: Vec<SubflowRow>,
    pub(crate) seen: Seen,
    origin: u64,
}

/// What makes a row of connections.
enum Entry<'a> {
    Single(Points<'a>, &'static str),
    Multipath(Vec<&'a Connection>, Vec<(Points<'a>, bool)>),
    Association(Vec<&'a Association>),
    Datagrams(Datagrams),
}

/// Rows in the order of first packets; times are counted from `origin`, in nanoseconds.
pub(crate) fn summarise(tracker: &Tracker, origin: u64) -> Summary {
    let mut entries = tcp_entries(tracker);
    entries.extend(associations(tracker));
    let datagrams = tracker.datagrams.iter().map(|&(_, datagrams)| (datagrams.times[0], Entry::Datagrams(datagrams)));
    entries.extend(datagrams);
    entries.sort_by_key(|&(time, _)| time);
    let mut summary = Summary { connections: Vec::new(), subflows: Vec::new(), seen: Seen::default(), origin };
    for (first, entry) in entries {
        match entry {
            Entry::Single(points, note) => summary.add_tcp(&points, note),
            Entry::Multipath(connections, flows) => summary.add_mptcp(first, &connections, &flows),
            Entry::Association(associations) => summary.add_sctp(first, &associations),
            Entry::Datagrams(datagrams) => summary.add_udp(&datagrams),
        }
    }
    summary
}

/// TCP connections, and MPTCP connections with their subflows.
fn tcp_entries(tracker: &Tracker) -> Vec<(u64, Entry<'_>)> {
    type Subflows<'a> = Vec<(Points<'a>, bool)>;
    let mut entries = Vec::new();
    // By token; by position if there is none.
    let mut connections: BTreeMap<(Option<u32>, usize), Subflows<'_>> = BTreeMap::new();
    for points in grouped(tracker) {
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
        let shown = shown.into_iter().map(|at| &tracker.connections[at].1).collect();
        entries.push((first, Entry::Multipath(shown, flows)));
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

    fn add_mptcp(&mut self, begin: u64, connections: &[&Connection], flows: &[(Points<'_>, bool)]) {
        let number = self.connections.len() + 1;
        let mut directions = <[DirectionRow; 2]>::default();
        for (end, direction) in directions.iter_mut().enumerate() {
            for (points, is_reversed) in flows {
                direction.add(&DirectionRow::of_half(points.sender(end ^ usize::from(*is_reversed))));
            }
            let (sender, receiver) = data_levels(connections, flows, end);
            direction.bytes = sender.delivered();
            direction.reinjected_bytes = sender.reinjected;
            direction.reinjected_segments = sender.reinjected_segments;
            direction.blocked_s = receiver.map(|level| level.blocked as f64 / 1e9);
            let one_way = flows.iter().map(|(points, is_reversed)| points.one_way(end ^ usize::from(*is_reversed)));
            let one_way = one_way.min().unwrap_or(0);
            let at_sender = sender.last_acknowledged.map(|time| time.saturating_sub(one_way)).or(sender.last_new);
            direction.finish(begin, receiver.and_then(|level| level.last_new).or(at_sender), self.origin);
        }
        let durations = directions.each_ref().map(|direction| direction.duration_s);
        let mut curves = Vec::new();
        for (at, (points, is_reversed)) in flows.iter().enumerate() {
            let durations = if *is_reversed { [durations[1], durations[0]] } else { durations };
            curves.extend(self.add_subflow(number, at + 1, points, *is_reversed, durations));
        }
        let (first, is_reversed) = flows.first().map(|(points, it)| (points.first(), *it)).expect("it has a subflow");
        let connection = connections[0];
        let row = ConnectionRow {
            number,
            protocol: if connection.version == Some(0) { "mptcp v0" } else { "mptcp" },
            client: first.ends[usize::from(is_reversed)].to_string(),
            server: first.ends[1 - usize::from(is_reversed)].to_string(),
            subflows: flows.len(),
            start_s: seconds(begin, self.origin),
            outcome: flows
                .iter()
                .map(|(points, _)| points.first().outcome())
                .find(|&it| it != "closed")
                .unwrap_or("closed"),
            notes: mptcp_notes(connections),
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

/// What the sender's point of capture shows of an end's data, and the receiver's if there is one.
fn data_levels<'a>(
    connections: &[&'a Connection],
    flows: &[(Points<'_>, bool)],
    end: usize,
) -> (&'a DataLevel, Option<&'a DataLevel>) {
    let level = |at: usize| &connections[at].data[end];
    let Some((points, is_reversed)) = flows.first() else { return (level(0), None) };
    if connections.len() == 1 {
        let is_at_sender = points.is_at_sender(end ^ usize::from(*is_reversed));
        return (level(0), (!is_at_sender).then(|| level(0)));
    }
    // Connections are in the order of points of capture, as the flows of a group are.
    let sender = points.position_of_sender(end ^ usize::from(*is_reversed)).min(connections.len() - 1);
    let receiver = (0..connections.len()).find(|&at| at != sender).filter(|_| points.has_one_clock());
    (level(sender), receiver.map(level))
}

fn mptcp_notes(connections: &[&Connection]) -> Vec<String> {
    let any = |is: fn(&Connection) -> bool| connections.iter().any(|connection| is(connection));
    let said = |is: bool, note| if is { note } else { "" };
    note_list([
        said(any(|it| it.version == Some(0)), "version 0 (RFC 6824): its joins are connections of their own"),
        said(any(|it| it.version.is_none()), "its first handshake was not captured"),
        said(any(|it| it.has_infinite_mapping), "it fell back to an infinite mapping"),
        said(any(|it| it.has_failed_checksum), "a checksum failed"),
        said(any(|it| it.is_fast_closed), "it was closed by MP_FASTCLOSE"),
    ])
}

fn note_list<const N: usize>(notes: [&str; N]) -> Vec<String> {
    notes.into_iter().filter(|note| !note.is_empty()).map(str::to_owned).collect()
}
