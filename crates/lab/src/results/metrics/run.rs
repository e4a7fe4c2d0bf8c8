//! The metrics of a whole run, of its links, of each of their directions, and of interfaces whose energy is counted.

use super::Means;
use crate::results::{Better, DirectionResult, InterfaceResult, LinkResult, RunResult};

type Metric = super::Metric<RunResult>;
type OfLink = super::Metric<LinkResult>;
type OfDirection = super::Metric<DirectionResult>;
type OfInterface = super::Metric<InterfaceResult>;

/// In the order of the table `runs`.
pub static RUN: &[Metric] = &[
    Metric::number("duration_s", "s", "Duration of the run.", |run| Some(run.duration_s)),
    Metric::count("flows", "", "Number of flows.", |run| Some(run.flows.len() as u64)),
    TOTAL_GOODPUT,
    FAIRNESS,
    ENERGY,
    ENERGY_PER_MB,
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

const ENERGY: Metric =
    Metric::number("energy_j", "J", "Energy of all interfaces of which it is counted.", RunResult::energy_j)
        .csv(35)
        .if_any()
        .summarised("energy.energy_j")
        .shown("J", "energy J", 3, Means::Interval)
        .compared("energy", "energy of all interfaces of which it is counted", Better::Lower, ["Energy", "energy"]);

const ENERGY_PER_MB: Metric = Metric::number(
    "energy_j_per_mb",
    "J/MB",
    "The same for each megabyte of payload that the applications read.",
    RunResult::energy_j_per_mb,
)
.csv(36)
.if_any()
.summarised("energy.energy_j_per_mb")
.shown("J/MB", "energy J/MB", 3, Means::Interval)
.compared(
    "energy-per-mb",
    "the same for each megabyte that the applications read",
    Better::Lower,
    ["Energy for each megabyte", "energy per MB"],
);

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

/// Those of an interface whose energy is counted, in the order of the table `interfaces`.
pub static INTERFACE: &[OfInterface] = &[
    OfInterface::number("energy_j", "J", "Energy of the radio.", |interface| Some(interface.energy_j))
        .summarised("energy_j")
        .shown("J", "energy J", 3, Means::Interval),
    OfInterface::number(
        "energy_j_per_mb",
        "J/MB",
        "The same for each megabyte of IP packets sent or received.",
        |interface| interface.energy_j_per_mb(),
    )
    .summarised("energy_j_per_mb")
    .shown("J/MB", "energy J/MB", 3, Means::Interval),
    OfInterface::count("sent_bytes", "bytes", "IP bytes sent, also those that were lost afterwards.", |interface| {
        Some(interface.sent_bytes)
    })
    .summarised("sent_bytes")
    .shown("sent MB", "sent MB", 3, Means::Mean)
    .scaled(1e-6),
    OfInterface::count("received_bytes", "bytes", "IP bytes received.", |interface| Some(interface.received_bytes))
        .summarised("received_bytes")
        .shown("received MB", "received MB", 3, Means::Mean)
        .scaled(1e-6),
    OfInterface::count("promotions", "", "How often it went from idle to connected.", |interface| {
        Some(interface.promotions)
    })
    .summarised("promotions")
    .shown("promotions", "promotions", 0, Means::Mean),
    OfInterface::number("promotion_s", "s", "Time in promotions.", |interface| Some(interface.promotion_s)),
    OfInterface::number("active_s", "s", "Time of continuous reception.", |interface| Some(interface.active_s))
        .summarised("active_s")
        .shown("active s", "active s", 3, Means::Mean),
    OfInterface::number("tail_s", "s", "Time in tails, without packets.", |interface| Some(interface.tail_s))
        .summarised("tail_s")
        .shown("tail s", "tail s", 3, Means::Mean),
    OfInterface::number("idle_s", "s", "Time without a connection.", |interface| Some(interface.idle_s)),
];
