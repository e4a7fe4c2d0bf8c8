//! What the runs of an emulation showed.

use subflow_lab::RunError;
use subflow_lab::statistics::{Interval, mean, mean_interval, quantile};
use subflow_scenario::Scenario;

use super::{Emulation, Emulator, options};

/// The attempts at a run in real time, until one is valid.
pub(super) const ATTEMPTS: u32 = 3;

/// A run in real time: its last attempt.
#[derive(Clone, Debug)]
pub(super) struct RealRun {
    /// Its figures, in the order of the quantities.
    pub(super) values: Vec<f64>,
    /// The reasons why it is not valid; none if it is.
    pub(super) objections: Vec<String>,
    pub(super) attempts: u32,
}

/// An emulation with the figures of its runs.
pub(crate) struct Measured {
    /// What was run.
    pub(crate) emulation: Emulation,
    /// The figures of each simulated run.
    pub(super) simulated: Vec<Vec<f64>>,
    pub(super) emulated: Vec<RealRun>,
}

/// Runs `emulation` in real time until a run is valid or there were enough attempts.
pub(super) fn valid_run(
    emulation: &Emulation,
    scenario: &Scenario,
    seed: u64,
    emulator: &dyn Emulator,
) -> Result<RealRun, RunError> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let result = emulator.run(scenario, seed, emulation.routers, &options(emulation))?;
        if result.objections().is_empty() || attempts == ATTEMPTS {
            let values = emulation.quantities.iter().map(|quantity| (quantity.of)(&result)).collect();
            return Ok(RealRun { values, objections: result.objections().to_vec(), attempts });
        }
    }
}

impl Measured {
    /// The values of a quantity in the simulated runs.
    pub(crate) fn simulated(&self, quantity: usize) -> Vec<f64> {
        self.simulated.iter().map(|values| values[quantity]).collect()
    }

    /// Its values in the valid runs on Linux.
    pub(crate) fn emulated(&self, quantity: usize) -> Vec<f64> {
        self.real(true).map(|run| run.values[quantity]).collect()
    }

    /// The values of all quantities in each valid run on Linux.
    pub(crate) fn valid_values(&self) -> impl Iterator<Item = &[f64]> {
        self.real(true).map(|run| run.values.as_slice())
    }

    /// Its values in the runs on Linux that are not valid, for reports only.
    pub(super) fn invalid(&self, quantity: usize) -> Vec<f64> {
        self.real(false).map(|run| run.values[quantity]).collect()
    }

    fn real(&self, valid: bool) -> impl Iterator<Item = &RealRun> {
        self.emulated.iter().filter(move |run| run.objections.is_empty() == valid)
    }

    /// The number of valid runs on Linux.
    pub(crate) fn valid_runs(&self) -> usize {
        self.real(true).count()
    }

    /// How far the mean of the valid runs on Linux is from the simulated one, as a share of the latter.
    pub(crate) fn deviation(&self, quantity: usize) -> Option<f64> {
        share(mean(&self.emulated(quantity))?, mean(&self.simulated(quantity))?)
    }

    /// The largest deviation of the quartiles; `None` with fewer runs of a kind than have quartiles.
    pub(super) fn deviation_of_quartiles(&self, quantity: usize) -> Option<f64> {
        const FEWEST: usize = 8;
        let (simulated, emulated) = (self.simulated(quantity), self.emulated(quantity));
        if simulated.len().min(emulated.len()) < FEWEST {
            return None;
        }
        let of = |p| share(quantile(&emulated, p)?, quantile(&simulated, p)?);
        [0.25, 0.5, 0.75].into_iter().filter_map(of).max_by(|a, b| a.abs().total_cmp(&b.abs()))
    }
}

fn share(value: f64, of: f64) -> Option<f64> {
    (of != 0.0).then(|| value / of - 1.0)
}

/// The mean with its 95 % interval, which is the mean alone for one sample.
pub(super) fn mean_of(samples: &[f64]) -> Option<(f64, Interval)> {
    let mean = mean(samples)?;
    let alone = Interval { low: mean, high: mean, confidence: 0.0 };
    Some((mean, mean_interval(samples, 0.95).unwrap_or(alone)))
}
