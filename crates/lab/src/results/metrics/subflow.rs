//! The metrics of a subflow; of SCTP, of a destination.

use super::Means;
use super::flow::latencies;
use crate::results::SubflowResult;

type Metric = super::Metric<SubflowResult>;

/// In the order of the table `subflows`. Statistics count a run in which it was not opened as zero.
pub static SUBFLOW: &[&[Metric]] = &[PACKETS, &ONE_WAY_DELAY, &RTT, RETRANSMITTED];

const PACKETS: &[Metric] = &[
    Metric::number("goodput_mbps", "Mbit/s", "Payload that it delivered first, per time.", |of| Some(of.goodput_mbps))
        .csv(7)
        .summarised("goodput_mbps")
        .shown("Mbit/s", "goodput Mbit/s", 3, Means::Interval),
    Metric::count("packets_sent", "", "Segments sent, with retransmissions.", |of| Some(of.packets_sent))
        .csv(10)
        .summarised("packets_sent")
        .shown("packets", "packets sent", 0, Means::Mean),
    Metric::count("retransmissions", "", "Segments sent again.", |of| Some(of.retransmissions))
        .csv(11)
        .summarised("retransmissions")
        .shown("retrans", "retransmissions", 0, Means::Mean),
    Metric::count("copies", "", "Segments that another subflow had been given before.", |of| Some(of.copies)),
    Metric::number("srtt_ms", "ms", "Smoothed RTT at the end.", |of| of.srtt_ms).csv(20).shown(
        "srtt ms",
        "last srtt ms",
        1,
        Means::None,
    ),
    Metric::number("cwnd_packets", "packets", "Congestion window at the end.", |of| of.cwnd_packets).csv(21).shown(
        "cwnd",
        "last cwnd packets",
        0,
        Means::None,
    ),
];

static ONE_WAY_DELAY: [Metric; 4] =
    latencies!("one_way_delay", "time from sending data to its arrival, of data sent once.", |of| of.one_way_delay);

static RTT: [Metric; 4] = latencies!("rtt", "RTT sample of the sender.", |of| of.rtt);

const RETRANSMITTED: &[Metric] = &[
    Metric::count("fast_retransmissions", "", "SCTP: chunks sent again after three miss indications.", |of| {
        Some(of.retransmitted?.fast)
    })
    .csv(12),
    Metric::count("timeout_retransmissions", "", "SCTP: chunks sent again after a timeout.", |of| {
        Some(of.retransmitted?.timeout)
    })
    .csv(13),
    Metric::count("fast_recoveries", "", "SCTP: how often miss indications reduced the window.", |of| {
        Some(of.retransmitted?.fast_recoveries)
    })
    .csv(14),
    Metric::count("timeouts", "", "SCTP: retransmission timeouts.", |of| Some(of.retransmitted?.timeouts)).csv(15),
];
