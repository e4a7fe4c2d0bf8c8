//! What the page shows at an instant of a run: queues of links and windows of subflows, from the metrics over time; and
//! what each subflow sent and up to where the reader could read, from the packets.

use std::collections::BTreeMap;

use serde::Serialize;
use subflow_lab::results::{Experiment, FlowResult, Run, RunResult, Sequence, SequenceKind, Series};
use subflow_report::palette_of;
use subflow_scenario::sweep::Plan;

use crate::variants::{name_of_point, variant_of};
use crate::waits::Waits;

/// What a subflow has over time, and a flow that has one path only.
const METRICS: [&str; 5] = ["goodput", "cwnd", "in-flight", "srtt", "blocking"];
const QUEUE: &str = "queue";
/// More subflows are for the report.
const MOST_SUBFLOWS: usize = 30;
/// More queues than any picture has.
const MOST_QUEUES: usize = 600;
/// The most points of a kind of each subflow. More could not be told apart.
const MOST_POINTS: usize = 6000;
/// The most kinds of all subflows and flows.
const MOST_SEQUENCES: usize = 60;

/// The series of a run.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Moments<'a> {
    /// The number of the run.
    run: usize,
    /// All runs that have series.
    runs: Vec<Choice>,
    /// Until when something was on its way, in seconds.
    end_s: f64,
    /// The names of subflows, and of flows with one path only, by the names of their series.
    names: BTreeMap<String, String>,
    /// How many more there are.
    left_out: usize,
    /// The classes with the colours that these and the links have in the report, by the names of series and links.
    colours: Colours,
    series: Vec<Metric<'a>>,
}

/// One colour for each path, as in the report of the same runs.
#[derive(Debug, Default, Serialize)]
struct Colours {
    series: BTreeMap<String, String>,
    links: BTreeMap<String, String>,
}

/// A run that can be shown.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Choice {
    run: usize,
    /// Its variant, its point of a sweep and its seed.
    name: String,
}

/// The run that `which` means, of those with something to show: its number, `a` or `b` for the first one of a variant, or
/// an empty text for the first one of all.
fn chosen<'a>(experiment: &'a Experiment, which: &str, has: impl Fn(&RunResult) -> bool) -> Option<&'a Run> {
    let is_meant = |run: &&Run| match which {
        "" => true,
        "a" | "b" => variant_of(&run.parameters).is_some_and(|variant| variant.eq_ignore_ascii_case(which)),
        number => number.parse() == Ok(run.run),
    };
    experiment.runs.iter().filter(|run| has(&run.result)).find(is_meant)
}

impl<'a> Moments<'a> {
    /// Those of the run that `which` means.
    pub(crate) fn of(experiment: &'a Experiment, which: &str) -> Self {
        let has_series = |result: &RunResult| !result.series.is_empty();
        let Some(run) = chosen(experiment, which, has_series) else { return Self::default() };
        let all = &run.result.series;
        let last_busy =
            |series: &Series| series.points().iter().rfind(|point| point.value > 0.0).map(|point| point.time_s);
        // Windows and round-trip times keep their values when nothing is sent any more.
        let busy = all.iter().filter(|of| ["goodput", "in-flight", QUEUE].contains(&of.metric.as_str()));
        let end_s = busy.filter_map(last_busy).fold(0.0, f64::max);
        let end_s = if end_s > 0.0 { end_s } else { run.result.duration_s };
        let mut named = names(&run.result);
        let left_out = named.len().saturating_sub(MOST_SUBFLOWS);
        named.truncate(MOST_SUBFLOWS);
        let names: BTreeMap<String, String> = named.into_iter().collect();
        let queues = all.iter().filter(|series| series.metric == QUEUE).take(MOST_QUEUES);
        let is_shown = |series: &&Series| names.contains_key(&series.of) && METRICS.contains(&series.metric.as_str());
        let series = queues.chain(all.iter().filter(is_shown)).map(Metric::of).collect();
        let runs = experiment.runs.iter().filter(|run| has_series(&run.result));
        let runs = runs.map(|run| Choice { run: run.run, name: name_of_run(run) }).collect();
        Self { run: run.run, runs, end_s, names, left_out, colours: Colours::default(), series }
    }

