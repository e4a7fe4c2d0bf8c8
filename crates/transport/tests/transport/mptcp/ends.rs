//! DATA_FIN, the end of subflows, fast close (RFC 8684, sections 3.3.3, 3.5, 3.6).

use subflow_transport::Event;
use subflow_transport::tcp::Closed;
use subflow_wire::TcpSegment;
use subflow_wire::tcp::mptcp::MptcpOption;

use super::{capable, exchange_and_close, has};
use crate::harness::tamper::{drop_first, has_data, has_fin, is_pure_ack, is_reset, is_syn_ack};
use crate::harness::{CLIENT, Fate, Pair, SERVER, Sent, Setup, ms, secs};

fn has_data_fin(segment: &TcpSegment) -> bool {
    segment.options.dss.is_some_and(|dss| dss.data_fin)
}

fn two_paths() -> Pair {
    let mut pair = Setup::mptcp(2, 1).connected();
    pair.transfer(CLIENT, 20_000);
    pair.settle();
    pair
}

#[test]
fn a_data_fin_closes_one_direction_and_leaves_the_subflows() {
    for first in [CLIENT, SERVER] {
        let mut pair = two_paths();
        pair.finish(first);
        pair.run_for(ms(300));
        assert_eq!(pair.count(1 - first, Event::PeerFinished), 1);
        assert_eq!(pair.count(first, Event::Acknowledged), 1);
        assert_eq!((pair.established_subflows(CLIENT), pair.established_subflows(SERVER)), (2, 2));
        pair.transfer(1 - first, 300_000);
        pair.close_gracefully();
        assert_eq!(pair.count(first, Event::PeerFinished), 1);
    }
}

#[test]
fn what_a_peer_maps_behind_its_data_fin_is_not_data() {
    let mut pair = two_paths();
    pair.trust_content = true;
    pair.write(SERVER, 5000);
    pair.finish(SERVER);
    pair.run_for(ms(300));
    let carries = |sent: &&Sent| sent.from == SERVER && sent.path == 0 && has_data(&sent.segment);
    let mut segment = pair.log.iter().rfind(carries).expect("it has sent").segment.clone();
    let length = segment.payload.length;
    segment.sequence = segment.sequence.wrapping_add(length);
    let dss = segment.options.dss.as_mut().expect("multipath");
    let mapping = dss.mapping.as_mut().expect("it carries data");
    mapping.data_sequence = mapping.data_sequence.wrapping_add(u64::from(mapping.length) + u64::from(!dss.data_fin));
    mapping.subflow_sequence = mapping.subflow_sequence.wrapping_add(length);
    mapping.length = length as u16;
    dss.data_fin = false;
    pair.inject(CLIENT, &pair.first_path(CLIENT, segment), ms(1));
    pair.run_for(ms(300));
    assert_eq!(pair.received(CLIENT), 5000);
    pair.close_gracefully();
}

#[test]
fn both_may_finish_at_once() {
    let mut pair = two_paths();
    pair.write(CLIENT, 50_000);
    pair.write(SERVER, 50_000);
    pair.close_gracefully();
    assert_eq!((pair.received(CLIENT), pair.received(SERVER)), (50_000, 70_000));
}

#[test]
fn subflows_close_only_when_both_streams_have_ended() {
    let mut pair = two_paths();
    pair.finish(CLIENT);
    pair.run_for(ms(300));
    assert!(!pair.log.iter().any(|sent| has_fin(&sent.segment)));
    pair.finish(SERVER);
    pair.run_for(ms(300));
    assert_eq!(
        pair.log.iter().filter(|sent| has_fin(&sent.segment)).count(),
        4,
        "one in each direction of each subflow"
    );
}

#[test]
fn a_lost_data_fin_is_repeated() {
    for times in [1, 3] {
        let mut pair = two_paths();
        pair.tamper(drop_first(times, |leaving| leaving.from == CLIENT && has_data_fin(leaving.segment)));
        pair.finish(CLIENT);
        pair.run_for(secs(3));
        assert_eq!(pair.count(SERVER, Event::PeerFinished), 1, "lost {times} times");
        pair.close_gracefully();
    }
}

