//! What a server of QUIC answers without keeping state: Retry packets, with tokens that prove the address of a client (RFC 9000,
//! section 8.1.2), and stateless resets (section 10.3).

use std::collections::VecDeque;
use std::net::SocketAddr;

use rand_core::RngCore;
use subflow_quantity::{Duration, Instant};
use subflow_wire::quic::{ConnectionId, PacketHeader, ProtectedPacket, QuicDatagram, QuicPacket, VERSION_1};
use subflow_wire::{PROTOCOL_UDP, PayloadBytes};

use super::Host;
use crate::mac::{bytes_of_end, hmac_sha256, is_equal};
use crate::quic::{CONNECTION_ID_LENGTH, Config};
use crate::tcp::Ends;

/// How long a token counts: a client sends it back at once.
const TOKEN_LIFETIME: Duration = Duration::from_secs(10);
/// The first byte of our tokens, and their parts: the time, an end, and what authenticates them.
const TOKEN_KIND: u8 = 0x52;
const END_LENGTH: usize = 18;
const TAG_LENGTH: usize = 16;
/// Stateless resets in a second: each answers a packet for whose connection all are searched.
const MOST_RESETS: u32 = 100;
/// The length of a reset, if what it answers is longer, and the least one (section 10.3).
const USUAL_RESET: usize = 43;
const LEAST_RESET: usize = 21;

/// A datagram of no connection, as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatelessReply {
    /// The address from which it is sent, and that of who gets it.
    pub ends: Ends,
    /// The payload of UDP.
    pub bytes: Vec<u8>,
}

/// Replies that wait to be sent, and the resets of the present second.
#[derive(Clone, Debug, Default)]
pub(super) struct Stateless {
    replies: VecDeque<StatelessReply>,
    second: u64,
    resets: u32,
}

/// What the token of a client's Initial packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetryToken {
    /// There is none of this server.
    None,
    /// The client receives at its address; the destination of its very first packet.
    Valid(ConnectionId),
    /// It was made by this server too long ago, or for another address.
    Expired,
}

impl Host {
    /// The next datagram that a server of QUIC sends without a connection: a Retry packet, or a stateless reset. To be drained
    /// after each datagram that was [handled](Self::handle_protected).
    pub fn poll_stateless_reply(&mut self) -> Option<StatelessReply> {
        self.stateless.replies.pop_front()
    }

    /// What the token of the Initial packet at the start of `bytes` says.
    pub(super) fn read_retry_token(
        &mut self,
        ends: Ends,
        packet: &ProtectedPacket,
        bytes: &[u8],
        now: Instant,
    ) -> RetryToken {
        let Some((contents, tag)) = packet.token(bytes).split_last_chunk::<TAG_LENGTH>() else {
            return RetryToken::None;
        };
        let Some((&TOKEN_KIND, rest)) = contents.split_first() else { return RetryToken::None };
        if !is_equal(&self.retry_tag(contents, packet.destination), tag) {
            return RetryToken::None;
        }
        let Some((time, rest)) = rest.split_first_chunk() else { return RetryToken::None };
        let Some((end, original)) = rest.split_first_chunk::<END_LENGTH>() else { return RetryToken::None };
        let is_fresh = now.since(Instant::from_nanos(u64::from_be_bytes(*time))) <= TOKEN_LIFETIME;
        match ConnectionId::new(original).filter(|_| is_fresh && *end == bytes_of_end(ends.remote)) {
            Some(original) => RetryToken::Valid(original),
            None => RetryToken::Expired,
        }
    }

    /// Asks a client for its first packet again, with a token.
    pub(super) fn ask_for_token(&mut self, config: &Config, ends: Ends, packet: &ProtectedPacket, now: Instant) {
        let Some(tls) = &config.tls else { return };
        let mut id = [0; CONNECTION_ID_LENGTH];
        self.random.fill_bytes(&mut id);
        let source = ConnectionId::new(&id).unwrap_or_default();
        let token = self.retry_token(ends.remote, (packet.destination, source), now);
        let (version, destination, integrity_tag) = (VERSION_1, packet.source, [0; TAG_LENGTH]);
        let header = PacketHeader::Retry { version, destination, source, token, integrity_tag };
        let packets = vec![QuicPacket { header, frames: Vec::new() }];
        let (source_port, destination_port) = (ends.local.port(), ends.remote.port());
        let datagram = QuicDatagram { source_port, destination_port, packets };
        let mut bytes = Vec::new();
        if datagram.emit(PayloadBytes::Bytes(&[]), &mut bytes).is_err() {
            return;
        }
        // It authenticates what comes before it (RFC 9001, section 5.8).
        bytes.truncate(bytes.len() - TAG_LENGTH);
        let tag = tls.retry_tag(&packet.destination, &bytes);
        bytes.extend(tag);
        self.stateless.replies.push_back(StatelessReply { ends, bytes });
    }

    /// A token for the client at `remote`, which has sent its first packet to `original` and sends the next one to `source`.
    fn retry_token(
        &mut self,
        remote: SocketAddr,
        (original, source): (ConnectionId, ConnectionId),
        now: Instant,
    ) -> Box<[u8]> {
        let mut token = vec![TOKEN_KIND];
        token.extend(now.as_nanos().to_be_bytes());
        token.extend(bytes_of_end(remote));
        token.extend(original.as_bytes());
        let tag = self.retry_tag(&token, source);
        token.extend(tag);
        token.into()
    }

    /// What proves that this host has made a token for a client that sends its next packet to `source`.
    fn retry_tag(&mut self, contents: &[u8], source: ConnectionId) -> [u8; TAG_LENGTH] {
        let mac = hmac_sha256(&self.secret(), &[b"Retry", source.as_bytes(), contents]);
        mac.first_chunk().copied().unwrap_or_default()
    }

    /// Answers a packet of `length` bytes to a connection identifier that no connection has with a stateless reset, if it may have
    /// been one of this server.
    pub(super) fn reset_unknown(
        &mut self,
        config: &Config,
        ends: Ends,
        (destination, length): (ConnectionId, usize),
        now: Instant,
    ) {
        let Some(key) = &config.reset_key else { return };
        // Shorter than what it answers, so that two ends which reset each other come to an end.
        let length = USUAL_RESET.min(length.saturating_sub(1));
        let second = now.as_nanos() / 1_000_000_000;
        if second != self.stateless.second {
            (self.stateless.second, self.stateless.resets) = (second, 0);
        }
        if length < LEAST_RESET || self.stateless.resets == MOST_RESETS {
            return;
        }
        self.stateless.resets += 1;
        // The token of a connection that goes on is no stranger's business (section 21.11).
        let of_connection = |(_, endpoint): (usize, &crate::Endpoint)| {
            endpoint.protocol() == PROTOCOL_UDP && endpoint.as_quic().is_some_and(|quic| quic.has_issued(destination))
        };
        if self.endpoints.iter().any(of_connection) || self.connection_ids.contains(destination) {
            return;
        }
        let token = key.token(&destination);
        let mut bytes = vec![0; length - token.len()];
        self.random.fill_bytes(&mut bytes);
        // A short header, as far as anyone can see.
        bytes[0] = bytes[0] & 0x3f | 0x40;
        bytes.extend(token);
        self.stateless.replies.push_back(StatelessReply { ends, bytes });
    }
}
