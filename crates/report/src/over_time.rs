//! Figures of one run over time, from its series.

use subflow_lab::results::{Run, Series, flows_and_groups};
use subflow_scenario::Scenario;

use super::events::events;
use super::figure::{Axis, Curve, Curves, Figure, Reference, Shape};
use super::sequence;

/// The metric of one figure.
struct Metric {
    /// The series' name.
    name: &'static str,
    /// Whether only series of flows or only those of subflows are shown; a TCP flow is its own subflow.
    of: Of,
    title: &'static str,
    label: &'static str,
    caption: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Flows,
    Subflows,
    Any,
}

/// The metrics that are shown, in order.
const METRICS: [Metric; 13] = [
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
        caption: "Data that each subflow delivered first; later copies on other subflows do not count.",
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
                  last.",
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
        name: "reinjected",
        of: Of::Any,
        title: "Data sent again on another subflow",
        label: "copies",
        caption: "By the data level, after a timeout, opportunistically or by the scheduler's choice.",
    },
    Metric { name: "cwnd", of: Of::Any, title: "Congestion window", label: "congestion window", caption: "" },
    Metric { name: "srtt", of: Of::Any, title: "Smoothed round-trip time", label: "smoothed RTT", caption: "" },
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
        caption: "Packets waiting or in transmission, for each direction of each link.",
    },
];

const QUEUE: &str = "queue";
/// With packets there is a view of these instead.
const SEQUENCE: &str = "sequence";

/// Metrics that are often zero from beginning to end.
const IDLE_LEFT_OUT: [&str; 5] = [QUEUE, "blocking", "reassembly", "reassembly-delay", "reinjected"];

/// The figures of a run of `scenario`, for all metrics with samples, with the events of its timeline.
pub(super) fn over_time(run: &Run, scenario: &Scenario) -> Vec<Figure> {
    let events = events(scenario);
    let of = |metric: &Metric| match metric.name {
        SEQUENCE if !run.result.sequences.is_empty() => sequence::sequences(run, &events),
        _ => of_metric(run, metric, &events).into_iter().collect(),
    };
    METRICS.iter().flat_map(of).collect()
}

/// The number of points in the figures of a run.
pub(super) fn points(run: &Run) -> usize {
    let shown = |series: &&Series| METRICS.iter().any(|metric| metric.name == series.metric);
    let sampled: usize = run.result.series.iter().filter(shown).map(|series| series.points().len()).sum();
    sampled + sequence::points(run)
}

fn of_metric(run: &Run, metric: &Metric, events: &[Reference]) -> Option<Figure> {
    let is_queue = metric.name == QUEUE;
    let is_of = |series: &&Series| match metric.of {
        Of::Flows => is_flow(run, &series.of),
        Of::Subflows => !is_flow(run, &series.of),
        Of::Any => true,
    };
    let mut all: Vec<&Series> =
        run.result.series.iter().filter(|series| series.metric == metric.name).filter(is_of).collect();
    if !is_queue {
        all.sort_by_key(|series| colour(run, &series.of));
    }
    // What was zero at every sample is left out, to keep the legend short.
    let is_idle = |series: &Series| {
        IDLE_LEFT_OUT.contains(&metric.name) && series.points().iter().all(|point| point.value == 0.0)
    };
    let (idle, shown): (Vec<&Series>, Vec<&Series>) = all.into_iter().partition(|series| is_idle(series));
    let unit = shown.first()?.unit.as_str();
    let time = Axis::new("time", "s").between(0.0, run.result.duration_s);
    let mut curves = Curves::new(time, Axis::new(metric.label, unit));
    for series in shown {
        let points = series.points().iter().map(|point| (point.time_s, point.value));
        let mut curve = Curve::new(name(run, &series.of)).with_points(points).shape(Shape::Line);
        if !is_queue {
            curve = curve.colour(colour(run, &series.of));
        }
        curves.add(curve);
    }
    events.iter().for_each(|event| {
        curves.mark(event.clone());
    });
    let mut caption = metric.caption.to_owned();
    if !idle.is_empty() {
        let names: Vec<String> = idle.iter().map(|series| name(run, &series.of)).collect();
        let zero = if is_queue { "Empty" } else { "Zero" };
        caption += &format!(" {zero} at every sample: {}.", names.join(", "));
    }
    Some(Figure::curves(metric.title, curves).caption(caption))
}

/// Whether a series is of a flow or a group of flows, not of a subflow.
fn is_flow(run: &Run, of: &str) -> bool {
    run.result.flows.iter().any(|flow| flow.line() == of)
}

/// The name of `flow` itself; for `flow/2`, the names of the flow and of its third subflow.
pub(super) fn name(run: &Run, of: &str) -> String {
    let subflow = of.rsplit_once('/').filter(|_| !is_flow(run, of)).and_then(|(flow, number)| {
        let flow = run.result.flows.iter().find(|known| known.name == flow)?;
        Some(format!("{}: {}", flow.name, flow.subflows.get(number.parse::<usize>().ok()?)?.name))
    });
    subflow.unwrap_or_else(|| of.to_owned())
}

/// The colour, which is the same in every figure of the run: by the position of the flow or subflow.
pub(super) fn colour(run: &Run, of: &str) -> usize {
    let (flow, subflow) = match of.rsplit_once('/').filter(|_| !is_flow(run, of)) {
        Some((flow, number)) => (flow, number.parse().unwrap_or(0)),
        None => (of, 0),
    };
    let lines = flows_and_groups(&run.result);
    let before = lines.iter().take_while(|known| known.name != flow);
    before.map(|known| known.subflows.len().max(1)).sum::<usize>() + subflow
}
