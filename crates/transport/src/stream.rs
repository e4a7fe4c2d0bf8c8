//! The application's side of a connection: bytes written and read, and events. Shared by TCP and MPTCP.

use std::collections::VecDeque;

use crate::Event;

/// Byte counts of an application's streams, and events for the application.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    /// Bytes written.
    pub(crate) written: u64,
    /// Maximum number of bytes written and not acknowledged.
    send_buffer: Option<u64>,
    /// Whether the latest write was accepted only in part.
    blocked: bool,
    /// Whether the application has ended its stream.
    pub(crate) finished: bool,
    /// Bytes received in order.
    pub(crate) received: u64,
    mark: u64,
    /// Whether the application reads what arrives at once.
    pub(crate) reading: bool,
    /// Bytes read.
    pub(crate) read: u64,
    events: VecDeque<Event>,
}

impl Stream {
    pub(crate) fn new(send_buffer: Option<u64>) -> Self {
        Self {
            written: 0,
            send_buffer,
            blocked: false,
            finished: false,
            received: 0,
            mark: u64::MAX,
            reading: true,
            read: 0,
            events: VecDeque::new(),
        }
    }

    /// Accepts as many of `bytes` as fit into the send buffer while `acknowledged` bytes are acknowledged.
    pub(crate) fn admit(&mut self, bytes: u64, acknowledged: u64) -> u64 {
        if self.finished {
            return 0;
        }
        let room = self.send_buffer.map_or(u64::MAX, |limit| limit.saturating_sub(self.written - acknowledged));
        let admitted = bytes.min(room).min(u64::MAX / 4 - self.written);
        self.blocked = admitted < bytes;
        self.written += admitted;
        admitted
    }

    /// Reverses the acceptance of the last `bytes` bytes, which do not fit after all.
    pub(crate) fn take_back(&mut self, bytes: u64) {
        self.written -= bytes;
        self.blocked = true;
    }

    /// Emits [`Event::Writable`] if a writer waits.
    pub(crate) fn unblock(&mut self) {
        if self.blocked {
            self.blocked = false;
            self.emit(Event::Writable);
        }
    }

    /// Whether a write was accepted only in part and its writer waits.
    #[inline]
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// Whether the send buffer has no room at all while `acknowledged` bytes are acknowledged.
    pub(crate) fn is_full(&self, acknowledged: u64) -> bool {
        self.send_buffer.is_some_and(|limit| self.written - acknowledged >= limit)
    }

    /// Sets the number of acknowledged bytes. A waiting writer may continue once a third of the send buffer is free.
    pub(crate) fn on_acknowledged(&mut self, acknowledged: u64) {
        if let (true, Some(limit)) = (self.blocked, self.send_buffer)
            && self.written - acknowledged <= limit - limit / 3
        {
            self.unblock();
        }
    }

    /// Counts `bytes` further bytes received in order.
    pub(crate) fn on_received(&mut self, bytes: u64) {
        let before = self.received;
        self.received += bytes;
        if self.reading {
            self.read = self.received;
        }
        if before < self.mark && self.received >= self.mark {
            self.emit(Event::Received);
        }
    }

    /// The application has read the first `total` bytes, and reads no more by itself.
    pub(crate) fn set_bytes_read(&mut self, total: u64) {
        self.reading = false;
        self.read = total.clamp(self.read, self.received);
    }

    /// Bytes read.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.read
    }

    pub(crate) fn set_mark(&mut self, total: u64) {
        self.mark = total;
        if self.received >= total {
            self.emit(Event::Received);
        }
    }

    /// Bytes received and not read.
    pub(crate) fn unread(&self) -> u64 {
        self.received - self.read
    }

    pub(crate) fn emit(&mut self, event: Event) {
        self.events.push_back(event);
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}