#[test]
fn a_lost_acknowledgment_of_a_data_fin_is_asked_for_again() {
    let mut pair = two_paths();
    pair.tamper(drop_first(2, |leaving| leaving.from == SERVER && is_pure_ack(leaving.segment)));
    pair.finish(CLIENT);
    pair.run_for(secs(3));
    assert_eq!(pair.count(CLIENT, Event::Acknowledged), 1);
    pair.close_gracefully();
}

#[test]
fn a_data_fin_finds_its_way_round_a_dead_path() {
    for dead in [0, 1] {
        let mut pair = two_paths();
        pair.paths[dead].up = false;
        pair.finish(CLIENT);
        pair.finish(SERVER);
        pair.run_for(secs(5));
        for side in [CLIENT, SERVER] {
            assert_eq!(pair.count(side, Event::PeerFinished), 1, "side {side}, path {dead}");
            assert_eq!(pair.count(side, Event::Acknowledged), 1, "side {side}, path {dead}");
        }
    }
}

#[test]
fn a_data_fin_that_nobody_acknowledges_is_given_up() {
    let mut pair = two_paths();
    for path in &mut pair.paths {
        path.up = false;
    }
    pair.finish(CLIENT);
    let start = pair.log.len();
    pair.run_until("the end", |pair| pair.endpoint(CLIENT).is_closed());
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::TimedOut)), 1);
    assert!(pair.log.len() - start < 50, "{} segments", pair.log.len() - start);
}

#[test]
fn a_connection_with_a_dead_path_closes_in_the_end() {
    let mut pair = two_paths();
    pair.paths[0].up = false;
    pair.write(CLIENT, 200_000);
    pair.close_gracefully();
    assert_eq!(pair.received(SERVER), 220_000);
}

#[test]
fn a_data_fin_travels_with_the_last_data_where_it_can() {
    let mut pair = two_paths();
    // A window that is full keeps the last data back until the end of the stream is known.
    pair.write(CLIENT, 300_000);
    pair.finish(CLIENT);
    pair.settle();
    let last = pair.log.iter().rfind(|sent| sent.from == CLIENT && has_data(&sent.segment)).expect("data");
    assert!(last.segment.options.wire_length() <= 40);
    assert_eq!((pair.count(SERVER, Event::PeerFinished), pair.received(SERVER)), (1, 320_000));
}

#[test]
fn a_fast_close_resets_every_subflow_with_the_peers_key() {
    let mut pair = two_paths();
    pair.write(CLIENT, 1_000_000);
    pair.run_for(ms(15));
    let start = pair.now();
    pair.act(CLIENT, |endpoint, _| endpoint.abort());
    pair.drive();
    let fast_close = |segment: &TcpSegment| has(segment, |option| matches!(option, MptcpOption::FastClose { .. }));
    let resets: Vec<_> = pair.sent(CLIENT, start).filter(|sent| fast_close(&sent.segment)).collect();
    assert!(resets.len() == 2 && resets.iter().all(|sent| is_reset(&sent.segment)));
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::Aborted)), 1);
    assert_eq!(pair.count(SERVER, Event::Closed(Closed::Reset)), 1);
}

#[test]
fn one_fast_close_that_arrives_is_enough() {
    let mut pair = two_paths();
    pair.paths[0].up = false;
    pair.act(SERVER, |endpoint, _| endpoint.abort());
    pair.drive();
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::Reset)), 1);
}

