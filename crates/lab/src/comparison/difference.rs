//! The difference between two groups of runs.

use serde::Serialize;
use subflow_scenario::sweep::Parameters;

use super::metric::{Better, Measured, Metric};
use super::samples::{Samples, Values};
use crate::number;
use crate::results::Run;
use crate::statistics::{
    Interval, MeanDifference, bootstrap_percentile, holm, mean, median, paired_difference, ratio_interval,
    welch_difference,
};

const CONFIDENCE: f64 = 0.95;

/// How the runs of two groups belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pairing {
    /// By seed: runs with the same seed have the same random numbers for losses, delays and traffic.
    Paired,
    /// Not at all: they have at most one seed in common.
    Unpaired,
}

/// A metric of one flow, or of a whole run, in two groups of runs. What needs more runs than there are is absent
/// (`null`), and so are intervals where all differences are equal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The swept values of the second group.
    pub parameters: Parameters,
    /// The metric's name in tables.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The flow; null if the metric is one of the whole run.
    pub flow: Option<String>,
    /// How runs are compared.
    pub pairing: Pairing,
    /// Runs of the baseline that are compared: of pairs, those where both runs have the metric.
    pub baseline_n: usize,
    /// Runs of the other group that are compared.
    pub n: usize,
    /// Runs that lack the metric although the baseline's run with this seed has it; without pairs, by how many fewer
    /// runs have it than would in the same share as the baseline's, rounded up. Of the completion of a group also runs
    /// in which more flows did not complete than in the baseline's; without pairs, if that is so on average, those in
    /// which more did not than on average in the baseline's.
    pub lacking: usize,
    /// Mean of the baseline.
    #[serde(serialize_with = "number::optional")]
    pub baseline_mean: Option<f64>,
    /// Mean of the other group.
    #[serde(serialize_with = "number::optional")]
    pub mean: Option<f64>,
    /// The mean less that of the baseline.
    #[serde(serialize_with = "number::optional")]
    pub difference: Option<f64>,
    /// Lower end of its 95 % interval (paired t, or Welch's).
    #[serde(serialize_with = "number::optional")]
    pub difference_ci95_low: Option<f64>,
    /// Upper end of it.
    #[serde(serialize_with = "number::optional")]
    pub difference_ci95_high: Option<f64>,
    /// The difference in percent of the baseline's mean.
    #[serde(serialize_with = "number::optional")]
    pub change_percent: Option<f64>,
    /// Lower end of its 95 % interval (Fieller's: it contains 0 exactly where that of the difference does). Absent also
    /// where the baseline's mean cannot be told from zero.
    #[serde(serialize_with = "number::optional")]
    pub change_percent_ci95_low: Option<f64>,
    /// Upper end of it.
    #[serde(serialize_with = "number::optional")]
    pub change_percent_ci95_high: Option<f64>,
    /// The median of the differences within pairs; without pairs, the difference of the medians.
    #[serde(serialize_with = "number::optional")]
    pub median_difference: Option<f64>,
    /// Lower end of its 95 % interval (percentile bootstrap; from five runs on).
    #[serde(serialize_with = "number::optional")]
    pub median_difference_ci95_low: Option<f64>,
    /// Upper end of it.
    #[serde(serialize_with = "number::optional")]
    pub median_difference_ci95_high: Option<f64>,
    /// p-value of the t-test. Where all differences are equal there is no such test: 1 if they are zero and no run lacks
    /// the metric, else absent.
    #[serde(serialize_with = "exact")]
    pub p_value: Option<f64>,
    /// The same, adjusted for all differences of the command (Holm).
    #[serde(serialize_with = "exact")]
    pub p_value_holm: Option<f64>,
    /// Runs that might have the metric, of the baseline and of the other group; of pairs, the number of pairs.
    #[serde(skip)]
    pub runs: [usize; 2],
    /// Of the completion of a group: how many flows did not complete in a run, on average, of the baseline and of this.
    /// `None` if all did.
    #[serde(skip)]
    pub unfinished: Option<[f64; 2]>,
    #[serde(skip)]
    better: Better,
}

/// P-values may be far below the last decimal of measured numbers: six significant digits.
fn exact<S: serde::Serializer>(p: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    let shown = p.and_then(|p| format!("{p:.5e}").parse::<f64>().ok());
    shown.serialize(serializer)
}

/// All differences of `metrics` between two groups of runs, of which each flow has its own.
pub(super) fn differences(
    metrics: &[Metric],
    parameters: &Parameters,
    baseline: &[&Run],
    other: &[&Run],
) -> Vec<Difference> {
    let mut found = Vec::new();
    for metric in metrics {
        let (before, after) = (by_flow(metric, baseline), by_flow(metric, other));
        for (flow, before) in &before {
            let Some((_, after)) = after.iter().find(|(name, _)| name == flow) else { continue };
            if before.values().chain(after.values()).any(|of: &Measured| of.value.is_some()) {
                let difference = Difference::new(metric, flow.as_deref(), before, after);
                found.push(Difference { parameters: parameters.clone(), ..difference });
            }
        }
    }
    found
}

