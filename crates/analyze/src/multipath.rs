//! What takes several subflows of one connection to tell: which of them the scheduler chose, and which share a bottleneck.

use subflow_wire::tcp::TcpSegment;

use crate::choices::Candidate;
use crate::tcp::{Flow, Member};
use crate::tracker::Tracker;

/// The window of a subflow that has sent nothing: ten segments of 1460 bytes (RFC 6928).
const INITIAL_WINDOW: u64 = 14_600;

impl Tracker {
    /// The end `end` of a connection has sent data on the subflow `at`: new data, or a copy of what another has carried.
    pub(crate) fn sent(&mut self, member: Member, at: usize, end: usize, (is_new, length): (bool, u64), time: u64) {
        let connection = &mut self.connections[member.connection].1;
        if connection.subflows.len() < 2 {
            return;
        }
        if !is_new {
            connection.choices[end].copied();
            return;
        }
        let flows = &self.flows;
        let candidate = |(place, &(at, is_reversed)): (usize, &(usize, bool))| {
            candidate(&flows[at].1, place, end ^ usize::from(is_reversed), time)
        };
        let place = member.place;
        let half = &flows[at].1.halves[end ^ usize::from(member.is_reversed)];
        let round_trip = half.round_trips.smoothed().or_else(|| flows[at].1.handshake.round_trip());
        // Its window is that behind the segment: what was taken was free.
        let free_behind = half.estimates.free(half.flight()).unwrap_or(0);
        let taken =
            Candidate { subflow: place, round_trip: round_trip.unwrap_or(u64::MAX), free: free_behind + length };
        let free = connection.subflows.iter().enumerate().filter(|&(other, _)| other != place).filter_map(candidate);
        connection.choices[end].sent(taken, free);
    }

    /// A segment of the subflow `at` arrives at the end `end` of a connection.
    pub(crate) fn received(&mut self, member: Member, at: usize, end: usize, segment: &TcpSegment, time: u64) {
        let connection = &mut self.connections[member.connection].1;
        let half = &self.flows[at].1.halves[end ^ usize::from(member.is_reversed)];
        if connection.subflows.len() < 2 || half.last_acknowledged != Some(time) {
            return;
        }
        connection.bottlenecks[end].get_or_insert_default().acknowledged(member.place, half, segment, time);
    }
}

/// A subflow on which the end `end` could send a segment at a time.
fn candidate(flow: &Flow, subflow: usize, end: usize, time: u64) -> Option<Candidate> {
    let half = &flow.halves[end];
    if flow.handshake.ack.is_none() || flow.is_backup || flow.reset_by.is_some() || half.has_finished {
        return None;
    }
    if half.bytes == 0 {
        // A join carries data once its third packet is acknowledged, a round trip later (RFC 8684, section 3.2).
        let round_trip = flow.handshake.round_trip()?;
        let is_ready = time >= flow.handshake.ack? + round_trip;
        return is_ready.then_some(Candidate { subflow, round_trip, free: INITIAL_WINDOW });
    }
    let free = half.estimates.free(half.flight())?;
    let round_trip = half.round_trips.smoothed().or_else(|| flow.handshake.round_trip())?;
    (free >= half.largest).then_some(Candidate { subflow, round_trip, free })
}
