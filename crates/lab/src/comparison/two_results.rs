//! The comparison of two results as a whole: what is compared, how they differ, and what became worse than bounds allow.

use serde::Serialize;

use super::bound::{Bound, Regression};
use super::points::{NothingToCompare, PointDifferences, compare};
use super::text::differences_to_text;
use crate::number;
use crate::results::InputError;
use crate::results::metrics::ComparedMetric;
use crate::results::parameters::at_point;
use crate::results::{Difference, Pairing};
use crate::results::{Experiment, Provenance, Run, StoredResults};

/// One of two results.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// What a message calls it: the folder or file.
    pub results: String,
    /// The scenario's name.
    pub scenario: String,
    /// Its hash ([`crate::results::ScenarioSummary::sha256`]), if it is known.
    pub sha256: Option<String>,
    /// What made it, if that is known.
    pub subflow: Option<Provenance>,
    /// Its number of runs.
    pub runs: usize,
}

impl Side {
    /// Results that were read.
    pub fn of_stored(stored: &StoredResults) -> Self {
        Self {
            results: stored.path.display().to_string(),
            scenario: stored.scenario.clone(),
            sha256: stored.sha256.clone(),
            subflow: stored.subflow.clone(),
            runs: stored.runs.len(),
        }
    }

    /// Results of this process, which a message calls `name`.
    pub fn of_experiment(name: &str, experiment: &Experiment) -> Self {
        Self {
            results: name.to_owned(),
            scenario: experiment.scenario.name.clone(),
            sha256: Some(experiment.scenario.sha256.clone()),
            subflow: Some(experiment.subflow.clone()),
            runs: experiment.runs.len(),
        }
    }

    fn line(&self, role: &str) -> String {
        let by = match &self.subflow {
            Some(Provenance { version, commit: Some(commit), .. }) => format!(", subflow {version} ({commit})"),
            Some(Provenance { version, .. }) => format!(", subflow {version}"),
            None => String::new(),
        };
        let runs = if self.runs == 1 { "1 run".to_owned() } else { format!("{} runs", self.runs) };
        format!("{role}  {}: {runs} of {}{by}\n", self.results, self.scenario)
    }
}

/// What is compared: metrics, and bounds for some of them.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// All metrics of the table.
    pub metrics: Vec<ComparedMetric>,
    /// Metrics that were named: it is an error if the results lack one.
    pub given: &'a [ComparedMetric],
    /// Bounds on what may become worse.
    pub bounds: &'a [Bound],
}

impl<'a> Asked<'a> {
    /// The metrics that are `given`, or the usual ones, and those with bounds.
    pub fn new(given: &'a [ComparedMetric], bounds: &'a [Bound]) -> Self {
        let chosen = if given.is_empty() { ComparedMetric::usual() } else { given.to_vec() };
        let mut metrics: Vec<ComparedMetric> = Vec::new();
        for metric in chosen.into_iter().chain(bounds.iter().map(|bound| bound.metric)) {
            if !metrics.contains(&metric) {
                metrics.push(metric);
            }
        }
        Self { metrics, given, bounds }
    }
}

/// The comparison of two results. Serialised, it is the JSON of `subflow compare`.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The first one.
    pub baseline: Side,
    /// The second one.
    pub results: Side,
    /// Swept paths of the second result.
    #[serde(skip)]
    pub paths: Vec<String>,
    /// Points of the first result that the second lacks.
    pub points_only_in_baseline: usize,
    /// Points of the second result that the first lacks.
    pub points_only_in_results: usize,
    /// Flows that only one of the results has.
    pub flows_only_in_one: Vec<String>,
    /// Those of them that the first one has.
    pub flows_only_in_baseline: Vec<String>,
    /// Runs of the first result without a counterpart in the second, at points that both have.
    pub runs_only_in_baseline: usize,
    /// The differences, point by point.
    pub differences: Vec<Difference>,
    /// Those that are worse than a bound allows.
    pub regressions: Vec<Regression>,
    /// Whether there is a bound.
    #[serde(skip)]
    pub has_bounds: bool,
}

