//! Hops per CPU second without a transport: queues, events, and senders that keep a window in flight.
//!
//! `cargo bench -p subflow-network --bench bare_hop [-- dumbbell|pairs|chain|fat-tree]`; README.md has the figures.

use std::net::IpAddr;

use subflow_network::{
    HostId, Hosts, InterfaceId, LinkConfig, LinkId, Network, PacketId, QueueConfig, RouterMode, TopologyBuilder,
};
use subflow_quantity::{Duration, Instant, Rate};
use subflow_wire::{Body, Ecn, IpHeader, Packet, Payload, UdpDatagram};

const DATA: u16 = 1000;
const ACK: u16 = 2000;

/// Every sender keeps its window in flight; the receiver answers every packet.
struct Windows {
    addresses: Vec<IpAddr>,
}

impl Hosts for Windows {
    fn handle_packet(&mut self, network: &mut Network, host: HostId, interface: InterfaceId, packet: PacketId) {
        let header = network.packet(packet);
        let (peer, port) = (header.ip.source, destination_port(header));
        network.release(packet);
        let answer = if port == DATA { ACK } else { DATA };
        self.send(network, host, interface, peer, answer);
    }

    fn handle_timer(&mut self, _: &mut Network, _: subflow_network::TimerId) {}
}

fn destination_port(packet: &Packet) -> u16 {
    match &packet.body {
        Body::Udp(datagram) => datagram.destination_port,
        Body::Tcp(segment) => segment.destination_port,
        Body::Sctp(packet) => packet.destination_port,
    }
}

impl Windows {
    /// Sends 1500 bytes of data, or an acknowledgment of 52.
    fn send(&self, network: &mut Network, host: HostId, interface: InterfaceId, destination: IpAddr, port: u16) {
        let id = network.reserve();
        let packet = network.packet_mut(id);
        let source = self.addresses[interface.index()];
        packet.ip = IpHeader { source, destination, hop_limit: 64, ecn: Ecn::NotEct };
        let length = if port == DATA { 1472 } else { 24 };
        packet.body = Body::Udp(UdpDatagram {
            source_port: 1,
            destination_port: port,
            payload: Payload { stream_offset: 0, length, sum: 0 },
        });
        network.transmit_reserved(host, interface, id);
    }
}

/// A network, and who sends how many packets to whom.
struct Load {
    topology: TopologyBuilder,
    flows: Vec<(InterfaceId, InterfaceId, u32)>,
    duration: Duration,
}

/// `pairs` senders and receivers around a link of 100 Mbit/s, as scenario D; with one pair, its 6 links are all.
fn dumbbell(pairs: usize) -> Load {
    let mut topology = TopologyBuilder::new();
    let link = |milliseconds, queue| {
        LinkConfig::new(Rate::from_mbit(100), Duration::from_millis(milliseconds))
            .with_queue(QueueConfig::packets(queue))
    };
    let (left, right) =
        (topology.router("l", RouterMode::ShortestPath), topology.router("r", RouterMode::ShortestPath));
    topology.link("bottleneck", left, right, link(8, 100), link(8, 100));
    let mut flows = Vec::new();
    for pair in 0..pairs {
        let mut end = |name: &str, router| {
            let host = topology.host(&format!("{name}{pair}"));
            let interface = topology.interface(host, "eth");
            topology.link(&format!("{name}{pair}"), interface, router, link(1, 1000), link(1, 1000));
            (host, interface)
        };
        let (sender, from) = end("sender", left);
        let (receiver, to) = end("receiver", right);
        topology.conversation(sender, receiver);
        flows.push((from, to, (200 / pairs) as u32));
    }
    Load { topology, flows, duration: Duration::from_secs(600) }
}

/// One flow over `links` links one after the other: what a hop costs without the hosts' part.
fn chain(links: usize) -> Load {
    let mut topology = TopologyBuilder::new();
    let link =
        || LinkConfig::new(Rate::from_mbit(100), Duration::from_millis(1)).with_queue(QueueConfig::packets(1000));
    let (sender, receiver) = (topology.host("sender"), topology.host("receiver"));
    let (from, to) = (topology.interface(sender, "eth"), topology.interface(receiver, "eth"));
    let mut last = topology.router("r1", RouterMode::ShortestPath);
    topology.link("l0", from, last, link(), link());
    for n in 1..links - 1 {
        let next = topology.router(&format!("r{}", n + 1), RouterMode::ShortestPath);
        topology.link(&format!("l{n}"), last, next, link(), link());
        last = next;
    }
    topology.link("last", last, to, link(), link());
    Load { topology, flows: vec![(from, to, 30 * links as u32)], duration: Duration::from_secs(60) }
}

