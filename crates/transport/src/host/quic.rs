//! Datagrams of QUIC that belong to no connection (RFC 9000, sections 5.2.2 and 6), and connections that this host opens.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use subflow_quantity::Instant;
use subflow_wire::quic::{
    ConnectionId, PacketHeader, PacketKind, ProtectedPacket, QuicDatagram, QuicPacket, VERSION_1,
};
use subflow_wire::{Body, PROTOCOL_UDP, Packet};

use super::listen::is_unicast;
use super::quic_stateless::RetryToken;
use super::{ConnectError, EndpointId, Host};
use crate::quic::{self, CONNECTION_ID_LENGTH, Connection, Opened, may_open};
use crate::tcp::Ends;

/// The least length of a datagram that is answered with a list of versions (section 6.1).
const LEAST_LENGTH: u32 = 1200;

impl Host {
    /// Opens a QUIC connection from `local` (port 0: any that is free) to `remote`.
    ///
    /// # Errors
    ///
    /// If the port, or every port, is in use for connections to `remote`.
    pub fn connect_quic(
        &mut self,
        config: Arc<quic::Config>,
        local: SocketAddr,
        remote: SocketAddr,
        now: Instant,
    ) -> Result<EndpointId, ConnectError> {
        let ends = self.free_ends(PROTOCOL_UDP, local, remote)?;
        let random = self.random.fork();
        let connection = Connection::connect(config, ends, &self.addresses, random, now);
        Ok(self.add(connection.into(), ends))
    }

    /// Processes a datagram that belongs to no connection by its addresses: the first one of a path belongs to the
    /// connection of its identifier, the first one of a client opens a connection. All others are ignored: without
    /// cryptography there are no stateless resets.
    pub(super) fn handle_unclaimed_quic(
        &mut self,
        now: Instant,
        packet: &Packet,
        datagram: &QuicDatagram,
    ) -> Option<EndpointId> {
        if let Some(id) = self.connection_ids.find(datagram).filter(|&id| !self.endpoint(id).is_closed()) {
            self.endpoint_mut(id).handle_packet(now, 0, packet);
            self.follow_moves(id);
            return Some(id);
        }
        let config = self.listening_quic(datagram.destination_port)?.clone();
        let ends = Ends {
            local: SocketAddr::new(packet.ip.destination, datagram.destination_port),
            remote: SocketAddr::new(packet.ip.source, datagram.source_port),
        };
        if let Some(answer) = negotiate_version(datagram) {
            self.replies.push_back(Packet { ip: ends.ip_header(), body: Body::Quic(answer) });
            return None;
        }
        let (destination, source) = may_open(datagram)?;
        if self.is_full(ends.local.port()) {
            return None;
        }
        let (random, identifiers) = (self.random.fork(), (destination, source, None));
        let mut connection = Connection::accept(config, (ends, &self.addresses), identifiers, random, now);
        connection.handle_datagram(now, &packet.ip, datagram);
        Some(self.admit(connection, ends))
    }

    /// Processes a datagram whose packets are protected, as they are everywhere but in a simulation: `packet` has the
    /// headers of IP and UDP, `bytes` are its payload. What is opened of it is decrypted in place. Returns the endpoint,
    /// which is to be drained, and what was opened.
    ///
    /// A connection whose [`Config`](quic::Config) has no [`Tls`](quic::tls::Tls) ignores it.
    pub fn handle_protected(
        &mut self,
        now: Instant,
        packet: &Packet,
        bytes: &mut [u8],
    ) -> Option<(EndpointId, Opened)> {
        let owner = self.demux.find(packet).map(|(id, _)| id).filter(|&id| !self.endpoint(id).is_closed());
        let Some(id) = owner.or_else(|| self.find_protected(bytes)) else {
            return self.handle_unclaimed_protected(now, packet, bytes);
        };
        let (_, source, destination) = packet.body.transport_ports();
        let connection = self.endpoint_mut(id).as_quic_mut()?;
        let opened = connection.handle_protected(now, &packet.ip, (source, destination), bytes);
        self.open_requested(id, now);
        self.follow_moves(id);
        self.update_half_open(id);
        Some((id, opened))
    }

    /// The connection to whose further paths the first packet of a datagram belongs.
    fn find_protected(&self, bytes: &[u8]) -> Option<EndpointId> {
        let first = ProtectedPacket::parse(bytes, CONNECTION_ID_LENGTH).ok()?;
        let id = *self.connection_ids.0.get(&first.destination).filter(|_| first.kind == PacketKind::OneRtt)?;
        (!self.endpoint(id).is_closed()).then_some(id)
    }

