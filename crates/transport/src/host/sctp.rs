//! SCTP at a host: opening associations, answering INITs without keeping state, creating associations from cookies (RFC
//! 9260, sections 5.1 and 8.4).

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use subflow_quantity::Instant;
use subflow_wire::sctp::{Chunk, InitChunk, Parameter};
use subflow_wire::{Body, PROTOCOL_SCTP, Packet, SctpPacket};

use super::{ConnectError, EndpointId, Host};
use crate::Endpoint;
use crate::sctp::{self, Association, Cookie, Identity, Sources, answer_init, answer_out_of_the_blue, may_open};
use crate::tcp::Ends;

impl Host {
    /// Opens an SCTP association from `local` (port 0: any that is free) to `remote`.
    ///
    /// # Errors
    ///
    /// If the port, or every port, is in use for associations with `remote`.
    pub fn connect_sctp(
        &mut self,
        config: Arc<sctp::Config>,
        local: SocketAddr,
        remote: SocketAddr,
        now: Instant,
    ) -> Result<EndpointId, ConnectError> {
        let ends = self.free_ends(PROTOCOL_SCTP, local, remote)?;
        let (secret, locals, rng) = (self.secret(), self.sctp_sources(local.ip(), &config), self.random.fork());
        Ok(self.add_association(Association::connect(config, secret, ends, locals, rng, now)))
    }

    /// The addresses of an association of this host, the initial one first.
    fn sctp_sources(&self, initial: IpAddr, config: &sctp::Config) -> Sources {
        let others = self.addresses.iter().copied().filter(|&address| address != initial);
        let addresses = core::iter::once(initial).chain(others.filter(|_| config.multihomed)).collect();
        Sources { addresses, reach: self.reach.clone() }
    }

    fn add_association(&mut self, association: impl Into<Endpoint>) -> EndpointId {
        let id = EndpointId(self.endpoints.insert(association.into()) as u32);
        self.follow_moves(id);
        id
    }

    /// Enters new addresses of an association and paths of a QUIC connection into the tables, and adds the association
    /// that replaces one after a restart of the peer.
    #[inline]
    pub(super) fn follow_moves(&mut self, id: EndpointId) {
        if self.endpoint(id).has_moved() {
            self.follow(id);
        }
    }

    #[inline(never)]
    fn follow(&mut self, id: EndpointId) {
        let endpoint = self.endpoint_mut(id);
        let (new_ends, successor) = (endpoint.take_new_ends(), endpoint.take_successor());
        let (protocol, id_changes) = (endpoint.protocol(), endpoint.take_id_changes());
        self.connection_ids.update(id, id_changes);
        for ends in new_ends {
            // A peer may claim any address. Addresses of another association remain assigned to that one.
            if !self.is_in_use(protocol, ends) {
                self.demux.add(protocol, ends, id);
            }
        }
        if let Some(successor) = successor {
            let id = self.add_association(successor);
            self.accepted.push_back(id);
        }
    }

