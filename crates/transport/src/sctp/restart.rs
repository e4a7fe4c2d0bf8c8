//! INIT and COOKIE ECHO for an association that exists: collisions, restarts, repetitions (RFC 9260, section 5.2).

use std::net::{IpAddr, SocketAddr};

use rand_core::RngCore;
use subflow_quantity::Instant;
use subflow_wire::sctp::{Chunk, ErrorCause, InitChunk, Parameter};

use super::cookie::Cookie;
use super::handshake::{Identity, answer_init};
use super::input::Origin;
use super::phase::Phase;
use super::verification_tags::refuse_init;
use super::{Association, random_tag};
use crate::tcp::{Closed, Ends};

impl Association {
    /// An INIT from an address of the peer.
    pub(super) fn on_init(&mut self, init: &InitChunk, origin: Origin) {
        let identity = match self.phase {
            Phase::Closed(_) => return,
            _ if init.initiate_tag == 0 => return,
            // Section 9.2: the SHUTDOWN ACK is repeated, the INIT is discarded.
            Phase::ShutdownAckSent(_) => {
                let destination = origin.destination.unwrap_or(self.destinations.primary());
                self.control.push(destination, Chunk::ShutdownAck);
                return;
            }
            // Section 5.2.1: both sides open at once; this side keeps the values of its own INIT.
            _ if self.phase.is_opening() => Identity {
                tag: self.local.tag(),
                tsn: self.outbound.initial_tsn(),
                tie_tags: if matches!(self.phase, Phase::CookieWait { .. }) {
                    (0, 0)
                } else {
                    (self.local.tag(), self.peer.tag())
                },
            },
            // Section 5.2.2: new numbers; the tie-tags connect them with this association.
            _ => Identity {
                tag: random_tag(&mut self.rng),
                tsn: self.rng.next_u32(),
                tie_tags: (self.local.tag(), self.peer.tag()),
            },
        };
        let ends = Ends {
            local: SocketAddr::new(origin.local, self.local.port()),
            remote: SocketAddr::new(origin.source, self.peer.port()),
        };
        let answer = match self.new_address_of(init, origin.source) {
            Some(parameter) if !matches!(self.phase, Phase::CookieWait { .. }) => {
                refuse_init(Some(init.initiate_tag), vec![ErrorCause::RestartWithNewAddresses(parameter)])
            }
            _ => {
                answer_init(init, ends, &self.local.present(), &self.config, self.local.secret(), identity, origin.now)
            }
        };
        if let Some((tag, chunk)) = answer {
            self.control.reply(origin, tag, chunk);
        }
    }

    /// The first address of an INIT from `source` that the association does not have: an INIT that adds one may be an
    /// attempt to hijack the association (section 5.2.2).
    fn new_address_of(&self, init: &InitChunk, source: IpAddr) -> Option<Box<[u8]>> {
        let listed = init.parameters.iter().filter_map(Parameter::address);
        let new =
            core::iter::once(source).chain(listed).find(|&address| self.destinations.with_address(address).is_none());
        new.map(|address| Parameter::of_address(address).to_bytes())
    }

    /// Processes the verified cookie of a COOKIE ECHO from an address of the peer (section 5.2.4). Returns whether the
    /// remaining chunks of the packet are to be processed.
    pub(super) fn on_cookie_echo(&mut self, cookie: &Cookie, origin: Origin) -> bool {
        let (source, now) = (origin.source, origin.now);
        // A repetition of the cookie that created this association never expires.
        let is_repetition = (cookie.local_tag, cookie.remote_tag) == (self.local.tag(), self.peer.tag());
        if let Some(chunk) = cookie.stale_error(now).filter(|_| !is_repetition) {
            self.control.reply(origin, cookie.remote_tag, chunk);
            return false;
        }
        let (local_same, remote_same) = (cookie.local_tag == self.local.tag(), cookie.remote_tag == self.peer.tag());
        let tied = cookie.tie_tags == (self.local.tag(), self.peer.tag()) && cookie.tie_tags != (0, 0);
        match (local_same, remote_same, tied) {
            // D: a repetition, or the COOKIE ECHO of a collision.
            (true, true, _) => {
                if self.phase.is_opening() {
                    self.on_established(now);
                }
            }
            // B: both sides opened at once.
            (true, false, _) if self.phase.is_opening() => {
                self.take_back_unanswered();
                self.take_peer(cookie);
                self.on_established(now);
            }
            // B, too: the peer has restarted between its INIT ACK and its INIT, and its earlier tag was not used.
            (true, false, _) if self.inbound.is_unused() && self.outbound.queue.cumulative() == 0 => {
                self.take_back_unanswered();
                self.take_peer(cookie);
            }
            // A: the peer has restarted.
            (false, false, true) => return self.restart(cookie, origin),
            // C: this side opened the association first, or an old cookie of the handshake was repeated.
            _ => return false,
        }
        self.peer.follow_encapsulation(origin.encapsulation);
        self.acknowledge_cookie(source, origin.local);
        true
    }

