//! What an endpoint of any protocol can tell about itself, its paths and its algorithms.

use subflow_policy::congestion::Controller;
use subflow_quantity::Duration;

use super::{Endpoint, ask};
use crate::figures::{Figures, PathState};
use crate::mptcp::PathRecord;
use crate::notes::Noted;
use crate::socket::Socket;
use crate::tcp::{Connection, Ends};

impl Endpoint {
    /// The endpoint so far.
    pub fn figures(&self) -> Figures {
        let mut figures = Figures { delivered: self.bytes_received(), ended: self.ended(), ..Figures::default() };
        ask!(self.describe(&mut figures));
        figures
    }

    /// Whether it is itself its only path, now and later.
    pub fn is_single_path(&self) -> bool {
        ask!(self.is_single_path())
    }

    /// Calls `visit` with the state of each open path that is listed ([`LISTED_SUBFLOWS`](crate::mptcp::LISTED_SUBFLOWS)).
    pub fn visit_paths(&self, visit: impl FnMut(PathState)) {
        ask!(self.visit_paths(visit))
    }

    /// The numbers and ends of all listed paths that have a place, open or not.
    pub fn path_ends(&self) -> Vec<(usize, Ends)> {
        ask!(self.path_ends())
    }

    /// The number of the path with these ends. `place` is where it was found last, and is updated; `known` is its number
    /// there, with which it is found at once.
    pub fn path_number(&self, ends: Ends, place: &mut usize, known: Option<usize>) -> Option<usize> {
        ask!(self.path_number(ends, place, known))
    }

    /// The data bytes that arrived first on the path with these ends, 0 if there is none. `place` is where it was found
    /// last, and is updated.
    pub fn bytes_received_on(&self, ends: Ends, place: &mut usize) -> u64 {
        if let Some(bytes) = ask!(self.bytes_received_on(ends, place)) {
            return bytes;
        }
        // Its place was taken by another subflow.
        self.figures().paths.iter().rfind(|path| path.ends == ends).map_or(0, |path| path.bytes_received)
    }

    /// Calls `visit` with each open connection of TCP or subflow of MPTCP, and the owner of its window.
    pub fn visit_connections(&self, visit: impl FnMut(&Connection, &Controller)) {
        ask!(self.visit_connections(visit))
    }

    /// All samples of its subflows, if [they are kept](crate::mptcp::Config::record_paths).
    pub fn path_records(&self) -> &[PathRecord] {
        ask!(self.path_records())
    }
}

impl Endpoint {
    /// Notes from now on what algorithms do; of the scheduler only if `decisions` is set.
    pub fn keep_notes(&mut self, decisions: bool) {
        ask!(mut self.keep_notes(decisions))
    }

    /// Whether there is something to take. It takes less time than to find nothing.
    #[inline]
    pub fn has_notes(&self) -> bool {
        ask!(self.has_notes())
    }

    /// Appends what was noted since the last call to `into`; nothing if no notes are kept.
    pub fn take_notes(&mut self, into: &mut Vec<Noted>) {
        ask!(mut self.take_notes(into))
    }

    /// Calls `each` with the RTTs that were measured since the last call, and the ends of their subflow; nothing if no
    /// notes are kept. An acknowledgment measures at most one on a subflow: the time from its transmission of the
    /// segment that was sent last among those newly acknowledged, without retransmitted ones (Karn's algorithm).
    #[inline]
    pub fn take_rtts(&mut self, each: impl FnMut(Ends, &[Duration])) {
        ask!(mut self.take_rtts(each))
    }
}
