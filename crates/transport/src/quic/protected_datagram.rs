//! Datagrams as they are on a network: protected when they leave, and opened when they arrive (RFC 9001, section 5).

use core::ops::Range;

use subflow_quantity::Instant;
use subflow_wire::IpHeader;
use subflow_wire::quic::{ConnectionId, PacketKind, ProtectedPacket, QuicDatagram, QuicPacket};

use super::error::TransportError;
use super::path::Path;
use super::phase::Phase;
use super::protection::NoKey;
use super::space_id::SpaceId;
use super::{CONNECTION_ID_LENGTH, Connection};
use crate::tcp::Closed;

/// Probe timeouts for which packets of a former key phase are opened (section 6.5).
const LATE_TIMEOUTS: u64 = 3;

/// The bit of a long header's first byte, and the least length of a stateless reset (RFC 9000, section 10.3).
const LONG_HEADER: u8 = 0x80;
const LEAST_RESET: usize = 21;

/// What was opened of a datagram.
#[derive(Clone, Debug, Default)]
pub struct Opened {
    /// The packets that were opened.
    pub datagram: QuicDatagram,
    /// Where the application data of each of their frames lies in the bytes of the datagram, in the order of packets and
    /// frames. Which of it is new [`Connection::taken_data`] says.
    pub data: Vec<Range<usize>>,
}

impl Connection {
    /// Protects in place the datagram that this connection has just sent: `bytes` are what [`QuicDatagram::emit`] has
    /// written of it. Without [`Config::tls`](super::Config::tls) they stay as they are.
    ///
    /// # Errors
    ///
    /// A packet has no key any more, or was protected before. Then the bytes are not to be sent.
    pub fn protect(&mut self, datagram: &QuicDatagram, bytes: &mut [u8]) -> Result<(), NoKey> {
        if self.protection.is_none() {
            return Ok(());
        }
        let mut rest = bytes;
        for packet in &datagram.packets {
            let (own, others) = rest.split_at_mut_checked(packet.length() as usize).ok_or(NoKey)?;
            self.protect_packet(packet, own)?;
            rest = others;
        }
        let open = [SpaceId::Initial, SpaceId::Handshake].map(|id| (id, self.space(id).is_open()));
        if let Some(protection) = &mut self.protection {
            open.into_iter().filter(|(_, is_open)| !is_open).for_each(|(id, _)| protection.discard(id));
            if protection.is_worn() {
                self.update_keys();
            }
        }
        Ok(())
    }

    fn protect_packet(&mut self, packet: &QuicPacket, bytes: &mut [u8]) -> Result<(), NoKey> {
        let Some(number) = packet.header.number() else { return Ok(()) };
        let destination = packet.header.destination();
        let place = match &self.paths[..] {
            [_] => 0,
            paths => paths.iter().position(|path| path.ids.is_of_peer(destination)).ok_or(NoKey)?,
        };
        let id = SpaceId::of(&packet.header, place).ok_or(NoKey)?;
        let full = number.expand(self.space(id).next_number().checked_sub(1));
        let header = packet.header.length() as usize;
        let path = self.paths[place].id;
        let protection = self.protection.as_deref_mut().ok_or(NoKey)?;
        protection.seal((id, path, full), (header - number.length() as usize, header), bytes)
    }

    /// Updates the keys of 1-RTT packets (section 6.1). Returns whether that was possible: the handshake is confirmed, and a
    /// packet with the present keys was acknowledged. It is done without this before the keys have protected too much.
    pub fn update_keys(&mut self) -> bool {
        if !self.phase.is_confirmed() {
            return false;
        }
        let largest = |path: &Path| Some((path.id, path.space.sent.largest_acknowledged()?));
        let acknowledged: Vec<_> = self.paths.iter().filter_map(largest).collect();
        self.protection.as_deref_mut().is_some_and(|protection| protection.update(acknowledged))
    }

