//! Runs of a plan on their way into a store, and results on their way out.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::iter::{ParallelBridge, ParallelIterator};
use subflow_lab::execute::{Progress, keeps_series, run_job};
use subflow_lab::results::{Experiment, FailedRun, Run, RunResult};
use subflow_lab::simulate::RunOptions;
use subflow_lab::{RunError, Stop};
use subflow_scenario::sweep::{Job, Plan};

use crate::{Key, Record, Store, StoreError};

/// How runs are done.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Number of threads; 0: one for each core.
    pub threads: usize,
    /// What is recorded. `options.stop` ends the runs.
    pub options: RunOptions,
    /// Whether other runs begin after one has failed.
    pub keep_going: bool,
    /// Numbers of runs that are done although the store has their results: what they write beside these is missing.
    pub again: BTreeSet<usize>,
}

/// What [`fill`] has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// Runs whose results the store has now.
    pub finished: usize,
    /// Runs that failed, in the order of the plan.
    pub failed: Vec<RunError>,
    /// Runs that were not done, because a run failed or the end was requested.
    pub missing: usize,
    /// Whether another process has requested the end ([`Store::request_stop`]).
    pub was_asked: bool,
}

/// Does those of `jobs` whose results `store` lacks, also those that failed before or whose results are not valid, and
/// writes each to the store as it ends. Ends early when `settings.options.stop` is requested, or when another process has
/// asked for it ([`Store::request_stop`]), which requests that stop, too. Fails if the store cannot be written; what was written stays. A plan with
/// algorithms of another crate needs an identity of them ([`Plan::identify_by`]).
pub fn fill(
    plan: &Plan,
    jobs: &[Job],
    store: &Store,
    settings: &Settings,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Filled, StoreError> {
    fill_with(plan, jobs, store, settings, progress, |job| run_job(plan, job, &settings.options))
}

/// Like [`fill`], but calls `run` instead of the simulator.
pub fn fill_with(
    plan: &Plan,
    jobs: &[Job],
    store: &Store,
    settings: &Settings,
    progress: &(dyn Fn(Progress) + Sync),
    run: impl Fn(Job) -> Result<RunResult, RunError> + Sync,
) -> Result<Filled, StoreError> {
    if !plan.document.custom.is_empty() && !plan.is_identified {
        return Err(StoreError::Unidentified);
    }
    // Algorithms of another crate could not be read again.
    if plan.document.custom.is_empty() {
        store.note(plan)?;
    }
    let _used = store.used();
    let key = |job: Job| Key::of(plan, job, settings.options.series);
    let is_stored = |job| Key::all_of(plan, job, settings.options.series).into_iter().any(|key| store.contains(key));
    let is_kept = |job: Job| !settings.again.contains(&job.run) && is_stored(job);
    let missing: Vec<Job> = jobs.iter().copied().filter(|job| !is_kept(*job)).collect();
    let finished = AtomicUsize::new(jobs.len() - missing.len());
    let show = |done: usize| progress(Progress { done, total: jobs.len() });
    show(jobs.len() - missing.len());
    let end = AtomicBool::new(false);
    let was_asked = AtomicBool::new(false);
    let is_asked = || was_asked.load(Ordering::Relaxed) || store.is_stop_requested();
    let is_stopped = || settings.options.stop.as_ref().is_some_and(Stop::is_requested);
    let failed: Mutex<Vec<(usize, RunError)>> = Mutex::default();
    let one = |job: Job| -> Result<(), StoreError> {
        if end.load(Ordering::Relaxed) || is_stopped() {
            return Ok(());
        }
        if is_asked() {
            was_asked.store(true, Ordering::Relaxed);
            // The runs of other threads end, too.
            settings.options.stop.iter().for_each(Stop::request);
            end.store(true, Ordering::Relaxed);
            return Ok(());
        }
        let outcome = run(job);
        if let Err(error) = &outcome {
            // A run that was ended has not failed.
            if is_stopped() {
                return Ok(());
            }
            failed.lock().expect("no thread panics while it has the lock").push((job.run, error.clone()));
            end.fetch_or(!settings.keep_going, Ordering::Relaxed);
        }
        let (key, record) = (key(job), Record::from(outcome));
        store.save(key, &record, &record.encode(plan, job, key)).inspect_err(|_| end.store(true, Ordering::Relaxed))?;
        if let Record::Finished(_) = record {
            show(finished.fetch_add(1, Ordering::Relaxed) + 1);
        }
        Ok(())
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build();
    let no_threads = |error| StoreError::Io { path: store.path().to_owned(), source: std::io::Error::other(error) };
    // The bridge starts jobs in their order, so that the runs that an interrupted sweep lacks are its last ones.
    pool.map_err(no_threads)?.install(|| missing.into_iter().par_bridge().try_for_each(one))?;
    let was_asked = was_asked.into_inner();
    // A journal may be filled again by this process, which is then to find a request that came just now.
    if was_asked || !store.is_journal() {
        store.forget_stop();
    }
    let mut failed = failed.into_inner().expect("no thread panics while it has the lock");
    failed.sort_by_key(|(run, _)| *run);
    let finished = finished.into_inner();
    Ok(Filled {
        finished,
        missing: jobs.len() - finished - failed.len(),
        was_asked,
        failed: failed.into_iter().map(|(_, error)| error).collect(),
    })
}

/// Results of a plan as far as there are records.
#[derive(Clone, Debug)]
pub struct Collected {
    /// The runs that have results, with their statistics, and those that failed.
    pub experiment: Experiment,
    /// The runs without a record.
    pub missing: Vec<Job>,
}

/// The results of `plan` from the records that `find` finds. A record with metrics over time that are not wanted is used
/// without them.
pub fn collect<E>(
    plan: &Plan,
    series: bool,
    mut find: impl FnMut(Key) -> Result<Option<Record>, E>,
) -> Result<Collected, E> {
    let (mut runs, mut failed, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for job in plan.jobs() {
        let [key, with_series] = Key::all_of(plan, job, series);
        let found = match find(key)? {
            None if with_series != key => find(with_series)?,
            found => found,
        };
        match found {
            Some(Record::Finished(mut result)) => {
                if !(series && keeps_series(plan, job)) {
                    result.series = Vec::new();
                    result.sequences = Vec::new();
                }
                let parameters = plan.points[job.point].parameters.clone();
                runs.push(Run { run: job.run, point: job.point, parameters, result: *result });
            }
            Some(Record::Failed(message)) => {
                let error = RunError::Stored(message).in_job(plan, job).to_string();
                failed.push(FailedRun { run: job.run, point: job.point, seed: job.seed, error });
            }
            None => missing.push(job),
        }
    }
    Ok(Collected { experiment: Experiment { failed, ..Experiment::new(plan, runs) }, missing })
}
