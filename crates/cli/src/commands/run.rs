//! `subflow run`.

use std::path::{Path, PathBuf};

use subflow_lab::capture::{CaptureFolder, estimate};
use subflow_lab::event_log::EventFolder;
use subflow_lab::execute::execute;
use subflow_lab::results::{Experiment, to_csv, to_text};
use subflow_lab::simulate::RunOptions;
use subflow_quantity::Size;
use subflow_report::output::{FigureFormat, Folder, RunFiles, to_json};
use subflow_scenario::sweep::Plan;

use super::check::read_source;
use super::compare::Prepared;
use super::journal::{self, Journal};
use super::signals::stop_on_signals;
use super::until::{Repeated, Until};
use super::{on_linux, threads};
use crate::arguments::{Format, Output, Platform, Run};
use crate::failure::{Failure, warn};
use crate::output::{about, figure_format, print};
use crate::progress::Bar;

pub(crate) fn run(arguments: &Run) -> Result<(), Failure> {
    let plan = plan(arguments)?;
    if let Some(shard) = arguments.shard {
        return journal::do_shard(arguments, &plan, shard);
    }
    if arguments.on == Platform::Linux {
        on_linux::check(&plan, arguments)?;
    }
    let comparison = Prepared::new(&arguments.comparing, &plan)?;
    if let Some(until) = Until::of(arguments, &plan)? {
        return run_until(arguments, until, &comparison);
    }
    let folder = folder(&arguments.output, &plan, suffix(arguments), arguments.force)?;
    let figures = figure_format(arguments.output.figures, folder.as_ref())?;
    let files = Files::prepare(arguments, &plan)?;
    let journal = Journal::open(arguments, &plan, folder.as_ref().map(Folder::path))?;
    files.begin()?;

    let (mut experiment, failed) = match &journal {
        Some(journal) => journal.experiment(arguments, &plan)?,
        None => (experiment(arguments, &plan, folder.is_some(), &files)?, 0),
    };
    comparison.add_baseline(&mut experiment);
    finish(arguments.output.format, &plan, &experiment, folder, figures)?;
    let compared = comparison.compare(&experiment, arguments.output.format);
    all_runs(&plan, failed)?;
    all_valid(&experiment, journal.is_some())?;
    journal.map_or(Ok(()), |journal| journal.forget(arguments, &plan))?;
    compared
}

/// What the name of the default folder ends with.
fn suffix(arguments: &Run) -> &'static str {
    match arguments.on {
        Platform::Simulator => "",
        Platform::Linux => "-linux",
    }
}

/// `run --until`: runs until intervals are narrow, then all as if their number had been given.
fn run_until(arguments: &Run, until: Until, comparison: &Prepared<'_>) -> Result<(), Failure> {
    // The folder is tried before the runs. What may be replaced depends on their number, which is not known yet.
    let tried = folder(&arguments.output, &until.largest(arguments)?, suffix(arguments), arguments.force)?;
    let figures = figure_format(arguments.output.figures, tried.as_ref())?;
    let Some(journal) = Journal::open(arguments, until.smallest(), tried.as_ref().map(Folder::path))? else {
        return Err(Failure::bad_input(
            "--until: there is no folder in which runs are kept",
            "add --store DIR, or --out DIR for results",
        ));
    };
    let Repeated { plan, mut experiment, failed } = until.experiment(arguments, &journal)?;
    drop(tried);
    comparison.add_baseline(&mut experiment);
    let folder = folder(&arguments.output, &plan, suffix(arguments), arguments.force)?;
    finish(arguments.output.format, &plan, &experiment, folder, figures)?;
    let compared = comparison.compare(&experiment, arguments.output.format);
    all_runs(&plan, failed)?;
    all_valid(&experiment, true)?;
    journal.forget(arguments, &plan)?;
    compared
}

/// The folders for what runs write themselves.
struct Files {
    captures: Option<RunFiles>,
    events: Option<RunFiles>,
}

impl Files {
    /// Checks the folders, before the first run.
    fn prepare(arguments: &Run, plan: &Plan) -> Result<Self, Failure> {
        let force = arguments.force;
        let captures = arguments.pcap.as_ref().map(|pcap| RunFiles::for_captures(pcap, plan, force)).transpose()?;
        if let Some(captures) = &captures {
            check_size(arguments, plan, captures)?;
        }
        let events = arguments.events.as_ref().map(|events| RunFiles::for_events(events, plan, force)).transpose()?;
        Ok(Self { captures, events })
    }

    /// The folders that there are.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        [&self.captures, &self.events].into_iter().flatten().map(RunFiles::path)
    }

    /// Removes the files of an earlier command.
    fn begin(&self) -> Result<(), Failure> {
        for files in [&self.captures, &self.events].into_iter().flatten() {
            files.begin()?;
        }
        Ok(())
    }
}

/// Fails if runs have failed.
fn all_runs(plan: &Plan, failed: usize) -> Result<(), Failure> {
    match failed {
        0 => Ok(()),
        _ => Err(Failure::RunFailed(format!(
            "{failed} of {} runs failed; the results lack them, and --resume does them again",
            plan.jobs().len()
        ))),
    }
}

