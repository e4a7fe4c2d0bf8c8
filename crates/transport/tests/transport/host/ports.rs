//! Which local ports connections get.

use std::net::SocketAddr;

use subflow_transport::tcp::Closed;
use subflow_transport::{ConnectError, Endpoint, EndpointId, Event, Host};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, Payload, UdpDatagram};

use super::rig::{CLIENT_ADDRESS, Rig, SERVER_ADDRESS, TCP};
use crate::harness::{CLIENT, SERVER, Setup, secs};

/// A connection of the client's to `remote` from any port.
fn connect(rig: &mut Rig, remote: SocketAddr) -> Result<EndpointId, ConnectError> {
    let options = Setup::tcp().stacks[CLIENT].tcp_options();
    rig.client.connect_tcp(&options, SocketAddr::new(CLIENT_ADDRESS, 0), remote, rig.now)
}

fn local_port(host: &Host, id: EndpointId) -> u16 {
    host.endpoint(id).ends().local.port()
}

#[test]
fn without_a_free_port_a_connection_is_an_error() {
    let mut rig = Rig::new();
    let remote = SocketAddr::new(SERVER_ADDRESS, TCP);
    let opened: Vec<_> = (0..16_384).map(|_| connect(&mut rig, remote).expect("a port")).collect();
    let error = connect(&mut rig, remote).expect_err("there is none left");
    assert_eq!(error, ConnectError::NoFreePort { local: CLIENT_ADDRESS, remote });
    assert!(error.to_string().contains("10.0.0.1 has connections to 10.0.0.2:80 from all of its 16384"), "{error}");
    connect(&mut rig, SocketAddr::new(SERVER_ADDRESS, 81)).expect("ports are taken towards one server only");

    let given_up = opened[77];
    rig.client.endpoint_mut(given_up).abort();
    let next = connect(&mut rig, remote).expect("the port of a connection that is over is free");
    assert_eq!(local_port(&rig.client, next), local_port(&rig.client, given_up));
}

#[test]
fn a_port_in_use_is_not_exchanged_for_another() {
    let mut pair = Setup::tcp().connected();
    let ends = pair.tcp(CLIENT).ends();
    let (options, now) = (Setup::tcp().stacks[CLIENT].tcp_options(), pair.now());
    let error = pair.host(CLIENT).connect_tcp(&options, ends.local, ends.remote, now).expect_err("it is in use");
    assert_eq!(error, ConnectError::InUse { local: ends.local, remote: ends.remote });
}

#[test]
fn time_wait_keeps_a_port_for_a_minute() {
    let mut pair = Setup::tcp().connected();
    let ends = pair.tcp(CLIENT).ends();
    pair.finish(CLIENT);
    pair.settle();
    pair.finish(SERVER);
    pair.settle();
    assert_eq!(pair.count(SERVER, Event::Closed(Closed::Gracefully)), 1);
    let options = Setup::tcp().stacks[CLIENT].tcp_options();
    let now = pair.now();
    assert!(pair.host(CLIENT).connect_tcp(&options, ends.local, ends.remote, now).is_err(), "it is in TIME-WAIT");
    pair.run_for(secs(60));
    let now = pair.now();
    assert!(pair.host(CLIENT).connect_tcp(&options, ends.local, ends.remote, now).is_ok(), "nobody has removed it");
}

#[test]
fn a_subflow_whose_port_is_in_use_is_not_opened() {
    let mut pair = Setup::mptcp(1, 1).connected();
    let (id, now, ends) = (pair.connection(CLIENT), pair.now(), pair.tcp(CLIENT).ends());
    pair.host(CLIENT).open_subflow(id, ends.local.ip(), Some(ends.local.port()), ends.remote, false, now);
    pair.drain(CLIENT);
    pair.settle();
    assert_eq!(pair.mptcp(CLIENT).subflows().len(), 1);
    pair.transfer(CLIENT, 100_000);
    pair.close_gracefully();
}

#[test]
fn the_same_ends_serve_tcp_and_udp() {
    let mut rig = Rig::new();
    let stream = rig.connect(TCP);
    rig.talk();
    let ends = rig.client.endpoint(stream).ends();
    let datagrams = rig.server.open_udp(ends.remote, ends.local).expect("UDP has ports of its own");
    assert!(rig.server.open_udp(ends.remote, ends.local).is_err());
    let ip = IpHeader {
        source: CLIENT_ADDRESS,
        destination: SERVER_ADDRESS,
        hop_limit: 64,
        dscp: Dscp::DEFAULT,
        ecn: Ecn::NotEct,
    };
    let payload = Payload { length: 100, ..Payload::default() };
    let datagram = UdpDatagram { source_port: ends.local.port(), destination_port: ends.remote.port(), payload };
    assert_eq!(rig.server.handle_packet(rig.now, &Packet { ip, body: Body::Udp(datagram) }), Some(datagrams));
    rig.client.endpoint_mut(stream).write(5000);
    rig.talk();
    assert_eq!(rig.server.endpoint(rig.accepted[0]).bytes_received(), 5000);
    assert!(matches!(rig.server.endpoint(datagrams), Endpoint::Udp(udp) if udp.counters().bytes_received == 100));
}
