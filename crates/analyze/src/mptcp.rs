//! MPTCP connections: which subflows belong together, and what is sent at the data level (RFC 8684).
//!
//! Tokens and initial data sequence numbers are computed from the keys of the first handshake. A connection whose first
//! handshake was not captured is known by the token of its joins only; data sequence numbers are then those seen.

use sha2::{Digest, Sha256};
use subflow_wire::tcp::TcpSegment;
use subflow_wire::tcp::mptcp::{Capable, Dss, Join, Mapping, MptcpOption};

use crate::ranges::Ranges;
use crate::tcp::{Half, Sending, extend};

/// A connection, with its ends 0, which opened it, and 1.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    pub(crate) keys: [Option<u64>; 2],
    pub(crate) tokens: [Option<u32>; 2],
    /// The version of the first MP_CAPABLE.
    pub(crate) version: Option<u8>,
    /// Whether the peer confirmed MPTCP: the SYN/ACK had an MP_CAPABLE, or data had mappings.
    pub(crate) is_confirmed: bool,
    pub(crate) has_infinite_mapping: bool,
    pub(crate) has_failed_checksum: bool,
    pub(crate) is_fast_closed: bool,
    pub(crate) data: [DataLevel; 2],
}

/// What one end sent at the data level.
#[derive(Clone, Debug, Default)]
pub(crate) struct DataLevel {
    sent: Ranges,
    first: Option<u64>,
    next: u64,
    acknowledged: Option<u64>,
    finish: Option<u64>,
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
}

/// The mapping that the data of a subflow's end is under.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CurrentMapping {
    mapping: Option<(u64, u64, u64)>,
}

/// The token of a key (RFC 8684, section 3.2) and its initial data sequence number (section 3.1).
pub(crate) fn derived(key: u64) -> (u32, u64) {
    let hash = Sha256::digest(key.to_be_bytes());
    let token = hash.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
    let sequence = hash.last_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    (token, sequence)
}

/// The MP_CAPABLE of a segment.
pub(crate) fn capable(segment: &TcpSegment) -> Option<Capable> {
    segment.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Capable(capable) => Some(*capable),
        _ => None,
    })
}

/// The token of a SYN that joins a connection.
pub(crate) fn joined_token(segment: &TcpSegment) -> Option<u32> {
    segment.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Join(Join::Syn { token, .. }) => Some(*token),
        _ => None,
    })
}

impl Connection {
    /// Learns from an MP_CAPABLE of the end `from`. Tokens that become known are returned.
    pub(crate) fn learn(&mut self, capable: &Capable, from: usize) -> [Option<u32>; 2] {
        self.version.get_or_insert(capable.version);
        self.is_confirmed |= from == 1 || capable.receiver_key.is_some();
        let mut learned = [None; 2];
        for (end, key) in [(from, capable.sender_key), (1 - from, capable.receiver_key)] {
            let Some(key) = key.filter(|_| self.keys[end].is_none() && capable.version != 0) else { continue };
            let (token, sequence) = derived(key);
            self.keys[end] = Some(key);
            self.tokens[end] = Some(token);
            self.data[end].begin(sequence.wrapping_add(1));
            learned[end] = Some(token);
        }
        learned
    }

    /// A segment of the connection's end `from` on a subflow, after the subflow has observed it.
    pub(crate) fn observe(
        &mut self,
        (from, half): (usize, &Half),
        segment: &TcpSegment,
        sending: Sending,
        current: &mut CurrentMapping,
        time: u64,
    ) {
        for option in &segment.options.mptcp {
            match option {
                MptcpOption::Fail { .. } => self.has_failed_checksum = true,
                MptcpOption::FastClose { .. } => self.is_fast_closed = true,
                MptcpOption::Capable(capable) => self.map_capable(capable, from, current),
                _ => {}
            }
        }
        if let Some(dss) = &segment.options.dss {
            self.is_confirmed = true;
            self.observe_dss(dss, (from, half), segment, current, time);
        }
        if let (Sending::New(sequence), 1..) = (sending, segment.payload.length) {
            let length = u64::from(segment.payload.length);
            if let Some(range) = current.data_range(half.relative(sequence), length) {
                self.data[from].send(range, time);
            } else if self.has_infinite_mapping || !self.is_confirmed {
                let start = self.data[from].next;
                self.data[from].send((start, start + length), time);
            }
        }
    }

