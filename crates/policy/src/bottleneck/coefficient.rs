//! Pearson's and Spearman's correlation coefficients of two samples.
//!
//! ```text
//! ρ = Σ (x − x̄)(y − ȳ) / √( Σ (x − x̄)² · Σ (y − ȳ)² )
//! ```
//!
//! Spearman's coefficient is Pearson's coefficient of the ranks; equal values get the mean of their ranks (red2018, eqs
//! 1 to 3). MSCM updates its sums with each value, RED-CPI its ranks when they are asked for; their tests compare them
//! with these direct forms.

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
