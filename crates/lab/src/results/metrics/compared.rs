//! The metrics that can be compared, of whatever they are.

use std::fmt;
use std::str::FromStr;

use super::{Comparable, FLOW, GROUP, Metric, RUN};
use crate::number;
use crate::results::{Better, FlowResult, GroupResult, PointStatistics, RunResult, flows_and_groups};
use crate::statistics::Summary;

/// A metric that can be compared: a number that a run has, or each of its flows or groups of flows.
#[derive(Clone, Copy, Debug)]
pub struct ComparedMetric {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in tables and in JSON.
    pub column: &'static str,
    /// Its unit; empty for counts and indices.
    pub unit: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Which direction is better.
    pub better: Better,
    /// The title of its figures.
    pub title: &'static str,
    /// What axes call it.
    pub label: &'static str,
    /// Whether it is compared unless others are chosen.
    pub is_usual: bool,
    /// Whether it is a count.
    pub is_count: bool,
    of: Of,
}

#[derive(Clone, Copy, Debug)]
enum Of {
    Flow(&'static Metric<FlowResult>),
    Group(&'static Metric<GroupResult>),
    Run(&'static Metric<RunResult>),
}

/// A metric of one flow or group, or of the whole run, in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Rounded as in the JSON, so that results that were read have the same values. `None` for a run that lacks it,
    /// such as the completion of a transfer that did not end.
    pub value: Option<f64>,
    /// Of the completion of a group: flows that did not complete, and that `value` therefore says nothing of.
    pub unfinished: usize,
}

impl Measured {
    /// Whether it lacks what the baseline has: the metric, or the completion of some flows of a group.
    pub(crate) fn lacks(self, baseline: Self) -> bool {
        baseline.value.is_some() && (self.value.is_none() || self.unfinished > baseline.unfinished)
    }
}

impl PartialEq for ComparedMetric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl ComparedMetric {
    /// All of them: those of flows, of groups and of runs.
    pub fn all() -> impl Iterator<Item = Self> {
        let of_flows = FLOW.iter().copied().flatten().filter_map(|metric| Self::new(metric, Of::Flow(metric)));
        let of_groups = GROUP.iter().filter_map(|metric| Self::new(metric, Of::Group(metric)));
        of_flows.chain(of_groups).chain(RUN.iter().filter_map(|metric| Self::new(metric, Of::Run(metric))))
    }

    /// Those that are compared unless others are chosen, where flows have them.
    pub fn usual() -> Vec<Self> {
        Self::all().filter(|metric| metric.is_usual).collect()
    }

    fn new<T>(metric: &'static Metric<T>, of: Of) -> Option<Self> {
        let Comparable { name, meaning, better, is_usual, title, label } = metric.compared?;
        // A share of one has no unit beside its value.
        let unit = if metric.unit == "1" { "" } else { metric.unit };
        let is_count = metric.is_count();
        Some(Self { name, column: metric.column, unit, meaning, better, title, label, is_usual, is_count, of })
    }

    /// Whether each flow has it, and all flows of a group together.
    pub fn is_of_flows(&self) -> bool {
        matches!(self.of, Of::Flow(_))
    }

    /// Whether a whole run has one.
    pub fn is_of_run(&self) -> bool {
        matches!(self.of, Of::Run(_))
    }

    /// Its summaries at a point of a sweep: for each flow or group, with its name, or one without a name.
    pub fn summaries<'s>(&self, point: &'s PointStatistics) -> Vec<(Option<&'s str>, &'s Summary)> {
        let all: Vec<(Option<&str>, Option<&Summary>)> = match self.of {
            Of::Flow(_) => {
                point.flows.iter().map(|flow| (Some(flow.name.as_str()), flow.summaries.get(self.column))).collect()
            }
            Of::Group(_) => {
                point.groups.iter().map(|group| (Some(group.name.as_str()), group.summaries.get(self.column))).collect()
            }
            Of::Run(_) => vec![(None, point.summaries.get(self.column))],
        };
        all.into_iter().filter_map(|(flow, summary)| Some((flow, summary?))).collect()
    }

    /// Its values in a run: for each flow or group, with its name, or one without a name.
    pub fn values(&self, run: &RunResult) -> Vec<(Option<String>, Measured)> {
        let measured = |value: Option<f64>, unfinished| Measured { value: value.map(number::rounded), unfinished };
        match self.of {
            Of::Flow(metric) => {
                // The mean completion of a group is that of its flows which completed.
                let groups = if metric.column == "completion_s" { GroupResult::all(run) } else { Vec::new() };
                let unfinished =
                    |name: &str| groups.iter().find(|group| group.name == name).map_or(0, GroupResult::unfinished);
                let flows = flows_and_groups(run);
                let of = |flow: &FlowResult| measured(metric.value(flow), unfinished(&flow.name));
                flows.iter().map(|flow| (Some(flow.name.clone()), of(flow))).collect()
            }
            Of::Group(metric) => GroupResult::all(run)
                .iter()
                .map(|group| (Some(group.name.clone()), measured(metric.value(group), group.unfinished())))
                .collect(),
            Of::Run(metric) => vec![(None, measured(metric.value(run), 0))],
        }
    }
}

impl FromStr for ComparedMetric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::all().find(|metric| text == metric.name || text == metric.column);
        known.ok_or_else(|| {
            let names: Vec<&str> = Self::all().map(|metric| metric.name).collect();
            format!("found {text:?}, expected a metric: {}", names.join(", "))
        })
    }
}

impl fmt::Display for ComparedMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
