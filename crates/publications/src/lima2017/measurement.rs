//! Cells that have been run.

use subflow_lab::RunError;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_lab::statistics::{Interval, mean, mean_interval, standard_deviation};

use super::grid::{Cell, Setup, Study};
use super::testbed::scenario;

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effort {
    /// Simulated seconds a run.
    pub(super) duration_s: u32,
    /// Runs a cell.
    pub(super) runs: u64,
}

/// What one run gave: goodput in Mbit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Goodput {
    /// Of the MPTCP connection.
    pub(super) mptcp: f64,
    /// Of all TCP connections in the background.
    pub(super) tcp: f64,
    /// How long a transfer that ends took, in seconds.
    pub(super) transfer: Option<f64>,
}

/// The longest that a transfer which ends may take.
const LONGEST_TRANSFER_S: u32 = 600;

/// Makes one run.
pub(super) fn run(setup: &Setup, effort: Effort, seed: u64) -> Result<Goodput, RunError> {
    let duration_s = if setup.ends { LONGEST_TRANSFER_S } else { effort.duration_s };
    let result = simulate(&scenario(setup, duration_s, seed), seed, &RunOptions::default())?;
    let of = |prefix: &str| {
        result.flows.iter().filter(|flow| flow.name.starts_with(prefix)).map(|flow| flow.goodput_mbps).sum()
    };
    let transfer = result.flows.iter().find_map(|flow| flow.completion_s);
    Ok(Goodput { mptcp: of("upload"), tcp: of("tcp"), transfer: transfer.filter(|_| setup.ends) })
}

/// A cell with its runs.
#[derive(Clone, Debug)]
pub(super) struct Measurement {
    pub(super) cell: Cell,
    pub(super) mean: f64,
    pub(super) sd: Option<f64>,
    pub(super) interval: Option<Interval>,
    pub(super) runs: usize,
    /// Mean time of a transfer that ends, in seconds, and its interval.
    pub(super) transfer: Option<(f64, Option<Interval>)>,
    /// Mean goodput of the TCP connections in the background, where there are any.
    pub(super) background_tcp: Option<f64>,
}

impl Measurement {
    /// Sums up the runs of `cell`.
    pub(super) fn of(cell: Cell, runs: &[Goodput]) -> Self {
        let samples: Vec<f64> = runs.iter().map(|run| run.mptcp).collect();
        let tcp: Vec<f64> = runs.iter().map(|run| run.tcp).collect();
        let transfers: Vec<f64> = runs.iter().filter_map(|run| run.transfer).collect();
        Self {
            transfer: mean(&transfers).map(|seconds| (seconds, mean_interval(&transfers, 0.95))),
            mean: mean(&samples).unwrap_or(0.0),
            sd: standard_deviation(&samples),
            interval: mean_interval(&samples, 0.95),
            runs: samples.len(),
            background_tcp: mean(&tcp).filter(|_| cell.setup.background),
            cell,
        }
    }
}

/// Everything that was measured.
#[derive(Clone, Debug)]
pub(super) struct Measurements(pub(super) Vec<Measurement>);

impl Measurements {
    /// The cells of a study.
    pub(super) fn of(&self, study: Study) -> impl Iterator<Item = &Measurement> {
        self.0.iter().filter(move |measurement| measurement.cell.study == study)
    }

    /// The cases of a study that were run.
    pub(super) fn cases(&self, study: Study) -> Vec<u32> {
        let mut cases: Vec<u32> = self.of(study).map(|measurement| measurement.cell.case).collect();
        cases.dedup();
        cases
    }

    /// One cell's goodput under full-mesh.
    pub(super) fn at(&self, study: Study, case: u32, congestion: &str, scheduler: &str) -> Option<f64> {
        self.cell(study, case, congestion, scheduler, "full-mesh").map(|measurement| measurement.mean)
    }

    /// One cell.
    pub(super) fn cell(
        &self,
        study: Study,
        case: u32,
        congestion: &str,
        scheduler: &str,
        path_manager: &str,
    ) -> Option<&Measurement> {
        let is_it = |m: &&Measurement| {
            let Setup { congestion: c, scheduler: s, path_manager: p, .. } = &m.cell.setup;
            m.cell.case == case && *c == congestion && *s == scheduler && *p == path_manager
        };
        self.of(study).find(is_it)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::grid::{THESIS, cells};
    use super::*;

    /// Measurements of `study` in which a run's goodput is what `goodput` says of its cell.
    pub(in super::super) fn made(study: Study, goodput: impl Fn(&Cell) -> f64) -> Measurements {
        let make = |cell: Cell| {
            let mptcp = goodput(&cell);
            let run = |mptcp, tcp| Goodput { mptcp, tcp, transfer: None };
            Measurement::of(cell, &[run(mptcp, 1.0), run(mptcp + 2.0, 3.0)])
        };
        Measurements(cells(study, false, THESIS).into_iter().map(make).collect())
    }

    #[test]
    fn a_cell_is_the_mean_of_its_runs_with_an_interval() {
        let all = made(Study::Background, |cell| f64::from(cell.case));
        let first = &all.0[0];
        assert_eq!((first.mean, first.runs, first.background_tcp), (2.0, 2, Some(2.0)));
        let interval = first.interval.expect("two runs");
        assert!(interval.low < 1.0 && interval.high > 3.0);
        assert_eq!(all.cases(Study::Background), [1, 2, 3, 4]);
        let single = all.cell(Study::Background, 3, "lia", "ll", "single-mesh").expect("it was measured");
        assert_eq!(single.mean, 4.0);
        assert_eq!(all.at(Study::Background, 5, "lia", "ll"), None);
    }
}