    /// The same with the colours of the report.
    pub(crate) fn coloured(self, plan: &Plan, experiment: &Experiment) -> Self {
        let Some(run) =
            experiment.runs.iter().find(|run| run.run == self.run && self.names.len() + self.series.len() > 0)
        else {
            return self;
        };
        let palette = palette_of(plan, experiment, run.point);
        let line = |of: &str| {
            let (flow, index) = of.rsplit_once('/').unzip();
            let flow = run.result.flows.iter().find(|known| Some(known.name.as_str()) == flow);
            let subflow = flow
                .zip(index)
                .and_then(|(flow, index)| Some((flow, flow.subflows.get(index.parse::<usize>().ok()?)?)));
            subflow.map_or_else(|| of.to_owned(), |(flow, subflow)| format!("{}: {}", flow.name, subflow.label()))
        };
        let of_series = |of: &String| Some((of.clone(), palette.classes_of_path(&line(of))?));
        let series = self.names.keys().filter_map(of_series).collect();
        let links = palette.classes_of_links().map(|(link, classes)| (link.to_owned(), classes)).collect();
        Self { colours: Colours { series, links }, ..self }
    }
}

fn name_of_run(run: &Run) -> String {
    let seed = format!("seed {}", run.result.seed);
    let point = name_of_point(&run.parameters);
    if point.is_empty() { seed } else { format!("{point}, {seed}") }
}

