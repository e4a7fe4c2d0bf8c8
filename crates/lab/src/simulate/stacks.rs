//! The transport's configuration from a scenario's stack switches.

use std::net::IpAddr;
use std::sync::Arc;

use rand_core::RngCore;
use subflow_network::stream;
use subflow_policy::congestion::{Algorithm, CongestionControl, Growth};
use subflow_policy::custom::FlowEnd;
use subflow_policy::path_manager::{PathManagement, PathManager};
use subflow_policy::scheduler::{Scheduler, Scheduling};
use subflow_scenario::{Buffer, Congestion, Coupling, Flow, Protocol, Stack, Traffic};
use subflow_transport::mptcp::send_memory::SendBufferTuning;
use subflow_transport::tcp::TcpOptions;
use subflow_transport::tcp::config::{
    AckPolicy, Config, LossDetection, ReceiveBuffer, SackCompression, WindowReduction,
};
use subflow_transport::{Listener, mptcp};

use super::sctp::sctp_config;

/// An end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// [`Flow::from`], which connects.
    From,
    /// [`Flow::to`], which listens.
    To,
}

/// The size in bytes of a buffer that never limits: more than any window of a simulated path.
const UNLIMITED: u64 = 1 << 30;

fn tcp_config(stack: &subflow_scenario::TcpOptions) -> Config {
    Config {
        mtu: stack.mtu,
        initial_window: stack.initial_window,
        timestamps: stack.timestamps,
        sack: stack.sack,
        initial_rto: stack.initial_rto,
        min_rto: stack.min_rto,
        max_rto: stack.max_rto,
        max_retries: stack.max_retries,
        syn_retries: stack.syn_retries,
        ack_policy: match stack.delayed_ack {
            None => AckPolicy::EverySegment,
            Some(delayed) => AckPolicy::Delayed {
                segments: delayed.packets,
                minimum: delayed.minimum,
                maximum: delayed.maximum,
                quick_start: delayed.quick_start,
            },
        },
        sack_compression: stack.sack_compression.map(|compression| SackCompression {
            delay: compression.delay,
            slack: compression.slack,
            count: compression.count,
        }),
        loss_detection: match stack.loss_detection {
            subflow_scenario::LossDetection::Rack => LossDetection::Rack,
            subflow_scenario::LossDetection::DupThresh => LossDetection::DupThresh,
        },
        window_reduction: if stack.prr { WindowReduction::Proportional } else { WindowReduction::Immediate },
        tail_loss_probe: stack.tlp,
        frto: stack.frto,
        undo: stack.undo,
        window_validation: stack.window_validation,
        growth: Growth { slow_start_at_threshold: stack.slow_start_at_threshold, count_acks: stack.count_acks },
        slow_start_after_idle: stack.slow_start_after_idle,
        nagle: stack.nagle,
        receive_buffer: match stack.receive_buffer {
            Buffer::Unlimited => ReceiveBuffer::Fixed(UNLIMITED),
            Buffer::Fixed(bytes) => ReceiveBuffer::Fixed(bytes),
            Buffer::Automatic { initial, maximum } => ReceiveBuffer::Automatic { initial, maximum },
        },
        timer_tick: stack.timer_tick,
        timer_wheel: stack.timer_wheel,
        ..Config::default()
    }
}

/// The size of a fixed send buffer. An automatic one grows with the window, and limits only an MPTCP sender that queues
/// data beyond the window.
fn send_buffer(stack: &subflow_scenario::TcpOptions) -> Option<u64> {
    match stack.send_buffer {
        Buffer::Fixed(bytes) => Some(bytes),
        Buffer::Unlimited | Buffer::Automatic { .. } => None,
    }
}

/// The congestion control with the switches `stack`, for connections of `end`.
pub(super) fn congestion(chosen: &Congestion, stack: &subflow_scenario::TcpOptions, end: FlowEnd) -> Algorithm {
    let mut algorithm = chosen.build(stack);
    algorithm.begin(end);
    algorithm
}

/// The packet scheduler for connections of `end`.
pub(super) fn scheduler(scheduler: &subflow_scenario::Scheduler, end: FlowEnd) -> Scheduling {
    let mut scheduler = scheduler.build();
    scheduler.begin(end);
    scheduler
}

/// The path manager for connections of `end`.
pub(crate) fn path_manager(manager: &subflow_scenario::PathManager, end: FlowEnd) -> PathManagement {
    let mut manager = manager.build();
    manager.begin(end);
    manager
}

/// The configurations of TCP in a run. Equal ones are the same object, which stays in the cache although thousands of
/// connections read theirs with every packet.
#[derive(Default)]
pub(super) struct TcpConfigs(Vec<Arc<Config>>);

