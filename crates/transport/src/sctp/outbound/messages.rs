//! Messages written by the application and not sent yet. They are split into chunks only when these can be sent (RFC
//! 9260, sections 6.5 and 6.9).

use std::collections::VecDeque;

use subflow_quantity::Instant;

use crate::sctp::config::{MessageOptions, Reliability};

/// One chunk's worth of a message. The fragments of a message are sent one right after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sctp) struct Fragment {
    pub(in crate::sctp) stream: u16,
    /// Stream sequence number; unused in unordered messages.
    pub(in crate::sctp) ssn: u64,
    pub(in crate::sctp) unordered: bool,
    pub(in crate::sctp) payload_protocol: u32,
    /// First and last of its message.
    pub(in crate::sctp) begins: bool,
    pub(in crate::sctp) ends: bool,
    /// The offset of its bytes in all bytes that the application wrote.
    pub(in crate::sctp) offset: u64,
    pub(in crate::sctp) length: u32,
    /// Counts messages begun.
    pub(in crate::sctp) message: u64,
    pub(in crate::sctp) expires: Option<Instant>,
    pub(in crate::sctp) most_retransmissions: Option<u32>,
}

impl Fragment {
    /// Whether it may be abandoned (RFC 3758).
    pub(in crate::sctp) fn may_expire(&self) -> bool {
        self.expires.is_some() || self.most_retransmissions.is_some()
    }
}

/// Bytes of one write, to be split into messages of `message_size`.
#[derive(Clone, Debug)]
struct Write {
    offset: u64,
    remaining: u64,
    message_size: u64,
    options: MessageOptions,
    at: Instant,
}

/// A message of which a part was sent.
#[derive(Clone, Debug)]
struct Begun {
    /// Its next fragment, except for the length.
    next: Fragment,
    remaining: u64,
}

/// The application's messages that wait to be sent, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    writes: VecDeque<Write>,
    begun: Option<Begun>,
    /// The next stream sequence number of each stream.
    ssns: Vec<u64>,
    bytes: u64,
    count: u64,
}

impl Messages {
    /// Bytes that wait.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds `length` bytes at `offset` in all that was written.
    pub(super) fn push(&mut self, offset: u64, length: u64, message_size: u64, options: MessageOptions, at: Instant) {
        if length > 0 {
            self.bytes += length;
            self.writes.push_back(Write { offset, remaining: length, message_size: message_size.max(1), options, at });
        }
    }

    /// The length of the fragment that [`take`](Self::take) would return.
    pub(super) fn next_length(&self, most: u32) -> Option<u32> {
        let remaining = match &self.begun {
            Some(begun) => begun.remaining,
            None => self.writes.front().map(|write| write.remaining.min(write.message_size))?,
        };
        Some(remaining.min(u64::from(most)) as u32)
    }

    /// Removes the next fragment, of at most `most` bytes.
    pub(super) fn take(&mut self, most: u32) -> Option<Fragment> {
        let mut begun = match self.begun.take() {
            Some(begun) => begun,
            None => self.begin()?,
        };
        let length = begun.remaining.min(u64::from(most)) as u32;
        let ends = u64::from(length) == begun.remaining;
        let fragment = Fragment { length, ends, ..begun.next };
        self.bytes -= u64::from(length);
        if !ends {
            begun.next.offset += u64::from(length);
            begun.next.begins = false;
            begun.remaining -= u64::from(length);
            self.begun = Some(begun);
        }
        Some(fragment)
    }

    /// The next message.
    fn begin(&mut self) -> Option<Begun> {
        let write = self.writes.front_mut()?;
        let length = write.remaining.min(write.message_size);
        let MessageOptions { stream, unordered, reliability, payload_protocol } = write.options;
        let (expires, most_retransmissions) = match reliability {
            Reliability::Full => (None, None),
            Reliability::Lifetime(lifetime) => (Some(write.at.saturating_add(lifetime)), None),
            Reliability::Retransmissions(most) => (None, Some(most)),
        };
        self.count += 1;
        let ssn = if unordered { 0 } else { next_ssn(&mut self.ssns, stream) };
        let next = Fragment {
            stream,
            ssn,
            unordered,
            payload_protocol,
            begins: true,
            ends: false,
            offset: write.offset,
            length: 0,
            message: self.count,
            expires,
            most_retransmissions,
        };
        write.offset += length;
        write.remaining -= length;
        if write.remaining == 0 {
            self.writes.pop_front();
        }
        Some(Begun { next, remaining: length })
    }

    /// Drops messages whose lifetime has expired and of which nothing was sent; returns their number of bytes.
    pub(super) fn drop_expired(&mut self, now: Instant) -> u64 {
        let mut dropped = 0;
        while let Some(write) = self.writes.front() {
            let Reliability::Lifetime(lifetime) = write.options.reliability else { break };
            if write.at.saturating_add(lifetime) > now {
                break;
            }
            dropped += write.remaining;
            self.writes.pop_front();
        }
        self.bytes -= dropped;
        dropped
    }

