//! From what was tracked at each point of capture to rows: a connection that two points show is one.
//!
//! | to find | look in |
//! |---|---|
//! | which points show the same TCP connection or subflow, and in which order | `places.rs` |
//! | what they show of it | `points.rs` |
//! | their clocks | `clocks.rs`; times by one clock: `corrections.rs` |
//! | connections of several subflows | `multipath.rs`; which are the same: `identities.rs`; associations: `associations.rs`; UDP: `datagrams.rs` |
//! | the rows | `rows.rs` |

mod associations;
mod clocks;
mod corrections;
mod datagrams;
mod identities;
mod multipath;
mod places;
mod points;
mod rows;

use std::collections::BTreeMap;

use crate::bottlenecks::BottleneckRow;
use crate::exchanges::{ConnectionExchanges, Exchanges};
use crate::over_time::{Seen, Sent};
use crate::sequence::SentSequence;
use crate::tracker::Tracker;

use associations::Associations;
pub use clocks::Clocks;
use clocks::Shared;
pub use corrections::ClockRow;
use corrections::Corrections;
use datagrams::Datagrams;
use identities::Identities;
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
    pub(crate) sequences: Vec<SentSequence>,
    pub(crate) exchanges: Vec<ConnectionExchanges>,
    origin: u64,
}

/// A note about a connection of which not all captures show the begin.
const BEGAN_LATER: &str = "of a capture that began later only one-way delays are used";

/// What makes a row of connections.
enum Entry<'a> {
    Single(Points<'a>, &'static str),
    Multipath(Subflows<'a>),
    Association(Associations<'a>),
    Datagrams(Datagrams<'a>),
}

/// Rows in the order of first packets; times are counted from `origin`, in nanoseconds.
pub(crate) fn summarise(tracker: &Tracker, origin: u64, clocks: Clocks) -> Summary {
    let associations = associations::grouped(tracker);
    let corrections = compared(tracker, &associations, origin, clocks);
    let mut entries = tcp_entries(tracker, &corrections);
    entries.extend(associations.into_iter().map(|it| (it.first_time(&corrections), Entry::Association(it))));
    let datagrams = datagrams::grouped(tracker, &corrections);
    entries.extend(datagrams.into_iter().map(|it| (it.first_time(), Entry::Datagrams(it))));
    entries.sort_by_key(|&(time, _)| time);
    let mut summary = Summary {
        connections: Vec::new(),
        subflows: Vec::new(),
        bottlenecks: Vec::new(),
        clocks: corrections.rows().to_vec(),
        seen: Seen::default(),
        sequences: Vec::new(),
        exchanges: Vec::new(),
        origin,
    };
    for (first, entry) in entries {
        match entry {
            Entry::Single(points, note) => summary.add_tcp(&points, note),
            Entry::Multipath(subflows) => summary.add_mptcp(first, &subflows),
            Entry::Association(associations) => summary.add_sctp(first, &associations, &corrections),
            Entry::Datagrams(datagrams) => summary.add_udp(&datagrams, &corrections),
        }
    }
    summary
}

/// The clocks of all points, by what several of them show.
fn compared(tracker: &Tracker, associations: &[Associations<'_>], origin: u64, clocks: Clocks) -> Corrections {
    let as_they_are = Corrections::default();
    let (flows, datagrams) = (grouped(tracker, &as_they_are), datagrams::grouped(tracker, &as_they_are));
    let shown = flows.iter().map(as_shared).chain(associations.iter().map(as_shared));
    let shown: Vec<&dyn Shared> = shown.chain(datagrams.iter().map(as_shared)).collect();
    clocks::corrections(&shown, &tracker.spans, clocks, origin)
}

fn as_shared<T: Shared>(shown: &T) -> &dyn Shared {
    shown
}

/// TCP connections, and MPTCP connections with their subflows.
fn tcp_entries<'a>(tracker: &'a Tracker, corrections: &'a Corrections) -> Vec<(u64, Entry<'a>)> {
    type Flows<'a> = Vec<(Points<'a>, bool)>;
    let mut entries = Vec::new();
    let groups = grouped(tracker, corrections);
    let mut identities = Identities::of(tracker, &groups);
    let mut connections: BTreeMap<usize, Flows<'_>> = BTreeMap::new();
    for points in groups {
        let connection =
            points.connection(tracker).map(|(at, is_reversed)| (at, &tracker.connections[at].1, is_reversed));
        match connection {
            Some((at, connection, is_reversed)) if connection.is_confirmed => {
                let (first, is_first_reversed) = identities.first(at);
                connections.entry(first).or_default().push((points, is_reversed ^ is_first_reversed));
            }
            connection => {
                let note = if connection.is_some() { "MPTCP was offered and not confirmed" } else { "" };
                entries.push((points.first_time(), Entry::Single(points, note)));
            }
        }
    }
    for flows in connections.into_values() {
        let first = flows.iter().map(|(points, _)| points.first_time()).min().unwrap_or(0);
        let mut shown: Vec<usize> =
            flows.iter().flat_map(|(points, _)| points.connections()).map(|(at, _)| at).collect();
        shown.sort_unstable();
        shown.dedup();
        let connections = shown.into_iter().map(|at| (at, &tracker.connections[at].1)).collect();
        entries.push((first, Entry::Multipath(Subflows { connections, flows })));
    }
    entries
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
        let sent = self.add_subflow(number, 1, points, false, durations);
        let late = if points.late().next().is_some() { BEGAN_LATER } else { "" };
        let notes = note_list([note, if points.is_opening_known() { "" } else { "its SYN was not captured" }, late]);
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
        row.show(&mut self.seen, &sent, self.origin);
        self.connections.push(row);
        self.add_exchanges(&flow.exchanges, points, 0);
    }

    /// Keeps the requests and responses of the last connection, if there are several; `client` is the end of `points` that
    /// asks.
    fn add_exchanges(&mut self, exchanges: &Exchanges, points: &Points<'_>, client: usize) {
        if exchanges.all().len() < 2 {
            return;
        }
        let round_trip = if points.is_at_sender(client) { points.round_trip().unwrap_or(0) } else { 0 };
        let (number, all) = (self.connections.len(), exchanges.all().to_vec());
        self.exchanges.push(ConnectionExchanges { number, all, round_trip });
    }

    /// Adds a row for each direction with data; one if there is none. What both sent over time is returned.
    fn add_subflow<'a>(
        &mut self,
        connection: usize,
        subflow: usize,
        points: &Points<'a>,
        is_reversed: bool,
        durations: [Option<f64>; 2],
    ) -> Vec<Sent<'a>> {
        let flow = points.first();
        let has_data = [0, 1].map(|end| points.sender(end).bytes > 0);
        let mut sent = Vec::new();
        for end in if is_reversed { [1, 0] } else { [0, 1] } {
            if !has_data[end] && (has_data[1 - end] || end == 1) {
                continue;
            }
            let row = SubflowRow::new((connection, subflow), points, end, durations[end]);
            let name = format!("{}-{}", flow.ends[end], flow.ends[1 - end]);
            sent.push((name.clone(), &points.sender(end).over_time));
            self.sequences.extend(points.traced(end).into_iter().flat_map(|all| all.sequences(connection, &name)));
            self.subflows.push(row);
        }
        sent
    }
}

fn note_list<const N: usize>(notes: [&str; N]) -> Vec<String> {
    notes.into_iter().filter(|note| !note.is_empty()).map(str::to_owned).collect()
}
