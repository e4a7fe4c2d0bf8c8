//! How to judge several tests at once.

/// The p-values adjusted for their number (Holm 1979): rejecting those below a level rejects any true hypothesis with
/// at most that probability, however the tests depend on each other.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut least = 0.0f64;
    for (rank, &index) in order.iter().enumerate() {
        least = least.max((p_values.len() - rank) as f64 * p_values[index]).min(1.0);
        adjusted[index] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn the_smallest_is_multiplied_by_their_number_and_the_order_stays() {
        assert!(near(&holm(&[0.04, 0.01, 0.03, 0.9]), &[0.09, 0.04, 0.09, 0.9]));
        assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn the_adjusted_values_are_those_of_r() {
        // R: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), method = "holm")
        assert!(near(&holm(&[0.01, 0.02, 0.03, 0.04, 0.05]), &[0.05, 0.08, 0.09, 0.09, 0.09]));
    }

    proptest! {
        #[test]
        fn adjusting_only_enlarges_and_keeps_the_order_and_the_smallest_is_bonferronis(
            p in prop::collection::vec(0.0f64..=1.0, 1..20),
        ) {
            let adjusted = holm(&p);
            for (i, &a) in adjusted.iter().enumerate() {
                prop_assert!(p[i] <= a && a <= 1.0);
                for (j, &b) in adjusted.iter().enumerate() {
                    prop_assert!(p[i] > p[j] || a <= b);
                }
            }
            let least = (0..p.len()).min_by(|&i, &j| p[i].total_cmp(&p[j])).expect("at least one");
            prop_assert!((adjusted[least] - (p.len() as f64 * p[least]).min(1.0)).abs() < 1e-12);
        }
    }
}
