//! The keys of a connection, and what is protected with them (RFC 9001, sections 4.9, 5 and 6).

use core::fmt;
use std::collections::BTreeMap;

use subflow_quantity::Instant;
use subflow_wire::quic::{ConnectionId, ProtectedPacket, SAMPLE_LENGTH};

use super::space_id::SpaceId;
use super::tls::{HeaderKey, KeyUpdates, Keys, NewKeys, PacketKey, Session, Tag};

/// The bit of a short header's first byte that says which keys protect the packet.
const KEY_PHASE: u8 = 0x04;

/// What protects the packets of a connection.
pub(super) struct Protection {
    /// The handshake; `None` once it is complete.
    pub(super) session: Option<Box<dyn Session>>,
    /// Where the messages that are written next belong.
    pub(super) writes: SpaceId,
    /// What the server has answered the client's first packet with, if that was a Retry packet.
    pub(super) retry: Option<Retry>,
    handshake: [Option<Level>; 2],
    one_rtt: Option<OneRtt>,
    /// Packets that could not be opened with keys that this end has.
    failures: u64,
}

/// What a client keeps of a Retry packet.
#[derive(Clone, Debug)]
pub(super) struct Retry {
    /// What its further Initial packets contain.
    pub(super) token: Box<[u8]>,
    /// The source of the packet, which the server has to repeat.
    pub(super) source: ConnectionId,
}

/// The keys of Initial or Handshake packets.
struct Level {
    keys: Keys,
    /// The number of the last packet that was sealed.
    sealed: Option<u64>,
}

/// The keys of 1-RTT packets.
struct OneRtt {
    /// Header protection, of this end and of the peer, which no update changes.
    headers: [Box<dyn HeaderKey>; 2],
    /// This end's and the peer's keys of the present phase, and of the next one.
    current: [Box<dyn PacketKey>; 2],
    next: [Box<dyn PacketKey>; 2],
    /// The peer's keys of the phase before, and until when packets may come late: that is not known before the peer has
    /// followed an update of this end (section 6.5).
    previous: Option<(Box<dyn PacketKey>, Option<Instant>)>,
    updates: Box<dyn KeyUpdates>,
    phase: Phase,
}

/// A key phase: the time between two updates of keys.
#[derive(Clone, Debug, Default)]
struct Phase {
    bit: bool,
    /// Packets that were sealed.
    sealed: u64,
    /// By path, the numbers of the first and the last packet of this phase that were sealed.
    sent: BTreeMap<u64, (u64, u64)>,
    /// By path, the number of the first one that has arrived.
    first_received: BTreeMap<u64, u64>,
}

/// A packet cannot be protected: its keys were discarded, or it was protected before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection has no key for the packet, or has protected it before")]
pub struct NoKey;

impl Protection {
    /// At the beginning, with the keys of Initial packets.
    pub(super) fn new(session: Option<Box<dyn Session>>, initial: Keys) -> Self {
        Self {
            session,
            writes: SpaceId::Initial,
            retry: None,
            handshake: [Some(Level { keys: initial, sealed: None }), None],
            one_rtt: None,
            failures: 0,
        }
    }

    /// The client begins again with other keys of Initial packets.
    pub(super) fn restart(&mut self, retry: Retry, initial: Keys) {
        self.retry = Some(retry);
        self.handshake[SpaceId::Initial.index()] = Some(Level { keys: initial, sealed: None });
    }

    /// Takes the keys for what follows the messages that were written before.
    pub(super) fn take(&mut self, keys: NewKeys) {
        match keys {
            NewKeys::Handshake(keys) => {
                self.handshake[SpaceId::Handshake.index()] = Some(Level { keys, sealed: None });
                self.writes = SpaceId::Handshake;
            }
            NewKeys::OneRtt(Keys { own, peer }, mut updates) => {
                let next = updates.next();
                self.one_rtt = Some(OneRtt {
                    headers: [own.header, peer.header],
                    current: [own.packet, peer.packet],
                    next,
                    previous: None,
                    updates,
                    phase: Phase::default(),
                });
                self.writes = SpaceId::of_path(0);
            }
        }
    }

    /// Where the messages that are read next have to come from.
    pub(super) fn reads(&self) -> SpaceId {
        if self.handshake[SpaceId::Handshake.index()].is_some() { SpaceId::Handshake } else { SpaceId::Initial }
    }

