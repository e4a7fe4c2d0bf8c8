//! `subflow run`.

use std::path::Path;

use subflow_lab::capture::{CaptureFolder, estimate};
use subflow_lab::event_log::EventFolder;
use subflow_lab::execute::execute;
use subflow_lab::results::Experiment;
use subflow_lab::simulate::RunOptions;
use subflow_quantity::Size;
use subflow_report::output::{Folder, RunFiles};
use subflow_scenario::sweep::Plan;

use super::check::read_source;
use super::compare::Prepared;
use super::journal::{self, Journal, with_what_is_kept};
use super::results::{Results, folder};
use super::signals::{self, Said, stop_on_signals};
use super::until::{Repeated, Until};
use super::{on_linux, programs, run_screen, threads};
use crate::arguments::{Platform, Run};
use crate::failure::{Failure, warn};
use crate::output::{about, figure_format, say};
use crate::progress::Bar;

pub(crate) fn run(arguments: &Run) -> Result<(), Failure> {
    run_screen::check(arguments)?;
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
    let kept = |failure| kept_all_the_same(arguments, &plan, failure);
    let folder = folder(&arguments.output, &plan, arguments.suffix(), arguments.force).map_err(kept)?;
    let figures = figure_format(arguments.output.figures, folder.as_ref())?;
    let files = Files::prepare(arguments, &plan)?;
    let _output = programs::prepare(arguments, &plan, folder.as_ref().map(Folder::path))?;
    let journal = Journal::open(arguments, &plan, folder.as_ref().map(Folder::path)).map_err(kept)?;
    let mut experiment = match &journal {
        Some(journal) => journal.experiment(arguments, &plan, files.events.as_ref(), Journal::goes_on(arguments))?,
        None => {
            files.begin()?;
            experiment(arguments, &plan, folder.is_some(), &files)?
        }
    };
    comparison.add_baseline(&mut experiment);
    let (format, comparison) = (arguments.output.format, &comparison);
    let results = Results { plan: &plan, experiment: &experiment, format, folder, figures, comparison };
    results.of_run(arguments, journal.as_ref())
}

/// `failure` of a command that has not begun, with what an earlier one has kept.
fn kept_all_the_same(arguments: &Run, plan: &Plan, failure: Failure) -> Failure {
    with_what_is_kept(arguments, arguments.output.folder(plan, arguments.suffix()).as_deref(), failure)
}

/// `run --until`: runs until intervals are narrow, then all as if their number had been given.
fn run_until(arguments: &Run, until: Until, comparison: &Prepared<'_>) -> Result<(), Failure> {
    // The folder is tried before the runs. What may be replaced depends on their number, which is not known yet.
    let kept = |failure| kept_all_the_same(arguments, until.smallest(), failure);
    let largest = until.largest(arguments)?;
    let tried = folder(&arguments.output, &largest, arguments.suffix(), arguments.force).map_err(kept)?;
    let figures = figure_format(arguments.output.figures, tried.as_ref())?;
    let files = Files::prepare(arguments, &largest)?;
    let _output = programs::prepare(arguments, &largest, tried.as_ref().map(Folder::path))?;
    let journal = Journal::open(arguments, until.smallest(), tried.as_ref().map(Folder::path));
    let Some(journal) = journal.map_err(kept)? else {
        return Err(Failure::bad_input(
            "--until requires a folder in which runs are kept",
            "add --store DIR, or --out DIR for results",
        ));
    };
    let Repeated { plan, mut experiment, reached } = until.experiment(arguments, &journal, files.events.as_ref())?;
    drop(tried);
    comparison.add_baseline(&mut experiment);
    let folder = folder(&arguments.output, &plan, arguments.suffix(), arguments.force)?;
    let format = arguments.output.format;
    let results = Results { plan: &plan, experiment: &experiment, format, folder, figures, comparison };
    match results.of_run(arguments, Some(&journal)) {
        // The exit code is that of the precision also if nobody reads the results.
        Ok(()) | Err(Failure::NobodyReads) if reached.is_err() => reached,
        outcome => outcome,
    }
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

/// The plan of the scenario with the changes of the command line.
fn plan(arguments: &Run) -> Result<Plan, Failure> {
    if arguments.device.is_some() && arguments.on != Platform::Linux {
        return Err(Failure::bad_input(
            "--device requires --on linux",
            "the simulator has no devices: add --on linux, or remove --device",
        ));
    }
    if arguments.switches.is_some() && arguments.on != Platform::Linux {
        return Err(Failure::bad_input(
            "--switches requires --on linux",
            "the simulator has routers: add --on linux, or remove --switches",
        ));
    }
    if arguments.events.is_some() && arguments.on == Platform::Linux {
        return Err(Failure::bad_input(
            "--events cannot be used with --on linux",
            "kernels do not report their decisions: capture their packets with --pcap",
        ));
    }
    threads::check(arguments)?;
    let mut plan = read_source(&arguments.source)?;
    programs::select(&mut plan, arguments)?;
    warn(&plan.without_effect);
    Ok(plan)
}

/// Prints the expected size of the captures. Fails if it exceeds the limit.
fn check_size(arguments: &Run, plan: &Plan, captures: &RunFiles) -> Result<(), Failure> {
    let limit = arguments.pcap_limit;
    let files = captures.count();
    let Some(size) = estimate(plan) else {
        say(&format!("captures: {files} files of unknown size (no rate limits a flow); the run ends at {limit}"));
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
    say(&format!("captures: {files} files, about {} (limit {limit})", about(size)));
    Ok(())
}

/// Runs the plan.
fn experiment(arguments: &Run, plan: &Plan, series: bool, files: &Files) -> Result<Experiment, Failure> {
    let options = RunOptions {
        pcap: files.captures.as_ref().map(|captures| CaptureFolder::new(captures.path(), arguments.pcap_limit)),
        events: files.events.as_ref().map(|events| EventFolder::new(events.path())),
        series: series || arguments.tui.is_some(),
        programs: programs::output(arguments, plan),
        threads: threads::of_a_run(arguments),
        ..RunOptions::default()
    };
    threads::explain(plan, &options);
    let (bar, live) = Bar::of_runs(arguments, plan)?;
    let options = RunOptions { live, ..options };
    let progress = |progress| bar.show(progress);
    let experiment = match arguments.on {
        Platform::Simulator => {
            signals::say(Said::of_runs(None, None));
            let stop = stop_on_signals()?;
            let options = RunOptions { stop: Some(stop.clone()), ..options };
            let experiment = execute(plan, threads::runs_at_once(arguments), &options, &progress);
            experiment.map_err(|error| if stop.is_requested() { stopped(plan, files) } else { error.into() })
        }
        Platform::Linux => on_linux::execute(plan, arguments, &options, &progress),
    };
    bar.finish();
    experiment
}

/// A signal, or `q` of `--tui`, has ended simulated runs of which no store keeps any.
fn stopped(plan: &Plan, files: &Files) -> Failure {
    let lost = match plan.jobs().len() {
        1 => "a single run is not kept: the same command simulates it again, with the same results".to_owned(),
        runs => format!(
            "nothing is kept of the {runs} runs; those of a sweep are kept as they end if they have a folder (--out, \
             --store), and no captures"
        ),
    };
    let written = files.paths().map(|path| format!("; {} has what was written until then", path.display()));
    Failure::RunFailed(format!("stopped: {lost}{}", written.collect::<String>()))
}
