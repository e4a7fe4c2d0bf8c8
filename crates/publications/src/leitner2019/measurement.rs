//! Cells that have been run.

use subflow_lab::RunError;
use subflow_lab::simulate::{RunOptions, simulate};
use subflow_lab::statistics::{Interval, mean, mean_interval};
use subflow_report::Measured;

use super::grid::{Cell, Mode, PROPOSAL, REFERENCE};
use super::testbed::scenario;

/// What is measured, in the order of [`Sample`].
pub(super) const FIGURES: [&str; 5] =
    ["transfer_s", "retransmissions", "timeout_retransmissions", "timeouts", "fast_recoveries"];

/// One run: transfer time in seconds, chunks sent again, those of them after a timeout, expirations of the timer,
/// windows cut by fast recovery.
pub(super) type Sample = [f64; 5];

/// Places in [`Sample`].
pub(super) const TRANSFER: usize = 0;
pub(super) const RETRANSMISSIONS: usize = 1;
pub(super) const BY_TIMEOUT: usize = 2;
pub(super) const TIMEOUTS: usize = 3;
pub(super) const FAST_RECOVERIES: usize = 4;

/// One run of a cell.
pub(super) fn run(cell: &Cell, seed: u64) -> Result<Sample, RunError> {
    let result = simulate(&scenario(cell), seed, &RunOptions::default())?;
    let flow = &result.flows[0];
    let again = flow.retransmitted.unwrap_or_default();
    let transfer = flow.completion_s.ok_or_else(|| {
        let point = format!("{} ms, {} % and {} %", cell.rtt_ms[0], cell.loss_pct[0], cell.loss_pct[1]);
        RunError::Result(format!("the transfer did not end: {}, {}, {point}, seed {seed}", cell.item, cell.mode.name))
    })?;
    let counts = [again.fast + again.timeout, again.timeout, again.timeouts, again.fast_recoveries];
    let [all, by_timeout, timeouts, fast_recoveries] = counts.map(|count| count as f64);
    Ok([transfer, all, by_timeout, timeouts, fast_recoveries])
}

/// A mean with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figure {
    pub(super) mean: f64,
    pub(super) interval: Option<Interval>,
}

impl Figure {
    /// Half of the interval over the mean: zero where all runs are alike, `None` where one run tells nothing of it.
    fn relative_error(&self) -> Option<f64> {
        let half = self.interval.map(|interval| (interval.high - interval.low) / 2.0)?;
        Some(if half == 0.0 { 0.0 } else { half / self.mean })
    }
}

/// A cell with its runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measurement {
    pub(super) cell: Cell,
    pub(super) runs: usize,
    /// In the order of [`FIGURES`].
    pub(super) figures: [Figure; 5],
}

impl Measurement {
    pub(super) fn of(cell: Cell, samples: &[Sample]) -> Self {
        let figure = |index: usize| {
            let values: Vec<f64> = samples.iter().map(|sample| sample[index]).collect();
            Figure { mean: mean(&values).unwrap_or(0.0), interval: mean_interval(&values, 0.95) }
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
    /// `None` where the denominator is zero or uncertain by half of itself (the delta method is for small errors), or
    /// where there is no interval.
    fn of(numerator: &Figure, denominator: &Figure) -> Option<Self> {
        let uncertainty = denominator.relative_error()?;
        if denominator.mean == 0.0 || uncertainty >= 0.5 {
            return None;
        }
        let value = numerator.mean / denominator.mean;
        // Delta method: the relative variances of independent means add up.
        let relative = numerator.relative_error()?.hypot(uncertainty);
        Some(Self { value, half: value * relative })
    }

    /// The mean of ratios of independent measurements; `None` without any.
    pub(super) fn mean(ratios: &[Self]) -> Option<Self> {
        let value = mean(&ratios.iter().map(|ratio| ratio.value).collect::<Vec<_>>())?;
        let squares: f64 = ratios.iter().map(|ratio| ratio.half.powi(2)).sum();
        Some(Self { value, half: squares.sqrt() / ratios.len() as f64 })
    }

    /// As the figure that decides a finding.
    pub(super) fn measured(self) -> Measured {
        Measured::new(self.value, Some(Interval { low: self.low(), high: self.high(), confidence: 0.95 }), "times")
    }

    /// The lower end of the interval.
    pub(super) fn low(self) -> f64 {
        self.value - self.half
    }

    /// The upper end of the interval.
    pub(super) fn high(self) -> f64 {
        self.value + self.half
    }

    /// The whole interval lies below 1.
    pub(super) fn is_below_one(self) -> bool {
        self.high() < 1.0
    }

    /// The whole interval lies above 1.
    pub(super) fn is_above_one(self) -> bool {
        self.low() > 1.0
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
            let is_of = move |m: &&Measurement| m.cell.mode == mode && m.cell.takes_the_proposal_apart();
            self.0.iter().filter(is_of)
        };
        of(one).zip(of(other)).collect()
    }

    /// The reference that `measurement` is to be set against: the same point and switches. A reference has none.
    pub(super) fn reference_of(&self, measurement: &Measurement) -> Option<&Measurement> {
        let wanted = Cell { mode: REFERENCE, ..measurement.cell.clone() };
        self.0.iter().find(|other| other.cell == wanted && measurement.cell.mode != REFERENCE)
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
        let figure = |mean, half| {
            let interval = Interval { low: mean - half, high: mean + half, confidence: 0.95 };
            Figure { mean, interval: Some(interval) }
        };
        let ratio = Ratio::of(&figure(8.0, 0.24), &figure(10.0, 0.4)).expect("not over zero");
        assert!((ratio.value - 0.8).abs() < 1e-12 && (ratio.half - 0.8 * 0.05).abs() < 1e-12);
        assert!(ratio.is_below_one() && !ratio.is_above_one());
        assert_eq!(Ratio::of(&figure(1.0, 0.0), &figure(0.0, 0.0)), None);
        assert_eq!(Ratio::of(&figure(33.0, 9.0), &figure(0.2, 0.1)), None, "next to nothing");
        assert_eq!(Ratio::of(&Figure { mean: 1.0, interval: None }, &figure(1.0, 0.0)), None, "one run tells nothing");
        let both = Ratio::mean(&[ratio, Ratio { value: 1.0, half: 0.03 }]).expect("two ratios");
        assert!((both.value - 0.9).abs() < 1e-12 && (both.half - 0.025).abs() < 1e-12);
    }
}
