//! Segments that belong to no connection: SYNs for listeners, joins, and resets (RFC 9293, sections 3.10.7.1 and
//! 3.10.7.2).

use std::net::{IpAddr, SocketAddr};

use subflow_quantity::Instant;
use subflow_wire::tcp::mptcp::{Join, MptcpOption, ResetReason};
use subflow_wire::tcp::{TcpFlags, TcpSegment};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, PROTOCOL_TCP, Packet};

use super::listener::PresetNumbers;
use super::{EndpointId, Host};
use crate::mptcp::{Refused, join_of};
use crate::tcp::Ends;

impl Host {
    /// Processes a packet that belongs to no endpoint.
    #[cold]
    pub(super) fn handle_unclaimed(&mut self, now: Instant, packet: &Packet) -> Option<EndpointId> {
        if !is_unicast(packet.ip.source) || !is_unicast(packet.ip.destination) {
            // RFC 9293, section 3.9.2.3: such a packet opens no connection, and an answer could reach many hosts.
            return None;
        }
        match &packet.body {
            Body::Tcp(segment) => self.handle_unclaimed_segment(now, packet, segment),
            Body::Sctp(body) => self.handle_unclaimed_sctp(now, packet, body),
            Body::Quic(datagram) => self.handle_unclaimed_quic(now, packet, datagram),
            Body::Udp(_) => None,
        }
    }

    fn handle_unclaimed_segment(&mut self, now: Instant, packet: &Packet, segment: &TcpSegment) -> Option<EndpointId> {
        let ends = Ends {
            local: SocketAddr::new(packet.ip.destination, segment.destination_port),
            remote: SocketAddr::new(packet.ip.source, segment.source_port),
        };
        let listens = self.listening_tcp(ends.local.port()).is_some();
        let flags = segment.flags;
        if flags.contains(TcpFlags::RST) {
            return None;
        }
        if flags.contains(TcpFlags::ACK) {
            let cookie = if listens { self.syn_cookie_of(ends, segment, now) } else { None };
            return match cookie {
                Some(cookie) => self.accept_syn_cookie(cookie, ends, packet, segment, now),
                None => self.refuse(packet, segment, None),
            };
        }
        match join_of(segment) {
            Some(Join::Syn { token, .. }) if flags.contains(TcpFlags::SYN) => {
                self.join(*token, ends, packet, segment, now)
            }
            _ if !listens => self.refuse(packet, segment, None),
            _ if flags.contains(TcpFlags::SYN) => self.accept(ends, segment, PresetNumbers::default(), now),
            // In LISTEN, a segment that neither opens a connection nor acknowledges anything is dropped.
            _ => None,
        }
    }

    /// Answers a SYN on behalf of a listener.
    fn accept(&mut self, ends: Ends, syn: &TcpSegment, preset: PresetNumbers, now: Instant) -> Option<EndpointId> {
        let port = ends.local.port();
        if self.has_full_accept_queue() {
            return None;
        }
        // A SYN for ends in TIME-WAIT replaces a connection that was established.
        if preset.initial.is_none() && self.half_open.connections(port) >= self.limits.backlog {
            self.answer_with_syn_cookie(ends, syn, now);
            return None;
        }
        let id = self.accept_connection(ends, syn, preset, now)?;
        self.half_open.add_connection(id, port);
        Some(id)
    }

    /// Whether the driver takes accepted connections more slowly than they arrive.
    pub(super) fn has_full_accept_queue(&self) -> bool {
        self.accepted.len() >= self.limits.backlog.max(1)
    }

    /// Adds the connection that answers `syn`.
    pub(super) fn accept_connection(
        &mut self,
        ends: Ends,
        syn: &TcpSegment,
        preset: PresetNumbers,
        now: Instant,
    ) -> Option<EndpointId> {
        let endpoint = self.answering_endpoint(ends, syn, preset, now)?;
        let token = endpoint.token();
        let id = self.add(endpoint, ends);
        if let Some(token) = token {
            self.tokens.insert(token, id);
        }
        self.accepted.push_back(id);
        Some(id)
    }

    /// Processes a SYN for ends that `id` has in TIME-WAIT: reopens them if RFC 6191 permits it. The old endpoint
    /// remains in TIME-WAIT without these ends.
    #[cold]
    pub(super) fn reopen(
        &mut self,
        now: Instant,
        packet: &Packet,
        (id, subflow): (EndpointId, usize),
    ) -> Option<EndpointId> {
        let Body::Tcp(syn) = &packet.body else { return None };
        let old = self.endpoint(id).tcp(subflow)?;
        let ends = old.ends();
        let timestamps = self.listening_tcp(ends.local.port())?.timestamps;
        let initial = old.reopening_sequence(syn, timestamps)?;
        if join_of(syn).is_some() {
            return None;
        }
        self.accept(ends, syn, PresetNumbers { initial: Some(initial), key: None }, now)
    }

    /// Processes an MP_JOIN for the connection with `token` (RFC 8684, section 3.2).
    fn join(&mut self, token: u32, ends: Ends, packet: &Packet, syn: &TcpSegment, now: Instant) -> Option<EndpointId> {
        let Some(id) = self.tokens.find(token) else {
            return self.refuse(packet, syn, Some(ResetReason::MPTCP_SPECIFIC));
        };
        if self.half_open.joins() >= self.limits.half_open_joins {
            return None;
        }
        let connection = self.endpoint_mut(id);
        match connection.accept_join(ends, syn, now) {
            Ok(subflow) => {
                let half_open = connection.half_open_joins();
                self.demux.assign(PROTOCOL_TCP, ends, id, subflow);
                self.half_open.set_joins(id, half_open);
                Some(id)
            }
            Err(Refused::Reset(reason)) => self.refuse(packet, syn, Some(reason)),
            Err(Refused::Silently) => None,
        }
    }

    /// Answers a segment that belongs to no connection with a reset (RFC 9293, section 3.10.7.1).
    fn refuse(&mut self, packet: &Packet, segment: &TcpSegment, reason: Option<ResetReason>) -> Option<EndpointId> {
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
                dscp: Dscp::DEFAULT,
                ecn: Ecn::NotEct,
            },
            body: Body::Tcp(reset),
        });
        None
    }
}

/// Whether an address may be used as the source or destination of a connection.
pub(super) fn is_unicast(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    !address.is_multicast() && !address.is_unspecified() && !is_broadcast
}
