//! The order within each stream: messages wait for those before them (RFC 9260, section 6.6).

use std::collections::BTreeMap;

use super::Delivery;
use crate::sctp::violation::Violation;

/// Stream number and stream sequence number of a message.
type Place = (u16, u64);

/// The next message of every stream, and the complete messages that wait for it.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamOrder {
    /// The sequence number that comes next, by stream; streams that had no message are missing at the end.
    next: Vec<u64>,
    waiting: BTreeMap<Place, Delivery>,
    /// The waiting messages of one chunk each, by its TSN, to find them when they are dropped.
    single_chunks: BTreeMap<u64, Place>,
    /// Bytes of all waiting messages.
    held: u64,
}

impl StreamOrder {
    /// Bytes of the messages that wait.
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// How many messages wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The sequence number that comes next on a stream.
    pub(super) fn next_of(&self, stream: u16) -> u64 {
        self.next.get(usize::from(stream)).copied().unwrap_or(0)
    }

    /// Processes a complete ordered message with sequence number `ssn`. Messages that become deliverable are added to
    /// `out`. A message with a number below the next one is dropped.
    pub(super) fn insert(&mut self, message: Delivery, ssn: u64, out: &mut Vec<Delivery>) -> Result<(), Violation> {
        let next = self.next_of(message.stream);
        if ssn < next {
            return Ok(());
        }
        if ssn == next {
            out.push(message);
            self.advance(message.stream, out);
            return Ok(());
        }
        let place = (message.stream, ssn);
        if self.waiting.contains_key(&place) {
            return Err(Violation);
        }
        self.waiting.insert(place, message);
        if message.tsns.0 == message.tsns.1 {
            self.single_chunks.insert(message.tsns.0, place);
        }
        self.held += message.bytes;
        Ok(())
    }

    /// The next message of a stream is delivered, and with it those that follow without a hole.
    pub(super) fn advance(&mut self, stream: u16, out: &mut Vec<Delivery>) {
        let mut next = self.next_of(stream) + 1;
        while let Some(message) = self.take((stream, next)) {
            next += 1;
            out.push(message);
        }
        self.set_next(stream, next);
    }

    /// The peer has given up all messages of a stream up to `ssn`. Those of them that have arrived are delivered, and
    /// those that follow.
    pub(super) fn skip(&mut self, stream: u16, ssn: u64, out: &mut Vec<Delivery>) {
        if ssn < self.next_of(stream) {
            return;
        }
        while let Some((&place, _)) = self.waiting.range((stream, 0)..=(stream, ssn)).next() {
            out.extend(self.take(place));
        }
        self.set_next(stream, ssn);
        self.advance(stream, out);
    }

    /// Drops the waiting message of chunk `tsn`, to make room. Returns false if there is none.
    pub(super) fn drop_chunk(&mut self, tsn: u64) -> bool {
        let place = self.single_chunks.get(&tsn).copied();
        place.is_some_and(|place| self.take(place).is_some())
    }

    fn take(&mut self, place: Place) -> Option<Delivery> {
        if self.waiting.is_empty() {
            return None;
        }
        let message = self.waiting.remove(&place)?;
        if message.tsns.0 == message.tsns.1 {
            self.single_chunks.remove(&message.tsns.0);
        }
        self.held -= message.bytes;
        Some(message)
    }

    fn set_next(&mut self, stream: u16, next: u64) {
        let index = usize::from(stream);
        if self.next.len() <= index {
            self.next.resize(index + 1, 0);
        }
        self.next[index] = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of one chunk, of as many bytes as its TSN says.
    fn message(stream: u16, tsn: u64) -> Delivery {
        let tsns = (tsn, tsn);
        Delivery { stream, unordered: false, payload_protocol: 0, tsns, bytes: tsn, begins: true, ends: true }
    }

    fn inserted(order: &mut StreamOrder, stream: u16, tsn: u64, ssn: u64) -> Vec<u64> {
        let mut out = Vec::new();
        order.insert(message(stream, tsn), ssn, &mut out).expect("no violation");
        out.iter().map(|delivery| delivery.tsns.0).collect()
    }

    #[test]
    fn a_message_lets_those_out_that_wait_for_it_and_no_other_streams() {
        let mut order = StreamOrder::default();
        assert!(inserted(&mut order, 0, 12, 2).is_empty() && inserted(&mut order, 0, 11, 1).is_empty());
        assert!(inserted(&mut order, 5, 20, 1).is_empty());
        assert_eq!((order.held(), order.waiting()), (43, 3));
        assert_eq!(inserted(&mut order, 0, 10, 0), [10, 11, 12]);
        assert_eq!((order.held(), order.next_of(0), order.next_of(5)), (20, 3, 0));
    }

    #[test]
    fn one_from_before_the_next_is_dropped() {
        let mut order = StreamOrder::default();
        inserted(&mut order, 0, 10, 0);
        assert!(inserted(&mut order, 0, 11, 0).is_empty());
        assert_eq!((order.held(), order.next_of(0)), (0, 1));
    }

    #[test]
    fn two_messages_of_one_number_are_a_violation_and_the_first_one_stays() {
        let mut order = StreamOrder::default();
        inserted(&mut order, 0, 10, 1);
        assert_eq!(order.insert(message(0, 1000), 1, &mut Vec::new()), Err(Violation));
        assert_eq!(order.held(), 10);
        assert_eq!(inserted(&mut order, 0, 1, 0), [1, 10]);
        assert_eq!(order.held(), 0);
    }

    #[test]
    fn skipping_delivers_what_has_arrived() {
        let mut order = StreamOrder::default();
        inserted(&mut order, 3, 11, 1);
        inserted(&mut order, 3, 13, 3);
        inserted(&mut order, 3, 15, 5);
        let mut out = Vec::new();
        order.skip(3, 2, &mut out);
        assert_eq!(out.iter().map(|delivery| delivery.tsns.0).collect::<Vec<_>>(), [11, 13]);
        assert_eq!((order.next_of(3), order.held()), (4, 15));
        order.skip(3, 1, &mut out);
        assert_eq!((order.next_of(3), out.len()), (4, 2), "it was delivered before");
    }

    #[test]
    fn a_waiting_message_of_one_chunk_can_be_dropped() {
        let mut order = StreamOrder::default();
        inserted(&mut order, 0, 11, 1);
        assert_eq!([10, 11, 11].map(|tsn| order.drop_chunk(tsn)), [false, true, false]);
        assert_eq!((order.held(), order.waiting()), (0, 0));
        assert_eq!(inserted(&mut order, 0, 11, 1), [] as [u64; 0]);
        assert_eq!(inserted(&mut order, 0, 10, 0), [10, 11]);
    }
}