/// In the order of the flows of the first run that has them.
fn by_flow(metric: &Metric, runs: &[&Run]) -> Vec<(Option<String>, Values)> {
    let mut flows: Vec<(Option<String>, Values)> = Vec::new();
    for run in runs {
        for (index, (flow, value)) in metric.values(&run.result).into_iter().enumerate() {
            // Runs of a point have the same flows.
            let at = match flows.get(index) {
                Some((name, _)) if *name == flow => Some(index),
                _ => flows.iter().position(|(name, _)| *name == flow),
            };
            let at = at.unwrap_or_else(|| {
                flows.push((flow, Values::new()));
                flows.len() - 1
            });
            flows[at].1.insert(run.result.seed, value);
        }
    }
    flows
}

/// Adjusts the p-values for their number.
pub(super) fn adjust(differences: &mut [Difference]) {
    let tested = || (0..differences.len()).filter(|&index| differences[index].p_value.is_some());
    let indices: Vec<usize> = tested().collect();
    let adjusted = holm(&indices.iter().filter_map(|&index| differences[index].p_value).collect::<Vec<f64>>());
    for (index, adjusted) in indices.into_iter().zip(adjusted) {
        differences[index].p_value_holm = Some(adjusted);
    }
}

impl Difference {
    fn new(metric: &Metric, flow: Option<&str>, before: &Values, after: &Values) -> Self {
        let Samples { are_pairs, first, second, lacking, runs, unfinished } = Samples::new(before, after);
        let means = mean(&first).zip(mean(&second));
        let test = if are_pairs { of_pairs(&first, &second) } else { welch_difference(&first, &second, CONFIDENCE) };
        // Without a spread, neither resamples nor ratios say more than the t-test does.
        let ratio = test.and_then(|_| ratio_interval(&first, &second, are_pairs, CONFIDENCE));
        let of_medians = median_difference(&first, &second, are_pairs);
        let medians = test.and_then(|_| median_interval(&first, &second, are_pairs));
        let are_equal = first.len().min(second.len()) > 1 && first.first() == second.first();
        let is_partial = [first.len(), second.len()] != runs;
        let equal = (test.is_none() && are_equal && !is_partial).then_some(1.0);
        let percent = |ratio: f64| 100.0 * (ratio - 1.0);
        Self {
            parameters: Parameters::new(),
            metric: metric.column,
            unit: metric.unit,
            flow: flow.map(str::to_owned),
            pairing: if are_pairs { Pairing::Paired } else { Pairing::Unpaired },
            baseline_n: first.len(),
            n: second.len(),
            lacking,
            baseline_mean: mean(&first),
            mean: mean(&second),
            difference: means.map(|(first, second)| second - first),
            difference_ci95_low: test.map(|test| test.low),
            difference_ci95_high: test.map(|test| test.high),
            change_percent: means.filter(|(first, _)| *first != 0.0).map(|(first, second)| percent(second / first)),
            change_percent_ci95_low: ratio.map(|interval| percent(interval.low)),
            change_percent_ci95_high: ratio.map(|interval| percent(interval.high)),
            median_difference: of_medians,
            median_difference_ci95_low: medians.map(|interval| interval.low),
            median_difference_ci95_high: medians.map(|interval| interval.high),
            p_value: test.map(|test| test.p_value).or(equal),
            p_value_holm: None,
            runs,
            unfinished,
            better: metric.better,
        }
    }

    /// Whether there is no interval although there are enough runs: all differences are equal.
    pub fn is_without_spread(&self) -> bool {
        self.n.min(self.baseline_n) > 1 && self.difference_ci95_low.is_none()
    }

    /// Whether some runs do not have the metric, in both groups or in one.
    pub fn is_partial(&self) -> bool {
        [self.baseline_n, self.n] != self.runs
    }

    /// By how many percent of the baseline it is worse; negative if it is better. Infinite if the baseline is zero and
    /// this is worse. `None` if one of the two has no value.
    pub fn worse_percent(&self) -> Option<f64> {
        let worse = match self.better {
            Better::Higher => -self.difference?,
            Better::Lower => self.difference?,
        };
        let baseline = self.baseline_mean?.abs();
        // Nothing is worse than an equal value, also if both are zero.
        Some(if worse == 0.0 { 0.0 } else { 100.0 * worse / baseline })
    }
}

fn of_pairs(first: &[f64], second: &[f64]) -> Option<MeanDifference> {
    let pairs: Vec<(f64, f64)> = first.iter().copied().zip(second.iter().copied()).collect();
    paired_difference(&pairs, CONFIDENCE)
}

/// The numbers of values that are drawn independently, and which of them are those of the second group.
fn sizes(first: &[f64], second: &[f64], are_pairs: bool) -> (Vec<usize>, usize) {
    if are_pairs { (vec![first.len()], 0) } else { (vec![first.len(), second.len()], 1) }
}

fn median_difference(first: &[f64], second: &[f64], are_pairs: bool) -> Option<f64> {
    if are_pairs {
        let within: Vec<f64> = first.iter().zip(second).map(|(first, second)| second - first).collect();
        return median(&within);
    }
    Some(median(second)? - median(first)?)
}

fn median_interval(first: &[f64], second: &[f64], are_pairs: bool) -> Option<Interval> {
    let (sizes, other) = sizes(first, second, are_pairs);
    bootstrap_percentile(&sizes, CONFIDENCE, |drawn| {
        let [first, second] = [(first, &drawn[0]), (second, &drawn[other])]
            .map(|(values, indices)| indices.iter().map(|&index| values[index]).collect::<Vec<f64>>());
        median_difference(&first, &second, are_pairs).unwrap_or(f64::NAN)
    })
}
