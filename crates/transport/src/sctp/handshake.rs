//! The four-way handshake: INIT, INIT ACK, COOKIE ECHO, COOKIE ACK (RFC 9260, section 5.1).

use std::net::IpAddr;
use std::sync::Arc;

use rand_core::RngCore;
use subflow_quantity::Instant;
use subflow_wire::sctp::{Chunk, ErrorCause, InitChunk, Parameter, parameter_type};

use super::config::{Config, InitialThreshold};
use super::cookie::{Cookie, Secret};
use super::init_parameters::{Offer, Unusable, own_parameters};
use super::input::Origin;
use super::local_end::Sources;
use super::packet_size::{padded, room_for_chunks};
use super::phase::{Phase, T1};
use super::{Association, random_tag};
use crate::tcp::{Closed, Ends};
use crate::{Event, RandomSource};

/// The identity of one side of a future association.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(crate) tag: u32,
    pub(crate) tsn: u32,
    pub(crate) tie_tags: (u32, u32),
}

impl Identity {
    /// That of a peer whose tag is not known yet.
    pub(crate) fn fresh(rng: &mut RandomSource) -> Self {
        Self { tag: random_tag(rng), tsn: rng.next_u32(), tie_tags: (0, 0) }
    }
}

/// The answer to an INIT: INIT ACK with the whole state in a cookie, or ABORT, and the verification tag of its packet.
/// No state is kept (section 5.1, B).
pub(crate) fn answer_init(
    init: &InitChunk,
    ends: Ends,
    locals: &[IpAddr],
    config: &Config,
    secret: &Secret,
    identity: Identity,
    now: Instant,
) -> Option<(u32, Chunk)> {
    let offer = match Offer::read(init, ends.remote.ip(), config) {
        Ok(offer) => offer,
        Err(Unusable::NoTag) => return None,
        Err(Unusable::Because(cause)) => {
            return Some((init.initiate_tag, Chunk::Abort { reflected: false, causes: vec![cause] }));
        }
    };
    let (outbound_streams, inbound_streams) = offer.streams(config);
    let cookie = Cookie {
        created: now,
        life: config.cookie_life + offer.prolongation,
        local_port: ends.local.port(),
        remote_port: ends.remote.port(),
        local_tag: identity.tag,
        remote_tag: offer.tag,
        tie_tags: identity.tie_tags,
        local_tsn: identity.tsn,
        remote_tsn: offer.tsn,
        outbound_streams,
        inbound_streams,
        remote_window: offer.window,
        extensions: offer.extensions,
        local: ends.local.ip(),
        remotes: offer.addresses,
    };
    let mut parameters = own_parameters(config, locals);
    parameters.push(Parameter::StateCookie(cookie.sign(secret)));
    let mut ack = InitChunk { outbound_streams, ..init_chunk(config, identity.tag, identity.tsn, parameters) };
    // Error causes share the rest of one packet: many small ones would not fit in any chunk.
    let mut room = room_for_chunks(config, config.mtu, ends.remote.ip()).saturating_sub(padded(ack.length()));
    for unrecognized in offer.unrecognized.into_iter().map(Parameter::Unrecognized) {
        let Some(left) = room.checked_sub(padded(unrecognized.length())) else { break };
        room = left;
        ack.parameters.push(unrecognized);
    }
    Some((offer.tag, Chunk::InitAck(Box::new(ack))))
}

fn init_chunk(config: &Config, tag: u32, initial_tsn: u32, parameters: Vec<Parameter>) -> InitChunk {
    InitChunk {
        initiate_tag: tag,
        a_rwnd: u32::try_from(config.receive_buffer).unwrap_or(u32::MAX).max(1500),
        outbound_streams: config.streams,
        inbound_streams: config.inbound_streams,
        initial_tsn,
        parameters,
    }
}

impl Association {
    /// Opens an association and sends an INIT. `locals` are this host's addresses; that of `ends` is the first.
    pub(crate) fn connect(
        config: Arc<Config>,
        secret: Secret,
        ends: Ends,
        locals: impl Into<Sources>,
        rng: RandomSource,
        now: Instant,
    ) -> Self {
        let mut association = Self::new(config, secret, ends, locals.into(), rng);
        let t1 = T1::start(&association.config, now);
        association.phase = Phase::CookieWait { t1, prolongation: None };
        association.send_init();
        association
    }

    /// Creates an association from a returned cookie. The first of `locals` is the address at which the INIT arrived.
    pub(crate) fn accept(
        config: Arc<Config>,
        secret: Secret,
        ends: Ends,
        locals: impl Into<Sources>,
        cookie: &Cookie,
        rng: RandomSource,
    ) -> Self {
        let ends = Ends { remote: (cookie.remotes[0], ends.remote.port()).into(), ..ends };
        let mut association = Self::new(config, secret, ends, locals.into(), rng);
        association.local.set_tag(cookie.local_tag);
        association.outbound.set_initial_tsn(cookie.local_tsn);
        association.take_peer(cookie);
        association
    }

    /// Applies the peer's parameters from a cookie.
    pub(super) fn take_peer(&mut self, cookie: &Cookie) {
        self.peer.on_cookie(cookie);
        self.inbound.expect(cookie.remote_tsn);
        self.set_inbound_streams(cookie.inbound_streams);
        self.add_addresses(&cookie.remotes);
    }

