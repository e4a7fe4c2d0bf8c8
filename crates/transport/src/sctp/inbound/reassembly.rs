//! From chunks to messages: reassembly of fragments (RFC 9260, section 6.9). Complete messages are passed to
//! [`StreamOrder`].

use std::collections::BTreeMap;

use super::Delivery;
use super::stream_order::StreamOrder;
use crate::sctp::violation::Violation;

/// A chunk as it arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    pub(super) stream: u16,
    pub(super) ssn: u64,
    pub(super) unordered: bool,
    pub(super) payload_protocol: u32,
    pub(super) begins: bool,
    pub(super) ends: bool,
    pub(super) length: u64,
}

/// A message that is being delivered in parts.
#[derive(Clone, Copy, Debug)]
struct Partial {
    next_tsn: u64,
    /// The fragment before, if one was delivered.
    last: Option<Arrived>,
}

/// All fragments and messages that were received and not delivered.
#[derive(Clone, Debug, Default)]
pub(super) struct Reassembly {
    /// Fragments of messages that are not complete, by TSN.
    fragments: BTreeMap<u64, Arrived>,
    partial: Option<Partial>,
    /// No message can begin to be delivered in parts, as the last search found; nothing has arrived since that changes
    /// this.
    nothing_may_begin: bool,
    /// Bytes of the fragments.
    held: u64,
    order: StreamOrder,
}

impl Reassembly {
    /// Bytes held.
    pub(super) fn held(&self) -> u64 {
        self.held + self.order.held()
    }

    /// Fragments and messages held, each of which takes memory beside its bytes.
    pub(super) fn pieces(&self) -> usize {
        self.fragments.len() + self.order.waiting()
    }

    /// The next message of a stream, for unwrapping numbers.
    pub(super) fn next_of(&self, stream: u16) -> u64 {
        self.order.next_of(stream)
    }

    /// Processes a chunk that has not arrived before. Messages that become deliverable are added to `out`.
    pub(super) fn insert(&mut self, tsn: u64, arrived: Arrived, out: &mut Vec<Delivery>) -> Result<(), Violation> {
        if self.partial.is_some_and(|partial| partial.next_tsn == tsn) {
            self.check_neighbours(tsn, &arrived)?;
            self.hold(tsn, arrived);
            self.deliver_partial(out);
            return Ok(());
        }
        if arrived.begins && arrived.ends {
            return self.complete(tsn, tsn, arrived, arrived.length, out);
        }
        self.check_neighbours(tsn, &arrived)?;
        self.hold(tsn, arrived);
        let Some((first, last)) = self.whole_around(tsn) else { return Ok(()) };
        let bytes = (first..=last).map(|tsn| self.release(tsn)).sum();
        self.complete(first, last, arrived, bytes, out)
    }

    fn hold(&mut self, tsn: u64, arrived: Arrived) {
        self.held += arrived.length;
        self.nothing_may_begin &= !arrived.begins;
        self.fragments.insert(tsn, arrived);
    }

    /// Removes a fragment and returns its length.
    fn release(&mut self, tsn: u64) -> u64 {
        let length = self.fragments.remove(&tsn).map_or(0, |fragment| fragment.length);
        self.held -= length;
        length
    }

    /// Checks that adjacent fragments are of one message, or that one message ends and the next begins.
    fn check_neighbours(&self, tsn: u64, arrived: &Arrived) -> Result<(), Violation> {
        let fit = |first: &Arrived, second: &Arrived| {
            let same = (first.stream, first.unordered) == (second.stream, second.unordered)
                && (first.unordered || first.ssn == second.ssn);
            first.ends == second.begins && (first.ends || same)
        };
        let delivered = self.partial.as_ref().filter(|partial| partial.next_tsn == tsn);
        let before = self.fragments.get(&(tsn - 1)).or(delivered.and_then(|partial| partial.last.as_ref()));
        let before = before.is_none_or(|before| fit(before, arrived));
        let behind = self.fragments.get(&(tsn + 1)).is_none_or(|behind| fit(arrived, behind));
        if before && behind { Ok(()) } else { Err(Violation) }
    }

    /// The first and the last fragment of the message around `tsn`, if it is complete. The search goes in both
    /// directions at once, so its cost is at most the distance to the nearest hole, whatever the order of fragments.
    fn whole_around(&self, tsn: u64) -> Option<(u64, u64)> {
        let (mut first, mut last) = (tsn, tsn);
        loop {
            let (begins, ends) = (self.fragments.get(&first)?.begins, self.fragments.get(&last)?.ends);
            if begins && ends {
                return Some((first, last));
            }
            first -= u64::from(!begins);
            last += u64::from(!ends);
        }
    }

