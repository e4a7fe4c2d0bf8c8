//! The phase of a connection: the MP_CAPABLE handshake, MPTCP, or plain TCP after a fallback (RFC 8684, sections 3.1 and
//! 3.7); and whether it is established or over.

use subflow_quantity::Instant;

use super::infinite_mappings::InfiniteMappings;
use super::keys::Key;
use crate::tcp::Closed;

/// The phase of a connection. The protocol that it used is known after its end as well.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    mode: Mode,
    life: Life,
}

/// The protocol that a connection uses.
#[derive(Clone, Debug)]
pub(super) enum Mode {
    /// The MP_CAPABLE handshake is under way.
    Opening,
    /// MPTCP.
    Multipath(Multipath),
    /// Plain TCP on the initial subflow, from the start: its stream is the data.
    Plain,
    /// Plain TCP on one subflow from some byte on.
    Infinite(Box<InfiniteMappings>),
}

/// MPTCP, once the peer's key is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Multipath {
    remote: Key,
    confirmation: Confirmation,
}

/// Whether the peer has shown that it has both keys. Before that the connection may still fall back to plain TCP at its
/// start, and no subflow can join.
#[derive(Clone, Copy, Debug)]
enum Confirmation {
    /// `keys_sent`: a client has sent its third ACK with both keys.
    Pending {
        keys_sent: bool,
    },
    Given(Joined),
}

/// How far the most advanced join has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Joined {
    /// Nothing can have been carried by another subflow than the initial one.
    No,
    /// This side has sent the third ACK of a join: the peer may send data on it as soon as that arrives, this side must
    /// not (RFC 8684, section 3.2).
    Offered,
    /// A further subflow has been established, and may have carried data in both directions.
    Established,
}

#[derive(Clone, Copy, Debug)]
enum Life {
    /// The initial subflow is not yet established at the TCP level.
    Opening,
    /// `give_up_at`: when the connection is given up, while no subflow is left or both streams have ended.
    Established {
        give_up_at: Option<Instant>,
    },
    Ended(Closed),
}

impl Phase {
    pub(super) fn new() -> Self {
        Self { mode: Mode::Opening, life: Life::Opening }
    }

    #[inline]
    pub(super) fn mode(&self) -> &Mode {
        &self.mode
    }

    #[inline]
    pub(super) fn is_opening(&self) -> bool {
        matches!(self.mode, Mode::Opening)
    }

