//! The metrics of flows, of groups of flows, and of subflows (of SCTP, destinations).

use super::{Means, Part};
use crate::results::{Better, FlowResult, GroupResult, SubflowResult};

type Metric = super::Metric<FlowResult>;
type OfGroup = super::Metric<GroupResult>;
type OfSubflow = super::Metric<SubflowResult>;

/// What tells flows apart: the columns before their metrics, with their descriptions.
pub static IDENTITY: &[Metric] = &[
    Metric::word("flow", "Name of the flow.", |flow| Some(&flow.name)).csv(1),
    Metric::word("protocol", "Transport protocol.", |flow| Some(&flow.protocol)).csv(3),
    Metric::word("congestion", "Congestion control.", |flow| flow.congestion.as_deref()).csv(4),
    Metric::word("scheduler", "Packet scheduler.", |flow| flow.scheduler.as_deref()).csv(5),
    Metric::word("path_manager", "Path manager.", |flow| flow.path_manager.as_deref()).csv(6),
];

/// In the order of the table `flows`.
pub static FLOW: &[&[Metric]] =
    &[DATA, GROUP_MEMBER, MESSAGES, EXCHANGES, VIDEO, DATAGRAMS, &DELAY, &REASSEMBLY_DELAY, RETRANSMITTED];

const DATA: &[Metric] = &[
    Metric::number("goodput_mbps", "Mbit/s", "Payload that the receiving application read, per time.", |flow| {
        Some(flow.goodput_mbps)
    })
    .csv(7)
    .summarised("goodput_mbps")
    .shown("Mbit/s", "goodput Mbit/s", 3, Means::Spread)
    .compared("goodput", "goodput of a flow", Better::Higher, ["Goodput", "goodput"])
    .usual(),
    Metric::count("bytes_delivered", "bytes", "Payload that the receiving application read.", |flow| {
        Some(flow.bytes_delivered)
    })
    .csv(8)
    .shown("MB", "delivered MB", 3, Means::None)
    .scaled(1e-6),
    Metric::number("completion_s", "s", "Time from the flow's start to the last byte.", |flow| flow.completion_s)
        .csv(9)
        .summarised("completion_s")
        .shown("done s", "completion s", 3, Means::PageInterval)
        .compared(
            "completion",
            "time to the completion of a flow; of a group the mean of its flows that completed",
            Better::Lower,
            ["Time to completion", "time to completion"],
        )
        .usual(),
    Metric::count("retransmissions", "", "Segments sent again.", |flow| Some(flow.retransmissions))
        .csv(11)
        .summarised("retransmissions")
        .shown("retrans", "retransmissions", 0, Means::Mean)
        .compared(
            "retransmissions",
            "segments of a flow sent again",
            Better::Lower,
            ["Retransmissions", "retransmissions"],
        ),
    Metric::count("timeouts", "", "Retransmission timeouts.", |flow| Some(flow.timeouts))
        .csv(15)
        .summarised("timeouts")
        .shown("RTOs", "timeouts", 0, Means::Mean)
        .compared("timeouts", "retransmission timeouts of a flow", Better::Lower, ["Timeouts", "timeouts"]),
    Metric::count("duplicate_acks", "", "Duplicate acknowledgments received.", |flow| Some(flow.duplicate_acks))
        .csv(18),
    Metric::count("reinjected_bytes", "bytes", "Data sent again on another subflow.", |flow| {
        Some(flow.reinjected_bytes)
    })
    .csv(23)
    .summarised("reinjected_bytes")
    .shown("reinjected MB", "reinjected MB", 3, Means::Interval)
    .scaled(1e-6)
    .part(Part::Reinjections)
    .compared(
        "reinjected",
        "data sent again on another subflow",
        Better::Lower,
        ["Reinjected data", "reinjected data"],
    ),
    Metric::flag("fallback", "Whether MPTCP fell back to TCP.", |flow| Some(flow.fallback)),
    Metric::word("ended", "How the sender's connection ended.", |flow| flow.ended).csv(19),
];

const GROUP_MEMBER: &[Metric] = &[
    Metric::word("group", "Name of the group, of a flow of one with count.", |flow| {
        flow.group.as_ref().map(|group| group.name.as_str())
    }),
    Metric::number("start_s", "s", "Start of a flow of a group.", |flow| Some(flow.group.as_ref()?.start_s)),
    Metric::count("send_bytes", "bytes", "What a flow of a group was to send.", |flow| flow.group.as_ref()?.send_bytes),
];

