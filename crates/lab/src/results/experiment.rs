//! All runs of a scenario, their statistics, and the program that made them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use subflow_scenario::sweep::{Parameters, Plan, Point};

use super::metrics::{FLOW, GROUP, INTERFACE, LINK, RUN, SUBFLOW, Summaries};
use super::run::label_of_subflow;
use super::{
    Baseline, FlowResult, GroupResult, InterfaceResult, LinkResult, RunResult, SubflowResult, flows_and_groups,
};
use crate::number;

/// The output of `run`: the scenario, its runs, their statistics.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Experiment {
    /// What made the results.
    pub subflow: Provenance,
    /// Summary of the scenario.
    pub scenario: ScenarioSummary,
    /// Every run, by number.
    pub runs: Vec<Run>,
    /// The runs that failed, which are not in `runs`, by number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedRun>,
    /// The statistics of each point of the sweep, in order.
    pub statistics: Vec<PointStatistics>,
    /// The differences of the points to a chosen one, if one was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
}

/// Summary of the scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScenarioSummary {
    /// The file's name without its ending.
    pub name: String,
    /// SHA-256 of all that decides on results, as hexadecimal digits: the scenario at every point of the sweep, with
    /// the traces that it names. Titles, `seed` and `repeat` do not count.
    pub sha256: String,
    /// The title.
    pub title: String,
    /// The description.
    pub description: String,
    /// Simulated seconds of a run.
    #[serde(serialize_with = "number::serialize")]
    pub duration_s: f64,
    /// Time in seconds at which measuring of goodput and utilisation begins.
    #[serde(serialize_with = "number::serialize")]
    pub warm_up_s: f64,
    /// The first seed.
    pub seed: u64,
    /// Runs for each point of the sweep.
    pub repeat: u32,
    /// The swept paths.
    pub sweep: Vec<String>,
    /// The swept paths by key of `[sweep]`: those of one key change together. Results that are written lack them.
    #[serde(skip)]
    pub swept_together: Vec<Vec<String>>,
}

/// One run: its position in the experiment, and its results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its number, counted from 0 through the whole experiment.
    pub run: usize,
    /// Its point of the sweep, counted from 0.
    pub point: usize,
    /// The swept values.
    pub parameters: Parameters,
    /// Its measurements.
    #[serde(flatten)]
    pub result: RunResult,
}

/// A run without results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedRun {
    /// Its number, counted from 0 through the whole experiment.
    pub run: usize,
    /// Its point of the sweep, counted from 0.
    pub point: usize,
    /// Its seed.
    pub seed: u64,
    /// Why it failed, with its number, seed and swept values.
    pub error: String,
}

/// Statistics over the runs of one point of the sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointStatistics {
    /// The swept values.
    pub parameters: Parameters,
    /// Number of runs.
    pub runs: usize,
    /// For each flow, and one for each group of flows ([`flows_and_groups`]).
    pub flows: Vec<FlowStatistics>,
    /// Times to completion of the flows of each group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupStatistics>,
    /// For each link.
    pub links: Vec<LinkStatistics>,
    /// For each interface whose energy is counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<InterfaceStatistics>,
    /// A summary of each metric of whole runs.
    #[serde(flatten)]
    pub summaries: Summaries<RunResult>,
    /// Messages of keys that have no effect at this point ([`Point::without_effect`]). Results that are written lack
    /// them.
    #[serde(skip)]
    pub without_effect: Vec<String>,
}

/// Statistics of one flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowStatistics {
    /// Its name.
    pub name: String,
    /// A summary of each metric, over the runs that have it.
    pub summaries: Summaries<FlowResult>,
    /// Its subflows.
    pub subflows: Vec<SubflowStatistics>,
}

impl Serialize for FlowStatistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        self.summaries.write_plain(&mut map)?;
        map.serialize_entry("subflows", &self.subflows)?;
        self.summaries.write_objects(&mut map)?;
        map.end()
    }
}