    /// Answers a COOKIE ECHO from `source` that arrived at the address `local`.
    fn acknowledge_cookie(&mut self, source: IpAddr, local: IpAddr) {
        self.confirm(source);
        let destination = self.destinations.with_address(source).unwrap_or(self.destinations.primary());
        self.control.push_first(destination, local, Chunk::CookieAck);
    }

    /// The peer has lost its state and restarts; data that is not acknowledged is lost (section 5.2.4.1). This
    /// association is reset, and another with the same configuration replaces it.
    fn restart(&mut self, cookie: &Cookie, origin: Origin) -> bool {
        let (source, now) = (origin.source, origin.now);
        if matches!(self.phase, Phase::ShutdownAckSent(_)) {
            self.control.push(self.destinations.primary(), Chunk::ShutdownAck);
            let cause = ErrorCause::CookieReceivedWhileShuttingDown;
            self.control.push(self.destinations.primary(), Chunk::Error(vec![cause]));
            return false;
        }
        let local = self
            .destinations
            .with_address(source)
            .map_or(self.local.addresses()[0], |index| self.destinations[index].local);
        let locals = self.local.sources_from(local);
        let ends = Ends {
            local: SocketAddr::new(local, self.local.port()),
            remote: SocketAddr::new(source, self.peer.port()),
        };
        let rng = self.rng.fork();
        let mut successor = Self::accept(self.config.clone(), *self.local.secret(), ends, locals, cookie, rng);
        self.peer.follow_encapsulation(origin.encapsulation);
        successor.peer.set_encapsulation(self.peer.encapsulation());
        successor.begin_accepted(source, origin.local, now);
        self.successor = Some(Box::new(successor));
        self.close(Closed::Reset);
        false
    }

    /// Acknowledges the cookie from which this association was created.
    pub(crate) fn begin_accepted(&mut self, source: IpAddr, local: IpAddr, now: Instant) {
        self.on_established(now);
        self.acknowledge_cookie(source, local);
    }

    /// The association that replaced this one when the peer restarted.
    pub(crate) fn take_successor(&mut self) -> Option<Box<Self>> {
        self.successor.take()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rand_core::SeedableRng;
    use rand_pcg::Pcg64Mcg;
    use subflow_quantity::Duration;
    use subflow_wire::Payload;
    use subflow_wire::sctp::DataChunk;

    use super::super::Config;
    use super::super::cookie::{Extensions, MAX_PEER_ADDRESSES};
    use super::*;

    const SECRET: [u8; 32] = [0; 32];

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    /// The cookie that this side, with tag 1, gave to a peer of this tag and initial TSN.
    fn cookie(remote_tag: u32, remote_tsn: u32) -> Cookie {
        Cookie {
            created: Instant::ZERO,
            life: Duration::from_secs(60),
            local_port: 80,
            remote_port: 81,
            local_tag: 1,
            remote_tag,
            tie_tags: (0, 0),
            local_tsn: 1000,
            remote_tsn,
            outbound_streams: 1,
            inbound_streams: 1,
            remote_window: 1 << 20,
            extensions: Extensions::default(),
            local: address(1),
            remotes: vec![address(2)],
        }
    }

    fn origin() -> Origin {
        let (source, local) = (address(2), address(1));
        Origin { source, local, destination: Some(0), tag: 1, encapsulation: None, now: Instant::ZERO }
    }

    fn established() -> Association {
        let ends = Ends { local: (address(1), 80).into(), remote: (address(2), 81).into() };
        let (config, rng) = (Arc::new(Config::rfc9260()), Pcg64Mcg::seed_from_u64(1).into());
        let mut association = Association::accept(config, SECRET, ends, vec![address(1)], &cookie(2, 2000), rng);
        association.phase = Phase::Established;
        association
    }

    #[test]
    fn a_peer_that_begins_anew_before_anything_was_used_is_heard_under_its_new_tag() {
        let mut association = established();
        assert!(association.on_cookie_echo(&cookie(3, 3000), origin()));
        assert_eq!((association.peer.tag(), association.inbound.cumulative_tsn()), (3, 2999));
        assert!(matches!(association.control.first(), Some(Chunk::CookieAck)));
    }

    #[test]
    fn a_cookie_from_the_time_of_the_opening_changes_nothing_once_data_has_come() {
        let mut association = established();
        let payload = Payload { length: 1, ..Payload::default() };
        let whole = DataChunk { tsn: 2000, begin: true, end: true, payload, ..DataChunk::default() };
        association.on_data(0, &whole);
        assert!(!association.on_cookie_echo(&cookie(3, 3000), origin()));
        assert_eq!((association.peer.tag(), association.inbound.cumulative_tsn()), (2, 2000));
        assert_eq!(association.control.first(), None);
    }

    #[test]
    fn two_openings_together_bring_no_more_addresses_than_one_may() {
        let mut association = established();
        let remotes = |network: u8| (1..=32).map(|last| IpAddr::from([10, 0, network, last])).collect();
        for (tag, network) in [(3, 1), (4, 2)] {
            let cookie = Cookie { remotes: remotes(network), ..cookie(tag, 3000) };
            assert!(association.on_cookie_echo(&cookie, origin()));
        }
        assert_eq!(association.destinations.len(), MAX_PEER_ADDRESSES);
    }
}
