//! The runs of a command, each kept as it ends, so that a command that is interrupted loses only the runs under way.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use subflow_lab::event_log::EventFolder;
use subflow_lab::results::Experiment;
use subflow_lab::simulate::RunOptions;
use subflow_report::output::RunFiles;
use subflow_scenario::sweep::{Job, Plan};
use subflow_store::{Filled, Key, Settings, Store, StoreError, collect, fill, fill_with};

use super::signals::{self, REMOVES_NAMESPACES, Said, stop_on_signals};
use super::{on_linux, programs, threads};
use crate::arguments::{Platform, Run, Shard};
use crate::failure::Failure;
use crate::output::{print, say};
use crate::progress::Bar;

/// The store of a command: a journal beside the folder for the results, or a store that the user has named.
pub(super) struct Journal {
    store: Store,
}

impl Journal {
    /// The store of a command whose results go to `out`. None for a single run, and with captures, which are not done in
    /// parts.
    pub(super) fn open(arguments: &Run, plan: &Plan, out: Option<&Path>) -> Result<Option<Self>, Failure> {
        let options = [
            ("--store", arguments.store.is_some()),
            ("--resume", arguments.resume),
            ("--keep-going", arguments.keep_going),
        ];
        let asked = options.into_iter().find_map(|(option, given)| given.then_some(option));
        if let Some(path) = &arguments.store {
            return Ok(Some(Self { store: Store::open(path)? }));
        }
        let worthwhile = plan.jobs().len() > 1 && arguments.pcap.is_none();
        match (out, asked) {
            (Some(out), _) if worthwhile => {
                store_beside(out, arguments.resume, arguments.force).map(|store| Some(Self { store }))
            }
            (None, Some(option)) => Err(Failure::bad_input(
                format!("{option} requires a folder in which runs are kept"),
                "add --store DIR, or --out DIR for results",
            )),
            _ => Ok(None),
        }
    }

    /// The folder of the runs.
    pub(super) fn path(&self) -> &Path {
        self.store.path()
    }

    /// Whether runs of an earlier command are used.
    pub(super) fn goes_on(arguments: &Run) -> bool {
        arguments.resume || arguments.store.is_some()
    }

    /// Does the runs that are missing and returns the results of all. A run whose event log is missing is done again;
    /// logs that there are stay if `keep_logs` is set.
    pub(super) fn experiment(
        &self,
        arguments: &Run,
        plan: &Plan,
        logs: Option<&RunFiles>,
        keep_logs: bool,
    ) -> Result<Experiment, Failure> {
        let stored = as_stored(arguments, plan)?;
        let jobs = plan.jobs();
        let again = match logs {
            None => BTreeSet::new(),
            Some(logs) => {
                let kept = logs.keep_logs(plan, keep_logs)?;
                jobs.iter().map(|job| job.run).filter(|run| !kept.contains(run)).collect()
            }
        };
        self.fill(arguments, &stored, &jobs, logs, again)?;
        signals::say_that_results_are_written(Some(self.path()));
        let mut collected = collect(&stored, true, |key| self.store.load(key))?;
        collected.experiment.scenario.sha256 = plan.digest();
        Ok(collected.experiment)
    }

    /// Does those of `jobs` that are missing; `plan` is as [`as_stored`] returns it. Fails unless all were done, or some
    /// failed and the others may go on.
    fn fill(
        &self,
        arguments: &Run,
        plan: &Plan,
        jobs: &[Job],
        logs: Option<&RunFiles>,
        again: BTreeSet<usize>,
    ) -> Result<Filled, Failure> {
        let is_real_time = arguments.on == Platform::Linux;
        signals::say(Said::of_runs(is_real_time.then_some(REMOVES_NAMESPACES), Some(self.path())));
        let stop = stop_on_signals()?;
        let threads = threads::of_a_run(arguments);
        let events = logs.map(|logs| EventFolder::of_whole_logs(logs.path()));
        let programs = programs::output(arguments, plan);
        let stop_on_request = Some(stop.clone());
        let options =
            RunOptions { series: true, threads, stop: stop_on_request, events, programs, ..RunOptions::default() };
        threads::explain(plan, &options);
        // Runs in real time would disturb each other.
        let at_once = if is_real_time { 1 } else { threads::runs_at_once(arguments) };
        let (bar, live) = Bar::of_runs(arguments, plan)?;
        let options = RunOptions { live, ..options };
        let settings = Settings { threads: at_once, options, keep_going: arguments.keep_going, again };
        let filled = match is_real_time {
            false => fill(plan, jobs, &self.store, &settings, &|progress| bar.show(progress)),
            true => {
                let run = on_linux::runner(plan, arguments, &settings.options, &stop);
                fill_with(plan, jobs, &self.store, &settings, &|progress| bar.show(progress), run)
            }
        };
        bar.finish();
        let kept = |finished: usize| {
            let path = self.store.path().display();
            format!("{finished} of {} runs are kept in {path}; the same command with --resume continues", jobs.len())
        };
        let filled = filled.map_err(|error| match error {
            StoreError::Io { .. } => {
                let finished = jobs.iter().filter(|job| self.is_kept(plan, **job)).count();
                Failure::RunFailed(format!("{error}; {}", kept(finished)))
            }
            _ => error.into(),
        })?;
        for error in &filled.failed {
            say(&format!("failed: {error}"));
        }
        match (filled.missing, &filled.failed[..]) {
            (0, []) => Ok(filled),
            (0, _) if arguments.keep_going => Ok(filled),
            _ if filled.was_asked => Err(Failure::RunFailed(format!(
                "stopped, as another process asked for in the folder of the runs: {}",
                kept(filled.finished)
            ))),
            _ if stop.is_requested() => Err(Failure::RunFailed(format!("stopped: {}", kept(filled.finished)))),
            _ => Err(Failure::RunFailed(format!(
                "a run failed: {}, with --keep-going past runs that fail",
                kept(filled.finished)
            ))),
        }
    }