/// A `k`-ary fat tree of 1 Gbit/s and 10 µs; each host sends to one other, each destination has its own random core
/// switch.
fn fat_tree(k: usize) -> Load {
    let half = k / 2;
    let mut topology = TopologyBuilder::new();
    let config =
        LinkConfig::new(Rate::from_mbit(1000), Duration::from_micros(10)).with_queue(QueueConfig::packets(1000));
    let cores: Vec<_> =
        (0..half * half).map(|core| topology.router(&format!("core{core}"), RouterMode::ShortestPath)).collect();
    let mut random = 1u64;
    let mut next_random = |n: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % n
    };
    let mut interfaces = Vec::new();
    // Links upwards: from each edge switch to the aggregation switches of its pod, from each of these to its cores.
    let mut edge_up: Vec<(usize, subflow_network::RouterId, Vec<LinkId>)> = Vec::new();
    let mut aggregation_up: Vec<(usize, subflow_network::RouterId, Vec<LinkId>)> = Vec::new();
    let mut core_down: Vec<Vec<LinkId>> = vec![Vec::new(); cores.len()];
    for pod in 0..k {
        let aggregations: Vec<_> = (0..half)
            .map(|a| {
                let router = topology.router(&format!("aggregation{pod}.{a}"), RouterMode::ShortestPath);
                let up: Vec<LinkId> = (0..half)
                    .map(|c| {
                        let core = a * half + c;
                        let link = topology.link(
                            &format!("core{core}-{pod}"),
                            router,
                            cores[core],
                            config.clone(),
                            config.clone(),
                        );
                        core_down[core].push(link.backward);
                        link.forward
                    })
                    .collect();
                aggregation_up.push((pod, router, up));
                router
            })
            .collect();
        for e in 0..half {
            let router = topology.router(&format!("edge{pod}.{e}"), RouterMode::ShortestPath);
            let up = aggregations
                .iter()
                .enumerate()
                .map(|(a, &aggregation)| {
                    let name = format!("pod{pod}-{e}-{a}");
                    topology.link(&name, router, aggregation, config.clone(), config.clone()).forward
                })
                .collect();
            edge_up.push((pod, router, up));
            for h in 0..half {
                let host = topology.host(&format!("host{pod}.{e}.{h}"));
                let interface = topology.interface(host, "eth");
                topology.link(&format!("host{pod}.{e}.{h}"), interface, router, config.clone(), config.clone());
                interfaces.push((pod, interface));
            }
        }
    }
    for &(pod, interface) in &interfaces {
        let core = next_random(cores.len());
        for (other, router, up) in &edge_up {
            if *other != pod {
                topology.route(*router, interface, up[core / half]);
            }
        }
        for (other, router, up) in &aggregation_up {
            if *other != pod {
                topology.route(*router, interface, up[core % half]);
            }
        }
    }
    let hosts = interfaces.len();
    let flows = (0..hosts).map(|from| (interfaces[from].1, interfaces[(from + hosts / 2 + 3) % hosts].1, 64)).collect();
    Load { topology, flows, duration: Duration::from_millis(500) }
}

/// Runs `load`; prints hops per CPU second.
fn measure(name: &str, load: Load, fuse: bool) {
    let Load { mut topology, flows, duration } = load;
    topology.fuse_hops(fuse);
    let mut network = topology.build(1).expect("a valid topology");
    let mut hosts = Windows { addresses: Vec::new() };
    let last = flows.iter().map(|flow| flow.0.index().max(flow.1.index())).max().unwrap_or(0);
    for index in 0..=last {
        hosts.addresses.push(network.addresses(InterfaceId::from_index(index))[0]);
    }
    for (from, to, window) in flows {
        for _ in 0..window {
            let host = network.host_of(from);
            hosts.send(&mut network, host, from, hosts.addresses[to.index()], DATA);
        }
    }
    let before = cpu_seconds();
    network.run_until(&mut hosts, Instant::ZERO + duration);
    let seconds = cpu_seconds() - before;
    let metrics = network.metrics();
    println!(
        "{name:10} fused={fuse:5} {:9} hops {:9} events {seconds:6.3} CPU s {:6.1} M hops/s, {} dropped",
        metrics.packet_hops,
        metrics.events,
        metrics.packet_hops as f64 / seconds / 1e6,
        metrics.dropped,
    );
}

/// CPU time of this process, from Linux's scheduler statistics.
fn cpu_seconds() -> f64 {
    let statistics = std::fs::read_to_string("/proc/self/schedstat").expect("Linux");
    statistics.split(' ').next().and_then(|nanos| nanos.parse::<f64>().ok()).expect("nanoseconds") / 1e9
}

fn main() {
    type MakeLoad = fn() -> Load;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` runs it, too, without this argument; there is nothing to test.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let wanted: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let loads: [(&str, MakeLoad); 4] = [
        ("dumbbell", || dumbbell(1)),
        ("pairs", || dumbbell(10)),
        ("chain", || chain(30)),
        ("fat-tree", || fat_tree(8)),
    ];
    for (name, load) in loads {
        if wanted.is_empty() || wanted.contains(&&name.to_string()) {
            for fuse in [false, true] {
                measure(name, load(), fuse);
            }
        }
    }
}