    /// Processes a complete message.
    fn complete(
        &mut self,
        first: u64,
        last: u64,
        like: Arrived,
        bytes: u64,
        out: &mut Vec<Delivery>,
    ) -> Result<(), Violation> {
        let Arrived { stream, ssn, unordered, payload_protocol, .. } = like;
        let tsns = (first, last);
        self.nothing_may_begin = false;
        let message = Delivery { stream, unordered, payload_protocol, tsns, bytes, begins: true, ends: true };
        if !unordered {
            return self.order.insert(message, ssn, out);
        }
        out.push(message);
        Ok(())
    }

    /// Begins to deliver a message in parts: the first one that may be delivered next and whose first fragment has
    /// arrived. Returns whether there was one.
    pub(super) fn begin_partial(&mut self, out: &mut Vec<Delivery>) -> bool {
        if self.partial.is_some() || self.nothing_may_begin {
            return false;
        }
        let may_begin = |fragment: &Arrived| {
            fragment.begins && (fragment.unordered || fragment.ssn == self.next_of(fragment.stream))
        };
        let Some(next_tsn) = self.fragments.iter().find(|(_, fragment)| may_begin(fragment)).map(|(&tsn, _)| tsn)
        else {
            self.nothing_may_begin = true;
            return false;
        };
        self.partial = Some(Partial { next_tsn, last: None });
        self.deliver_partial(out);
        true
    }

    /// Continues the message that is being delivered in parts.
    fn deliver_partial(&mut self, out: &mut Vec<Delivery>) {
        let Some(Partial { mut next_tsn, mut last }) = self.partial else { return };
        while let Some(&fragment) = self.fragments.get(&next_tsn) {
            let Arrived { stream, unordered, payload_protocol, begins, ends, .. } = fragment;
            let (bytes, tsns) = (self.release(next_tsn), (next_tsn, next_tsn));
            out.push(Delivery { stream, unordered, payload_protocol, tsns, bytes, begins, ends });
            (next_tsn, last) = (next_tsn + 1, Some(fragment));
            if ends {
                self.partial = None;
                if !unordered {
                    self.order.advance(stream, out);
                }
                return;
            }
        }
        self.partial = Some(Partial { next_tsn, last });
    }

    /// The peer has given up all chunks up to `cumulative`, and on these streams all messages up to these numbers (RFC
    /// 3758, section 3.6).
    pub(super) fn forward(&mut self, cumulative: u64, streams: &[(u16, u64)], out: &mut Vec<Delivery>) {
        self.nothing_may_begin = false;
        let beyond = self.fragments.split_off(&(cumulative + 1));
        let dropped = core::mem::replace(&mut self.fragments, beyond);
        self.held -= dropped.values().map(|fragment| fragment.length).sum::<u64>();
        self.partial = self.partial.filter(|partial| partial.next_tsn > cumulative);
        for &(stream, ssn) in streams {
            self.order.skip(stream, ssn, out);
        }
    }

