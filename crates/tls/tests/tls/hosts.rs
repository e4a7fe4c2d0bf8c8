//! What hosts do with protected datagrams, and with those that are not.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use rustls::crypto::ring::default_provider;
use rustls::{ClientConfig, RootCertStore};
use subflow_quantity::Instant;
use subflow_tls::Unfit;
use subflow_transport::quic::tls::Tls;
use subflow_transport::quic::{Config, NoKey};
use subflow_transport::{EndpointId, Host};
use subflow_wire::quic::{CloseCause, CloseFrame, ConnectionId, Frame, PacketHeader, QuicPacket};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, Payload, PayloadBytes, QuicDatagram, UdpDatagram};

use crate::support::{CLIENT_INITIAL, client, hex, server};

const NOW: Instant = Instant::ZERO;

fn address(last: u8, port: u16) -> SocketAddr {
    (Ipv4Addr::new(10, 0, 0, last), port).into()
}

fn config(tls: Arc<dyn Tls>) -> Arc<Config> {
    Arc::new(Config { tls: Some(tls), ..Config::default() })
}

fn server_host() -> Host {
    let mut host = Host::new(vec![address(2, 0).ip()], Pcg64Mcg::seed_from_u64(2));
    host.listen(443, config(server()).into());
    host
}

/// The headers of a datagram from the client to the server.
fn headers() -> Packet {
    let (source, destination) = (address(1, 50_000), address(2, 443));
    let ip = IpHeader {
        source: source.ip(),
        destination: destination.ip(),
        hop_limit: 64,
        dscp: Dscp::DEFAULT,
        ecn: Ecn::NotEct,
    };
    let udp = UdpDatagram { source_port: 50_000, destination_port: 443, payload: Payload::default() };
    Packet { ip, body: Body::Udp(udp) }
}

/// A client and its first datagram, not protected yet.
fn opened() -> (Host, EndpointId, QuicDatagram, Vec<u8>) {
    let mut host = Host::new(vec![address(1, 0).ip()], Pcg64Mcg::seed_from_u64(1));
    let id = host.connect_quic(config(client()), address(1, 50_000), address(2, 443), NOW).expect("the port is free");
    let packet = host.poll_transmit(NOW, id).expect("the client's first packet");
    let Body::Quic(datagram) = packet.body else { panic!("{packet:?}") };
    let mut bytes = Vec::new();
    datagram.emit(PayloadBytes::Zero, &mut bytes).expect("it can be written");
    (host, id, datagram, bytes)
}

#[test]
fn the_client_of_the_rfc_is_understood_and_told_that_there_is_no_certificate_for_it() {
    let mut host = server_host();
    let mut bytes = hex(CLIENT_INITIAL);
    let (id, opened) = host.handle_protected(NOW, &headers(), &mut bytes).expect("a connection");
    assert_eq!((host.poll_accept(), opened.datagram.packets.len()), (Some(id), 1));
    let packet = host.poll_transmit(NOW, id).expect("the end of the connection");
    let Body::Quic(datagram) = packet.body else { panic!("{packet:?}") };
    let frames = datagram.packets.iter().flat_map(|packet| &packet.frames);
    let closes = frames.filter(|frame| matches!(frame, Frame::ConnectionClose(_))).count();
    assert_eq!((closes, host.endpoint(id).bytes_received()), (1, 0), "{datagram:?}");
}

#[test]
fn a_first_packet_that_was_changed_or_is_not_protected_opens_nothing() {
    let mut host = server_host();
    for place in [30, 600, 1199] {
        let mut bytes = hex(CLIENT_INITIAL);
        bytes[place] ^= 1;
        assert!(host.handle_protected(NOW, &headers(), &mut bytes).is_none(), "byte {place}");
    }
    let (_, _, _, mut plain) = opened();
    assert!(host.handle_protected(NOW, &headers(), &mut plain).is_none());
    assert!(!host.has_news() && host.endpoint_ids().is_empty());
}

#[test]
fn a_server_with_tls_ignores_the_null_suite_and_one_without_what_is_protected() {
    let (_, _, datagram, _) = opened();
    let mut host = server_host();
    let packet = Packet { body: Body::Quic(datagram), ..headers() };
    if let Some(id) = host.handle_packet(NOW, &packet) {
        assert!(host.poll_transmit(NOW, id).is_none(), "nothing answers what is not protected");
    }
    let mut plain = Host::new(vec![address(2, 0).ip()], Pcg64Mcg::seed_from_u64(2));
    plain.listen(443, Arc::new(Config::default()).into());
    assert!(plain.handle_protected(NOW, &headers(), &mut hex(CLIENT_INITIAL)).is_none());
}