    /// Discards the keys of a space of the handshake.
    pub(super) fn discard(&mut self, id: SpaceId) {
        self.handshake[id.index()] = None;
    }

    /// The key phase of the 1-RTT packets that are sent next.
    pub(super) fn key_phase(&self) -> bool {
        self.one_rtt.as_ref().is_some_and(|keys| keys.phase.bit)
    }

    /// Whether more packets could not be opened than may be tried (section 6.6).
    pub(super) fn has_too_many_failures(&self) -> bool {
        self.one_rtt.as_ref().is_some_and(|keys| self.failures > keys.current[1].integrity_limit())
    }

    /// Protects the packet that `bytes` are, with packet number `number` on path `path`: its header, with the packet number,
    /// has `header` bytes, and the packet number begins at `number_at`.
    pub(super) fn seal(
        &mut self,
        (id, path, number): (SpaceId, u64, u64),
        (number_at, header): (usize, usize),
        bytes: &mut [u8],
    ) -> Result<(), NoKey> {
        let (head, payload) = bytes.split_at_mut_checked(header).ok_or(NoKey)?;
        let (payload, tag) = payload.split_last_chunk_mut().ok_or(NoKey)?;
        let header_key = match id {
            SpaceId::Initial | SpaceId::Handshake => {
                let Level { keys, sealed } = self.handshake[id.index()].as_mut().ok_or(NoKey)?;
                if sealed.is_some_and(|last| number <= last) {
                    return Err(NoKey);
                }
                *tag = keys.own.packet.seal(0, number, head, payload).ok_or(NoKey)?;
                *sealed = Some(number);
                &keys.own.header
            }
            SpaceId::Data(_) => {
                let keys = self.one_rtt.as_mut().ok_or(NoKey)?;
                *tag = keys.seal((path, number), head, payload)?;
                &keys.headers[0]
            }
        };
        let sample = sample_of(bytes, number_at).ok_or(NoKey)?;
        let (first, number) = first_and_number(bytes, number_at, header - number_at).ok_or(NoKey)?;
        header_key.mask(&sample, first, number);
        Ok(())
    }

    /// Removes header protection from the packet at the start of `bytes`, if there are keys for it.
    pub(super) fn unmask(&self, id: SpaceId, packet: &ProtectedPacket, bytes: &mut [u8]) -> bool {
        let key = match id {
            SpaceId::Data(_) => self.one_rtt.as_ref().map(|keys| &keys.headers[1]),
            SpaceId::Initial | SpaceId::Handshake => {
                self.handshake[id.index()].as_ref().map(|level| &level.keys.peer.header)
            }
        };
        let sample = packet.sample(bytes);
        let Some((key, (first, number))) = key.zip(first_and_number(bytes, packet.number_at(), 4)) else {
            return false;
        };
        key.unmask(&sample, first, number);
        true
    }

    /// Decrypts the packet that `bytes` are, whose header is unmasked and has `header` bytes, and sets its tag to zero.
    /// Returns whether the tag was right. A packet of the next key phase ends the present one; packets of that may come
    /// late until `late`.
    pub(super) fn open(
        &mut self,
        (id, path, number): (SpaceId, u64, u64),
        header: usize,
        bytes: &mut [u8],
        (now, late): (Instant, Instant),
    ) -> bool {
        let Some((head, payload)) = bytes.split_at_mut_checked(header) else { return false };
        let is_right = match id {
            SpaceId::Data(_) => {
                self.one_rtt.as_mut().is_some_and(|keys| keys.open((path, number), head, payload, (now, late)))
            }
            SpaceId::Initial | SpaceId::Handshake => {
                let level = self.handshake[id.index()].as_ref();
                level.is_some_and(|level| level.keys.peer.packet.open(0, number, head, payload))
            }
        };
        match payload.last_chunk_mut::<{ size_of::<Tag>() }>() {
            Some(tag) if is_right => *tag = Tag::default(),
            _ => self.failures += 1,
        }
        is_right
    }

    /// Whether the keys have to be updated soon.
    pub(super) fn is_worn(&self) -> bool {
        // Half of what is allowed leaves time for the acknowledgment that an update waits for.
        let is_worn = |keys: &OneRtt| keys.phase.sealed > keys.current[0].confidentiality_limit() / 2;
        self.one_rtt.as_ref().is_some_and(is_worn)
    }