impl TcpConfigs {
    /// So many are compared with a new one.
    const COMPARED: usize = 16;

    fn shared(&mut self, options: &subflow_scenario::TcpOptions) -> Arc<Config> {
        let config = tcp_config(options);
        if let Some(known) = self.0.iter().rev().take(Self::COMPARED).find(|known| ***known == config) {
            return known.clone();
        }
        let config = Arc::new(config);
        self.0.push(config.clone());
        config
    }
}

fn tcp_options(flow: &subflow_scenario::Tcp, stack: &Stack, end: FlowEnd, configs: &mut TcpConfigs) -> TcpOptions {
    TcpOptions {
        config: configs.shared(&stack.tcp),
        congestion: congestion(&flow.congestion, &stack.tcp, end),
        send_buffer: send_buffer(&stack.tcp),
    }
}

fn mptcp_config(
    flow: &subflow_scenario::Mptcp,
    stack: &Stack,
    end: FlowEnd,
    (backup_addresses, record_paths): (Vec<IpAddr>, bool),
    configs: &mut TcpConfigs,
) -> mptcp::Config {
    mptcp::Config {
        tcp: configs.shared(&stack.tcp),
        send_buffer: send_buffer(&stack.tcp),
        send_buffer_tuning: match stack.tcp.send_buffer {
            Buffer::Automatic { initial, maximum } => Some(SendBufferTuning { initial, maximum }),
            Buffer::Fixed(_) | Buffer::Unlimited => None,
        },
        checksum: stack.mptcp.checksum,
        bottleneck: flow.bottleneck.map(|detector| mptcp::Bottleneck {
            detection: detector.build(),
            regroup: (flow.coupling == Coupling::SharedBottleneck).then_some(detector.regroup),
        }),
        record_paths,
        opportunistic_retransmission: stack.mptcp.opportunistic_retransmission,
        penalisation: stack.mptcp.penalisation,
        stale_loss_count: stack.mptcp.stale_loss_count,
        subflows_open_window: stack.mptcp.subflows_open_window,
        backup_addresses,
        max_subflows: stack.mptcp.max_subflows as usize,
        ..mptcp::Config::new(
            congestion(&flow.congestion, &stack.tcp, end),
            scheduler(&flow.scheduler, end),
            path_manager(&flow.path_manager, end),
        )
    }
}

/// What the algorithms of one end of `flow` learn before the first connection.
pub(crate) fn flow_end(flow: &Flow, side: Side, seed: u64) -> FlowEnd {
    let answers = matches!(flow.traffic, Traffic::RequestResponse { .. });
    FlowEnd {
        seed: stream(seed, &format!("algorithms of flow {} at its {side:?}", flow.name)).next_u64(),
        sends: answers == (side == Side::To),
    }
}

/// The configuration of one end of `flow` in a run with `seed`; `None` for UDP. `backups` are that host's backup
/// addresses; `record_paths` keeps the samples of its subflows. `configs` are those of the other flows.
pub(super) fn listener(
    flow: &Flow,
    side: Side,
    seed: u64,
    (backups, record_paths): (Vec<IpAddr>, bool),
    configs: &mut TcpConfigs,
) -> Option<Listener> {
    let end = flow_end(flow, side, seed);
    match &flow.protocol {
        Protocol::Tcp(tcp) => {
            let stack = if side == Side::From { &tcp.from_stack } else { &tcp.to_stack };
            Some(Listener::Tcp(tcp_options(tcp, stack, end, configs)))
        }
        Protocol::Mptcp(mptcp) => {
            let stack = if side == Side::From { &mptcp.from_stack } else { &mptcp.to_stack };
            let config = mptcp_config(mptcp, stack, end, (backups, record_paths), configs);
            Some(Listener::Mptcp(Arc::new(config)))
        }
        Protocol::Sctp(sctp) => {
            let stack = if side == Side::From { &sctp.from_stack } else { &sctp.to_stack };
            Some(Listener::Sctp(Arc::new(sctp_config(sctp, stack, end))))
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
        let mut configs = TcpConfigs::default();
        hosts[1].listen(flow.port, listener(flow, Side::To, 1, (Vec::new(), false), &mut configs).expect("a stream"));
        let opened = match listener(flow, Side::From, 1, (Vec::new(), false), &mut configs).expect("a stream") {
            Listener::Tcp(options) => hosts[0].connect_tcp(&options, local, remote, now),
            Listener::Mptcp(config) => hosts[0].connect_mptcp(config, local, remote, now),
            Listener::Sctp(config) => hosts[0].connect_sctp(config, local, remote, now),
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
