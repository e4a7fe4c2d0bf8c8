//! The metrics of a link and of each of its directions.

use super::{Means, Metric};
use crate::results::{DirectionResult, LinkResult};

/// Those of both directions together, in the order in which summaries show them.
pub static LINK: &[Metric<LinkResult>] =
    &[
        Metric::<LinkResult>::number(
            "utilisation",
            "1",
            "Share of the time in which the busier direction transmitted.",
            |link| Some(link.utilisation),
        )
        .summarised("utilisation")
        .shown("used", "used %", 1, Means::MeanOnly)
        .scaled(100.0),
        Metric::<LinkResult>::count("packets", "", "Packets that reached the far end.", |link| Some(link.packets))
            .shown("packets", "packets", 0, Means::None),
        Metric::<LinkResult>::count("drops", "", "Packets dropped by the queues.", |link| Some(link.drops))
            .summarised("drops")
            .shown("drops", "dropped", 0, Means::Mean),
        Metric::<LinkResult>::count("losses", "", "Packets lost on the link.", |link| Some(link.losses)).shown(
            "losses",
            "lost",
            0,
            Means::None,
        ),
    ];

/// Those of a direction, in the order of the table `links`.
pub static DIRECTION: &[Metric<DirectionResult>] = &[
    Metric::<DirectionResult>::count("packets", "", "Packets that reached the far end.", |direction| {
        Some(direction.packets)
    }),
    Metric::<DirectionResult>::count("bytes", "bytes", "Their IP bytes.", |direction| Some(direction.bytes)),
    Metric::<DirectionResult>::count("drops", "", "Packets dropped by the queue.", |direction| Some(direction.drops)),
    Metric::<DirectionResult>::count("losses", "", "Packets lost on the link.", |direction| Some(direction.losses)),
    Metric::<DirectionResult>::number(
        "utilisation",
        "1",
        "Share of the time in which it transmitted, 0 to 1.",
        |direction| Some(direction.utilisation),
    )
    .shown("used", "used %", 1, Means::None)
    .scaled(100.0),
    Metric::<DirectionResult>::count("max_queue_packets", "packets", "The most packets in its queue.", |direction| {
        Some(direction.max_queue_packets)
    })
    .shown("", "longest", 0, Means::None),
    Metric::<DirectionResult>::number(
        "mean_queue_packets",
        "packets",
        "Packets in its queue, mean over time.",
        |direction| Some(direction.mean_queue_packets),
    )
    .shown("", "mean queue", 1, Means::None),
];
