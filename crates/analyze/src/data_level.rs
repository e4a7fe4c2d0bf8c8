//! The data level of an MPTCP connection: data sequence numbers, whichever subflow carries them (RFC 8684, section 3.3).

use std::collections::VecDeque;

use crate::ranges::Ranges;
use crate::tcp::{RoundTrips, extend};

/// Pieces of data in flight whose times are remembered, at most.
const MOST_IN_FLIGHT: usize = 65_536;

/// What one end sent at the data level.
#[derive(Clone, Debug, Default)]
pub(crate) struct DataLevel {
    sent: Ranges,
    pub(super) first: Option<u64>,
    pub(super) next: u64,
    acknowledged: Option<u64>,
    pub(super) finish: Option<u64>,
    /// Bytes that were sent before on another subflow.
    pub(crate) reinjected: u64,
    /// Segments with such bytes.
    pub(crate) reinjected_segments: u64,
    /// When the last new data was captured, in nanoseconds.
    pub(crate) last_new: Option<u64>,
    /// When the last data was acknowledged.
    pub(crate) last_acknowledged: Option<u64>,
    hole_since: Option<u64>,
    /// How long data behind a hole waited at the point of capture.
    pub(crate) blocked: u64,
    /// Ends of data that no DATA_ACK covers, and when it was sent first.
    in_flight: VecDeque<(u64, u64)>,
    /// From data to the DATA_ACK that covers it.
    pub(crate) acknowledgment_times: RoundTrips,
}

impl DataLevel {
    pub(super) fn begin(&mut self, first: u64) {
        if self.first.is_none() {
            self.first = Some(first);
            self.next = first;
        }
    }

    pub(super) fn extended(&mut self, sequence: u64, is_wide: bool) -> u64 {
        let value = match (is_wide, self.first) {
            (true, _) => sequence,
            (false, Some(_)) => extend(self.next, sequence as u32),
            (false, None) => 1 << 32 | sequence,
        };
        // Nothing is added to the last numbers of 64 bits.
        value.min(u64::MAX - (1 << 33))
    }

    /// Data was captured; returns whether some of it is new.
    pub(super) fn send(&mut self, (start, end): (u64, u64), time: u64) -> bool {
        self.first.get_or_insert(start);
        let new = self.sent.insert(start, end);
        let again = end - start - new;
        self.reinjected += again;
        self.reinjected_segments += u64::from(again > 0);
        self.next = self.next.max(end);
        if new > 0 {
            self.last_new = Some(time);
            if self.in_flight.len() == MOST_IN_FLIGHT {
                self.in_flight.pop_front();
            }
            self.in_flight.push_back((end, time));
        }
        match (self.sent.has_holes(), self.hole_since) {
            (true, None) => self.hole_since = Some(time),
            (false, Some(since)) => {
                self.blocked += time.saturating_sub(since);
                self.hole_since = None;
            }
            _ => {}
        }
        new > 0
    }

    pub(super) fn acknowledge(&mut self, sequence: u64, is_wide: bool, time: u64) {
        if self.first.is_none() && !is_wide {
            return;
        }
        let acknowledged = self.extended(sequence, is_wide);
        if self.acknowledged.is_none_or(|before| acknowledged > before) {
            let data_end = self.finish.unwrap_or(u64::MAX);
            let is_data = self.acknowledged.or(self.first).is_some_and(|before| before < data_end);
            self.acknowledged = Some(acknowledged);
            if is_data {
                self.last_acknowledged = Some(time);
                self.sample(acknowledged, time);
            }
        }
    }

    /// A sample of the data that was sent last of what is acknowledged now.
    fn sample(&mut self, acknowledged: u64, time: u64) {
        let mut newest = None;
        while let Some(&(_, sent)) = self.in_flight.front().filter(|(end, _)| *end <= acknowledged) {
            newest = newest.max(Some(sent));
            self.in_flight.pop_front();
        }
        if let Some(sent) = newest {
            self.acknowledgment_times.add(time.saturating_sub(sent));
        }
    }

    /// Bytes that the peer acknowledged at the data level; those captured if it acknowledged none.
    pub(crate) fn delivered(&self) -> u64 {
        let (Some(first), Some(acknowledged)) = (self.first, self.acknowledged) else { return self.sent.total() };
        let end = self.finish.map_or(acknowledged, |finish| acknowledged.min(finish));
        match end.saturating_sub(first) {
            0 => self.sent.total(),
            delivered => delivered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_sent_on_two_subflows_are_reinjected() {
        let mut level = DataLevel::default();
        level.begin(1000);
        level.send((1000, 1100), 1);
        level.send((1200, 1300), 2);
        level.send((1100, 1250), 5);
        assert_eq!((level.reinjected, level.reinjected_segments, level.blocked), (50, 1, 3));
        level.finish = Some(1300);
        level.acknowledge(1301, true, 9);
        assert_eq!((level.delivered(), level.last_acknowledged), (300, Some(9)));
        // The last new data was sent at 5, and acknowledged at 9.
        assert_eq!((level.acknowledgment_times.count, level.acknowledgment_times.minimum), (1, 4));
    }
}
