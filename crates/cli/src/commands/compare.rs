//! `subflow compare`, and the comparisons of `run` and `merge`.

use serde::Serialize;
use serde_json::Value;
use subflow_lab::comparison::{
    Baseline, Bound, Compared, Difference, InputError, Metric, NothingToCompare, Pairing, Regression, at_point,
    compare as compared, differences_to_text,
};
use subflow_lab::number;
use subflow_lab::results::{Experiment, Provenance, Run, StoredResults};
use subflow_scenario::sweep::Plan;

use crate::arguments::{BenchFormat, Compare, Comparing, Format};
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn compare(arguments: &Compare) -> Result<(), Failure> {
    let [first, second] = [&arguments.baseline, &arguments.results].map(|path| StoredResults::read(path));
    let (first, second) = (first?, second?);
    let asked = Asked { metrics: arguments.metrics.with(&arguments.bound), given: &arguments.metrics.metric };
    let report =
        Report::new(Side::of(&first), Side::of(&second), [&first.runs, &second.runs], &asked, &arguments.bound)?;
    print(&match arguments.format {
        BenchFormat::Text => report.to_text(),
        BenchFormat::Json => serde_json::to_string_pretty(&report).expect("a comparison is plain data") + "\n",
    })?;
    report.outcome()
}

/// The comparison that a command makes of its runs, prepared before they are done.
pub(super) struct Prepared<'a> {
    arguments: &'a Comparing,
    baseline: Option<(String, Value)>,
    earlier: Option<StoredResults>,
}

impl<'a> Prepared<'a> {
    /// Reads the earlier results, and finds the baseline among the points of `plan`.
    pub(super) fn new(arguments: &'a Comparing, plan: &Plan) -> Result<Self, Failure> {
        let name = |option: &str| {
            let option = option.to_owned();
            move |error: InputError| Failure::bad_input(format!("{option}: {}", error.message), error.help)
        };
        if !arguments.metrics.metric.is_empty() && arguments.baseline.is_none() && arguments.compare.is_none() {
            return Err(Failure::bad_input(
                "--metric: found without a comparison, expected it with --baseline or --compare",
                "add one of them, or drop it",
            ));
        }
        let points: Vec<_> = plan.points.iter().map(|point| &point.parameters).collect();
        let choose = |text: &String| Baseline::choose(text, &points).map_err(name("--baseline"));
        let baseline = arguments.baseline.as_ref().map(choose).transpose()?;
        let read = |path| StoredResults::read(path).map_err(name("--compare"));
        let earlier = arguments.compare.as_deref().map(read).transpose()?;
        Ok(Self { arguments, baseline, earlier })
    }

    /// Adds the differences to the baseline.
    pub(super) fn add_baseline(&self, experiment: &mut Experiment) {
        if let Some((path, value)) = &self.baseline {
            let metrics = self.arguments.metrics.with(&[]);
            experiment.baseline = Some(Baseline::of(experiment, path.clone(), value.clone(), &metrics));
        }
    }

    /// Prints the differences to the earlier results: on standard error, if standard output has another format. Fails
    /// if one is beyond its bound.
    pub(super) fn compare(&self, experiment: &Experiment, format: Format) -> Result<(), Failure> {
        let Some(earlier) = &self.earlier else { return Ok(()) };
        let bounds = &self.arguments.bound;
        let asked = Asked { metrics: self.arguments.metrics.with(bounds), given: &self.arguments.metrics.metric };
        let now = Side {
            results: "the runs of this command".to_owned(),
            scenario: experiment.scenario.name.clone(),
            sha256: Some(experiment.scenario.sha256.clone()),
            subflow: Some(experiment.subflow.clone()),
            runs: experiment.runs.len(),
        };
        let report = Report::new(Side::of(earlier), now, [&earlier.runs, &experiment.runs], &asked, bounds)?;
        match format {
            Format::Text => print(&format!("\n{}", report.to_text()))?,
            Format::Json | Format::Csv => eprint!("{}", report.to_text()),
        }
        report.outcome()
    }
}

