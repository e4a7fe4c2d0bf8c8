//! What the page shows at an instant of the first run: queues of links and windows of subflows, from the metrics over time;
//! and what each subflow sent and up to where the reader could read, from the packets.

use std::collections::BTreeMap;

use serde::Serialize;
use subflow_lab::results::{Experiment, FlowResult, Sequence, SequenceKind, Series};

use crate::waits::Waits;

const METRICS: [&str; 6] = ["goodput", "cwnd", "in-flight", "srtt", "blocking", "queue"];
/// More series are for the report.
const MOST_SERIES: usize = 150;
/// The most points of a kind of each subflow. More could not be told apart.
const MOST_POINTS: usize = 6000;
/// The most kinds of all subflows and flows.
const MOST_SEQUENCES: usize = 60;

/// The series of the first run that has some.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Moments<'a> {
    /// Until when something was on its way, in seconds.
    end_s: f64,
    /// The names of subflows, by the names of their series.
    names: BTreeMap<String, &'a str>,
    series: Vec<Metric<'a>>,
}

#[derive(Debug, Serialize)]
struct Metric<'a> {
    of: &'a str,
    metric: &'a str,
    /// The largest value.
    most: f64,
    /// Times in seconds, and values.
    points: Vec<(f64, f64)>,
}

impl<'a> Moments<'a> {
    /// Those of an experiment.
    pub(crate) fn of(experiment: &'a Experiment) -> Self {
        let Some(run) = experiment.runs.iter().find(|run| !run.result.series.is_empty()) else {
            return Self::default();
        };
        let is_shown = |series: &&Series| METRICS.contains(&series.metric.as_str());
        let series: Vec<Metric<'_>> =
            run.result.series.iter().filter(is_shown).take(MOST_SERIES).map(Metric::of).collect();
        let last_busy =
            |metric: &Metric<'_>| metric.points.iter().rfind(|(_, value)| *value > 0.0).map(|(time, _)| *time);
        // Windows and round-trip times keep their values when nothing is sent any more.
        let busy = series.iter().filter(|of| ["goodput", "in-flight", "queue"].contains(&of.metric));
        let end_s = busy.filter_map(last_busy).fold(0.0, f64::max);
        let end_s = if end_s > 0.0 { end_s } else { run.result.duration_s };
        let subflows = |flow: &'a FlowResult| {
            let named = flow.subflows.iter().enumerate();
            named.map(|(index, subflow)| (format!("{}/{index}", flow.name), subflow.name.as_str()))
        };
        let has_series = |name: &str| series.iter().any(|metric| metric.of == name);
        let names = run.result.flows.iter().flat_map(subflows).filter(|(of, _)| has_series(of)).collect();
        Self { end_s, names, series }
    }
}

impl<'a> Metric<'a> {
    fn of(series: &'a Series) -> Self {
        let points: Vec<(f64, f64)> = series.points().iter().map(|point| (point.time_s, point.value)).collect();
        let most = points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        Self { of: &series.of, metric: &series.metric, most, points }
    }
}

/// What happened to data.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Packets<'a> {
    sequences: Vec<Points<'a>>,
    waits: Vec<Waits<'a>>,
}

#[derive(Debug, Serialize)]
struct Points<'a> {
    /// The subflow, as in the series; of what can be read, the flow.
    of: &'a str,
    kind: SequenceKind,
    /// One of so many is here.
    every: u64,
    /// Times in seconds, and positions in the stream in bytes.
    points: Vec<(f64, u64)>,
}

impl<'a> Packets<'a> {
    /// Those of the first run whose packets were recorded.
    pub(crate) fn of(experiment: &'a Experiment) -> Self {
        let Some(run) = experiment.runs.iter().find(|run| !run.result.sequences.is_empty()) else {
            return Self::default();
        };
        let sequences = &run.result.sequences;
        Self { sequences: sequences.iter().take(MOST_SEQUENCES).map(Points::of).collect(), waits: Waits::of(sequences) }
    }
}

impl<'a> Points<'a> {
    fn of(sequence: &'a Sequence) -> Self {
        let all = sequence.points();
        let step = all.len().div_ceil(MOST_POINTS).max(1);
        let points = all.iter().step_by(step).map(|point| (point.time_s, point.offset)).collect();
        Self { of: &sequence.of, kind: sequence.kind, every: sequence.every * step as u64, points }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_lab::execute::execute;
    use subflow_lab::simulate::RunOptions;
    use subflow_scenario::file::Document;
    use subflow_scenario::sweep::Plan;

    use super::*;

    #[test]
    fn queues_and_subflows_have_their_values_over_time() {
        let text = include_str!("gallery/wifi-lte.toml").to_owned();
        let plan = Plan::read(Document::parse(Path::new("wifi-lte.toml"), text).expect("TOML")).expect("a scenario");
        let options = RunOptions { series: true, ..RunOptions::default() };
        let experiment = execute(&plan, 1, &options, &|_| {}).expect("it runs");
        let moments = Moments::of(&experiment);
        let names: Vec<&str> = moments.names.values().copied().collect();
        assert_eq!(names, ["phone.wifi-server.eth", "phone.lte-server.eth"]);
        let done = experiment.runs[0].result.flows[0].completion_s.expect("it completes");
        assert!((done..done + 1.0).contains(&moments.end_s), "{} {done}", moments.end_s);
        let most = |of: &str| moments.series.iter().find(|metric| metric.of == of).map(|metric| metric.most);
        assert_eq!(most("lte.up"), Some(200.0), "the queue was full");
        assert!(Moments::of(&Experiment::new(&plan, Vec::new())).series.is_empty());
    }

    #[test]
    fn each_subflow_has_the_packets_that_it_sent_and_the_flow_what_could_be_read() {
        let text = include_str!("gallery/wifi-lte.toml").to_owned();
        let plan = Plan::read(Document::parse(Path::new("wifi-lte.toml"), text).expect("TOML")).expect("a scenario");
        let options = RunOptions { series: true, ..RunOptions::default() };
        let experiment = execute(&plan, 1, &options, &|_| {}).expect("it runs");
        let packets = Packets::of(&experiment);
        let find = |of: &str, kind| packets.sequences.iter().find(|points| points.of == of && points.kind == kind);
        for of in ["file/0", "file/1"] {
            let sent = find(of, SequenceKind::Sent).expect("packets");
            assert!((100..=MOST_POINTS).contains(&sent.points.len()) && sent.every >= 1, "{of}: {}", sent.points.len());
        }
        let readable = &find("file", SequenceKind::Readable).expect("what can be read").points;
        assert!(readable.is_sorted() && readable.last().is_some_and(|(_, end)| *end > 19_000_000), "all but the end");
        assert!(Packets::of(&Experiment::new(&plan, Vec::new())).sequences.is_empty());
    }
}