#[test]
fn data_beside_a_fast_close_is_not_counted() {
    // Without timestamps there is room for both options.
    let mut pair = Setup::mptcp(2, 1).both(|stack| stack.tcp.timestamps = false).connected();
    pair.transfer(CLIENT, 20_000);
    pair.settle();
    let syn_ack = pair.log.iter().find(|sent| is_syn_ack(&sent.segment)).expect("the handshake is over");
    let receiver_key = capable(&syn_ack.segment).and_then(|capable| capable.sender_key).expect("MPTCP");
    pair.tamper(move |leaving| {
        if leaving.from == CLIENT && has_data(leaving.segment) {
            leaving.segment.options.mptcp.push(MptcpOption::FastClose { receiver_key });
        }
        Fate::Pass
    });
    pair.write(CLIENT, 1000);
    pair.run_for(ms(100));
    assert_eq!(pair.count(SERVER, Event::Closed(Closed::Reset)), 1);
    assert_eq!(pair.received(SERVER), 20_000);
    assert!(pair.endpoint(SERVER).poll_timeout().is_none(), "nothing is left to do");
}

#[test]
fn a_fast_close_with_a_wrong_key_ends_at_most_its_subflow() {
    let mut pair = two_paths();
    pair.tamper(|leaving| {
        for option in &mut leaving.segment.options.mptcp {
            if let MptcpOption::FastClose { receiver_key } = option {
                *receiver_key ^= 1;
            }
        }
        Fate::Pass
    });
    pair.paths[0].up = false;
    pair.act(CLIENT, |endpoint, _| endpoint.abort());
    pair.run_for(ms(100));
    assert!(!pair.endpoint(SERVER).is_closed());
    assert_eq!(pair.established_subflows(SERVER), 1);
}

#[test]
fn a_reset_is_not_answered_with_a_reset() {
    let mut pair = Setup::mptcp(1, 1).connected();
    pair.transfer(CLIENT, 20_000);
    pair.act(CLIENT, |endpoint, _| endpoint.abort());
    pair.drive();
    assert!(!pair.log.iter().any(|sent| sent.from == SERVER && is_reset(&sent.segment)));
}

#[test]
fn a_peer_that_missed_the_reset_of_a_subflow_learns_of_it_when_it_uses_it() {
    let mut pair = two_paths();
    pair.tamper(drop_first(1, |leaving| is_reset(leaving.segment)));
    pair.lose_address(CLIENT, 1);
    pair.regain_address(CLIENT, 1);
    pair.settle();
    pair.transfer(SERVER, 500_000);
    pair.settle();
    assert_eq!(pair.mptcp(SERVER).subflows().iter().filter(|subflow| !subflow.is_closed()).count(), 2);
    exchange_and_close(&mut pair);
}

#[test]
fn an_abort_in_the_middle_of_the_handshake_leaves_nothing_behind() {
    for wait in [5, 15, 25, 35] {
        let mut pair = Setup::mptcp(2, 1).build();
        pair.connect();
        pair.run_for(ms(wait));
        pair.act(CLIENT, |endpoint, _| endpoint.abort());
        pair.drive();
        assert!(pair.endpoint(CLIENT).is_closed());
        assert!(!pair.has_connection(SERVER) || pair.endpoint(SERVER).is_closed(), "after {wait} ms");
    }
}

/// The data before both DATA_FINs is lost several times: the DATA_FINs must not answer each other all the while.
#[test]
fn data_fins_beyond_a_hole_do_not_answer_each_other() {
    let mut pair = Setup::mptcp(1, 1).connected();
    pair.transfer(CLIENT, 3000);
    pair.transfer(SERVER, 3000);
    pair.settle();
    for side in [CLIENT, SERVER] {
        pair.tamper(drop_first(3, move |leaving| leaving.from == side && has_data(leaving.segment)));
    }
    let start = pair.now();
    for side in [CLIENT, SERVER] {
        pair.write(side, 500);
        pair.finish(side);
    }
    pair.run_until("the data", |pair| pair.received(CLIENT) == 3500 && pair.received(SERVER) == 3500);
    let sent = [CLIENT, SERVER].map(|side| pair.sent(side, start).count());
    assert!(sent.iter().all(|&sent| sent <= 15), "{sent:?} segments");
    pair.close_gracefully();
}