    #[inline]
    pub(super) fn is_multipath(&self) -> bool {
        matches!(self.mode, Mode::Multipath(_))
    }

    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.mode, Mode::Plain)
    }

    pub(super) fn has_fallen_back(&self) -> bool {
        matches!(self.mode, Mode::Plain | Mode::Infinite(_))
    }

    /// Whether the peer has shown that it has both keys, and the connection has not fallen back since.
    #[inline]
    pub(super) fn is_confirmed(&self) -> bool {
        matches!(self.mode, Mode::Multipath(Multipath { confirmation: Confirmation::Given(_), .. }))
    }

    /// Whether further subflows are possible.
    pub(super) fn may_join(&self) -> bool {
        self.is_confirmed() && self.ended().is_none()
    }

    /// Whether only the initial subflow can ever have carried data, in either direction: the bytes of its stream are
    /// then the data, in order. In this case neither side repeats data on it. Linux: `allow_infinite_fallback`.
    #[inline]
    pub(super) fn has_sole_carrier(&self) -> bool {
        match &self.mode {
            Mode::Multipath(Multipath { confirmation: Confirmation::Given(joined), .. }) => *joined == Joined::No,
            Mode::Infinite(infinite) => infinite.has_sole_carrier(),
            Mode::Opening | Mode::Plain | Mode::Multipath(_) => true,
        }
    }

    /// Whether a further subflow has been established, so that this side may have sent data on it.
    #[inline]
    pub(super) fn has_joined(&self) -> bool {
        match &self.mode {
            Mode::Multipath(Multipath { confirmation: Confirmation::Given(joined), .. }) => {
                *joined == Joined::Established
            }
            Mode::Infinite(infinite) => !infinite.has_sole_carrier(),
            Mode::Opening | Mode::Plain | Mode::Multipath(_) => false,
        }
    }

    /// The peer's key, while MPTCP or an infinite mapping needs it.
    #[inline]
    pub(super) fn remote_key(&self) -> Option<&Key> {
        match &self.mode {
            Mode::Multipath(multipath) => Some(&multipath.remote),
            Mode::Infinite(infinite) => Some(infinite.remote_key()),
            Mode::Opening | Mode::Plain => None,
        }
    }

    pub(super) fn infinite(&self) -> Option<&InfiniteMappings> {
        match &self.mode {
            Mode::Infinite(infinite) => Some(infinite),
            Mode::Opening | Mode::Multipath(_) | Mode::Plain => None,
        }
    }

    pub(super) fn infinite_mut(&mut self) -> Option<&mut InfiniteMappings> {
        match &mut self.mode {
            Mode::Infinite(infinite) => Some(infinite),
            Mode::Opening | Mode::Multipath(_) | Mode::Plain => None,
        }
    }

    /// The peer's MP_CAPABLE has arrived in the handshake.
    pub(super) fn on_remote_key(&mut self, remote: Key) {
        debug_assert!(self.is_opening());
        self.mode = Mode::Multipath(Multipath { remote, confirmation: Confirmation::Pending { keys_sent: false } });
    }

    /// Whether a client has sent its third ACK with both keys and waits for the confirmation.
    pub(super) fn has_sent_keys(&self) -> bool {
        matches!(self.mode, Mode::Multipath(Multipath { confirmation: Confirmation::Pending { keys_sent: true }, .. }))
    }

    /// The keys have been sent, or must be sent again.
    pub(super) fn set_keys_sent(&mut self, sent: bool) {
        if let Mode::Multipath(Multipath { confirmation: Confirmation::Pending { keys_sent }, .. }) = &mut self.mode {
            *keys_sent = sent;
        }
    }

    /// The peer has shown that it has both keys. Returns whether this is new.
    pub(super) fn confirm(&mut self) -> bool {
        match &mut self.mode {
            Mode::Multipath(Multipath { confirmation: confirmation @ Confirmation::Pending { .. }, .. }) => {
                *confirmation = Confirmation::Given(Joined::No);
                true
            }
            _ => false,
        }
    }

    /// The third ACK of a join is sent.
    pub(super) fn on_join_offered(&mut self) {
        self.on_join_progress(Joined::Offered);
    }

    /// A further subflow is established.
    pub(super) fn on_join(&mut self) {
        self.on_join_progress(Joined::Established);
    }

    fn on_join_progress(&mut self, to: Joined) {
        if let Mode::Multipath(Multipath { confirmation: Confirmation::Given(joined), .. }) = &mut self.mode {
            *joined = to.max(*joined);
        }
    }

    /// The initial subflow continues as plain TCP.
    pub(super) fn fall_back(&mut self) {
        debug_assert!(self.has_sole_carrier(), "other subflows may have carried data");
        self.mode = Mode::Plain;
    }

    /// From now on data is sent on `subflow` only, and from its byte `start` on without mappings: that byte is data byte
    /// `data`. The mappings of the peer and those of an earlier call stay.
    pub(super) fn send_without_mappings(&mut self, subflow: usize, start: u64, data: u64) {
        let has_sole_carrier = self.has_sole_carrier();
        match &mut self.mode {
            Mode::Infinite(infinite) => infinite.restart(start, data),
            Mode::Multipath(Multipath { remote, .. }) => {
                let infinite = InfiniteMappings::new(subflow, *remote, has_sole_carrier, (start, data));
                self.mode = Mode::Infinite(Box::new(infinite));
            }
            Mode::Opening | Mode::Plain => debug_assert!(false, "nothing was ever mapped"),
        }
    }
}

