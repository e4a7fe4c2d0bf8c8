//! From a scenario's stack switches to the transport's configuration.

use std::net::IpAddr;
use std::sync::Arc;

use subflow_policy::congestion::Growth;
use subflow_scenario::{Buffer, Coupling, Flow, Protocol, Stack};
use subflow_transport::mptcp::send_memory::SendBufferTuning;
use subflow_transport::tcp::TcpOptions;
use subflow_transport::tcp::config::{
    AckPolicy, Config, LossDetection, ReceiveBuffer, SackCompression, WindowReduction,
};
use subflow_transport::{Listener, mptcp};

use super::sctp::sctp_config;

/// Which end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// [`Flow::from`], which connects.
    From,
    /// [`Flow::to`], which listens.
    To,
}

/// A buffer that never limits, in bytes: more than any window of a simulated path.
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

/// A fixed send buffer. One that grows with the window limits only an MPTCP sender that queues ahead of it.
fn send_buffer(stack: &subflow_scenario::TcpOptions) -> Option<u64> {
    match stack.send_buffer {
        Buffer::Fixed(bytes) => Some(bytes),
        Buffer::Unlimited | Buffer::Automatic { .. } => None,
    }
}

fn tcp_options(flow: &subflow_scenario::Tcp, stack: &Stack) -> TcpOptions {
    TcpOptions {
        config: Arc::new(tcp_config(&stack.tcp)),
        congestion: flow.congestion.build(&stack.tcp),
        send_buffer: send_buffer(&stack.tcp),
    }
}

fn mptcp_config(
    flow: &subflow_scenario::Mptcp,
    stack: &Stack,
    backup_addresses: Vec<IpAddr>,
    record_paths: bool,
) -> mptcp::Config {
    mptcp::Config {
        tcp: Arc::new(tcp_config(&stack.tcp)),
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
        backup_addresses,
        max_subflows: stack.mptcp.max_subflows as usize,
        ..mptcp::Config::new(flow.congestion.build(&stack.tcp), flow.scheduler.build(), flow.path_manager.build())
    }
}

/// The configuration of one end of `flow`; `None` for UDP. `backups` are that host's backup addresses; `record_paths`
/// keeps the samples of its subflows.
pub(super) fn listener(flow: &Flow, side: Side, backups: Vec<IpAddr>, record_paths: bool) -> Option<Listener> {
    match &flow.protocol {
        Protocol::Tcp(tcp) => {
            let stack = if side == Side::From { &tcp.from_stack } else { &tcp.to_stack };
            Some(Listener::Tcp(tcp_options(tcp, stack)))
        }
        Protocol::Mptcp(mptcp) => {
            let stack = if side == Side::From { &mptcp.from_stack } else { &mptcp.to_stack };
            Some(Listener::Mptcp(Arc::new(mptcp_config(mptcp, stack, backups, record_paths))))
        }
        Protocol::Sctp(sctp) => {
            let stack = if side == Side::From { &sctp.from_stack } else { &sctp.to_stack };
            Some(Listener::Sctp(Arc::new(sctp_config(sctp, stack))))
        }
        Protocol::Udp => None,
    }
}
