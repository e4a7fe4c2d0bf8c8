//! What is known of subflows for reports, and what stays known of those whose place another has taken.

use core::ops::AddAssign;

use subflow_policy::congestion::Controller;
use subflow_quantity::Duration;

use super::subflow::Subflow;
use super::{Connection, subflow};
use crate::tcp::{Counters, Ends};

/// So many subflows of a connection are recorded one by one, the first ones. Of further ones whose place another has
/// taken there are [totals](SubflowTotals): memory must not grow with the number of subflows that a peer opens.
pub const LISTED_SUBFLOWS: usize = 256;

/// What one subflow has done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubflowRecord {
    /// [`Subflow::number`](subflow::Subflow::number).
    pub number: usize,
    /// Its two ends.
    pub ends: Ends,
    /// Counters of its TCP.
    pub counters: Counters,
    /// [`Subflow::bytes_received`](subflow::Subflow::bytes_received).
    pub bytes_received: u64,
    /// [`Subflow::copies`](subflow::Subflow::copies).
    pub copies: u64,
    /// Smoothed RTT, where there was a sample.
    pub srtt: Option<Duration>,
    /// Congestion window in packets; of one that is over, its last.
    pub cwnd: u32,
}

/// What subflows without a record of their own have done together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubflowTotals {
    /// How many they are.
    pub subflows: u64,
    /// Counters of their TCP.
    pub counters: Counters,
    /// Data bytes that they delivered first.
    pub bytes_received: u64,
    /// Copies assigned to them.
    pub copies: u64,
}

/// The subflows of a connection whose place another has taken, and how many there have been in all.
#[derive(Clone, Debug, Default)]
pub(crate) struct FormerSubflows {
    opened: usize,
    /// Those among the first [`LISTED_SUBFLOWS`], in the order in which their places were taken.
    listed: Vec<SubflowRecord>,
    others: SubflowTotals,
}

impl FormerSubflows {
    /// One more subflow is opened; its number.
    pub(super) fn count_opened(&mut self) -> usize {
        self.opened += 1;
        self.opened - 1
    }

    /// Another takes the place of this subflow.
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
    /// What it has done so far.
    pub(super) fn record(&self, congestion: &Controller) -> SubflowRecord {
        SubflowRecord {
            number: self.number,
            ends: self.tcp.ends(),
            counters: *self.tcp.counters(),
            bytes_received: self.bytes_received,
            copies: self.copies,
            srtt: self.tcp.rtt().srtt(),
            cwnd: congestion.path(self.tcp.path()).cwnd,
        }
    }
}

impl Connection {
    /// What the subflows have done, in the order of their opening: the first [`LISTED_SUBFLOWS`], and those that still
    /// have a place. [`unlisted_subflows`](Self::unlisted_subflows) has the others.
    pub fn subflow_records(&self) -> Vec<SubflowRecord> {
        let present = self.subflows.iter().map(|subflow: &Subflow| subflow.record(&self.congestion));
        let mut records: Vec<_> = self.former.listed.iter().copied().chain(present).collect();
        records.sort_by_key(|record| record.number);
        records
    }

    /// What all other subflows of the connection have done.
    pub fn unlisted_subflows(&self) -> &SubflowTotals {
        &self.former.others
    }

    /// How many subflows there have been, the initial one, failed joins and half-open ones included.
    pub fn subflows_opened(&self) -> usize {
        self.former.opened
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
            counters: Counters { segments_sent: 3, retransmissions: 1, ..Counters::default() },
            bytes_received: 100,
            copies: 2,
            srtt: None,
            cwnd: 10,
        }
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
