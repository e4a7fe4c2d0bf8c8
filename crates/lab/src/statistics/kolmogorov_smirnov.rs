//! Whether two samples come from the same distribution.

use super::descriptive::sorted;

/// The result of a two-sample Kolmogorov–Smirnov test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KolmogorovSmirnov {
    /// The statistic D: the largest distance between the two empirical distribution functions, 0 to 1.
    pub statistic: f64,
    /// The probability of a distance of at least D if both samples come from the same distribution.
    pub p_value: f64,
}

/// The largest product of sample sizes whose p-value is exact; counting takes time in proportion to it.
const MOST_EXACT: usize = 1_000_000;

/// Terms of the limiting distribution: the last is e⁻²⁰⁰ where the first is e⁻⁰·⁰², which is as good as certain.
const TERMS: i32 = 100;

/// The two-sided, two-sample Kolmogorov–Smirnov test; `None` if a sample is empty.
///
/// The p-value is exact, also with ties: the share of all divisions of the pooled samples into two of these sizes whose
/// distance is at least D. If the product of the sizes is more than a million, it is Kolmogorov's limit.
pub fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> Option<KolmogorovSmirnov> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let pooled = Pooled::new(a, b);
    let product = a.len() * b.len();
    let statistic = pooled.distance as f64 / product as f64;
    let p_value = match product <= MOST_EXACT {
        true => pooled.exact(),
        false => limit(statistic * (product as f64 / (a.len() + b.len()) as f64).sqrt()),
    };
    Some(KolmogorovSmirnov { statistic, p_value })
}

/// The samples together.
struct Pooled {
    sizes: (usize, usize),
    /// By number of smallest values: whether the next value is different, so that the distribution functions are
    /// compared here.
    compared: Vec<bool>,
    /// D times the product of the sizes.
    distance: usize,
}

impl Pooled {
    fn new(a: &[f64], b: &[f64]) -> Self {
        let (a, b) = (sorted(a), sorted(b));
        let all = sorted(&[a.as_slice(), b.as_slice()].concat());
        let mut pooled = Self { sizes: (a.len(), b.len()), compared: vec![true; all.len() + 1], distance: 0 };
        for (index, pair) in all.windows(2).enumerate() {
            pooled.compared[index + 1] = pair[0] != pair[1];
        }
        let up_to = |sample: &[f64], x: f64| sample.partition_point(|&y| y <= x);
        let distances = all.iter().map(|&x| pooled.distance_at(up_to(&a, x), up_to(&b, x)));
        pooled.distance = distances.max().unwrap_or(0);
        pooled
    }

    /// The distance where `i` values of the first sample and `j` of the second are passed.
    fn distance_at(&self, i: usize, j: usize) -> usize {
        (i * self.sizes.1).abs_diff(j * self.sizes.0)
    }

    /// The share of divisions with at least this distance. A division is a path from (0, 0) to both sizes, one step for
    /// each value in ascending order. `paths` counts those to (i, j) that stay nearer, as a share of all to the end of
    /// the row.
    fn exact(&self) -> f64 {
        let (rows, columns) = self.sizes;
        let is_near = |i: usize, j: usize| !self.compared[i + j] || self.distance_at(i, j) < self.distance;
        let mut paths = vec![0.0; columns + 1];
        for i in 0..=rows {
            let scale = if i == 0 { 0.0 } else { i as f64 / (i + columns) as f64 };
            for j in 0..=columns {
                let from_left = match j {
                    0 => f64::from(u8::from(i == 0)),
                    _ => paths[j - 1],
                };
                paths[j] = if is_near(i, j) { scale * paths[j] + from_left } else { 0.0 };
            }
        }
        (1.0 - paths[columns]).clamp(0.0, 1.0)
    }
}

/// Kolmogorov's limiting distribution: the probability of more than `x`.
fn limit(x: f64) -> f64 {
    if x < 0.1 {
        return 1.0;
    }
    let term = |k: i32| f64::from(if k % 2 == 1 { 1 } else { -1 }) * (-2.0 * f64::from(k * k) * x * x).exp();
    (2.0 * (1..=TERMS).map(term).sum::<f64>()).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(a: &[f64], b: &[f64]) -> (f64, f64) {
        let result = kolmogorov_smirnov(a, b).expect("two samples");
        (result.statistic, result.p_value)
    }

    fn near(found: (f64, f64), expected: (f64, f64)) -> bool {
        (found.0 - expected.0).abs() < 1e-12 && (found.1 - expected.1).abs() < 1e-10
    }

    /// 0, 1, 2, … and the same `by` further up.
    fn shifted(n: u32, by: f64) -> (Vec<f64>, Vec<f64>) {
        (0..n).map(|k| (f64::from(k), f64::from(k) + by)).unzip()
    }

    #[test]
    fn the_p_value_is_scipys_exact_one() {
        // scipy.stats.ks_2samp(a, b, method="exact"), scipy 1.17.1
        let (a, b) = ([1.2, 3.4, 2.2, 5.1, 4.0, 0.7, 2.9, 3.3], [4.4, 2.5, 6.1, 5.6, 3.9, 7.2, 4.8]);
        assert!(near(test(&a, &b), (0.607_142_857_142_857_1, 0.087_024_087_024_087_01)), "{:?}", test(&a, &b));
        assert!(near(test(&b, &a), test(&a, &b)));
        for (steps, p_value) in
            [(9, 0.135_003_502_500_954_4), (11, 0.034_580_084_963_334_51), (15, 0.000_899_577_684_017_68)]
        {
            let (a, b) = shifted(30, f64::from(steps) - 0.5);
            assert!(near(test(&a, &b), (f64::from(steps) / 30.0, p_value)), "{steps}: {:?}", test(&a, &b));
        }
    }

    #[test]
    fn ties_are_counted_exactly() {
        // All 462 ways to take six of the eleven values, counted: 50 are at least as far apart.
        let (a, b) = ([1.0, 1.0, 2.0, 3.0, 3.0, 3.0], [2.0, 3.0, 4.0, 4.0, 5.0]);
        assert!(near(test(&a, &b), (0.6, 50.0 / 462.0)), "{:?}", test(&a, &b));
    }

    #[test]
    fn equal_samples_are_never_told_apart() {
        assert_eq!(test(&[1.0, 2.0, 2.0], &[2.0, 1.0, 2.0]), (0.0, 1.0));
        assert_eq!(test(&[1.0; 2000], &[1.0; 2000]), (0.0, 1.0));
        assert_eq!(kolmogorov_smirnov(&[], &[1.0]), None);
    }

    #[test]
    fn large_samples_have_the_limit() {
        // scipy.special.kolmogorov(61 / 1500 · √750); the exact value is 0.16730.
        let (a, b) = shifted(1500, 60.5);
        assert!(near(test(&a, &b), (61.0 / 1500.0, 0.167_276_730_800_410_2)), "{:?}", test(&a, &b));
    }
}
