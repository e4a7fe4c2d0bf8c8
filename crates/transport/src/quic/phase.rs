//! The phases of a connection (RFC 9000, sections 7 and 10).

use subflow_quantity::Instant;
use subflow_wire::quic::CloseFrame;

use crate::tcp::Closed;

/// Where a connection is. What exists in one phase only is in that phase.
#[derive(Clone, Debug)]
pub(super) enum Phase {
    /// The handshake is not complete.
    Handshaking,
    /// Data can be transferred in both directions.
    Established(Progress),
    /// This end has closed the connection, and answers what still arrives.
    Closing {
        /// What tells the peer.
        frame: CloseFrame,
        /// Whether it is to be sent (again).
        is_due: bool,
        /// When the phase ends.
        until: Instant,
        how: Closed,
        /// Datagrams that arrived since; those that are a power of two in number are answered.
        answered: Answered,
    },
    /// The connection is over.
    Over(Closed),
}

/// How a closed connection treats what still arrives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answered {
    /// Whether the time of the phase has begun.
    pub(super) has_begun: bool,
    /// Datagrams that have arrived.
    pub(super) received: u64,
    /// The peer has closed the connection as well: nothing is answered any more.
    pub(super) is_draining: bool,
}

/// What an established connection has reported.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    /// The handshake is confirmed (RFC 9001, section 4.1.2).
    pub(super) is_confirmed: bool,
    all_acknowledged: bool,
    peer_finished: bool,
}

impl Phase {
    pub(super) fn ended(&self) -> Option<Closed> {
        match self {
            Self::Over(how) => Some(*how),
            _ => None,
        }
    }

    /// Whether packets are processed and sent as usual.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Handshaking | Self::Established(_))
    }

    /// Whether the handshake is complete.
    #[inline]
    pub(super) fn is_established(&self) -> bool {
        matches!(self, Self::Established(_))
    }

    /// Whether the handshake was completed, or the connection is over.
    pub(super) fn is_past_handshake(&self) -> bool {
        !matches!(self, Self::Handshaking)
    }

    /// Whether the handshake is confirmed.
    #[inline]
    pub(super) fn is_confirmed(&self) -> bool {
        matches!(self, Self::Established(progress) if progress.is_confirmed)
    }

    /// The handshake is confirmed. Returns whether that is new.
    pub(super) fn confirm(&mut self) -> bool {
        match self {
            Self::Established(progress) => !core::mem::replace(&mut progress.is_confirmed, true),
            _ => false,
        }
    }

    /// All data and the end of the stream are acknowledged. Returns whether that is new.
    pub(super) fn take_all_acknowledged(&mut self) -> bool {
        match self {
            Self::Established(progress) => !core::mem::replace(&mut progress.all_acknowledged, true),
            _ => false,
        }
    }

    /// The peer has ended its stream. Returns whether that is new.
    pub(super) fn take_peer_finished(&mut self) -> bool {
        match self {
            Self::Established(progress) => !core::mem::replace(&mut progress.peer_finished, true),
            _ => false,
        }
    }
}