/// Statistics of one subflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SubflowStatistics {
    /// Its name.
    pub name: String,
    /// Whether it was [opened again](SubflowResult::opened_again) in all runs that have it.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub opened_again: bool,
    /// A summary of each metric; zero for a run in which it was not opened.
    #[serde(flatten)]
    pub summaries: Summaries<SubflowResult>,
}

/// Statistics of one link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkStatistics {
    /// Its name.
    pub name: String,
    /// A summary of each metric.
    #[serde(flatten)]
    pub summaries: Summaries<LinkResult>,
}

/// Statistics of one interface whose energy is counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InterfaceStatistics {
    /// `host.interface`.
    pub name: String,
    /// A summary of each metric.
    #[serde(flatten)]
    pub summaries: Summaries<InterfaceResult>,
}

/// Statistics of one group over the runs of a point. Those of times to completion are statistics of the figure of each
/// run, over the runs in which a flow completed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupStatistics {
    /// Its name.
    pub name: String,
    /// Number of flows; of a group that goes on arriving, the largest of a run.
    pub flows: usize,
    /// A summary of each metric.
    #[serde(flatten)]
    pub summaries: Summaries<GroupResult>,
}

impl Experiment {
    /// The experiment of `plan` with its runs, ordered by number.
    pub fn new(plan: &Plan, runs: Vec<Run>) -> Self {
        let mut by_point: Vec<Vec<&RunResult>> = vec![Vec::new(); plan.points.len()];
        for run in &runs {
            by_point[run.point].push(&run.result);
        }
        let statistics =
            plan.points.iter().zip(&by_point).map(|(point, runs)| PointStatistics::of(point, runs)).collect();
        let base = &plan.points[0].scenario;
        let scenario = ScenarioSummary {
            name: base.name.clone(),
            sha256: plan.digest(),
            title: base.title.clone(),
            description: base.description.clone(),
            duration_s: base.duration.as_secs_f64(),
            warm_up_s: base.measure_from.as_secs_f64(),
            seed: base.seed,
            repeat: base.repeat,
            sweep: plan.parameters().into_iter().map(str::to_owned).collect(),
            swept_together: plan.together.clone(),
        };
        Self { subflow: Provenance::of_this_program(), scenario, runs, failed: Vec::new(), statistics, baseline: None }
    }

    /// The first and the last seed. Without a sweep over one of `seed` and `repeat` they are those that the scenario
    /// asks for, also if runs failed.
    pub fn seeds(&self) -> (u64, u64) {
        let ScenarioSummary { seed, repeat, sweep, .. } = &self.scenario;
        let of_runs = self.runs.iter().map(|run| run.result.seed);
        match (of_runs.clone().min(), of_runs.max()) {
            (Some(first), Some(last)) if sweep.iter().any(|path| path == "seed" || path == "repeat") => (first, last),
            _ => (*seed, seed + u64::from(*repeat) - 1),
        }
    }

    /// The shortest and the longest duration of a run, in simulated seconds.
    pub fn durations_s(&self) -> (f64, f64) {
        let of_scenario = self.scenario.duration_s;
        if !self.scenario.sweep.iter().any(|path| path == "duration") || self.runs.is_empty() {
            return (of_scenario, of_scenario);
        }
        let of_runs = self.runs.iter().map(|run| run.result.duration_s);
        (of_runs.clone().fold(f64::INFINITY, f64::min), of_runs.fold(0.0, f64::max))
    }
}

