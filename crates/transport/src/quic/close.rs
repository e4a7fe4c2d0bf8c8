//! The end of a connection: idle timeout, closing, draining (RFC 9000, section 10).

use subflow_quantity::{Duration, Instant};
use subflow_wire::IpHeader;
use subflow_wire::quic::{CloseCause, CloseFrame, Frame, QuicDatagram, QuicPacket};

use super::Connection;
use super::error::{TransportError, application_close};
use super::path::Path;
use super::phase::{Answered, Phase};
use crate::Event;
use crate::tcp::Closed;

/// Probe timeouts for which a closed connection answers what still arrives, and that an idle timeout lasts at least.
const CLOSING_TIMEOUTS: u64 = 3;
/// The error with which an application closes a connection that has done its work.
const NO_ERROR: u64 = 0;

/// The largest error code (section 16), and the longest reason that is told: it fits into every packet.
const MOST_ERROR_CODE: u64 = (1 << 62) - 1;
const LONGEST_REASON: usize = 500;

/// Why a connection ends, where that is more than [`Closed`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndCause {
    /// This end has closed it because of a mistake of the peer, or because TLS refuses the handshake.
    Failed(TransportError),
    /// The peer has closed it.
    ClosedByPeer(CloseFrame),
    /// The server supports these versions only.
    Versions(Vec<u32>),
}

/// The idle timeout (section 10.1).
#[derive(Clone, Debug)]
pub(super) struct Idle {
    timeout: Option<Duration>,
    /// Since when nothing has happened that counts.
    since: Instant,
    /// Whether a packet was sent that elicits an acknowledgment since the last one arrived.
    has_sent: bool,
    last_activity: Instant,
}

impl Idle {
    pub(super) fn new(now: Instant) -> Self {
        Self { timeout: None, since: now, has_sent: false, last_activity: now }
    }

    /// Both ends have said after which time they give up; the peer in milliseconds, with 0 for never.
    pub(super) fn negotiate(&mut self, own: Option<Duration>, peer: u64) {
        let peer = (peer > 0).then(|| Duration::from_millis(peer.min(1 << 40)));
        self.timeout = own.into_iter().chain(peer).min();
    }

    /// When a datagram was sent or received last.
    pub(super) fn last_activity(&self) -> Instant {
        self.last_activity
    }

    pub(super) fn on_received(&mut self, now: Instant) {
        (self.since, self.has_sent, self.last_activity) = (now, false, now);
    }

    pub(super) fn on_sent(&mut self, is_eliciting: bool, now: Instant) {
        self.last_activity = now;
        if is_eliciting && !core::mem::replace(&mut self.has_sent, true) {
            self.since = now;
        }
    }

    /// When the connection ends. It lasts at least for three probe timeouts of `probe_timeout`.
    fn at(&self, own: Option<Duration>, probe_timeout: Duration) -> Option<Instant> {
        let timeout = self.timeout.or(own)?;
        Some(self.since + timeout.max(probe_timeout * CLOSING_TIMEOUTS))
    }
}

impl Connection {
    /// When the connection ends because nothing happens.
    pub(super) fn idle_time(&self) -> Option<Instant> {
        self.idle.at(self.config.idle_timeout, self.longest_probe_timeout())
    }

    /// Both ends have sent and received everything.
    pub(super) fn close_gracefully(&mut self) {
        self.begin_closing(application_close(NO_ERROR), Closed::Gracefully);
    }

    /// The application ends the connection at once.
    pub(super) fn abort(&mut self) {
        self.begin_closing(application_close(NO_ERROR + 1), Closed::Aborted);
    }

    /// The application closes the connection: the peer is told `error_code` and `reason`, of which it gets up to 500 bytes. What
    /// was not acknowledged is not sent again.
    pub fn close(&mut self, error_code: u64, reason: &str) {
        let reason = reason.as_bytes();
        let reason = reason[..reason.len().min(LONGEST_REASON)].into();
        let frame = CloseFrame { reason, ..application_close(error_code.min(MOST_ERROR_CODE)) };
        self.begin_closing(frame, Closed::Gracefully);
    }

    /// The peer has made a mistake.
    pub(super) fn fail(&mut self, error: TransportError) {
        self.note_cause(EndCause::Failed(error));
        self.begin_closing(error.to_frame(), Closed::Aborted);
    }

    fn begin_closing(&mut self, frame: CloseFrame, how: Closed) {
        if !self.phase.is_open() {
            return;
        }
        let lasts = self.longest_probe_timeout() * CLOSING_TIMEOUTS;
        let until = self.idle.last_activity() + lasts;
        self.phase = Phase::Closing { frame, is_due: true, until, how, answered: Answered::default() };
        if how != Closed::Gracefully {
            self.stream.emit(Event::Closed(how));
        }
    }

    /// A datagram has arrived after this end has closed the connection: it is answered once more, but the more have
    /// arrived the less often (section 10.2.1), and not after the peer has closed the connection as well.
    pub(super) fn on_datagram_after_close(&mut self, ip: &IpHeader, datagram: &QuicDatagram) {
        let is_server = self.is_server;
        let known = |path: &&mut Path| !path.is_closed() && path.ends.remote.ip() == ip.source;
        if let Some(path) = self.paths.iter_mut().find(known) {
            path.amplification.received += u64::from(datagram.length());
        }
        let is_own = |packet: &&QuicPacket| {
            let destination = packet.header.destination();
            self.paths.iter().any(|path| path.ids.is_own(destination, is_server))
        };
        let is_close = |frame: &Frame| matches!(frame, Frame::ConnectionClose(_));
        let own: Vec<&QuicPacket> = datagram.packets.iter().filter(is_own).collect();
        let closes = own.iter().any(|packet| packet.frames.iter().any(is_close));
        if let Phase::Closing { is_due, answered, .. } = &mut self.phase
            && !own.is_empty()
        {
            answered.is_draining |= closes;
            answered.received += 1;
            *is_due |= answered.received.is_power_of_two();
            *is_due &= !answered.is_draining;
        }
    }

