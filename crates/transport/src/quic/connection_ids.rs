//! The connection identifiers of both ends (RFC 9000, section 5.1).

use std::collections::BTreeMap;

use rand_core::RngCore;
use subflow_wire::quic::{ConnectionId, Frame, NewConnectionIdFrame, STATELESS_RESET_TOKEN_LENGTH};
use subtle::ConstantTimeEq;

use super::config::{CONNECTION_ID_LENGTH, ResetKey};
use super::error::TransportError;
use crate::RandomSource;

/// Connection identifiers that an end issues at most, whatever the peer keeps.
const MOST_ISSUED: u64 = 4;
/// Retirements that the peer may ask for at a time, in limits on the number of identifiers (section 5.1.2).
const MOST_OWED: u64 = 4;

/// The identifiers that an end issues and those that it uses.
#[derive(Clone, Debug)]
pub(super) struct ConnectionIds {
    /// The destination of the client's first packet. The server is found under it until the client knows another one.
    original: ConnectionId,
    /// Their path, if they are those of a further path.
    path: Option<u64>,
    /// Issued by this end, with their numbers.
    own: BTreeMap<u64, ConnectionId>,
    /// What stateless resets of them contain, if they are sent.
    reset_key: Option<ResetKey>,
    /// Otherwise what they would contain; drawn when the first one is issued.
    token: Option<[u8; STATELESS_RESET_TOKEN_LENGTH]>,
    issued: u64,
    /// Numbers of own identifiers of which the peer is to be told.
    to_tell: Vec<u64>,
    /// Issued by the peer, with their numbers; the first one is in use.
    of_peer: BTreeMap<u64, ConnectionId>,
    /// What a stateless reset of the peer contains, by the numbers of its identifiers.
    resets: BTreeMap<u64, [u8; STATELESS_RESET_TOKEN_LENGTH]>,
    /// The source of the peer's first packet, once that has arrived.
    first_of_peer: Option<ConnectionId>,
    /// Identifiers of the peer with smaller numbers are retired.
    retired_prior_to: u64,
    /// Numbers of identifiers of the peer that it is to be told are retired.
    to_retire: Vec<u64>,
    /// Identifiers of the peer that are kept.
    limit: u64,
}

/// A new identifier.
pub(super) fn random_id(random: &mut RandomSource) -> ConnectionId {
    let mut bytes = [0; CONNECTION_ID_LENGTH];
    random.fill_bytes(&mut bytes);
    ConnectionId::new(&bytes).unwrap_or_default()
}

impl ConnectionIds {
    /// Those at the beginning: `original` is the destination of the client's first packet, `own` the first identifier of
    /// this end, `peer` that under which the peer is reached. `limit` identifiers of the peer are kept.
    pub(super) fn new(original: ConnectionId, own: ConnectionId, peer: ConnectionId, limit: u64) -> Self {
        Self {
            original,
            path: None,
            own: [(0, own)].into(),
            reset_key: None,
            token: None,
            issued: 1,
            to_tell: Vec::new(),
            of_peer: [(0, peer)].into(),
            resets: BTreeMap::new(),
            first_of_peer: None,
            retired_prior_to: 0,
            to_retire: Vec::new(),
            limit,
        }
    }

    /// Those of a further path, before any is issued.
    pub(super) fn of_path(path: u64, limit: u64) -> Self {
        Self {
            path: Some(path),
            own: BTreeMap::new(),
            issued: 0,
            of_peer: BTreeMap::new(),
            ..Self::new(ConnectionId::EMPTY, ConnectionId::EMPTY, ConnectionId::EMPTY, limit)
        }
    }

    /// Stateless resets are sent, with tokens of this key.
    pub(super) fn set_reset_key(&mut self, key: Option<&ResetKey>) {
        self.reset_key = key.cloned();
    }

    /// What a stateless reset of an own identifier contains, if they are sent.
    pub(super) fn reset_token(&self, id: &ConnectionId) -> Option<[u8; STATELESS_RESET_TOKEN_LENGTH]> {
        self.reset_key.as_ref().map(|key| key.token(id))
    }

