//! `run --until`: repeats until intervals are narrow enough.

use subflow_lab::comparison::{Precision, Widest};
use subflow_lab::number;
use subflow_lab::results::Experiment;
use subflow_lab::results::parameters::at_point;
use subflow_report::output::RunFiles;
use subflow_scenario::sweep::Plan;

use super::check::read_source;
use super::journal::Journal;
use crate::arguments::{Run, Source};
use crate::failure::Failure;
use crate::output::say;

/// The runs of a command that has `--until`.
pub(super) struct Until {
    precision: Precision,
    most: u32,
    /// The plan with the fewest runs.
    first: Plan,
}

/// What the runs have shown in the end.
pub(super) struct Repeated {
    pub(super) plan: Plan,
    pub(super) experiment: Experiment,
    /// Fails if there were as many runs as are allowed before the intervals were narrow enough.
    pub(super) reached: Result<(), Failure>,
}

impl Until {
    /// What the command asks for, if it does. `plan` has as many runs as the scenario asks for.
    pub(super) fn of(arguments: &Run, plan: &Plan) -> Result<Option<Self>, Failure> {
        let Some(precision) = arguments.repeating.until else { return Ok(None) };
        let most = arguments.repeating.max_repeat;
        if plan.parameters().contains(&"repeat") {
            return Err(Failure::bad_input(
                "--until: the scenario sweeps over `repeat`",
                "remove that sweep: --until chooses the number of runs",
            ));
        }
        let fewest = plan.points[0].scenario.repeat.max(Precision::FEWEST_RUNS);
        if most < fewest {
            return Err(Failure::bad_input(
                format!("--max-repeat must be at least {fewest}, not {most}"),
                format!("--until does {fewest} runs of each point before it checks the first interval"),
            ));
        }
        Ok(Some(Self { precision, most, first: repeated(arguments, fewest)? }))
    }

    /// The plan with the most runs.
    pub(super) fn largest(&self, arguments: &Run) -> Result<Plan, Failure> {
        repeated(arguments, self.most)
    }

    /// The plan with the fewest runs.
    pub(super) fn smallest(&self) -> &Plan {
        &self.first
    }

    /// Does runs until all intervals are narrow enough, or there are as many runs as are allowed.
    pub(super) fn experiment(
        &self,
        arguments: &Run,
        journal: &Journal,
        logs: Option<&RunFiles>,
    ) -> Result<Repeated, Failure> {
        let mut plan = self.first.clone();
        let mut keep_logs = Journal::goes_on(arguments);
        loop {
            let experiment = journal.experiment(arguments, &plan, logs, keep_logs)?;
            keep_logs = true;
            let runs = plan.points[0].scenario.repeat;
            let Some(widest) = self.precision.widest(&experiment, Precision::FEWEST_RUNS as usize) else {
                journal.forget(arguments, &plan)?;
                return Err(Failure::bad_input(
                    format!("--until: no run has the metric {}", self.precision.metric),
                    "choose one that the flows have, such as goodput",
                ));
            };
            let is_narrow = widest.percent <= self.precision.percent;
            if is_narrow || runs >= self.most {
                say(&format!("{}{}", self.precision_reached(&plan, &widest, runs), self.lacking(&experiment)));
                let reached = if is_narrow { Ok(()) } else { Err(self.not_reached()) };
                return Ok(Repeated { plan, experiment, reached });
            }
            plan = repeated(arguments, Precision::more(runs).min(self.most))?;
        }
    }

    /// What the metric of the runs is not of.
    fn lacking(&self, experiment: &Experiment) -> String {
        let all = experiment.runs.len();
        let lacking = match self.precision.lacking(experiment) {
            0 => String::new(),
            n => format!("; {n} of {all} runs lack it"),
        };
        let unfinished = match self.precision.unfinished(experiment) {
            0 => String::new(),
            n => format!(
                "; in {n} of {all} runs not all flows of a group completed, and it is the mean of those that did"
            ),
        };
        lacking + &unfinished
    }

    fn not_reached(&self) -> Failure {
        Failure::RunFailed(format!(
            "--max-repeat ended the runs before {}; the results are those of {} runs of each point",
            self.precision, self.most
        ))
    }

    fn precision_reached(&self, plan: &Plan, widest: &Widest, runs: u32) -> String {
        let name = self.precision.metric.name;
        if widest.percent == 0.0 {
            return format!(
                "after {runs} runs of each point {name} is the same in all of them: the seeds do not matter to it, and \
                 more of them would show nothing"
            );
        }
        let width = if widest.percent.is_finite() {
            format!("± {} %", number::fixed(widest.percent, 2))
        } else {
            format!("not known from the {} that have it", widest.values)
        };
        let of = widest.flow.as_ref().map_or_else(String::new, |flow| format!(", of {flow}"));
        let at = at_point(&plan.points[widest.point].parameters);
        let so = if widest.percent <= self.precision.percent {
            String::new()
        } else {
            format!("--max-repeat is reached before {}: ", self.precision)
        };
        format!("{so}after {runs} runs of each point the widest 95 % interval of {name} is {width}{of}{at}")
    }
}

/// The plan with `repeat` runs of each point. Whether metrics over time of all runs are kept does not change with their
/// number, but depends on the most that are allowed.
fn repeated(arguments: &Run, repeat: u32) -> Result<Plan, Failure> {
    let source = &arguments.source;
    let plan = read_source(&Source { repeat: Some(repeat), ..source.clone() })?;
    let most = plan.points.len() * arguments.repeating.max_repeat as usize;
    Ok(Plan { series: source.series.of(most), ..plan })
}
