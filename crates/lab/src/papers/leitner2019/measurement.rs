//! Cells that have been run.

use super::grid::{Cell, GROWTH_AND_RECOVERY, Mode, PROPOSAL, REFERENCE};
use super::testbed::scenario;
use crate::execute::RunError;
use crate::simulate::{RunOptions, simulate};
use crate::statistics::{Interval, mean, mean_interval, standard_deviation};

/// What is measured, in the order of [`Sample`].
pub(super) const FIGURES: [&str; 4] = ["transfer_s", "retransmissions", "timeout_retransmissions", "timeouts"];

/// One run: transfer time in seconds, chunks sent again, those of them after a timeout, expirations of the timer.
pub(super) type Sample = [f64; 4];

/// Places in [`Sample`].
pub(super) const TRANSFER: usize = 0;
pub(super) const RETRANSMISSIONS: usize = 1;
pub(super) const BY_TIMEOUT: usize = 2;
pub(super) const TIMEOUTS: usize = 3;

/// One run of a cell.
pub(super) fn run(cell: &Cell, seed: u64) -> Result<Sample, RunError> {
    let result = simulate(&scenario(cell), seed, &RunOptions::default())?;
    let flow = &result.flows[0];
    let again = flow.retransmitted.unwrap_or_default();
    let transfer = flow.completion_s.ok_or_else(|| {
        let point = format!("{} ms, {} % and {} %", cell.rtt_ms[0], cell.loss_pct[0], cell.loss_pct[1]);
        RunError::failed(format!("the transfer did not end: {}, {}, {point}, seed {seed}", cell.item, cell.mode.name))
    })?;
    Ok([transfer, (again.fast + again.timeout) as f64, again.timeout as f64, again.timeouts as f64])
}

/// A mean with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figure {
    pub(super) mean: f64,
    pub(super) interval: Option<Interval>,
    /// Standard error of the mean.
    error: f64,
}

/// A cell with its runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measurement {
    pub(super) cell: Cell,
    pub(super) runs: usize,
    /// In the order of [`FIGURES`].
    pub(super) figures: [Figure; 4],
}

impl Measurement {
    pub(super) fn of(cell: Cell, samples: &[Sample]) -> Self {
        let figure = |index: usize| {
            let values: Vec<f64> = samples.iter().map(|sample| sample[index]).collect();
            let deviation = standard_deviation(&values).unwrap_or(0.0);
            Figure {
                mean: mean(&values).unwrap_or(0.0),
                interval: mean_interval(&values, 0.95),
                error: deviation / (values.len() as f64).sqrt(),
            }
        };
        Self { cell, runs: samples.len(), figures: core::array::from_fn(figure) }
    }
}

/// The mean of one mode over that of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ratio {
    pub(super) value: f64,
    /// Half of the 95 % interval.
    pub(super) half: f64,
}

impl Ratio {
    /// `None` where the denominator is zero.
    fn of(numerator: &Figure, denominator: &Figure) -> Option<Self> {
        if denominator.mean == 0.0 {
            return None;
        }
        let value = numerator.mean / denominator.mean;
        // Delta method: the relative variances of independent means add up.
        let relative = |figure: &Figure| if figure.mean == 0.0 { 0.0 } else { (figure.error / figure.mean).powi(2) };
        Some(Self { value, half: 1.96 * value * (relative(numerator) + relative(denominator)).sqrt() })
    }

    /// By how much it is below 1, in percent.
    pub(super) fn reduction_pct(self) -> f64 {
        (1.0 - self.value) * 100.0
    }

    /// Below 1 for certain.
    pub(super) fn is_below_one(self) -> bool {
        self.value + self.half < 1.0
    }

    /// Above 1 for certain.
    pub(super) fn is_above_one(self) -> bool {
        self.value - self.half > 1.0
    }
}

/// Everything that was measured.
#[derive(Clone, Debug)]
pub(super) struct Measurements(pub(super) Vec<Measurement>);

impl Measurements {
    /// The reference and the proposal at each point of `item`.
    pub(super) fn pairs(&self, item: &str) -> Vec<(&Measurement, &Measurement)> {
        let of = |mode: Mode| self.0.iter().filter(move |m| m.cell.mode == mode && m.cell.item == item);
        of(REFERENCE).zip(of(PROPOSAL)).collect()
    }

    /// Two modes at each point where the proposal is taken apart.
    pub(super) fn side_by_side(&self, one: Mode, other: Mode) -> Vec<(&Measurement, &Measurement)> {
        let of = |mode| {
            let is_of = move |m: &&Measurement| m.cell.mode == mode && m.cell.variant == GROWTH_AND_RECOVERY;
            self.0.iter().filter(is_of)
        };
        of(one).zip(of(other)).collect()
    }

    /// The reference that `measurement` is to be set against: the same point and switches.
    pub(super) fn reference_of(&self, measurement: &Measurement) -> Option<&Measurement> {
        let wanted = Cell { mode: REFERENCE, ..measurement.cell.clone() };
        self.0.iter().find(|other| other.cell == wanted)
    }
}

/// Proposal over reference, of the figure at `index`.
pub(super) fn ratio(reference: &Measurement, proposal: &Measurement, index: usize) -> Option<Ratio> {
    Ratio::of(&proposal.figures[index], &reference.figures[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_ratio_adds_relative_errors() {
        let figure = |mean, error| Figure { mean, interval: None, error };
        let ratio = Ratio::of(&figure(8.0, 0.08), &figure(10.0, 0.1)).expect("not over zero");
        assert!((ratio.value - 0.8).abs() < 1e-12 && (ratio.half - 1.96 * 0.8 * 2e-4_f64.sqrt()).abs() < 1e-12);
        assert!(ratio.is_below_one() && !ratio.is_above_one());
        assert_eq!(Ratio::of(&figure(1.0, 0.0), &figure(0.0, 0.0)), None);
    }
}
