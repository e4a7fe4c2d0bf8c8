//! Two MPTCP hosts and no network: `cargo run -p subflow --example two_hosts`.
//!
//! Endpoints know numbers of bytes and never the bytes. Here the loop that carries packets also carries bytes: it puts
//! them into packets that leave (`Payload::stream_offset`), and takes them out where a host says that it accepted them
//! (`Endpoint::taken`). So would a program with real interfaces; `subflow-tokio` is one.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use subflow::policy::congestion::Algorithm;
use subflow::policy::path_manager::PathManagement;
use subflow::policy::scheduler::Scheduling;
use subflow::quantity::{Duration, Instant};
use subflow::transport::{Endpoint, EndpointId, Host, Listener, mptcp};
use subflow::wire::{Body, Packet};

/// One way, on both paths.
const DELAY: Duration = Duration::from_millis(10);

/// A packet on its way, with the bytes in it.
struct InFlight {
    arrives_at: Instant,
    packet: Packet,
    bytes: Vec<u8>,
}

fn address(host: u8, path: u8) -> IpAddr {
    Ipv4Addr::new(10, path, 0, host).into()
}

fn host(number: u8) -> Host {
    let addresses = (1..=2).map(|path| address(number, path)).collect();
    Host::new(addresses, Pcg64Mcg::seed_from_u64(number.into()))
}

/// Moves `file` from one host to the other. Returns what arrived, when, and how many subflows carried it.
fn transfer(file: &[u8]) -> (Vec<u8>, Instant, usize) {
    let config = Arc::new(mptcp::Config::new(
        Algorithm::from_name("lia").expect("a congestion control"),
        Scheduling::from_name("ll").expect("a scheduler"),
        PathManagement::from_name("full-mesh").expect("a path manager"),
    ));
    let (mut client, mut server) = (host(1), host(2));
    server.listen(80, Listener::Mptcp(config.clone()));
    let ends = [SocketAddr::new(address(1, 1), 0), SocketAddr::new(address(2, 1), 80)];
    let id = client.connect_mptcp(config, ends[0], ends[1], Instant::ZERO).expect("the port is free");
    client.endpoint_mut(id).write(file.len() as u64);
    client.endpoint_mut(id).finish();

    let (mut received, mut accepted) = (vec![0; file.len()], None);
    let mut in_flight: VecDeque<InFlight> = VecDeque::new();
    let mut now = Instant::ZERO;
    loop {
        for (host, id) in [(&mut client, Some(id)), (&mut server, accepted)] {
            in_flight.extend(departures(host, id, now, file));
        }
        let due = |host: &Host, id: Option<EndpointId>| id.and_then(|id| host.poll_timeout(id));
        let timers = [due(&client, Some(id)), due(&server, accepted)];
        let arrival = in_flight.front().map(|packet| packet.arrives_at);
        now = arrival.into_iter().chain(timers.into_iter().flatten()).min().expect("somebody waits for something");
        if arrival == Some(now) {
            let InFlight { packet, bytes, .. } = in_flight.pop_front().expect("it is there");
            let is_for_server = server.addresses().contains(&packet.ip.destination);
            let host = if is_for_server { &mut server } else { &mut client };
            let taken_by = host.handle_packet(now, &packet);
            accepted = accepted.or(server.poll_accept());
            if let Some(taken) = taken_by.filter(|_| is_for_server).and_then(|id| server.endpoint(id).taken()) {
                let from = taken.payload_offset as usize;
                let stream = taken.stream.start as usize..taken.stream.end as usize;
                received[stream.clone()].copy_from_slice(&bytes[from..from + stream.len()]);
            }
        } else {
            client.handle_timeout(now, id);
            accepted.into_iter().for_each(|id| server.handle_timeout(now, id));
        }
        let arrived = accepted.map_or(0, |id| server.endpoint(id).bytes_received());
        if arrived == file.len() as u64 {
            return (received, now, subflows(&server, accepted.expect("it was accepted")));
        }
    }
}

/// The packets that a host sends now, with the bytes of `file` that they carry.
fn departures(host: &mut Host, id: Option<EndpointId>, now: Instant, file: &[u8]) -> Vec<InFlight> {
    let replies: Vec<Packet> = std::iter::from_fn(|| host.poll_reply()).collect();
    let sent = id.into_iter().flat_map(|id| std::iter::from_fn(|| host.poll_transmit(now, id)).collect::<Vec<_>>());
    let bytes = |packet: &Packet| match &packet.body {
        Body::Tcp(segment) => {
            let first = segment.payload.stream_offset as usize;
            file[first..first + segment.payload.length as usize].to_vec()
        }
        _ => Vec::new(),
    };
    let all = replies.into_iter().chain(sent);
    all.map(|packet| InFlight { arrives_at: now + DELAY, bytes: bytes(&packet), packet }).collect()
}

fn subflows(host: &Host, id: EndpointId) -> usize {
    match host.endpoint(id) {
        Endpoint::Mptcp(connection) => connection.subflows().len(),
        _ => 1,
    }
}

fn main() {
    let file: Vec<u8> = (0..1_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let (received, at, subflows) = transfer(&file);
    assert!(received == file, "every byte is where it was");
    println!("{} bytes arrived over {subflows} subflows after {:.3} s", received.len(), at.as_secs_f64());
}

#[test]
fn a_file_arrives_byte_by_byte_over_several_subflows() {
    let file: Vec<u8> = (0..100_000_u32).map(|n| ((n * 31) >> 3) as u8).collect();
    let (received, _, subflows) = transfer(&file);
    assert!(received == file && subflows > 1, "{subflows}");
}
