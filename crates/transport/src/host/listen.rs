//! Listening: SYNs that belong to no connection, joins by token, and resets for everything else.

use std::net::SocketAddr;
use std::sync::Arc;

use subflow_quantity::Instant;
use subflow_wire::tcp::mptcp::{Join, MptcpOption, ResetReason};
use subflow_wire::tcp::{TcpFlags, TcpSegment};
use subflow_wire::{Body, Ecn, IpHeader, Packet};

use super::demux::Protocol;
use super::{EndpointId, Host};
use crate::mptcp::{self, join_of};
use crate::tcp::{Ends, TcpEndpoint, TcpOptions};
use crate::{Endpoint, sctp};

/// What answers on a port.
#[derive(Clone, Debug)]
pub enum Listener {
    /// Plain TCP: MPTCP options are ignored, so that the peer falls back.
    Tcp(TcpOptions),
    /// SCTP.
    Sctp(Arc<sctp::Config>),
    /// MPTCP; a peer that does not speak it gets plain TCP.
    Mptcp(Arc<mptcp::Config>),
}

impl Host {
    /// Accepts connections on `port`.
    pub fn listen(&mut self, port: u16, listener: Listener) {
        self.listeners.insert(port, listener);
    }

    /// A packet that no endpoint has claimed.
    pub(super) fn handle_unclaimed(&mut self, now: Instant, packet: &Packet) -> Option<EndpointId> {
        let segment = match &packet.body {
            Body::Tcp(segment) => segment,
            Body::Sctp(body) => return self.handle_unclaimed_sctp(now, packet, body),
            Body::Udp(_) => return None,
        };
        let ends = Ends {
            local: SocketAddr::new(packet.ip.destination, segment.destination_port),
            remote: SocketAddr::new(packet.ip.source, segment.source_port),
        };
        let opens = segment.flags.contains(TcpFlags::SYN) && !segment.flags.contains(TcpFlags::ACK);
        if opens && !segment.flags.contains(TcpFlags::RST) {
            if let Some(Join::Syn { token, .. }) = join_of(segment) {
                return self.join(*token, ends, packet, segment, now);
            }
            if let Some(id) = self.accept(ends, segment, now) {
                return Some(id);
            }
        }
        let listens = matches!(self.listeners.get(&ends.local.port()), Some(Listener::Tcp(_) | Listener::Mptcp(_)));
        // RFC 9293, section 3.10.7.2: LISTEN drops what neither opens a connection nor acknowledges anything.
        if !listens || segment.flags.contains(TcpFlags::ACK) {
            self.refuse(packet, segment, None);
        }
        None
    }

    fn accept(&mut self, ends: Ends, syn: &TcpSegment, now: Instant) -> Option<EndpointId> {
        let endpoint = match self.listeners.get(&ends.local.port())?.clone() {
            Listener::Tcp(options) => self.accept_tcp(&options, ends, syn, now),
            Listener::Sctp(_) => return None,
            Listener::Mptcp(config) => {
                let key = self.tokens.fresh_key(&mut self.random);
                let mut random = self.random.fork();
                let identity = mptcp::Identity { key, initial: random.initial_sequence(ends, now) };
                let connection = mptcp::Connection::accept(config, ends, &self.addresses, syn, identity, random, now);
                let id = self.add(Endpoint::Mptcp(Box::new(connection)), ends);
                self.tokens.insert(key.token, id);
                self.accepted.push_back(id);
                return Some(id);
            }
        };
        let id = self.add(endpoint, ends);
        self.accepted.push_back(id);
        Some(id)
    }

    fn accept_tcp(&mut self, options: &TcpOptions, ends: Ends, syn: &TcpSegment, now: Instant) -> Endpoint {
        let initial = self.random.initial_sequence(ends, now);
        Endpoint::Tcp(Box::new(TcpEndpoint::accept(options, ends, initial, syn, now)))
    }

    /// MP_JOIN for the connection with `token` (RFC 8684, section 3.2).
    fn join(&mut self, token: u32, ends: Ends, packet: &Packet, syn: &TcpSegment, now: Instant) -> Option<EndpointId> {
        let Some(id) = self.tokens.find(token) else {
            self.refuse(packet, syn, Some(ResetReason::MPTCP_SPECIFIC));
            return None;
        };
        let Endpoint::Mptcp(connection) = self.endpoint_mut(id) else { return None };
        match connection.accept_join(ends, syn, now) {
            Ok(subflow) => {
                self.demux.assign(Protocol::Tcp, ends, id, subflow);
                Some(id)
            }
            Err(refused) => {
                self.refuse(packet, syn, Some(refused.0));
                None
            }
        }
    }

    /// A reset for a segment that nobody wants (RFC 9293, section 3.10.7.1).
    fn refuse(&mut self, packet: &Packet, segment: &TcpSegment, reason: Option<ResetReason>) {
        if segment.flags.contains(TcpFlags::RST) {
            return;
        }
        let control =
            u32::from(segment.flags.contains(TcpFlags::SYN)) + u32::from(segment.flags.contains(TcpFlags::FIN));
        let mut reset = TcpSegment {
            source_port: segment.destination_port,
            destination_port: segment.source_port,
            flags: TcpFlags::RST,
            ..TcpSegment::default()
        };
        if segment.flags.contains(TcpFlags::ACK) {
            reset.sequence = segment.acknowledgment;
        } else {
            reset.flags |= TcpFlags::ACK;
            reset.acknowledgment = segment.sequence.wrapping_add(segment.payload.length).wrapping_add(control);
        }
        reset.options.mptcp.extend(reason.map(MptcpOption::Reset));
        self.replies.push_back(Packet {
            ip: IpHeader {
                source: packet.ip.destination,
                destination: packet.ip.source,
                hop_limit: 64,
                ecn: Ecn::NotEct,
            },
            body: Body::Tcp(reset),
        });
    }
}
