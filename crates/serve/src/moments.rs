//! The metrics over time that the page shows at an instant: queues of links, and windows of subflows.

use std::collections::BTreeMap;

use serde::Serialize;
use subflow_lab::results::{Experiment, FlowResult, Series};

const METRICS: [&str; 6] = ["goodput", "cwnd", "in-flight", "srtt", "blocking", "queue"];
/// More series are for the report.
const MOST_SERIES: usize = 150;

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
}