/// What is compared: all metrics, and those that have to be there because they were named.
struct Asked<'a> {
    metrics: Vec<Metric>,
    given: &'a [Metric],
}

/// One of two results.
#[derive(Debug, Serialize)]
struct Side {
    results: String,
    scenario: String,
    sha256: Option<String>,
    subflow: Option<Provenance>,
    runs: usize,
}

impl Side {
    fn of(stored: &StoredResults) -> Self {
        Self {
            results: stored.path.display().to_string(),
            scenario: stored.scenario.clone(),
            sha256: stored.sha256.clone(),
            subflow: stored.subflow.clone(),
            runs: stored.runs.len(),
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

/// The comparison of two results, as JSON.
#[derive(Debug, Serialize)]
struct Report {
    baseline: Side,
    results: Side,
    /// Swept paths of the second result.
    #[serde(skip)]
    paths: Vec<String>,
    points_only_in_baseline: usize,
    points_only_in_results: usize,
    flows_only_in_one: Vec<String>,
    differences: Vec<Difference>,
    regressions: Vec<Regression>,
}

impl Report {
    fn new(
        baseline: Side,
        results: Side,
        [first, second]: [&[Run]; 2],
        asked: &Asked<'_>,
        bounds: &[Bound],
    ) -> Result<Self, Failure> {
        let names = format!("{} and {}", baseline.results, results.results);
        let Compared { differences, only_first, only_second, only_one } = compared(first, second, &asked.metrics)
            .map_err(|nothing| match nothing {
                NothingToCompare::Points => Failure::bad_input(
                    format!("{names} have no point in common"),
                    "a point is all swept values; compare results of the same sweep",
                ),
                NothingToCompare::Metrics => Failure::bad_input(
                    format!("no flow of {names} has one of the metrics in both"),
                    "flows are compared by name; choose metrics that they have (--metric)",
                ),
            })?;
        // A check of something that is not there must not pass.
        let named = asked.given.iter().chain(bounds.iter().map(|bound| &bound.metric));
        for metric in named {
            if !differences.iter().any(|difference| difference.metric == metric.column) {
                return Err(Failure::bad_input(
                    format!("no flow of {names} has the metric {metric} in both"),
                    "choose a metric that they have",
                ));
            }
        }
        Ok(Self {
            baseline,
            results,
            paths: second.first().map_or_else(Vec::new, |run| run.parameters.keys().cloned().collect()),
            points_only_in_baseline: only_first,
            points_only_in_results: only_second,
            flows_only_in_one: only_one,
            regressions: Bound::exceeded(bounds, &differences),
            differences,
        })
    }

    fn to_text(&self) -> String {
        let mut text = self.baseline.line("baseline") + &self.results.line("compared");
        for note in self.notes() {
            text += &format!("note: {note}\n");
        }
        text.push('\n');
        text += &differences_to_text(&self.differences, &self.paths);
        for regression in &self.regressions {
            text += &self.regression(regression);
        }
        text
    }

    /// What a reader has to know about the table.
    fn notes(&self) -> Vec<String> {
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
        notes
    }

    fn regression(&self, regression: &Regression) -> String {
        let difference = &self.differences[regression.difference];
        let of = difference.flow.as_ref().map_or_else(String::new, |flow| format!(" of {flow}"));
        let at = at_point(&difference.parameters);
        let worse = match (regression.lacking, regression.worse_percent) {
            (0, Some(percent)) => format!("is {} % worse", number::fixed(percent, 2)),
            (0, None) => "is worse than zero".to_owned(),
            (lacking, _) => format!("is missing in {lacking} runs that had it"),
        };
        let bound = number::shown(regression.bound_percent);
        format!("WORSE: {}{of}{at} {worse}; the bound is {} %\n", difference.metric, bound.trim_end_matches(".0"))
    }

    fn outcome(&self) -> Result<(), Failure> {
        match self.regressions.len() {
            0 => Ok(()),
            1 => Err(Failure::RunFailed("1 difference is beyond its bound".to_owned())),
            n => Err(Failure::RunFailed(format!("{n} differences are beyond their bounds"))),
        }
    }
}
