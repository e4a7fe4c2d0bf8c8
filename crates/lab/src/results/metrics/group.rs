//! The metrics of a group of flows.

use super::Means;
use crate::results::{Better, GroupResult};

type Metric = super::Metric<GroupResult>;

/// In the order in which summaries show them.
pub static GROUP: &[Metric] = &[
    Metric::count("flows", "", "Number of flows.", |group| Some(group.flows as u64)).shown(
        "flows",
        "flows",
        0,
        Means::None,
    ),
    Metric::count("started", "", "Flows that started before the end of the run.", |group| Some(group.started as u64))
        .summarised("started")
        .shown("started", "started", 0, Means::Mean),
    Metric::count("completed", "", "Flows that completed.", |group| Some(group.completions_s.len() as u64))
        .summarised("completed")
        .shown("done", "completed", 0, Means::Mean),
    Metric::number("completion_mean_s", "s", "Mean time to completion.", GroupResult::mean_s)
        .summarised("completion_mean_s")
        .shown("mean s", "completion s", 3, Means::Interval),
    Metric::number("completion_p50_s", "s", "Median of it.", |group| group.quantile_s(0.5))
        .summarised("completion_p50_s")
        .shown("median s", "median", 3, Means::Mean),
    Metric::number("completion_p95_s", "s", "95th percentile of it.", |group| group.quantile_s(0.95))
        .summarised("completion_p95_s")
        .shown("p95 s", "95th percentile", 3, Means::Mean),
    Metric::number("completion_p99_s", "s", "99th percentile of it.", |group| group.quantile_s(0.99))
        .summarised("completion_p99_s")
        .shown("p99 s", "99th percentile", 3, Means::Interval)
        .compared(
            "completion-p99",
            "99th percentile of the time to completion in a group of flows",
            Better::Lower,
            ["99th percentile of the time to completion", "time to completion"],
        ),
];
