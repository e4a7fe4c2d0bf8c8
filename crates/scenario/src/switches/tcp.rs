//! The switches of TCP and of each MPTCP subflow.

use std::sync::LazyLock;

use subflow_transport::tcp::config::{EcnMode, LossDetection, Pacing, SmallQueues, WindowReduction};

use super::acknowledgments::{ack_policy, sack_compression};
use super::buffers::{receive_buffer, send_buffer};
use super::notation::{COUNT, duration, flag, flag_for, one_of, positive_duration, size, whole};
use super::{Stack, Switch, congestion_rows, literal, profiles, read, switch, table, wrong_way_round};
use crate::file::{Layers, Problem};
use crate::table::TableSchema;

static SWITCHES: LazyLock<Vec<Switch<Stack>>> = LazyLock::new(|| {
    [segments(), recovery(), congestion_rows(), growth(), buffers_and_timers()].into_iter().flatten().collect()
});

fn segments() -> Vec<Switch<Stack>> {
    vec![
        switch("mtu", size("a size from 576 to 9000 bytes", 576..=9000), |s| &mut s.tcp.mtu, "the largest IP packet"),
        switch(
            "initial_window",
            whole(1..=10_000),
            |s| &mut s.tcp.initial_window,
            "the initial congestion window in packets",
        ),
        switch("timestamps", flag(), |s| &mut s.tcp.timestamps, "whether timestamps are offered (RFC 7323)"),
        switch("sack", flag(), |s| &mut s.tcp.sack, "whether selective acknowledgments are offered (RFC 2018)"),
        switch(
            "ecn",
            one_of("a use of ECN", EcnMode::ALL),
            |s| &mut s.tcp.ecn,
            "the use of explicit congestion notification (RFC 3168); `dctcp` is for the congestion control of that name, \
             at both ends",
        ),
        switch(
            "initial_rto",
            positive_duration(),
            |s| &mut s.tcp.initial_rto,
            "the retransmission timeout before the first RTT sample",
        ),
        switch(
            "min_rto",
            positive_duration(),
            |s| &mut s.tcp.min_rto,
            "the lower bound of the retransmission timeout's variance term, as in Linux",
        ),
        switch("max_rto", positive_duration(), |s| &mut s.tcp.max_rto, "the upper bound of the retransmission timeout"),
        switch(
            "max_retries",
            whole(COUNT),
            |s| &mut s.tcp.max_retries,
            "the number of consecutive timeouts that a connection tolerates",
        ),
        switch("syn_retries", whole(COUNT), |s| &mut s.tcp.syn_retries, "how often a SYN is retransmitted"),
        switch(
            "syn_linear_timeouts",
            whole(0..=127),
            |s| &mut s.tcp.syn_linear_timeouts,
            "the number of timeouts of a SYN after which its timer does not double, which come on top of syn_retries. \
             Linux: `net.ipv4.tcp_syn_linear_timeouts`, since 6.5",
        ),
        switch(
            "delayed_ack",
            ack_policy(),
            |s| &mut s.tcp.ack_policy,
            "delayed acknowledgments: a table of their times, or false to acknowledge every packet at once",
        ),
        switch(
            "sack_compression",
            sack_compression(),
            |s| &mut s.tcp.sack_compression,
            "whether acknowledgments are delayed while data is missing, as in Linux since 4.18",
        ),
    ]
}

fn recovery() -> Vec<Switch<Stack>> {
    vec![
        switch(
            "loss_detection",
            one_of("a method of loss detection", LossDetection::ALL),
            |s| &mut s.tcp.loss_detection,
            "how lost packets are detected",
        ),
        switch(
            "prr",
            flag_for(WindowReduction::Proportional, WindowReduction::Immediate),
            |s| &mut s.tcp.window_reduction,
            "whether the window is reduced gradually in recovery (RFC 6937) instead of at once",
        ),
        switch(
            "tlp",
            flag(),
            |s| &mut s.tcp.tail_loss_probe,
            "whether tail loss probes are sent (RFC 8985, section 7)",
        ),
        switch("frto", flag(), |s| &mut s.tcp.frto, "whether spurious timeouts are detected (RFC 5682)"),
        switch(
            "undo",
            flag(),
            |s| &mut s.tcp.undo,
            "whether a spurious window reduction is undone (RFC 3522, RFC 3708)",
        ),
    ]
}