impl PointStatistics {
    fn of(point: &Point, runs: &[&RunResult]) -> Self {
        let by_run: Vec<Vec<Cow<'_, FlowResult>>> = runs.iter().map(|run| flows_and_groups(run)).collect();
        let link_count = runs.first().map_or(0, |run| run.links.len());
        let link = |index: usize| LinkStatistics {
            name: runs[0].links[index].name.clone(),
            summaries: Summaries::of(LINK, &runs.iter().map(|run| &run.links[index]).collect::<Vec<_>>()),
        };
        let interface_count = runs.first().map_or(0, |run| run.interfaces.len());
        let interface = |index: usize| InterfaceStatistics {
            name: runs[0].interfaces[index].name.clone(),
            summaries: Summaries::of(INTERFACE, &runs.iter().map(|run| &run.interfaces[index]).collect::<Vec<_>>()),
        };
        Self {
            parameters: point.parameters.clone(),
            without_effect: point.without_effect.clone(),
            runs: runs.len(),
            flows: by_name(&by_run).iter().map(|flows| FlowStatistics::of(flows)).collect(),
            groups: GroupStatistics::all(runs),
            links: (0..link_count).map(link).collect(),
            interfaces: (0..interface_count).map(interface).collect(),
            summaries: Summaries::of(RUN, runs),
        }
    }
}

/// The flows of runs by name, in the order of the first run that has each. Flows of a scenario are in all runs at the same
/// place; of the connections of programs a run may have fewer.
fn by_name<'r>(runs: &'r [Vec<Cow<'_, FlowResult>>]) -> Vec<Vec<&'r FlowResult>> {
    let mut all: Vec<Vec<&FlowResult>> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for flow in runs.iter().flatten() {
        let place = *places.entry(&flow.name).or_insert_with(|| {
            all.push(Vec::with_capacity(runs.len()));
            all.len() - 1
        });
        all[place].push(flow);
    }
    all
}

impl FlowStatistics {
    fn of(runs: &[&FlowResult]) -> Self {
        let mut names: Vec<&str> = Vec::new();
        for subflow in runs.iter().flat_map(|flow| &flow.subflows) {
            if !names.contains(&subflow.name.as_str()) {
                names.push(&subflow.name);
            }
        }
        Self {
            name: runs[0].name.clone(),
            summaries: Summaries::of(FLOW.iter().copied().flatten(), runs),
            subflows: names.into_iter().map(|name| SubflowStatistics::of(name, runs)).collect(),
        }
    }
}

impl SubflowStatistics {
    fn of(name: &str, runs: &[&FlowResult]) -> Self {
        let of_runs: Vec<Option<&SubflowResult>> =
            runs.iter().map(|flow| flow.subflows.iter().find(|subflow| subflow.name == name)).collect();
        Self {
            name: name.to_owned(),
            opened_again: of_runs.iter().flatten().all(|subflow| subflow.opened_again),
            summaries: Summaries::or_zero(SUBFLOW.iter().copied().flatten(), &of_runs),
        }
    }

    /// What tables for readers call it.
    pub fn label(&self) -> String {
        label_of_subflow(&self.name, self.opened_again)
    }
}

impl GroupStatistics {
    /// Those of all groups; `runs` are of one point, so that all have the same groups.
    fn all(runs: &[&RunResult]) -> Vec<Self> {
        let of_runs: Vec<Vec<GroupResult>> = runs.iter().map(|run| GroupResult::all(run)).collect();
        let count = of_runs.first().map_or(0, Vec::len);
        (0..count).map(|index| Self::of(&of_runs.iter().map(|groups| &groups[index]).collect::<Vec<_>>())).collect()
    }

    fn of(runs: &[&GroupResult]) -> Self {
        Self {
            name: runs[0].name.clone(),
            flows: runs.iter().map(|run| run.flows).max().unwrap_or(0),
            summaries: Summaries::of(GROUP, runs),
        }
    }
}

/// The number of the form of results: fields may be added with the same number, and a change of the meaning of one
/// raises it.
pub const SCHEMA: u32 = 1;

/// The program that made results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Its version.
    pub version: String,
    /// The commit that it was built from, where the build was told: by the environment variable `SUBFLOW_COMMIT`.
    pub commit: Option<String>,
    /// The number of the form of the results ([`SCHEMA`]).
    pub schema: u32,
}

impl Provenance {
    /// This program.
    pub fn of_this_program() -> Self {
        // No build script asks Git: sources in a package have no repository, or that of something else.
        let commit = option_env!("SUBFLOW_COMMIT").filter(|commit| !commit.is_empty());
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), commit: commit.map(str::to_owned), schema: SCHEMA }
    }
}
