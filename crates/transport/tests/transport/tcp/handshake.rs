//! Opening a connection (RFC 9293, section 3.5), and what a lost piece of it costs.

use std::net::SocketAddr;

use subflow_transport::Event;
use subflow_transport::tcp::{Closed, State};
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use crate::harness::tamper::{drop_all, drop_first, has_data, is_pure_ack, is_reset, is_syn, is_syn_ack};
use crate::harness::{CLIENT, Pair, SERVER, Setup, ms, secs};

#[test]
fn three_segments_open_a_connection() {
    let mut pair = Setup::tcp().build();
    let start = pair.now();
    pair.connect();
    pair.drive();
    let flags: Vec<_> = pair.log.iter().map(|sent| (sent.from, sent.segment.flags)).collect();
    let syn_ack = TcpFlags::SYN | TcpFlags::ACK;
    assert_eq!(flags, [(CLIENT, TcpFlags::SYN), (SERVER, syn_ack), (CLIENT, TcpFlags::ACK)]);
    assert_eq!(pair.when(CLIENT, Event::Established), Some(start + ms(20)));
    assert_eq!(pair.when(SERVER, Event::Established), Some(start + ms(30)));
    assert_eq!(pair.tcp(CLIENT).rtt().srtt(), Some(ms(20)));
}

#[test]
fn a_lost_syn_is_sent_again_after_a_second() {
    let mut pair = Setup::tcp().build();
    pair.tamper(drop_first(1, |leaving| is_syn(leaving.segment)));
    let start = pair.now();
    pair.connect();
    pair.drive();
    assert_eq!(pair.when(CLIENT, Event::Established), Some(start + secs(1) + ms(20)));
    assert_eq!(pair.tcp(CLIENT).counters().retransmissions, 1);
    assert_eq!(pair.tcp(CLIENT).rtt().srtt(), None, "Karn: a repeated SYN gives no sample");
}

#[test]
fn repeated_syns_back_off_and_cost_the_initial_window() {
    let mut pair = Setup::tcp().build();
    pair.tamper(drop_first(3, |leaving| is_syn(leaving.segment)));
    let start = pair.now();
    pair.connect();
    pair.drive();
    assert_eq!(pair.when(CLIENT, Event::Established), Some(start + secs(1 + 2 + 4) + ms(20)));
    assert_eq!(pair.cwnd(CLIENT, 0), 1);
}

#[test]
fn a_lost_syn_ack_is_sent_again_by_either_side() {
    let mut pair = Setup::tcp().build();
    pair.tamper(drop_first(1, |leaving| is_syn_ack(leaving.segment)));
    pair.connect();
    pair.transfer(CLIENT, 5_000);
    assert_eq!(pair.state(SERVER), State::Established);
    pair.close_gracefully();
}

#[test]
fn a_lost_third_ack_is_repeated_when_the_syn_ack_comes_again() {
    let mut pair = Setup::tcp().build();
    pair.tamper(drop_first(1, |leaving| is_pure_ack(leaving.segment)));
    let start = pair.now();
    pair.connect();
    pair.drive();
    assert_eq!(pair.when(SERVER, Event::Established), Some(start + ms(10) + secs(1) + ms(20)));
}

#[test]
fn data_replaces_a_lost_third_ack() {
    let mut pair = Setup::tcp().build();
    pair.tamper(drop_first(1, |leaving| is_pure_ack(leaving.segment)));
    let start = pair.now();
    pair.connect();
    pair.write(CLIENT, 1000);
    pair.drive();
    assert_eq!(pair.when(SERVER, Event::Established), Some(start + ms(30)));
    assert_eq!(pair.received(SERVER), 1000);
}

#[test]
fn all_of_the_handshake_may_be_lost_once() {
    let mut pair = Setup::tcp().build();
    for lost in [is_syn, is_syn_ack, is_pure_ack] {
        pair.tamper(drop_first(1, move |leaving| lost(leaving.segment)));
    }
    pair.connect();
    pair.transfer(CLIENT, 3000);
    pair.close_gracefully();
}

#[test]
fn without_an_answer_the_syn_is_given_up() {
    let mut pair = Setup::tcp().on(CLIENT, |stack| stack.tcp.syn_retries = 2).build();
    pair.tamper(drop_all(|_| true));
    let start = pair.now();
    pair.connect();
    pair.drive();
    assert_eq!(pair.when(CLIENT, Event::Closed(Closed::TimedOut)), Some(start + secs(1 + 2 + 4)));
    assert_eq!(pair.log.len(), 3);
}