fn growth() -> Vec<Switch<Stack>> {
    vec![
        switch(
            "slow_start_at_threshold",
            flag(),
            |s| &mut s.tcp.growth.slow_start_at_threshold,
            "whether slow start continues at the threshold and ends one packet above it, as in Linux before 4.3",
        ),
        switch(
            "count_acks",
            flag(),
            |s| &mut s.tcp.growth.count_acks,
            "whether congestion avoidance counts acknowledgments instead of acknowledged packets, as in Linux before \
             4.0",
        ),
        switch(
            "window_validation",
            flag(),
            |s| &mut s.tcp.window_validation,
            "whether the window grows only while it is the limit (RFC 7661)",
        ),
        switch(
            "pacing",
            one_of("a kind of pacing", Pacing::ALL),
            |s| &mut s.tcp.pacing,
            "whether data packets leave at the pacing rate instead of as soon as the windows allow. BBR always paces; with \
             other congestion controls the rate is 200 % of the window per round trip in slow start, then 120 %, as in \
             Linux",
        ),
        switch(
            "slow_start_after_idle",
            flag(),
            |s| &mut s.tcp.slow_start_after_idle,
            "whether the window shrinks after an idle time of one timeout",
        ),
    ]
}

fn buffers_and_timers() -> Vec<Switch<Stack>> {
    vec![
        switch(
            "nagle",
            flag(),
            |s| &mut s.tcp.nagle,
            "whether a packet that is not full waits while another such packet is unacknowledged (Nagle's algorithm \
             with Minshall's modification, as in Linux); false is the socket option TCP_NODELAY",
        ),
        switch(
            "receive_buffer",
            receive_buffer(),
            |s| &mut s.tcp.receive_buffer,
            "the receive buffer: fixed, or growing with the connection's throughput. `bdp` is what all paths of the flow carry \
             together, each at the rate of its slowest link, during the longest of their round trips",
        ),
        switch(
            "send_buffer",
            send_buffer(),
            |s| &mut s.tcp.send_buffer,
            "the send buffer: the amount of unacknowledged data that the application may write. A buffer that grows \
             with the window limits only schedulers that queue data beyond the window (`linux-default`)",
        ),
        switch(
            "small_queues",
            one_of("a kind of small queues", SmallQueues::ALL),
            |s| &mut s.tcp.small_queues,
            "how much of each connection's data, or each subflow's, may be in the queue of its own host, which is that of \
             the link on which it leaves (TCP small queues). What is beyond waits in the connection, and MPTCP schedulers \
             pass over the subflow meanwhile. Every packet counts with 856 bytes besides its payload",
        ),
        switch(
            "output_limit",
            size("a size from 1 B to 1 TiB", 1..=1 << 40),
            |s| &mut s.tcp.output_limit,
            "the fixed limit in `small_queues`, as `net.ipv4.tcp_limit_output_bytes`",
        ),
        switch(
            "timer_tick",
            duration(),
            |s| &mut s.tcp.timer_tick,
            "the unit to which timers are rounded up; 0 s makes them exact",
        ),
        switch(
            "timer_wheel",
            flag(),
            |s| &mut s.tcp.timer_wheel,
            "whether timers of 63 ticks and more fire up to 8 ticks late, of 504 and more up to 64, and so on, as in \
             Linux since 4.8",
        ),
    ]
}

/// `[tcp]`, `[hosts.NAME.tcp]`, `[flows.NAME.tcp]`.
pub(crate) static TABLE: LazyLock<TableSchema> = LazyLock::new(|| {
    table(
        "[tcp], [hosts.NAME.tcp], [flows.NAME.tcp]",
        "Switches of TCP and of each MPTCP subflow. A value of the flow has priority over that of its host, then that \
         of the scenario, then that of the profile. The defaults here are those of the profile `linux-6.12`.",
        &SWITCHES,
        &profiles::default().stack,
    )
});

/// Sets in `stack` what `layers` have.
pub(crate) fn apply(layers: &Layers<'_>, stack: &mut Stack) -> Result<(), Problem> {
    read(&SWITCHES, |key| layers.given(key), stack)?;
    if stack.tcp.max_rto < stack.tcp.min_rto {
        let field = |key| layers.given_or(key, &literal(&SWITCHES, key, stack));
        return Err(wrong_way_round(&field("min_rto"), &field("max_rto")));
    }
    Ok(())
}

/// The switches in which `stack` differs from `other`, in TOML.
pub(crate) fn differences(stack: &Stack, other: &Stack) -> Vec<(&'static str, String)> {
    super::differences(&SWITCHES, stack, other)
}
