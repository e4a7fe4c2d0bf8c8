//! Whether the intervals of means are narrow enough.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::bound::with_percentage;
use crate::results::metrics::{ComparedMetric, Measured};
use crate::results::{Experiment, Run};
use crate::statistics::{mean, mean_interval};

/// How narrow the 95 % interval of a mean has to be, such as `goodput ± 2 %`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// The metric.
    pub metric: ComparedMetric,
    /// The largest half width of the interval, in percent of the mean.
    pub percent: f64,
}

/// The widest interval of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Widest {
    /// Its half width in percent of the mean; infinite where there is none, such as about a mean of zero. Zero only if
    /// all runs of each point have the same value.
    pub percent: f64,
    /// The point of the sweep.
    pub point: usize,
    /// The flow, if the metric is one of flows.
    pub flow: Option<String>,
    /// The number of its runs that have the metric.
    pub values: usize,
}

impl Precision {
    /// The fewest runs with the metric after which a width counts: the spread of fewer is too uncertain itself.
    pub const FEWEST_RUNS: u32 = 10;

    /// The number of runs after `runs`, if these were not enough: a quarter more.
    pub fn more(runs: u32) -> u32 {
        runs.saturating_add(runs.div_ceil(4).max(1))
    }

    /// The widest interval among all flows and points; one of fewer than `fewest` values is infinitely wide. `None` if
    /// no run has the metric. A flow without the metric at a point, such as one that never completes, has no interval
    /// there.
    pub fn widest(&self, experiment: &Experiment, fewest: usize) -> Option<Widest> {
        let mut samples = self.samples(experiment);
        samples.retain(|(.., values)| !values.is_empty());
        let width = |values: &[f64]| match (mean(values), mean_interval(values, 0.95)) {
            _ if values.len() < fewest => f64::INFINITY,
            (Some(_), Some(_)) if values.iter().all(|value| *value == values[0]) => 0.0,
            (Some(mean), Some(interval)) => 100.0 * (interval.high - interval.low) / 2.0 / mean.abs(),
            _ => f64::INFINITY,
        };
        let widths = samples.iter().map(|(point, flow, values)| Widest {
            percent: width(values),
            point: *point,
            flow: flow.clone(),
            values: values.len(),
        });
        // The first of several that are equally wide.
        widths.reduce(|widest, other| if other.percent > widest.percent { other } else { widest })
    }

    /// The number of runs that lack the metric of a flow that has it in another run.
    pub fn lacking(&self, experiment: &Experiment) -> usize {
        let samples = self.samples(experiment);
        let known: BTreeSet<&Option<String>> =
            samples.iter().filter(|(.., values)| !values.is_empty()).map(|(_, flow, _)| flow).collect();
        let lacks = |flow: &Option<String>, of: Measured| of.value.is_none() && known.contains(flow);
        let any = |run: &&Run| self.metric.values(&run.result).iter().any(|(flow, of)| lacks(flow, *of));
        experiment.runs.iter().filter(any).count()
    }

    /// The number of runs with a group of flows not all of which completed, although some did: the metric is that of
    /// these.
    pub fn unfinished(&self, experiment: &Experiment) -> usize {
        let is_partial = |of: &Measured| of.value.is_some() && of.unfinished > 0;
        let any = |run: &&Run| self.metric.values(&run.result).iter().any(|(_, of)| is_partial(of));
        experiment.runs.iter().filter(any).count()
    }

    /// The values of each flow at each point; empty for a flow that never has the metric there.
    fn samples(&self, experiment: &Experiment) -> Vec<(usize, Option<String>, Vec<f64>)> {
        let mut samples: Vec<(usize, Option<String>, Vec<f64>)> = Vec::new();
        for run in &experiment.runs {
            for (flow, Measured { value, .. }) in self.metric.values(&run.result) {
                // Runs are ordered by point.
                let known = samples.iter_mut().rev().take_while(|(point, ..)| *point == run.point);
                match known.into_iter().find(|(_, name, _)| *name == flow) {
                    Some((.., values)) => values.extend(value),
                    None => samples.push((run.point, flow, value.into_iter().collect())),
                }
            }
        }
        samples
    }
}

impl FromStr for Precision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (metric, percent) = with_percentage(text, &["±", "+-", "+/-"])?;
        if percent > 0.0 { Ok(Self { metric, percent }) } else { Err("expected a percentage above 0 %".to_owned()) }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ± {} %", self.metric, self.percent)
    }
}

#[cfg(test)]
mod tests {
    use rand_core::{RngCore, SeedableRng};
    use rand_pcg::Pcg64Mcg;
    use statrs::distribution::{ContinuousCDF, Normal};

    use super::*;

    /// How often the interval of the first narrow look contains the true mean of 100, and the runs until then on
    /// average: of normal samples with this deviation, wanted ± 2 %, at most 100 runs.
    fn coverage(deviation: f64, repetitions: u32) -> (f64, f64) {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let normal = Normal::new(100.0, deviation).expect("a deviation");
        let mut draw = || normal.inverse_cdf((f64::from(random.next_u32()) + 0.5) / 2f64.powi(32));
        let (mut inside, mut runs) = (0, 0);
        for _ in 0..repetitions {
            let mut samples: Vec<f64> = Vec::new();
            let interval = loop {
                let count = Precision::more(samples.len() as u32).clamp(Precision::FEWEST_RUNS, 100);
                samples.extend((samples.len() as u32..count).map(|_| draw()));
                let interval = mean_interval(&samples, 0.95).expect("ten samples or more");
                let mean = mean(&samples).expect("samples");
                if (interval.high - interval.low) / 2.0 <= 0.02 * mean || count == 100 {
                    break interval;
                }
            };
            inside += u32::from(interval.low <= 100.0 && 100.0 <= interval.high);
            runs += samples.len();
        }
        (f64::from(inside) / f64::from(repetitions), runs as f64 / f64::from(repetitions))
    }

    #[test]
    fn the_interval_that_ends_the_repetition_is_a_little_too_good() {
        for deviation in [3.9, 4.3, 6.0, 8.0] {
            let (covered, runs) = coverage(deviation, 20_000);
            println!("{:.1} % after {runs:.1} runs", 100.0 * covered);
            // Nominal is 95 %; three standard errors of 20,000 repetitions are 0.5 %.
            assert!((0.925..0.955).contains(&covered), "{deviation}: {covered} after {runs} runs");
        }
    }
}
