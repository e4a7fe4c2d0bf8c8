//! The peer of an association: its port, verification tag, and what it has agreed to in the handshake.

use subflow_wire::sctp::UdpEncapsulation;

use super::Config;
use super::cookie::{Cookie, Extensions};
use super::init_parameters::Offer;
use super::peer_window::PeerWindow;

/// The peer, as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    port: u16,
    /// The verification tag of packets to it; 0 while it is not known.
    tag: u32,
    /// What both sides support.
    extensions: Extensions,
    /// The number of streams to it.
    streams: u16,
    encapsulation: Option<UdpEncapsulation>,
    pub(super) window: PeerWindow,
}

impl Peer {
    /// A peer of which only the port is known.
    pub(super) fn new(port: u16, config: &Config) -> Self {
        Self {
            port,
            tag: 0,
            extensions: Extensions::default(),
            streams: config.streams,
            encapsulation: config.encapsulation,
            window: PeerWindow::default(),
        }
    }

    /// Its INIT ACK is accepted, which offers this.
    pub(super) fn on_init_ack(&mut self, offer: &Offer, config: &Config) {
        (self.tag, self.extensions, self.streams) = (offer.tag, offer.extensions, offer.streams(config).0);
        self.window.set_offer(offer.window);
    }

    /// A cookie is accepted, which has its parameters.
    pub(super) fn on_cookie(&mut self, cookie: &Cookie) {
        (self.tag, self.extensions, self.streams) = (cookie.remote_tag, cookie.extensions, cookie.outbound_streams);
        self.window.set_offer(cookie.remote_window);
    }

    /// Its INIT ACK is refused, with an ABORT under the tag that it asks for.
    pub(super) fn set_tag(&mut self, tag: u32) {
        self.tag = tag;
    }

    /// The parameters of its INIT ACK are invalid: another INIT is sent.
    pub(super) fn forget_tag(&mut self) {
        self.tag = 0;
    }

    /// Whether both sides use explicit congestion notification.
    #[inline]
    pub(super) fn has_ecn(&self) -> bool {
        self.extensions.ecn
    }

    #[inline]
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// The verification tag of packets to it; 0 while it is not known.
    #[inline]
    pub(super) fn tag(&self) -> u32 {
        self.tag
    }

    /// Whether its verification tag is known.
    #[inline]
    pub(super) fn is_known(&self) -> bool {
        self.tag != 0
    }

    /// The number of streams to it.
    #[inline]
    pub(super) fn streams(&self) -> u16 {
        self.streams
    }

    /// Whether data may be abandoned (RFC 3758).
    #[inline]
    pub(super) fn has_forward_tsn(&self) -> bool {
        self.extensions.forward_tsn
    }

    /// Whether SACKs are NR-SACKs.
    #[inline]
    pub(super) fn has_nr_sack(&self) -> bool {
        self.extensions.nr_sack
    }

    /// The UDP ports of packets to it.
    #[inline]
    pub(super) fn encapsulation(&self) -> Option<UdpEncapsulation> {
        self.encapsulation
    }

    /// The UDP ports are those of an association that this one replaces.
    pub(super) fn set_encapsulation(&mut self, encapsulation: Option<UdpEncapsulation>) {
        self.encapsulation = encapsulation;
    }

    /// A packet of it is verified: its UDP port is the source port of that (RFC 6951, section 5.4).
    #[inline]
    pub(super) fn follow_encapsulation(&mut self, of_packet: Option<UdpEncapsulation>) {
        if let (Some(own), Some(theirs)) = (&mut self.encapsulation, of_packet) {
            own.destination_port = theirs.source_port;
        }
    }
}
