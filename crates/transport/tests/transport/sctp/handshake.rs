//! The handshake when packets are lost, late, forged, or come from somebody else.

use subflow_transport::Event;
use subflow_transport::sctp::State;
use subflow_transport::tcp::Closed;
use subflow_wire::sctp::{Chunk, ErrorCause};

use crate::harness::sctp::{LeavingSctp, drop_first, has};
use crate::harness::{CLIENT, Fate, Pair, SERVER, Setup, ms, secs};

fn carries(which: fn(&Chunk) -> bool) -> impl Fn(&LeavingSctp<'_>) -> bool {
    move |leaving| has(leaving.packet, which)
}

fn opening() -> Pair {
    Setup::sctp(1).build()
}

#[test]
fn every_packet_of_the_handshake_may_be_lost() {
    let kinds: [fn(&Chunk) -> bool; 4] = [
        |chunk| matches!(chunk, Chunk::Init(_)),
        |chunk| matches!(chunk, Chunk::InitAck(_)),
        |chunk| matches!(chunk, Chunk::CookieEcho(_)),
        |chunk| matches!(chunk, Chunk::CookieAck),
    ];
    for kind in kinds {
        let mut pair = opening();
        pair.tamper_sctp(drop_first(1, carries(kind)));
        pair.connect();
        pair.run_for(secs(2));
        assert_eq!(pair.sctp(CLIENT).state(), State::Established);
        pair.transfer(CLIENT, 5000);
        assert_eq!(pair.count(SERVER, Event::Established), 1);
    }
}

#[test]
fn an_init_that_nobody_answers_is_repeated_eight_times() {
    let mut pair = opening();
    pair.tamper_sctp(drop_first(usize::MAX, |leaving| leaving.from == CLIENT));
    pair.connect();
    pair.drive();
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::TimedOut)), 1);
    assert_eq!(pair.sctp.log.len(), 9);
}

#[test]
fn an_init_to_a_port_that_nobody_listens_on_is_refused() {
    let mut pair = opening();
    pair.tamper_sctp(|leaving| {
        if leaving.from == CLIENT {
            leaving.packet.destination_port += 1;
        } else {
            leaving.packet.source_port -= 1;
        }
        Fate::Pass
    });
    pair.connect();
    pair.drive();
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::Refused)), 1);
}

#[test]
fn a_forged_cookie_is_silently_discarded() {
    let mut pair = opening();
    pair.tamper_sctp(|leaving| {
        for chunk in &mut leaving.packet.chunks {
            if let Chunk::CookieEcho(cookie) = chunk {
                cookie[40] ^= 1;
            }
        }
        Fate::Pass
    });
    pair.connect();
    pair.run_for(secs(3));
    assert!(!pair.has_connection(SERVER));
    assert_eq!(pair.sctp(CLIENT).state(), State::CookieEchoed);
    assert_eq!(pair.sctp.log.iter().filter(|sent| sent.from == SERVER).count(), 1, "the INIT ACK alone");
}

#[test]
fn a_stale_cookie_is_reported_and_one_that_lives_longer_is_asked_for() {
    let mut pair = Setup::sctp(1).both(|stack| stack.association().cookie_life = ms(15)).build();
    pair.connect();
    pair.run_for(secs(1));
    let stale = |chunk: &Chunk| match chunk {
        Chunk::Error(causes) => causes.iter().any(|cause| matches!(cause, ErrorCause::StaleCookie { .. })),
        _ => false,
    };
    assert_eq!(pair.sctp.log.iter().filter(|sent| has(&sent.packet, stale)).count(), 1);
    assert_eq!(pair.sctp(CLIENT).state(), State::Established);
}

#[test]
fn a_packet_with_the_wrong_tag_is_discarded() {
    let mut pair = Setup::sctp(1).connected();
    let before = pair.sctp.log.len();
    pair.tamper_sctp(|leaving| {
        leaving.packet.verification_tag ^= 1;
        Fate::Pass
    });
    pair.write(CLIENT, 1000);
    pair.run_for(ms(500));
    assert_eq!(pair.received(SERVER), 0);
    assert_eq!(pair.sctp.log.len(), before + 1, "not a word in answer");
    pair.stop_tampering_sctp();
    pair.run_until("the data", |pair| pair.received(SERVER) == 1000);
}

#[test]
fn a_peer_that_restarts_gets_a_new_association() {
    let mut pair = Setup::sctp(1).connected();
    let local = pair.sctp(CLIENT).ends().local;
    pair.transfer(CLIENT, 10_000);
    pair.forget(CLIENT);
    pair.connect_from(local);
    pair.settle();
    assert_eq!([CLIENT, SERVER].map(|side| pair.sctp(side).state()), [State::Established; 2]);
    assert_eq!(pair.received(SERVER), 0, "another association");
}

#[test]
fn two_sides_that_open_at_once_end_up_with_one_association() {
    let mut pair = Setup::sctp(1).build();
    pair.connect();
    let (local, remote) = {
        let ends = pair.sctp(CLIENT).ends();
        (ends.local, ends.remote)
    };
    let (now, config) = (pair.now(), std::sync::Arc::new(subflow_transport::sctp::Config::rfc9260()));
    let id = pair.host(SERVER).connect_sctp(config, remote, local, now);
    pair.trust_content = true;
    pair.adopt(SERVER, id.expect("the ends are free"));
    pair.run_for(secs(2));
    assert_eq!([CLIENT, SERVER].map(|side| pair.sctp(side).state()), [State::Established; 2]);
    pair.transfer(CLIENT, 20_000);
    pair.transfer(SERVER, 20_000);
}

#[test]
fn a_packet_that_bundles_what_comes_alone_is_passed_over() {
    for alone in [Chunk::ShutdownComplete { reflected: false }, Chunk::ShutdownComplete { reflected: true }] {
        let mut pair = Setup::sctp(1).connected();
        let mut first = true;
        pair.tamper_sctp(move |leaving| {
            if leaving.from == CLIENT && core::mem::take(&mut first) {
                leaving.packet.chunks.push(alone.clone());
            }
            Fate::Pass
        });
        pair.write(CLIENT, 1000);
        pair.run_for(ms(500));
        assert_eq!(pair.received(SERVER), 0);
        pair.run_until("the data, sent again", |pair| pair.received(SERVER) == 1000);
    }
}
