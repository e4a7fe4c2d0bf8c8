//! Fairness of shares.

/// Jain's index (Jain, Chiu, Hawe 1984): (Σx)² / (n Σx²), 1 for equal shares, 1/n if one has all. `None` if all shares
/// are zero.
pub fn jain_index(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    if squares > 0.0 { Some(sum * sum / (shares.len() as f64 * squares)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_is_1_for_equal_shares_and_1_of_n_if_one_has_all() {
        assert_eq!(jain_index(&[5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain_index(&[9.0, 0.0, 0.0]), Some(1.0 / 3.0));
        assert_eq!(jain_index(&[0.0, 0.0]), None);
        assert_eq!(jain_index(&[]), None);
    }
}
