//! SCTP in a run: the transport's configuration from a scenario's switches, and the figures of an association.

use std::net::SocketAddr;

use subflow_policy::congestion::Path;
use subflow_policy::custom::FlowEnd;
use subflow_scenario::{Sctp, SctpOptions, Stack};
use subflow_transport::sctp::Association;
use subflow_transport::sctp::config::{Config, Distribution, MessageOptions, RtoLimits};
use subflow_transport::tcp::Ends;
use subflow_wire::sctp::{UDP_ENCAPSULATION_PORT, UdpEncapsulation};

use super::path_sample::PathSample;
use super::stacks;
use super::subflow_figures::SubflowFigures;
use crate::results::{Abandoned, Retransmitted};

/// The configuration of `end` of `flow` with the switches `stack`.
pub(super) fn sctp_config(flow: &Sctp, stack: &Stack, end: FlowEnd) -> Config {
    let options: &SctpOptions = &stack.sctp;
    let base = Config::rfc9260();
    Config {
        congestion: stacks::congestion(&flow.congestion, &stack.tcp, end),
        mtu: u32::from(options.mtu),
        initial_ssthresh: options.initial_ssthresh,
        window_growth: options.window_growth,
        fast_recovery: options.fast_recovery,
        avoidance_in_recovery: options.avoidance_in_recovery,
        distribution: match (options.cmt, &flow.scheduler) {
            (false, _) => Distribution::Primary,
            (true, None) => Distribution::LargestFreeWindow,
            (true, Some(scheduler)) => Distribution::Scheduler(stacks::scheduler(scheduler, end)),
        },
        retransmission: options.retransmission,
        split_fast_retransmit: options.split_fast_retransmit,
        delayed_ack_cmt: options.delayed_ack_cmt,
        nr_sack: options.nr_sack,
        reneging: options.reneging,
        buffer_splitting: options.buffer_splitting,
        max_burst: options.max_burst,
        burst_per_message: options.burst_per_message,
        idle_decay: options.idle_decay,
        streams: options.streams,
        message_size: options.message_size,
        message: MessageOptions {
            unordered: options.unordered,
            reliability: options.reliability,
            ..MessageOptions::default()
        },
        nagle: !options.nodelay,
        rto: RtoLimits {
            initial: options.initial_rto,
            min: options.min_rto,
            max: options.max_rto,
            granularity: options.timer_tick.max(base.rto.granularity),
        },
        gap_acks_restart_timer: options.gap_acks_restart_timer,
        fast_retransmission_restarts_timer: options.fast_retransmission_restarts_timer,
        late_back_off: options.late_back_off,
        single_fast_packet: options.single_fast_packet,
        segmentation_offload: options.segmentation_offload,
        sack_delay: options.sack_delay,
        sack_frequency: options.sack_frequency,
        max_gap_blocks: options.max_gap_blocks,
        most_tsns_ahead: options.most_tsns_ahead,
        receive_buffer: options.receive_buffer,
        send_buffer: options.send_buffer,
        association_max_retransmissions: options.association_max_retransmissions,
        path_max_retransmissions: options.path_max_retransmissions,
        potentially_failed_max_retransmissions: options.potentially_failed_max_retransmissions,
        probe_at_once: options.probe_at_once,
        sack_ends_potentially_failed: options.sack_ends_potentially_failed,
        max_init_retransmits: options.init_retransmissions,
        heartbeat_interval: options.heartbeat_interval,
        cookie_life: options.cookie_life,
        multihomed: options.multihomed,
        primary: flow.primary,
        encapsulation: options.udp_encapsulation.then_some(UdpEncapsulation {
            source_port: UDP_ENCAPSULATION_PORT,
            destination_port: UDP_ENCAPSULATION_PORT,
        }),
        timer_tick: options.timer_tick,
        timer_wheel: options.timer_wheel,
        ..base
    }
}

/// The figures of an association's destinations. The receiving end does not know which path carried a chunk, so that
/// the acknowledged bytes are counted.
pub(super) fn destinations(association: &Association) -> impl Iterator<Item = SubflowFigures> {
    association.destinations().iter().enumerate().map(|(index, destination)| {
        let counters = destination.counters();
        let retransmitted = Retransmitted {
            fast: counters.fast_retransmissions,
            timeout: counters.timeout_retransmissions,
            timeouts: counters.timeouts,
            fast_recoveries: counters.fast_recoveries,
        };
        SubflowFigures {
            ends: ends(association, index),
            bytes_received: 0,
            packets_sent: counters.packets_sent,
            retransmissions: retransmitted.fast + retransmitted.timeout,
            timeouts: retransmitted.timeouts,
            duplicate_acks: 0,
            srtt: destination.rtt().srtt(),
            cwnd: in_packets(association.congestion().path(index)),
            copies: 0,
            retransmitted: Some(retransmitted),
            bytes_acknowledged: Some(counters.bytes_acknowledged),
        }
    })
}

/// The messages that an association has abandoned.
pub(super) fn abandoned(association: &Association) -> Abandoned {
    let counters = association.counters();
    Abandoned { messages: counters.messages_abandoned, bytes: counters.bytes_abandoned }
}

/// The acknowledged bytes and a sample of each destination.
pub(super) fn samples(association: &Association) -> impl Iterator<Item = (u64, PathSample)> {
    association.destinations().iter().enumerate().map(|(index, destination)| {
        let path = association.congestion().path(index);
        let in_packets = |bytes: f64| bytes / f64::from(path.quantum());
        let sample = PathSample {
            cwnd: in_packets(path.cwnd().into()),
            ssthresh: (path.ssthresh() < Path::INFINITE).then(|| in_packets(path.ssthresh().into())),
            in_flight: in_packets(destination.bytes_in_flight() as f64),
            flight_size: destination.bytes_in_flight(),
            srtt: destination.rtt().srtt(),
        };
        (destination.counters().bytes_acknowledged, sample)
    })
}

/// The ends of the path to a destination.
pub(super) fn ends(association: &Association, index: usize) -> Ends {
    let Ends { local, remote } = association.ends();
    let destination = &association.destinations()[index];
    Ends {
        local: SocketAddr::new(destination.source(), local.port()),
        remote: SocketAddr::new(destination.address(), remote.port()),
    }
}

/// A window in packets of the path's MTU; SCTP counts bytes.
fn in_packets(path: &Path) -> f64 {
    f64::from(path.cwnd()) / f64::from(path.quantum())
}
