//! Connections that outlive every 32-bit number of theirs: sequence numbers, data sequence numbers and timestamps.

use std::net::SocketAddr;

use subflow_quantity::Instant;
use subflow_transport::mptcp::DataAcks;
use subflow_transport::{Endpoint, EndpointId, Listener};

use super::rig::{CLIENT_ADDRESS, Rig, SERVER_ADDRESS};
use crate::harness::{CLIENT, SERVER, Setup, secs};

const PORT: u16 = 90;
/// 5 GB in pieces of a megabyte, one every 860 s: together they take longer than 2³² ms.
const PIECES: u64 = 5000;
const PIECE: u64 = 1_000_000;
const PAUSE_S: u64 = 860;

/// A connection of `setup`, its ends at the client and at the server.
fn opened(setup: &Setup) -> (Rig, [EndpointId; 2]) {
    let mut rig = Rig::new();
    rig.server.listen(PORT, setup.stacks[SERVER].listener());
    let (local, remote) = (SocketAddr::new(CLIENT_ADDRESS, 0), SocketAddr::new(SERVER_ADDRESS, PORT));
    let id = match setup.stacks[CLIENT].listener() {
        Listener::Tcp(options) => rig.client.connect_tcp(&options, local, remote, rig.now),
        Listener::Mptcp(config) => rig.client.connect_mptcp(config, local, remote, rig.now),
        Listener::Sctp(_) | Listener::Quic(_) => unreachable!("TCP and MPTCP alone"),
    };
    rig.talk();
    let ends = [id.expect("a free port"), rig.accepted[0]];
    (rig, ends)
}

/// Passes packets and fires timers, each in its time, until the next piece is written.
fn rest(rig: &mut Rig) {
    let end = rig.now + secs(PAUSE_S);
    loop {
        rig.talk();
        let due = [&rig.client, &rig.server].map(|host| {
            let timers = host.endpoint_ids().into_iter().filter_map(|id| host.poll_timeout(id));
            timers.min().unwrap_or(Instant::MAX)
        });
        rig.now = due[0].min(due[1]).min(end);
        if rig.now == end {
            return;
        }
        for host in [&mut rig.client, &mut rig.server] {
            for id in host.endpoint_ids() {
                if host.poll_timeout(id).is_some_and(|at| at <= rig.now) {
                    host.handle_timeout(rig.now, id);
                }
            }
        }
    }
}

/// Passes 5 GB to the server in 50 days, and an answer for each piece. Nothing is lost, so nothing may be sent twice.
fn lives_long(setup: &Setup) {
    let setup = setup.clone().both(|stack| {
        // Few, large segments keep the test short. The window is a few of them.
        stack.tcp.mtu = 60_000;
        stack.receive_buffer(200_000);
    });
    let (mut rig, [client, server]) = opened(&setup);
    let start = rig.now;
    for piece in 1..=PIECES {
        rig.client.endpoint_mut(client).write(PIECE);
        rig.server.endpoint_mut(server).write(100);
        rest(&mut rig);
        assert_eq!(rig.server.endpoint(server).bytes_received(), piece * PIECE, "at {:?}", rig.now);
        assert_eq!(rig.client.endpoint(client).bytes_received(), piece * 100, "at {:?}", rig.now);
    }
    assert!(rig.now.since(start).as_nanos() / 1_000_000 > 1 << 32 && PIECES * PIECE > 1 << 32);
    for endpoint in [rig.client.endpoint(client), rig.server.endpoint(server)] {
        let counters = match endpoint {
            Endpoint::Tcp(tcp) => tcp.connection().counters(),
            Endpoint::Mptcp(mptcp) => mptcp.subflows()[0].connection().counters(),
            _ => unreachable!("TCP and MPTCP alone"),
        };
        assert_eq!((counters.retransmissions, counters.timeouts), (0, 0));
    }
}

#[test]
fn sequence_numbers_and_timestamps_wrap_in_one_tcp_connection_and_nothing_is_sent_twice() {
    lives_long(&Setup::tcp());
}

#[test]
fn data_sequence_numbers_and_short_data_acks_wrap_in_one_mptcp_connection_and_nothing_is_sent_twice() {
    lives_long(&Setup::mptcp(1, 1).both(|stack| stack.multipath().data_acks = DataAcks::Short));
}
