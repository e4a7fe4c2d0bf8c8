//! What a server answers without a connection: tokens that prove an address (RFC 9000, section 8.1.2), and stateless resets
//! (section 10.3).

use std::sync::Arc;

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};
use subflow_transport::quic::{Config, ResetKey};
use subflow_transport::{EndpointId, Host};
use subflow_wire::quic::{CloseCause, ConnectionId, Frame, PacketHeader, QuicDatagram};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, Payload, PayloadBytes, UdpDatagram};

use crate::support::{client, server};

const NOW: Instant = Instant::ZERO;
/// The ends of client and server.
const CLIENT: ([u8; 4], u16) = ([10, 0, 0, 1], 50_000);
const SERVER: ([u8; 4], u16) = ([10, 0, 0, 2], 443);
const KEY: ResetKey = ResetKey([9; 32]);

/// The headers of a datagram.
fn headers(from: ([u8; 4], u16), to: ([u8; 4], u16)) -> Packet {
    let ip = IpHeader {
        source: from.0.into(),
        destination: to.0.into(),
        hop_limit: 64,
        dscp: Dscp::DEFAULT,
        ecn: Ecn::NotEct,
    };
    Packet {
        ip,
        body: Body::Udp(UdpDatagram { source_port: from.1, destination_port: to.1, payload: Payload::default() }),
    }
}

fn listening(config: Config) -> Host {
    let mut host = Host::new(vec![SERVER.0.into()], Pcg64Mcg::seed_from_u64(2));
    host.listen(443, Arc::new(Config { tls: Some(server()), ..config }).into());
    host
}

/// A client that has sent its first datagram, as it is on the network.
fn connecting() -> (Host, EndpointId, Vec<u8>) {
    let mut host = Host::new(vec![CLIENT.0.into()], Pcg64Mcg::seed_from_u64(1));
    let config = Arc::new(Config { tls: Some(client()), ..Config::default() });
    let id = host.connect_quic(config, CLIENT.into(), SERVER.into(), NOW).expect("the port is free");
    let bytes = sent(&mut host, id, NOW).expect("its first packet").1;
    (host, id, bytes)
}

/// What an endpoint sends next, described and protected.
fn sent(host: &mut Host, id: EndpointId, now: Instant) -> Option<(QuicDatagram, Vec<u8>)> {
    let Body::Quic(datagram) = host.poll_transmit(now, id)?.body else { panic!("a datagram of QUIC") };
    let mut bytes = Vec::new();
    datagram.emit(PayloadBytes::Zero, &mut bytes).expect("it can be written");
    host.endpoint_mut(id).as_quic_mut().expect("it is QUIC").protect(&datagram, &mut bytes).expect("it has keys");
    Some((datagram, bytes))
}

/// The server's Retry packet for a client, and what the client sends then.
fn retried(host: &mut Host) -> (Vec<u8>, Vec<u8>) {
    let (mut client, id, mut first) = connecting();
    assert!(host.handle_protected(NOW, &headers(CLIENT, SERVER), &mut first).is_none(), "no state is kept");
    let reply = host.poll_stateless_reply().expect("a Retry packet");
    assert_eq!((reply.ends.remote, reply.ends.local), (CLIENT.into(), SERVER.into()));
    client.handle_protected(NOW, &headers(SERVER, CLIENT), &mut reply.bytes.clone()).expect("its ends are known");
    let (datagram, second) = sent(&mut client, id, NOW).expect("the first packet again");
    let PacketHeader::Initial { token, .. } = &datagram.packets[0].header else { panic!("{datagram:?}") };
    assert!(token.len() > 40 && second.len() >= 1200, "{token:?}");
    (reply.bytes, second)
}

/// The transport error with which a connection is closed that was accepted.
fn close_of(host: &mut Host, id: EndpointId) -> u64 {
    let (datagram, _) = sent(host, id, NOW).expect("the end of the connection");
    let frames = datagram.packets.iter().flat_map(|packet| &packet.frames);
    let close = frames.filter_map(|frame| match frame {
        Frame::ConnectionClose(close) => Some(close.cause),
        _ => None,
    });
    match close.collect::<Vec<_>>()[..] {
        [CloseCause::Transport { error_code, .. }] => error_code,
        _ => panic!("{datagram:?}"),
    }
}

fn with_retry() -> Host {
    listening(Config { retry_from: Some(0), ..Config::default() })
}

/// TLS has no certificate here, and says so (internal error, or none for that name) where a token is right.
const CRYPTO_ERROR: u64 = 0x100;
const INVALID_TOKEN: u64 = 0x0b;

#[test]
fn a_client_that_returns_the_token_is_accepted_and_its_address_is_valid() {
    let mut host = with_retry();
    let (retry, mut second) = retried(&mut host);
    assert!(retry.len() < 200, "less than three times what the client has sent");
    let (id, _) = host.handle_protected(NOW, &headers(CLIENT, SERVER), &mut second).expect("a connection");
    assert_eq!((host.poll_accept(), host.poll_stateless_reply()), (Some(id), None));
    assert!(close_of(&mut host, id) >= CRYPTO_ERROR);
}