#[test]
fn a_client_of_another_version_is_told_which_there_is() {
    let mut host = server_host();
    let mut bytes = hex(CLIENT_INITIAL);
    bytes[1..5].copy_from_slice(&[0x6b, 0x33, 0x43, 0xcf]);
    assert!(host.handle_protected(NOW, &headers(), &mut bytes).is_none());
    let Some(Packet { body: Body::Quic(answer), .. }) = host.poll_reply() else { panic!("an answer") };
    let PacketHeader::VersionNegotiation { versions, source, .. } = &answer.packets[0].header else {
        panic!("{answer:?}")
    };
    assert_eq!((&versions[..], source.as_bytes()), (&[1][..], &hex("8394c8f03e515708")[..]));
    assert!(host.handle_protected(NOW, &headers(), &mut bytes[..1199]).is_none());
    assert!(host.poll_reply().is_none(), "a short datagram is not answered");
}

#[test]
fn a_packet_is_protected_once_and_not_by_a_copy_of_the_connection() {
    let (mut host, id, datagram, bytes) = opened();
    let mut copy = host.clone();
    let protect = |host: &mut Host| {
        let mut bytes = bytes.clone();
        let connection = host.endpoint_mut(id).as_quic_mut().expect("it is QUIC");
        connection.protect(&datagram, &mut bytes).map(|()| bytes)
    };
    let protected = protect(&mut host).expect("the first time");
    assert_eq!((protected.len(), protected == bytes), (bytes.len(), false));
    assert_eq!(protect(&mut host), Err(NoKey), "one number, one packet");
    assert_eq!(protect(&mut copy), Err(NoKey));
    let (_, opened) = server_host().handle_protected(NOW, &headers(), &mut protected.clone()).expect("a connection");
    assert_eq!(opened.datagram.packets, datagram.packets);
}

/// The headers of a datagram from the server to the client.
fn headers_back() -> Packet {
    let Packet { ip, .. } = headers();
    let ip = IpHeader { source: ip.destination, destination: ip.source, ..ip };
    let udp = UdpDatagram { source_port: 443, destination_port: 50_000, payload: Payload::default() };
    Packet { ip, body: Body::Udp(udp) }
}

#[test]
fn what_is_not_protected_ends_no_connection_whatever_its_version() {
    let (mut host, id, datagram, _) = opened();
    let PacketHeader::Initial { source: of_client, number, .. } = &datagram.packets[0].header else {
        panic!("{datagram:?}")
    };
    let cause = CloseCause::Transport { error_code: 2, frame_type: 0 };
    let close = Frame::ConnectionClose(Box::new(CloseFrame { cause, reason: Box::default() }));
    for version in [1, 2] {
        let (destination, source, token) = (*of_client, ConnectionId::EMPTY, Box::default());
        let header = PacketHeader::Initial { version, destination, source, token, number: *number };
        let packets = vec![QuicPacket { header, frames: vec![close.clone()] }];
        let forged = QuicDatagram { source_port: 443, destination_port: 50_000, packets };
        let mut bytes = Vec::new();
        forged.emit(PayloadBytes::Zero, &mut bytes).expect("it can be written");
        let (_, opened) = host.handle_protected(NOW, &headers_back(), &mut bytes).expect("its ends are known");
        assert!(opened.datagram.packets.is_empty() && !host.endpoint(id).is_closed(), "version {version}");
    }
}

#[test]
fn bytes_at_random_are_no_datagrams() {
    let (mut host, id, ..) = opened();
    let packet = headers_back();
    let mut state = 1_u64;
    for length in (0..2000).map(|n| n % 100) {
        let mut bytes: Vec<u8> = (0..length)
            .map(|_| {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        let (taken_by, opened) = host.handle_protected(NOW, &packet, &mut bytes).expect("its ends are known");
        let is_opened = opened.datagram.packets.iter().any(|packet| packet.header.number().is_some());
        assert!(taken_by == id && !is_opened, "{opened:?}");
    }
    assert!(!host.endpoint(id).is_closed());
}

#[test]
fn configurations_that_do_not_fit_say_what_is_missing() {
    let with = |protocols: Vec<Vec<u8>>, name: &str| {
        let builder = ClientConfig::builder_with_provider(default_provider().into());
        let builder = builder.with_safe_default_protocol_versions().expect("those of the provider");
        let mut config = builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth();
        config.alpn_protocols = protocols;
        subflow_tls::client(config, name)
    };
    let h3 = || vec![b"h3".to_vec()];
    assert!(matches!(with(Vec::new(), "server.example"), Err(Unfit::NoApplicationProtocol)));
    assert!(matches!(with(h3(), "no name"), Err(Unfit::ServerName { .. })));
    assert!(with(h3(), "10.0.0.2").is_ok());
    let mut provider = default_provider();
    provider.cipher_suites.retain(|suite| format!("{:?}", suite.suite()).contains("CHACHA20"));
    let builder = ClientConfig::builder_with_provider(provider.into()).with_safe_default_protocol_versions();
    let builder = builder.expect("those of the provider").with_root_certificates(RootCertStore::empty());
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = h3();
    let error = subflow_tls::client(config, "server.example").expect_err("Initial packets need AES");
    assert!(error.to_string().contains("TLS13_AES_128_GCM_SHA256"), "{error}");
}