    /// The identifiers of this end.
    pub(super) fn own(&self) -> impl Iterator<Item = ConnectionId> + '_ {
        self.own.values().copied()
    }

    /// Whether the peer has issued one that is not retired.
    pub(super) fn has_destination(&self) -> bool {
        !self.of_peer.is_empty()
    }

    /// The number that the peer's next identifier has.
    pub(super) fn next_of_peer(&self) -> u64 {
        self.of_peer.last_key_value().map_or(self.retired_prior_to, |(last, _)| last + 1)
    }

    /// The destination of the client's first packet.
    pub(super) fn original(&self) -> ConnectionId {
        self.original
    }

    /// The first identifier of this end: the source of its long headers.
    pub(super) fn source(&self) -> ConnectionId {
        self.own.first_key_value().map(|(_, id)| *id).unwrap_or_default()
    }

    /// The identifier under which the peer is reached.
    #[inline]
    pub(super) fn destination(&self) -> ConnectionId {
        self.of_peer.first_key_value().map(|(_, id)| *id).unwrap_or_default()
    }

    /// Whether a packet to `id` is for this end.
    #[inline]
    pub(super) fn is_own(&self, id: ConnectionId, is_server: bool) -> bool {
        self.own.values().any(|&own| own == id) || is_server && self.path.is_none() && id == self.original
    }

    /// The peer's first packet has told its identifier.
    pub(super) fn learn_first(&mut self, id: ConnectionId) {
        self.of_peer.insert(0, id);
        self.first_of_peer = Some(id);
    }

    /// The server is reached under another identifier before it has told its own (Retry).
    pub(super) fn redirect(&mut self, id: ConnectionId) {
        self.of_peer.insert(0, id);
    }

    /// The source of the packet with which the peer has told its identifier.
    pub(super) fn first_of_peer(&self) -> Option<ConnectionId> {
        self.first_of_peer
    }

    /// The peer has told what a stateless reset of its first identifier contains.
    pub(super) fn learn_reset(&mut self, token: [u8; STATELESS_RESET_TOKEN_LENGTH]) {
        self.resets.insert(0, token);
    }

    /// Whether a datagram that ends with `token` is a stateless reset of the peer (section 10.3.1).
    pub(super) fn is_reset(&self, token: &[u8; STATELESS_RESET_TOKEN_LENGTH]) -> bool {
        // As many steps whatever the token, so that nobody can guess it byte by byte.
        self.resets.values().fold(false, |found, known| found | bool::from(known.ct_eq(token)))
    }

    /// How many identifiers this end has issued, retired ones too.
    pub(super) fn issued(&self) -> u64 {
        self.issued
    }

    /// Whether the peer has issued `id`, and not retired it.
    pub(super) fn is_of_peer(&self, id: ConnectionId) -> bool {
        self.of_peer.values().any(|&known| known == id)
    }

    /// Issues identifiers up to the peer's limit.
    pub(super) fn issue(&mut self, peers_limit: u64, random: &mut RandomSource) {
        if self.token.is_none() {
            let mut token = [0; STATELESS_RESET_TOKEN_LENGTH];
            random.fill_bytes(&mut token);
            self.token = Some(token);
        }
        while (self.own.len() as u64) < peers_limit.min(MOST_ISSUED) {
            self.own.insert(self.issued, random_id(random));
            self.to_tell.push(self.issued);
            self.issued += 1;
        }
    }

    /// The peer has issued an identifier.
    ///
    /// # Errors
    ///
    /// It exceeds the limit, or contradicts an earlier one.
    pub(super) fn on_new(&mut self, frame: &NewConnectionIdFrame) -> Result<(), TransportError> {
        // Section 19.15: a number has one identifier, an identifier one number, and who has an empty one has no others.
        let contradicts = |(&sequence, &known): (&u64, &ConnectionId)| {
            known.is_empty() || (sequence == frame.sequence) != (known == frame.connection_id)
        };
        if self.of_peer.iter().any(contradicts) {
            return Err(TransportError::ProtocolViolation);
        }
        // Numbers grow by one, and only so many identifiers are in use: who skips more would have each of those that it
        // issues next retired at once, for as long as they are below Retire Prior To.
        if frame.sequence > self.next_of_peer() + MOST_OWED * self.limit {
            return Err(TransportError::ConnectionIdLimit);
        }
        self.retired_prior_to = self.retired_prior_to.max(frame.retire_prior_to);
        if frame.sequence < self.retired_prior_to {
            if !self.to_retire.contains(&frame.sequence) {
                self.to_retire.push(frame.sequence);
            }
        } else {
            self.of_peer.insert(frame.sequence, frame.connection_id);
            self.resets.insert(frame.sequence, frame.stateless_reset_token);
        }
        self.resets = self.resets.split_off(&self.retired_prior_to);
        while let Some(first) = self.of_peer.first_entry().filter(|first| *first.key() < self.retired_prior_to) {
            self.to_retire.push(first.remove_entry().0);
        }
        // Section 5.1.2: a peer that makes this end owe more retirements than a few is at fault.
        let too_many = self.of_peer.len() as u64 > self.limit || self.to_retire.len() as u64 > MOST_OWED * self.limit;
        if too_many { Err(TransportError::ConnectionIdLimit) } else { Ok(()) }
    }

    /// The peer does not use the identifier `sequence` of this end any more.
    ///
    /// # Errors
    ///
    /// It was never issued.
    pub(super) fn on_retire(
        &mut self,
        sequence: u64,
        peers_limit: u64,
        random: &mut RandomSource,
    ) -> Result<(), TransportError> {
        if sequence >= self.issued {
            return Err(TransportError::ProtocolViolation);
        }
        self.own.remove(&sequence);
        self.to_tell.retain(|&told| told != sequence);
        self.issue(peers_limit, random);
        Ok(())
    }

    /// Whether the peer is to be told something.
    #[inline]
    pub(super) fn has_news(&self) -> bool {
        !self.to_tell.is_empty() || !self.to_retire.is_empty()
    }

    /// The next frame that tells the peer something.
    pub(super) fn take_news(&mut self) -> Option<Frame> {
        if let Some(sequence) = self.to_retire.pop() {
            return Some(Frame::RetireConnectionId { path: self.path, sequence });
        }
        while let Some(sequence) = self.to_tell.pop() {
            if let Some(&connection_id) = self.own.get(&sequence) {
                let frame = NewConnectionIdFrame {
                    path: self.path,
                    sequence,
                    retire_prior_to: 0,
                    connection_id,
                    stateless_reset_token: self.reset_token(&connection_id).or(self.token).unwrap_or_default(),
                };
                return Some(Frame::NewConnectionId(Box::new(frame)));
            }
        }
        None
    }

    /// The frame with the own identifier `sequence` is lost.
    pub(super) fn tell_again(&mut self, sequence: u64) {
        if self.own.contains_key(&sequence) && !self.to_tell.contains(&sequence) {
            self.to_tell.push(sequence);
        }
    }

    /// The retirement of the peer's identifier `sequence` is lost.
    pub(super) fn retire_again(&mut self, sequence: u64) {
        if !self.to_retire.contains(&sequence) {
            self.to_retire.push(sequence);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;

    fn id(byte: u8) -> ConnectionId {
        ConnectionId::new(&[byte; 8]).expect("short enough")
    }

    fn ids() -> (ConnectionIds, RandomSource) {
        (ConnectionIds::new(id(1), id(2), id(3), 3), Pcg64Mcg::seed_from_u64(1).into())
    }

    fn new(sequence: u64, retire_prior_to: u64) -> NewConnectionIdFrame {
        NewConnectionIdFrame {
            path: None,
            sequence,
            retire_prior_to,
            connection_id: id(10 + sequence as u8),
            stateless_reset_token: [0; 16],
        }
    }

    #[test]
    fn own_identifiers_are_issued_up_to_the_limit_and_replaced() {
        let (mut ids, mut random) = ids();
        ids.issue(2, &mut random);
        let Some(Frame::NewConnectionId(frame)) = ids.take_news() else { panic!("one more") };
        assert_eq!((frame.sequence, ids.take_news()), (1, None));
        assert!(ids.is_own(frame.connection_id, false) && ids.is_own(id(2), false));
        assert!(ids.is_own(id(1), true) && !ids.is_own(id(1), false), "the original one is a server's");
        assert_eq!(ids.on_retire(0, 2, &mut random), Ok(()));
        assert!(!ids.is_own(id(2), false) && ids.has_news());
        assert_eq!(ids.on_retire(3, 2, &mut random), Err(TransportError::ProtocolViolation));
    }

    #[test]
    fn identifiers_of_the_peer_are_bounded_and_retired_as_it_asks() {
        let (mut ids, _) = ids();
        assert_eq!((ids.on_new(&new(1, 0)), ids.on_new(&new(2, 0))), (Ok(()), Ok(())));
        assert_eq!(ids.clone().on_new(&new(3, 0)), Err(TransportError::ConnectionIdLimit));
        assert_eq!(ids.destination(), id(3));
        assert_eq!(ids.on_new(&new(3, 2)), Ok(()));
        assert_eq!(ids.destination(), id(12));
        let retired = [ids.take_news(), ids.take_news(), ids.take_news()];
        let retirement = |sequence| Some(Frame::RetireConnectionId { path: None, sequence });
        assert_eq!(retired, [retirement(1), retirement(0), None]);
        let contradicting = NewConnectionIdFrame { connection_id: id(99), ..new(3, 2) };
        assert_eq!(ids.on_new(&contradicting), Err(TransportError::ProtocolViolation));
    }
}
