//! The runs of two groups that are compared, and those that lack what is compared.

use std::collections::BTreeMap;

use crate::results::metrics::Measured;
use crate::statistics::mean;

/// A metric of one flow by seed.
pub(super) type Values = BTreeMap<u64, Measured>;

/// What two groups of runs have to compare.
pub(super) struct Samples {
    /// Whether `first` and `second` are in pairs.
    pub(super) are_pairs: bool,
    /// Values of the baseline; of pairs, where both runs have one.
    pub(super) first: Vec<f64>,
    /// Values of the other group.
    pub(super) second: Vec<f64>,
    /// Runs of the other group that lack what the baseline has.
    pub(super) lacking: usize,
    /// Runs of both groups that might have a value; of pairs, their number.
    pub(super) runs: [usize; 2],
    /// Flows that did not complete in a run, on average, in both groups; `None` if all did.
    pub(super) unfinished: Option<[f64; 2]>,
}

/// Whether groups of `first` and `second` runs with so many seeds in common are compared by seed.
pub(super) fn are_pairs(shared: usize, first: usize, second: usize) -> bool {
    shared > 1 || shared == first.min(second)
}

impl Samples {
    pub(super) fn new(before: &Values, after: &Values) -> Self {
        let shared: Vec<(Measured, Measured)> =
            before.iter().filter_map(|(seed, first)| Some((*first, *after.get(seed)?))).collect();
        if are_pairs(shared.len(), before.len(), after.len()) {
            let (first, second) = shared.iter().filter_map(|(a, b)| a.value.zip(b.value)).unzip();
            let lacking = shared.iter().filter(|(a, b)| b.lacks(*a)).count();
            let unfinished = unfinished(shared.iter().map(|(a, _)| a), shared.iter().map(|(_, b)| b));
            Self { are_pairs: true, first, second, lacking, runs: [shared.len(); 2], unfinished }
        } else {
            Self::without_pairs(before, after)
        }
    }

    fn without_pairs(before: &Values, after: &Values) -> Self {
        let [first, second] =
            [before, after].map(|values| values.values().filter_map(|of| of.value).collect::<Vec<f64>>());
        let expected = (first.len() * after.len()).div_ceil(before.len().max(1));
        let unfinished = unfinished(before.values(), after.values());
        // If the mean is larger, at least one run is above that of the baseline.
        let of_groups = match unfinished {
            Some([usual, now]) if now > usual && !first.is_empty() => {
                after.values().filter(|of| of.unfinished as f64 > usual).count()
            }
            _ => 0,
        };
        let lacking = expected.saturating_sub(second.len()).max(of_groups);
        Self { are_pairs: false, first, second, lacking, runs: [before.len(), after.len()], unfinished }
    }
}

fn unfinished<'a>(
    before: impl Iterator<Item = &'a Measured>,
    after: impl Iterator<Item = &'a Measured>,
) -> Option<[f64; 2]> {
    let before: Vec<f64> = before.map(|of| of.unfinished as f64).collect();
    let after: Vec<f64> = after.map(|of| of.unfinished as f64).collect();
    let means = [mean(&before)?, mean(&after)?];
    means.iter().any(|mean| *mean > 0.0).then_some(means)
}
