//! The send side of the data level: what is assigned to subflows, what is acknowledged, and the peer's window (RFC 8684,
//! section 3.3.2).

use core::ops::Range;
use std::collections::VecDeque;

use subflow_policy::scheduler::{SentRange, SubflowSet};

/// The send side of the data level. Offsets count this side's bytes from 0.
///
/// While MPTCP is used, the outstanding ranges cover `una..next` without gaps, and each is carried by a subflow or waits
/// for one.
#[derive(Clone, Debug, Default)]
pub(super) struct SendSide {
    /// Everything below is acknowledged.
    una: u64,
    /// Next byte that has not been assigned to a subflow.
    next: u64,
    /// Offset after the last byte within the peer's window.
    window_end: u64,
    /// Ranges assigned and not acknowledged, oldest first.
    outstanding: VecDeque<SentRange>,
    /// Number of outstanding ranges that wait for reinjection.
    reinjections: usize,
    /// How often the peer's window prevented a subflow with room from sending.
    blocked: u64,
}

/// What a DATA_ACK acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acknowledged {
    /// It is older than another one, or acknowledges what was not sent: it has no effect.
    Invalid,
    Nothing,
    New,
}

impl SendSide {
    #[inline]
    pub(super) fn una(&self) -> u64 {
        self.una
    }

    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    pub(super) fn blocked(&self) -> u64 {
        self.blocked
    }

    /// The ranges assigned and not acknowledged, oldest first.
    #[inline]
    pub(super) fn outstanding(&self) -> &VecDeque<SentRange> {
        &self.outstanding
    }

    #[inline]
    pub(super) fn has_reinjections(&self) -> bool {
        self.reinjections > 0
    }

    /// Whether any of the `written` bytes is not assigned, or not acknowledged.
    #[inline]
    pub(super) fn has_work(&self, written: u64) -> bool {
        written > self.next || !self.outstanding.is_empty()
    }

    /// The oldest range that waits for reinjection.
    #[inline]
    pub(super) fn first_reinjection(&self) -> Option<&SentRange> {
        match self.reinjections {
            0 => None,
            _ => self.outstanding.iter().find(|sent| sent.reinject),
        }
    }

    /// The peer's window, in bytes from the first that is not acknowledged.
    #[inline]
    pub(super) fn window(&self) -> u64 {
        self.window_end.saturating_sub(self.una)
    }

    /// What is left of the peer's window.
    #[inline]
    pub(super) fn window_left(&self) -> u64 {
        self.window_end.saturating_sub(self.next)
    }

    /// Number of the `written` bytes that are not yet assigned.
    #[inline]
    pub(super) fn backlog(&self, written: u64) -> u64 {
        written - self.next.min(written)
    }

    /// New data that may be assigned: written, and within the peer's window. If nothing is outstanding, one segment may
    /// exceed a closed window, so that its subflow sends a window probe.
    pub(super) fn new_data(&self, written: u64) -> Range<u64> {
        let probe = if self.outstanding.is_empty() { self.next + 1 } else { 0 };
        let end = written.min(self.window_end.max(probe));
        self.next..end.max(self.next)
    }

    /// Whether the peer's window has room for `length` of the `written` bytes, or for all that are left.
    #[inline]
    pub(super) fn has_room(&self, length: u64, written: u64) -> bool {
        self.window_end >= written.min(self.next + length)
    }

    /// The peer's window kept a subflow with room from sending.
    pub(super) fn count_blocked(&mut self) {
        self.blocked += 1;
    }

    /// The peer's window has `window` bytes, as a segment without DATA_ACK says.
    pub(super) fn open_window(&mut self, window: u64) {
        self.window_end = self.window_end.max(self.una + window);
    }

