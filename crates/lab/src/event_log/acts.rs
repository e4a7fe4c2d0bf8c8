//! The events of applications: what they ask for, read, and have.

use subflow_quantity::Instant;

use super::events::{EventLog, Place, event};
use super::line::member;

/// What an application does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// It sends a request.
    RequestSent {
        /// The number of the exchange, from 1.
        number: u64,
        /// Bytes of the request.
        bytes: u64,
    },
    /// It writes data on a stream of its own.
    StreamWritten {
        /// The number of the stream, from 1, which is that of an exchange in results.
        number: u64,
        /// Bytes of it.
        bytes: u64,
    },
    /// It has read the first byte of a response, or of a stream.
    FirstByte {
        /// The number of the exchange.
        number: u64,
    },
    /// It has read all of a response, or of a stream.
    ExchangeCompleted {
        /// The number of the exchange.
        number: u64,
        /// Bytes of the response.
        bytes: u64,
        /// When the request was sent.
        started_at: Instant,
    },
    /// Its playback begins.
    PlaybackBegins,
    /// Its playback goes on after a stall.
    PlaybackResumes {
        /// When the buffer was empty.
        stalled_since: Instant,
    },
    /// It does not read.
    ReadingPaused {
        /// When it reads again.
        until: Instant,
    },
}

impl EventLog {
    /// An application does something.
    pub(crate) fn act(&mut self, at: Place, act: &Act) {
        match *act {
            Act::RequestSent { number, bytes } => {
                self.write(at, event!("application:request_sent"), None, |line, _| {
                    line.number(member!("exchange"), number).number(member!("bytes"), bytes);
                });
            }
            Act::StreamWritten { number, bytes } => {
                self.write(at, event!("application:stream_written"), None, |line, _| {
                    line.number(member!("exchange"), number).number(member!("bytes"), bytes);
                });
            }
            Act::FirstByte { number } => self.write(at, event!("application:first_byte"), None, |line, _| {
                line.number(member!("exchange"), number);
            }),
            Act::ExchangeCompleted { number, bytes, started_at } => {
                self.write(at, event!("application:exchange_completed"), None, |line, _| {
                    line.number(member!("exchange"), number).number(member!("bytes"), bytes);
                    line.exact_millis(member!("started_at"), started_at.as_nanos());
                });
            }
            Act::PlaybackBegins => self.write(at, event!("application:playback_begun"), None, |_, _| {}),
            Act::PlaybackResumes { stalled_since } => {
                self.write(at, event!("application:playback_resumed"), None, |line, _| {
                    line.exact_millis(member!("stalled_since"), stalled_since.as_nanos());
                });
            }
            Act::ReadingPaused { until } => self.write(at, event!("application:reading_paused"), None, |line, _| {
                line.exact_millis(member!("until"), until.as_nanos());
            }),
        }
    }

    /// The flow is complete: its reader has all.
    pub(crate) fn completed(&mut self, at: Place, bytes: u64) {
        self.write(at, event!("application:completed"), None, |line, _| {
            line.number(member!("bytes"), bytes);
        });
    }
}
