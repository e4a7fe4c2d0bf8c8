//! Middleboxes in whole networks: what waits at one leaves by its own direction, whatever the other one does.

use subflow_network::{
    HostId, Hosts, InterfaceId, LinkConfig, Merge, Network, PacketId, PlacedMiddlebox, Reset, TimerId, TopologyBuilder,
};
use subflow_quantity::{Duration, Rate};
use subflow_wire::tcp::{TcpFlags, TcpOptions};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, Payload, TcpSegment};

use crate::support::ms;

/// What arrived: when in µs, where, whether it is a reset, and the bytes of data.
type Arrival = (u64, InterfaceId, bool, u32);

#[derive(Default)]
struct Listening(Vec<Arrival>);

impl Hosts for Listening {
    fn handle_packet(&mut self, network: &mut Network, _: HostId, interface: InterfaceId, id: PacketId) {
        let packet = network.take(id);
        let Body::Tcp(segment) = &packet.body else { panic!("not TCP: {packet:?}") };
        let is_reset = segment.flags.contains(TcpFlags::RST);
        self.0.push((network.now().as_nanos() / 1000, interface, is_reset, segment.payload.length));
    }

    fn handle_timer(&mut self, _: &mut Network, _: TimerId) {}
}

/// Sends 100 bytes of a connection now, from its first end or back, from this offset of the stream on.
fn send(network: &mut Network, from: InterfaceId, to: InterfaceId, back: bool, offset: u32) {
    let (source, destination) = (network.addresses(from)[0], network.addresses(to)[0]);
    let ports = if back { [80, 50000] } else { [50000, 80] };
    let segment = TcpSegment {
        source_port: ports[0],
        destination_port: ports[1],
        sequence: 1 + offset,
        acknowledgment: 1,
        flags: TcpFlags::ACK,
        window: 1000,
        options: TcpOptions::default(),
        payload: Payload { stream_offset: offset.into(), length: 100, sum: 0 },
    };
    let ip = IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct };
    network.transmit(network.host_of(from), from, Packet { ip, body: Body::Tcp(segment) });
}

#[test]
fn a_segment_that_waits_to_be_joined_outlasts_the_reset_of_either_direction() {
    let wire = LinkConfig::new(Rate::from_mbit(1000), Duration::from_millis(1));
    let mut topology = TopologyBuilder::new();
    let [a, b] = ["a", "b"].map(|name| {
        let host = topology.host(name);
        topology.interface(host, "eth")
    });
    let link = topology.link("wire", a, b, wire.clone(), wire);
    // From the second segment with data of a direction on, both ends get resets.
    let mut reset = Reset::default();
    reset.segments = 2;
    topology.middleboxes(link, vec![PlacedMiddlebox::new(Merge::default()), PlacedMiddlebox::new(reset)]);
    let mut network = topology.build(1).expect("it is whole");
    let mut hosts = Listening::default();
    send(&mut network, b, a, true, 0);
    network.run_until(&mut hosts, ms(10));
    // What a sends waits for 1 ms; meanwhile the second segment of b ends that direction.
    send(&mut network, a, b, false, 0);
    send(&mut network, b, a, true, 100);
    network.run_until(&mut hosts, ms(20));
    let of = |interface| {
        let arrivals = hosts.0.iter().filter(move |arrival| arrival.1 == interface);
        arrivals.map(|&(_, _, is_reset, length)| (is_reset, length)).collect::<Vec<_>>()
    };
    assert_eq!(of(a), [(false, 100), (false, 100), (true, 0)], "{:?}", hosts.0);
    assert_eq!(of(b), [(true, 0), (false, 100)], "the reset does not wait: {:?}", hosts.0);
    let data = hosts.0.iter().find(|arrival| arrival.1 == b && !arrival.2).expect("it arrived");
    assert!((12_000..12_100).contains(&data.0), "1 ms at the middlebox, 1 ms on the wire: {data:?}");
    let metrics = network.metrics();
    assert_eq!(metrics.in_flight, 0);
    assert_eq!(metrics.transmitted + metrics.duplicated, metrics.delivered + metrics.dropped);
}