const MESSAGES: &[Metric] = &[
    Metric::count("messages_abandoned", "", "SCTP: messages given up.", |flow| Some(flow.abandoned?.messages))
        .csv(16)
        .shown("messages given up", "messages given up", 0, Means::None)
        .part(Part::Abandoned),
    Metric::count("bytes_abandoned", "bytes", "SCTP: unacknowledged data given up.", |flow| {
        Some(flow.abandoned?.bytes)
    })
    .csv(17)
    .shown("MB given up", "MB given up", 3, Means::None)
    .scaled(1e-6)
    .part(Part::Abandoned),
];

const EXCHANGES: &[Metric] = &[
    Metric::count("exchanges", "", "Requests that were answered.", |flow| Some(flow.exchanges.as_ref()?.completed))
        .summarised("exchanges.completed")
        .shown("exchanges", "completed", 0, Means::Mean)
        .part(Part::Exchanges),
    Metric::number("exchange_mean_ms", "ms", "Mean time from a request to the end of its response.", |flow| {
        flow.exchanges.as_ref()?.mean_ms
    })
    .csv(24)
    .summarised("exchanges.mean_ms")
    .shown("mean ms", "mean ms", 1, Means::Interval)
    .part(Part::Exchanges)
    .compared(
        "exchange",
        "mean time of a request and its response",
        Better::Lower,
        ["Time of a request and its response", "mean time"],
    )
    .usual(),
    Metric::number("exchange_median_ms", "ms", "Median of it.", |flow| flow.exchanges.as_ref()?.median_ms)
        .csv(26)
        .summarised("exchanges.median_ms")
        .shown("median ms", "median ms", 1, Means::Mean)
        .part(Part::Exchanges)
        .compared(
            "exchange-p50",
            "median time of a request and its response",
            Better::Lower,
            ["Median time of a request and its response", "median time"],
        ),
    Metric::number("exchange_p95_ms", "ms", "95th percentile of it.", |flow| flow.exchanges.as_ref()?.p95_ms)
        .csv(25)
        .summarised("exchanges.p95_ms")
        .shown("p95 ms", "95th percentile ms", 1, Means::Interval)
        .part(Part::Exchanges)
        .compared(
            "exchange-p95",
            "95th percentile of the time of a request and its response",
            Better::Lower,
            ["95th percentile of the time of a request and its response", "95th percentile"],
        ),
    Metric::number("exchange_p99_ms", "ms", "99th percentile of it.", |flow| flow.exchanges.as_ref()?.p99_ms)
        .csv(27)
        .summarised("exchanges.p99_ms")
        .shown("p99 ms", "99th percentile ms", 1, Means::Mean)
        .part(Part::Exchanges)
        .compared(
            "exchange-p99",
            "99th percentile of the time of a request and its response",
            Better::Lower,
            ["99th percentile of the time of a request and its response", "99th percentile"],
        ),
    Metric::number("exchange_in_time", "1", "Share of the exchanges that met their deadline.", |flow| {
        flow.exchanges.as_ref()?.in_time
    })
    .csv(28)
    .summarised("exchanges.in_time")
    .shown("in time", "in time %", 1, Means::Mean)
    .scaled(100.0)
    .part(Part::Exchanges)
    .compared(
        "exchange-in-time",
        "share of the exchanges that met their deadline",
        Better::Higher,
        ["Exchanges in time", "share in time"],
    ),
];

