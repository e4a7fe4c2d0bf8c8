//! The difference between two groups of runs.

use subflow_scenario::sweep::Parameters;

use super::samples::{Samples, Values};
use crate::results::metrics::{ComparedMetric, Measured};
use crate::results::{Difference, Pairing, Run};
use crate::statistics::{
    Interval, MeanDifference, bootstrap_percentile, holm, mean, median, paired_difference, ratio_interval,
    welch_difference,
};

const CONFIDENCE: f64 = 0.95;

/// All differences of `metrics` between two groups of runs, of which each flow has its own.
pub(super) fn differences(
    metrics: &[ComparedMetric],
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
                let difference = Difference::of(metric, flow.as_deref(), before, after);
                found.push(Difference { parameters: parameters.clone(), ..difference });
            }
        }
    }
    found
}

/// In the order of the flows of the first run that has them.
fn by_flow(metric: &ComparedMetric, runs: &[&Run]) -> Vec<(Option<String>, Values)> {
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
    fn of(metric: &ComparedMetric, flow: Option<&str>, before: &Values, after: &Values) -> Self {
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
