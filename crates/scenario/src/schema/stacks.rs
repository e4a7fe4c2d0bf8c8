//! The switches of TCP and MPTCP, and the profiles: sets of defaults of existing stacks.

use super::{Default, TableSchema, value, word};
use crate::read::words;

/// `[tcp]`, `[hosts.NAME.tcp]`, `[flows.NAME.tcp]`.
pub(crate) const TCP: TableSchema = TableSchema {
    path: "[tcp], [hosts.NAME.tcp], [flows.NAME.tcp]",
    doc: "Switches of TCP and of each MPTCP subflow. A value of the flow has priority over that of its host, then \
          that of the scenario, then that of the profile. The defaults here are those of the profile `linux-6.12`.",
    fields: &[
        value("mtu", "a size from 576 to 9000 bytes", "'1500 bytes'", "the largest IP packet"),
        value("initial_window", "a whole number, 1 or more", "10", "the initial congestion window in packets"),
        value("timestamps", "true or false", "true", "whether timestamps are offered (RFC 7323)"),
        value("sack", "true or false", "true", "whether selective acknowledgments are offered (RFC 2018)"),
        value(
            "initial_rto",
            "a duration above zero",
            "'1 s'",
            "the retransmission timeout before the first RTT sample",
        ),
        value(
            "min_rto",
            "a duration above zero",
            "'200 ms'",
            "the lower bound of the retransmission timeout's variance term, as in Linux",
        ),
        value("max_rto", "a duration above zero", "'120 s'", "the upper bound of the retransmission timeout"),
        value("max_retries", "a whole number", "15", "the number of consecutive timeouts that a connection tolerates"),
        value("syn_retries", "a whole number", "6", "how often a SYN is retransmitted"),
        value(
            "delayed_ack",
            "false, or a table",
            "{}",
            "delayed acknowledgments: a table of their times, or false to acknowledge every packet at once",
        ),
        value(
            "sack_compression",
            "false, or a table",
            "{}",
            "whether acknowledgments are delayed while data is missing, as in Linux since 4.18",
        ),
        word("loss_detection", words::loss_detection, Default::Value("'rack'"), "how lost packets are detected"),
        value(
            "prr",
            "true or false",
            "true",
            "whether the window is reduced gradually in recovery (RFC 6937) instead of at once",
        ),
        value("tlp", "true or false", "true", "whether tail loss probes are sent (RFC 8985, section 7)"),
        value("frto", "true or false", "true", "whether spurious timeouts are detected (RFC 5682)"),
        value("undo", "true or false", "true", "whether a spurious window reduction is undone (RFC 3522, RFC 3708)"),
        value("hystart", "true or false", "true", "whether CUBIC ends slow start when the delay increases (HyStart)"),
        value(
            "fixed_point",
            "true or false",
            "false",
            "whether LIA, OLIA and BALIA round as the fixed-point arithmetic of the MPTCP kernel 0.9x does",
        ),
        value(
            "two_segment_floor",
            "true or false",
            "false",
            "whether the least threshold of OLIA and CMT/RP is two packets, as in Linux's Reno, instead of one",
        ),
        word("cmt_rpv2", words::cmt_rpv2_forms, Default::Value("'formula'"), "which CMT/RPv2 `cmt-rpv2` is"),
        value(
            "slow_start_at_threshold",
            "true or false",
            "false",
            "whether slow start continues at the threshold and ends one packet above it, as in Linux before 4.3",
        ),
        value(
            "count_acks",
            "true or false",
            "false",
            "whether congestion avoidance counts acknowledgments instead of acknowledged packets, as in Linux before \
             4.0",
        ),
        value(
            "window_validation",
            "true or false",
            "true",
            "whether the window grows only while it is the limit (RFC 7661)",
        ),
        value(
            "slow_start_after_idle",
            "true or false",
            "true",
            "whether the window shrinks after an idle time of one timeout",
        ),
        value(
            "nagle",
            "true or false",
            "true",
            "whether a packet that is not full waits while another such packet is unacknowledged (Nagle's algorithm \
             with Minshall's modification, as in Linux); false is the socket option TCP_NODELAY",
        ),
        value(
            "receive_buffer",
            "a size, or a table { initial, maximum }",
            "{ initial = '128 KiB', maximum = '16 MiB' }",
            "the receive buffer: fixed, or growing with the connection's throughput",
        ),
        value(
            "send_buffer",
            "a size, \"unlimited\", or a table { initial, maximum }",
            "{ initial = '16 KiB', maximum = '16 MiB' }",
            "the send buffer: the amount of unacknowledged data that the application may write. A buffer that grows \
             with the window limits only schedulers that queue data beyond the window (`linux-default`)",
        ),
        value("timer_tick", "a duration", "'4 ms'", "the unit to which timers are rounded up; 0 s makes them exact"),
        value(
            "timer_wheel",
            "true or false",
            "true",
            "whether timers of 63 ticks and more fire up to 8 ticks late, of 504 and more up to 64, and so on, as in \
             Linux since 4.8",
        ),
    ],
};