    /// The peer acknowledges the first `acknowledged` bytes, from which on its window has `window` bytes. `fin_sent`: it
    /// may acknowledge a DATA_FIN, which counts as a byte.
    #[inline]
    pub(super) fn on_data_ack(&mut self, acknowledged: u64, window: u64, fin_sent: bool) -> Acknowledged {
        if acknowledged > self.next + u64::from(fin_sent) || acknowledged < self.una {
            return Acknowledged::Invalid;
        }
        self.window_end = self.window_end.max(acknowledged + window);
        if acknowledged <= self.una {
            return Acknowledged::Nothing;
        }
        self.una = acknowledged.min(self.next);
        while let Some(sent) = self.outstanding.front().filter(|sent| sent.range.end <= self.una) {
            self.reinjections -= usize::from(sent.reinject);
            self.outstanding.pop_front();
        }
        Acknowledged::New
    }

    /// After a fallback: the first `una` bytes are acknowledged. No ranges are kept any more.
    pub(super) fn on_plain_ack(&mut self, una: u64) {
        self.una = una;
    }

    /// `range`, which is the next data, is assigned to subflow `carrier`.
    #[inline]
    pub(super) fn assign(&mut self, range: Range<u64>, carrier: usize) {
        debug_assert_eq!(range.start, self.next);
        let mut carried_by = SubflowSet::default();
        carried_by.insert(carrier);
        self.next = range.end;
        self.outstanding.push_back(SentRange { range, carried_by, reinject: false });
    }

    /// A copy of the outstanding `range` is assigned to subflow `carrier`; of several ranges that were assigned one by
    /// one, only the first. Returns what is copied, and whether it waited for reinjection.
    pub(super) fn assign_copy(&mut self, range: Range<u64>, carrier: usize) -> Option<(Range<u64>, bool)> {
        let at = self.position(range.start)?;
        let sent = &mut self.outstanding[at];
        let range = range.start..range.end.min(sent.range.end);
        let waited = sent.reinject;
        if waited && range == sent.range {
            sent.reinject = false;
            self.reinjections -= 1;
        }
        sent.carried_by.insert(carrier);
        Some((range, waited))
    }

    /// After a fallback: all of the `written` bytes that are left are assigned to the only subflow.
    pub(super) fn assign_rest(&mut self, written: u64) -> Option<Range<u64>> {
        let rest = self.next..written;
        self.next = self.next.max(written);
        (!rest.is_empty()).then_some(rest)
    }

    /// After a fallback: the last `bytes` that were assigned are not sent.
    pub(super) fn take_back(&mut self, bytes: u64) {
        self.next -= bytes;
    }

    /// Goes back to offset `from`: data above it is treated as never sent.
    pub(super) fn rewind(&mut self, from: u64) {
        self.next = self.next.min(from);
        self.outstanding.retain(|sent| sent.range.end <= from);
        self.reinjections = self.outstanding.iter().filter(|sent| sent.reinject).count();
    }

    /// The outstanding range that contains `offset`.
    pub(super) fn range_at(&self, offset: u64) -> Option<Range<u64>> {
        Some(self.outstanding[self.position(offset)?].range.clone())
    }

    fn position(&self, offset: u64) -> Option<usize> {
        let at = self.outstanding.partition_point(|sent| sent.range.end <= offset);
        self.outstanding.get(at).is_some_and(|sent| sent.range.start <= offset).then_some(at)
    }

    /// The first byte of the oldest range that subflow `carrier` has not carried.
    pub(super) fn first_not_carried_by(&self, carrier: usize) -> Option<u64> {
        let missing = self.outstanding.iter().find(|sent| !sent.carried_by.contains(carrier))?;
        Some(missing.range.start.max(self.una))
    }
}

/// Reinjection.
impl SendSide {
    /// Marks for reinjection what `carrier` and none of `others` has carried.
    pub(super) fn reinject_from(&mut self, carrier: usize, others: SubflowSet) {
        self.reinject(|sent| sent.carried_by.contains(carrier) && sent.carried_by.0 & others.0 == 0);
    }

    /// Clears `carrier` from the outstanding ranges, because another subflow takes its place. Ranges that no other
    /// subflow has carried are marked for reinjection.
    pub(super) fn forget_carrier(&mut self, carrier: usize) {
        self.reinject(|sent| {
            sent.carried_by.remove(carrier);
            sent.carried_by.is_empty()
        });
    }

