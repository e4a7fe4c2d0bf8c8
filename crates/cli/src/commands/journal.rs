//! The runs of a command, each kept as it ends, so that a command that is interrupted loses only the runs under way.

use std::path::{Path, PathBuf};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};
use subflow_lab::Stop;
use subflow_lab::results::Experiment;
use subflow_lab::simulate::RunOptions;
use subflow_scenario::sweep::{Job, Plan};
use subflow_store::{Filled, Key, Settings, Store, StoreError, collect, fill};

use super::threads;
use crate::arguments::{Platform, Run, Shard};
use crate::failure::Failure;
use crate::output::print;
use crate::progress::Bar;

/// The exit code of a command that a second signal ends at once, as shells use it for SIGINT.
const KILLED: i32 = 130;

/// The store of a command: a journal beside the folder for the results, or a store that the user has named.
pub(super) struct Journal {
    store: Store,
}

impl Journal {
    /// The store of a command whose results go to `out`. None for a single run, for runs in real time, and with
    /// captures or event logs, which are not done in parts.
    pub(super) fn open(arguments: &Run, plan: &Plan, out: Option<&Path>) -> Result<Option<Self>, Failure> {
        let options = [
            ("--store", arguments.store.is_some()),
            ("--resume", arguments.resume),
            ("--keep-going", arguments.keep_going),
        ];
        let asked = options.into_iter().find_map(|(option, given)| given.then_some(option));
        if let (Platform::Linux, Some(option)) = (arguments.on, asked) {
            return Err(Failure::bad_input(
                format!("{option}: found with --on linux, expected it without"),
                "runs in real time differ each time and are not kept one by one",
            ));
        }
        if let Some(path) = &arguments.store {
            return Ok(Some(Self { store: Store::open(path)? }));
        }
        let writes = arguments.pcap.is_some() || arguments.events.is_some();
        let worthwhile = plan.jobs().len() > 1 && arguments.on == Platform::Simulator && !writes;
        match (out, asked) {
            (Some(out), _) if worthwhile => Self::beside(out, arguments).map(Some),
            (None, Some(option)) => Err(Failure::bad_input(
                format!("{option}: there is no folder in which runs are kept"),
                "add --store DIR, or --out DIR for results",
            )),
            _ => Ok(None),
        }
    }

    /// The store beside the folder for the results. One that an interrupted command has left is gone on with if the
    /// user wants that.
    fn beside(out: &Path, arguments: &Run) -> Result<Self, Failure> {
        let mut name = out.as_os_str().to_owned();
        name.push(".runs");
        let path = PathBuf::from(name);
        let store = Store::open_journal(&path)?;
        if !arguments.resume {
            if !store.is_journal() {
                return Err(Failure::bad_input(
                    format!("{}: found a store that was named by --store, expected none here", path.display()),
                    "use it (--store), or choose another folder for the results (--out)",
                ));
            }
            if !arguments.force && !store.is_empty()? {
                return Err(Failure::bad_input(
                    format!("{}: the folder has runs of a command that was interrupted", path.display()),
                    "go on with them (--resume), or start anew (--force removes them)",
                ));
            }
            store.clear()?;
        }
        Ok(Self { store })
    }

    /// Does the runs that are missing and returns the results of all, with the number of runs that failed.
    pub(super) fn experiment(&self, arguments: &Run, plan: &Plan) -> Result<(Experiment, usize), Failure> {
        self.fill(arguments, plan, &plan.jobs())?;
        let collected = collect(plan, true, |key| self.store.load(key))?;
        Ok((collected.experiment, collected.failed.len()))
    }

    /// Does those of `jobs` that are missing. Fails unless all were done, or some failed and the others may go on.
    fn fill(&self, arguments: &Run, plan: &Plan, jobs: &[Job]) -> Result<Filled, Failure> {
        let stop = stop_on_signals()?;
        let threads = threads::of_a_run(arguments);
        let options = RunOptions { series: true, threads, stop: Some(stop.clone()), ..RunOptions::default() };
        threads::explain(plan, &options);
        let settings =
            Settings { threads: threads::runs_at_once(arguments), options, keep_going: arguments.keep_going };
        let bar = Bar::new();
        let filled = fill(plan, jobs, &self.store, &settings, &|progress| bar.show(progress));
        bar.finish();
        let kept = |finished: usize| {
            let path = self.store.path().display();
            format!("{finished} of {} runs are kept in {path}; the same command with --resume goes on", jobs.len())
        };
        let filled = filled.map_err(|error| match error {
            StoreError::Io { .. } => {
                let finished = jobs.iter().filter(|job| self.is_kept(plan, **job)).count();
                Failure::RunFailed(format!("{error}; {}", kept(finished)))
            }
            _ => error.into(),
        })?;
        for error in &filled.failed {
            eprintln!("failed: {error}");
        }
        match (filled.missing, &filled.failed[..]) {
            (0, []) => Ok(filled),
            (0, _) if arguments.keep_going => Ok(filled),
            _ if stop.is_requested() => {
                Err(Failure::RunFailed(format!("stopped by a signal: {}", kept(filled.finished))))
            }
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
    pub(super) fn forget(&self, plan: &Plan) -> Result<(), Failure> {
        match self.store.is_journal() {
            true => Ok(self.store.remove(plan.jobs().into_iter().flat_map(|job| Key::all_of(plan, job, true)))?),
            false => Ok(()),
        }
    }
}

/// `run --shard`.
pub(super) fn do_shard(arguments: &Run, plan: &Plan, shard: Shard) -> Result<(), Failure> {
    let journal = Journal::open(arguments, plan, None)?.expect("a shard has a store");
    let mut jobs = plan.jobs();
    jobs.retain(|job| job.run % shard.of == shard.number - 1);
    let filled = journal.fill(arguments, plan, &jobs)?;
    let path = journal.store.path().display();
    print(&format!(
        "{} of {} runs of shard {}/{} are in {path}\n",
        filled.finished,
        jobs.len(),
        shard.number,
        shard.of
    ))?;
    match filled.failed.len() {
        0 => Ok(()),
        failed => Err(Failure::RunFailed(format!("{failed} runs failed; their errors are kept in {path}"))),
    }
}

/// A request that the first SIGINT or SIGTERM makes. The second one ends the process.
fn stop_on_signals() -> Result<Stop, Failure> {
    let stop = Stop::default();
    for signal in [SIGINT, SIGTERM] {
        let registered = register_conditional_shutdown(signal, KILLED, stop.flag());
        let registered = registered.and_then(|_| register(signal, stop.flag()));
        registered.map_err(|error| Failure::RunFailed(format!("cannot react to signals: {error}")))?;
    }
    Ok(stop)
}
