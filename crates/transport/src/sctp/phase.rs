//! The phases of an association (RFC 9260, section 4), each with the timers that run in it.

use subflow_quantity::{Duration, Instant};

use super::{Config, State};
use crate::tcp::Closed;

/// T5-shutdown-guard in units of RTO.Max (section 9.2).
const GUARD_IN_RTO_MAX: u64 = 5;

/// A phase.
#[derive(Clone, Debug)]
pub(super) enum Phase {
    /// The association was created from a cookie, which is not acknowledged yet.
    Accepting,
    /// INIT was sent.
    CookieWait {
        t1: T1,
        /// The requested extension of the cookie's lifetime in milliseconds, after a cookie was stale.
        prolongation: Option<u32>,
    },
    /// The cookie was sent back.
    CookieEchoed { t1: T1, cookie: Box<[u8]> },
    /// Data flows both ways.
    Established,
    /// This side wants to end and has data outstanding.
    ShutdownPending,
    /// SHUTDOWN was sent.
    ShutdownSent(Shutdown),
    /// SHUTDOWN was received and this side has data outstanding.
    ShutdownReceived { guard: Guard },
    /// SHUTDOWN ACK was sent.
    ShutdownAckSent(Shutdown),
    /// The association has ended.
    Closed(Closed),
}

/// T1-init or T1-cookie: INIT or COOKIE ECHO is sent again when it expires.
#[derive(Clone, Copy, Debug)]
pub(super) struct T1 {
    at: Instant,
    timeout: Duration,
    /// How often it has expired.
    expirations: u32,
}

impl T1 {
    pub(super) fn start(config: &Config, now: Instant) -> Self {
        let timeout = config.rto.initial;
        Self { at: config.deadline(now, timeout), timeout, expirations: 0 }
    }

    /// It expired: it runs anew, for twice as long. Returns whether that is allowed once more (section 4, notes 2 and 3).
    pub(super) fn back_off(&mut self, config: &Config, now: Instant) -> bool {
        self.expirations += 1;
        self.timeout = (self.timeout * 2).min(config.rto.max);
        self.at = config.deadline(now, self.timeout);
        self.expirations <= config.max_init_retransmits
    }
}

/// When an end that does not progress is given up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guard {
    at: Instant,
}

impl Guard {
    /// T5-shutdown-guard of the sender of SHUTDOWN (section 9.2).
    pub(super) fn t5(config: &Config, now: Instant) -> Self {
        Self { at: config.deadline(now, config.rto.max * GUARD_IN_RTO_MAX) }
    }

    /// That of the receiver of SHUTDOWN, which restarts while the peer accepts outstanding data. A peer that answers
    /// probes of its closed window and accepts nothing would otherwise keep the association for ever. A silent peer is
    /// given up earlier, by the count of retransmissions.
    pub(super) fn of_receiver(config: &Config, now: Instant) -> Self {
        let timeouts = u64::from(config.association_max_retransmissions) + 1;
        Self { at: config.deadline(now, config.rto.max * timeouts) }
    }
}

/// The timers after SHUTDOWN or SHUTDOWN ACK was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shutdown {
    /// If this side has sent SHUTDOWN.
    guard: Option<Guard>,
    /// When T2-shutdown expires: SHUTDOWN or SHUTDOWN ACK is sent again.
    t2_at: Instant,
    /// The destination that it was sent to last.
    destination: usize,
}

impl Shutdown {
    /// It is sent to `destination`, and is to be answered by `t2_at`.
    pub(super) fn new(guard: Option<Guard>, destination: usize, t2_at: Instant) -> Self {
        Self { guard, t2_at, destination }
    }

    pub(super) fn guard(&self) -> Option<Guard> {
        self.guard
    }

    /// The destination that it was sent to last.
    pub(super) fn destination(&self) -> usize {
        self.destination
    }

    /// It is sent again.
    pub(super) fn repeat(&mut self, destination: usize, t2_at: Instant) {
        (self.destination, self.t2_at) = (destination, t2_at);
    }
}

impl Phase {
    /// The state of the RFC.
    #[inline]
    pub(super) fn state(&self) -> State {
        match self {
            Self::Accepting | Self::CookieWait { .. } => State::CookieWait,
            Self::CookieEchoed { .. } => State::CookieEchoed,
            Self::Established => State::Established,
            Self::ShutdownPending => State::ShutdownPending,
            Self::ShutdownSent(_) => State::ShutdownSent,
            Self::ShutdownReceived { .. } => State::ShutdownReceived,
            Self::ShutdownAckSent(_) => State::ShutdownAckSent,
            Self::Closed(how) => State::Closed(*how),
        }
    }

    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }

    /// Whether the handshake is in progress.
    #[inline]
    pub(super) fn is_opening(&self) -> bool {
        matches!(self, Self::Accepting | Self::CookieWait { .. } | Self::CookieEchoed { .. })
    }

    /// Whether this side has begun the handshake, which is in progress.
    #[inline]
    pub(super) fn is_connecting(&self) -> bool {
        matches!(self, Self::CookieWait { .. } | Self::CookieEchoed { .. })
    }

    /// When T1 expires, where it runs.
    #[inline]
    pub(super) fn t1_at(&self) -> Option<Instant> {
        match self {
            Self::CookieWait { t1, .. } | Self::CookieEchoed { t1, .. } => Some(t1.at),
            _ => None,
        }
    }

    /// T1, where it runs.
    pub(super) fn t1_mut(&mut self) -> Option<&mut T1> {
        match self {
            Self::CookieWait { t1, .. } | Self::CookieEchoed { t1, .. } => Some(t1),
            _ => None,
        }
    }

    /// The timers after SHUTDOWN or SHUTDOWN ACK was sent.
    #[inline]
    pub(super) fn shutdown_mut(&mut self) -> Option<&mut Shutdown> {
        match self {
            Self::ShutdownSent(shutdown) | Self::ShutdownAckSent(shutdown) => Some(shutdown),
            _ => None,
        }
    }

    /// When T2-shutdown expires, where it runs.
    #[inline]
    pub(super) fn t2_at(&self) -> Option<Instant> {
        match self {
            Self::ShutdownSent(shutdown) | Self::ShutdownAckSent(shutdown) => Some(shutdown.t2_at),
            _ => None,
        }
    }

    /// When an end that does not progress is given up.
    #[inline]
    pub(super) fn guard_at(&self) -> Option<Instant> {
        match self {
            Self::ShutdownSent(shutdown) | Self::ShutdownAckSent(shutdown) => shutdown.guard.map(|guard| guard.at),
            Self::ShutdownReceived { guard } => Some(guard.at),
            _ => None,
        }
    }

    /// When the first of its timers expires, where one runs.
    #[inline]
    pub(super) fn timeout(&self) -> Option<Instant> {
        match self {
            Self::Established | Self::ShutdownPending => None,
            _ => [self.t1_at(), self.t2_at(), self.guard_at()].into_iter().flatten().min(),
        }
    }
}
