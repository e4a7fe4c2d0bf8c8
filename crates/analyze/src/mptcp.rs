//! MPTCP connections: which subflows belong together, and what is sent at the data level (RFC 8684).
//!
//! Tokens and initial data sequence numbers are computed from the keys of the first handshake. A connection whose first
//! handshake was not captured is known by the token of its joins only; data sequence numbers are then those seen.

use sha1::Sha1;
use sha2::{Digest, Sha256};
use subflow_wire::tcp::TcpSegment;
use subflow_wire::tcp::mptcp::{Capable, Dss, Join, Mapping, MptcpOption};

use crate::bottlenecks::Detection;
use crate::choices::Choices;
use crate::data_level::DataLevel;
use crate::exchanges::Exchanges;
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
    /// The last number of 64 bits of each end's data, if there was one.
    pub(crate) positions: [Option<u64>; 2],
    /// Whether new data of each end has come without any DSS, and none since.
    unmapped: [bool; 2],
    /// The subflows, by their positions, and whether end 1 opened them.
    pub(crate) subflows: Vec<(usize, bool)>,
    /// Requests and responses.
    pub(crate) exchanges: Exchanges,
    pub(crate) choices: [Choices; 2],
    pub(crate) bottlenecks: [Option<Box<Detection>>; 2],
}

/// The mapping that the data of a subflow's end is under.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CurrentMapping {
    mapping: Option<(u64, u64, u64)>,
}

/// The token of a key (RFC 8684, section 3.2) and its initial data sequence number (section 3.1): the ends of a hash,
/// which is another one in version 0 (RFC 6824, the same sections).
pub(crate) fn derived(key: u64, version: u8) -> (u32, u64) {
    let key = key.to_be_bytes();
    match version {
        0 => ends(&Sha1::digest(key)),
        _ => ends(&Sha256::digest(key)),
    }
}

fn ends(hash: &[u8]) -> (u32, u64) {
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

/// Whether a segment says that its subflow is a backup, if it says so.
pub(crate) fn backup(segment: &TcpSegment) -> Option<bool> {
    segment.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Join(Join::Syn { backup, .. } | Join::SynAck { backup, .. }) => Some(*backup),
        MptcpOption::Priority { backup } => Some(*backup),
        _ => None,
    })
}

/// How a connection ended: as the first subflow that was not closed; joins that came to nothing do not count beside others.
pub(crate) fn outcome(subflows: impl Iterator<Item = &'static str> + Clone) -> &'static str {
    let is_vain = |outcome: &&str| ["no answer", "refused"].contains(outcome);
    let mut all = subflows.clone().filter(|it| !is_vain(it)).peekable();
    match all.peek() {
        Some(_) => all.find(|&it| it != "closed").unwrap_or("closed"),
        None => subflows.into_iter().next().unwrap_or("closed"),
    }
}

impl Connection {
    /// Learns from an MP_CAPABLE of the end `from`. Tokens that become known are returned.
    pub(crate) fn learn(&mut self, capable: &Capable, from: usize) -> [Option<u32>; 2] {
        self.version.get_or_insert(capable.version);
        self.is_confirmed |= from == 1 || capable.receiver_key.is_some();
        let mut learned = [None; 2];
        for (end, key) in [(from, capable.sender_key), (1 - from, capable.receiver_key)] {
            let Some(key) = key.filter(|_| self.keys[end].is_none()) else { continue };
            let (token, sequence) = derived(key, capable.version);
            self.keys[end] = Some(key);
            self.tokens[end] = Some(token);
            self.data[end].begin(sequence.wrapping_add(1));
            learned[end] = Some(token);
        }
        learned
    }

    pub(crate) const fn data_position(&self, end: usize) -> Option<u64> {
        self.positions[end]
    }

    /// Whether nothing but tokens of joins is known of it.
    pub(crate) fn is_unknown(&self) -> bool {
        self.keys == [None; 2] && self.positions == [None; 2]
    }

    /// A segment of the connection's end `from` on a subflow, after the subflow has observed it. Returns, of new data on
    /// the subflow, whether it is new at the data level.
    pub(crate) fn observe(
        &mut self,
        (from, half): (usize, &Half),
        segment: &TcpSegment,
        sending: Sending,
        current: &mut CurrentMapping,
        time: u64,
    ) -> Option<bool> {
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
            self.unmapped[from] = false;
            self.observe_dss(dss, (from, half), segment, current, time);
        }
        let (Sending::New(sequence), length @ 1..) = (sending, u64::from(segment.payload.length)) else { return None };
        if let Some(range) = current.data_range(half.relative(sequence), length) {
            self.unmapped[from] = false;
            return Some(self.data[from].send(range, time));
        }
        // The mapping may be one that was not captured.
        self.unmapped[from] = segment.options.dss.is_none();
        let is_plain = self.has_infinite_mapping || !self.is_confirmed;
        let start = self.data[from].next;
        is_plain.then(|| self.data[from].send((start, start + length), time))
    }

    /// The end `from` has sent new data; `left` is how many exchanges may be kept.
    pub(crate) fn sent_data(&mut self, from: usize, bytes: u64, time: u64, left: &mut usize) {
        let acknowledged = self.data.iter().filter_map(|data| data.last_acknowledged).max();
        self.exchanges.sent(from, bytes, acknowledged, time, left);
    }

    /// The position of a segment's data in the stream of the end `from`, if it is mapped: 0 is the first byte.
    pub(crate) fn position(
        &self,
        from: usize,
        half: &Half,
        segment: &TcpSegment,
        current: CurrentMapping,
    ) -> Option<u64> {
        let relative = half.relative(half.extended(segment.sequence));
        let (start, _) = current.data_range(relative, segment.payload.length.into())?;
        start.checked_sub(self.data[from].first?)
    }

    /// Whether data has come without mappings.
    pub(crate) fn has_lost_mappings(&self) -> bool {
        self.is_confirmed && self.unmapped.contains(&true)
    }

    /// Whether the data of the end `from` is that of its only subflow, in its order: without mappings, as after a
    /// middlebox has removed them (RFC 8684, section 3.7), or under an infinite one.
    pub(crate) fn is_plain(&self, from: usize) -> bool {
        self.has_infinite_mapping || self.unmapped[from]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_and_sequence_number_are_the_ends_of_the_hash() {
        let hash = Sha256::digest(0x0123_4567_89ab_cdef_u64.to_be_bytes());
        let (token, sequence) = derived(0x0123_4567_89ab_cdef, 1);
        assert_eq!(token.to_be_bytes(), hash[..4]);
        assert_eq!(sequence.to_be_bytes(), hash[24..]);
    }

    /// `printf 0123456789abcdef | xxd -r -p | sha1sum`: 0ca2eadb529ac2e63abf9b4ae3df8ee121f10547.
    #[test]
    fn in_version_0_they_are_those_of_another_hash() {
        assert_eq!(derived(0x0123_4567_89ab_cdef, 0), (0x0ca2_eadb, 0xe3df_8ee1_21f1_0547));
    }

    #[test]
    fn a_mapping_covers_several_segments() {
        let current = CurrentMapping { mapping: Some((5000, 1, 300)) };
        assert_eq!(current.data_range(Some(101), 100), Some((5100, 5200)));
        assert_eq!(current.data_range(Some(251), 100), Some((5250, 5300)));
        assert_eq!(current.data_range(Some(301), 100), None);
    }
}
