//! The rows of MPTCP connections.

use super::points::Points;
use super::{DirectionRow, Summary, note_list};
use crate::bottlenecks::BottleneckRow;
use crate::mptcp::{self, Connection};
use crate::summary::ConnectionRow;
use crate::summary::rows::seconds;

/// A connection as the points of capture show it.
pub(super) struct Subflows<'a> {
    /// What each point shows of it, with its position.
    pub(super) connections: Vec<(usize, &'a Connection)>,
    /// The subflows, and whether the connection's end 1 opened them.
    pub(super) flows: Vec<(Points<'a>, bool)>,
}

impl<'a> Subflows<'a> {
    /// What the point nearest to the end `near` shows of the connection, and the number of the end `end` in it.
    fn nearest_to(&self, near: usize, end: usize) -> (&'a Connection, usize) {
        let found = self.flows.first().and_then(|(points, is_reversed)| {
            let [near, end] = [near, end].map(|end| end ^ usize::from(*is_reversed));
            let (at, end) = points.connection_near(near, end)?;
            Some((self.connections.iter().find(|(other, _)| *other == at)?.1, end))
        });
        found.unwrap_or((self.connections[0].1, end))
    }

    /// The subflow that carries all data of an end, if that is in the order of the subflow.
    fn plain(&self, end: usize) -> Option<(&Points<'a>, usize)> {
        let mut with_data = self.flows.iter().filter_map(|(points, is_reversed)| {
            let end = end ^ usize::from(*is_reversed);
            (points.sender(end).bytes > 0).then_some((points, end))
        });
        let only = with_data.next().filter(|_| with_data.next().is_none())?;
        let (shown, of_end) = self.nearest_to(end, end);
        shown.is_plain(of_end).then_some(only)
    }

    /// Fills in what the data level of an end shows, and returns when its last data arrived.
    fn fill(&self, direction: &mut DirectionRow, end: usize) -> Option<u64> {
        if let Some((points, end)) = self.plain(end) {
            direction.bytes = points.sender(end).delivered();
            return points.completed(end);
        }
        let (shown, of_end) = self.nearest_to(end, end);
        let (at_receiver, of_sender) = self.nearest_to(1 - end, end);
        let (sender, receiver) = (&shown.data[of_end], &at_receiver.data[of_sender]);
        direction.bytes = sender.delivered();
        direction.reinjected_bytes = sender.reinjected;
        direction.reinjected_segments = sender.reinjected_segments;
        let (points, is_reversed) = self.flows.first()?;
        let end_of_first = end ^ usize::from(*is_reversed);
        let has_receiver =
            if points.are_several() { points.has_one_clock() } else { !points.is_at_sender(end_of_first) };
        if points.is_at_sender(end_of_first) {
            let choices = &shown.choices[of_end];
            direction.choices = Some(choices.count);
            direction.scheduler = choices.scheduler();
            direction.data_ack_ms = sender.acknowledgment_times.mean().map(|mean| mean as f64 / 1e6);
        }
        direction.blocked_s = has_receiver.then(|| receiver.blocked as f64 / 1e9);
        if let Some(arrived) = receiver.last_new.filter(|_| has_receiver) {
            return Some(points.at_receiver(end_of_first, arrived));
        }
        let one_way = self.flows.iter().map(|(points, is_reversed)| points.one_way(end ^ usize::from(*is_reversed)));
        let one_way = one_way.min().unwrap_or(0);
        let time = sender.last_acknowledged.map(|time| time.saturating_sub(one_way)).or(sender.last_new);
        time.map(|time| points.at_sender(end_of_first, time))
    }

    /// What the detectors say of the data of an end.
    fn bottlenecks(&self, connection: usize, end: usize) -> Vec<BottleneckRow> {
        let (shown, of_end) = self.nearest_to(end, end);
        let Some(detection) = &shown.bottlenecks[of_end] else { return Vec::new() };
        let number = |place: usize| {
            let (at, _) = shown.subflows.get(place)?;
            Some(self.flows.iter().position(|(points, _)| points.has(*at))? + 1)
        };
        let rows = detection.verdicts().into_iter().filter_map(|([a, b], detector, degree, threshold)| {
            Some(BottleneckRow {
                connection,
                sender: if end == 0 { "client" } else { "server" },
                subflows: [number(a)?, number(b)?],
                detector,
                degree,
                threshold,
                is_shared: degree >= threshold,
            })
        });
        rows.collect()
    }
}

impl Summary {
    pub(super) fn add_mptcp(&mut self, begin: u64, subflows: &Subflows<'_>) {
        let Subflows { connections, flows } = subflows;
        let number = self.connections.len() + 1;
        let mut directions = <[DirectionRow; 2]>::default();
        for (end, direction) in directions.iter_mut().enumerate() {
            for (points, is_reversed) in flows {
                direction.add(&DirectionRow::of_half(points.sender(end ^ usize::from(*is_reversed))));
            }
            let done = subflows.fill(direction, end);
            direction.finish(begin, done, self.origin);
            self.bottlenecks.extend(subflows.bottlenecks(number, end));
        }
        let durations = directions.each_ref().map(|direction| direction.duration_s);
        let mut sent = Vec::new();
        for (at, (points, is_reversed)) in flows.iter().enumerate() {
            let durations = if *is_reversed { [durations[1], durations[0]] } else { durations };
            sent.extend(self.add_subflow(number, at + 1, points, *is_reversed, durations));
        }
        let (first_points, is_reversed) = flows.first().map(|(points, it)| (points, *it)).expect("it has a subflow");
        let first = first_points.first();
        let version = connections.iter().find_map(|(_, connection)| connection.version);
        let late = if first_points.late().next().is_some() { super::BEGAN_LATER } else { "" };
        let mut notes = mptcp_notes(connections.iter().map(|(_, connection)| *connection));
        notes.extend(note_list([late]));
        let row = ConnectionRow {
            number,
            protocol: if version == Some(0) { "mptcp v0" } else { "mptcp" },
            client: first.ends[usize::from(is_reversed)].to_string(),
            server: first.ends[1 - usize::from(is_reversed)].to_string(),
            subflows: flows.len(),
            start_s: seconds(begin, self.origin),
            outcome: mptcp::outcome(flows.iter().map(|(points, _)| points.first().outcome())),
            notes,
            directions,
        };
        row.show(&mut self.seen, &sent, self.origin);
        self.connections.push(row);
        if let (shown, 0) = subflows.nearest_to(0, 0) {
            self.add_exchanges(&shown.exchanges, first_points, usize::from(is_reversed));
        }
    }
}

fn mptcp_notes<'a>(connections: impl Iterator<Item = &'a Connection> + Clone) -> Vec<String> {
    let any = |is: fn(&Connection) -> bool| connections.clone().any(is);
    let said = |is: bool, note| if is { note } else { "" };
    note_list([
        said(any(|it| it.version == Some(0)), "version 0 (RFC 6824)"),
        said(connections.clone().all(|it| it.version.is_none()), "its first handshake was not captured"),
        said(any(|it| it.has_infinite_mapping), "it fell back to an infinite mapping"),
        said(
            any(|it| !it.has_infinite_mapping && it.has_lost_mappings()),
            "its mappings were removed, and it fell back to TCP",
        ),
        said(any(|it| it.has_failed_checksum), "a checksum failed"),
        said(any(|it| it.is_fast_closed), "it was closed by MP_FASTCLOSE"),
    ])
}
