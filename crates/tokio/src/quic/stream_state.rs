//! One stream between its application and the stack.

use std::collections::BTreeSet;
use std::task::{Context, Poll, Waker};

use tokio::io::ReadBuf;

use super::error::{ConnectionError, StreamError};
use crate::stream_buffer::StreamBuffer;

/// A stream: what was written and not acknowledged, what has arrived and was not read.
#[derive(Debug)]
pub(super) struct StreamState {
    pub(super) send: StreamBuffer,
    /// Bytes written; and those acknowledged from the start on.
    pub(super) written: u64,
    acknowledged: u64,
    /// Whether this side's part has ended, and whether the peer has all of it or takes no more.
    pub(super) is_finished: bool,
    pub(super) is_sent: bool,
    /// Whether this side has ended it with an error.
    is_reset: bool,
    /// The error with which the peer reads no more.
    stopped: Option<u64>,
    pub(super) receive: StreamBuffer,
    /// Bytes that have arrived from the start on, and those read.
    received: u64,
    pub(super) read: u64,
    pub(super) has_all: bool,
    /// The error with which the peer has ended its part.
    reset: Option<u64>,
    /// Whether someone holds the sending part, and the receiving one.
    pub(super) is_held: [bool; 2],
    reader: Option<Waker>,
    /// Waits for room, or until the peer has everything.
    writer: Option<Waker>,
}

/// The place of the sending part in [`StreamState::is_held`].
pub(super) const SENDING: usize = 0;
/// That of the receiving part.
pub(super) const RECEIVING: usize = 1;

impl StreamState {
    pub(super) fn new() -> Self {
        Self {
            send: StreamBuffer::default(),
            written: 0,
            acknowledged: 0,
            is_finished: false,
            is_sent: false,
            is_reset: false,
            stopped: None,
            receive: StreamBuffer::default(),
            received: 0,
            read: 0,
            has_all: false,
            reset: None,
            is_held: [true; 2],
            reader: None,
            writer: None,
        }
    }

    /// Whether nothing of it is needed any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_held == [false; 2] && self.is_sent
    }

    /// Whether all that has arrived is kept for someone.
    pub(super) fn keeps_data(&self) -> bool {
        self.is_held[RECEIVING] && self.reset.is_none()
    }

    pub(super) fn on_received(&mut self, total: u64, has_all: bool) {
        (self.received, self.has_all) = (total, has_all);
        self.wake_reader();
    }

    pub(super) fn on_reset(&mut self, error_code: u64) {
        self.reset = Some(error_code);
        self.receive.clear();
        self.wake_reader();
    }

    pub(super) fn on_acknowledged(&mut self, total: u64, is_all: bool) {
        self.acknowledged = total;
        self.send.release_before(total, &BTreeSet::new());
        self.is_sent |= is_all;
        if is_all {
            self.send.clear();
        }
        self.wake_writer();
    }

    pub(super) fn on_stopped(&mut self, error_code: u64) {
        self.stopped = Some(error_code);
        self.reset();
    }

    /// Nothing more is sent, and nothing again.
    pub(super) fn reset(&mut self) {
        (self.is_finished, self.is_sent, self.is_reset) = (true, true, true);
        self.send.clear();
        self.wake_writer();
    }

    /// The connection is over.
    pub(super) fn wake(&mut self) {
        self.wake_reader();
        self.wake_writer();
    }

    fn wake_reader(&mut self) {
        if let Some(waker) = self.reader.take() {
            waker.wake();
        }
    }

    fn wake_writer(&mut self) {
        if let Some(waker) = self.writer.take() {
            waker.wake();
        }
    }

    /// Reads what has arrived into `into`; at the end of the stream nothing. Returns whether anything was read. `ended` is why the
    /// connection is over, if it is.
    pub(super) fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
        ended: Option<&ConnectionError>,
    ) -> Poll<Result<bool, StreamError>> {
        if let Some(error_code) = self.reset {
            return Poll::Ready(Err(StreamError::Reset(error_code)));
        }
        let length = (self.received - self.read).min(into.remaining() as u64);
        if length > 0 {
            let place = into.initialize_unfilled_to(length as usize);
            self.receive.read(self.read, place);
            into.advance(length as usize);
            self.read += length;
            self.receive.release_before(self.read, &BTreeSet::new());
            return Poll::Ready(Ok(true));
        }
        if self.has_all || into.remaining() == 0 {
            return Poll::Ready(Ok(false));
        }
        if let Some(error) = ended {
            return Poll::Ready(Err(error.clone().into()));
        }
        self.reader = Some(context.waker().clone());
        Poll::Pending
    }

    /// Takes as much of `bytes` as there is room for, of at most `most` bytes that are not acknowledged.
    pub(super) fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
        most: u64,
        ended: Option<&ConnectionError>,
    ) -> Poll<Result<usize, StreamError>> {
        if let Some(error) = self.cannot_send(ended) {
            return Poll::Ready(Err(error));
        }
        if self.is_finished {
            return Poll::Ready(Err(StreamError::Finished));
        }
        let room = most.saturating_sub(self.written - self.acknowledged).min(bytes.len() as u64) as usize;
        if room == 0 && !bytes.is_empty() {
            self.writer = Some(context.waker().clone());
            return Poll::Pending;
        }
        self.send.write(self.written, &bytes[..room]);
        self.written += room as u64;
        Poll::Ready(Ok(room))
    }

    /// Waits until the peer has acknowledged everything, with the end.
    pub(super) fn poll_sent(
        &mut self,
        context: &mut Context<'_>,
        ended: Option<&ConnectionError>,
    ) -> Poll<Result<(), StreamError>> {
        if self.is_sent && !self.is_reset {
            return Poll::Ready(Ok(()));
        }
        if let Some(error) = self.cannot_send(ended) {
            return Poll::Ready(Err(error));
        }
        if self.is_reset {
            return Poll::Ready(Err(StreamError::Finished));
        }
        self.writer = Some(context.waker().clone());
        Poll::Pending
    }

    fn cannot_send(&self, ended: Option<&ConnectionError>) -> Option<StreamError> {
        self.stopped.map(StreamError::Stopped).or_else(|| ended.cloned().map(StreamError::Connection))
    }
}
