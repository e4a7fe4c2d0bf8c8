//! Which runs are made: each once, although two tables or two choices may read it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use subflow_lab::RunError;
use subflow_lab::execute::{Progress, run_cells};
use subflow_lab::results::FlowResult;
use subflow_lab::simulate::simulate_flows;
use subflow_quantity::Duration;

use super::grid::{Cell, Setup};
use super::measurement::{Effort, Measurement, Measurements};
use super::published::Published;
use super::testbed::scenario;

/// Goodput of each flow of a run, in Mbit/s.
type Goodputs = Vec<f64>;

/// What has been run.
pub(super) struct Runs<'a> {
    jobs: usize,
    progress: &'a (dyn Fn(Progress) + Sync),
    /// Less than other efforts: what longer runs have reached by its end is kept, too.
    least: Effort,
    done: RefCell<BTreeMap<(Effort, Setup), Vec<Goodputs>>>,
}

impl<'a> Runs<'a> {
    /// None so far. `least` is the effort of which runs with more are also a part.
    pub(super) fn new(least: Effort, jobs: usize, progress: &'a (dyn Fn(Progress) + Sync)) -> Self {
        Self { jobs, progress, least, done: RefCell::default() }
    }

    /// Measures `cells`: makes the runs that have not been made.
    pub(super) fn measure(&self, cells: Vec<Cell>, effort: Effort) -> Result<Measurements, RunError> {
        let mut missing: BTreeMap<Setup, &Cell> = BTreeMap::new();
        for cell in &cells {
            let setup = cell.setup();
            if !self.done.borrow().contains_key(&(effort, setup.clone())) {
                missing.entry(setup).or_insert(cell);
            }
        }
        let missing: Vec<(Setup, &Cell)> = missing.into_iter().collect();
        let least = self.least;
        let run = |(_, cell): &(Setup, &Cell), seed| run(cell, least, effort, seed);
        let made = run_cells(&missing, |_| effort.runs, self.jobs, self.progress, run)?;
        let mut done = self.done.borrow_mut();
        for ((setup, _), runs) in missing.into_iter().zip(made) {
            let early = runs.iter().take(self.least.runs as usize).map(|run| run[0].clone());
            done.insert((self.least, setup.clone()), early.collect());
            done.insert((effort, setup), runs.into_iter().map(|[_, whole]| whole).collect());
        }
        let published = Published::read();
        let of = |cell: Cell| {
            let runs = &done[&(effort, cell.setup())];
            Measurement::of(cell, runs, &published)
        };
        Ok(Measurements(cells.into_iter().map(of).collect()))
    }
}

/// One run, looked at when one with the `least` effort would end, and at its own end.
fn run(cell: &Cell, least: Effort, effort: Effort, seed: u64) -> Result<[Goodputs; 2], RunError> {
    let mut seen = Vec::new();
    let look = |flows: Vec<FlowResult>| {
        seen.push(flows.iter().map(|flow| flow.goodput_mbps).collect());
        ControlFlow::Continue(())
    };
    let instants = [least, effort].map(|effort| Duration::from_secs(effort.duration_s.into()));
    simulate_flows(&scenario(cell, effort.duration_s, seed), seed, instants, look)?;
    Ok(seen.try_into().expect("two looks"))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell as Counter;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::grid::{ALTERNATIVES, TABLES, THESIS, cells};
    use super::*;

    const LEAST: Effort = Effort { duration_s: 2, runs: 1 };
    const MORE: Effort = Effort { duration_s: 3, runs: 2 };

    fn medians(measurements: &Measurements) -> Vec<f64> {
        measurements.0.iter().flat_map(|cell| cell.flows.iter().map(|flow| flow.median)).collect()
    }

    #[test]
    fn runs_are_made_once_and_are_those_that_would_be_made_again() {
        let counted = AtomicUsize::new(0);
        let progress = |_: Progress| {
            counted.fetch_add(1, Ordering::Relaxed);
        };
        let runs = Runs::new(LEAST, 1, &progress);
        let seen = Counter::new(0);
        let made = || {
            let all = counted.load(Ordering::Relaxed);
            all - seen.replace(all)
        };
        // At 10 Mbit/s both paths of A.15 are those of A.11.
        let thesis = |table: usize| cells(TABLES[table], &[10], THESIS);
        let first = runs.measure(thesis(10), MORE).expect("it runs");
        assert_eq!(made(), 8);
        let again = runs.measure(thesis(14), MORE).expect("it runs");
        assert_eq!((made(), medians(&again)), (0, medians(&first)));
        // The form of CMT/RPv2 matters to its own cell alone, and shorter runs are parts of the longer ones.
        let formula = cells(TABLES[10], &[10], ALTERNATIVES[0].1);
        let shorter = runs.measure(formula.clone(), LEAST).expect("it runs");
        assert_eq!(made(), 1);
        let anew = Runs::new(LEAST, 1, &progress).measure(formula, LEAST).expect("it runs");
        assert_eq!((made(), medians(&shorter)), (4, medians(&anew)));
    }
}