    /// Opens and processes a datagram that has arrived between `ports`, of the source and of the destination, and removes
    /// the protection of what could be opened from `bytes`.
    pub(crate) fn handle_protected(
        &mut self,
        now: Instant,
        ip: &IpHeader,
        ports: (u16, u16),
        bytes: &mut [u8],
    ) -> Opened {
        self.taken.clear();
        let mut opened = Opened::default();
        (opened.datagram.source_port, opened.datagram.destination_port) = ports;
        if matches!(self.phase, Phase::Over(_)) || self.protection.is_none() {
            return opened;
        }
        // A reset may be shorter than what is protected.
        let is_reset = self.is_reset(bytes);
        let Ok(first) = ProtectedPacket::parse(bytes, CONNECTION_ID_LENGTH) else {
            if is_reset {
                self.end(Closed::Reset);
            }
            return opened;
        };
        if !self.phase.is_open() {
            self.open_after_close(bytes, &mut opened, now);
            self.on_datagram_after_close(ip, &opened.datagram);
            return opened;
        }
        let head = (first.destination, first.kind == PacketKind::OneRtt);
        let length = bytes.len() as u32;
        let arrival = self.begin_datagram((ip, ports), Some(head), || length, now);
        let mut at = 0;
        while let Some(packet) = next_packet(bytes, at) {
            let start = at;
            at += packet.length();
            if arrival.ignores(packet.destination, packet.kind == PacketKind::Initial) {
                continue;
            }
            let own = &mut bytes[start..at];
            if packet.kind == PacketKind::Retry {
                self.on_retry(own);
                continue;
            }
            let result = self.open_packet(arrival.place(), &packet, own, now).and_then(|parsed| {
                let Some((packet, data)) = parsed else { return Ok(()) };
                opened.data.extend(data.into_iter().map(|range| start + range.start..start + range.end));
                opened.datagram.packets.push(packet);
                let packet = &opened.datagram.packets[opened.datagram.packets.len() - 1];
                self.on_packet(arrival.place(), packet, ip.ecn, now)
            });
            if let Err(error) = result {
                self.fail(error);
            }
            if !self.phase.is_open() {
                return opened;
            }
        }
        if opened.datagram.packets.is_empty() && is_reset {
            self.end(Closed::Reset);
            return opened;
        }
        self.end_datagram(&arrival, now);
        opened
    }

    /// Refuses a client whose token does not count any more, with a datagram of `length` bytes.
    pub(crate) fn refuse_token(&mut self, length: usize) {
        self.paths[0].amplification.received += length as u64;
        self.fail(TransportError::InvalidToken);
    }

    /// Whether this end has issued a connection identifier, and the peer has not retired it.
    pub(crate) fn has_issued(&self, id: ConnectionId) -> bool {
        self.paths.iter().any(|path| path.ids.is_own(id, self.is_server))
    }

    /// Whether a datagram is a stateless reset of the peer, unless it can be opened (RFC 9000, section 10.3.1).
    fn is_reset(&self, bytes: &[u8]) -> bool {
        let is_short_header = bytes.first().is_some_and(|first| first & LONG_HEADER == 0);
        let token = bytes.last_chunk().filter(|_| is_short_header && bytes.len() >= LEAST_RESET);
        token.is_some_and(|token| self.paths.iter().any(|path| !path.is_closed() && path.ids.is_reset(token)))
    }

    /// Opens what can be opened of a datagram without processing it.
    fn open_after_close(&mut self, bytes: &mut [u8], opened: &mut Opened, now: Instant) {
        let mut at = 0;
        while let Some(packet) = next_packet(bytes, at) {
            let start = at;
            at += packet.length();
            let is_own = |path: &Path| path.ids.is_own(packet.destination, self.is_server);
            let Some(place) = self.paths.iter().position(is_own) else { continue };
            if let Ok(Some((packet, _))) = self.open_packet(place, &packet, &mut bytes[start..at], now) {
                opened.datagram.packets.push(packet);
            }
        }
    }

    /// Removes the protection of the packet that `bytes` are. Returns it with the places of its application data, if it
    /// could be opened.
    ///
    /// # Errors
    ///
    /// Its sender has the keys, and has made a mistake; or too many packets could not be opened.
    #[allow(clippy::type_complexity, reason = "it is what the parser returns")]
    fn open_packet(
        &mut self,
        place: usize,
        packet: &ProtectedPacket,
        bytes: &mut [u8],
        now: Instant,
    ) -> Result<Option<(QuicPacket, Vec<Range<usize>>)>, TransportError> {
        if packet.is_protected() {
            let Some(id) = SpaceId::of_kind(packet.kind, place).filter(|&id| self.space(id).is_open()) else {
                return Ok(None);
            };
            let is_own = self.paths[place].ids.is_own(packet.destination, self.is_server);
            let largest = self.space(id).received.largest();
            let (path, late) = (self.paths[place].id, now + self.longest_probe_timeout() * LATE_TIMEOUTS);
            let Some(protection) = self.protection.as_deref_mut().filter(|_| is_own) else { return Ok(None) };
            if !protection.unmask(id, packet, bytes) {
                return Ok(None);
            }
            let number = packet.number(bytes);
            let header = packet.number_at() + number.length() as usize;
            if !protection.open((id, path, number.expand(largest)), header, bytes, (now, late)) {
                return if protection.has_too_many_failures() { Err(TransportError::AeadLimit) } else { Ok(None) };
            }
            if !ProtectedPacket::has_valid_bits(bytes[0]) {
                return Err(TransportError::ProtocolViolation);
            }
        } else if packet.kind != PacketKind::VersionNegotiation {
            // What is not protected must not be taken for what was.
            return Ok(None);
        }
        let parsed = QuicDatagram::parse(0, 0, bytes, CONNECTION_ID_LENGTH).ok();
        Ok(parsed.and_then(|(mut datagram, data)| Some((datagram.packets.pop()?, data))))
    }
}

/// The packet at `at` of a datagram, if there is one.
fn next_packet(bytes: &[u8], at: usize) -> Option<ProtectedPacket> {
    let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
    ProtectedPacket::parse(rest, CONNECTION_ID_LENGTH).ok()
}
