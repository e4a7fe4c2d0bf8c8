//! The result of a detector: how correlated each pair of paths is. And Pearson's and Spearman's coefficients of two
//! samples:
//!
//! ```text
//! ρ = Σ (x − x̄)(y − ȳ) / √( Σ (x − x̄)² · Σ (y − ȳ)² )
//! ```
//!
//! Spearman's coefficient is Pearson's coefficient of the ranks; equal values get the mean of their ranks (red2018, eqs
//! 1 to 3). MSCM updates its sums with each value, RED-CPI its ranks when they are asked for; their tests compare them
//! with these direct forms.

/// The degree of correlation, −1 to 1, of each pair of paths, if known.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlations {
    threshold: f64,
    paths: usize,
    /// One entry per pair; the pairs of a path with all earlier paths are adjacent. NaN means unknown.
    degrees: Vec<f64>,
}

impl Correlations {
    /// No degree is known yet. A degree of at least `threshold` means a shared bottleneck.
    pub fn new(threshold: f64) -> Self {
        Self { threshold, paths: 0, degrees: Vec::new() }
    }

    /// The smallest degree at which a pair counts as sharing a bottleneck (φ).
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The number of known paths.
    pub fn paths(&self) -> usize {
        self.paths
    }

    /// The degree of a pair. `None` if it is unknown: too few samples, or all samples of a path are equal.
    pub fn between(&self, a: usize, b: usize) -> Option<f64> {
        if a == b || a.max(b) >= self.paths {
            return None;
        }
        Some(self.degrees[index(a, b)]).filter(|degree| !degree.is_nan())
    }

    /// Whether the pair counts as sharing a bottleneck.
    pub fn share(&self, a: usize, b: usize) -> bool {
        self.between(a, b).is_some_and(|degree| degree >= self.threshold)
    }

    /// Groups `paths` paths that may share a bottleneck and returns the group number of each. Two paths are in one
    /// group if a chain of pairs connects them in which each pair shares a bottleneck or is unknown. The number of a
    /// group is its lowest path index.
    pub fn groups(&self, paths: usize) -> Vec<usize> {
        let mut groups: Vec<usize> = (0..paths).collect();
        let apart = |a, b| self.between(a, b).is_some_and(|degree| degree < self.threshold);
        for b in 0..paths {
            for a in (0..b).filter(|&a| !apart(a, b)) {
                let (low, high) = (groups[a].min(groups[b]), groups[a].max(groups[b]));
                groups.iter_mut().filter(|group| **group == high).for_each(|group| *group = low);
            }
        }
        groups
    }

    /// Makes room for `paths` paths.
    pub(crate) fn grow(&mut self, paths: usize) {
        if paths > self.paths {
            self.paths = paths;
            self.degrees.resize(paths * (paths - 1) / 2, f64::NAN);
        }
    }

    /// Sets the degree of a pair of known paths.
    pub(crate) fn set(&mut self, a: usize, b: usize, degree: Option<f64>) {
        self.degrees[index(a, b)] = degree.unwrap_or(f64::NAN);
    }

    /// The degrees of `path` with all others are unknown again.
    pub(crate) fn forget(&mut self, path: usize) {
        if path < self.paths {
            (0..self.paths).filter(|&other| other != path).for_each(|other| self.set(path, other, None));
        }
    }
}

/// The index of a pair in `degrees`. It does not depend on the number of paths.
fn index(a: usize, b: usize) -> usize {
    let (low, high) = (a.min(b), a.max(b));
    high * (high - 1) / 2 + low
}

/// Pearson's coefficient. `None` if the lengths differ, there are fewer than two pairs, one sample is constant, or a
/// value is NaN.
pub fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() || x.len() < 2 {
        return None;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_x, mean_y) = (mean(x), mean(y));
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (dx, dy) = (x - mean_x, y - mean_y);
        xy += dx * dy;
        xx += dx * dx;
        yy += dy * dy;
    }
    // The product of the roots: the product of the squares could overflow.
    let scale = xx.sqrt() * yy.sqrt();
    (scale > 0.0).then(|| (xy / scale).clamp(-1.0, 1.0))
}

/// Spearman's coefficient. `None` in the same cases as [`pearson`].
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    // NaN has no rank.
    let ranked = |values: &[f64]| (!values.iter().any(|value| value.is_nan())).then(|| ranks(values));
    pearson(&ranked(x)?, &ranked(y)?)
}

/// The rank of each value, from 1; equal values get the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for tie in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let mean = first as f64 + (tie.len() + 1) as f64 / 2.0;
        tie.iter().for_each(|&index| ranks[index] = mean);
        first += tie.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(paths: usize, pairs: &[(usize, usize, f64)]) -> Correlations {
        let mut correlations = Correlations::new(0.8);
        correlations.grow(paths);
        pairs.iter().for_each(|&(a, b, degree)| correlations.set(a, b, Some(degree)));
        correlations
    }

    #[test]
    fn a_pair_shares_from_the_threshold_on() {
        let correlations = of(3, &[(0, 1, 0.8), (2, 1, 0.79)]);
        assert!(correlations.share(1, 0) && !correlations.share(1, 2) && !correlations.share(0, 2));
        assert_eq!(correlations.between(0, 2), None);
        assert_eq!(correlations.between(0, 7), None);
    }

    #[test]
    fn groups_follow_chains_of_pairs() {
        let mut correlations = of(5, &[(0, 4, 0.9), (4, 2, 1.0)]);
        for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (1, 4), (2, 3), (3, 4)] {
            correlations.set(a, b, Some(0.5));
        }
        assert_eq!(correlations.groups(5), [0, 1, 0, 3, 0]);
        correlations.set(1, 3, None);
        assert_eq!(correlations.groups(5), [0, 1, 0, 1, 0], "an unknown pair may share a bottleneck");
        assert_eq!(correlations.groups(6), [0; 6], "nothing is known about a new path");
    }

    #[test]
    fn a_new_path_leaves_the_others_as_they_were() {
        let mut correlations = of(2, &[(0, 1, 0.3)]);
        correlations.grow(4);
        assert_eq!(correlations.between(1, 0), Some(0.3));
        assert_eq!(correlations.between(3, 1), None);
    }

    #[test]
    fn ties_share_their_mean_rank() {
        // The paper's example: seven equal values share (1 + … + 7) / 7 = 4, and the next one is 8th.
        let values = [0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(ranks(&values), [4.0, 4.0, 8.0, 4.0, 4.0, 4.0, 4.0, 4.0]);
    }

    #[test]
    fn a_monotone_relation_has_spearman_1_and_pearson_less() {
        let x: Vec<f64> = (0..20).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| x.powi(5)).collect();
        assert_eq!(spearman(&x, &y), Some(1.0));
        assert!(pearson(&x, &y).expect("they vary") < 0.9);
    }

    #[test]
    fn a_constant_sample_has_no_coefficient() {
        assert_eq!(pearson(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(spearman(&[1.0], &[1.0]), None);
    }

    #[test]
    fn with_a_nan_there_is_no_coefficient() {
        let (x, y) = ([1.0, f64::NAN, 3.0], [1.0, 2.0, 3.0]);
        assert_eq!((pearson(&x, &y), spearman(&x, &y), spearman(&y, &x)), (None, None, None));
    }
}