    fn is_kept(&self, plan: &Plan, job: Job) -> bool {
        Key::all_of(plan, job, true).into_iter().any(|key| self.store.contains(key))
    }

    /// Removes the runs of `plan` from the journal, now that there are results or there will be none. Others stay, and
    /// so does a store that the user has named.
    pub(super) fn forget(&self, arguments: &Run, plan: &Plan) -> Result<(), Failure> {
        let plan = &*as_stored(arguments, plan)?;
        match self.store.is_journal() {
            true => Ok(self.store.remove(plan.jobs().into_iter().flat_map(|job| Key::all_of(plan, job, true)))?),
            false => Ok(()),
        }
    }
}

/// The store beside the folder for the results. One that an interrupted command has left is resumed if the user wants
/// that.
pub(super) fn store_beside(out: &Path, resume: bool, force: bool) -> Result<Store, Failure> {
    let path = path_beside(out);
    let store = match force && !resume {
        true => Store::open_journal_anew(&path)?,
        false => Store::open_journal(&path)?,
    };
    if !resume {
        if !store.is_journal() {
            return Err(Failure::bad_input(
                format!("{}: the folder is a store that was created with --store", path.display()),
                "use it with --store, or choose another folder for the results (--out)",
            ));
        }
        if !force && !store.is_empty()? {
            return Err(Failure::bad_input(
                format!(
                    "{}: the folder has the runs of an interrupted command, or of one with runs that are not valid",
                    path.display()
                ),
                "continue with them (--resume), or start again (--force removes them)",
            ));
        }
        store.clear()?;
    }
    Ok(store)
}

/// The journal of a command whose results go to `out`: beside that folder, also if its path ends with a slash or a dot.
fn path_beside(out: &Path) -> PathBuf {
    let named = match out.file_name() {
        Some(_) => Cow::Borrowed(out),
        None => std::fs::canonicalize(out).map_or(Cow::Borrowed(out), Cow::Owned),
    };
    let mut name = named.file_name().unwrap_or_default().to_owned();
    name.push(".runs");
    named.with_file_name(name)
}

/// `failure` of a command that was to go on with runs and cannot, because the disk is full or the like, with the number
/// of runs that are kept all the same.
pub(super) fn with_what_is_kept(arguments: &Run, out: Option<&Path>, failure: Failure) -> Failure {
    let beside = || out.map(path_beside);
    let path = arguments.store.clone().or_else(beside).filter(|_| arguments.resume);
    let kept = path.and_then(|path| Store::existing(path).ok()).and_then(|store| Some((store.count().ok()?, store)));
    match (failure, kept) {
        (Failure::RunFailed(message), Some((runs @ 1.., store))) => Failure::RunFailed(format!(
            "{message}; {runs} runs are kept in {}; the same command continues with them",
            store.path().display()
        )),
        (failure, _) => failure,
    }
}

/// The plan whose runs a store knows apart from those that are done in another way.
fn as_stored<'p>(arguments: &Run, plan: &'p Plan) -> Result<Cow<'p, Plan>, Failure> {
    Ok(match arguments.on {
        Platform::Simulator => Cow::Borrowed(plan),
        Platform::Linux => {
            let mut stored = plan.clone();
            stored.identify_by(&on_linux::identity(arguments)?);
            Cow::Owned(stored)
        }
    })
}

/// `run --shard`.
pub(super) fn do_shard(arguments: &Run, plan: &Plan, shard: Shard) -> Result<(), Failure> {
    if arguments.on == Platform::Linux {
        return Err(Failure::bad_input(
            "--shard cannot be used with --on linux",
            "results in real time differ from machine to machine: do all runs on one of them",
        ));
    }
    let journal = Journal::open(arguments, plan, None)?.expect("a shard has a store");
    let mut jobs = plan.jobs();
    jobs.retain(|job| job.run % shard.of == shard.number - 1);
    let filled = journal.fill(arguments, plan, &jobs, None, BTreeSet::new())?;
    let path = journal.path().display();
    let printed = print(&format!(
        "{} of {} runs of shard {}/{} are in {path}\n",
        filled.finished,
        jobs.len(),
        shard.number,
        shard.of
    ));
    match filled.failed.len() {
        0 => printed,
        failed => Err(Failure::RunFailed(format!("{failed} runs failed; their errors are kept in {path}"))),
    }
}