    fn reinject(&mut self, mut is_lost: impl FnMut(&mut SentRange) -> bool) {
        for sent in &mut self.outstanding {
            if is_lost(sent) && !sent.reinject {
                sent.reinject = true;
                self.reinjections += 1;
            }
        }
    }

    /// Marks the oldest range to be sent again on any subflow, unless it is marked.
    pub(super) fn reinject_oldest(&mut self) {
        if let Some(oldest) = self.outstanding.front_mut().filter(|oldest| !oldest.reinject) {
            (oldest.carried_by, oldest.reinject) = (SubflowSet::default(), true);
            self.reinjections += 1;
        }
    }

    /// Marks all outstanding data to be sent again on any subflow.
    pub(super) fn reinject_all(&mut self) {
        for sent in &mut self.outstanding {
            (sent.carried_by, sent.reinject) = (SubflowSet::default(), true);
        }
        self.reinjections = self.outstanding.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three ranges of 100 bytes; the first and the last are carried by subflow 0, the second by subflow 1.
    fn sent() -> SendSide {
        let mut send = SendSide::default();
        send.open_window(250);
        for (index, carrier) in [0, 1, 0].into_iter().enumerate() {
            send.assign(100 * index as u64..100 * (index as u64 + 1), carrier);
        }
        send
    }

    fn waiting(send: &SendSide) -> Vec<u64> {
        let waiting: Vec<_> = send.outstanding().iter().filter(|sent| sent.reinject).collect();
        assert_eq!(waiting.len(), send.reinjections);
        assert_eq!(send.has_reinjections(), !waiting.is_empty());
        waiting.iter().map(|sent| sent.range.start).collect()
    }

    #[test]
    fn a_data_ack_of_data_never_sent_or_an_old_one_has_no_effect() {
        let mut send = sent();
        assert_eq!(send.on_data_ack(301, 1000, false), Acknowledged::Invalid);
        assert_eq!(send.window_left(), 0);
        assert_eq!(send.on_data_ack(150, 100, false), Acknowledged::New);
        assert_eq!((send.una(), send.outstanding().len()), (150, 2), "the second range is acknowledged in part");
        assert_eq!(send.on_data_ack(149, 1000, false), Acknowledged::Invalid);
        assert_eq!(send.on_data_ack(150, 200, false), Acknowledged::Nothing);
        assert_eq!((send.window(), send.window_left()), (200, 50));
        assert_eq!(send.on_data_ack(301, 0, true), Acknowledged::New);
        assert_eq!(send.una(), 300, "a DATA_FIN is not a byte");
    }

    #[test]
    fn what_no_other_subflow_has_carried_is_reinjected_once() {
        let mut send = sent();
        assert_eq!(send.assign_copy(0..100, 1), Some((0..100, false)));
        send.reinject_from(0, SubflowSet(1 << 1));
        assert_eq!(waiting(&send), [200]);
        send.forget_carrier(1);
        assert_eq!(waiting(&send), [100, 200], "subflow 0 has carried the first range");
        assert_eq!(send.assign_copy(150..400, 0), Some((150..200, true)));
        assert_eq!(waiting(&send), [100, 200], "a part of the range does not do");
        assert_eq!(send.assign_copy(100..200, 0), Some((100..200, true)));
        assert_eq!(waiting(&send), [200]);
        send.on_data_ack(300, 0, false);
        assert_eq!(waiting(&send), [0; 0]);
    }

    #[test]
    fn data_above_the_point_of_return_was_never_sent() {
        let mut send = sent();
        send.reinject_all();
        send.rewind(200);
        assert_eq!((send.next(), waiting(&send)), (200, vec![0, 100]));
        assert_eq!(send.assign_rest(900), Some(200..900));
        assert_eq!(send.assign_rest(900), None);
    }

    #[test]
    fn a_closed_window_is_probed_with_one_byte_if_nothing_is_outstanding() {
        let mut send = SendSide::default();
        assert_eq!(send.new_data(500), 0..1);
        send.open_window(20);
        assert_eq!(send.new_data(500), 0..20);
        send.assign(0..20, 0);
        assert!(send.new_data(500).is_empty());
        assert!(!send.has_room(1, 500) && send.has_room(1, 20), "all that is written is assigned");
    }
}
