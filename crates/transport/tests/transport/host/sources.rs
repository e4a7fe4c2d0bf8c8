//! The source addresses of connections: those that the host has when it connects.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use subflow_transport::{EndpointId, Event, Reach};
use subflow_wire::Packet;

use super::rig::{CLIENT_ADDRESS, MPTCP, Rig, SERVER_ADDRESS, TCP, transmitted};
use crate::harness::{CLIENT, Setup};

const OTHER_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 1, 1));

/// A client with a second address.
fn two_addresses() -> Rig {
    let mut rig = Rig::new();
    rig.client.add_address(OTHER_ADDRESS, rig.now);
    rig
}

/// Opens a connection to the server's `port`, preferably from the client's first address.
fn connect(rig: &mut Rig, port: u16) -> EndpointId {
    let setup = if port == TCP { Setup::tcp() } else { Setup::mptcp(1, 1) };
    let (local, remote) = (SocketAddr::new(CLIENT_ADDRESS, 0), SocketAddr::new(SERVER_ADDRESS, port));
    let stack = setup.stacks[CLIENT].listener();
    rig.client.connect_from_any(&stack, local, remote, rig.now).expect("a free port")
}

fn sources(packets: &[Packet]) -> Vec<IpAddr> {
    packets.iter().map(|packet| packet.ip.source).collect()
}

#[test]
fn a_connection_leaves_from_an_address_that_the_host_has_and_that_reaches_the_peer() {
    let mut rig = two_addresses();
    let opened = |rig: &mut Rig| {
        let id = connect(rig, TCP);
        sources(&transmitted(&mut rig.client, id, rig.now))
    };
    assert_eq!(opened(&mut rig), [CLIENT_ADDRESS]);
    rig.client.remove_address(CLIENT_ADDRESS, rig.now);
    assert_eq!(opened(&mut rig), [OTHER_ADDRESS]);
    rig.client.remove_address(OTHER_ADDRESS, rig.now);
    assert_eq!(opened(&mut rig), [CLIENT_ADDRESS], "it has none");
    rig.client.add_address(OTHER_ADDRESS, rig.now);
    rig.client.add_address(CLIENT_ADDRESS, rig.now);
    assert_eq!(opened(&mut rig), [CLIENT_ADDRESS]);
    rig.client.set_reach(Reach::without([(CLIENT_ADDRESS, SERVER_ADDRESS)]));
    assert_eq!(opened(&mut rig), [OTHER_ADDRESS]);
}

#[test]
fn a_syn_is_sent_again_at_once_from_another_address_when_its_own_is_lost() {
    for port in [TCP, MPTCP] {
        let mut rig = two_addresses();
        let id = connect(&mut rig, port);
        assert_eq!(sources(&transmitted(&mut rig.client, id, rig.now)), [CLIENT_ADDRESS]);
        rig.client.remove_address(CLIENT_ADDRESS, rig.now);
        let again = transmitted(&mut rig.client, id, rig.now);
        assert_eq!(sources(&again), [OTHER_ADDRESS], "port {port}");
        let answers = rig.deliver(&again[0]);
        assert!(answers.iter().all(|answer| answer.ip.destination == OTHER_ADDRESS), "{answers:?}");
        for answer in &answers {
            assert_eq!(rig.client.handle_packet(rig.now, answer), Some(id));
        }
        assert_eq!(rig.client.poll_event(id), Some(Event::Established), "port {port}");
        assert_eq!(rig.client.endpoint(id).ends().local.ip(), OTHER_ADDRESS);
    }
}

#[test]
fn a_connection_that_asked_for_its_address_and_one_that_is_answered_stay_there() {
    let mut rig = two_addresses();
    let bound = rig.connect(TCP);
    assert_eq!(sources(&transmitted(&mut rig.client, bound, rig.now)), [CLIENT_ADDRESS]);
    let answered = connect(&mut rig, TCP);
    rig.talk();
    assert_eq!(rig.client.poll_event(answered), Some(Event::Established));
    rig.client.remove_address(CLIENT_ADDRESS, rig.now);
    for id in [bound, answered] {
        assert_eq!(rig.client.endpoint(id).ends().local.ip(), CLIENT_ADDRESS);
    }
}

#[test]
fn connections_that_are_over_are_not_moved() {
    let mut rig = two_addresses();
    let (refused, waiting) = (connect(&mut rig, TCP), connect(&mut rig, TCP));
    rig.client.endpoint_mut(refused).abort();
    rig.client.remove(refused);
    let other = connect(&mut rig, MPTCP);
    rig.client.remove_address(CLIENT_ADDRESS, rig.now);
    for id in [waiting, other] {
        assert_eq!(rig.client.endpoint(id).ends().local.ip(), OTHER_ADDRESS);
    }
}
