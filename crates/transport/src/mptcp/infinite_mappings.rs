//! Infinite mappings and MP_FAIL (RFC 8684, section 3.7), after a fallback in the middle of a connection.
//!
//! On the only subflow that there ever was, the stream is the data: the infinite mapping acts retroactively, and what a
//! middlebox has altered is kept, as on a connection of TCP. Linux does the same.
//!
//! If other subflows have carried data, bytes before an infinite mapping keep the mappings with which they were sent,
//! also when they are retransmitted. If these bytes were corrupted, the data is sent once more under the infinite
//! mapping, and their retransmissions on the subflow are discarded.

use arrayvec::ArrayVec;

use super::keys::Key;

/// Maximum number of the peer's infinite mappings kept at a time. The peer starts a new one after an MP_FAIL of this
/// side.
const MAX_INFINITE: usize = 8;

/// From subflow byte `.0` on, bytes are data from offset `.1` on.
type Start = (u64, u64);

/// The infinite mappings of both directions, and what has been refused with MP_FAIL.
#[derive(Clone, Debug)]
pub(super) struct InfiniteMappings {
    /// The subflow that is left.
    subflow: usize,
    remote_key: Key,
    has_sole_carrier: bool,
    /// The mapping of this side.
    send: Start,
    /// The byte that the option of this side's mapping names. With a sole carrier it is an earlier one of the same
    /// mapping, which the peer has acknowledged.
    named: Start,
    /// The mappings of the peer that still apply, in ascending order: more than one if the peer started a new one.
    receive: ArrayVec<Start, MAX_INFINITE>,
    /// The data offset of this side's MP_FAIL. The option is sent with every acknowledgment until the peer starts an
    /// infinite mapping at this offset, since an acknowledgment may be lost.
    failed_at: Option<u64>,
    /// The data offset of an MP_FAIL of this side (also of one that answers the peer's) at which the peer has not yet
    /// started a new mapping. Since the peer may do so, the mapping of bytes beyond a hole is not known until then.
    requested: Option<u64>,
    /// The data offset of the peer's MP_FAIL.
    peer_failed_at: Option<u64>,
}

/// How a data segment of this side is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SentMapping {
    /// By a mapping of its own.
    Own,
    /// It begins the infinite mapping, whose option names this subflow byte and this data offset.
    BeginsInfinite(u64, u64),
    /// It lies within the infinite mapping and has no option.
    Covered,
}

impl InfiniteMappings {
    pub(super) fn new(subflow: usize, remote_key: Key, has_sole_carrier: bool, send: Start) -> Self {
        Self {
            subflow,
            remote_key,
            has_sole_carrier,
            send,
            named: send,
            receive: ArrayVec::new(),
            failed_at: None,
            requested: None,
            peer_failed_at: None,
        }
    }

    pub(super) fn subflow(&self) -> usize {
        self.subflow
    }

    pub(super) fn remote_key(&self) -> &Key {
        &self.remote_key
    }

    /// Whether no other subflow can ever have carried data.
    pub(super) fn has_sole_carrier(&self) -> bool {
        self.has_sole_carrier
    }

    /// This side's mapping begins at subflow byte `start` with data byte `data`.
    pub(super) fn restart(&mut self, start: u64, data: u64) {
        (self.send, self.named) = ((start, data), (start, data));
    }

    /// All data from byte `acknowledged` on was sent in order before this side's mapping: its option names that byte.
    pub(super) fn act_from(&mut self, acknowledged: u64) {
        let (start, data) = self.send;
        if let Some(start) = start.checked_sub(data.saturating_sub(acknowledged)) {
            self.named = (start, acknowledged.min(data));
        }
    }

    /// The first subflow byte of this side without a mapping of its own.
    pub(super) fn first_unmapped(&self) -> u64 {
        self.send.0
    }

    /// The mapping of a segment with the subflow bytes `offset..end`.
    pub(super) fn mapping_of(&mut self, offset: u64, end: u64) -> SentMapping {
        let (mut start, mut data) = self.send;
        if offset < start && start < end {
            // The segment contains data queued both before and after the fallback, and has a mapping of its own.
            (start, data) = (end, data + (end - start));
            self.restart(start, data);
        }
        match offset.cmp(&start) {
            core::cmp::Ordering::Less => SentMapping::Own,
            core::cmp::Ordering::Equal => SentMapping::BeginsInfinite(self.named.0, self.named.1),
            core::cmp::Ordering::Greater => SentMapping::Covered,
        }
    }

    /// The data offset up to which the subflow has delivered, of which the peer has acknowledged `acknowledged` bytes;
    /// `None` until all data with mappings is delivered.
    pub(super) fn delivered(&self, acknowledged: u64) -> Option<u64> {
        let (start, data) = self.send;
        (acknowledged >= start).then(|| data + (acknowledged - start))
    }

    /// The peer's bytes from subflow byte `start` on are data from offset `data` on, while `done` bytes have arrived in
    /// order. Returns whether there was room.
    pub(super) fn receive_from(&mut self, start: u64, data: u64, done: u64) -> bool {
        let known = &mut self.receive;
        // Of the mappings that begin below the data that has arrived, only the last one still applies.
        let past = known.partition_point(|&(start, _)| start <= done);
        known.drain(..past.saturating_sub(1));
        let at = known.partition_point(|&(known, _)| known < start);
        known.get(at).is_some_and(|&(known, _)| known == start) || known.try_insert(at, (start, data)).is_ok()
    }

