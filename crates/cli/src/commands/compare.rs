//! `subflow compare`, and the comparisons of `run` and `merge`.

use serde_json::Value;
use subflow_lab::comparison::{Asked, Comparison, Side};
use subflow_lab::results::{Baseline, Experiment, InputError, StoredResults};
use subflow_scenario::sweep::Plan;

use crate::arguments::{BenchFormat, Compare, Comparing};
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn compare(arguments: &Compare) -> Result<(), Failure> {
    let [first, second] = [&arguments.baseline, &arguments.results].map(|path| StoredResults::read(path));
    let (first, second) = (first?, second?);
    let Compare { metrics, bound, .. } = arguments;
    let asked = Asked::new(&metrics.metric, bound);
    let sides = [&first, &second].map(|stored| (Side::of_stored(stored), &stored.runs[..]));
    let [first, second] = sides;
    let comparison = Comparison::new(first, second, &asked)?;
    let printed = print(&match arguments.format {
        BenchFormat::Text => comparison.to_text(),
        BenchFormat::Json => serde_json::to_string_pretty(&comparison).expect("a comparison is plain data") + "\n",
    });
    // The exit code is that of the comparison also if nobody reads it.
    outcome(&comparison)?;
    printed
}

/// Fails if a difference is beyond its bound, or cannot be checked because results are missing.
pub(super) fn outcome(comparison: &Comparison) -> Result<(), Failure> {
    let beyond = match comparison.regressions.len() {
        0 => None,
        1 => Some("1 difference is beyond its bound".to_owned()),
        n => Some(format!("{n} differences are beyond their bounds")),
    };
    let reasons: Vec<String> = beyond.into_iter().chain(comparison.missing()).collect();
    if reasons.is_empty() { Ok(()) } else { Err(Failure::RunFailed(reasons.join("; "))) }
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
                "--metric requires --baseline or --compare",
                "add one of them, or remove --metric",
            ));
        }
        let points: Vec<_> = plan.points.iter().map(|point| &point.parameters).collect();
        let choose = |text: &String| Baseline::choose(text, &points, &plan.together).map_err(name("--baseline"));
        let baseline = arguments.baseline.as_ref().map(choose).transpose()?;
        let read = |path| StoredResults::read(path).map_err(name("--compare"));
        let earlier = arguments.compare.as_deref().map(read).transpose()?;
        Ok(Self { arguments, baseline, earlier })
    }

    /// Adds the differences to the baseline.
    pub(super) fn add_baseline(&self, experiment: &mut Experiment) {
        if let Some((path, value)) = &self.baseline {
            let metrics = Asked::new(&self.arguments.metrics.metric, &[]).metrics;
            experiment.baseline = Some(Baseline::of(experiment, path.clone(), value.clone(), &metrics));
        }
    }

    /// The differences to the earlier results, if there are some.
    pub(super) fn compare(&self, experiment: &Experiment) -> Result<Option<Comparison>, Failure> {
        let Some(earlier) = &self.earlier else { return Ok(None) };
        let bounds = &self.arguments.bound;
        let asked = Asked::new(&self.arguments.metrics.metric, bounds);
        let now = Side::of_experiment("the runs of this command", experiment);
        let sides = [(Side::of_stored(earlier), &earlier.runs[..]), (now, &experiment.runs[..])];
        let [first, second] = sides;
        Ok(Some(Comparison::new(first, second, &asked)?))
    }
}