    /// MP_CAPABLE with data maps it (RFC 8684, section 3.1).
    fn map_capable(&self, capable: &Capable, from: usize, current: &mut CurrentMapping) {
        if let (Some(length), Some(first)) = (capable.data_length, self.data[from].first) {
            current.mapping = Some((first, 1, u64::from(length)));
        }
    }

    fn observe_dss(
        &mut self,
        dss: &Dss,
        (from, half): (usize, &Half),
        segment: &TcpSegment,
        current: &mut CurrentMapping,
        time: u64,
    ) {
        if let Some(ack) = dss.data_ack {
            self.data[1 - from].acknowledge(ack.value, ack.wide, time);
        }
        let Some(mapping) = dss.mapping else { return };
        if mapping.length == 0 && !dss.data_fin {
            self.has_infinite_mapping = true;
            return;
        }
        let level = &mut self.data[from];
        let Mapping { data_sequence, wide, subflow_sequence, length, .. } = mapping;
        let start = level.extended(data_sequence, wide);
        let fin = u64::from(dss.data_fin);
        if dss.data_fin {
            level.finish = Some(start + u64::from(length).saturating_sub(1));
        }
        // A DATA_FIN without data has the subflow sequence number 0.
        if u64::from(length) > fin {
            let at_segment = half.initial_sequence().map(|initial| segment.sequence.wrapping_sub(initial));
            let relative = at_segment.map_or(0, |at| extend(1 << 32 | u64::from(at), subflow_sequence) - (1 << 32));
            current.mapping = Some((start, relative, u64::from(length) - fin));
        }
    }
}

impl CurrentMapping {
    /// The data sequence numbers of `length` bytes at a relative subflow sequence number, as far as they are mapped.
    /// Without the subflow's SYN the mapping is that of the segment.
    fn data_range(&self, relative: Option<u64>, length: u64) -> Option<(u64, u64)> {
        let (data, subflow, mapped) = self.mapping?;
        let Some(relative) = relative else { return Some((data, data + mapped.min(length))) };
        // Mappings have 32 bits, of which the position has more.
        let offset = u64::from((relative as u32).wrapping_sub(subflow as u32));
        (offset < mapped).then(|| (data + offset, data + mapped.min(offset + length)))
    }
}

impl DataLevel {
    fn begin(&mut self, first: u64) {
        if self.first.is_none() {
            self.first = Some(first);
            self.next = first;
        }
    }

    fn extended(&mut self, sequence: u64, is_wide: bool) -> u64 {
        let value = match (is_wide, self.first) {
            (true, _) => sequence,
            (false, Some(_)) => extend(self.next, sequence as u32),
            (false, None) => 1 << 32 | sequence,
        };
        // Nothing is added to the last numbers of 64 bits.
        value.min(u64::MAX - (1 << 33))
    }

    fn send(&mut self, (start, end): (u64, u64), time: u64) {
        self.first.get_or_insert(start);
        let new = self.sent.insert(start, end);
        let again = end - start - new;
        self.reinjected += again;
        self.reinjected_segments += u64::from(again > 0);
        self.next = self.next.max(end);
        if new > 0 {
            self.last_new = Some(time);
        }
        match (self.sent.has_holes(), self.hole_since) {
            (true, None) => self.hole_since = Some(time),
            (false, Some(since)) => {
                self.blocked += time.saturating_sub(since);
                self.hole_since = None;
            }
            _ => {}
        }
    }

    fn acknowledge(&mut self, sequence: u64, is_wide: bool, time: u64) {
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
            }
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
    fn token_and_sequence_number_are_the_ends_of_the_hash() {
        let hash = Sha256::digest(0x0123_4567_89ab_cdef_u64.to_be_bytes());
        let (token, sequence) = derived(0x0123_4567_89ab_cdef);
        assert_eq!(token.to_be_bytes(), hash[..4]);
        assert_eq!(sequence.to_be_bytes(), hash[24..]);
    }

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
    }

    #[test]
    fn a_mapping_covers_several_segments() {
        let current = CurrentMapping { mapping: Some((5000, 1, 300)) };
        assert_eq!(current.data_range(Some(101), 100), Some((5100, 5200)));
        assert_eq!(current.data_range(Some(251), 100), Some((5250, 5300)));
        assert_eq!(current.data_range(Some(301), 100), None);
    }
}