    /// The peer's stream goes on as it comes: byte `start` is data byte `data`, and so on in both directions.
    pub(super) fn receive_all(&mut self, start: u64, data: u64) {
        let before = start.min(data);
        self.receive.clear();
        self.receive.push((start - before, data - before));
    }

    /// The checksum of the data from offset `data` on, which is kept, was wrong: MP_FAIL says so until the peer answers.
    pub(super) fn report(&mut self, data: u64) {
        self.failed_at = Some(data);
    }

    /// The peer has answered the report: it sends without mappings, too.
    pub(super) fn on_answer(&mut self) {
        self.failed_at = None;
    }

    /// The peer has started a mapping at data offset `data`, which answers the MP_FAILs from there on.
    pub(super) fn on_restart_of_peer(&mut self, data: u64) {
        self.failed_at = self.failed_at.filter(|&failed| data > failed);
        self.requested = self.requested.filter(|&requested| data > requested);
    }

    /// The data offset of the peer's subflow byte `offset`, if an infinite mapping covers it.
    pub(super) fn data_of(&self, offset: u64) -> Option<u64> {
        let &(start, data) = self.receive.iter().rfind(|&&(start, _)| start <= offset)?;
        Some(data + (offset - start))
    }

    /// Whether the peer has not yet started any infinite mapping.
    pub(super) fn awaits_first(&self) -> bool {
        self.receive.is_empty()
    }

    /// Whether the peer may yet start a mapping that an MP_FAIL has requested.
    pub(super) fn awaits_requested(&self) -> bool {
        self.requested.is_some()
    }

    /// Subflow byte `offset` belongs to data that this side cannot accept: MP_FAIL requests all data from `next` on.
    /// Returns whether it has to be sent. It need not if a mapping already starts beyond the byte, since the data is
    /// then sent again.
    pub(super) fn refuse(&mut self, offset: u64, next: u64) -> bool {
        if self.receive.iter().any(|&(start, data)| start > offset && data <= next) {
            return false;
        }
        (self.failed_at, self.requested) = (Some(next), Some(next));
        true
    }

    /// The peer is asked once, by the answer to its MP_FAIL, to start a mapping at data offset `next`.
    pub(super) fn request(&mut self, next: u64) {
        self.requested = Some(next);
    }

    /// The data offset of the MP_FAIL that has to be sent.
    pub(super) fn failed_at(&self) -> Option<u64> {
        self.failed_at
    }

    /// The peer has refused the data from `offset` on. Returns whether this is new.
    pub(super) fn on_refused(&mut self, offset: u64) -> bool {
        self.peer_failed_at.replace(offset) != Some(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mappings() -> InfiniteMappings {
        InfiniteMappings::new(0, Key::new(1), true, (100, 1000))
    }

    #[test]
    fn a_segment_across_the_start_has_its_own_mapping_and_moves_the_start() {
        let mut mappings = mappings();
        assert_eq!(mappings.mapping_of(50, 100), SentMapping::Own);
        assert_eq!(mappings.mapping_of(90, 120), SentMapping::Own);
        assert_eq!(mappings.first_unmapped(), 120);
        assert_eq!(mappings.mapping_of(120, 140), SentMapping::BeginsInfinite(120, 1020));
        assert_eq!(mappings.mapping_of(140, 160), SentMapping::Covered);
        assert_eq!((mappings.delivered(119), mappings.delivered(130)), (None, Some(1030)));
    }

    #[test]
    fn the_option_names_an_acknowledged_byte_of_the_same_mapping() {
        let mut mappings = mappings();
        mappings.act_from(940);
        assert_eq!(mappings.mapping_of(100, 110), SentMapping::BeginsInfinite(40, 940));
        mappings.act_from(899);
        assert_eq!(
            mappings.mapping_of(100, 110),
            SentMapping::BeginsInfinite(40, 940),
            "no byte of the stream is that"
        );
    }

    #[test]
    fn a_stream_that_is_the_data_is_so_in_both_directions_from_any_byte() {
        let mut mappings = mappings();
        mappings.receive_all(50, 60);
        assert_eq!([0, 50, 70].map(|offset| mappings.data_of(offset)), [Some(10), Some(60), Some(80)]);
        mappings.report(60);
        assert!(mappings.failed_at() == Some(60) && !mappings.awaits_first() && !mappings.awaits_requested());
        mappings.on_answer();
        assert_eq!(mappings.failed_at(), None);
    }

    #[test]
    fn a_byte_belongs_to_the_last_mapping_that_starts_before_it() {
        let mut mappings = mappings();
        assert!(mappings.awaits_first() && mappings.receive_from(10, 500, 0));
        assert!(mappings.receive_from(50, 520, 0));
        assert_eq!([5, 10, 49, 50].map(|offset| mappings.data_of(offset)), [None, Some(500), Some(539), Some(520)]);
        assert!((60..66).all(|start| mappings.receive_from(start, start, 0)));
        assert!(!mappings.receive_from(70, 70, 0), "there is room for eight");
        assert!(mappings.receive_from(70, 70, 60), "those that the data has passed are gone");
    }

    #[test]
    fn data_is_refused_until_the_peer_sends_it_again() {
        let mut mappings = mappings();
        assert!(mappings.refuse(20, 300));
        mappings.on_restart_of_peer(301);
        assert_eq!(mappings.failed_at(), Some(300), "data before it is still missing");
        mappings.on_restart_of_peer(300);
        assert!(mappings.failed_at().is_none() && !mappings.awaits_requested());
        mappings.receive_from(40, 300, 0);
        assert!(!mappings.refuse(20, 300), "a mapping that repeats the data is known");
        assert!(mappings.on_refused(7) && !mappings.on_refused(7));
    }
}
