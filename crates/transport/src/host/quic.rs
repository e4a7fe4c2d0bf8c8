//! Datagrams of QUIC that belong to no connection (RFC 9000, sections 5.2.2 and 6), and connections that this host opens.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use subflow_quantity::Instant;
use subflow_wire::quic::{ConnectionId, PacketHeader, QuicDatagram, QuicPacket, VERSION_1};
use subflow_wire::{Body, PROTOCOL_UDP, Packet};

use super::{ConnectError, EndpointId, Host};
use crate::quic::{self, Connection, may_open};
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
    /// connection of its identifier, the first one of a client opens a connection. All others are ignored, since this
    /// host sends no stateless resets.
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
        let identifiers = may_open(datagram)?;
        let port = ends.local.port();
        if self.has_full_accept_queue() || self.half_open.connections(port) >= self.limits.backlog {
            return None;
        }
        let random = self.random.fork();
        let mut connection = Connection::accept(config, (ends, &self.addresses), identifiers, random, now);
        connection.handle_datagram(now, &packet.ip, datagram);
        let id = self.add(connection.into(), ends);
        self.half_open.add_connection(id, port);
        self.accepted.push_back(id);
        Some(id)
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
    let header =
        PacketHeader::VersionNegotiation { destination: source, source: destination, versions: vec![VERSION_1] };
    Some(QuicDatagram {
        source_port: datagram.destination_port,
        destination_port: datagram.source_port,
        packets: vec![QuicPacket { header, frames: Vec::new() }],
    })
}