    /// The numbers of streams to and from the peer are known. Data written to a stream that the peer does not accept is
    /// abandoned.
    fn set_inbound_streams(&mut self, inbound: u16) {
        self.inbound.set_streams(inbound);
        self.outbound.drop_streams_from(self.peer.streams(), &mut self.counters);
        self.wake_writer();
    }

    pub(super) fn add_addresses(&mut self, addresses: &[IpAddr]) {
        for &address in addresses {
            if self.destinations.with_address(address).is_none() {
                self.add_destination(address);
            }
        }
        self.set_primary(self.config.primary);
        let threshold = match self.config.initial_ssthresh {
            InitialThreshold::PeerWindow => self.peer.window.offer() as u32,
            InitialThreshold::Bytes(bytes) => bytes,
            InitialThreshold::Infinite => return,
        };
        for index in 0..self.destinations.len() {
            self.congestion.set_initial_ssthresh(index, threshold);
        }
    }

    fn send_init(&mut self) {
        let Phase::CookieWait { prolongation, .. } = self.phase else { return };
        let mut parameters = own_parameters(&self.config, &self.local.present());
        parameters.extend(prolongation.map(|increment_ms| Parameter::CookiePreservative { increment_ms }));
        let init = init_chunk(&self.config, self.local.tag(), self.outbound.initial_tsn(), parameters);
        self.control.push_init(Chunk::Init(Box::new(init)));
    }

    fn send_cookie(&mut self) {
        if let Phase::CookieEchoed { cookie, .. } = &self.phase {
            self.control.push(0, Chunk::CookieEcho(cookie.clone()));
        }
    }

    /// T1 expired: INIT or COOKIE ECHO is retransmitted, or the association is aborted (section 4, notes 2 and 3).
    pub(super) fn on_opening_timeout(&mut self, now: Instant) {
        let Some(t1) = self.phase.t1_mut() else { return };
        if !t1.back_off(&self.config, now) {
            self.close(Closed::TimedOut);
            return;
        }
        self.alternate_source(0);
        match self.phase {
            Phase::CookieWait { .. } => self.send_init(),
            _ => {
                self.take_back_unanswered();
                self.send_cookie();
            }
        }
    }

    /// The peer's INIT ACK (section 5.1, C).
    pub(super) fn on_init_ack(&mut self, init_ack: &InitChunk, origin: Origin) {
        let now = origin.now;
        if !matches!(self.phase, Phase::CookieWait { .. }) {
            return;
        }
        let offer = match Offer::read(init_ack, origin.source, &self.config) {
            Ok(offer) => offer,
            Err(Unusable::NoTag) => return self.refuse_init_ack(None, Vec::new(), origin),
            Err(Unusable::Because(cause)) => {
                return self.refuse_init_ack(Some(init_ack.initiate_tag), vec![cause], origin);
            }
        };
        let Some(cookie) = offer.cookie.clone() else {
            let missing = ErrorCause::MissingMandatoryParameter(vec![parameter_type::STATE_COOKIE]);
            return self.refuse_init_ack(Some(offer.tag), vec![missing], origin);
        };
        self.peer.on_init_ack(&offer, &self.config);
        self.inbound.expect(offer.tsn);
        self.set_inbound_streams(offer.streams(&self.config).1);
        self.add_addresses(&offer.addresses);
        self.phase = Phase::CookieEchoed { t1: T1::start(&self.config, now), cookie };
        self.send_cookie();
        for parameter in offer.unrecognized {
            self.report(ErrorCause::UnrecognizedParameters(parameter));
        }
    }

    /// An invalid INIT ACK ends the handshake (sections 3.3.3 and 5.1; erratum 7148): with an ABORT under its initiate
    /// tag or, if it has none, under the tag of its packet.
    pub(super) fn refuse_init_ack(&mut self, initiate_tag: Option<u32>, causes: Vec<ErrorCause>, origin: Origin) {
        if !matches!(self.phase, Phase::CookieWait { .. }) {
            return;
        }
        match initiate_tag.filter(|&tag| tag != 0) {
            Some(tag) => {
                self.peer.set_tag(tag);
                self.abort_with(causes, Closed::Aborted);
            }
            None => {
                self.close(Closed::Refused);
                self.control.reply(origin, origin.tag, Chunk::Abort { reflected: true, causes });
            }
        }
    }

    /// The peer's COOKIE ACK (section 5.1, E).
    pub(super) fn on_cookie_ack(&mut self, now: Instant) {
        if matches!(self.phase, Phase::CookieEchoed { .. }) {
            self.on_established(now);
        }
    }

    /// The cookie was stale (section 5.2.6): one with a longer lifetime is requested.
    pub(super) fn on_stale_cookie(&mut self, staleness_us: u32, now: Instant) {
        if !matches!(self.phase, Phase::CookieEchoed { .. }) {
            return;
        }
        // Twice the measured staleness, since the exchange takes another round trip.
        let prolongation = (staleness_us / 1000).saturating_mul(2).saturating_add(1000);
        self.take_back_unanswered();
        // The parameters of the earlier INIT ACK are invalid.
        self.peer.forget_tag();
        self.phase = Phase::CookieWait { t1: T1::start(&self.config, now), prolongation: Some(prolongation) };
        self.send_init();
    }

    /// Data can be sent.
    pub(super) fn on_established(&mut self, now: Instant) {
        self.phase = Phase::Established;
        self.stream.emit(Event::Established);
        for index in 0..self.destinations.len() {
            self.start_heartbeat(index, now);
        }
        self.continue_shutdown(now);
    }
}
