//! The end of work before its time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to end the building of networks, and runs, before their time. All clones are the same request.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks everything that was given this request to end. None of it has results.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// What requests the end when it is set, for handlers of signals.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Whether the end was asked for.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::{Duration, Instant, Rate};

    use super::*;
    use crate::{
        HostId, Hosts, InterfaceId, LinkConfig, Network, PacketId, QueueConfig, RouterMode, TimerId, TopologyBuilder,
        TopologyError,
    };

    /// A timer that expires again and again at the same instant, and requests the stop at the 1000th time.
    struct Endless {
        stop: Stop,
        expired: u64,
    }

    impl Hosts for Endless {
        fn handle_packet(&mut self, network: &mut Network, _: HostId, _: InterfaceId, packet: PacketId) {
            network.release(packet);
        }

        fn handle_timer(&mut self, network: &mut Network, timer: TimerId) {
            self.expired += 1;
            if self.expired == 1000 {
                self.stop.request();
            }
            network.set_timer(timer, Some(network.now()));
        }
    }

    /// A chain of routers with a host at each end.
    fn chain(routers: usize) -> TopologyBuilder {
        let mut topology = TopologyBuilder::new();
        let ends = ["a", "b"].map(|name| {
            let host = topology.host(name);
            topology.interface(host, "eth")
        });
        let link = LinkConfig::new(Rate::from_mbit(8), Duration::from_millis(10)).with_queue(QueueConfig::packets(2));
        let all: Vec<_> =
            (0..routers).map(|number| topology.router(&format!("r{number}"), RouterMode::ShortestPath)).collect();
        topology.link("first", ends[0], all[0], link.clone(), link.clone());
        for pair in all.windows(2) {
            topology.link(&format!("{pair:?}"), pair[0], pair[1], link.clone(), link.clone());
        }
        topology.link("last", all[routers - 1], ends[1], link.clone(), link);
        topology
    }

    #[test]
    fn a_run_ends_soon_after_the_request_also_where_time_stands_still() {
        let stop = Stop::default();
        let mut topology = chain(1);
        topology.stop_on(stop.clone());
        let mut network = topology.build(1).expect("a network");
        let timer = network.new_timer();
        network.set_timer(timer, Some(Instant::ZERO));
        let mut hosts = Endless { stop, expired: 0 };
        network.run_until(&mut hosts, Instant::ZERO + Duration::from_secs(1));
        assert!((1000..200_000).contains(&hosts.expired), "{}", hosts.expired);
        let before = hosts.expired;
        network.run_until(&mut hosts, Instant::ZERO + Duration::from_secs(1));
        assert_eq!(hosts.expired, before, "nothing goes on afterwards");
    }

    #[test]
    fn a_network_is_not_built_after_the_request() {
        let stop = Stop::default();
        let mut topology = chain(5);
        topology.stop_on(stop.clone());
        assert!(topology.clone().build(1).is_ok());
        stop.request();
        assert_eq!(topology.build(1).err(), Some(TopologyError::Stopped));
    }
}
