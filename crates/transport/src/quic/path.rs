//! A path: its packet number space, RTT, recovery and connection identifiers (draft-ietf-quic-multipath-21, sections 2.3
//! and 3), and its validation (RFC 9000, section 8.2).

use std::collections::VecDeque;

use subflow_policy::congestion::Controller;
use subflow_quantity::{Duration, Instant};

use super::config::Config;
use super::connection_ids::ConnectionIds;
use super::recovery::Recovery;
use super::space::Space;
use super::{Counters, Rtt};
use crate::figures::PathFigures;
use crate::tcp::Ends;

/// How much more than it has received a server may send to an address that is not validated.
const AMPLIFICATION_FACTOR: u64 = 3;
/// The least length of a datagram with an Initial packet (RFC 9000, section 14.1), and with a challenge (section 8.2.1).
pub(super) const LEAST_INITIAL: u32 = 1200;
/// Challenges whose responses are still accepted.
const MOST_CHALLENGES: usize = 8;
/// Probe timeouts after which a path that is not validated is given up (RFC 9000, section 8.2.4), and for which an
/// abandoned one still takes packets (draft, section 3.4).
const DEADLINE: u64 = 3;

/// A path of a connection.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// Its path identifier.
    pub(super) id: u64,
    pub(super) ends: Ends,
    pub(super) state: PathState,
    pub(super) space: Space,
    pub(super) rtt: Rtt,
    pub(super) recovery: Recovery,
    pub(super) ids: ConnectionIds,
    pub(super) amplification: Amplification,
    pub(super) challenges: Challenges,
    /// Challenges of the peer that are to be answered.
    pub(super) responses: VecDeque<[u8; 8]>,
    pub(super) status: Status,
    pub(super) counters: Counters,
}

/// How far a path has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathState {
    /// It is being validated, and given up at this time.
    Validating { until: Instant },
    /// It carries data.
    Open,
    /// It is not used any more; what still arrives is processed until this time.
    Abandoned { until: Instant },
    /// Another path may take its place.
    Closed,
}

/// Bytes of datagrams until the peer's address is validated (RFC 9000, section 8.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Amplification {
    pub(super) received: u64,
    pub(super) sent: u64,
    pub(super) is_validated: bool,
}

/// The challenges of a path's validation.
#[derive(Clone, Debug, Default)]
pub(super) struct Challenges {
    /// Those sent, the latest last.
    sent: VecDeque<[u8; 8]>,
    /// Whether one is to be sent.
    pub(super) is_due: bool,
}

/// Whether a path is a backup, to both ends (draft, section 3.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Status {
    /// What this end asks the peer for.
    pub(super) own_backup: bool,
    /// The number of the latest frame of this end about it.
    pub(super) sequence: u64,
    pub(super) is_due: bool,
    pub(super) peer_backup: bool,
    /// The number of the latest frame of the peer about it, plus one.
    pub(super) peer_sequence: u64,
}

impl Amplification {
    pub(super) const fn new(is_validated: bool) -> Self {
        Self { received: 0, sent: 0, is_validated }
    }

    /// Whether an end may not send a whole datagram before it receives more.
    pub(super) const fn is_limited(&self) -> bool {
        let allowed = self.received.saturating_mul(AMPLIFICATION_FACTOR);
        !self.is_validated && self.sent + LEAST_INITIAL as u64 > allowed
    }
}

impl Challenges {
    /// Notes a challenge that is sent.
    pub(super) fn enter(&mut self, data: [u8; 8]) {
        self.is_due = false;
        if self.sent.len() == MOST_CHALLENGES {
            self.sent.pop_front();
        }
        self.sent.push_back(data);
    }

    /// Whether `data` answers one of them.
    pub(super) fn include(&self, data: &[u8; 8]) -> bool {
        self.sent.contains(data)
    }
}

impl Path {
    /// The initial path, or with `is_further` one that is to be validated. It is path `place` of the controller.
    pub(super) fn new(
        (place, id): (usize, u64),
        ends: Ends,
        mut ids: ConnectionIds,
        controller: &mut Controller,
        config: &Config,
        now: Instant,
    ) -> Self {
        let rtt = Rtt::new(config.initial_rtt);
        let is_further = id > 0;
        let state = match is_further {
            true => PathState::Validating { until: now + rtt.probe_timeout() * DEADLINE },
            false => PathState::Open,
        };
        let mut space = Space::default();
        if is_further {
            space.open();
        }
        ids.set_reset_key(config.reset_key_in_use());
        let challenges = Challenges { is_due: is_further, ..Challenges::default() };
        let recovery = Recovery::new(place, controller, config, now);
        Self {
            id,
            ends,
            state,
            space,
            rtt,
            recovery,
            ids,
            amplification: Amplification::new(false),
            challenges,
            responses: VecDeque::new(),
            status: Status::default(),
            counters: Counters::default(),
        }
    }

    /// Whether it carries data.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.state == PathState::Open
    }

    /// Whether packets are sent on it.
    #[inline]
    pub(super) fn sends(&self) -> bool {
        matches!(self.state, PathState::Open | PathState::Validating { .. })
    }

    /// Whether it carries data, and no probe waits for its acknowledgment.
    #[inline]
    pub(super) fn is_live(&self) -> bool {
        self.is_open() && self.recovery.probe_count == 0
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state == PathState::Closed
    }

    /// When its state ends by itself.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.state {
            PathState::Validating { until } | PathState::Abandoned { until } => Some(until),
            PathState::Open | PathState::Closed => None,
        }
    }

    /// It is not used any more from `now` on.
    pub(super) fn abandon(&mut self, now: Instant) {
        self.state = PathState::Abandoned { until: now + self.rtt.probe_timeout() * DEADLINE };
        self.challenges.is_due = false;
        self.responses.clear();
    }

    /// What it has done so far; `cwnd` is its window in packets.
    pub(super) fn figures(&self, cwnd: u32) -> PathFigures {
        PathFigures {
            reopens: false,
            ends: self.ends,
            other_sources: Vec::new(),
            bytes_received: self.counters.bytes_received,
            packets_sent: self.counters.datagrams_sent,
            retransmissions: self.counters.retransmissions,
            timeouts: self.counters.timeouts,
            duplicate_acks: 0,
            srtt: self.rtt.srtt(),
            cwnd: cwnd.into(),
            copies: self.counters.copies,
            retransmitted: None,
            bytes_acknowledged: None,
        }
    }
}

impl super::Connection {
    /// Whether the peer's address on the initial path was validated, at some time.
    pub(super) fn has_validated_address(&self) -> bool {
        self.paths[0].id > 0 || self.paths[0].amplification.is_validated
    }

    /// The longest probe timeout of the paths that send, without backoff.
    pub(super) fn longest_probe_timeout(&self) -> Duration {
        let of_open = self.paths.iter().filter(|path| path.sends()).map(|path| path.rtt.probe_timeout());
        of_open.max().unwrap_or_else(|| self.paths[0].rtt.probe_timeout())
    }
}
