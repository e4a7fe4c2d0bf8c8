//! The messages of the handshake in one packet number space (RFC 9000, sections 7 and 19.6), with their bytes.

use core::ops::Range;
use std::collections::{BTreeMap, VecDeque};

use subflow_wire::quic::CryptoFrame;

use super::error::TransportError;

/// Bytes of messages that are kept before they are complete (section 7.5: at least 4096).
const MOST_BUFFERED: u64 = 16_384;
/// Parts that wait for others before them: they may overlap.
const MOST_PARTS: usize = 64;
/// Type and length in front of each message (RFC 8446, section 4).
const MESSAGE_HEADER: usize = 4;

/// A message of TLS 1.3: its type and its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) kind: u8,
    pub(super) body: Vec<u8>,
}

/// Both directions of the messages of a packet number space.
#[derive(Clone, Debug, Default)]
pub(super) struct CryptoStream {
    outgoing: Vec<u8>,
    next: usize,
    /// What was lost, in the order in which that was found.
    lost: VecDeque<Range<usize>>,
    /// What has arrived in order, and was not read.
    incoming: Vec<u8>,
    /// Where that ends.
    received: u64,
    /// What has arrived beyond, by its offset.
    beyond: BTreeMap<u64, Box<[u8]>>,
}

impl CryptoStream {
    /// Sends a message, whose body is padded with zeros so that the message has at least `length` bytes.
    pub(super) fn write(&mut self, kind: u8, body: &[u8], length: u32) {
        let end = self.outgoing.len() + (length as usize).max(MESSAGE_HEADER + body.len());
        let body_length = (end - self.outgoing.len() - MESSAGE_HEADER) as u32;
        self.outgoing.extend_from_slice(&(u32::from(kind) << 24 | body_length).to_be_bytes());
        self.outgoing.extend_from_slice(body);
        self.outgoing.resize(end, 0);
    }

    /// Sends messages as they are.
    pub(super) fn write_messages(&mut self, messages: &[u8]) {
        self.outgoing.extend_from_slice(messages);
    }

    /// Whether there is anything to send.
    #[inline]
    pub(super) fn has_pending(&self) -> bool {
        self.next < self.outgoing.len() || !self.lost.is_empty()
    }

    /// Takes the next frame, which may have `room` bytes.
    pub(super) fn take(&mut self, room: u32) -> Option<CryptoFrame> {
        let next = self.lost.front().cloned().unwrap_or(self.next..self.outgoing.len());
        // The field of the length takes at most two bytes.
        let header = CryptoFrame::header_length(next.start as u64, room.min(0x3fff));
        let length = next.len().min(room.checked_sub(header)? as usize);
        if length == 0 {
            return None;
        }
        let range = next.start..next.start + length;
        match self.lost.front_mut() {
            Some(first) if range.end < first.end => first.start = range.end,
            Some(_) => _ = self.lost.pop_front(),
            None => self.next = range.end,
        }
        Some(CryptoFrame { offset: range.start as u64, data: self.outgoing[range].into() })
    }

    /// A frame is lost, or a probe sends it again.
    pub(super) fn on_lost(&mut self, start: u64, end: u64) {
        let range = start as usize..end as usize;
        if !self.lost.contains(&range) {
            self.lost.push_back(range);
        }
    }

    /// Takes a frame.
    ///
    /// # Errors
    ///
    /// More than is kept is beyond the first byte that is missing, or belongs to a message that is not complete.
    pub(super) fn accept(&mut self, frame: &CryptoFrame) -> Result<(), TransportError> {
        let end = frame.offset + frame.data.len() as u64;
        let is_full = self.beyond.len() >= MOST_PARTS || self.incoming.len() as u64 > MOST_BUFFERED;
        if end > self.received + MOST_BUFFERED || is_full {
            return Err(TransportError::CryptoBufferExceeded);
        }
        if end <= self.received {
            return Ok(());
        }
        let longest = self.beyond.get(&frame.offset).map_or(0, |data| data.len());
        if frame.data.len() > longest {
            self.beyond.insert(frame.offset, frame.data.clone());
        }
        while let Some(first) = self.beyond.first_entry().filter(|first| *first.key() <= self.received) {
            let (offset, data) = first.remove_entry();
            let known = (self.received - offset) as usize;
            if let Some(new) = data.get(known..) {
                self.incoming.extend_from_slice(new);
                self.received += new.len() as u64;
            }
        }
        Ok(())
    }

    /// What has arrived in order since it was taken last: messages and parts of them.
    pub(super) fn take_arrived(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.incoming)
    }

    /// The next message that has arrived completely.
    pub(super) fn next_message(&mut self) -> Option<Message> {
        let header = u32::from_be_bytes(*self.incoming.first_chunk()?);
        let end = MESSAGE_HEADER + (header & 0x00ff_ffff) as usize;
        let body = self.incoming.get(MESSAGE_HEADER..end)?.to_vec();
        self.incoming.drain(..end);
        Some(Message { kind: (header >> 24) as u8, body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_whatever_the_order_of_their_parts() {
        let mut sender = CryptoStream::default();
        sender.write(1, &[7; 300], 100);
        sender.write(2, &[8], 50);
        let mut frames = Vec::new();
        while let Some(frame) = sender.take(120) {
            frames.push(frame);
        }
        assert!(!sender.has_pending() && frames.len() == 4);
        let mut receiver = CryptoStream::default();
        for frame in frames.iter().rev().chain(&frames) {
            assert_eq!(receiver.accept(frame), Ok(()));
        }
        assert_eq!(receiver.next_message(), Some(Message { kind: 1, body: vec![7; 300] }));
        let padded = receiver.next_message().expect("the second one");
        assert_eq!((padded.kind, padded.body.len(), padded.body[0]), (2, 46, 8));
        assert_eq!(receiver.next_message(), None);
    }

    #[test]
    fn lost_parts_are_sent_again_before_new_ones() {
        let mut sender = CryptoStream::default();
        sender.write(1, &[0; 396], 0);
        let first = sender.take(103).expect("the first part");
        sender.on_lost(0, first.data.len() as u64);
        let again = sender.take(53).expect("a part of the first one");
        assert_eq!((again.offset, again.data.len()), (0, 50));
        assert_eq!(sender.take(3), None, "there is no room, and nothing is forgotten");
        assert_eq!(sender.take(1000).map(|rest| (rest.offset, rest.data.len())), Some((50, first.data.len() - 50)));
        assert_eq!(sender.take(1000).map(|rest| rest.offset), Some(first.data.len() as u64));
    }

    #[test]
    fn what_lies_far_ahead_is_an_error() {
        let frame = CryptoFrame { offset: MOST_BUFFERED, data: [0].into() };
        assert_eq!(CryptoStream::default().accept(&frame), Err(TransportError::CryptoBufferExceeded));
        let mut stream = CryptoStream::default();
        let results = (1..100).map(|offset| stream.accept(&CryptoFrame { offset, data: [0; 9].into() }));
        assert_eq!(results.filter(Result::is_ok).count(), MOST_PARTS, "parts that overlap");
    }
}