    /// The association that has sent the INIT which `packet` answers from another address of the peer: each address in
    /// the INIT ACK may tell it (RFC 9260, section 5.1.2, D).
    fn opening_that_is_answered(&self, packet: &Packet, body: &SctpPacket) -> Option<EndpointId> {
        let Some(Chunk::InitAck(ack)) = body.chunks.first() else { return None };
        let local = SocketAddr::new(packet.ip.destination, body.destination_port);
        let listed = ack.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Ipv4Address(address) => Some(IpAddr::V4(*address)),
            Parameter::Ipv6Address(address) => Some(IpAddr::V6(*address)),
            _ => None,
        });
        let mut owners = listed.filter_map(|address| {
            let ends = Ends { local, remote: SocketAddr::new(address, body.source_port) };
            self.demux.owner(PROTOCOL_SCTP, ends)
        });
        owners.find(|&(id, subflow)| !self.endpoint(id).is_over(subflow)).map(|(id, _)| id)
    }

    /// Processes an SCTP packet that belongs to no association by its addresses.
    pub(super) fn handle_unclaimed_sctp(
        &mut self,
        now: Instant,
        packet: &Packet,
        body: &SctpPacket,
    ) -> Option<EndpointId> {
        if let Some(id) = self.opening_that_is_answered(packet, body) {
            self.endpoints[id.0 as usize].handle_packet(now, 0, packet);
            self.follow_moves(id);
            return Some(id);
        }
        let ends = Ends {
            local: SocketAddr::new(packet.ip.destination, body.destination_port),
            remote: SocketAddr::new(packet.ip.source, body.source_port),
        };
        let listener = self.listening_sctp(body.destination_port).cloned();
        match (body.chunks.first(), listener) {
            // Section 8.5.1, rule A: not a valid INIT.
            (Some(Chunk::Init(_)), _) if body.verification_tag != 0 || body.chunks.len() > 1 => None,
            (Some(Chunk::Init(init)), Some(config)) => {
                self.answer_init(init, ends, packet, body, &config, now);
                None
            }
            (Some(Chunk::CookieEcho(cookie)), Some(config)) if may_open(body) => {
                self.accept_cookie(cookie, ends, packet, body, config, now)
            }
            _ => {
                let answer = answer_out_of_the_blue(body);
                self.reply_sctp(answer, packet, body);
                None
            }
        }
    }

    fn answer_init(
        &mut self,
        init: &InitChunk,
        ends: Ends,
        packet: &Packet,
        body: &SctpPacket,
        config: &sctp::Config,
        now: Instant,
    ) {
        let locals = self.sctp_sources(ends.local.ip(), config).addresses;
        let (secret, identity) = (self.secret(), Identity::fresh(&mut self.random));
        let answer = answer_init(init, ends, &locals, config, &secret, identity, now);
        self.reply_sctp(answer, packet, body);
    }

    /// Creates an association from a valid cookie that this host has signed.
    fn accept_cookie(
        &mut self,
        cookie: &[u8],
        ends: Ends,
        packet: &Packet,
        body: &SctpPacket,
        config: Arc<sctp::Config>,
        now: Instant,
    ) -> Option<EndpointId> {
        if self.has_full_accept_queue() {
            return None;
        }
        let (secret, ports) = (self.secret(), (ends.local.port(), ends.remote.port()));
        let cookie = Cookie::verify(cookie, &secret, ports, body.verification_tag)?;
        if !cookie.remotes.contains(&ends.remote.ip()) {
            return None;
        }
        if let Some(stale) = cookie.stale_error(now) {
            self.reply_sctp(Some((cookie.remote_tag, stale)), packet, body);
            return None;
        }
        let (locals, rng) = (self.sctp_sources(cookie.local, &config), self.random.fork());
        let mut association = Association::accept(config, secret, ends, locals, &cookie, rng);
        association.handle_packet(now, &packet.ip, body);
        let id = self.add_association(association);
        self.accepted.push_back(id);
        Some(id)
    }

    /// Sends a packet of the host itself in answer to `packet`.
    fn reply_sctp(&mut self, answer: Option<(u32, Chunk)>, packet: &Packet, body: &SctpPacket) {
        let Some((verification_tag, chunk)) = answer else { return };
        let ends = Ends {
            local: SocketAddr::new(packet.ip.destination, body.destination_port),
            remote: SocketAddr::new(packet.ip.source, body.source_port),
        };
        let encapsulation = body.encapsulation.map(|theirs| subflow_wire::sctp::UdpEncapsulation {
            source_port: theirs.destination_port,
            destination_port: theirs.source_port,
        });
        let reply = SctpPacket {
            source_port: body.destination_port,
            destination_port: body.source_port,
            verification_tag,
            encapsulation,
            may_fragment: false,
            chunks: vec![chunk],
        };
        self.replies.push_back(Packet { ip: ends.ip_header(), body: Body::Sctp(reply) });
    }
}
