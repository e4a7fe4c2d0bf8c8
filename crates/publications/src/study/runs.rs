//! The runs of cells, as those of any sweep: on all cores, and kept in a store if there is one.

use std::cell::{Cell as Count, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use subflow_lab::RunError;
use subflow_lab::execute::{Progress, run_all, run_job_with};
use subflow_lab::results::RunResult;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_scenario::Scenario;
use subflow_scenario::file::Problems;
use subflow_scenario::sweep::{Job, Plan, Point, SeriesKept};
use subflow_store::{Key, Record, Settings, Store, fill_with};

use super::Study;
use super::by_second::{self, simulate_by_second, simulate_until_complete};
use super::cell::Cell;
use super::experiment::Kind;
use super::folder::Folder;
use super::results::{Results, Row, Sample, distinct};
use crate::{ReproduceError, Request};

/// What identifies a run: the digest of its scenario, and its seed.
type Identity = ([u8; 32], u64);

/// Does the runs of a reproduction. Each is done once: cells of two experiments, or under two choices, may have the same
/// scenario.
pub(crate) struct Runs<'a> {
    study: &'a Study,
    request: &'a Request,
    progress: &'a (dyn Fn(Progress) + Sync),
    done: RefCell<BTreeMap<Identity, Option<Sample>>>,
    failed: Count<usize>,
}

impl<'a> Runs<'a> {
    pub(crate) fn new(study: &'a Study, request: &'a Request, progress: &'a (dyn Fn(Progress) + Sync)) -> Self {
        Self { study, request, progress, done: RefCell::default(), failed: Count::new(0) }
    }

    /// The number of runs that failed, with `keep_going`.
    pub(crate) fn failed(&self) -> usize {
        self.failed.get()
    }

    /// The number of different runs that were done.
    pub(crate) fn done(&self) -> usize {
        self.done.borrow().len()
    }

    /// Does the runs of `cells` that have not been done, and returns the results of all.
    pub(crate) fn of(&self, cells: Vec<Cell>) -> Result<Results, ReproduceError> {
        let mut identities: Vec<Vec<Identity>> = vec![Vec::new(); cells.len()];
        for kind in distinct(cells.iter().map(|cell| cell.experiment.kind())) {
            let mut points = Points { known: self.done.borrow().keys().copied().collect(), ..Points::default() };
            for (cell, identities) in
                cells.iter().zip(&mut identities).filter(|(cell, _)| cell.experiment.kind() == kind)
            {
                *identities = points.add(cell, &self.study.folder)?;
            }
            self.run(points, kind)?;
        }
        let done = self.done.borrow();
        let runs = identities.iter().flatten().collect::<BTreeSet<_>>().len();
        let row = |(cell, identities): (Cell, Vec<Identity>)| Row {
            cell,
            runs: identities.iter().filter_map(|identity| done[identity].clone()).collect(),
        };
        // A cell whose runs have all failed is like one that was not run; one of no runs is only shown.
        let is_shown = |row: &Row| !row.runs.is_empty() || row.cell.runs == 0;
        let rows = cells.into_iter().zip(identities).map(row).filter(is_shown).collect();
        Ok(Results { runs, ..self.study.results_of(rows) })
    }

    fn run(&self, Points { mut plan, jobs, .. }: Points, kind: Kind) -> Result<(), ReproduceError> {
        let Some(plan) = &mut plan else { return Ok(()) };
        let Kind { series, records, until_complete, by_second: is_by_second } = kind;
        let series = series || is_by_second;
        plan.series = if series { SeriesKept::All } else { SeriesKept::None };
        let identity = |job: &Job| (plan.points[job.point].digest, job.seed);
        let options = RunOptions { series, paths: records, stop: self.request.stop.clone(), ..RunOptions::default() };
        let simulate = |scenario: &Scenario, seed: u64, options: &RunOptions| match () {
            () if until_complete => simulate_until_complete(scenario, seed),
            () if is_by_second => simulate_by_second(scenario, seed),
            () => simulate(scenario, seed, options),
        };
        let run = |job| run_job_with(plan, job, &options, simulate);
        let samples = match self.request.store.as_ref().filter(|_| !records) {
            None => {
                let study = self.study;
                let one = |&job: &Job| measured(study, plan, job, run(job)?).map(Some);
                run_all(&jobs, self.request.jobs, self.progress, one)?
            }
            Some(store) => self.stored(plan, &jobs, &options, store, &run)?,
        };
        self.done.borrow_mut().extend(jobs.iter().map(identity).zip(samples));
        Ok(())
    }