const VIDEO: &[Metric] = &[
    Metric::number("video_startup_s", "s", "Video: time from the first request until playback began.", |flow| {
        flow.video.as_ref()?.startup_s
    })
    .csv(29)
    .summarised("video.startup_s")
    .shown("startup s", "startup s", 3, Means::Interval)
    .part(Part::Video)
    .compared("video-startup", "time until a video begins", Better::Lower, ["Startup of videos", "startup"]),
    Metric::count("video_stalls", "", "Video: how often playback stalled.", |flow| Some(flow.video.as_ref()?.stalls))
        .csv(30)
        .summarised("video.stalls")
        .shown("stalls", "stalls", 0, Means::Mean)
        .part(Part::Video)
        .compared("video-stalls", "number of stalls of a video", Better::Lower, ["Stalls of videos", "stalls"]),
    Metric::number("video_stalled_s", "s", "Video: time of stalls.", |flow| Some(flow.video.as_ref()?.stalled_s))
        .csv(31)
        .summarised("video.stalled_s")
        .shown("stalled s", "stalled s", 3, Means::Interval)
        .part(Part::Video)
        .compared("video-stalled", "time in which a video stalls", Better::Lower, ["Time of stalls", "time of stalls"]),
    Metric::number("video_quality_mbps", "Mbit/s", "Video: mean bit rate of the chunks that arrived.", |flow| {
        flow.video.as_ref()?.quality_mbps
    })
    .csv(32)
    .summarised("video.quality_mbps")
    .shown("quality Mbit/s", "quality Mbit/s", 3, Means::Interval)
    .part(Part::Video)
    .compared("video-quality", "mean bit rate of a video", Better::Higher, ["Quality of videos", "mean bit rate"]),
    Metric::count("video_switches", "", "Video: how often the quality changed.", |flow| {
        Some(flow.video.as_ref()?.switches)
    })
    .csv(33)
    .summarised("video.switches")
    .shown("switches", "switches", 0, Means::Mean)
    .part(Part::Video)
    .compared(
        "video-switches",
        "number of changes of a video's quality",
        Better::Lower,
        ["Changes of quality", "changes of quality"],
    ),
    Metric::number("video_played_s", "s", "Video: content that was played.", |flow| {
        Some(flow.video.as_ref()?.played_s)
    })
    .csv(34)
    .summarised("video.played_s")
    .shown("played s", "played s", 1, Means::Mean)
    .part(Part::Video),
];

const DATAGRAMS: &[Metric] = &[
    Metric::count("datagrams_sent", "", "UDP: datagrams sent.", |flow| Some(flow.datagrams.as_ref()?.sent))
        .shown("sent", "sent", 0, Means::None)
        .part(Part::Datagrams),
    Metric::count("datagrams_received", "", "UDP: datagrams received, with duplicates.", |flow| {
        Some(flow.datagrams.as_ref()?.received)
    })
    .shown("received", "received", 0, Means::None)
    .part(Part::Datagrams),
];

/// Mean and percentiles of times: `NAME_mean_ms`, `NAME_p50_ms`, `NAME_p95_ms`, `NAME_p99_ms`. They are recorded in runs
/// with metrics over time only.
macro_rules! latencies {
    ($metric:ident, $name:literal, $description:literal, |$of:ident| $latency:expr) => {
        [
            $metric::number(concat!($name, "_mean_ms"), "ms", concat!("With series: mean ", $description), |$of| {
                Some($latency?.mean_ms)
            }),
            $metric::number(concat!($name, "_p50_ms"), "ms", "Median of it.", |$of| Some($latency?.p50_ms)),
            $metric::number(concat!($name, "_p95_ms"), "ms", "95th percentile of it.", |$of| Some($latency?.p95_ms)),
            $metric::number(concat!($name, "_p99_ms"), "ms", "99th percentile of it.", |$of| Some($latency?.p99_ms)),
        ]
    };
}

static DELAY: [Metric; 4] =
    latencies!(Metric, "delay", "time from the first transmission of data until it could be read.", |flow| flow.delay);

static REASSEMBLY_DELAY: [Metric; 4] =
    latencies!(Metric, "reassembly_delay", "part of it after the arrival.", |flow| flow.reassembly_delay);

const RETRANSMITTED: &[Metric] = &[
    Metric::count("fast_retransmissions", "", "SCTP: chunks sent again after three miss indications.", |flow| {
        Some(flow.retransmitted?.fast)
    })
    .csv(12),
    Metric::count("timeout_retransmissions", "", "SCTP: chunks sent again after a timeout.", |flow| {
        Some(flow.retransmitted?.timeout)
    })
    .csv(13),
    Metric::count("fast_recoveries", "", "SCTP: how often miss indications reduced a window.", |flow| {
        Some(flow.retransmitted?.fast_recoveries)
    })
    .csv(14),
    Metric::count(
        "fast_retransmits",
        "",
        "SCTP: fast retransmissions, one for each SACK and path (Linux SctpFastRetransmits).",
        |flow| Some(flow.retransmitted?.fast_retransmits),
    ),
];

