//! The switches of TCP and MPTCP, and the profiles: sets of defaults after stacks that exist.

use super::{Default, TableSchema, value, word};
use crate::read::words;

/// `[tcp]`, `[hosts.NAME.tcp]`, `[flows.NAME.tcp]`.
pub(crate) const TCP: TableSchema = TableSchema {
    path: "[tcp], [hosts.NAME.tcp], [flows.NAME.tcp]",
    doc: "Switches of TCP and of each MPTCP subflow. What a flow says goes before what its host says, that before the scenario's, and that before the profile's. The defaults here are those of the profile `linux-6.12`.",
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
        value("max_retries", "a whole number", "15", "how many timeouts in a row a connection survives"),
        value("syn_retries", "a whole number", "6", "how often a SYN is sent again"),
        value(
            "delayed_ack",
            "false, or a table",
            "{}",
            "when data is acknowledged: a table of its times, or false for every packet at once",
        ),
        value(
            "sack_compression",
            "false, or a table",
            "{}",
            "whether acknowledgments are held back while data is missing, as Linux does since 4.18",
        ),
        word("loss_detection", words::loss_detection, Default::Value("'rack'"), "how lost packets are found"),
        value(
            "prr",
            "true or false",
            "true",
            "whether the window comes down bit by bit in recovery (RFC 6937) instead of at once",
        ),
        value("tlp", "true or false", "true", "whether tail loss probes are sent (RFC 8985, section 7)"),
        value("frto", "true or false", "true", "whether spurious timeouts are found (RFC 5682)"),
        value(
            "undo",
            "true or false",
            "true",
            "whether a reduction that proves wrong is taken back (RFC 3522, RFC 3708)",
        ),
        value("hystart", "true or false", "true", "whether CUBIC leaves slow start when the delay grows"),
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
            "whether the thresholds of OLIA and CMT/RP never fall below two packets, as Linux's Reno's, instead of one",
        ),
        word("cmt_rpv2", words::cmt_rpv2_forms, Default::Value("'formula'"), "which CMT/RPv2 `cmt-rpv2` is"),
        value(
            "slow_start_at_threshold",
            "true or false",
            "false",
            "whether slow start goes on at the threshold and ends one packet past it, as in Linux before 4.3",
        ),
        value(
            "count_acks",
            "true or false",
            "false",
            "whether congestion avoidance counts acknowledgments instead of what they acknowledge, as in Linux before 4.0",
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
            "receive_buffer",
            "a size, or a table { initial, maximum }",
            "{ initial = '128 KiB', maximum = '16 MiB' }",
            "the receive buffer: fixed, or growing with what the connection needs",
        ),
        value(
            "send_buffer",
            "a size, \"unlimited\", or a table { initial, maximum }",
            "{ initial = '16 KiB', maximum = '16 MiB' }",
            "the send buffer: how much the application may write ahead of what is acknowledged. One that grows with the window limits only schedulers that queue data ahead of it (`linux-default`)",
        ),
        value("timer_tick", "a duration", "'4 ms'", "what timers are rounded up to; 0 s makes them exact"),
        value(
            "timer_wheel",
            "true or false",
            "true",
            "whether timers of 63 ticks and more fire up to 8 ticks late, of 504 and more up to 64, and so on, as in Linux since 4.8",
        ),
    ],
};