impl Phase {
    /// The initial subflow is established at the TCP level. Returns whether this is new.
    pub(super) fn on_established(&mut self) -> bool {
        let is_new = matches!(self.life, Life::Opening);
        if is_new {
            self.life = Life::Established { give_up_at: None };
        }
        is_new
    }

    /// The connection is over. Returns whether this is new.
    pub(super) fn end(&mut self, how: Closed) -> bool {
        let is_new = self.ended().is_none();
        if is_new {
            self.life = Life::Ended(how);
        }
        is_new
    }

    /// How the connection ended, if it is over.
    #[inline]
    pub(super) fn ended(&self) -> Option<Closed> {
        match self.life {
            Life::Ended(how) => Some(how),
            Life::Opening | Life::Established { .. } => None,
        }
    }

    /// When the connection is given up; [`Instant::MAX`] if never.
    #[inline]
    pub(super) fn give_up_deadline(&self) -> Instant {
        match self.life {
            Life::Established { give_up_at: Some(at) } => at,
            _ => Instant::MAX,
        }
    }

    /// The connection is given up at `at`, or when that was decided before.
    pub(super) fn limit_closing(&mut self, at: Instant) {
        if let Life::Established { give_up_at } = &mut self.life {
            give_up_at.get_or_insert(at);
        }
    }

    /// No subflow is left: the connection is given up at `at`, unless there is another before.
    pub(super) fn wait_for_subflow(&mut self, at: Instant) {
        if let Life::Established { give_up_at } = &mut self.life {
            *give_up_at = Some(at);
        }
    }

    /// There is another subflow.
    pub(super) fn go_on(&mut self) {
        if let Life::Established { give_up_at } = &mut self.life {
            *give_up_at = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn multipath() -> Phase {
        let mut phase = Phase::new();
        phase.on_remote_key(Key::new(1));
        phase
    }

    #[test]
    fn subflows_join_once_the_peer_has_shown_both_keys_and_until_the_end() {
        let mut phase = multipath();
        assert!(!phase.may_join());
        assert!(phase.confirm() && phase.may_join());
        assert!(!phase.confirm(), "it is known");
        assert!(phase.end(Closed::Aborted) && !phase.may_join());
    }

    #[test]
    fn a_join_counts_only_after_the_confirmation_and_outlasts_a_fallback() {
        let mut phase = multipath();
        phase.on_join();
        assert!(phase.has_sole_carrier(), "nothing can have joined");
        phase.confirm();
        phase.on_join_offered();
        assert!(!phase.has_sole_carrier() && !phase.has_joined(), "only the peer may have sent data on it");
        phase.on_join();
        assert!(!phase.has_sole_carrier() && phase.has_joined());
        phase.send_without_mappings(1, 0, 0);
        assert!(!phase.has_sole_carrier() && phase.has_fallen_back() && !phase.is_confirmed());
        assert_eq!(phase.remote_key(), Some(&Key::new(1)), "an infinite mapping has data sequence numbers");
    }

    #[test]
    fn a_connection_is_given_up_only_while_it_is_established() {
        let at = Instant::from_nanos(5);
        let mut phase = multipath();
        phase.limit_closing(at);
        assert_eq!(phase.give_up_deadline(), Instant::MAX);
        assert!(phase.on_established() && !phase.on_established());
        phase.limit_closing(at);
        phase.limit_closing(Instant::from_nanos(9));
        assert_eq!(phase.give_up_deadline(), at, "the first limit stays");
        phase.go_on();
        assert_eq!(phase.give_up_deadline(), Instant::MAX);
        phase.wait_for_subflow(at);
        assert!(phase.end(Closed::TimedOut) && !phase.end(Closed::Reset));
        assert_eq!((phase.ended(), phase.give_up_deadline()), (Some(Closed::TimedOut), Instant::MAX));
    }
}