/// The subflows that have series, and the flows that have one path only, by the names of their series.
fn names(result: &RunResult) -> Vec<(String, String)> {
    let has_series = |name: &str| result.series.iter().any(|series| series.of == name);
    let of_flow = |flow: &FlowResult| {
        let subflows = flow.subflows.iter().enumerate();
        let named = subflows.map(|(index, subflow)| (format!("{}/{index}", flow.name), subflow.label()));
        let named: Vec<(String, String)> = named.filter(|(of, _)| has_series(of)).collect();
        if named.is_empty() && has_series(&flow.name) { vec![(flow.name.clone(), flow.name.clone())] } else { named }
    };
    let flows: Vec<(&FlowResult, Vec<(String, String)>)> =
        result.flows.iter().map(|flow| (flow, of_flow(flow))).filter(|(_, named)| !named.is_empty()).collect();
    let are_several = flows.len() > 1;
    let in_words = |flow: &FlowResult, (of, name): (String, String)| {
        // Subflows of several flows may have the same ends.
        let name = if are_several && of != flow.name { format!("{}: {name}", flow.name) } else { name };
        (of, name)
    };
    flows.into_iter().flat_map(|(flow, named)| named.into_iter().map(move |one| in_words(flow, one))).collect()
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
    /// Those of the run that `which` means, as in [`Moments::of`].
    pub(crate) fn of(experiment: &'a Experiment, which: &str) -> Self {
        let Some(run) = chosen(experiment, which, |result| !result.sequences.is_empty()) else {
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
    use subflow_scenario::sweep::{Plan, SeriesKept};

    use super::*;

    const WIFI_LTE: &str = include_str!("gallery/wifi-lte.toml");

    fn results(text: &str, set: &[&str]) -> Experiment {
        let mut document = Document::parse(Path::new("wifi-lte.toml"), text.to_owned()).expect("TOML");
        set.iter().for_each(|assignment| document.set("--set", assignment).expect("a value"));
        let plan = Plan { series: SeriesKept::All, ..Plan::read(document).expect("a scenario") };
        execute(&plan, 1, &RunOptions { series: true, ..RunOptions::default() }, &|_| {}).expect("it runs")
    }

    #[test]
    fn queues_and_subflows_have_their_values_over_time() {
        let mut experiment = results(WIFI_LTE, &[]);
        let moments = Moments::of(&experiment, "");
        let names: Vec<&str> = moments.names.values().map(String::as_str).collect();
        assert_eq!(names, ["phone.wifi-server.eth", "phone.lte-server.eth"]);
        let done = experiment.runs[0].result.flows[0].completion_s.expect("it completes");
        assert!((done..done + 1.0).contains(&moments.end_s), "{} {done}", moments.end_s);
        let most = |of: &str| moments.series.iter().find(|metric| metric.of == of).map(|metric| metric.most);
        assert_eq!(most("lte.up"), Some(200.0), "the queue was full");
        experiment.runs.clear();
        assert!(Moments::of(&experiment, "").series.is_empty());
    }

    #[test]
    fn the_run_that_is_asked_for_is_shown_and_each_has_its_name() {
        let mut experiment =
            results(WIFI_LTE, &["duration=1 s", "repeat=2", "sweep={\"links.lte.delay\"=[\"35 ms\", \"70 ms\"]}"]);
        for run in &mut experiment.runs {
            let name = if run.point == 0 { "A" } else { "B" };
            run.parameters = [("variant".to_owned(), name.into())].into_iter().collect();
        }
        let shown = |which: &str| Moments::of(&experiment, which).run;
        assert_eq!([shown(""), shown("a"), shown("b"), shown("3")], [0, 0, 2, 3]);
        assert!(Moments::of(&experiment, "9").series.is_empty() && Packets::of(&experiment, "many").waits.is_empty());
        let names: Vec<String> = Moments::of(&experiment, "b").runs.into_iter().map(|choice| choice.name).collect();
        assert_eq!(names, ["A, seed 1", "A, seed 2", "B, seed 1", "B, seed 2"]);
    }

    #[test]
    fn flows_with_one_path_are_rows_of_their_own_and_subflows_of_several_flows_say_which() {
        let flow = "[flows.one]\nfrom = \"phone\"\nto = \"server\"\nprotocol = \"tcp\"\n";
        let experiment = results(&format!("{WIFI_LTE}\n{flow}"), &["duration=1 s"]);
        let moments = Moments::of(&experiment, "");
        let expected =
            [("file/0", "file: phone.wifi-server.eth"), ("file/1", "file: phone.lte-server.eth"), ("one", "one")];
        let names: Vec<(&str, &str)> = moments.names.iter().map(|(of, name)| (of.as_str(), name.as_str())).collect();
        assert_eq!(names, expected);
        assert!(moments.series.iter().any(|metric| metric.of == "one" && metric.metric == "cwnd"));
    }

    #[test]
    fn many_flows_leave_room_for_the_queues_and_are_counted() {
        let before = WIFI_LTE.split("[flows.file]").next().expect("links");
        let flow =
            |number: usize| format!("[flows.f{number}]\nfrom = \"phone\"\nto = \"server\"\nprotocol = \"tcp\"\n");
        let text: String = std::iter::once(before.to_owned()).chain((0..MOST_SUBFLOWS + 5).map(flow)).collect();
        let experiment = results(&text, &["duration=500 ms"]);
        let moments = Moments::of(&experiment, "");
        assert_eq!((moments.names.len(), moments.left_out), (MOST_SUBFLOWS, 5));
        let queues = moments.series.iter().filter(|metric| metric.metric == QUEUE).count();
        assert_eq!(queues, 4, "both directions of each link in use");
    }

    #[test]
    fn each_subflow_has_the_packets_that_it_sent_and_the_flow_what_could_be_read() {
        let mut experiment = results(WIFI_LTE, &[]);
        let packets = Packets::of(&experiment, "");
        let find = |of: &str, kind| packets.sequences.iter().find(|points| points.of == of && points.kind == kind);
        for of in ["file/0", "file/1"] {
            let sent = find(of, SequenceKind::Sent).expect("packets");
            assert!((100..=MOST_POINTS).contains(&sent.points.len()) && sent.every >= 1, "{of}: {}", sent.points.len());
        }
        let readable = &find("file", SequenceKind::Readable).expect("what can be read").points;
        assert!(readable.is_sorted() && readable.last().is_some_and(|(_, end)| *end > 19_000_000), "all but the end");
        experiment.runs.clear();
        assert!(Packets::of(&experiment, "").sequences.is_empty());
    }
}
