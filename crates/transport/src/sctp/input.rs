//! Arriving packets: verification, then their chunks in order (RFC 9260, sections 3.2 and 8.5). ICMP errors about
//! packets of the association (sections 7.3 and 10).

use std::net::IpAddr;

use subflow_quantity::Instant;
use subflow_wire::icmp::{IcmpError, IcmpKind, Quoted, Unreachable};
use subflow_wire::sctp::{Chunk, ErrorCause, RawChunk, UdpEncapsulation, chunk_type};
use subflow_wire::{IpHeader, SctpPacket};

use super::cookie::Cookie;
use super::phase::Phase;
use super::violation::Violation;
use super::{Association, verification_tags as tags};
use crate::tcp::Closed;
use crate::{Event, path_mtu};

/// The origin and the arrival time of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) source: IpAddr,
    pub(super) local: IpAddr,
    /// The destination that has this address.
    pub(super) destination: Option<usize>,
    /// The verification tag of its packet.
    pub(super) tag: u32,
    /// Its UDP ports.
    pub(super) encapsulation: Option<UdpEncapsulation>,
    pub(super) now: Instant,
}

/// Whether processing continues with the next chunk of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Chunk,
    Stop,
}

impl Association {
    /// A packet arrived.
    pub(crate) fn handle_packet(&mut self, now: Instant, ip: &IpHeader, packet: &SctpPacket) {
        self.inbound.begin_packet();
        self.clock = now;
        if self.phase.is_closed() {
            return;
        }
        let origin = Origin {
            source: ip.source,
            local: ip.destination,
            destination: self.destinations.with_address(ip.source),
            tag: packet.verification_tag,
            encapsulation: packet.encapsulation,
            now,
        };
        if self.phase.is_opening() && tags::is_of_earlier_association(packet) {
            let answer = tags::answer_out_of_the_blue(packet);
            if let Some((tag, chunk)) = answer {
                self.control.reply(origin, tag, chunk);
            }
            return;
        }
        let mut chunks = packet.chunks.iter().enumerate();
        let cookie = match packet.chunks.first() {
            Some(Chunk::CookieEcho(cookie)) if !tags::is_wrongly_bundled(packet) => {
                chunks.next();
                let ports = (self.local.port(), self.peer.port());
                let Some(cookie) = Cookie::verify(cookie, self.local.secret(), ports, origin.tag) else { return };
                Some(cookie)
            }
            _ if tags::is_right(packet, self.local.tag(), self.peer.tag()) => None,
            _ => return,
        };
        // An INIT has no verification tag: anybody may have sent it.
        if packet.verification_tag == self.local.tag() {
            self.begin_burst();
            self.peer.follow_encapsulation(origin.encapsulation);
        }
        // A valid COOKIE ECHO allows the chunks after it.
        if cookie.is_none_or(|cookie| self.on_cookie_echo(&cookie, origin)) {
            self.take_codepoint(ip, packet);
            for (index, chunk) in chunks {
                if self.on_chunk(index, chunk, origin) == Next::Stop || self.phase.is_closed() {
                    break;
                }
            }
        }
        self.control.send_reports(origin.destination.unwrap_or(self.destinations.primary()), origin.local);
        self.finish_data(origin);
        if !self.phase.is_closed() {
            self.continue_shutdown(now);
        }
        self.wake_writer();
    }

    fn on_chunk(&mut self, index: usize, chunk: &Chunk, origin: Origin) -> Next {
        let (now, from) = (origin.now, origin.destination.unwrap_or(self.destinations.primary()));
        match chunk {
            Chunk::Data(data) => self.on_data(index, data),
            Chunk::Sack(sack) => self.on_sack(sack, &[], from, now),
            // The type of an unknown chunk may require that the rest of the packet is ignored (section 3.2).
            Chunk::NrSack(_) if !self.peer.has_nr_sack() => return Next::Stop,
            Chunk::NrSack(nr_sack) => self.on_sack(&nr_sack.sack, &nr_sack.non_renegable, from, now),
            Chunk::ForwardTsn(forward) => self.on_forward_tsn(forward),
            Chunk::Heartbeat(info) => {
                if !matches!(self.phase, Phase::CookieWait { .. }) {
                    self.answer_heartbeat(info.clone(), origin);
                }
            }
            Chunk::HeartbeatAck(info) => self.on_heartbeat_ack(info, now),
            Chunk::Init(init) => self.on_init(init, origin),
            Chunk::InitAck(init_ack) => self.on_init_ack(init_ack, origin),
            // It is the first chunk of its packet (section 5.1, C).
            Chunk::CookieEcho(_) => return Next::Stop,
            Chunk::CookieAck => self.on_cookie_ack(now),
            Chunk::Error(causes) => self.on_error(causes, now),
            // A sender without an association sends no further chunks.
            Chunk::Abort { reflected: true, .. } if index > 0 => return Next::Stop,
            Chunk::Abort { reflected, .. } => self.on_abort(*reflected),
            Chunk::Shutdown { cumulative_tsn } => self.on_shutdown(*cumulative_tsn, now),
            Chunk::ShutdownAck => self.on_shutdown_ack(origin),
            Chunk::ShutdownComplete { .. } => self.on_shutdown_complete(),
            Chunk::EcnEcho { lowest_tsn } => self.on_ecn_echo(*lowest_tsn, from, now),
            Chunk::CongestionWindowReduced { lowest_tsn } => self.on_window_reduced(*lowest_tsn),
            Chunk::Unknown(raw) => return self.on_unknown(raw),
            Chunk::Malformed(raw) => return self.on_malformed(raw, origin),
        }
        Next::Chunk
    }

