//! Figures over time of the runs of one point, from their series.

use subflow_lab::results::{Run, Series, SeriesPoint};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::Scenario;

use super::bands::{self, merged};
use super::events::events;
use super::figure::{Axis, Curve, CurvePoint, Curves, Figure, Reference, Shape};
use super::palette::Palette;
use super::sequence;
use super::shown_time::ShownTime;

/// The metric of one figure.
pub(super) struct Metric {
    /// The series' name.
    name: &'static str,
    /// Whether only series of flows or only those of subflows are shown; a TCP flow is its own subflow.
    of: Of,
    pub(super) title: &'static str,
    pub(super) label: &'static str,
    caption: &'static str,
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
pub(super) const METRICS: [Metric; 18] = [
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
];

const QUEUE: &str = "queue";
/// With packets there is a view of these instead.
const SEQUENCE: &str = "sequence";

/// Metrics that are often zero from beginning to end.
const IDLE_LEFT_OUT: [&str; 5] = [QUEUE, "blocking", "reassembly", "reassembly-delay", "reinjected"];

/// The figures of `runs`, which are of one point with `scenario`, for all metrics with samples, with the events of its
/// timeline.
pub(super) fn over_time(runs: &[&Run], scenario: &Scenario) -> Vec<Figure> {
    let shown = ShownTime::of(runs.iter().copied());
    let events: Vec<Reference> = events(scenario).into_iter().filter(|event| shown.has(event)).collect();
    let palette = Palette::new(runs, scenario);
    let with_packets = runs.iter().find(|run| !run.result.sequences.is_empty());
    let of = |metric: &Metric| match with_packets {
        Some(run) if metric.name == SEQUENCE => sequence::sequences(run, runs.len() > 1, shown, &events, &palette),
        _ => of_metric(runs, metric, shown, &events, &palette).into_iter().collect(),
    };
    METRICS.iter().flat_map(of).collect()
}

/// The number of points in the figures of runs of one point.
pub(super) fn points(runs: &[&Run]) -> usize {
    let shown = |series: &&Series| METRICS.iter().any(|metric| metric.name == series.metric);
    let sampled =
        |run: &&Run| run.result.series.iter().filter(shown).map(|series| series.points().len()).sum::<usize>();
    // A band has two edges besides the line.
    let sampled = runs.iter().map(sampled).max().unwrap_or(0) * if runs.len() > 1 { 3 } else { 1 };
    sampled + runs.iter().map(|run| sequence::points(run)).find(|points| *points > 0).unwrap_or(0)
}

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

fn of_metric(
    runs: &[&Run],
    metric: &Metric,
    time: ShownTime,
    events: &[Reference],
    palette: &Palette,
) -> Option<Figure> {
    let is_queue = metric.name == QUEUE;
    let mut all = lines(runs, metric);
    if !is_queue {
        all.sort_by_key(|line| palette.of_path(&line.name));
    }
    // What was zero at every sample is left out, to keep the legend short.
    let (idle, shown): (Vec<Line>, Vec<Line>) = all.into_iter().partition(|line| metric.is_idle(line));
    let unit = shown.first()?.unit.clone();
    let mut curves = Curves::new(time.axis(), Axis::new(metric.label, unit));
    let shape = if runs.len() > 1 { Shape::LineAndBand } else { Shape::Line };
    for Line { name, points, .. } in shown {
        let (colour, dashed) = match is_queue {
            true => palette.of_queue(&name).unwrap_or((curves.curves.len(), false)),
            false => (palette.of_path(&name), false),
        };
        curves.add(Curve { points, dashed, ..Curve::new(name).shape(shape).colour(colour) });
    }
    let arrivals = if metric.is_goodput_of_flows() { arriving(runs) } else { Vec::new() };
    let of_arrivals = if arrivals.is_empty() { "" } else { ARRIVALS_CAPTION };
    for Line { name, points, .. } in arrivals {
        let colour = palette.of_path(&name);
        let curve = Curve::new(format!("{name}: arriving")).shape(shape).colour(colour);
        curves.add(Curve { points, dashed: true, ..curve });
    }
    curves.curves.iter_mut().for_each(|curve| time.cut(curve));
    events.iter().for_each(|event| {
        curves.mark(event.clone());
    });
    let zero = match idle.is_empty() {
        true => String::new(),
        false => {
            let names: Vec<&str> = idle.iter().map(|line| line.name.as_str()).collect();
            format!("{} at every sample: {}.", if is_queue { "Empty" } else { "Zero" }, names.join(", "))
        }
    };
    let caption = joined([metric.caption, of_arrivals, &zero, &bands::caption([runs.len()]), &time.caption()]);
    Some(Figure::curves(metric.title, curves).caption(caption))
}

/// The rates at which the data of flows arrives.
fn arriving(runs: &[&Run]) -> Vec<Line> {
    let of_runs: Vec<Vec<Series>> = runs.iter().map(|run| arrivals(run)).collect();
    let line = |first: &Series| {
        let same: Vec<&Series> = of_runs.iter().flatten().filter(|series| series.of == first.of).collect();
        Line { name: first.of.clone(), unit: first.unit.clone(), points: merged(&same, runs.len()) }
    };
    of_runs.first().into_iter().flatten().map(line).collect()
}

/// Sentences that are not empty, with spaces between them.
pub(super) fn joined<'a>(sentences: impl IntoIterator<Item = &'a str>) -> String {
    let sentences: Vec<&str> = sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect();
    sentences.join(" ")
}