/// `delayed_ack = { … }`.
pub(crate) const DELAYED_ACK: TableSchema = TableSchema {
    path: "delayed_ack = { … }",
    doc: "One of several full-sized packets is acknowledged, and other packets after an adaptive delay between two \
          bounds.",
    fields: &[
        value(
            "packets",
            "a whole number from 1 to 1000",
            "2",
            "the number of full-sized packets per acknowledgment: 2 in Linux and in RFC 9293. More (stretch ACKs, RFC \
             2525, section 2.13) take less work, but windows grow in bursts, and a window of fewer packets waits for \
             the delay",
        ),
        value("minimum", "a duration", "'40 ms'", "the shortest delay"),
        value("maximum", "a duration", "'200 ms'", "the longest delay"),
        value(
            "quick_start",
            "true or false",
            "true",
            "whether the first packets, and those after a pause, are acknowledged at once",
        ),
    ],
};

/// `sack_compression = { … }`.
pub(crate) const SACK_COMPRESSION: TableSchema = TableSchema {
    path: "sack_compression = { … }",
    doc: "While data is missing, acknowledgments after the third duplicate are delayed by the smaller of 1/20 RTT and \
          `delay`.",
    fields: &[
        value("delay", "a duration", "'1 ms'", "the longest delay"),
        value("slack", "a duration", "'100 us'", "the additional delay of the machine's timer"),
        value("count", "a whole number", "44", "the maximum number of delayed acknowledgments"),
    ],
};

/// `receive_buffer = { … }`.
pub(crate) const RECEIVE_BUFFER: TableSchema = TableSchema {
    path: "receive_buffer = { … }",
    doc: "A buffer that grows with the connection's throughput.",
    fields: &[
        value("initial", "a size above zero", "'128 KiB'", "its initial size; half of it is advertised"),
        value("maximum", "a size, at least the initial one", "'16 MiB'", "its upper bound"),
    ],
};

/// `send_buffer = { … }`.
pub(crate) const SEND_BUFFER: TableSchema = TableSchema {
    path: "send_buffer = { … }",
    doc: "A buffer per subflow that grows with the window, as in Linux. With a scheduler that queues data beyond the \
          window it is accounted for as in Linux: writes fill page fragments of 32 KiB, packets take more than their \
          payload, and a fragment is assigned as a whole. With other schedulers it is never the limit.",
    fields: &[
        value(
            "initial",
            "a size above zero",
            "'16 KiB'",
            "its initial size; with a window of ten packets it becomes 45 KiB",
        ),
        value("maximum", "a size, at least the initial one", "'16 MiB'", "its upper bound"),
    ],
};

