//! The handshake, when packets of it are lost, and what a server sends before it knows the client's address.

use std::net::SocketAddr;
use std::sync::Arc;

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};
use subflow_transport::quic::{Config, HandshakeLengths};
use subflow_transport::tcp::Closed;
use subflow_transport::{Event, Host, Limits};
use subflow_wire::quic::{Frame, PacketHeader, QuicDatagram};

use super::configs;
use super::wire::{CLIENT, Leaving, SERVER, Wire, ms};

fn is_initial(datagram: &QuicDatagram) -> bool {
    datagram.packets.iter().any(|packet| matches!(packet.header, PacketHeader::Initial { .. }))
}

/// Loses the datagrams with these numbers from a side.
fn losing(from: usize, numbers: &'static [usize]) -> impl FnMut(&mut Leaving<'_>) -> Vec<Duration> {
    move |leaving| if leaving.from == from && numbers.contains(&leaving.number) { Vec::new() } else { vec![ms(20)] }
}

#[test]
fn datagrams_with_initial_packets_have_at_least_1200_bytes() {
    let mut wire = Wire::new(configs(), 1, Wire::lossy(0, 0));
    wire.run(ms(500));
    let mut initial = wire.log.iter().filter(|(.., datagram)| is_initial(datagram));
    assert!(initial.all(|(.., datagram)| datagram.length() >= 1200));
}

#[test]
fn a_server_sends_three_times_what_it_has_received_and_no_more_to_an_unproven_address() {
    let [client, server] = configs();
    let handshake = HandshakeLengths { certificate: 9000, ..HandshakeLengths::default() };
    let server = Config { handshake, ..server };
    // The client's second datagram would prove its address.
    let mut wire = Wire::new([client, server], 2, losing(CLIENT, &[1, 2, 3, 4, 5]));
    wire.run(ms(200));
    let sent = |side: usize| -> u32 {
        wire.log.iter().filter(|(_, from, _)| *from == side).map(|(.., datagram)| datagram.length()).sum()
    };
    assert_eq!(sent(SERVER), 3600);
    wire.run(Duration::from_secs(20));
    assert!(wire.events.contains(&(SERVER, Event::Established)), "probes of the client go on: {:?}", wire.events);
}

#[test]
fn the_loss_of_any_of_the_first_datagrams_delays_the_handshake_and_no_more() {
    for lost in 0..4 {
        for from in [CLIENT, SERVER] {
            let link = move |leaving: &mut Leaving<'_>| {
                if leaving.from == from && leaving.number == lost { Vec::new() } else { vec![ms(20)] }
            };
            let mut wire = Wire::new(configs(), 3, link);
            wire.run(Duration::from_secs(5));
            for side in [CLIENT, SERVER] {
                let event = (side, Event::Established);
                assert!(wire.events.contains(&event), "datagram {lost} of side {from}: {:?}", wire.events);
            }
        }
    }
}

#[test]
fn the_client_repeats_its_first_packet_after_a_second_and_doubles_the_time() {
    let mut wire = Wire::new(configs(), 4, |_| Vec::new());
    wire.run(Duration::from_secs(10));
    let times: Vec<u64> = wire.log.iter().map(|(at, ..)| at.as_nanos() / 1_000_000 - 1000).collect();
    // 333 ms plus four times half of that; a probe timeout sends two packets where data is in flight.
    assert_eq!(times, [0, 999, 999, 2997, 2997, 6993, 6993]);
}

#[test]
fn a_server_that_never_answers_ends_the_attempt() {
    let mut wire = Wire::new(configs(), 5, |_| Vec::new());
    wire.run(Duration::from_secs(120));
    assert_eq!(wire.endpoint(CLIENT).ended(), Some(Closed::TimedOut));
}

#[test]
fn another_version_is_answered_with_the_own_one_and_ends_a_client_that_lacks_it() {
    let link = |leaving: &mut Leaving<'_>| {
        for packet in &mut leaving.datagram.packets {
            match &mut packet.header {
                PacketHeader::Initial { version, .. } => *version = 0x0a1a_2a3a,
                PacketHeader::VersionNegotiation { versions, .. } => *versions = vec![0x0b1b_2b3b],
                _ => {}
            }
        }
        vec![ms(20)]
    };
    let mut wire = Wire::new(configs(), 6, link);
    wire.run(ms(100));
    assert!(!wire.has_connection(SERVER));
    assert_eq!(wire.endpoint(CLIENT).ended(), Some(Closed::Refused));
}

#[test]
fn a_datagram_that_is_too_short_opens_nothing() {
    let link = |leaving: &mut Leaving<'_>| {
        for packet in &mut leaving.datagram.packets {
            packet.frames.retain(|frame| !matches!(frame, Frame::Padding(_)));
        }
        vec![ms(20)]
    };
    let mut wire = Wire::new(configs(), 7, link);
    wire.run(ms(500));
    assert!(!wire.has_connection(SERVER));
}

#[test]
fn a_client_confirms_the_handshake_when_the_server_says_so() {
    let mut wire = Wire::new(configs(), 8, losing(SERVER, &[4, 5]));
    wire.with(CLIENT, |endpoint| endpoint.write(1));
    wire.run(Duration::from_secs(3));
    let done = wire.frames_of(SERVER).filter(|frame| matches!(frame, Frame::HandshakeDone)).count();
    assert!(done >= 1);
    let of_client: Vec<_> = wire.log.iter().filter(|(_, from, _)| *from == CLIENT).collect();
    let (.., last) = of_client.last().expect("it has sent something");
    assert!(matches!(last.packets[..], [ref packet] if matches!(packet.header, PacketHeader::OneRtt { .. })));
}

#[test]
fn spoofed_initial_packets_create_no_more_connections_than_the_backlog_allows() {
    let now = Instant::ZERO;
    let host = |last: u8| Host::new(vec![[10, 0, 0, last].into()], Pcg64Mcg::seed_from_u64(last.into()));
    let mut server = host(1);
    server.set_limits(Limits { backlog: 3, ..Limits::default() });
    server.listen(443, Arc::new(Config::default()).into());
    let mut clients: Vec<Host> = (2..10).map(host).collect();
    let mut first_packets = clients.iter_mut().map(|client| {
        let ends = [(client.addresses()[0], 0), (server.addresses()[0], 443)].map(SocketAddr::from);
        let id = client.connect_quic(Arc::new(Config::default()), ends[0], ends[1], now).expect("the port is free");
        client.poll_transmit(now, id).expect("a client begins")
    });
    let first_packets: Vec<_> = first_packets.by_ref().collect();
    for packet in &first_packets {
        server.handle_packet(now, packet);
        server.poll_accept();
    }
    assert_eq!((server.endpoint_ids().len(), server.half_open_connections(443)), (3, 3));
    // A client that answers has proved its address, which makes room for another.
    let (of_server, of_client) = (server.endpoint_ids()[0], clients[0].endpoint_ids()[0]);
    for _ in 0..3 {
        while let Some(packet) = server.poll_transmit(now, of_server) {
            clients[0].handle_packet(now, &packet);
        }
        while let Some(packet) = clients[0].poll_transmit(now, of_client) {
            server.handle_packet(now, &packet);
        }
    }
    assert_eq!(server.half_open_connections(443), 2);
    server.handle_packet(now, &first_packets[7]);
    assert_eq!((server.endpoint_ids().len(), server.half_open_connections(443)), (4, 3));
}