impl Metric {
    /// The caption for one line alone.
    pub(super) fn caption_alone(&self) -> &'static str {
        if self.name == QUEUE { "Packets waiting or in transmission." } else { self.caption }
    }

    fn is_goodput_of_flows(&self) -> bool {
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
        Some(format!("{}: {}", flow.name, flow.subflows.get(number.parse::<usize>().ok()?)?.name))
    });
    subflow.unwrap_or_else(|| of.to_owned())
}

/// Maximum number of flows in a figure that has both of each.
const MOST_FLOWS: usize = 4;

/// What the dashed lines are.
const ARRIVALS_CAPTION: &str = "Dashed: data that arrives for the first time. Where more is read than arrives, data that \
                                had waited for a missing piece is read at once, faster than the links carry it: \
                                see the reassembly queue.";

/// The rate at which the data of a flow arrives, beside that at which it is read: a series for each flow of `run` of
/// which data has waited; none if there are many flows. Data that waits for a missing piece is read at once when the
/// piece arrives, faster than all links together could carry it.
pub(super) fn arrivals(run: &Run) -> Vec<Series> {
    let of = |series: &Series, metric: &str| series.metric == metric;
    let waited = |series: &&Series| of(series, "reassembly") && series.points().iter().any(|point| point.value > 0.0);
    let read = |held: &Series| run.result.series.iter().find(|series| of(series, "goodput") && series.of == held.of);
    let all = run.result.series.iter().filter(waited).filter_map(|held| Some(arrival_rate(read(held)?, held)));
    if run.result.flows.len() > MOST_FLOWS { Vec::new() } else { all.collect() }
}

/// What is read, and by how much more data waits: `read` is in Mbit/s over the time since its last point, `held` in kB.
fn arrival_rate(read: &Series, held: &Series) -> Series {
    let mut arriving = Series::new(&read.of, "arriving", &read.unit, Duration::ZERO);
    let (mut since, mut before) = (0.0, 0.0);
    for SeriesPoint { time_s, value } in read.points() {
        // Sample times come from whole nanoseconds.
        let next = held.points().partition_point(|point| point.time_s < time_s + 5e-10);
        let now = next.checked_sub(1).map_or(0.0, |last| held.points()[last].value);
        let rate = value + (now - before) * 8e-3 / (time_s - since);
        arriving.push(Instant::from_nanos((time_s * 1e9).round() as u64), rate.max(0.0));
        (since, before) = (*time_s, now);
    }
    arriving
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_waits_has_arrived_and_is_read_later() {
        let at = |n: u64| Instant::from_nanos(n * 100_000_000);
        let mut read = Series::new("file", "goodput", "Mbit/s", Duration::from_millis(100)).of_rate();
        let mut held = Series::new("file", "reassembly", "kB", Duration::from_millis(50));
        // 8 Mbit/s arrive: 100 kB in each tenth of a second. They wait for 0.2 s.
        for (n, (mbps, kilobytes)) in [(8.0, 0.0), (0.0, 100.0), (0.0, 200.0), (24.0, 0.0)].into_iter().enumerate() {
            held.push(Instant::from_nanos(at(n as u64).as_nanos() + 50_000_000), 50.0);
            held.push(at(n as u64 + 1), kilobytes);
            read.push(at(n as u64 + 1), mbps);
        }
        let rates: Vec<f64> =
            arrival_rate(&read, &held).points().iter().map(|point| (point.value * 1e6).round() / 1e6).collect();
        assert_eq!(rates, [8.0; 4]);
    }
}
