//! Hosts whose random numbers are the operating system's.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use subflow_quantity::{Duration, Instant};
use subflow_transport::{Endpoint, Host, RandomSource};

use super::rig::{CLIENT_ADDRESS, MPTCP, Rig, SERVER_ADDRESS, TCP, segment};
use crate::harness::{CLIENT, Setup};

fn host() -> Host {
    Host::new(vec![CLIENT_ADDRESS], RandomSource::system().expect("this machine has random numbers"))
}

/// The initial sequence number of a connection to the server from `port`, and the port that it gets.
fn opens(host: &mut Host, port: u16, now: Instant) -> (u32, u16) {
    let options = Setup::tcp().stacks[CLIENT].tcp_options();
    let (local, remote) = (SocketAddr::new(CLIENT_ADDRESS, port), SocketAddr::new(SERVER_ADDRESS, TCP));
    let id = host.connect_tcp(&options, local, remote, now).expect("a free port");
    let syn = host.poll_transmit(now, id).expect("a SYN");
    host.endpoint_mut(id).abort();
    (segment(&syn).sequence, segment(&syn).source_port)
}

#[test]
fn two_hosts_that_do_the_same_choose_other_numbers() {
    let (numbers, ports): (BTreeSet<_>, BTreeSet<_>) = (0..8).map(|_| opens(&mut host(), 0, Instant::ZERO)).unzip();
    assert_eq!(numbers.len(), 8);
    assert!(ports.len() > 1, "{ports:?}");
    assert!(ports.iter().all(|&port| port >= 49_152));
}

#[test]
fn numbers_of_the_same_ends_rise_from_one_connection_to_the_next() {
    let mut host = host();
    let (first, _) = opens(&mut host, 7000, Instant::ZERO);
    let (second, _) = opens(&mut host, 7000, Instant::ZERO + Duration::from_secs(1));
    assert_eq!(second.wrapping_sub(first), 250_000, "one every 4 µs");
    let (elsewhere, _) = opens(&mut host, 7001, Instant::ZERO + Duration::from_secs(1));
    assert_ne!(elsewhere, second, "those of other ends say nothing of them");
}

#[test]
fn connections_work_as_with_a_seed() {
    for backlog in [0, 10] {
        let mut rig = Rig::new();
        for server in [false, true] {
            let (host, address) =
                if server { (&mut rig.server, SERVER_ADDRESS) } else { (&mut rig.client, CLIENT_ADDRESS) };
            *host = Host::new(vec![address], RandomSource::system().expect("this machine has random numbers"));
        }
        rig.listen(backlog);
        let connections = [rig.connect(TCP), rig.connect(MPTCP)];
        for id in connections {
            rig.client.endpoint_mut(id).write(20_000);
            for _ in 0..5 {
                rig.pass(Duration::from_secs(1));
            }
        }
        assert_eq!(rig.accepted.len(), 2);
        for &id in &rig.accepted {
            let endpoint = rig.server.endpoint(id);
            assert_eq!(endpoint.bytes_received(), 20_000);
            assert!(!matches!(endpoint, Endpoint::Mptcp(mptcp) if mptcp.has_fallen_back()));
        }
    }
}
