//! Whatever chunks reach an established association, it neither panics nor sends without end.
//!
//! The input is a byte of switches and then packets, each a byte for the length of its chunks and then these. Ports, verification tag and CRC32c are right, so
//! that they get past the door.

#![no_main]

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Duration, Instant};
use subflow_transport::sctp::Config;
use subflow_transport::sctp::config::{MessageOptions, Reliability, WindowGrowth};
use subflow_transport::{EndpointId, Host, Listener};
use subflow_wire::{Body, Packet, SctpPacket};

/// More packets than one event can call for.
const MOST_PACKETS: usize = 20_000;

fuzz_target!(|data: &[u8]| {
    let Some((&switches, mut rest)) = data.split_first() else { return };
    let (mut hosts, ids, mut now, template) = established(config(switches));
    while let Some((&length, behind)) = rest.split_first() {
        let (chunks, next) = behind.split_at(usize::from(length).min(behind.len()));
        rest = next;
        if let Some(packet) = packet(&template, chunks) {
            hosts[1].handle_packet(now, &packet);
            drain(&mut hosts[1], now);
        }
        now += Duration::from_millis(50);
        for (host, id) in hosts.iter_mut().zip(ids) {
            if host.poll_timeout(id).is_some_and(|due| due <= now) {
                host.handle_timeout(now, id);
                drain(host, now);
            }
        }
    }
});

/// RFC 9260 or Linux, with or without NR-SACK, CMT, partial reliability and small buffers.
fn config(switches: u8) -> Config {
    let on = |bit: u8| switches >> bit & 1 == 1;
    let base = if on(0) { Config::linux() } else { Config::rfc9260() };
    let base = if on(1) { base.with_cmt(WindowGrowth::PerDestination) } else { base };
    let (receive_buffer, send_buffer) = if on(2) { (3000, Some(4000)) } else { (base.receive_buffer, None) };
    let reliability = if on(3) { Reliability::Retransmissions(0) } else { Reliability::Full };
    let message = MessageOptions { reliability, unordered: on(4), ..MessageOptions::default() };
    let message_size = if on(5) { 5000 } else { base.message_size };
    Config { nr_sack: on(6), receive_buffer, send_buffer, message, message_size, ..base }
}

/// Two hosts with an association, and the last packet of the first one to the second.
fn established(config: Config) -> ([Host; 2], [EndpointId; 2], Instant, Packet) {
    let address = |last: u8| IpAddr::from([10, 0, 0, last]);
    let host = |last: u8| Host::new(vec![address(last)], Pcg64Mcg::seed_from_u64(u64::from(last)));
    let mut hosts = [host(1), host(2)];
    let now = Instant::from_nanos(1_000_000_000);
    let config = Arc::new(config);
    hosts[1].listen(80, Listener::Sctp(config.clone()));
    let (local, remote) = (SocketAddr::new(address(1), 5000), SocketAddr::new(address(2), 80));
    let client = hosts[0].connect_sctp(config, local, remote, now).expect("the port is free");
    hosts[0].endpoint_mut(client).write(20_000);
    let (mut server, mut last) = (None, None);
    for _ in 0..6 {
        for packet in drain(&mut hosts[0], now) {
            hosts[1].handle_packet(now, &packet);
            last = Some(packet);
        }
        server = hosts[1].poll_accept().or(server);
        for packet in drain(&mut hosts[1], now) {
            hosts[0].handle_packet(now, &packet);
        }
    }
    let (server, last) = (server.expect("it was accepted"), last.expect("it has spoken"));
    hosts[1].endpoint_mut(server).write(20_000);
    drain(&mut hosts[1], now);
    (hosts, [client, server], now, last)
}

fn drain(host: &mut Host, now: Instant) -> Vec<Packet> {
    let mut packets = Vec::new();
    for id in host.endpoint_ids() {
        while let Some(packet) = host.poll_transmit(now, id) {
            packets.push(packet);
            assert!(packets.len() < MOST_PACKETS, "it sends without end");
        }
        while host.poll_event(id).is_some() {}
    }
    packets.extend(core::iter::from_fn(|| host.poll_reply()));
    packets
}

/// A packet like `template` with other chunks; `None` where they do not lie within it.
fn packet(template: &Packet, chunks: &[u8]) -> Option<Packet> {
    let Body::Sctp(like) = &template.body else { return None };
    let mut bytes = Vec::new();
    let header = SctpPacket { chunks: Vec::new(), ..like.clone() };
    header.emit(subflow_wire::PayloadBytes::Zero, &mut bytes).ok()?;
    bytes.extend_from_slice(chunks);
    bytes[8..12].fill(0);
    let checksum = crc32c::crc32c(&bytes);
    bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
    Some(Packet { body: Body::Sctp(SctpPacket::parse(&bytes).ok()?), ..template.clone() })
}