impl Comparison {
    /// Compares the runs of two results.
    ///
    /// # Errors
    ///
    /// They have no point in common, or lack a metric that was named: a check of something that is not there must not
    /// pass.
    pub fn new(
        (baseline, first): (Side, &[Run]),
        (results, second): (Side, &[Run]),
        asked: &Asked<'_>,
    ) -> Result<Self, InputError> {
        let names = format!("{} and {}", baseline.results, results.results);
        let error = |message: String, help: &str| InputError { message, help: help.to_owned() };
        let compared = compare(first, second, &asked.metrics).map_err(|nothing| match nothing {
            NothingToCompare::Points => error(
                format!("{names} have no point in common"),
                "a point is all swept values; compare results of the same sweep",
            ),
            NothingToCompare::Metrics => error(
                format!("no flow of {names} has one of the metrics in both"),
                "flows are compared by name; choose metrics that they have",
            ),
        });
        let PointDifferences {
            differences,
            only_first,
            only_second,
            flows_only_first,
            flows_only_second,
            runs_only_first,
        } = compared?;
        let named = asked.given.iter().chain(asked.bounds.iter().map(|bound| &bound.metric));
        for metric in named {
            if !differences.iter().any(|difference| difference.metric == metric.column) {
                let message = format!("no flow of {names} has the metric {metric} in both");
                return Err(error(message, "choose a metric that they have"));
            }
        }
        Ok(Self {
            baseline,
            results,
            paths: second.first().map_or_else(Vec::new, |run| run.parameters.keys().cloned().collect()),
            points_only_in_baseline: only_first,
            points_only_in_results: only_second,
            flows_only_in_one: [&flows_only_first[..], &flows_only_second].concat(),
            flows_only_in_baseline: flows_only_first,
            runs_only_in_baseline: runs_only_first,
            regressions: Bound::exceeded(asked.bounds, &differences),
            differences,
            has_bounds: !asked.bounds.is_empty(),
        })
    }

    /// The comparison as text: both results, notes, the table, and a line for each regression and for what is missing.
    pub fn to_text(&self) -> String {
        let mut text = self.baseline.line("baseline") + &self.results.line("compared");
        for note in self.notes() {
            text += &format!("note: {note}\n");
        }
        text.push('\n');
        text += &differences_to_text(&self.differences, &self.paths);
        for regression in self.worse() {
            text += &format!("WORSE: {regression}\n");
        }
        text
    }

    /// What a reader has to know about the table.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let hashes = self.baseline.sha256.as_ref().zip(self.results.sha256.as_ref());
        if hashes.is_some_and(|(one, other)| one != other) {
            notes.push("the scenarios are not the same (scenario.sha256)".to_owned());
        }
        let is_unpaired = |difference: &Difference| difference.pairing == Pairing::Unpaired;
        match self.differences.iter().filter(|difference| is_unpaired(difference)).count() {
            0 => {}
            n if n == self.differences.len() => {
                notes.push("not paired: the runs of a point have at most one seed in common".to_owned());
            }
            n => notes.push(format!("{n} rows are not paired: their runs have at most one seed in common")),
        }
        for (count, role) in [(self.points_only_in_baseline, "baseline"), (self.points_only_in_results, "other result")]
        {
            if count > 0 {
                notes.push(format!("{count} points are only in the {role}, and are left out"));
            }
        }
        if !self.flows_only_in_one.is_empty() {
            notes.push(format!("flows that only one result has are left out: {}", self.flows_only_in_one.join(", ")));
        }
        match self.runs_only_in_baseline {
            0 => {}
            1 => notes.push("1 run of the baseline has no counterpart, and is left out".to_owned()),
            n => notes.push(format!("{n} runs of the baseline have no counterpart, and are left out")),
        }
        notes
    }

    /// A sentence for each regression, and one for what is missing.
    pub fn worse(&self) -> Vec<String> {
        self.regressions.iter().map(|regression| self.sentence(regression)).chain(self.missing()).collect()
    }

    /// A sentence about what the baseline has and the other result lacks, if there is a bound: none can be checked on
    /// it.
    pub fn missing(&self) -> Option<String> {
        let count = |n: usize, what: &str| match n {
            0 => None,
            1 => Some(format!("1 {what}")),
            n => Some(format!("{n} {what}s")),
        };
        let flows = count(self.flows_only_in_baseline.len(), "flow")
            .map(|flows| format!("{flows} ({})", self.flows_only_in_baseline.join(", ")));
        let parts = [count(self.points_only_in_baseline, "point"), flows, count(self.runs_only_in_baseline, "run")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let is_lacking = self.has_bounds && !parts.is_empty();
        is_lacking.then(|| format!("missing of the baseline: {}; no bound allows that", parts.join(", ")))
    }

    fn sentence(&self, regression: &Regression) -> String {
        let difference = &self.differences[regression.difference];
        let of = difference.flow.as_ref().map_or_else(String::new, |flow| format!(" of {flow}"));
        let at = at_point(&difference.parameters);
        let worse = match (regression.lacking, regression.worse_percent) {
            (0, Some(percent)) => format!("is {} % worse", number::fixed(percent, 2)),
            (0, None) => "is worse than zero".to_owned(),
            (lacking, _) => match difference.unfinished {
                None => format!("is missing in {lacking} runs that had it"),
                Some([usual, now]) => format!(
                    "lacks flows in {lacking} runs: {} did not complete on average, of the baseline {}",
                    number::fixed(now, 2),
                    number::fixed(usual, 2)
                ),
            },
        };
        let bound = number::shown(regression.bound_percent);
        format!("{}{of}{at} {worse}; the bound is {} %", difference.metric, bound.trim_end_matches(".0"))
    }
}