/// The plan of the scenario with the changes of the command line.
fn plan(arguments: &Run) -> Result<Plan, Failure> {
    if arguments.device.is_some() && arguments.on != Platform::Linux {
        return Err(Failure::bad_input(
            "--device: found without --on linux, expected it with that only",
            "the simulator has no devices: add --on linux, or drop it",
        ));
    }
    if arguments.switches.is_some() && arguments.on != Platform::Linux {
        return Err(Failure::bad_input(
            "--switches: found without --on linux, expected it with that only",
            "the simulator has routers: add --on linux, or drop it",
        ));
    }
    if arguments.events.is_some() && arguments.on == Platform::Linux {
        return Err(Failure::bad_input(
            "--events: found with --on linux, expected it without",
            "kernels do not tell what they decide: capture their packets with --pcap",
        ));
    }
    threads::check(arguments)?;
    let plan = read_source(&arguments.source)?;
    warn(&plan.without_effect);
    Ok(plan)
}

/// The folder for the results, if there is one.
pub(super) fn folder(output: &Output, plan: &Plan, suffix: &str, force: bool) -> Result<Option<Folder>, Failure> {
    let default_folder = || PathBuf::from("results").join(format!("{}{suffix}", plan.document.name));
    let out = match (&output.out, output.format) {
        (Some(out), _) => Some(out.clone()),
        (None, Format::Text) => Some(default_folder()),
        (None, Format::Json | Format::Csv) => None,
    };
    Ok(out.map(|out| Folder::for_plan(out, plan, force)).transpose()?)
}

/// Prints the expected size of the captures. Fails if it exceeds the limit.
fn check_size(arguments: &Run, plan: &Plan, captures: &RunFiles) -> Result<(), Failure> {
    let limit = arguments.pcap_limit;
    let files = captures.count();
    let Some(size) = estimate(plan) else {
        eprintln!("captures: {files} files of unknown size (no rate limits a flow); the run ends at {limit}");
        return Ok(());
    };
    if size > limit {
        return Err(Failure::bad_input(
            format!("--pcap: {files} captures would take about {}, expected at most {limit}", about(size)),
            format!(
                "raise --pcap-limit (to \"{}\"), or capture fewer or shorter runs (--repeat, --set duration=…)",
                about(Size::from_bytes(size.as_bytes().saturating_mul(2)))
            ),
        ));
    }
    eprintln!("captures: {files} files, about {} (limit {limit})", about(size));
    Ok(())
}

/// Runs the plan.
fn experiment(arguments: &Run, plan: &Plan, series: bool, files: &Files) -> Result<Experiment, Failure> {
    let options = RunOptions {
        pcap: files.captures.as_ref().map(|captures| CaptureFolder::new(captures.path(), arguments.pcap_limit)),
        events: files.events.as_ref().map(|events| EventFolder::new(events.path())),
        series,
        threads: threads::of_a_run(arguments),
        ..RunOptions::default()
    };
    threads::explain(plan, &options);
    let bar = Bar::new();
    let progress = |progress| bar.show(progress);
    let experiment = match arguments.on {
        Platform::Simulator => {
            let stop = stop_on_signals(None)?;
            let options = RunOptions { stop: Some(stop.clone()), ..options };
            let experiment = execute(plan, threads::runs_at_once(arguments), &options, &progress);
            experiment.map_err(|error| if stop.is_requested() { stopped(plan, files) } else { error.into() })
        }
        Platform::Linux => on_linux::execute(plan, arguments, &options, &progress),
    };
    bar.finish();
    experiment
}

/// A signal has ended simulated runs of which no store keeps any.
fn stopped(plan: &Plan, files: &Files) -> Failure {
    let lost = match plan.jobs().len() {
        1 => "nothing is kept of a single run: the same command simulates it again, with the same results".to_owned(),
        runs => format!(
            "nothing is kept of the {runs} runs; those of a sweep are kept as they end if they have a folder (--out, \
             --store), and neither captures nor event logs"
        ),
    };
    let written = files.paths().map(|path| format!("; {} has what was written until then", path.display()));
    Failure::RunFailed(format!("stopped by a signal: {lost}{}", written.collect::<String>()))
}

/// Writes and prints the results.
pub(super) fn finish(
    format: Format,
    plan: &Plan,
    experiment: &Experiment,
    folder: Option<Folder>,
    figures: Option<FigureFormat>,
) -> Result<(), Failure> {
    // Results that cannot be written are printed: the runs may have taken long.
    let written = folder.as_ref().map(|folder| folder.write_experiment(plan, experiment, figures)).transpose();
    match format {
        Format::Json => print(&to_json(experiment))?,
        Format::Csv => print(&to_csv(experiment))?,
        Format::Text => print(&to_text(experiment))?,
    }
    written?;
    match (folder, format) {
        (Some(folder), Format::Text) => print(&format!("\nResults are in {}\n", folder.path().display())),
        _ => Ok(()),
    }
}

/// Warns of runs that are not valid, and fails if there are any. They are done again if runs are kept.
fn all_valid(experiment: &Experiment, are_kept: bool) -> Result<(), Failure> {
    for run in &experiment.runs {
        for objection in run.result.objections() {
            eprintln!("warning: run {} is not valid: {objection}", run.run);
        }
    }
    match experiment.runs.iter().filter(|run| !run.result.objections().is_empty()).count() {
        0 => Ok(()),
        invalid => Err(Failure::RunFailed(format!(
            "{invalid} of {} runs are not valid; the results contain them, with the reasons{}",
            experiment.runs.len(),
            if are_kept { "; the same command with --resume does them again" } else { "" }
        ))),
    }
}
