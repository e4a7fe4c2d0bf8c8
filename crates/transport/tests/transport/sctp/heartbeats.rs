//! HEARTBEATs: where and how long they are sent, and which answers count (RFC 9260, sections 5.4 and 8.3).

use subflow_transport::sctp::{Reachability, State};
use subflow_wire::sctp::Chunk;

use super::multipath::{SECOND, two_paths};
use crate::harness::sctp::has;
use crate::harness::{CLIENT, Pair, SERVER, ms, secs};

fn heartbeats(pair: &Pair, destination: usize) -> u64 {
    pair.sctp(CLIENT).destinations()[destination].counters().heartbeats_sent
}

fn reachability(pair: &Pair, destination: usize) -> Reachability {
    pair.sctp(CLIENT).destinations()[destination].reachability()
}

#[test]
fn an_inactive_path_gets_no_heartbeats_if_they_are_disabled() {
    for suspect_after in [None, Some(0)] {
        let mut pair = two_paths(|config| {
            config.heartbeat_interval = None;
            config.path_max_retransmissions = 1;
            config.potentially_failed_max_retransmissions = suspect_after;
            config.alternate_sources = false;
        })
        .connected();
        pair.write(CLIENT, 500_000);
        pair.run_for(ms(20));
        pair.paths[0].up = false;
        pair.run_until("the failure", |pair| reachability(pair, 0) == Reachability::Inactive);
        let before = heartbeats(&pair, 0);
        pair.run_for(secs(3600));
        assert_eq!(heartbeats(&pair, 0), before);
        // Once the other path fails, too, data goes there and finds that it works.
        pair.paths[0].up = true;
        pair.paths[SECOND].up = false;
        pair.transfer(CLIENT, 100_000);
        assert_eq!(reachability(&pair, 0), Reachability::Active);
    }
}

#[test]
fn an_address_that_never_answers_is_probed_at_the_normal_rate_after_path_max_retrans() {
    for (interval, most) in [(None, 0), (Some(secs(300)), 11)] {
        let mut setup = two_paths(|config| config.heartbeat_interval = interval);
        setup.paths[SECOND].up = false;
        let mut pair = setup.connected();
        pair.run_for(secs(600));
        // Path.Max.Retrans is 5: six probes, an RTO apart.
        let before = heartbeats(&pair, 1);
        assert!((6..=8).contains(&before), "{before}");
        pair.run_for(secs(3000));
        assert!(heartbeats(&pair, 1) - before <= most, "{} more", heartbeats(&pair, 1) - before);
        assert_eq!(reachability(&pair, 1), Reachability::Unconfirmed);
        pair.paths[SECOND].up = true;
        pair.run_for(secs(1000));
        let expected = if interval.is_some() { Reachability::Active } else { Reachability::Unconfirmed };
        assert_eq!(reachability(&pair, 1), expected);
    }
}

#[test]
fn heartbeats_end_with_shutdown_and_shutdown_ack() {
    let mut pair = two_paths(|config| config.heartbeat_interval = Some(secs(1))).connected();
    pair.run_for(secs(5));
    pair.tamper_sctp(|leaving| match has(leaving.packet, |chunk| matches!(chunk, Chunk::ShutdownComplete { .. })) {
        true => crate::harness::Fate::Drop,
        false => crate::harness::Fate::Pass,
    });
    pair.write(SERVER, 20_000_000);
    pair.run_for(secs(1));
    pair.finish(CLIENT);
    pair.run_for(ms(100));
    assert_eq!([CLIENT, SERVER].map(|side| pair.sctp(side).state()), [State::ShutdownSent, State::ShutdownReceived]);
    let start = pair.now();
    pair.run_for(secs(5));
    let are_heartbeats = |chunk: &Chunk| matches!(chunk, Chunk::Heartbeat(_));
    let sent = |side, since| pair.sent_sctp(side, since).filter(|sent| has(&sent.packet, are_heartbeats)).count();
    assert_eq!(sent(CLIENT, start), 0);
    assert!(sent(SERVER, start) > 0, "SHUTDOWN was received, SHUTDOWN ACK is not due yet");
    pair.run_until("SHUTDOWN ACK", |pair| pair.sctp(SERVER).state() == State::ShutdownAckSent);
    let start = pair.now();
    pair.run_for(secs(30));
    assert_eq!(pair.sent_sctp(SERVER, start).filter(|sent| has(&sent.packet, are_heartbeats)).count(), 0);
}

#[test]
fn an_answer_counts_only_with_the_nonce_that_was_sent() {
    let mut pair = two_paths(|config| config.heartbeat_interval = Some(secs(1))).connected();
    pair.paths[SECOND].up = false;
    pair.run_until("the failure", |pair| reachability(pair, 1) == Reachability::Inactive);
    let chunks = || pair.sctp.log.iter().filter(|sent| sent.from == CLIENT && sent.path == SECOND);
    let infos: Vec<Box<[u8]>> = chunks()
        .flat_map(|sent| &sent.packet.chunks)
        .filter_map(|chunk| if let Chunk::Heartbeat(info) = chunk { Some(info.clone()) } else { None })
        .collect();
    let (last, earlier) = infos.split_last().expect("HEARTBEATs were sent");
    let guesses: [Box<[u8]>; 3] = [Box::default(), [0; 16].into(), [[9; 8], [0; 8]].concat().into()];
    for info in guesses.iter().chain(earlier) {
        pair.inject_sctp(CLIENT, vec![Chunk::HeartbeatAck(info.clone())], |_| {});
    }
    pair.run_for(ms(1));
    assert_eq!(reachability(&pair, 1), Reachability::Inactive);
    pair.inject_sctp(CLIENT, vec![Chunk::HeartbeatAck(last.clone())], |_| {});
    pair.run_for(ms(1));
    assert_eq!(reachability(&pair, 1), Reachability::Active);
}