    /// A reflected tag in SHUTDOWN-ACK-SENT shows that the peer has no association any more: it took the SHUTDOWN ACK,
    /// and its SHUTDOWN COMPLETE is late or lost. Everything was acknowledged in both directions before.
    pub(super) fn on_abort(&mut self, reflected: bool) {
        self.close(match self.phase {
            _ if self.phase.is_opening() => Closed::Refused,
            Phase::ShutdownAckSent(_) if reflected => Closed::Gracefully,
            _ => Closed::Reset,
        });
    }

    /// A chunk of an unknown type: its two highest bits determine the action (section 3.2).
    fn on_unknown(&mut self, raw: &RawChunk) -> Next {
        if raw.is_reportable() && !matches!(self.phase, Phase::CookieWait { .. }) {
            self.report(ErrorCause::UnrecognizedChunkType(raw.to_bytes()));
        }
        if raw.is_skippable() { Next::Chunk } else { Next::Stop }
    }

    /// A chunk whose contents do not follow its format. An INIT or INIT ACK ends no association but one that opens
    /// (sections 3.3.2 and 3.3.3), an ABORT is discarded (section 3.3.7), all else is a violation of the protocol.
    fn on_malformed(&mut self, raw: &RawChunk, origin: Origin) -> Next {
        match raw.kind {
            chunk_type::INIT => {
                let answer = tags::refuse_init(raw.initiate_tag(), vec![Violation.cause()]);
                if let Some((tag, chunk)) = answer {
                    self.control.reply(origin, tag, chunk);
                }
            }
            chunk_type::INIT_ACK => self.refuse_init_ack(raw.initiate_tag(), vec![Violation.cause()], origin),
            chunk_type::ABORT => {}
            _ => {
                self.abort_with(vec![Violation.cause_with(raw)], Closed::Aborted);
            }
        }
        Next::Stop
    }

    /// Records an error cause for the sender of the packet at hand (section 3.3.10).
    pub(super) fn report(&mut self, cause: ErrorCause) {
        self.control.report(cause, self.room());
    }

    fn on_error(&mut self, causes: &[ErrorCause], now: Instant) {
        for cause in causes {
            if let ErrorCause::StaleCookie { staleness_us } = cause {
                self.on_stale_cookie(*staleness_us, now);
            }
        }
    }

    /// The association is over.
    pub(super) fn close(&mut self, how: Closed) {
        if self.phase.is_closed() {
            return;
        }
        self.phase = Phase::Closed(how);
        self.control.end();
        self.inbound.cancel_sack();
        self.outbound.end();
        self.stream.emit(Event::Closed(how));
    }
}

impl Association {
    /// Processes an ICMP error about a packet of this association.
    pub(crate) fn on_icmp(&mut self, error: &IcmpError) {
        let quoted = &error.quoted;
        if self.phase.is_closed() || !self.is_own(quoted) {
            return;
        }
        match error.kind {
            IcmpKind::TooBig { mtu } => {
                let version_6 = quoted.source.is_ipv6();
                if let Some(mtu) = path_mtu::lowered(self.mtu, mtu, quoted.length, version_6) {
                    self.lower_mtu(mtu);
                }
            }
            // ICMP8: a host without SCTP. An INIT is refused only while its answer is outstanding.
            IcmpKind::Unreachable(Unreachable::Protocol) => {
                if quoted.verification_tag() != Some(0) || matches!(self.phase, Phase::CookieWait { .. }) {
                    self.network_error = Some(error.kind);
                    self.on_abort(true);
                }
            }
            // ICMP3: a host with SCTP answers with ABORT instead.
            IcmpKind::Unreachable(Unreachable::Port) | IcmpKind::SourceQuench => {}
            // ICMP9: T3-rtx and HEARTBEATs decide whether a destination is inactive.
            kind => self.network_error = Some(kind),
        }
    }

    /// ICMP6: whether the verification tag is the peer's, or that of our INIT.
    fn is_own(&self, quoted: &Quoted) -> bool {
        match quoted.verification_tag() {
            Some(0) => quoted.initiate_tag() == Some(self.local.tag()),
            Some(tag) => tag == self.peer.tag(),
            None => false,
        }
    }

    /// The latest error that ICMP reported of this association.
    pub fn network_error(&self) -> Option<IcmpKind> {
        self.network_error
    }
}
