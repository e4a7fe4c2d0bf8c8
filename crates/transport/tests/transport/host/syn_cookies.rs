//! Connections made of SYN cookies (RFC 4987): above the backlog a SYN leaves nothing behind.

use subflow_quantity::Instant;
use subflow_transport::tcp::Closed;
use subflow_transport::{Event, Limits};
use subflow_wire::tcp::mptcp::MptcpOption;
use subflow_wire::tcp::{SynOptions, TcpFlags};

use super::rig::{MPTCP, Rig, TCP, capable, segment, syn, syn_with};
use crate::harness::tamper::{drop_first, has_data, is_pure_ack, is_syn, is_syn_ack, strip_mptcp};
use crate::harness::{CLIENT, Fate, Pair, SERVER, Sent, Setup, ms, secs};

/// A server without a backlog.
fn with_cookies(setup: Setup) -> Pair {
    let mut pair = setup.build();
    pair.host(SERVER).set_limits(Limits { backlog: 0, ..Limits::default() });
    pair
}

/// The client connects to such a server.
fn connected(setup: Setup) -> Pair {
    let mut pair = with_cookies(setup);
    pair.connect();
    pair.settle();
    assert!(pair.has_connection(SERVER), "the cookie came back");
    pair
}

#[test]
fn the_backlog_fills_first_and_counts_what_is_not_established() {
    let mut rig = Rig::new();
    rig.server.set_limits(Limits { backlog: 3, ..Limits::default() });
    for number in 0..10 {
        assert_eq!(rig.deliver(&syn(number, TCP)).len(), 1, "every SYN is answered");
        assert_eq!(rig.deliver(&syn(number, MPTCP)).len(), 1);
    }
    assert_eq!(rig.server.endpoint_ids().len(), 6);
    assert_eq!((rig.server.half_open_connections(TCP), rig.server.half_open_connections(MPTCP)), (3, 3));
    // Those that never answer are given up, and count until they are removed.
    for _ in 0..8 {
        rig.pass(secs(70));
    }
    rig.connect(TCP);
    rig.talk();
    assert_eq!(rig.server.half_open_connections(TCP), 3);
    rig.remove_closed();
    assert_eq!((rig.server.half_open_connections(TCP), rig.server.endpoint_ids().len()), (0, 1));
    rig.connect(TCP);
    rig.talk();
    assert_eq!((rig.server.half_open_connections(TCP), rig.server.endpoint_ids().len()), (0, 2));
}

#[test]
fn a_tcp_connection_has_everything_that_it_would_have_without() {
    let mut pair = connected(Setup::tcp());
    let (server, client) = (pair.count(SERVER, Event::Established), pair.count(CLIENT, Event::Established));
    assert_eq!((server, client), (1, 1));
    pair.induce_loss(1);
    pair.transfer(CLIENT, 2_000_000);
    pair.transfer(SERVER, 2_000_000);
    let sent: Vec<_> = pair.sent(SERVER, Instant::ZERO).cloned().collect();
    assert!(sent.iter().all(|sent| sent.segment.options.timestamps.is_some()));
    assert!(sent.iter().any(|sent| !sent.segment.options.sack.is_empty()));
    let window = |sent: &Sent| pair.tcp(CLIENT).peer_window(&sent.segment);
    assert!(sent.iter().map(window).max() > Some(65_535), "windows are scaled");
    let times: Vec<_> = sent.iter().filter_map(|sent| sent.segment.options.timestamps).map(|t| t.value).collect();
    assert!(times.is_sorted(), "timestamps never go back");
    pair.close_gracefully();
}

#[test]
fn both_ways_to_answer_a_syn_say_the_same() {
    for setup in [Setup::tcp(), Setup::mptcp(1, 1)] {
        let answer = |mut pair: Pair| {
            pair.connect();
            pair.settle();
            let answer = pair.log.iter().find(|sent| is_syn_ack(&sent.segment)).expect("a SYN/ACK").segment.clone();
            (answer.window, answer.options.syn, answer.options.mptcp.len(), answer.acknowledgment)
        };
        assert_eq!(answer(setup.clone().build()), answer(with_cookies(setup)));
    }
}

#[test]
fn without_timestamps_it_has_no_scaling_and_no_sack() {
    let mut pair = connected(Setup::tcp().both(|stack| stack.tcp.timestamps = false));
    let answer = pair.log.iter().find(|sent| is_syn_ack(&sent.segment)).expect("a SYN/ACK");
    assert_eq!(answer.segment.options.syn, SynOptions { mss: Some(1460), window_scale: None, sack_permitted: false });
    pair.induce_loss(2);
    pair.transfer(CLIENT, 500_000);
    pair.transfer(SERVER, 500_000);
    pair.close_gracefully();
}

#[test]
fn an_mptcp_connection_is_one_with_all_its_subflows() {
    for checksum in [false, true] {
        let setup = Setup::mptcp(2, 1).on(CLIENT, |stack| stack.multipath().checksum = checksum);
        let mut pair = connected(setup);
        pair.transfer(CLIENT, 1_000_000);
        pair.transfer(SERVER, 1_000_000);
        for side in [CLIENT, SERVER] {
            assert!(!pair.mptcp(side).has_fallen_back(), "side {side}");
            assert_eq!(pair.established_subflows(side), 2, "side {side}");
        }
        pair.close_gracefully();
    }
}