#[test]
fn the_first_timeouts_of_a_syn_may_be_linear() {
    let mut pair =
        Setup::tcp().on(CLIENT, |stack| (stack.tcp.syn_retries, stack.tcp.syn_linear_timeouts) = (2, 4)).build();
    pair.tamper(drop_all(|_| true));
    let start = pair.now();
    pair.connect();
    pair.drive();
    // RTOs of 1, 1, 1, 1, 1 and 2 s, as in Linux with 4: after 7 s, which are 1 + 2 + 4, it gives up.
    assert_eq!(pair.when(CLIENT, Event::Closed(Closed::TimedOut)), Some(start + secs(5 + 2)));
    assert_eq!(pair.log.len(), 6);
}

#[test]
fn a_port_where_nobody_listens_refuses() {
    let mut pair = Setup::tcp().build();
    let (client, server) = (pair.address(CLIENT, 0), pair.address(SERVER, 0));
    let (options, now) = (Setup::tcp().stacks[CLIENT].tcp_options(), pair.now());
    let id = pair.host(CLIENT).connect_tcp(&options, SocketAddr::new(client, 0), SocketAddr::new(server, 81), now);
    pair.adopt(CLIENT, id.expect("a free port"));
    pair.drive();
    assert_eq!(pair.count(CLIENT, Event::Closed(Closed::Refused)), 1);
}

#[test]
fn both_may_open_at_once() {
    let mut pair = simultaneous_open();
    assert_eq!(pair.state(CLIENT), State::Established);
    assert_eq!(pair.state(SERVER), State::Established);
    assert!(pair.log.len() <= 6, "SYN, SYN/ACK and at most an ACK of each: {:#?}", pair.log);
    pair.transfer(CLIENT, 4000);
    pair.transfer(SERVER, 4000);
    pair.close_gracefully();
}

fn simultaneous_open() -> Pair {
    let mut pair = Setup::tcp().build();
    let ends = [CLIENT, SERVER].map(|side| SocketAddr::new(pair.address(side, 0), 7000));
    let options = Setup::tcp().stacks[CLIENT].tcp_options();
    for side in [CLIENT, SERVER] {
        let now = pair.now();
        let id = pair.host(side).connect_tcp(&options, ends[side], ends[1 - side], now);
        pair.adopt(side, id.expect("the port is free"));
    }
    pair.drive();
    pair
}

#[test]
fn a_stale_connection_is_reset_by_the_syn_that_it_does_not_fit() {
    // RFC 9293, section 3.5.1: the server still has the connection that the client has forgotten.
    let mut pair = Setup::tcp().build();
    let local = SocketAddr::new(pair.address(CLIENT, 0), 7000);
    pair.connect_from(local);
    pair.drive();
    pair.forget(CLIENT);
    pair.connect_from(local);
    pair.settle();
    assert_eq!(pair.count(SERVER, Event::Closed(Closed::Reset)), 1, "{:?}", pair.events(SERVER));
    pair.transfer(CLIENT, 5000);
}

#[test]
fn an_acknowledgment_of_a_syn_never_sent_is_answered_with_a_reset() {
    let mut pair = Setup::tcp().build();
    pair.tamper(|leaving| {
        if is_syn_ack(leaving.segment) {
            leaving.segment.acknowledgment = leaving.segment.acknowledgment.wrapping_add(7);
        }
        crate::harness::Fate::Pass
    });
    pair.connect();
    pair.run_for(ms(25));
    let answer = pair.log.last().expect("something was sent");
    assert!(answer.from == CLIENT && is_reset(&answer.segment) && !has_data(&answer.segment));
    assert_eq!(pair.state(CLIENT), State::SynSent);
}

#[test]
fn a_listening_port_drops_what_neither_opens_nor_acknowledges() {
    // RFC 9293, section 3.10.7.2: an ACK is answered with a reset, a segment without SYN, ACK and RST with nothing.
    let fin_psh = TcpFlags::FIN | TcpFlags::PSH;
    for (flags, port, resets) in [(TcpFlags(0), 80, 0), (fin_psh, 80, 0), (TcpFlags::ACK, 80, 1), (TcpFlags(0), 81, 1)]
    {
        let mut pair = Setup::tcp().build();
        let segment = TcpSegment { source_port: 5000, destination_port: port, flags, ..TcpSegment::default() };
        let packet = pair.first_path(SERVER, segment);
        pair.inject(SERVER, &packet, ms(1));
        pair.run_for(ms(5));
        let sent = pair.log.iter().filter(|sent| is_reset(&sent.segment)).count();
        assert_eq!((sent, pair.log.len()), (resets, resets), "{flags:?} to port {port}");
    }
}
