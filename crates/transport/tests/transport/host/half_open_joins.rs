//! Joins that never prove themselves hold no place of a connection against joins that do.

use std::net::SocketAddr;

use subflow_transport::{Endpoint, EndpointId, mptcp};
use subflow_wire::tcp::TcpFlags;
use subflow_wire::{Body, Packet};

use super::rig::{CLIENT_ADDRESS, MPTCP, Rig, SERVER_ADDRESS, join, segment, syn_with};
use crate::harness::{ms, secs};

/// A server with an MPTCP connection of the client's, the client's end of it, and the server's token.
fn connected() -> (Rig, EndpointId, u32) {
    let mut rig = Rig::new();
    let client = rig.connect(MPTCP);
    rig.client.endpoint_mut(client).write(1000);
    rig.talk();
    let token = at_server(&rig).token();
    (rig, client, token)
}

fn at_server(rig: &Rig) -> &mptcp::Connection {
    match rig.server.endpoint(rig.accepted[0]) {
        Endpoint::Mptcp(connection) => connection,
        _ => panic!("no MPTCP"),
    }
}

fn established(rig: &Rig) -> usize {
    at_server(rig).subflows().iter().filter(|subflow| subflow.is_established()).count()
}

/// A stranger's MP_JOIN, and the server's answer.
fn joins(rig: &mut Rig, number: u32, token: u32) -> (Packet, Vec<Packet>) {
    let syn = syn_with(number, join(token, number));
    let answer = rig.deliver(&syn);
    (syn, answer)
}

fn is_syn_ack(answer: &[Packet]) -> bool {
    matches!(answer, [packet] if segment(packet).flags.contains(TcpFlags::SYN))
}

/// The client asks for one more subflow.
fn open_honest(rig: &mut Rig, client: EndpointId) {
    let remote = SocketAddr::new(SERVER_ADDRESS, MPTCP);
    rig.client.open_subflow(client, CLIENT_ADDRESS, None, remote, false, rig.now);
    rig.talk();
}

/// Lets `seconds` pass with all timers and packets of both sides.
fn wait(rig: &mut Rig, seconds: u64) {
    for _ in 0..10 * seconds {
        rig.now += ms(100);
        for host in [&mut rig.client, &mut rig.server] {
            for id in host.endpoint_ids() {
                if host.poll_timeout(id).is_some_and(|at| at <= rig.now) {
                    host.handle_timeout(rig.now, id);
                }
            }
        }
        rig.talk();
    }
}

#[test]
fn a_thousand_joins_that_are_reset_leave_room_for_one_that_is_meant() {
    let (mut rig, client, token) = connected();
    for number in 0..1000 {
        let (mut reset, answer) = joins(&mut rig, number, token);
        assert!(is_syn_ack(&answer), "join {number}: {answer:?}");
        if let Body::Tcp(segment) = &mut reset.body {
            (segment.flags, segment.sequence) = (TcpFlags::RST, segment.sequence.wrapping_add(1));
            segment.options = Default::default();
        }
        rig.deliver(&reset);
        assert_eq!(
            (rig.server.half_open_joins(), at_server(&rig).half_open_joins()),
            (0, 0),
            "its place is free at once"
        );
    }
    open_honest(&mut rig, client);
    assert_eq!(established(&rig), 2);
    assert_eq!(at_server(&rig).subflows_opened(), 1002);
}

#[test]
fn sixty_three_joins_that_never_prove_themselves_give_way_to_one_that_does() {
    let (mut rig, client, token) = connected();
    for number in 0..63 {
        assert!(is_syn_ack(&joins(&mut rig, number, token).1), "join {number}");
    }
    assert_eq!(at_server(&rig).half_open_joins(), 63);
    open_honest(&mut rig, client);
    assert_eq!((established(&rig), at_server(&rig).half_open_joins()), (1, 63), "they have had no time to answer yet");
    wait(&mut rig, 3);
    assert_eq!(established(&rig), 2, "the repeated SYN of the honest join has found a place");
    assert_eq!(rig.server.half_open_joins(), 62);
}

#[test]
fn a_join_succeeds_in_the_middle_of_a_flood_of_joins() {
    let (mut rig, client, token) = connected();
    let mut number = 0;
    let mut flood = |rig: &mut Rig| {
        for _ in 0..20 {
            joins(rig, number, token);
            number += 1;
        }
        wait(rig, 1);
    };
    for _ in 0..10 {
        flood(&mut rig);
    }
    open_honest(&mut rig, client);
    for _ in 0..10 {
        flood(&mut rig);
    }
    assert_eq!(established(&rig), 2);
    let places = at_server(&rig).subflows().len();
    assert!(places <= 64, "{places} places");
}

#[test]
fn a_subflow_that_the_host_itself_opens_needs_not_wait_for_strangers() {
    let (mut rig, _, token) = connected();
    for number in 0..63 {
        joins(&mut rig, number, token);
    }
    let (id, now) = (rig.accepted[0], rig.now);
    let remote = rig.server.endpoint(id).ends().remote;
    rig.server.open_subflow(id, SERVER_ADDRESS, None, remote, false, now);
    assert_eq!(at_server(&rig).half_open_joins(), 62);
    let opened = at_server(&rig).subflows().iter().any(|subflow| subflow.number() == 64);
    assert!(opened && at_server(&rig).subflows().len() == 64);
}

/// As many as an honest peer may send at once: none is thrown away for the next.
#[test]
fn a_few_half_open_joins_keep_their_places_against_one_too_many() {
    let (mut rig, _, token) = connected();
    let (mut answered, mut refused, mut dropped) = (0, 0, 0);
    for number in 0..70 {
        match joins(&mut rig, number, token).1 {
            answer if is_syn_ack(&answer) => answered += 1,
            answer if answer.is_empty() => dropped += 1,
            _ => refused += 1,
        }
    }
    assert_eq!((answered, dropped, refused), (63, 7, 0));
    wait(&mut rig, 2);
    assert!(is_syn_ack(&joins(&mut rig, 70, token).1));
    rig.pass(secs(1));
}