/// `delayed_ack = { … }`.
pub(crate) const DELAYED_ACK: TableSchema = TableSchema {
    path: "delayed_ack = { … }",
    doc: "Every second full-sized packet is acknowledged, or what there is after a time that adapts between two bounds.",
    fields: &[
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
    doc: "While data is missing, acknowledgments past the third duplicate are held back for the smaller of a twentieth of the RTT and `delay`.",
    fields: &[
        value("delay", "a duration", "'1 ms'", "the longest delay"),
        value("slack", "a duration", "'100 us'", "what the machine's timer adds"),
        value("count", "a whole number", "44", "how many are held back at most"),
    ],
};

/// `receive_buffer = { … }`.
pub(crate) const RECEIVE_BUFFER: TableSchema = TableSchema {
    path: "receive_buffer = { … }",
    doc: "A buffer that grows with what the connection needs.",
    fields: &[
        value("initial", "a size above zero", "'128 KiB'", "its size at the start; half of it is advertised"),
        value("maximum", "a size, at least the initial one", "'16 MiB'", "its upper bound"),
    ],
};

/// `send_buffer = { … }`.
pub(crate) const SEND_BUFFER: TableSchema = TableSchema {
    path: "send_buffer = { … }",
    doc: "A buffer that grows with the window, as Linux's does, for each subflow. With a scheduler that queues data ahead it is accounted for as there: writes fill page fragments of 32 KiB, packets take up more than their payload, and a fragment is handed down whole. Otherwise it never is the limit.",
    fields: &[
        value(
            "initial",
            "a size above zero",
            "'16 KiB'",
            "its size at the start; a window of ten packets makes it 85 KiB",
        ),
        value("maximum", "a size, at least the initial one", "'16 MiB'", "its upper bound"),
    ],
};

/// `[mptcp]`, `[hosts.NAME.mptcp]`, `[flows.NAME.mptcp]`.
pub(crate) const MPTCP: TableSchema = TableSchema {
    path: "[mptcp], [hosts.NAME.mptcp], [flows.NAME.mptcp]",
    doc: "Switches of the MPTCP level, found in the same order as those of TCP.",
    fields: &[
        value(
            "max_subflows",
            "a whole number from 1 to 64",
            "32",
            "how many subflows a connection has at most, the initial one included",
        ),
        value("checksum", "true or false", "false", "whether DSS checksums are used"),
        value(
            "opportunistic_retransmission",
            "true or false",
            "false",
            "whether the oldest missing data is sent again on a free subflow when the receive window blocks",
        ),
        value(
            "penalisation",
            "true or false",
            "false",
            "whether the subflow that holds the receive window up gets its window halved then",
        ),
        value(
            "stale_loss_count",
            "a whole number from 0 to 254",
            "0",
            "0: what a subflow carries goes to others at its first timeout; otherwise as Linux's `net.mptcp.stale_loss_cnt` (4): \
             after more periods of some 200 ms without a sign of life, and all outstanding data is sent again",
        ),
    ],
};

/// A named set of defaults. Keys of `tcp`, `mptcp` and `sctp` that it leaves out have the schema's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Profile {
    /// Its name.
    pub name: &'static str,
    /// What it stands for.
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

/// All profiles; the first is the default one.
pub(crate) const PROFILES: &[Profile] = &[
    Profile {
        name: "linux-6.12",
        doc: "Linux 6.12 with default settings, and for MPTCP the algorithms of RFC 6356 and RFC 8684 (the kernel has no coupled congestion control)",
        tcp: &[],
        mptcp: &[],
        sctp: &[],
        tcp_congestion: "cubic",
        mptcp_congestion: "lia",
        sctp_congestion: "sctp",
        scheduler: "ll",
        path_manager: "full-mesh",
    },
    Profile {
        name: "mptcp-0.9",
        doc: "the out-of-tree MPTCP 0.9x on Linux 3.18 to 4.1, as the papers used it",
        tcp: &[
            ("loss_detection", "'dup-thresh'"),
            ("sack_compression", "false"),
            ("fixed_point", "true"),
            ("two_segment_floor", "true"),
            ("slow_start_at_threshold", "true"),
            ("timer_wheel", "false"),
            ("receive_buffer", "{ initial = '87380 bytes', maximum = '6 MiB' }"),
        ],
        mptcp: &[("opportunistic_retransmission", "true"), ("penalisation", "true")],
        sctp: &[],
        tcp_congestion: "cubic",
        mptcp_congestion: "lia",
        sctp_congestion: "sctp",
        scheduler: "ll",
        path_manager: "full-mesh",
    },
];