    /// Updates the keys of 1-RTT packets, if a packet of the present phase was acknowledged: `acknowledged` is the highest
    /// number of each path (section 6.1).
    pub(super) fn update(&mut self, acknowledged: impl IntoIterator<Item = (u64, u64)>) -> bool {
        let Some(keys) = &mut self.one_rtt else { return false };
        let is_of_phase =
            |(path, largest): (u64, u64)| keys.phase.sent.get(&path).is_some_and(|&(first, _)| first <= largest);
        let is_allowed = acknowledged.into_iter().any(is_of_phase);
        if is_allowed {
            keys.advance(None);
        }
        is_allowed
    }
}

impl OneRtt {
    fn seal(&mut self, (path, number): (u64, u64), head: &[u8], payload: &mut [u8]) -> Result<Tag, NoKey> {
        let is_of_phase = head.first().is_some_and(|first| (first & KEY_PHASE != 0) == self.phase.bit);
        let [own, _] = &self.current;
        let is_repeated = self.phase.sent.get(&path).is_some_and(|&(_, last)| number <= last);
        if !is_of_phase || is_repeated || self.phase.sealed >= own.confidentiality_limit() {
            return Err(NoKey);
        }
        let tag = own.seal(path as u32, number, head, payload).ok_or(NoKey)?;
        self.phase.sealed += 1;
        self.phase.sent.entry(path).or_insert((number, number)).1 = number;
        Ok(tag)
    }

    fn open(
        &mut self,
        (path, number): (u64, u64),
        head: &[u8],
        payload: &mut [u8],
        (now, late): (Instant, Instant),
    ) -> bool {
        let open = |key: &dyn PacketKey, payload: &mut [u8]| key.open(path as u32, number, head, payload);
        if head.first().is_some_and(|first| (first & KEY_PHASE != 0) == self.phase.bit) {
            let is_right = open(&*self.current[1], payload);
            if is_right {
                let first = self.phase.first_received.entry(path).or_insert(number);
                *first = number.min(*first);
                if let Some((_, until @ None)) = &mut self.previous {
                    *until = Some(late);
                }
            }
            return is_right;
        }
        // Numbers tell a late packet from one of the next phase: where nothing of this phase has arrived, it is late.
        let may_be_late = self.phase.first_received.get(&path).is_none_or(|&first| number < first);
        if let Some((previous, until)) = &self.previous
            && may_be_late
            && until.is_none_or(|until| now < until)
        {
            return open(&**previous, payload);
        }
        let is_right = open(&*self.next[1], payload);
        if is_right {
            self.advance(Some(late));
            self.phase.first_received.insert(path, number);
        }
        is_right
    }

    /// The next key phase begins, in both directions. Packets of the present one may come late until `late`.
    fn advance(&mut self, late: Option<Instant>) {
        let next = core::mem::replace(&mut self.next, self.updates.next());
        let [_, peer] = core::mem::replace(&mut self.current, next);
        self.previous = Some((peer, late));
        self.phase = Phase { bit: !self.phase.bit, ..Phase::default() };
    }
}

fn sample_of(bytes: &[u8], number_at: usize) -> Option<[u8; SAMPLE_LENGTH]> {
    bytes.get(number_at + 4..)?.first_chunk().copied()
}

/// The first byte of a packet, and `length` bytes of its packet number.
fn first_and_number(bytes: &mut [u8], number_at: usize, length: usize) -> Option<(&mut u8, &mut [u8])> {
    let (first, rest) = bytes.split_first_mut()?;
    let start = number_at.checked_sub(1)?;
    Some((first, rest.get_mut(start..start + length)?))
}

impl Clone for Protection {
    /// A copy has no keys: two connections that go on from the same point would protect different packets with the same
    /// numbers, which tells both. It neither opens nor sends anything.
    fn clone(&self) -> Self {
        Self { session: None, writes: self.writes, retry: None, handshake: [None, None], one_rtt: None, failures: 0 }
    }
}

impl fmt::Debug for Protection {
    /// Without keys.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = self.one_rtt.as_ref().map(|keys| &keys.phase);
        let fields = (&self.session, phase, self.failures);
        formatter.debug_tuple("Protection").field(&fields).finish()
    }
}