#[test]
fn the_first_data_takes_the_place_of_a_lost_third_ack() {
    for setup in [Setup::tcp(), Setup::mptcp(2, 1)] {
        let mut pair = with_cookies(setup);
        pair.tamper(drop_first(1, |leaving| leaving.from == CLIENT && is_pure_ack(leaving.segment)));
        pair.connect();
        pair.write(CLIENT, 50_000);
        pair.run_until("the data", |pair| pair.received(SERVER) == 50_000);
        pair.settle();
        pair.transfer(SERVER, 50_000);
        pair.close_gracefully();
    }
}

#[test]
fn a_lost_syn_ack_is_answered_anew_when_the_syn_comes_again() {
    let mut pair = with_cookies(Setup::mptcp(1, 1));
    pair.tamper(drop_first(1, |leaving| is_syn_ack(leaving.segment)));
    pair.connect();
    pair.run_for(secs(3));
    assert_eq!(pair.log.iter().filter(|sent| is_syn(&sent.segment)).count(), 2);
    assert!(!pair.mptcp(SERVER).has_fallen_back());
    pair.transfer(CLIENT, 50_000);
}

#[test]
fn a_peer_without_mptcp_gets_plain_tcp() {
    let mut of_client = with_cookies(Setup::mptcp(1, 1).on(CLIENT, |stack| stack.mptcp = None));
    of_client.connect();
    let mut on_the_way = with_cookies(Setup::mptcp(1, 1));
    on_the_way.tamper(strip_mptcp(|leaving| leaving.from == CLIENT && is_syn(leaving.segment)));
    on_the_way.connect();
    let mut behind_the_syn = with_cookies(Setup::mptcp(1, 1));
    behind_the_syn.tamper(strip_mptcp(|leaving| leaving.from == CLIENT && !is_syn(leaving.segment)));
    behind_the_syn.connect();
    for mut pair in [of_client, on_the_way, behind_the_syn] {
        pair.settle();
        assert!(pair.mptcp(SERVER).has_fallen_back());
        pair.transfer(CLIENT, 50_000);
        pair.transfer(SERVER, 50_000);
    }
}

#[test]
fn a_key_that_the_server_has_not_given_makes_no_mptcp_connection() {
    let mut pair = with_cookies(Setup::mptcp(1, 1));
    pair.tamper(|leaving| {
        for option in &mut leaving.segment.options.mptcp {
            if let (CLIENT, MptcpOption::Capable(capable)) = (leaving.from, option) {
                capable.receiver_key = capable.receiver_key.map(|key| key ^ 1);
            }
        }
        Fate::Pass
    });
    pair.connect();
    pair.settle();
    assert!(pair.mptcp(SERVER).has_fallen_back());
}

#[test]
fn a_cookie_that_comes_too_late_is_answered_with_a_reset() {
    let mut pair = with_cookies(Setup::tcp());
    pair.tamper(|leaving| match leaving.from == CLIENT && !is_syn(leaving.segment) {
        true => Fate::Late(secs(129)),
        false => Fate::Pass,
    });
    pair.connect();
    pair.run_for(secs(200));
    assert!(!pair.has_connection(SERVER));
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::Reset)), 1);
}

#[test]
fn no_cookie_is_looked_for_where_none_has_been_given() {
    // The third ACK of another server with the same secret would be taken otherwise: the streams of randomness are the
    // same.
    let third_ack = |rig: &mut Rig, client_first: bool| {
        let id = rig.connect(TCP);
        let syn = rig.client.poll_transmit(rig.now, id).expect("a SYN");
        if client_first {
            for answer in rig.deliver(&syn) {
                rig.client.handle_packet(rig.now, &answer);
            }
        }
        rig.client.poll_transmit(rig.now, id)
    };
    let mut giving = Rig::new();
    giving.server.set_limits(Limits { backlog: 0, ..Limits::default() });
    let ack = third_ack(&mut giving, true).expect("a third ACK");
    let mut other = Rig::new();
    let answers = other.deliver(&ack);
    assert_eq!(segment(&answers[0]).flags, TcpFlags::RST);
    assert_eq!(giving.deliver(&ack).len(), 0);
    assert_eq!(giving.accepted.len(), 1);
}

#[test]
fn a_driver_that_does_not_fetch_connections_gets_no_more_than_the_backlog() {
    let mut rig = Rig::new();
    rig.server.set_limits(Limits { backlog: 2, ..Limits::default() });
    for number in 0..5 {
        rig.server.handle_packet(rig.now, &syn_with(number, capable()));
    }
    let waiting = core::iter::from_fn(|| rig.server.poll_accept()).count();
    assert_eq!((waiting, rig.server.endpoint_ids().len()), (2, 2));
}

#[test]
fn an_established_connection_makes_room_in_the_backlog() {
    let mut pair = Setup::tcp().build();
    pair.host(SERVER).set_limits(Limits { backlog: 1, ..Limits::default() });
    pair.connect();
    pair.run_for(ms(15));
    assert_eq!(pair.host(SERVER).half_open_connections(80), 1);
    pair.write(CLIENT, 1000);
    pair.run_until("data", |pair| pair.log.iter().any(|sent| has_data(&sent.segment)));
    pair.settle();
    assert_eq!(pair.host(SERVER).half_open_connections(80), 0);
}
