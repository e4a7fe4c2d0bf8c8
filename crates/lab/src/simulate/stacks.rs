//! The configurations with which the ends of a flow connect and listen.

use std::net::IpAddr;
use std::sync::Arc;

use rand_core::RngCore;
use subflow_network::stream;
use subflow_policy::congestion::CongestionControl;
use subflow_policy::custom::FlowEnd;
use subflow_policy::path_manager::PathManager;
use subflow_policy::scheduler::Scheduler;
use subflow_scenario::{Flow, PerEnd, Protocol};
use subflow_transport::sctp::config::Distribution;
use subflow_transport::{Listener, mptcp};

/// An end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// [`Flow::from`], which connects.
    From,
    /// [`Flow::to`], which listens.
    To,
}

impl Side {
    /// The value of this end.
    pub(crate) fn of<T>(self, ends: &PerEnd<T>) -> &T {
        match self {
            Self::From => &ends.from,
            Self::To => &ends.to,
        }
    }
}

/// What the algorithms of one end of `flow` learn before the first connection.
pub(crate) fn flow_end(flow: &Flow, side: Side, seed: u64) -> FlowEnd {
    let answers = flow.is_answered();
    FlowEnd {
        seed: stream(seed, &format!("algorithms of flow {} at its {side:?}", flow.name)).next_u64(),
        sends: answers == (side == Side::To),
    }
}

/// The configuration of one end of `flow` in a run with `seed`; `None` for UDP. `backups` are that host's backup
/// addresses; `record_paths` keeps the samples of its subflows.
pub(super) fn listener(
    flow: &Flow,
    side: Side,
    seed: u64,
    (backups, record_paths): (Vec<IpAddr>, bool),
) -> Option<Listener> {
    let end = flow_end(flow, side, seed);
    match &flow.protocol {
        Protocol::Tcp(ends) => {
            let mut options = side.of(ends).clone();
            options.congestion.begin(end);
            Some(Listener::Tcp(options))
        }
        Protocol::Mptcp(mptcp) => {
            let mut config =
                mptcp::Config { record_paths, backup_addresses: backups, ..side.of(&mptcp.ends).as_ref().clone() };
            config.congestion.begin(end);
            config.scheduler.begin(end);
            config.path_manager.begin(end);
            Some(Listener::Mptcp(Arc::new(config)))
        }
        Protocol::Sctp(sctp) => {
            let mut config = side.of(&sctp.ends).as_ref().clone();
            config.congestion.begin(end);
            if let Distribution::Scheduler(scheduler) = &mut config.distribution {
                scheduler.begin(end);
            }
            Some(Listener::Sctp(Arc::new(config)))
        }
        Protocol::Quic(quic) => {
            let mut config = side.of(&quic.ends).as_ref().clone();
            config.congestion.begin(end);
            if let Some(multipath) = &mut config.multipath {
                multipath.scheduler.begin(end);
                multipath.path_manager.begin(end);
                multipath.backup_addresses = backups;
            }
            Some(Listener::Quic(Arc::new(config)))
        }
        Protocol::Udp => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::path::Path;

    use subflow_quantity::Instant;
    use subflow_scenario::Scenario;
    use subflow_scenario::file::Document;
    use subflow_transport::{EndpointId, Host};

    use super::*;

    /// Delivers packets until neither host has any.
    fn exchange(hosts: &mut [Host; 2], now: Instant) {
        loop {
            let mut moved = false;
            for from in [0, 1] {
                for id in hosts[from].endpoint_ids() {
                    while let Some(packet) = hosts[from].poll_transmit(now, id) {
                        hosts[1 - from].handle_packet(now, &packet);
                        moved = true;
                    }
                }
                while let Some(packet) = hosts[from].poll_reply() {
                    hosts[1 - from].handle_packet(now, &packet);
                    moved = true;
                }
            }
            if !moved {
                return;
            }
        }
    }

    /// Connects both ends of the flow of a scenario with these keys.
    fn connected(protocol: &str, keys: &str, now: Instant) -> ([Host; 2], EndpointId) {
        let text = format!(
            "[hosts]\na = ['x']\nb = ['x']\n[links.l]\nbetween = ['a', 'b']\nrate = '1 Gbit/s'\n\
             [flows.f]\nfrom = 'a'\nto = 'b'\nprotocol = '{protocol}'\n{keys}"
        );
        let document = Document::parse(Path::new("switches.toml"), text).expect("TOML");
        let scenario = Scenario::read(&document).expect("a valid scenario");
        let flow = &scenario.flows[0];
        let addresses = [0, 1].map(|host: usize| scenario.hosts[host].interfaces[0].addresses[0]);
        let mut hosts = addresses.map(|address| Host::new(vec![address], stream(1, &address.to_string())));
        let [local, remote] = [(addresses[0], 1024), (addresses[1], flow.port)].map(SocketAddr::from);
        hosts[1].listen(flow.port, listener(flow, Side::To, 1, (Vec::new(), false)).expect("a stream"));
        let opened = match listener(flow, Side::From, 1, (Vec::new(), false)).expect("a stream") {
            Listener::Tcp(options) => hosts[0].connect_tcp(&options, local, remote, now),
            Listener::Mptcp(config) => hosts[0].connect_mptcp(config, local, remote, now),
            Listener::Sctp(config) => hosts[0].connect_sctp(config, local, remote, now),
            Listener::Quic(config) => hosts[0].connect_quic(config, local, remote, now),
        };
        let id = opened.expect("a port");
        exchange(&mut hosts, now);
        (hosts, id)
    }

    /// The number of packets that leave at once when 100 bytes are written three times.
    fn packets_of_three_writes(protocol: &str, keys: &str) -> usize {
        let now = Instant::from_nanos(1_000_000_000);
        let (mut hosts, id) = connected(protocol, keys, now);
        let mut packets = 0;
        for _ in 0..3 {
            assert_eq!(hosts[0].endpoint_mut(id).write(100), 100);
            while hosts[0].poll_transmit(now, id).is_some() {
                packets += 1;
            }
        }
        packets
    }

    #[test]
    fn without_nagle_small_packets_do_not_wait() {
        for protocol in ["tcp", "mptcp"] {
            assert_eq!(packets_of_three_writes(protocol, ""), 1, "{protocol}");
            for keys in ["tcp = { nagle = false }", "[tcp]\nnagle = false\n"] {
                assert_eq!(packets_of_three_writes(protocol, keys), 3, "{protocol} {keys}");
            }
            assert_eq!(packets_of_three_writes(protocol, "tcp = { nagle = true }\n[tcp]\nnagle = false\n"), 1);
        }
    }
}