    /// Drops a held chunk, to make room. Returns false if it is not held by itself: it was delivered, or belongs to a
    /// complete message.
    pub(super) fn drop_chunk(&mut self, tsn: u64) -> bool {
        if self.fragments.contains_key(&tsn) {
            self.release(tsn);
            return true;
        }
        self.order.drop_chunk(tsn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(ssn: u64, begins: bool, ends: bool) -> Arrived {
        Arrived { stream: 0, ssn, unordered: false, payload_protocol: 0, begins, ends, length: 10 }
    }

    fn whole(ssn: u64) -> Arrived {
        fragment(ssn, true, true)
    }

    fn inserted(reassembly: &mut Reassembly, tsn: u64, arrived: Arrived) -> Vec<(u64, u64)> {
        let mut out = Vec::new();
        reassembly.insert(tsn, arrived, &mut out).expect("no violation");
        out.iter().map(|delivery| delivery.tsns).collect()
    }

    #[test]
    fn messages_of_a_stream_wait_for_those_before_them() {
        let mut reassembly = Reassembly::default();
        assert!(inserted(&mut reassembly, 2, whole(1)).is_empty());
        assert_eq!(reassembly.held(), 10);
        assert_eq!(inserted(&mut reassembly, 3, Arrived { stream: 4, ..whole(0) }), [(3, 3)]);
        assert_eq!(inserted(&mut reassembly, 5, Arrived { unordered: true, ..whole(0) }), [(5, 5)]);
        assert_eq!(inserted(&mut reassembly, 1, whole(0)), [(1, 1), (2, 2)]);
        assert_eq!(reassembly.held(), 0);
    }

    #[test]
    fn fragments_become_a_message_in_any_order() {
        let mut reassembly = Reassembly::default();
        assert!(inserted(&mut reassembly, 3, fragment(0, false, true)).is_empty());
        assert!(inserted(&mut reassembly, 1, fragment(0, true, false)).is_empty());
        assert_eq!(inserted(&mut reassembly, 2, fragment(0, false, false)), [(1, 3)]);
        assert_eq!(reassembly.held(), 0);
    }

    #[test]
    fn a_long_message_costs_little_in_whatever_order_its_fragments_come() {
        const LAST: u64 = 60_000;
        let at = |tsn: u64| fragment(0, tsn == 1, tsn == LAST);
        let orders: [Box<dyn Iterator<Item = u64>>; 3] =
            [Box::new(1..=LAST), Box::new((1..=LAST).rev()), Box::new((2..LAST).chain([LAST, 1]))];
        for order in orders {
            let mut reassembly = Reassembly::default();
            let delivered = order.map(|tsn| inserted(&mut reassembly, tsn, at(tsn)).len()).sum::<usize>();
            assert_eq!((delivered, reassembly.held(), reassembly.pieces()), (1, 0, 0));
        }
    }

    #[test]
    fn fragments_that_do_not_fit_are_a_violation() {
        let mut reassembly = Reassembly::default();
        inserted(&mut reassembly, 1, fragment(0, true, false));
        assert_eq!(reassembly.insert(2, fragment(1, true, false), &mut Vec::new()), Err(Violation));
        assert_eq!(reassembly.insert(2, fragment(1, false, true), &mut Vec::new()), Err(Violation));
    }

    #[test]
    fn a_large_message_is_delivered_in_parts() {
        let mut reassembly = Reassembly::default();
        inserted(&mut reassembly, 1, fragment(0, true, false));
        inserted(&mut reassembly, 2, fragment(0, false, false));
        inserted(&mut reassembly, 5, whole(1));
        let mut out = Vec::new();
        assert!(reassembly.begin_partial(&mut out) && !reassembly.begin_partial(&mut out));
        assert_eq!(
            out.iter().map(|part| (part.begins, part.ends)).collect::<Vec<_>>(),
            [(true, false), (false, false)]
        );
        assert_eq!(inserted(&mut reassembly, 3, fragment(0, false, false)), [(3, 3)]);
        assert_eq!(inserted(&mut reassembly, 4, fragment(0, false, true)), [(4, 4), (5, 5)]);
        assert_eq!(reassembly.held(), 0);
    }

    #[test]
    fn a_fragment_that_does_not_continue_the_message_being_delivered_is_a_violation() {
        let mut reassembly = Reassembly::default();
        inserted(&mut reassembly, 1, fragment(0, true, false));
        assert!(reassembly.begin_partial(&mut Vec::new()));
        for other in [Arrived { stream: 4, ..fragment(0, false, true) }, fragment(1, false, true), whole(1)] {
            assert_eq!(reassembly.insert(2, other, &mut Vec::new()), Err(Violation));
        }
        assert_eq!(inserted(&mut reassembly, 2, fragment(0, false, true)), [(2, 2)]);
    }

    #[test]
    fn what_the_peer_gave_up_is_passed_over() {
        let mut reassembly = Reassembly::default();
        inserted(&mut reassembly, 2, fragment(0, false, true));
        inserted(&mut reassembly, 3, whole(1));
        inserted(&mut reassembly, 5, whole(3));
        let mut out = Vec::new();
        reassembly.forward(4, &[(0, 2)], &mut out);
        assert_eq!(out.iter().map(|delivery| delivery.tsns).collect::<Vec<_>>(), [(3, 3), (5, 5)]);
        assert_eq!((reassembly.held(), reassembly.next_of(0)), (0, 4));
    }

    #[test]
    fn only_what_is_held_can_be_dropped() {
        let mut reassembly = Reassembly::default();
        inserted(&mut reassembly, 2, fragment(0, false, true));
        inserted(&mut reassembly, 3, whole(1));
        inserted(&mut reassembly, 4, Arrived { unordered: true, ..whole(0) });
        assert_eq!(reassembly.pieces(), 2);
        assert_eq!([4, 3, 2].map(|tsn| reassembly.drop_chunk(tsn)), [false, true, true]);
        assert_eq!((reassembly.held(), reassembly.pieces()), (0, 0));
    }
}
