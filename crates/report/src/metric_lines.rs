//! The metrics that figures over time show, and their lines: each is of one flow, subflow, direction of a link or
//! interface.

use subflow_lab::results::{Run, Series};

use super::bands::merged;
use super::figure::CurvePoint;
use super::shown_time::ShownTime;

/// The metric of one figure.
pub(super) struct Metric {
    /// The series' name.
    pub(super) name: &'static str,
    /// Whether only series of flows or only those of subflows are shown; a TCP flow is its own subflow.
    of: Of,
    pub(super) title: &'static str,
    pub(super) label: &'static str,
    pub(super) caption: &'static str,
}

/// A metric of one flow, subflow or direction of a link.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) points: Vec<CurvePoint>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Flows,
    Subflows,
    Any,
}

/// The metrics that are shown, in order.
pub(super) const METRICS: [Metric; 19] = [
    Metric {
        name: "goodput",
        of: Of::Flows,
        title: "Goodput",
        label: "goodput",
        caption: "Data that the receiving application read.",
    },
    Metric {
        name: "goodput",
        of: Of::Subflows,
        title: "Goodput of subflows",
        label: "goodput",
        caption: "Data that each subflow delivered first, counted when it is in order in the stream of the connection: what \
                  waited for other subflows counts at once then, so a peak may be above the rate of the link. Later \
                  copies on other subflows do not count.",
    },
    Metric {
        name: "delay",
        of: Of::Any,
        title: "Delay to the reader",
        label: "delay",
        caption: "From the first transmission until the data could be read: the mean of what became readable since the \
                  last sample.",
    },
    Metric {
        name: "reassembly-delay",
        of: Of::Any,
        title: "Delay by reordering and loss",
        label: "delay after arrival",
        caption: "The part of the delay to the reader during which the data had arrived and waited for earlier data.",
    },
    Metric {
        name: "blocking",
        of: Of::Any,
        title: "What the reader waited for",
        label: "share of the time",
        caption: "How long data that had arrived waited for earlier data, by the subflow that carried the missing data \
                  last. At 100 % some data waited at every moment since the last sample; other data may have been read \
                  meanwhile.",
    },
    Metric {
        name: SEQUENCE,
        of: Of::Any,
        title: "Data sequence",
        label: "sent up to",
        caption: "The position in the stream of the new data that each subflow sent last.",
    },
    Metric {
        name: "reassembly",
        of: Of::Any,
        title: "Reassembly queue",
        label: "waiting data",
        caption: "Data that has arrived and waits for earlier data.",
    },
    Metric {
        name: "receive-window",
        of: Of::Any,
        title: "Receive window",
        label: "window",
        caption: "What is left of the window that the receiver has advertised.",
    },
    Metric {
        name: "outstanding",
        of: Of::Any,
        title: "Receive window in use",
        label: "in use",
        caption: "From the first byte that cannot be read yet to the last that was sent. Where this is all of the \
                  receive window, the window limits the sender.",
    },
    Metric {
        name: "reinjected",
        of: Of::Any,
        title: "Data sent again on another subflow",
        label: "copies",
        caption: "By the data level, after a timeout, opportunistically or by the scheduler's choice.",
    },
    Metric { name: "cwnd", of: Of::Any, title: "Congestion window", label: "congestion window", caption: "" },
    Metric {
        name: "ssthresh",
        of: Of::Any,
        title: "Slow-start threshold",
        label: "threshold",
        caption: "Once there is one: below it the congestion window grows in slow start (RFC 5681, ssthresh).",
    },
    Metric {
        name: "pacing-rate",
        of: Of::Any,
        title: "Pacing rate",
        label: "pacing rate",
        caption: "The rate of payload at which a paced sender lets packets leave.",
    },
    Metric {
        name: "bandwidth",
        of: Of::Any,
        title: "Estimated bandwidth",
        label: "estimate",
        caption: "Payload that the bottleneck delivers, as the congestion control estimates it (BBR).",
    },
    Metric { name: "srtt", of: Of::Any, title: "Smoothed round-trip time", label: "smoothed RTT", caption: "" },
    Metric {
        name: "min-rtt",
        of: Of::Any,
        title: "Estimated round-trip time without queues",
        label: "estimate",
        caption: "The smallest round-trip time of the last seconds, as the congestion control keeps it (BBR).",
    },
    Metric {
        name: "flight-size",
        of: Of::Any,
        title: "Bytes in flight",
        label: "in flight",
        caption: "Sent and not yet acknowledged (RFC 5681, FlightSize).",
    },
    Metric {
        name: QUEUE,
        of: Of::Any,
        title: "Queues",
        label: "queue length",
        caption: "Packets waiting or in transmission, for each direction of each link. The link of a path has the colour of \
                  that path; the direction against the data is dashed.",
    },
    Metric {
        name: POWER,
        of: Of::Any,
        title: "Power of interfaces",
        label: "power",
        caption: "What the radio of each interface takes, by the model that the scenario names: the mean since the last \
                  sample.",
    },
];