/// Those of a group of flows, in the order in which summaries show them.
pub static GROUP: &[OfGroup] = &[
    OfGroup::count("flows", "", "Number of flows.", |group| Some(group.flows as u64)).shown(
        "flows",
        "flows",
        0,
        Means::None,
    ),
    OfGroup::count("started", "", "Flows that started before the end of the run.", |group| Some(group.started as u64))
        .summarised("started")
        .shown("started", "started", 0, Means::Mean),
    OfGroup::count("completed", "", "Flows that completed.", |group| Some(group.completions_s.len() as u64))
        .summarised("completed")
        .shown("done", "completed", 0, Means::Mean),
    OfGroup::number("completion_mean_s", "s", "Mean time to completion.", GroupResult::mean_s)
        .summarised("completion_mean_s")
        .shown("mean s", "completion s", 3, Means::Interval),
    OfGroup::number("completion_p50_s", "s", "Median of it.", |group| group.quantile_s(0.5))
        .summarised("completion_p50_s")
        .shown("median s", "median s", 3, Means::Mean),
    OfGroup::number("completion_p95_s", "s", "95th percentile of it.", |group| group.quantile_s(0.95))
        .summarised("completion_p95_s")
        .shown("p95 s", "95th percentile s", 3, Means::Mean),
    OfGroup::number("completion_p99_s", "s", "99th percentile of it.", |group| group.quantile_s(0.99))
        .summarised("completion_p99_s")
        .shown("p99 s", "99th percentile s", 3, Means::Interval)
        .compared(
            "completion-p99",
            "99th percentile of the time to completion in a group of flows",
            Better::Lower,
            ["99th percentile of the time to completion", "time to completion"],
        ),
];

/// Those of a subflow, in the order of the table `subflows`. Statistics count a run in which it was not opened as zero.
pub static SUBFLOW: &[&[OfSubflow]] = &[PACKETS, &ONE_WAY_DELAY, &RTT, SUBFLOW_RETRANSMITTED];

const PACKETS: &[OfSubflow] =
    &[
        OfSubflow::number("goodput_mbps", "Mbit/s", "Payload that it delivered first, per time.", |of| {
            Some(of.goodput_mbps)
        })
        .csv(7)
        .summarised("goodput_mbps")
        .shown("Mbit/s", "goodput Mbit/s", 3, Means::Interval),
        OfSubflow::count("packets_sent", "", "Segments sent, with retransmissions.", |of| Some(of.packets_sent))
            .csv(10)
            .summarised("packets_sent")
            .shown("packets", "packets sent", 0, Means::Mean),
        OfSubflow::count("retransmissions", "", "Segments sent again.", |of| Some(of.retransmissions))
            .csv(11)
            .summarised("retransmissions")
            .shown("retrans", "retransmissions", 0, Means::Mean),
        OfSubflow::count("copies", "", "Segments that another subflow had been given before.", |of| Some(of.copies)),
        OfSubflow::number("srtt_ms", "ms", "Smoothed RTT at the end.", |of| of.srtt_ms).csv(20).shown(
            "srtt ms",
            "last srtt ms",
            1,
            Means::None,
        ),
        OfSubflow::number("cwnd_packets", "packets", "Congestion window at the end.", |of| of.cwnd_packets)
            .csv(21)
            .shown("cwnd packets", "last cwnd packets", 0, Means::None),
    ];

static ONE_WAY_DELAY: [OfSubflow; 4] =
    latencies!(OfSubflow, "one_way_delay", "time from sending data to its arrival, of data sent once.", |of| of
        .one_way_delay);

static RTT: [OfSubflow; 4] = latencies!(OfSubflow, "rtt", "RTT sample of the sender.", |of| of.rtt);

const SUBFLOW_RETRANSMITTED: &[OfSubflow] = &[
    OfSubflow::count("fast_retransmissions", "", "SCTP: chunks sent again after three miss indications.", |of| {
        Some(of.retransmitted?.fast)
    })
    .csv(12),
    OfSubflow::count("timeout_retransmissions", "", "SCTP: chunks sent again after a timeout.", |of| {
        Some(of.retransmitted?.timeout)
    })
    .csv(13),
    OfSubflow::count("fast_recoveries", "", "SCTP: how often miss indications reduced the window.", |of| {
        Some(of.retransmitted?.fast_recoveries)
    })
    .csv(14),
    OfSubflow::count(
        "fast_retransmits",
        "",
        "SCTP: fast retransmissions, one for each SACK and path (Linux SctpFastRetransmits).",
        |of| Some(of.retransmitted?.fast_retransmits),
    ),
    OfSubflow::count("timeouts", "", "SCTP: retransmission timeouts.", |of| Some(of.retransmitted?.timeouts)).csv(15),
];