    /// What tells the peer that the connection is closed, if that is due and `may_send`. The phase lasts from when that
    /// is asked first: whoever closes the connection does not know the time.
    pub(super) fn take_close(&mut self, may_send: bool, now: Instant) -> Option<CloseFrame> {
        let lasts = self.longest_probe_timeout() * CLOSING_TIMEOUTS;
        let Phase::Closing { frame, is_due, until, answered, .. } = &mut self.phase else { return None };
        if !core::mem::replace(&mut answered.has_begun, true) {
            *until = now + lasts;
        }
        (may_send && core::mem::take(is_due)).then(|| frame.clone())
    }

    /// The peer has left the last path.
    pub(super) fn close_without_path(&mut self) {
        let cause = CloseCause::Transport { error_code: NO_ERROR, frame_type: 0 };
        self.begin_closing(CloseFrame { cause, reason: Box::default() }, Closed::Aborted);
    }

    /// Why it ends, once that is known and more than [`ended`](Self::ended) says.
    pub fn end_cause(&self) -> Option<&EndCause> {
        self.end_cause.as_deref()
    }

    /// The first cause counts: others follow from it.
    pub(super) fn note_cause(&mut self, cause: EndCause) {
        self.end_cause.get_or_insert_with(|| Box::new(cause));
    }

    /// The peer has closed the connection.
    pub(super) fn on_close(&mut self, close: &CloseFrame) {
        self.note_cause(EndCause::ClosedByPeer(close.clone()));
        let how = match close.cause {
            CloseCause::Application { error_code: NO_ERROR } if self.has_done_its_work() => Closed::Gracefully,
            CloseCause::Transport { error_code, .. } if error_code == TransportError::ConnectionRefused.code() => {
                Closed::Refused
            }
            _ => Closed::Reset,
        };
        self.end(how);
    }

    /// Whether everything was received, and everything written was sent and its end too: the peer would not close the
    /// connection before it had acknowledged that.
    fn has_done_its_work(&self) -> bool {
        self.stream.finished
            && self.stream.written == self.streams.send(super::MAIN_STREAM).map_or(0, |send| send.sent())
    }

    /// The connection is over.
    pub(super) fn end(&mut self, how: Closed) {
        let was_reported = matches!(&self.phase, Phase::Closing { how, .. } if *how != Closed::Gracefully);
        if matches!(self.phase, Phase::Over(_)) {
            return;
        }
        if how == Closed::Gracefully && self.stream.finished && self.phase.take_all_acknowledged() {
            self.stream.emit(Event::Acknowledged);
        }
        self.phase = Phase::Over(how);
        if !was_reported {
            self.stream.emit(Event::Closed(how));
        }
    }

    /// Advances the time to `now` and handles all expired timers.
    pub(super) fn on_timeout(&mut self, now: Instant) {
        if let Phase::Closing { until, how, .. } = self.phase {
            if until <= now {
                self.end(how);
            }
            return;
        }
        if !self.phase.is_open() {
            return;
        }
        if self.idle_time().is_some_and(|at| at <= now) {
            return self.end(Closed::TimedOut);
        }
        for place in 0..self.paths.len() {
            self.paths[place].recovery.pacer.wake(now);
            self.on_loss_detection_timeout(place, now);
        }
        self.on_path_timers(now);
        self.report_progress();
    }

    /// When to call [`on_timeout`](Self::on_timeout) next.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        match self.phase {
            Phase::Over(_) => return None,
            Phase::Closing { until, .. } => return Some(until),
            Phase::Handshaking | Phase::Established(_) => {}
        }
        let idle = self.idle_time();
        if self.paths.len() == 1 && !self.in_handshake() {
            return self.path_timeout(0).into_iter().chain(idle).chain(self.path_manager_time()).min();
        }
        let handshake_acks = self.handshake_spaces.iter().map(|space| space.received.due_at());
        let paths = (0..self.paths.len()).map(|place| self.path_timeout(place));
        let timers = paths.chain([idle, self.path_manager_time()]).flatten().min();
        if self.paths[0].amplification.is_limited() { timers } else { handshake_acks.flatten().chain(timers).min() }
    }

    /// When something of the path at `place` is due.
    fn path_timeout(&self, place: usize) -> Option<Instant> {
        let path = &self.paths[place];
        if !path.sends() {
            // Without an open path nothing can carry it.
            let can_leave = || path.owes_ack_elsewhere() && self.best_path().is_some();
            let ack = path.space.received.due_at().filter(|_| can_leave());
            return path.deadline().into_iter().chain(ack).min();
        }
        if path.amplification.is_limited() {
            return path.deadline();
        }
        let pacing = Some(path.recovery.pacer.wake_at()).filter(|&at| at < Instant::MAX);
        let times = [path.space.received.due_at(), self.loss_detection_time(place), pacing, path.deadline()];
        times.into_iter().flatten().min()
    }
}
