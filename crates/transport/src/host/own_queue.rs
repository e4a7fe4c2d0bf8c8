//! Data in the queues of the host's own interfaces, of which the driver tells what enters and what leaves them. Connections
//! with small queues ([`SmallQueues`](crate::tcp::config::SmallQueues)) are limited by it; the others ignore it.

use std::net::SocketAddr;

use subflow_quantity::Instant;
use subflow_wire::{Body, PROTOCOL_TCP, Packet};

use super::{EndpointId, Host};
use crate::Endpoint;
use crate::tcp::Ends;

impl Endpoint {
    /// `packet`, which this endpoint has sent last, enters the queue of an interface. Once it leaves it, the driver calls
    /// [`Host::on_left_queue`]; without both calls a connection is not limited by small queues. Drain the endpoint
    /// afterwards.
    pub fn on_queued(&mut self, packet: &Packet) {
        let Body::Tcp(segment) = &packet.body else { return };
        if segment.payload.length == 0 {
            return;
        }
        let local = SocketAddr::new(packet.ip.source, segment.source_port);
        let remote = SocketAddr::new(packet.ip.destination, segment.destination_port);
        self.note_queued(Ends { local, remote }, segment.payload.length);
    }
}

impl Host {
    /// A TCP packet with `payload` bytes of data, sent between these ends, is dropped by the queue of its interface, or
    /// leaves the device at `at`, which may be in the future. Returns the endpoint if it has waited for that: drain it.
    pub fn on_left_queue(&mut self, ends: Ends, payload: u32, at: Instant) -> Option<EndpointId> {
        let (id, subflow) = self.demux.owner(PROTOCOL_TCP, ends)?;
        self.endpoint_mut(id).on_left_queue(subflow, payload, at).then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rand_pcg::Pcg64Mcg;
    use subflow_policy::congestion::{Lia, Reno};
    use subflow_policy::path_manager::FullMesh;
    use subflow_policy::scheduler::LowestLatency;
    use subflow_quantity::Duration;

    use super::*;
    use crate::Listener;
    use crate::mptcp;
    use crate::tcp::TcpOptions;
    use crate::tcp::config::{Config, SmallQueues};

    const START: Instant = Instant::from_nanos(1_000_000_000);

    fn limited() -> Arc<Config> {
        let config = Config { small_queues: SmallQueues::Linux318, output_limit: 3 * 2304, ..Config::default() };
        Arc::new(Config { initial_window: 20, ..config })
    }

    /// A host whose connection to a peer is established and has 30 packets of data to send.
    fn connected(listener: Listener) -> (Host, EndpointId) {
        connected_with(listener, 30)
    }

    /// The same with so many packets.
    fn connected_with(listener: Listener, packets: u64) -> (Host, EndpointId) {
        let [local, remote] = [("10.0.0.1", 1024), ("10.0.0.2", 80)]
            .map(|(address, port)| SocketAddr::new(address.parse().expect("an address"), port));
        let mut hosts = [local, remote].map(|end| Host::new(vec![end.ip()], Pcg64Mcg::new(1)));
        hosts[1].listen(80, listener.clone());
        let opened = match listener {
            Listener::Tcp(options) => hosts[0].connect_tcp(&options, local, remote, START),
            Listener::Mptcp(config) => hosts[0].connect_mptcp(config, local, remote, START),
            Listener::Sctp(_) | Listener::Quic(_) => unreachable!("not limited"),
        };
        let id = opened.expect("a free port");
        for turn in 0..4 {
            let now = START + Duration::from_millis(100 * turn);
            for from in [0, 1] {
                for id in hosts[from].endpoint_ids() {
                    while let Some(packet) = hosts[from].poll_transmit(now, id) {
                        hosts[1 - from].handle_packet(now + Duration::from_millis(50), &packet);
                    }
                }
            }
        }
        let [mut host, _] = hosts;
        host.endpoint_mut(id).write(packets * 1448);
        (host, id)
    }

    /// What the endpoint sends at `now`, all of which enters the queue.
    fn sent(host: &mut Host, id: EndpointId, now: Instant) -> Vec<Packet> {
        let mut sent = Vec::new();
        while let Some(packet) = host.poll_transmit(now, id) {
            host.endpoint_mut(id).on_queued(&packet);
            sent.push(packet);
        }
        sent
    }

    fn leaves(host: &mut Host, packet: &Packet, at: Instant) -> Option<EndpointId> {
        let Body::Tcp(segment) = &packet.body else { return None };
        let local = SocketAddr::new(packet.ip.source, segment.source_port);
        let remote = SocketAddr::new(packet.ip.destination, segment.destination_port);
        host.on_left_queue(Ends { local, remote }, segment.payload.length, at)
    }

    #[test]
    fn a_loss_probe_does_not_repeat_a_segment_that_has_not_left_the_queue() {
        let probes = |has_left: bool| {
            let options = TcpOptions { config: limited(), congestion: Reno::default().into() };
            let (mut host, id) = connected_with(Listener::Tcp(options), 2);
            let now = START + Duration::from_millis(500);
            let both = sent(&mut host, id, now);
            assert_eq!(both.len(), 2);
            if has_left {
                for packet in &both {
                    leaves(&mut host, packet, now);
                }
            }
            // The retransmission timer expires later.
            let before = now + Duration::from_millis(200);
            let mut probes = 0;
            while let Some(due) = host.poll_timeout(id).filter(|due| *due < before) {
                host.handle_timeout(due, id);
                probes += sent(&mut host, id, due).len();
            }
            probes
        };
        assert_eq!((probes(true), probes(false)), (1, 0));
    }

    fn checks_that_data_waits(listener: Listener) {
        let (mut host, id) = connected(listener);
        let now = START + Duration::from_millis(500);
        let first = sent(&mut host, id, now);
        assert_eq!(first.len(), 4, "three packets are within the bound, and one exceeds it");
        // The first is transmitted until 1 ms later.
        let until = now + Duration::from_millis(1);
        assert_eq!(leaves(&mut host, &first[0], until), Some(id), "data waits");
        assert_eq!(sent(&mut host, id, now).len(), 0, "it is still being transmitted");
        assert_eq!(host.poll_timeout(id), Some(until));
        host.handle_timeout(until, id);
        assert_eq!(sent(&mut host, id, until).len(), 1);
        // The others are dropped.
        assert_eq!(leaves(&mut host, &first[1], until), Some(id));
        assert_eq!(leaves(&mut host, &first[2], until), None, "the endpoint is to be drained already");
        assert_eq!(sent(&mut host, id, until).len(), 2);
    }

    #[test]
    fn data_beyond_the_bound_waits_until_other_data_has_left() {
        checks_that_data_waits(Listener::Tcp(TcpOptions { config: limited(), congestion: Reno::default().into() }));
    }

    #[test]
    fn the_scheduler_passes_over_a_subflow_whose_data_waits() {
        let (congestion, scheduler) = (Lia::default().into(), LowestLatency.into());
        let config = mptcp::Config::new(congestion, scheduler, FullMesh::default().into());
        checks_that_data_waits(Listener::Mptcp(Arc::new(mptcp::Config { tcp: limited(), ..config })));
    }
}