    /// The same with a store, which has the results of runs that were done earlier.
    fn stored(
        &self,
        plan: &Plan,
        jobs: &[Job],
        options: &RunOptions,
        store: &Store,
        run: &(impl Fn(Job) -> Result<RunResult, RunError> + Sync),
    ) -> Result<Vec<Option<Sample>>, ReproduceError> {
        let series = options.series;
        let keep_going = self.request.keep_going;
        let settings =
            Settings { threads: self.request.jobs, options: options.clone(), keep_going, again: BTreeSet::new() };
        let filled = fill_with(plan, jobs, store, &settings, self.progress, run)?;
        if let Some(error) = filled.failed.into_iter().next().filter(|_| !keep_going) {
            return Err(error.into());
        }
        if filled.missing > 0 {
            return Err(ReproduceError::Stopped { finished: filled.finished, runs: jobs.len() });
        }
        let sample = |&job: &Job| {
            for key in Key::all_of(plan, job, series) {
                if let Some(Record::Finished(result)) = store.load(key)? {
                    return Ok(Some(measured(self.study, plan, job, *result)?));
                }
            }
            self.failed.set(self.failed.get() + 1);
            Ok(None)
        };
        jobs.iter().map(sample).collect()
    }
}

fn measured(study: &Study, plan: &Plan, job: Job, result: RunResult) -> Result<Sample, RunError> {
    study.measure(&result).map_err(|problem| RunError::Result(problem).in_job(plan, job))
}

/// The points of a plan, and the runs of each.
#[derive(Default)]
struct Points {
    plan: Option<Plan>,
    jobs: Vec<Job>,
    /// The runs that were done, and those that are among the jobs.
    known: BTreeSet<Identity>,
}

impl Points {
    /// Adds the runs of `cell`.
    fn add(&mut self, cell: &Cell, folder: &Folder) -> Result<Vec<Identity>, Problems> {
        let seeds = 1..=cell.runs;
        let mut identities = Vec::new();
        match cell.varies() {
            _ if seeds.is_empty() => {}
            false => identities = self.point(plan_of(cell, folder, 1)?, seeds),
            true => {
                for seed in seeds {
                    identities.extend(self.point(plan_of(cell, folder, seed)?, seed..=seed));
                }
            }
        }
        Ok(identities)
    }

    fn point(&mut self, mut read: Plan, seeds: impl Iterator<Item = u64>) -> Vec<Identity> {
        let point: Point = read.points.remove(0);
        let identities: Vec<Identity> = seeds.map(|seed| (point.digest, seed)).collect();
        let new: Vec<Identity> = identities.iter().copied().filter(|identity| self.known.insert(*identity)).collect();
        let plan = self.plan.get_or_insert(read);
        if !new.is_empty() {
            let place = plan.points.len();
            plan.points.push(point);
            let jobs = (self.jobs.len()..).zip(new);
            self.jobs.extend(jobs.map(|(run, (_, seed))| Job { run, point: place, seed }));
        }
        identities
    }
}

/// The plan of a cell. Stores tell runs that end early from whole ones.
fn plan_of(cell: &Cell, folder: &Folder, seed: u64) -> Result<Plan, Problems> {
    let mut plan = cell.plan(folder, seed)?;
    if cell.experiment.until_complete {
        plan.identify_by("ends when the first flow has completed");
    }
    if cell.experiment.by_second {
        plan.identify_by(by_second::IDENTITY);
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multiflow2016::MULTIFLOW2016;
    use crate::study::Effort;

    #[test]
    fn a_flow_has_the_goodput_of_a_whole_run() {
        let cells = MULTIFLOW2016.invented(Effort::Quick, |_| Vec::new()).rows.into_iter().map(|row| row.cell);
        let cell = cells.into_iter().find(|cell| cell.experiment.until_complete).expect("there is one");
        let scenario = cell.scenario(&MULTIFLOW2016.folder, 2).expect("a good scenario");
        let [whole, ended] = [simulate(&scenario, 2, &RunOptions::default()), simulate_until_complete(&scenario, 2)]
            .map(|run| run.expect("it runs").flows.swap_remove(0));
        assert!(whole.completion_s.is_some_and(|seconds| seconds < 20.0), "most of the run follows it");
        assert_eq!((ended.goodput_mbps, ended.completion_s), (whole.goodput_mbps, whole.completion_s));
    }
}