    /// A protected datagram of no connection. One that a client's first packet begins opens a connection, if its protection
    /// is right.
    fn handle_unclaimed_protected(
        &mut self,
        now: Instant,
        packet: &Packet,
        bytes: &mut [u8],
    ) -> Option<(EndpointId, Opened)> {
        if !is_unicast(packet.ip.source) || !is_unicast(packet.ip.destination) {
            return None;
        }
        let (_, source, destination) = packet.body.transport_ports();
        let config = self.listening_quic(destination).filter(|config| config.tls.is_some())?.clone();
        let ends = Ends {
            local: SocketAddr::new(packet.ip.destination, destination),
            remote: SocketAddr::new(packet.ip.source, source),
        };
        let first = ProtectedPacket::parse(bytes, CONNECTION_ID_LENGTH).ok()?;
        let is_long_enough = bytes.len() >= LEAST_LENGTH as usize;
        if first.kind == PacketKind::OtherVersion && is_long_enough {
            let answer = versions((destination, source), first.destination, first.source);
            self.replies.push_back(Packet { ip: ends.ip_header(), body: Body::Quic(answer) });
        }
        if first.kind == PacketKind::OneRtt {
            self.reset_unknown(&config, ends, (first.destination, bytes.len()), now);
        }
        let opens = first.kind == PacketKind::Initial
            && is_long_enough
            && first.destination.length() as usize >= CONNECTION_ID_LENGTH;
        if !opens || self.is_full(ends.local.port()) {
            return None;
        }
        let token = self.read_retry_token(ends, &first, bytes, now);
        let half_open = self.half_open.connections(ends.local.port());
        if token == RetryToken::None && config.retry_from.is_some_and(|from| half_open >= from) {
            self.ask_for_token(&config, ends, &first, now);
            return None;
        }
        let original = if let RetryToken::Valid(original) = token { Some(original) } else { None };
        let (random, identifiers) = (self.random.fork(), (first.destination, first.source, original));
        let mut connection = Connection::accept(config, (ends, &self.addresses), identifiers, random, now);
        if token == RetryToken::Expired {
            connection.refuse_token(bytes.len());
        }
        let opened = connection.handle_protected(now, &packet.ip, (source, destination), bytes);
        if opened.datagram.packets.is_empty() {
            return None;
        }
        Some((self.admit(connection, ends), opened))
    }

    /// Whether no more connections to `port` can be accepted at present.
    fn is_full(&self, port: u16) -> bool {
        self.has_full_accept_queue() || self.half_open.connections(port) >= self.limits.backlog
    }

    /// Takes a connection that a client has opened.
    fn admit(&mut self, connection: Connection, ends: Ends) -> EndpointId {
        let id = self.add(connection.into(), ends);
        self.half_open.add_connection(id, ends.local.port());
        self.accepted.push_back(id);
        id
    }
}

/// The connections of connection identifiers: those of paths that a peer may open from any address.
#[derive(Clone, Debug, Default)]
pub(super) struct ConnectionIdTable(BTreeMap<ConnectionId, EndpointId>);

impl ConnectionIdTable {
    /// The connection to which the first packet of a path belongs.
    fn find(&self, datagram: &QuicDatagram) -> Option<EndpointId> {
        match datagram.packets.first()?.header {
            PacketHeader::OneRtt { destination, .. } => self.0.get(&destination).copied(),
            _ => None,
        }
    }

    /// Whether a connection has issued one for a further path.
    pub(super) fn contains(&self, id: ConnectionId) -> bool {
        self.0.contains_key(&id)
    }

    /// Connection `id` has issued some (`true`), and does not take packets of others any more.
    pub(super) fn update(&mut self, id: EndpointId, changes: Vec<(ConnectionId, bool)>) {
        for (connection_id, is_new) in changes {
            match is_new {
                true => _ = self.0.insert(connection_id, id),
                false => _ = self.0.remove(&connection_id),
            }
        }
    }
}

/// The answer to a client of another version.
fn negotiate_version(datagram: &QuicDatagram) -> Option<QuicDatagram> {
    let (version, destination, source) = match datagram.packets.first()?.header {
        PacketHeader::Initial { version, destination, source, .. }
        | PacketHeader::ZeroRtt { version, destination, source, .. }
        | PacketHeader::Handshake { version, destination, source, .. } => (version, destination, source),
        _ => return None,
    };
    if version == VERSION_1 || datagram.length() < LEAST_LENGTH {
        return None;
    }
    let local_and_remote = (datagram.destination_port, datagram.source_port);
    Some(versions(local_and_remote, destination, source))
}

/// The versions that this host supports, for a client that has sent a packet with these connection identifiers from the
/// remote port.
fn versions(
    (source_port, destination_port): (u16, u16),
    destination: ConnectionId,
    source: ConnectionId,
) -> QuicDatagram {
    let header =
        PacketHeader::VersionNegotiation { destination: source, source: destination, versions: vec![VERSION_1] };
    QuicDatagram { source_port, destination_port, packets: vec![QuicPacket { header, frames: Vec::new() }] }
}