    /// Drops what is left of the message begun, where it is `message`: some of its chunks were given up. Returns how
    /// many bytes it had left, and an empty fragment that ends it; `None` where that message has been taken whole.
    pub(super) fn abandon(&mut self, message: u64) -> Option<(u64, Fragment)> {
        let begun = self.begun.take_if(|begun| begun.next.message == message)?;
        self.bytes -= begun.remaining;
        Some((begun.remaining, Fragment { ends: true, ..begun.next }))
    }

    /// Drops unsent messages for this stream and those above; returns their number of bytes.
    pub(super) fn drop_streams_from(&mut self, first: u16) -> u64 {
        let before: u64 = self.writes.iter().map(|write| write.remaining).sum();
        self.writes.retain(|write| write.options.stream < first);
        let dropped = before - self.writes.iter().map(|write| write.remaining).sum::<u64>();
        self.bytes -= dropped;
        dropped
    }

    /// Removes every message of which nothing was sent; returns their number of bytes.
    pub(super) fn discard(&mut self) -> u64 {
        let kept = self.begun.as_ref().map_or(0, |begun| begun.remaining);
        let dropped = self.bytes - kept;
        self.writes.clear();
        self.bytes = kept;
        dropped
    }
}

fn next_ssn(ssns: &mut Vec<u64>, stream: u16) -> u64 {
    let stream = usize::from(stream);
    if ssns.len() <= stream {
        ssns.resize(stream + 1, 0);
    }
    ssns[stream] += 1;
    ssns[stream] - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use subflow_quantity::Duration;

    fn messages(length: u64, size: u64, options: MessageOptions) -> Messages {
        let mut messages = Messages::default();
        messages.push(0, length, size, options, Instant::ZERO);
        messages
    }

    fn taken(messages: &mut Messages, most: u32) -> Vec<(u64, u64, u32, bool, bool)> {
        core::iter::from_fn(|| messages.take(most))
            .map(|fragment| (fragment.ssn, fragment.offset, fragment.length, fragment.begins, fragment.ends))
            .collect()
    }

    #[test]
    fn a_write_becomes_messages_and_they_become_fragments() {
        let mut messages = messages(2500, 1000, MessageOptions::default());
        let expected = [
            (0, 0, 600, true, false),
            (0, 600, 400, false, true),
            (1, 1000, 600, true, false),
            (1, 1600, 400, false, true),
            (2, 2000, 500, true, true),
        ];
        assert_eq!(taken(&mut messages, 600), expected);
        assert_eq!(messages.bytes(), 0);
    }

    #[test]
    fn each_stream_counts_its_own_messages_and_unordered_ones_count_nowhere() {
        let mut messages = Messages::default();
        for (stream, unordered) in [(0, false), (3, false), (0, true), (0, false), (3, false)] {
            messages.push(0, 1, 1, MessageOptions { stream, unordered, ..MessageOptions::default() }, Instant::ZERO);
        }
        let numbers: Vec<_> = core::iter::from_fn(|| messages.take(10)).map(|f| (f.stream, f.ssn)).collect();
        assert_eq!(numbers, [(0, 0), (3, 0), (0, 0), (0, 1), (3, 1)]);
    }

    #[test]
    fn messages_that_expire_before_they_begin_take_no_number() {
        let lifetime = Reliability::Lifetime(Duration::from_millis(10));
        let mut messages = messages(100, 100, MessageOptions { reliability: lifetime, ..MessageOptions::default() });
        messages.push(100, 50, 50, MessageOptions::default(), Instant::ZERO);
        assert_eq!(messages.drop_expired(Instant::from_nanos(9_999_999)), 0);
        assert_eq!(messages.drop_expired(Instant::from_nanos(10_000_000)), 100);
        assert_eq!(taken(&mut messages, 100), [(0, 100, 50, true, true)]);
    }

    #[test]
    fn giving_up_takes_the_rest_of_the_message_begun_and_no_other() {
        let mut messages = messages(2000, 1000, MessageOptions::default());
        let first = messages.take(400).expect("a fragment");
        assert_eq!(messages.abandon(first.message + 1), None);
        let (rest, end) = messages.abandon(first.message).expect("it is begun");
        assert_eq!((rest, end.length, end.ends), (600, 0, true));
        assert_eq!(taken(&mut messages, 1000), [(1, 1000, 1000, true, true)]);
    }

    #[test]
    fn discarding_keeps_the_message_begun() {
        let mut messages = messages(2000, 1000, MessageOptions::default());
        messages.take(400);
        assert_eq!(messages.discard(), 1000);
        assert_eq!(taken(&mut messages, 1000), [(0, 400, 600, false, true)]);
    }
}
