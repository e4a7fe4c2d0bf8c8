//! Statistics of subflows for reports, also of former subflows whose place has been reused.

use core::ops::AddAssign;
use std::net::IpAddr;

use subflow_policy::congestion::Controller;
use subflow_quantity::Duration;

use super::subflow::Subflow;
use super::{Connection, subflow};
use crate::tcp::{Counters, Ends};

/// Number of subflows of a connection that have records of their own: the first ones. Other former subflows are
/// included in [totals](SubflowTotals), since memory must not grow with the number of subflows that a peer opens.
pub const LISTED_SUBFLOWS: usize = 256;

/// Statistics of one subflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubflowRecord {
    /// [`Subflow::number`](subflow::Subflow::number).
    pub number: usize,
    /// Its local and remote address and port.
    pub ends: Ends,
    /// Whether it was opened in place of an earlier one between the same addresses, which had ended for this host. Each
    /// that has ended is replaced once at most: further subflows between the same addresses are additional ones.
    pub reopens: bool,
    /// Counters of its TCP connection.
    pub counters: Counters,
    /// [`Subflow::bytes_received`](subflow::Subflow::bytes_received).
    pub bytes_received: u64,
    /// [`Subflow::copies`](subflow::Subflow::copies).
    pub copies: u64,
    /// Smoothed RTT, if there was a sample.
    pub srtt: Option<Duration>,
    /// Congestion window in packets; the last one if the subflow is closed.
    pub cwnd: u32,
}

/// Sums over the subflows without a record of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubflowTotals {
    /// Number of these subflows.
    pub subflows: u64,
    /// Counters of their TCP connections.
    pub counters: Counters,
    /// Data bytes that arrived on them first.
    pub bytes_received: u64,
    /// Copies assigned to them.
    pub copies: u64,
}

/// The former subflows of a connection whose place has been reused, and the number of subflows opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct FormerSubflows {
    opened: usize,
    /// The numbers and addresses of those among the first [`LISTED_SUBFLOWS`] that replaced one that had ended.
    reopening: Vec<(usize, [IpAddr; 2])>,
    /// Those among the first [`LISTED_SUBFLOWS`], in the order in which their places were reused.
    listed: Vec<SubflowRecord>,
    others: SubflowTotals,
}

impl FormerSubflows {
    /// Counts a new subflow and returns its number.
    pub(super) fn count_opened(&mut self) -> usize {
        self.opened += 1;
        self.opened - 1
    }

    /// How many of those that are listed had these addresses.
    pub(super) fn between(&self, addresses: [IpAddr; 2]) -> usize {
        self.listed.iter().filter(|record| record.ends.addresses() == addresses).count()
    }

    /// The subflow that is opened next, between these addresses, takes the place of one that has ended, if `ended` are
    /// more than those that were replaced before.
    pub(super) fn note_opening(&mut self, addresses: [IpAddr; 2], ended: usize) {
        let replaced = self.reopening.iter().filter(|(_, known)| *known == addresses).count();
        if ended > replaced && self.opened < LISTED_SUBFLOWS {
            self.reopening.push((self.opened, addresses));
        }
    }

    /// [`SubflowRecord::reopens`] of the subflow with this number.
    pub(super) fn reopens(&self, number: usize) -> bool {
        self.reopening.binary_search_by_key(&number, |(reopening, _)| *reopening).is_ok()
    }

    /// Adds a subflow whose place is reused.
    pub(super) fn add(&mut self, record: SubflowRecord) {
        if record.number < LISTED_SUBFLOWS {
            self.listed.push(record);
        } else {
            self.others.add(&record);
        }
    }
}

impl SubflowTotals {
    fn add(&mut self, record: &SubflowRecord) {
        self.subflows += 1;
        self.counters += record.counters;
        self.bytes_received += record.bytes_received;
        self.copies += record.copies;
    }
}

impl subflow::Subflow {
    /// The statistics of the subflow so far.
    pub(super) fn record(&self, congestion: &Controller, reopens: bool) -> SubflowRecord {
        SubflowRecord {
            number: self.number(),
            ends: self.tcp.ends(),
            reopens,
            counters: *self.tcp.counters(),
            bytes_received: self.bytes_received(),
            copies: self.copies(),
            srtt: self.tcp.rtt().srtt(),
            cwnd: congestion.path(self.tcp.path()).cwnd(),
        }
    }
}

impl Connection {
    /// The statistics of the first [`LISTED_SUBFLOWS`] subflows and of those that still have a place, in the order in
    /// which they were opened. [`unlisted_subflows`](Self::unlisted_subflows) covers the others.
    pub fn subflow_records(&self) -> Vec<SubflowRecord> {
        let former = self.subflows.former();
        let present = self
            .subflows
            .iter()
            .map(|subflow: &Subflow| subflow.record(&self.congestion, former.reopens(subflow.number())));
        let mut records: Vec<_> = former.listed.iter().copied().chain(present).collect();
        records.sort_by_key(|record| record.number);
        records
    }

    /// The sums over all other subflows of the connection.
    pub fn unlisted_subflows(&self) -> &SubflowTotals {
        &self.subflows.former().others
    }

    /// Number of subflows opened so far, including the initial one, failed joins and half-open ones.
    pub fn subflows_opened(&self) -> usize {
        self.subflows.former().opened
    }
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        let Self {
            segments_sent,
            data_segments_sent,
            retransmissions,
            timeouts,
            duplicate_acks,
            recoveries,
            undos,
            loss_probes,
            ce_received,
            bytes_received,
            bytes_acknowledged,
        } = other;
        self.segments_sent += segments_sent;
        self.data_segments_sent += data_segments_sent;
        self.retransmissions += retransmissions;
        self.timeouts += timeouts;
        self.duplicate_acks += duplicate_acks;
        self.recoveries += recoveries;
        self.undos += undos;
        self.loss_probes += loss_probes;
        self.ce_received += ce_received;
        self.bytes_received += bytes_received;
        self.bytes_acknowledged += bytes_acknowledged;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(number: usize) -> SubflowRecord {
        SubflowRecord {
            number,
            ends: Ends { local: ([10, 0, 0, 1], 1).into(), remote: ([10, 0, 0, 2], 2).into() },
            reopens: false,
            counters: Counters { segments_sent: 3, retransmissions: 1, ..Counters::default() },
            bytes_received: 100,
            copies: 2,
            srtt: None,
            cwnd: 10,
        }
    }

    #[test]
    fn each_subflow_that_has_ended_is_reopened_once() {
        let addresses = [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from);
        let mut former = FormerSubflows::default();
        // Two at the same time, of which the first ends, then the second; four follow, one of them for nothing.
        let reopens = [0, 0, 1, 1, 2, 2].map(|ended| {
            former.note_opening(addresses, ended);
            let number = former.count_opened();
            former.reopens(number)
        });
        assert_eq!(reopens, [false, false, true, false, true, false]);
        let others = [addresses[1], addresses[0]];
        former.note_opening(others, 1);
        assert!(former.reopens(6) && !former.reopens(5));
    }

    #[test]
    fn the_first_256_are_listed_and_the_others_summed_up() {
        let mut former = FormerSubflows::default();
        for number in 0..300 {
            former.add(record(number));
        }
        assert_eq!(former.listed.len(), LISTED_SUBFLOWS);
        let counters = Counters { segments_sent: 132, retransmissions: 44, ..Counters::default() };
        assert_eq!(former.others, SubflowTotals { subflows: 44, counters, bytes_received: 4400, copies: 88 });
    }
}
