//! The switches of SCTP and of concurrent multipath transfer.

use super::{Default, TableSchema, optional, value, word};
use crate::read::words;

/// `[sctp]`, `[hosts.NAME.sctp]`, `[flows.NAME.sctp]`.
pub(crate) const SCTP: TableSchema = TableSchema {
    path: "[sctp], [hosts.NAME.sctp], [flows.NAME.sctp]",
    doc: "Switches of SCTP, with the same priorities as those of TCP. The flow's `from` and `to` are the path of the \
          handshake, and the primary one unless the flow has `primary`. With `multihomed`, all other interfaces of \
          both hosts add paths, first to first, second to second.",
    fields: &[
        value(
            "cmt",
            "true or false",
            "false",
            "whether data is sent over all paths at the same time (concurrent multipath transfer) instead of the \
             primary one",
        ),
        value("multihomed", "true or false", "true", "whether the handshake lists all addresses of the host"),
        word(
            "window_growth",
            words::window_growth,
            Default::Value("'rfc9260'"),
            "which acknowledgments increase a window",
        ),
        word(
            "fast_recovery",
            words::recovery_scopes,
            Default::None("destination with the window growth per-destination, else association"),
            "whether fast recovery is a state of the association or of a destination",
        ),
        value(
            "avoidance_in_recovery",
            "true or false",
            "true",
            "whether congestion avoidance continues during fast recovery, as in Linux",
        ),
        word(
            "retransmission",
            words::retransmission_policies,
            Default::None("rtx-same with cmt, else rtx-alternate"),
            "the destination of retransmissions",
        ),
        optional(
            "split_fast_retransmit",
            "true or false",
            "the value of cmt",
            "whether only later data of the same destination counts as a miss indication",
        ),
        optional(
            "delayed_ack_cmt",
            "true or false",
            "the value of cmt",
            "whether acknowledgments may be delayed despite gaps, with the number of packets that they acknowledge \
             (DAC)",
        ),
        value(
            "nr_sack",
            "true or false",
            "false",
            "whether acknowledgments list the data beyond a gap that will not be dropped, if both ends support it",
        ),
        value(
            "reneging",
            "true or false",
            "true",
            "whether received data beyond a gap may be dropped when the buffer is full",
        ),
        word(
            "buffer_splitting",
            words::buffer_splitting,
            Default::Value("'none'"),
            "which buffers are divided among the paths, so that a slow path cannot fill them",
        ),
        value("mtu", "a size from 576 to 9000 bytes", "'1500 bytes'", "the largest IP packet"),
        value(
            "initial_ssthresh",
            "\"peer-window\", \"infinite\" or a size",
            "'peer-window'",
            "the slow-start threshold before the first loss: the peer's initial window, none, or this size",
        ),
        value(
            "max_burst",
            "a whole number, 1 or more, or \"unlimited\"",
            "4",
            "the maximum number of packets of new data sent at once",
        ),
        value(
            "burst_per_message",
            "true or false",
            "true",
            "whether max_burst applies to each written message, as in Linux; this matters if the application waits \
             for the send buffer",
        ),
        value("idle_decay", "true or false", "true", "whether a window decreases while nothing is sent"),
        value("streams", "a whole number from 1 to 65535", "10", "the number of requested outbound streams"),
        value(
            "message_size",
            "a size from 1 byte to 16 MiB",
            "'1452 bytes'",
            "the size of the messages into which the data of a flow is divided",
        ),
        value("unordered", "true or false", "false", "whether messages may be delivered before earlier ones"),
        value(
            "lifetime",
            "a duration above zero, or \"unlimited\"",
            "'unlimited'",
            "the time after which an unacknowledged message is abandoned, from when it is written (RFC 3758): with an \
             unlimited send buffer that is the start of a transfer; not with `requests`",
        ),
        value(
            "max_retransmissions",
            "a whole number, or \"unlimited\"",
            "'unlimited'",
            "how often a message is retransmitted before it is abandoned (RFC 7496); not with `requests`",
        ),
        value(
            "nodelay",
            "true or false",
            "true",
            "whether a packet that is not full is sent while data is outstanding",
        ),
        value(
            "initial_rto",
            "a duration above zero",
            "'3 s'",
            "the retransmission timeout before the first RTT sample",
        ),
        value("min_rto", "a duration above zero", "'1 s'", "the lower bound of the retransmission timeout"),
        value("max_rto", "a duration above zero", "'60 s'", "the upper bound of the retransmission timeout"),
        optional(
            "gap_acks_restart_timer",
            "true or false",
            "the value of cmt",
            "whether newly acknowledged data beyond a gap restarts the retransmission timer, as an advance of the \
             cumulative TSN does (RFC 9260 leaves it open, Linux does not)",
        ),
        value(
            "fast_retransmission_restarts_timer",
            "true or false",
            "false",
            "whether a fast retransmission of the earliest outstanding data restarts the retransmission timer (RFC \
             9260 does, Linux does not)",
        ),
        value(
            "late_back_off",
            "true or false",
            "true",
            "whether the retransmission after a timeout starts the timer with the timeout before it is doubled (as in \
             Linux; RFC 9260 doubles it first)",
        ),
        value(
            "single_fast_packet",
            "true or false",
            "true",
            "whether only one packet is fast-retransmitted at once, whatever the window, and the others wait for \
             window space, as in Linux",
        ),
        value(
            "segmentation_offload",
            "true or false",
            "true",
            "whether this packet may be larger than the MTU, up to 64 KiB or half the window, and is divided when it \
             is sent, as in Linux",
        ),
        value("sack_delay", "a duration", "'200 ms'", "how long an acknowledgment waits for another packet"),
        value(
            "sack_frequency",
            "a whole number from 1 to 1000",
            "2",
            "the number of packets of data per acknowledgment",
        ),
        optional(
            "max_gap_blocks",
            "a whole number from 1 to 65535, or \"unlimited\"",
            "unlimited with cmt, else 16",
            "the maximum number of ranges beyond the first gap in an acknowledgment; 16 in Linux, where holes of one \
             path can hide the data that arrived over another",
        ),
        optional(
            "most_tsns_ahead",
            "a whole number from 1 to 32767",
            "32767 with cmt, else 4096",
            "how many chunks beyond the first gap data is accepted; 4096 in Linux, and at most half of the range of a \
             stream's 16-bit sequence number",
        ),
        value("receive_buffer", "a size", "'8 MiB'", "the receive buffer, all of which is advertised"),
        value(
            "send_buffer",
            "a size, or \"unlimited\"",
            "'unlimited'",
            "the send buffer: the amount of unacknowledged data that the application may write",
        ),
        value(
            "association_max_retransmissions",
            "a whole number",
            "10",
            "the number of consecutive timeouts that an association tolerates",
        ),
        value(
            "path_max_retransmissions",
            "a whole number",
            "5",
            "the number of consecutive timeouts that a path tolerates before it is inactive",
        ),
        value(
            "potentially_failed_max_retransmissions",
            "a whole number, or \"unlimited\"",
            "0",
            "the number of consecutive timeouts that are tolerated; after one more the path is potentially failed, \
             and data uses others (RFC 7829); 0 in Linux",
        ),
        optional(
            "probe_at_once",
            "true or false",
            "the value of cmt",
            "whether a path is probed at once when it becomes potentially failed (CMT-PF), not one timeout later as \
             in Linux",
        ),
        optional(
            "sack_ends_potentially_failed",
            "true or false",
            "the value of cmt",
            "whether a path is active again when data that was sent only there is acknowledged (RFC 7829), not only \
             when a probe is answered, as in Linux",
        ),
        value("init_retransmissions", "a whole number", "8", "how often INIT and COOKIE ECHO are retransmitted"),
        value(
            "heartbeat_interval",
            "a duration above zero, or false",
            "'30 s'",
            "how often an idle path is probed; new addresses are probed at once in any case",
        ),
        value("cookie_life", "a duration above zero", "'60 s'", "how long the handshake's cookie is valid"),
        value(
            "udp_encapsulation",
            "true or false",
            "false",
            "whether packets are encapsulated in UDP, from and to port 9899 (RFC 6951)",
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