/// It is of interfaces.
pub(super) const POWER: &str = "power";

pub(super) const QUEUE: &str = "queue";
/// With packets there is a view of these instead.
pub(super) const SEQUENCE: &str = "sequence";

/// Metrics that are often zero from beginning to end.
const IDLE_LEFT_OUT: [&str; 5] = [QUEUE, "blocking", "reassembly", "reassembly-delay", "reinjected"];

/// The series of a metric in `runs`, by the names of what they are of, in the order of the first run that has them.
fn by_name<'r>(runs: &[&'r Run], metric: &Metric) -> Vec<(String, Vec<&'r Series>)> {
    let mut all: Vec<(String, Vec<&Series>)> = Vec::new();
    for run in runs {
        let is_of = |series: &&Series| match metric.of {
            Of::Flows => is_flow(run, &series.of),
            Of::Subflows => !is_flow(run, &series.of),
            Of::Any => true,
        };
        for series in run.result.series.iter().filter(|series| series.metric == metric.name).filter(is_of) {
            let name = name(run, &series.of);
            match all.iter_mut().find(|(known, _)| *known == name) {
                Some((_, same)) => same.push(series),
                None => all.push((name, vec![series])),
            }
        }
    }
    all
}

/// The lines of a metric in runs of one point.
pub(super) fn lines(runs: &[&Run], metric: &Metric) -> Vec<Line> {
    let line = |(name, series): (String, Vec<&Series>)| {
        let unit = series.first().map(|series| series.unit.clone()).unwrap_or_default();
        Line { name, unit, points: merged(&series, runs.len()) }
    };
    by_name(runs, metric).into_iter().map(line).collect()
}

/// The numbers of samples of the lines of a metric in the time that is shown.
pub(super) fn samples(runs: &[&Run], metric: &Metric, time: ShownTime) -> Vec<usize> {
    let shown = |series: &Series| series.points().iter().take_while(|point| point.time_s <= time.end_s()).count();
    let longest = |series: &[&Series]| series.iter().map(|series| shown(series)).max().unwrap_or(0);
    by_name(runs, metric).iter().map(|(_, series)| longest(series)).collect()
}

impl Metric {
    /// The caption for one line alone.
    pub(super) fn caption_alone(&self) -> &'static str {
        if self.name == QUEUE { "Packets waiting or in transmission." } else { self.caption }
    }

    /// Whether it is the goodput of flows, beside which the rate of arrivals is drawn.
    pub(super) fn is_goodput_of_flows(&self) -> bool {
        self.name == "goodput" && self.of == Of::Flows
    }

    /// Whether a line is zero from beginning to end, of a metric of which that is said in words.
    pub(super) fn is_idle(&self, line: &Line) -> bool {
        let is_zero = |point: &CurvePoint| point.y == 0.0 && point.interval.is_none_or(|(low, high)| low == high);
        IDLE_LEFT_OUT.contains(&self.name) && line.points.iter().all(is_zero)
    }
}

/// Whether a series is of a flow or a group of flows, not of a subflow.
fn is_flow(run: &Run, of: &str) -> bool {
    run.result.flows.iter().any(|flow| flow.line() == of)
}

/// The name of `flow` itself; for `flow/2`, the names of the flow and of its third subflow.
pub(super) fn name(run: &Run, of: &str) -> String {
    let subflow = of.rsplit_once('/').filter(|_| !is_flow(run, of)).and_then(|(flow, number)| {
        let flow = run.result.flows.iter().find(|known| known.name == flow)?;
        Some(format!("{}: {}", flow.name, flow.subflows.get(number.parse::<usize>().ok()?)?.label()))
    });
    subflow.unwrap_or_else(|| of.to_owned())
}

/// Sentences that are not empty, with spaces between them.
pub(super) fn joined<'a>(sentences: impl IntoIterator<Item = &'a str>) -> String {
    let sentences: Vec<&str> = sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect();
    sentences.join(" ")
}
