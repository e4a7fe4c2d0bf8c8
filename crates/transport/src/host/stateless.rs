//! Stateless listening: SYNs are answered with SYN cookies, and connections are created from the third ACKs that return
//! them.

use subflow_quantity::Instant;
use subflow_wire::tcp::mptcp::MptcpOption;
use subflow_wire::tcp::{TcpFlags, TcpSegment};
use subflow_wire::{Body, Packet};

use super::listener::PresetNumbers;
use super::syn_cookie::{LIFETIME, SynCookie, keep_options, without_timestamps};
use super::{EndpointId, Host};
use crate::mptcp::capable_of;
use crate::mptcp::keys::Key;
use crate::sctp::Secret;
use crate::tcp::Ends;

impl Host {
    /// Answers a SYN without keeping state.
    pub(super) fn answer_with_syn_cookie(&mut self, ends: Ends, syn: &TcpSegment, now: Instant) {
        let secret = self.secret();
        let cookie = SynCookie::for_syn(ends, syn, now);
        let key = cookie.keys(&secret).find(|key| self.tokens.is_free(key.token));
        let preset = PresetNumbers { initial: Some(cookie.initial(&secret)), key };
        let offered = self.listening_tcp(ends.local.port()).is_some_and(|config| config.timestamps);
        let has_timestamps = offered && syn.options.timestamps.is_some();
        let mut kept = if has_timestamps { syn.clone() } else { without_timestamps(syn) };
        // Without ECE and CWR: a cookie has no room for what would be agreed.
        kept.flags = TcpFlags::SYN;
        // A temporary connection generates the answer, so that it equals the SYN/ACK without a cookie.
        let endpoint = self.answering_endpoint(ends, &kept, preset, now);
        let Some(mut syn_ack) = endpoint.and_then(|mut endpoint| endpoint.poll_transmit(now)) else { return };
        if let Body::Tcp(segment) = &mut syn_ack.body {
            keep_options(syn, segment);
        }
        self.cookies_until = Some(now + LIFETIME);
        self.replies.push_back(syn_ack);
    }

    /// The cookie that an ACK for a listener returns, if this host has sent any recently.
    pub(super) fn syn_cookie_of(&mut self, ends: Ends, ack: &TcpSegment, now: Instant) -> Option<SynCookie> {
        if ack.flags.contains(TcpFlags::SYN) || self.cookies_until.is_none_or(|until| now > until) {
            return None;
        }
        SynCookie::of_ack(&self.secret(), ends, ack, now)
    }

    /// Creates a connection from a cookie and the third ACK, or the first data, that returned it.
    pub(super) fn accept_syn_cookie(
        &mut self,
        cookie: SynCookie,
        ends: Ends,
        packet: &Packet,
        ack: &TcpSegment,
        now: Instant,
    ) -> Option<EndpointId> {
        if self.has_full_accept_queue() {
            return None;
        }
        let secret = self.secret();
        let mut syn = cookie.syn(ack);
        let key = self.key_shown(&cookie, &secret, ack);
        if key.is_some() {
            syn.options.mptcp.extend(capable_of(ack).copied().map(MptcpOption::Capable));
        }
        let preset = PresetNumbers { initial: Some(cookie.initial(&secret)), key };
        let id = self.accept_connection(ends, &syn, preset, now)?;
        let endpoint = self.endpoint_mut(id);
        endpoint.on_syn_ack_sent_before();
        endpoint.handle_packet(now, 0, packet);
        self.open_requested(id, now);
        Some(id)
    }

    /// This side's key from the cookie, if the ACK contains it: the peer supports MPTCP (RFC 8684, section 3.1). If
    /// another connection uses its token by now, the connection continues as plain TCP.
    fn key_shown(&self, cookie: &SynCookie, secret: &Secret, ack: &TcpSegment) -> Option<Key> {
        let capable = capable_of(ack).filter(|capable| capable.sender_key.is_some())?;
        let shown = capable.receiver_key?;
        cookie.keys(secret).find(|key| key.is(shown) && self.tokens.is_free(key.token))
    }
}