/// `[mptcp]`, `[hosts.NAME.mptcp]`, `[flows.NAME.mptcp]`.
pub(crate) const MPTCP: TableSchema = TableSchema {
    path: "[mptcp], [hosts.NAME.mptcp], [flows.NAME.mptcp]",
    doc: "Switches of the MPTCP level, with the same priorities as those of TCP.",
    fields: &[
        value(
            "max_subflows",
            "a whole number from 1 to 64",
            "32",
            "the maximum number of subflows of a connection, including the initial one",
        ),
        value("checksum", "true or false", "false", "whether DSS checksums are used"),
        value(
            "opportunistic_retransmission",
            "true or false",
            "false",
            "whether the oldest missing data is sent again on a much faster subflow if the receive window or the send \
             buffer is full, as in MPTCP 0.9x",
        ),
        value(
            "penalisation",
            "true or false",
            "false",
            "whether the window of the slower subflow that carries this data is halved in this case",
        ),
        value(
            "stale_loss_count",
            "a whole number from 0 to 254",
            "0",
            "0: the data of a subflow is reinjected at its first timeout; otherwise as Linux's \
             `net.mptcp.stale_loss_cnt` (4): after more than this number of periods of some 200 ms without progress, \
             all outstanding data is sent again",
        ),
        value(
            "subflows_open_window",
            "true or false",
            "false",
            "whether each subflow opens the connection's receive window by what it receives itself, and acknowledges \
             every segment meanwhile, as in upstream Linux; otherwise by what all subflows receive, as in MPTCP 0.9x",
        ),
    ],
};

/// A named set of defaults. Keys of `tcp`, `mptcp` and `sctp` that are not in it have the schema's defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Profile {
    /// Its name.
    pub name: &'static str,
    /// The stack that it models.
    pub doc: &'static str,
    /// Defaults of `[tcp]` as TOML.
    pub tcp: &'static [(&'static str, &'static str)],
    /// Defaults of `[mptcp]` as TOML.
    pub mptcp: &'static [(&'static str, &'static str)],
    /// Defaults of `[sctp]` as TOML.
    pub sctp: &'static [(&'static str, &'static str)],
    /// Default of `congestion` for TCP flows.
    pub tcp_congestion: &'static str,
    /// Default of `congestion` for MPTCP flows.
    pub mptcp_congestion: &'static str,
    /// Default of `congestion` for SCTP flows.
    pub sctp_congestion: &'static str,
    /// Default of `scheduler`.
    pub scheduler: &'static str,
    /// Default of `path_manager`.
    pub path_manager: &'static str,
}

/// `[tcp]` of MPTCP 0.88 to 0.93.
const MPTCP_0_9X_TCP: [(&str, &str); 7] = [
    ("loss_detection", "'dup-thresh'"),
    ("sack_compression", "false"),
    ("fixed_point", "true"),
    ("two_segment_floor", "true"),
    ("slow_start_at_threshold", "true"),
    ("timer_wheel", "false"),
    ("receive_buffer", "{ initial = '87380 bytes', maximum = '6 MiB' }"),
];

/// `[tcp]` of MPTCP 0.88 to 0.90: Linux before 4.0 counts acknowledgments.
const MPTCP_0_90_TCP: [(&str, &str); 8] = {
    let [a, b, c, d, e, f, g] = MPTCP_0_9X_TCP;
    [a, b, c, d, e, f, g, ("count_acks", "true")]
};

/// `[mptcp]` of MPTCP 0.88 to 0.93.
const MPTCP_0_9X: &[(&str, &str)] = &[("opportunistic_retransmission", "true"), ("penalisation", "true")];

/// The profile that is used unless another is named.
const LINUX: Profile = Profile {
    name: "linux-6.12",
    doc: "Linux 6.12 with default settings, and for MPTCP the algorithms of RFC 6356 and RFC 8684 (the kernel has \
          no coupled congestion control)",
    tcp: &[],
    mptcp: &[],
    sctp: &[],
    tcp_congestion: "cubic",
    mptcp_congestion: "lia",
    sctp_congestion: "sctp",
    scheduler: "ll",
    path_manager: "full-mesh",
};

/// All profiles; the first is the default one.
pub(crate) const PROFILES: &[Profile] = &[
    LINUX,
    Profile {
        name: "mptcp-0.9",
        doc: "the out-of-tree MPTCP 0.91 on Linux 4.1",
        tcp: &MPTCP_0_9X_TCP,
        mptcp: MPTCP_0_9X,
        ..LINUX
    },
    Profile {
        name: "mptcp-0.90",
        doc: "the out-of-tree MPTCP 0.88 on Linux 3.11 to 0.90 on Linux 3.18, which count acknowledgments",
        tcp: &MPTCP_0_90_TCP,
        mptcp: MPTCP_0_9X,
        ..LINUX
    },
];
