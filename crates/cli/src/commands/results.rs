//! The end of a command whose runs are done: results are written, the journal is removed, results are printed, and what
//! they say decides on the exit code. Printing comes after all that may not be lost, for it may fail: nobody may read
//! standard output, or it may be a file on a full disk.

use std::path::Path;

use subflow_lab::comparison::Comparison;
use subflow_lab::output::{to_csv, to_text};
use subflow_lab::results::Experiment;
use subflow_report::output::{FigureFormat, Folder, OutputError, to_json};
use subflow_scenario::sweep::Plan;

use super::compare::{self, Prepared};
use super::journal::Journal;
use super::signals;
use crate::arguments::{Format, Output, Run};
use crate::failure::Failure;
use crate::output::{print, say};

/// The folder for the results, if there is one.
pub(super) fn folder(output: &Output, plan: &Plan, suffix: &str, force: bool) -> Result<Option<Folder>, Failure> {
    let path = output.folder(plan, suffix);
    Ok(path.map(|path| Folder::for_plan(path, plan, force)).transpose()?)
}

/// The results of a command.
pub(super) struct Results<'a> {
    pub(super) plan: &'a Plan,
    pub(super) experiment: &'a Experiment,
    pub(super) format: Format,
    pub(super) folder: Option<Folder>,
    pub(super) figures: Option<FigureFormat>,
    pub(super) comparison: &'a Prepared<'a>,
}

impl Results<'_> {
    /// Ends `run`. The runs stay in the journal unless there are results of all.
    pub(super) fn of_run(&self, arguments: &Run, journal: Option<&Journal>) -> Result<(), Failure> {
        signals::say_that_results_are_written(journal.map(Journal::path));
        // The runs are removed once the results are on the disk, and not in its cache only.
        let durable = |()| match (&self.folder, journal) {
            (Some(folder), Some(_)) => Ok(folder.sync()?),
            _ => Ok(()),
        };
        let written = self.write().and_then(durable).map_err(|failure| match (failure, journal) {
            (Failure::RunFailed(message), Some(journal)) => Failure::RunFailed(format!(
                "{message}; the runs are kept in {}: the same command with --resume writes their results",
                journal.path().display()
            )),
            (failure, _) => failure,
        });
        let complete = written
            .and_then(|()| all_runs(self.plan, self.experiment.failed.len()))
            .and_then(|()| all_valid(self.experiment, journal.is_some()));
        signals::say(signals::while_printing(self.path()));
        let forgotten = match (&complete, journal) {
            (Ok(()), Some(journal)) => journal.forget(arguments, self.plan),
            _ => Ok(()),
        };
        let shown = self.show();
        warn_of_objections(self.experiment);
        complete.and(forgotten).and(shown)
    }

    /// Ends `merge`, whose runs stay where they are.
    pub(super) fn of_stores(&self) -> Result<(), Failure> {
        let written = self.write();
        let shown = self.show();
        written.and(shown)
    }

    /// Where they are written to.
    fn path(&self) -> Option<&Path> {
        self.folder.as_ref().map(Folder::path)
    }

    fn write(&self) -> Result<(), Failure> {
        let Some(folder) = &self.folder else { return Ok(()) };
        folder.write_experiment(self.plan, self.experiment, self.figures).map_err(|error| match error {
            // Nothing was wrong with the command: runs have failed.
            OutputError::HoldsMore { .. } => Failure::RunFailed(error.to_string()),
            _ => error.into(),
        })
    }

    /// Prints the results, also those that could not be written: the runs may have taken long. Then compares them, and
    /// fails if a difference is beyond its bound, whether or not somebody reads.
    fn show(&self) -> Result<(), Failure> {
        let compared = self.comparison.compare(self.experiment);
        let printed = self.print(compared.as_ref().ok().and_then(Option::as_ref)).map_err(|failure| {
            match (failure, self.path()) {
                (Failure::RunFailed(message), Some(path)) => {
                    Failure::RunFailed(format!("{message}; the results are in {}", path.display()))
                }
                (failure, _) => failure,
            }
        });
        compared?.as_ref().map_or(Ok(()), compare::outcome)?;
        printed
    }

    fn print(&self, comparison: Option<&Comparison>) -> Result<(), Failure> {
        match self.format {
            Format::Json => print(&to_json(self.experiment))?,
            Format::Csv => print(&to_csv(self.experiment))?,
            Format::Text => print(&to_text(self.experiment))?,
        }
        if let (Some(path), Format::Text) = (self.path(), self.format) {
            print(&format!("\nResults are in {}\n", path.display()))?;
        }
        match (comparison, self.format) {
            (None, _) => Ok(()),
            (Some(comparison), Format::Text) => print(&format!("\n{}", comparison.to_text())),
            // Standard output has another format.
            (Some(comparison), Format::Json | Format::Csv) => {
                say(comparison.to_text().trim_end());
                Ok(())
            }
        }
    }
}

/// Fails if runs have failed.
fn all_runs(plan: &Plan, failed: usize) -> Result<(), Failure> {
    match failed {
        0 => Ok(()),
        _ => Err(Failure::RunFailed(format!(
            "{failed} of {} runs failed; the results do not contain them, and --resume repeats them",
            plan.jobs().len()
        ))),
    }
}

fn warn_of_objections(experiment: &Experiment) {
    for run in &experiment.runs {
        for objection in run.result.objections() {
            say(&format!("warning: run {} is not valid: {objection}", run.run));
        }
    }
}

/// Fails if there are runs that are not valid. They are done again if runs are kept.
fn all_valid(experiment: &Experiment, are_kept: bool) -> Result<(), Failure> {
    match experiment.runs.iter().filter(|run| !run.result.objections().is_empty()).count() {
        0 => Ok(()),
        invalid => Err(Failure::RunFailed(format!(
            "{invalid} of {} runs are not valid; the results contain them, with the reasons{}",
            experiment.runs.len(),
            if are_kept { "; the same command with --resume repeats them" } else { "" }
        ))),
    }
}
