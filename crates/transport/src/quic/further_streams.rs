//! The streams beyond the main one, as an application uses them: those that the client has opened, by their numbers, and
//! priorities (RFC 9218, sections 4 and 10).

use core::ops::Range;

use subflow_wire::quic::{Direction, StreamId};

use super::{Connection, MAIN_STREAM};
use crate::Event;

/// How important the data of a stream is to its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority {
    /// From 0 to 7; the smaller, the earlier. Data of a more urgent stream goes first.
    pub urgency: u8,
    /// Whether the receiver uses parts of the data: streams with the same urgency take turns, packet by packet. Otherwise
    /// they are sent one after the other, in the order of their identifiers, and before those that take turns.
    pub incremental: bool,
}

impl Priority {
    /// The least urgent.
    pub const MOST: u8 = 7;
    /// That of a stream of which nothing is said, with turns.
    pub const TURNS: Self = Self { urgency: 3, incremental: true };
}

impl Default for Priority {
    /// That of RFC 9218, section 4.
    fn default() -> Self {
        Self { urgency: 3, incremental: false }
    }
}

/// Data that the latest datagram has brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its stream.
    pub stream: StreamId,
    /// Where it is in the stream.
    pub range: Range<u64>,
    /// Where its first byte is in all that the sender has sent on this connection, in the order in which it was sent first;
    /// meaningful of packets that are described, not of those that were parsed.
    pub(super) place: u64,
}

/// What has happened on streams beyond the main one, all together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Further {
    pub(super) written: u64,
    pub(super) received: u64,
    pub(super) acknowledged: u64,
}

/// The identifier of stream `number` of those that the client opens.
pub(super) const fn of_client(number: u64) -> StreamId {
    StreamId::new(number, false, Direction::Bidirectional)
}

impl Connection {
    /// Opens a further stream. Drain the connection after writing. Beyond the peer's limit nothing is sent on it before
    /// another stream is over.
    pub fn open_stream(&mut self, priority: Priority) -> StreamId {
        self.streams.open(priority)
    }

    /// Changes the priority of what this end sends on a stream that is open.
    pub fn set_priority(&mut self, stream: StreamId, priority: Priority) {
        self.streams.set_priority(stream, priority);
    }

    /// Writes `bytes` bytes on a stream that is open; without the bound of a send buffer.
    pub fn write_on(&mut self, stream: StreamId, bytes: u64) {
        if self.streams.change_send(stream, |send| send.write(bytes)).is_some() && stream != MAIN_STREAM {
            self.further.written += bytes;
        }
    }

    /// Ends a stream after the data written so far.
    pub fn finish_stream(&mut self, stream: StreamId) {
        self.streams.change_send(stream, |send| send.finish());
    }

    /// Bytes of a stream that have arrived in order, and whether that is all of it; `None` if it is not open, or both of
    /// its directions are over.
    pub fn received_on(&self, stream: StreamId) -> Option<(u64, bool)> {
        self.streams.receive(stream).map(|receive| (receive.received(), receive.is_complete()))
    }

    /// The data of all streams that the latest datagram has brought.
    pub fn taken_data(&self) -> &[Taken] {
        &self.taken
    }

    /// A frame has arrived on a further stream, after which `bytes` more bytes of it can be read: they are read at once.
    pub(super) fn on_further_readable(&mut self, stream: StreamId, bytes: u64, was_complete: bool) {
        let Some((received, is_complete)) = self.received_on(stream) else { return };
        self.further.received += bytes;
        self.streams.set_read(stream, u64::MAX);
        if !stream.is_by_server() {
            let number = stream.index();
            if bytes > 0 && received == bytes {
                self.stream.emit(Event::StreamBegun(number));
            }
            if is_complete && !was_complete {
                self.stream.emit(Event::StreamCompleted(number));
            }
        }
        self.streams.retire(stream);
    }

    /// The peer has received a part of a stream: by `growth` bytes more of its beginning.
    pub(super) fn on_further_acknowledged(&mut self, stream: StreamId, growth: u64) {
        self.further.acknowledged += growth;
        self.streams.retire(stream);
    }
}
