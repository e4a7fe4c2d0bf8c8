//! Streams that an application opens, reads and ends one by one, for programs: with
//! [`Config::application_streams`](super::Config::application_streams).
//!
//! No stream is special then. The application [opens](Connection::open_stream) streams and learns of those of the peer, it
//! [writes](Connection::write_on) and [ends](Connection::finish_stream) each, says what it [has read](Connection::set_read_on),
//! and [closes](Connection::close) the connection. What the latest datagram has brought is
//! [`taken_data`](Connection::taken_data).

use std::collections::VecDeque;

use subflow_wire::quic::{Direction, StreamId};

use super::Connection;

/// What has happened on a stream of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEvent {
    /// The peer has opened it.
    Opened(StreamId),
    /// More of it has arrived in order, or its end.
    Received {
        /// The stream.
        stream: StreamId,
        /// Bytes from the start on that have arrived.
        total: u64,
        /// Whether that is all.
        is_complete: bool,
    },
    /// The peer has ended it without the data that had not arrived.
    Reset {
        /// The stream.
        stream: StreamId,
        /// The peer's error.
        error_code: u64,
    },
    /// The peer has received more of its beginning, or its end.
    Acknowledged {
        /// The stream.
        stream: StreamId,
        /// Bytes from the start on that are not sent again.
        total: u64,
        /// Whether that is all, with the end.
        is_complete: bool,
    },
    /// The peer does not read it any more: nothing more is sent on it.
    Stopped {
        /// The stream.
        stream: StreamId,
        /// The peer's error.
        error_code: u64,
    },
}

/// What is reported to an application.
#[derive(Clone, Debug, Default)]
pub(super) struct Application {
    events: VecDeque<StreamEvent>,
    /// Streams of the peer that were reported.
    reported: u64,
}

impl Connection {
    /// What has happened on a stream since the last call; nothing without
    /// [`Config::application_streams`](super::Config::application_streams).
    pub fn poll_stream_event(&mut self) -> Option<StreamEvent> {
        let (opened, is_server) = (self.streams.opened_by_peer, self.is_server);
        let application = self.application.as_deref_mut()?;
        if application.reported < opened {
            application.reported += 1;
            let stream = StreamId::new(application.reported - 1, !is_server, Direction::Bidirectional);
            return Some(StreamEvent::Opened(stream));
        }
        application.events.pop_front()
    }

    /// The application has read the first `total` bytes of a stream.
    pub fn set_read_on(&mut self, stream: StreamId, total: u64) {
        self.streams.set_read(stream, total);
        self.streams.retire(stream);
    }

    /// The application does not read a stream any more: the peer is asked to end it, and what arrives is discarded.
    pub fn stop_reading(&mut self, stream: StreamId, error_code: u64) {
        self.streams.stop_reading(stream, error_code);
        self.streams.retire(stream);
    }

    /// Ends a stream of which not everything was acknowledged with an error. What was not sent is discarded, and nothing is sent
    /// again.
    pub fn reset_stream(&mut self, stream: StreamId, error_code: u64) {
        self.streams.reset(stream, error_code);
    }

    /// Whether the peer lets this end use one more stream than it has opened.
    pub fn may_open_stream(&self) -> bool {
        self.streams.may_open()
    }

    /// Reports an event, if the application uses streams by itself.
    pub(super) fn note_stream_event(&mut self, event: StreamEvent) {
        if let Some(application) = self.application.as_deref_mut() {
            application.events.push_back(event);
        }
    }

    /// A frame has arrived, with which `readable` more bytes can be read.
    pub(super) fn on_arrival_for_application(&mut self, stream: StreamId, readable: u64) {
        let Some((total, is_complete)) = self.received_on(stream) else { return };
        if self.streams.is_stopped(stream) {
            self.set_read_on(stream, u64::MAX);
        } else if readable > 0 || is_complete {
            self.note_stream_event(StreamEvent::Received { stream, total, is_complete });
            self.streams.retire(stream);
        }
    }

    /// The peer has received a part of a stream: by `growth` bytes more of its beginning, which are `total` now.
    pub(super) fn on_acknowledged_to_application(&mut self, stream: StreamId, growth: u64, total: u64) {
        self.further.acknowledged += growth;
        let is_complete = self.streams.send(stream).is_some_and(|send| send.is_acknowledged());
        if growth > 0 || is_complete {
            self.note_stream_event(StreamEvent::Acknowledged { stream, total, is_complete });
        }
        self.streams.retire(stream);
    }
}
