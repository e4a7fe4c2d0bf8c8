//! Hops per CPU second without transports: queues, events, and senders that keep a window in flight.
//!
//! `cargo bench -p subflow-network --bench bare_hop [-- dumbbell|pairs|chain|fat-tree]`. The results are in README.md.

use std::net::IpAddr;

use subflow_network::{
    Attachment, HostId, Hosts, InterfaceId, LinkConfig, LinkId, Network, PacketId, QueueConfig, RouterId, RouterMode,
    TopologyBuilder,
};
use subflow_quantity::{Duration, Instant, Rate};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, Payload, UdpDatagram};

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
        Body::Quic(datagram) => datagram.destination_port,
    }
}

impl Windows {
    /// Sends 1500 bytes of data, or an acknowledgment of 52.
    fn send(&self, network: &mut Network, host: HostId, interface: InterfaceId, destination: IpAddr, port: u16) {
        let id = network.reserve();
        let packet = network.packet_mut(id);
        let source = self.addresses[interface.index()];
        packet.ip = IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct };
        let length = if port == DATA { 1472 } else { 24 };
        packet.body = Body::Udp(UdpDatagram {
            source_port: 1,
            destination_port: port,
            payload: Payload { stream_offset: 0, length, sum: 0 },
        });
        network.transmit_reserved(host, interface, id);
    }
}

/// A network with its flows: source, destination, window.
struct Load {
    topology: TopologyBuilder,
    flows: Vec<(InterfaceId, InterfaceId, u32)>,
    duration: Duration,
}

/// `pairs` senders and receivers around a link of 100 Mbit/s.
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

/// One flow over a chain of `links` links: the cost of a hop without the hosts' part.
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

/// A `k`-ary fat tree of 1 Gbit/s and 10 µs. Each host sends to one other; each destination has its own random core
/// switch.
fn fat_tree(k: usize) -> Load {
    let mut tree = FatTree::default();
    let cores: Vec<_> =
        (0..k * k / 4).map(|core| tree.topology.router(&format!("core{core}"), RouterMode::ShortestPath)).collect();
    for pod in 0..k {
        tree.add_pod(pod, k / 2, &cores);
    }
    tree.route_by_random_cores(k / 2);
    let hosts = tree.interfaces.len();
    let interface = |host: usize| tree.interfaces[host % hosts].1;
    let flows = (0..hosts).map(|from| (interface(from), interface(from + hosts / 2 + 3), 64)).collect();
    Load { topology: tree.topology, flows, duration: Duration::from_millis(500) }
}

#[derive(Default)]
struct FatTree {
    topology: TopologyBuilder,
    /// The interfaces of the hosts, with their pods.
    interfaces: Vec<(usize, InterfaceId)>,
    /// Edge switches with their pods and their links to the aggregation switches.
    edges: Vec<(usize, RouterId, Vec<LinkId>)>,
    /// Aggregation switches with their pods and their links to the core switches.
    aggregations: Vec<(usize, RouterId, Vec<LinkId>)>,
}

impl FatTree {
    fn add_pod(&mut self, pod: usize, half: usize, cores: &[RouterId]) {
        let mut aggregations = Vec::new();
        for a in 0..half {
            let router = self.topology.router(&format!("aggregation{pod}.{a}"), RouterMode::ShortestPath);
            let core = |c| (format!("core{}-{pod}", a * half + c), cores[a * half + c]);
            let up = (0..half).map(|c| self.connect(&core(c).0, router, core(c).1)).collect();
            self.aggregations.push((pod, router, up));
            aggregations.push(router);
        }
        for e in 0..half {
            let router = self.topology.router(&format!("edge{pod}.{e}"), RouterMode::ShortestPath);
            let ups = aggregations.iter().enumerate();
            let up =
                ups.map(|(a, &aggregation)| self.connect(&format!("pod{pod}-{e}-{a}"), router, aggregation)).collect();
            self.edges.push((pod, router, up));
            for h in 0..half {
                let name = format!("host{pod}.{e}.{h}");
                let host = self.topology.host(&name);
                let interface = self.topology.interface(host, "eth");
                self.connect(&name, interface, router);
                self.interfaces.push((pod, interface));
            }
        }
    }

    /// Adds a link and returns its forward direction.
    fn connect(&mut self, name: &str, from: impl Into<Attachment>, to: impl Into<Attachment>) -> LinkId {
        let config =
            LinkConfig::new(Rate::from_mbit(1000), Duration::from_micros(10)).with_queue(QueueConfig::packets(1000));
        self.topology.link(name, from, to, config.clone(), config).forward
    }

    /// Routes the packets to each host from other pods over a core switch chosen at random.
    fn route_by_random_cores(&mut self, half: usize) {
        let mut random = 1u64;
        for &(pod, interface) in &self.interfaces {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let core = (random >> 33) as usize % (half * half);
            for (other, router, up) in &self.edges {
                if *other != pod {
                    self.topology.route(*router, interface, up[core / half]);
                }
            }
            for (other, router, up) in &self.aggregations {
                if *other != pod {
                    self.topology.route(*router, interface, up[core % half]);
                }
            }
        }
    }
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
    // `cargo test --benches` also runs it, without this argument. There is nothing to test.
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
