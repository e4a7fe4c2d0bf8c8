//! A plain TCP endpoint: a connection, its congestion control and its application's stream.

use core::mem::offset_of;
use std::sync::Arc;

use subflow_policy::congestion::{Algorithm, Controller};
use subflow_quantity::Instant;
use subflow_wire::icmp::IcmpError;
use subflow_wire::{IpHeader, TcpSegment};

use super::{Config, Connection, Ends, State};
use crate::prefetch::{prefetch, prefetch_whole, prefetch_with_next};
use crate::stream::Stream;
use crate::{Change, Event};

/// A TCP connection and its application's stream. [`Endpoint`](crate::Endpoint) describes its use.
#[derive(Clone, Debug)]
pub struct TcpEndpoint {
    pub(crate) connection: Connection,
    pub(crate) congestion: Controller,
    pub(crate) stream: Stream,
    /// The state that events to the application reflect.
    reported: State,
    all_acknowledged: bool,
}

/// Configuration of a plain TCP endpoint.
#[derive(Clone, Debug)]
pub struct TcpOptions {
    /// The connection's configuration.
    pub config: Arc<Config>,
    /// Its congestion control.
    pub congestion: Algorithm,
}

impl TcpEndpoint {
    /// Actively opens a connection; `initial` is the initial sequence number.
    pub fn connect(options: &TcpOptions, ends: Ends, initial: u32, now: Instant) -> Self {
        let congestion = Self::controller(options);
        Self::with(Connection::connect(options.config.clone(), ends, 0, initial, now), congestion, options)
    }

    /// Opens a connection in answer to `syn`.
    pub fn accept(options: &TcpOptions, ends: Ends, initial: u32, syn: &TcpSegment, now: Instant) -> Self {
        let congestion = Self::controller(options);
        Self::with(Connection::accept(options.config.clone(), ends, 0, initial, syn, now), congestion, options)
    }

    fn controller(options: &TcpOptions) -> Controller {
        let mut congestion = Controller::new(options.congestion.clone(), options.config.window_rules());
        congestion.add_path(1, options.config.initial_window);
        congestion
    }

    fn with(connection: Connection, congestion: Controller, options: &TcpOptions) -> Self {
        let reported = connection.state();
        let stream = Stream::new(options.config.send_buffer.fixed());
        Self { connection, congestion, stream, reported, all_acknowledged: false }
    }

    /// The connection.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The congestion controller.
    pub fn congestion(&self) -> &Controller {
        &self.congestion
    }

    pub(crate) fn write(&mut self, bytes: u64) -> u64 {
        let start = self.stream.written;
        let admitted = self.stream.admit(bytes, self.connection.counters().bytes_acknowledged);
        if admitted > 0 {
            self.connection.note_write(&self.congestion);
            self.connection.push_data(start..start + admitted);
        }
        admitted
    }

    pub(crate) fn finish(&mut self) {
        self.stream.finished = true;
        self.connection.finish();
    }

    pub(crate) fn stop(&mut self) {
        self.stream.written -= self.connection.discard_unsent(0);
        self.finish();
    }

    pub(crate) fn set_reading(&mut self, reading: bool, now: Instant) {
        self.stream.reading = reading;
        if reading {
            self.stream.read = self.stream.received;
            self.connection.set_unread(0, now);
        }
    }

    pub(crate) fn set_bytes_read(&mut self, total: u64, now: Instant) {
        self.stream.set_bytes_read(total);
        self.connection.set_unread(self.stream.unread(), now);
    }

    #[inline(always)]
    pub(crate) fn handle_segment(&mut self, now: Instant, ip: &IpHeader, segment: &TcpSegment) {
        self.connection.on_segment(ip, segment, None, now, &mut self.congestion);
        if self.connection.has_received() {
            let bytes = self.connection.take_received_bytes();
            self.stream.on_received(bytes);
            if !self.stream.reading {
                self.connection.set_unread(self.stream.unread(), now);
            }
        }
        if self.stream.is_blocked() {
            self.stream.on_acknowledged(self.connection.counters().bytes_acknowledged);
        }
        self.report_progress();
    }

    pub(crate) fn handle_icmp(&mut self, error: &IcmpError, now: Instant) {
        self.connection.on_icmp(error, now, &mut self.congestion);
        self.report_progress();
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.connection.on_timeout(now, &mut self.congestion);
        self.report_progress();
    }

    /// Fetches the endpoint from memory before a packet needs it.
    #[inline]
    pub(crate) fn fetch(&self) {
        prefetch_whole::<Self, _>(&self.all_acknowledged, offset_of!(Self, all_acknowledged));
    }

    /// Reports changes of the connection's state as events.
    #[inline]
    pub(crate) fn report_progress(&mut self) {
        if self.has_progress() {
            self.report_changes();
        }
    }

    /// Whether there may be progress to report.
    #[inline]
    pub(super) fn has_progress(&self) -> bool {
        self.stream.finished || self.connection.state() != self.reported
    }

    fn report_changes(&mut self) {
        if !self.all_acknowledged && self.connection.fin_is_acknowledged() {
            self.all_acknowledged = true;
            self.stream.emit(Event::Acknowledged);
        }
        let state = self.connection.state();
        if state == self.reported {
            return;
        }
        let opening = matches!(self.reported, State::SynSent | State::SynReceived);
        if opening && state.is_synchronised() {
            self.stream.emit(Event::Established);
        }
        let open = matches!(self.reported, State::SynSent | State::SynReceived | State::Established);
        let remote_done = matches!(state, State::CloseWait | State::Closing | State::TimeWait | State::LastAck);
        if remote_done && (open || matches!(self.reported, State::FinWait1 | State::FinWait2)) {
            self.stream.emit(Event::PeerFinished);
        }
        if let State::Closed(how) = state {
            self.stream.emit(Event::Closed(how));
        }
        self.reported = state;
    }
}

impl Connection {
    /// Fetches the ends of the queue of sent segments: the first one, the last one and the place of the next one. The
    /// connection can be read.
    #[inline]
    pub(crate) fn fetch_queues(&self) {
        if let Some(head) = self.sent.head() {
            prefetch(head);
            prefetch_with_next(self.sent.get(self.sent.last_id()));
        }
    }

    /// Changes an option. Returns whether TCP has it.
    pub(crate) fn change(&mut self, change: Change) -> bool {
        if let Change::Acknowledgments(policy) = change {
            self.acknowledge.set_policy(policy);
        }
        Arc::make_mut(&mut self.config).change(change)
    }
}

impl Config {
    /// Changes an option. Returns whether TCP has it.
    pub(crate) fn change(&mut self, change: Change) -> bool {
        match change {
            Change::Nagle(on) => self.nagle = on,
            Change::Retries(most) => self.max_retries = most,
            Change::Acknowledgments(policy) => self.ack_policy = policy,
            _ => return false,
        }
        true
    }
}
