//! The metrics of a whole run.

use super::Means;
use crate::results::{Better, RunResult};

type Metric = super::Metric<RunResult>;

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
