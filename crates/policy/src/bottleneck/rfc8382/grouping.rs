//! Grouping paths by their statistics (RFC 8382, section 3.3.1).

use super::statistics::{HIGH_LOSS, Summary};

/// p_f: the freq_est of paths in one group differs by less than this.
const FREQUENCY_BOUND: f64 = 0.1;
/// p_mad: their var_est differs by less than this fraction of the larger one.
const VARIABILITY_BOUND: f64 = 0.1;
/// p_s: their skew_est differs by less than this.
const SKEW_BOUND: f64 = 0.15;
/// p_d: their pkt_loss, where it is high, differs by less than this fraction of the larger one.
const LOSS_BOUND: f64 = 0.1;

/// The group number of each path; `None` if it does not queue at a bottleneck or has too few samples. p_f, p_mad, p_s
/// and p_d are `scale` times those of the RFC.
pub(super) fn groups(paths: &[Option<Summary>], scale: f64) -> Vec<Option<usize>> {
    let of = |path: &usize| paths[*path].expect("only known paths are grouped");
    let queueing = |path: &usize| paths[*path].is_some_and(|summary| summary.bottleneck);
    let mut groups = vec![(0..paths.len()).filter(queueing).collect::<Vec<usize>>()];
    groups = divide(groups, |path| of(path).frequency, |_| scale * FREQUENCY_BOUND);
    groups = divide(groups, |path| of(path).variability, |larger| scale * VARIABILITY_BOUND * larger);
    groups = divide(groups, |path| of(path).skew, |_| scale * SKEW_BOUND);
    // Losses that are too low to be compared count as equal.
    let reliable = |path: &usize| Some(of(path).loss).filter(|loss| *loss > HIGH_LOSS).unwrap_or(0.0);
    groups = divide(groups, reliable, |larger| scale * LOSS_BOUND * larger);
    let mut numbers = vec![None; paths.len()];
    for (number, group) in groups.iter().enumerate() {
        group.iter().for_each(|&path| numbers[path] = Some(number));
    }
    numbers
}

/// Sorts each group by `key` in descending order and divides it where two neighbours differ by more than `allowed(the
/// larger one)`. Equal ones always stay together.
fn divide(groups: Vec<Vec<usize>>, key: impl Fn(&usize) -> f64, allowed: impl Fn(f64) -> f64) -> Vec<Vec<usize>> {
    let mut divided = Vec::new();
    for mut group in groups {
        group.sort_by(|a, b| key(b).total_cmp(&key(a)));
        let near = |larger: &usize, smaller: &usize| {
            let difference = key(larger) - key(smaller);
            difference < allowed(key(larger)) || difference == 0.0
        };
        divided.extend(group.chunk_by(near).map(<[usize]>::to_vec));
    }
    divided
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(frequency: f64, variability: f64, skew: f64, loss: f64) -> Option<Summary> {
        Some(Summary { skew, variability, frequency, loss, bottleneck: true })
    }

    fn same(paths: &[Option<Summary>], a: usize, b: usize) -> bool {
        let groups = groups(paths, 1.0);
        groups[a].is_some() && groups[a] == groups[b]
    }

    #[test]
    fn a_path_that_differs_in_one_statistic_is_in_another_group() {
        let like = path(0.2, 100.0, 0.0, 0.0);
        for (other, together) in [
            (path(0.29, 100.0, 0.0, 0.0), true),
            (path(0.31, 100.0, 0.0, 0.0), false),
            (path(0.2, 110.0, 0.0, 0.0), true),
            (path(0.2, 112.0, 0.0, 0.0), false),
            (path(0.2, 100.0, 0.14, 0.0), true),
            (path(0.2, 100.0, 0.16, 0.0), false),
            (path(0.2, 100.0, 0.0, 0.04), true),
            (path(0.2, 100.0, 0.0, 0.06), false),
        ] {
            assert_eq!(same(&[like, other], 0, 1), together, "{other:?}");
        }
    }

    #[test]
    fn a_chain_of_neighbours_is_one_group() {
        let paths = [0.0, 0.09, 0.18].map(|frequency| path(frequency, 100.0, 0.0, 0.0));
        assert!(same(&paths, 0, 2));
    }

    #[test]
    fn a_later_step_divides_a_group_that_an_earlier_step_kept() {
        let paths = [path(0.0, 100.0, 0.0, 0.0), path(0.09, 150.0, 0.0, 0.0), path(0.18, 100.0, 0.0, 0.0)];
        assert!(same(&paths, 0, 2) && !same(&paths, 0, 1));
    }

    #[test]
    fn high_losses_are_compared_by_their_ratio() {
        let lossy = |loss| path(0.2, 100.0, 0.0, loss);
        assert!(same(&[lossy(0.20), lossy(0.19)], 0, 1) && !same(&[lossy(0.20), lossy(0.17)], 0, 1));
    }

    #[test]
    fn paths_without_a_bottleneck_are_in_no_group() {
        let idle = Some(Summary { bottleneck: false, ..path(0.2, 100.0, 0.0, 0.0).expect("made") });
        assert_eq!(groups(&[idle, None, path(0.2, 100.0, 0.0, 0.0)], 1.0), [None, None, Some(0)]);
    }

    #[test]
    fn wider_bounds_keep_paths_together_that_narrow_ones_divide() {
        let paths = [path(0.2, 100.0, 0.0, 0.06), path(0.31, 115.0, 0.2, 0.08)];
        let joined = |scale| groups(&paths, scale)[0] == groups(&paths, scale)[1];
        // By loss last: 0.02 of 0.08 is two and a half times p_d.
        assert_eq!([0.0, 1.0, 2.0, 2.6, f64::INFINITY].map(joined), [false, false, false, true, true]);
        let same = [paths[0]; 2];
        assert_eq!(groups(&same, 0.0)[0], groups(&same, 0.0)[1]);
    }
}