#[test]
fn a_token_counts_for_ten_seconds_and_for_the_address_that_got_it() {
    let other_port = (CLIENT.0, CLIENT.1 + 1);
    let other_address = ([10, 0, 0, 77], CLIENT.1);
    let late = NOW + Duration::from_millis(10_001);
    for (from, at) in [(CLIENT, late), (other_port, NOW), (other_address, NOW)] {
        let mut host = with_retry();
        let (_, mut second) = retried(&mut host);
        let (id, _) = host.handle_protected(at, &headers(from, SERVER), &mut second).expect("it is told");
        assert_eq!((close_of(&mut host, id), host.poll_stateless_reply()), (INVALID_TOKEN, None), "{from:?} {at:?}");
    }
    let mut host = with_retry();
    let (_, mut second) = retried(&mut host);
    let just = NOW + Duration::from_secs(10);
    let (id, _) = host.handle_protected(just, &headers(CLIENT, SERVER), &mut second).expect("a connection");
    assert_ne!(close_of(&mut host, id), INVALID_TOKEN);
}

#[test]
fn a_token_that_was_changed_or_that_another_host_has_made_is_none() {
    let (_, second) = retried(&mut with_retry());
    // The token begins behind the first byte, the version, both identifiers, and its own length.
    let token = 1 + 4 + 9 + 9 + 1;
    for place in [token, token + 8, token + 20, token + 40] {
        let mut host = with_retry();
        let (_, mut changed) = retried(&mut host);
        changed[place] ^= 1;
        assert!(host.handle_protected(NOW, &headers(CLIENT, SERVER), &mut changed).is_none(), "{place}");
        assert!(host.poll_stateless_reply().is_some(), "the client is asked again: {place}");
    }
    let mut another = Host::new(vec![SERVER.0.into()], Pcg64Mcg::seed_from_u64(3));
    another.listen(443, Arc::new(Config { tls: Some(server()), retry_from: Some(0), ..Config::default() }).into());
    assert!(another.handle_protected(NOW, &headers(CLIENT, SERVER), &mut second.clone()).is_none());
    assert!(another.poll_stateless_reply().is_some());
}

#[test]
fn clients_are_asked_only_while_many_connections_are_half_open() {
    let mut host = listening(Config { retry_from: Some(2), ..Config::default() });
    let (_, _, first) = connecting();
    let mut attempt = |port: u16| {
        host.handle_protected(NOW, &headers((CLIENT.0, port), SERVER), &mut first.clone());
        host.poll_stateless_reply().is_some()
    };
    assert_eq!([50_001, 50_002, 50_003].map(&mut attempt), [false, false, true]);
}

/// A packet with a short header to a connection identifier.
fn stray(id: &[u8; 8], length: usize) -> Vec<u8> {
    let mut bytes = vec![0x55; length];
    bytes[1..9].copy_from_slice(id);
    bytes
}

/// What answers it.
fn answer(host: &mut Host, at: Instant, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    assert!(host.handle_protected(at, &headers(CLIENT, SERVER), &mut bytes).is_none());
    host.poll_stateless_reply().map(|reply| reply.bytes)
}

#[test]
fn a_packet_of_no_connection_is_answered_with_a_shorter_reset() {
    let mut host = listening(Config { reset_key: Some(KEY), ..Config::default() });
    let lengths = [1200, 44, 43, 30, 29];
    let resets = lengths.map(|length| answer(&mut host, NOW, stray(&[1; 8], length)).expect("a reset"));
    assert_eq!(resets.each_ref().map(Vec::len), [43, 43, 42, 29, 28]);
    let token = |reset: &Vec<u8>| reset[reset.len() - 16..].to_vec();
    assert!(resets.iter().all(|reset| token(reset) == token(&resets[0]) && reset[0] & 0xc0 == 0x40));
    assert_ne!(resets[0][..27], resets[1][..27], "the rest is random");
    let other = answer(&mut host, NOW, stray(&[2; 8], 100)).expect("a reset");
    assert_ne!(token(&other), token(&resets[0]));
    assert_eq!(answer(&mut host, NOW, stray(&[1; 8], 21)), None, "it can be no packet");
    // The same host after a restart, and others with the key, give the same token.
    let mut again = listening(Config { reset_key: Some(KEY), retry_from: Some(0), ..Config::default() });
    assert_eq!(token(&answer(&mut again, NOW, stray(&[1; 8], 100)).expect("a reset")), token(&resets[0]));
    assert_eq!(answer(&mut listening(Config::default()), NOW, stray(&[1; 8], 100)), None, "without a key");
}

#[test]
fn there_are_at_most_a_hundred_resets_in_a_second() {
    let mut host = listening(Config { reset_key: Some(KEY), ..Config::default() });
    let mut count = |at| (0..150).filter(|_| answer(&mut host, at, stray(&[3; 8], 60)).is_some()).count();
    let times = [0, 999, 1000].map(|millis| NOW + Duration::from_millis(millis));
    assert_eq!(times.map(&mut count), [100, 0, 100]);
}

#[test]
fn nobody_gets_the_token_of_a_connection_that_goes_on() {
    let mut host = listening(Config { reset_key: Some(KEY), ..Config::default() });
    let (_, _, mut first) = connecting();
    let (id, _) = host.handle_protected(NOW, &headers(CLIENT, SERVER), &mut first).expect("a connection");
    let (datagram, _) = sent(&mut host, id, NOW).expect("an answer");
    let PacketHeader::Initial { source, .. } = &datagram.packets[0].header else { panic!("{datagram:?}") };
    let own: &ConnectionId = source;
    let own: [u8; 8] = own.as_bytes().try_into().expect("identifiers of ours have 8 bytes");
    let from_stranger = |host: &mut Host| {
        let packet = headers(([10, 0, 0, 99], 1234), SERVER);
        host.handle_protected(NOW, &packet, &mut stray(&own, 100));
        host.poll_stateless_reply().is_some()
    };
    assert!(!from_stranger(&mut host));
    host.remove(id);
    assert!(from_stranger(&mut host), "nobody uses it any more");
}
