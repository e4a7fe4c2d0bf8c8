//! Segments of no connection: what LISTEN and CLOSED do with them (RFC 9293, sections 3.10.7.1 and 3.10.7.2).

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;
use subflow_transport::{Endpoint, Host, Listener, sctp};
use subflow_wire::tcp::TcpFlags;
use subflow_wire::{Packet, TcpSegment};

use super::rig::{CLIENT_ADDRESS, MPTCP, Rig, SERVER_ADDRESS, TCP, packet, segment, stranger, syn, transmitted};

/// What the server answers to a segment with `flags` to `port`.
fn answer(port: u16, flags: TcpFlags) -> Vec<Packet> {
    let segment = TcpSegment {
        source_port: 5000,
        destination_port: port,
        sequence: 1000,
        acknowledgment: 2000,
        flags,
        ..TcpSegment::default()
    };
    Rig::new().deliver(&packet(stranger(1), segment))
}

#[test]
fn a_listening_port_drops_what_is_neither_syn_nor_ack() {
    for port in [TCP, MPTCP] {
        for flags in [TcpFlags(0), TcpFlags::FIN, TcpFlags::PSH, TcpFlags::FIN | TcpFlags::PSH] {
            assert_eq!(answer(port, flags), [], "{flags:?} to port {port}");
        }
    }
}

#[test]
fn a_port_that_nobody_listens_on_answers_it_with_a_reset() {
    for flags in [TcpFlags(0), TcpFlags::FIN, TcpFlags::SYN] {
        let answers = answer(9, flags);
        let reset = segment(&answers[0]);
        let length = u32::from(flags != TcpFlags(0));
        assert_eq!((reset.flags, reset.acknowledgment), (TcpFlags::RST | TcpFlags::ACK, 1000 + length), "{flags:?}");
    }
}

#[test]
fn an_acknowledgment_of_nothing_is_answered_with_a_reset_and_a_reset_with_nothing() {
    for port in [TCP, MPTCP, 9] {
        for flags in [TcpFlags::ACK, TcpFlags::ACK | TcpFlags::FIN, TcpFlags::ACK | TcpFlags::SYN] {
            let answers = answer(port, flags);
            let reset = segment(&answers[0]);
            assert_eq!((reset.flags, reset.sequence), (TcpFlags::RST, 2000), "{flags:?} to port {port}");
            assert_eq!(answer(port, flags | TcpFlags::RST), [], "a reset to port {port}");
        }
    }
}

#[test]
fn nobody_opens_a_connection_from_an_address_of_many() {
    for source in [Ipv4Addr::UNSPECIFIED, Ipv4Addr::BROADCAST, Ipv4Addr::new(224, 0, 0, 1)] {
        for port in [TCP, 9] {
            let mut rig = Rig::new();
            let mut packet = syn(1, port);
            packet.ip.source = source.into();
            assert_eq!(rig.deliver(&packet), [], "a SYN from {source} to port {port}");
            assert_eq!(rig.server.endpoint_ids(), []);
        }
    }
}

#[test]
fn a_port_of_sctp_is_another_than_that_of_tcp() {
    let mut rig = Rig::new();
    rig.server.listen(TCP, Listener::Sctp(Arc::new(sctp::Config::rfc9260())));
    rig.connect(TCP);
    rig.talk();
    assert!(matches!(rig.server.endpoint(rig.accepted[0]), Endpoint::Tcp(_)));
    let config = Arc::new(sctp::Config::rfc9260());
    let (local, remote) = (SocketAddr::new(CLIENT_ADDRESS, 0), SocketAddr::new(SERVER_ADDRESS, TCP));
    rig.client.connect_sctp(config, local, remote, rig.now).expect("a free port");
    rig.talk();
    assert!(matches!(rig.server.endpoint(rig.accepted[1]), Endpoint::Sctp(_)));
}

#[test]
fn an_association_cannot_claim_an_address_that_another_has() {
    let config = Arc::new(sctp::Config::rfc9260());
    let other: IpAddr = [10, 0, 0, 3].into();
    let host = |addresses: &[IpAddr], seed| Host::new(addresses.to_vec(), Pcg64Mcg::seed_from_u64(seed));
    let mut server = host(&[SERVER_ADDRESS], 1);
    server.listen(80, Listener::Sctp(config.clone()));
    let now = Instant::from_nanos(1_000_000_000);
    let mut associate = |address: IpAddr, addresses: &[IpAddr], seed| {
        let mut host = host(addresses, seed);
        let local = SocketAddr::new(address, 5000);
        let id =
            host.connect_sctp(config.clone(), local, SocketAddr::new(SERVER_ADDRESS, 80), now).expect("a free port");
        for _ in 0..4 {
            for packet in transmitted(&mut host, id, now) {
                let taken_by = server.handle_packet(now, &packet);
                let mut answers: Vec<_> = core::iter::from_fn(|| server.poll_reply()).collect();
                answers.extend(taken_by.into_iter().flat_map(|id| transmitted(&mut server, id, now)));
                for answer in answers.iter().filter(|answer| answer.ip.destination == address) {
                    host.handle_packet(now, answer);
                }
            }
        }
        (host, id, server.poll_accept().expect("an association"))
    };
    let (mut client, at_client, theirs) = associate(CLIENT_ADDRESS, &[CLIENT_ADDRESS], 2);
    let (_, _, claimant) = associate(other, &[other, CLIENT_ADDRESS], 3);
    let Endpoint::Sctp(association) = server.endpoint(claimant) else { panic!("no association") };
    assert!(association.destinations().len() == 2, "it claims the client's address");
    client.endpoint_mut(at_client).write(1000);
    for packet in transmitted(&mut client, at_client, now) {
        assert_eq!(server.handle_packet(now, &packet), Some(theirs));
    }
    assert_eq!(server.endpoint(theirs).bytes_received(), 1000);
}
