//! What an end of an association sent on a path, and the round-trip times of the path.

use std::collections::VecDeque;
use std::net::SocketAddr;

use crate::over_time::OverTime;
use crate::passages::{Passages, mixed_bytes};
use crate::sequence::Traced;
use crate::tcp::RoundTrips;

/// A pair of addresses.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) ends: [SocketAddr; 2],
    pub(crate) sent: [PathHalf; 2],
    /// Its chunks of data by end, if they are kept.
    pub(crate) traced: Option<Box<[Traced; 2]>>,
}

/// HEARTBEATs that are not answered and whose times are remembered, at most.
const MOST_HEARTBEATS: usize = 16;

/// What one end sent on a path.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathHalf {
    pub(crate) packets: u64,
    pub(crate) data_packets: u64,
    /// Bytes of user data in chunks whose last copy went this way: the one that arrived, unless it was not needed.
    pub(crate) bytes: u64,
    /// Chunks that were captured before, on any path.
    pub(crate) retransmissions: u64,
    /// Of them, those that gap reports caused.
    pub(crate) fast: u64,
    /// Of them, those after the timer of the path that they were sent on before expired.
    pub(crate) after_timeout: u64,
    /// How often that timer (T3-rtx) expired.
    pub(crate) timeouts: u64,
    /// TSNs that the peer reported as duplicates on this path.
    pub(crate) duplicates: u64,
    /// From chunks, sent once, to the SACK that covers them.
    pub(crate) round_trips: RoundTrips,
    /// From HEARTBEAT to HEARTBEAT ACK.
    pub(crate) heartbeat_trips: RoundTrips,
    /// Bytes of chunks whose last copy went this way and which no SACK covers.
    pub(crate) in_flight: u64,
    pub(crate) most_in_flight: u64,
    pub(crate) over_time: OverTime,
    pub(crate) passages: Passages,
    heartbeats: VecDeque<(u64, u64)>,
}

impl PathHalf {
    /// A HEARTBEAT is known by its information, which the peer sends back (RFC 9260, section 3.3.5).
    pub(super) fn heartbeat(&mut self, chunk: &[u8], time: u64) {
        if self.heartbeats.len() == MOST_HEARTBEATS {
            self.heartbeats.pop_front();
        }
        self.heartbeats.push_back((information(chunk), time));
    }

    /// The peer answers a HEARTBEAT.
    pub(super) fn heartbeat_answered(&mut self, chunk: &[u8], time: u64) {
        let known_by = information(chunk);
        if let Some(at) = self.heartbeats.iter().rposition(|&(sent, _)| sent == known_by) {
            let round_trip = time.saturating_sub(self.heartbeats[at].1);
            self.heartbeats.drain(..=at);
            self.heartbeat_trips.add(round_trip);
            self.over_time.round_trip(time, round_trip);
        }
    }

    pub(super) fn add_round_trip(&mut self, sent: u64, time: u64) {
        let round_trip = time.saturating_sub(sent);
        self.round_trips.add(round_trip);
        self.over_time.round_trip(time, round_trip);
    }

    pub(super) fn put_in_flight(&mut self, bytes: u64, time: u64) {
        self.in_flight += bytes;
        self.most_in_flight = self.most_in_flight.max(self.in_flight);
        self.over_time.in_flight(time, self.in_flight);
    }

    pub(super) const fn take_from_flight(&mut self, bytes: u64) {
        self.in_flight = self.in_flight.saturating_sub(bytes);
    }
}

fn information(chunk: &[u8]) -> u64 {
    mixed_bytes(0, chunk.get(4..).unwrap_or_default())
}
