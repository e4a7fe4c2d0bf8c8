//! The metrics of a whole run, of its links, and of each of their directions.

use super::Means;
use crate::results::{Better, DirectionResult, LinkResult, RunResult};

type Metric = super::Metric<RunResult>;
type OfLink = super::Metric<LinkResult>;
type OfDirection = super::Metric<DirectionResult>;

/// In the order of the table `runs`.
pub static RUN: &[Metric] = &[
    Metric::number("duration_s", "s", "Duration of the run.", |run| Some(run.duration_s)),
    Metric::count("flows", "", "Number of flows.", |run| Some(run.flows.len() as u64)),
    TOTAL_GOODPUT,
    FAIRNESS,
    Metric::count("packet_hops", "", "Packets that left a link.", |run| Some(run.engine.packet_hops)),
    Metric::count("events", "", "Events processed.", |run| Some(run.engine.events)),
    Metric::flag("valid", "Whether a run in real time was true to time.", |run| {
        run.real_time.as_ref().map(|real_time| real_time.valid)
    })
    .csv(22),
];

const TOTAL_GOODPUT: Metric =
    Metric::number("total_goodput_mbps", "Mbit/s", "Sum of the flows' goodput.", |run| Some(run.total_goodput_mbps()))
        .summarised("total_goodput_mbps")
        .named_in_statistics("goodput_mbps")
        .shown("Mbit/s", "total Mbit/s", 3, Means::Interval)
        .compared("total-goodput", "sum of the flows' goodput", Better::Higher, ["Goodput of all flows", "goodput"]);

const FAIRNESS: Metric =
    Metric::number("jain_index", "1", "Jain's fairness index of the flows' goodput.", RunResult::jain_index)
        .summarised("jain_index")
        .shown("Jain's index", "Jain's index", 3, Means::Interval)
        .compared("fairness", "Jain's index of the flows' goodput", Better::Higher, ["Fairness", "Jain's index"]);

/// Those of both directions of a link together, in the order in which summaries show them.
pub static LINK: &[OfLink] =
    &[
        OfLink::number("utilisation", "1", "Share of the time in which the busier direction transmitted.", |link| {
            Some(link.utilisation)
        })
        .summarised("utilisation")
        .shown("used", "used %", 1, Means::MeanOnly)
        .scaled(100.0),
        OfLink::count("packets", "", "Packets that reached the far end.", |link| Some(link.packets)).shown(
            "packets",
            "packets",
            0,
            Means::None,
        ),
        OfLink::count("drops", "", "Packets dropped by the queues.", |link| Some(link.drops))
            .summarised("drops")
            .shown("drops", "dropped", 0, Means::Mean),
        OfLink::count("losses", "", "Packets lost on the link.", |link| Some(link.losses)).shown(
            "losses",
            "lost",
            0,
            Means::None,
        ),
    ];

/// Those of a direction, in the order of the table `links`.
pub static DIRECTION: &[OfDirection] = &[
    OfDirection::count("packets", "", "Packets that reached the far end.", |direction| Some(direction.packets)),
    OfDirection::count("bytes", "bytes", "Their IP bytes.", |direction| Some(direction.bytes)),
    OfDirection::count("drops", "", "Packets dropped by the queue.", |direction| Some(direction.drops)),
    OfDirection::count("losses", "", "Packets lost on the link.", |direction| Some(direction.losses)),
    OfDirection::number("utilisation", "1", "Share of the time in which it transmitted, 0 to 1.", |direction| {
        Some(direction.utilisation)
    })
    .shown("used", "used %", 1, Means::None)
    .scaled(100.0),
    OfDirection::count("max_queue_packets", "packets", "The most packets in its queue.", |direction| {
        Some(direction.max_queue_packets)
    })
    .shown("", "longest queue packets", 0, Means::None),
    OfDirection::number("mean_queue_packets", "packets", "Packets in its queue, mean over time.", |direction| {
        Some(direction.mean_queue_packets)
    })
    .shown("", "mean queue packets", 1, Means::None),
    OfDirection::count("marks", "", "Packets on which the queue set Congestion Experienced.", |direction| {
        Some(direction.marks)
    }),
];
