//! Input of the coupled algorithms: window, RTT and rate of each path that counts. Only the paths of the same
//! [group](Path::group) count; with `coupling = "shared-bottleneck"` these are the paths through the same bottleneck.

use super::Path;

/// A path that counts in sums over the connection: established, with an RTT estimate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sibling {
    /// Its index in the connection's paths.
    pub(super) index: usize,
    /// Its [settled window](Path::settled_cwnd), in the path's unit.
    pub(super) window: f64,
    /// Smoothed RTT in seconds, at least a nanosecond.
    pub(super) rtt: f64,
}

impl Sibling {
    #[inline]
    fn new(index: usize, path: &Path) -> Option<Self> {
        let counts = path.established && path.srtt.is_some();
        counts.then(|| Self { index, window: f64::from(path.settled_cwnd()), rtt: path.rtt_s })
    }

    /// Rate `x = w / rtt`, in units per second.
    #[inline]
    pub(super) fn rate(&self) -> f64 {
        self.window / self.rtt
    }
}

/// The paths that count for path `of`, including itself.
#[inline]
pub(super) fn siblings(paths: &[Path], of: usize) -> impl Iterator<Item = Sibling> {
    let group = paths[of].group;
    paths.iter().enumerate().filter_map(
        move |(index, path)| {
            if path.group == group { Sibling::new(index, path) } else { None }
        },
    )
}

/// Visits the paths that count for path `of`, and returns how many of its group are established, in one pass: the
/// algorithms do this at each acknowledgment.
#[inline(always)]
pub(super) fn visit(paths: &[Path], of: usize, mut each: impl FnMut(Sibling)) -> usize {
    let (group, mut established) = (paths[of].group, 0);
    // The compiler would call the closure of an iterator's `filter` for each path, which costs as much as the rest.
    for (index, path) in paths.iter().enumerate() {
        if path.group != group {
            continue;
        }
        established += usize::from(path.established);
        if let Some(sibling) = Sibling::new(index, path) {
            each(sibling);
        }
    }
    established
}

/// One path, if it counts.
#[inline]
pub(super) fn sibling(paths: &[Path], index: usize) -> Option<Sibling> {
    Sibling::new(index, &paths[index])
}

/// The rate `Σ x` of the group of path `of`, in units per second.
pub(super) fn total_rate(paths: &[Path], of: usize) -> f64 {
    siblings(paths, of).map(|s| s.rate()).sum()
}

/// The number of established paths in the group of path `of`, with or without an RTT sample.
#[inline]
pub(super) fn established(paths: &[Path], of: usize) -> usize {
    let group = paths[of].group;
    paths.iter().filter(|path| path.group == group && path.established).count()
}

#[cfg(test)]
pub(super) mod tests {
    use subflow_quantity::Duration;

    use super::super::RecoveryState;
    use super::*;

    /// A path in congestion avoidance with a window in packets and an RTT in milliseconds.
    pub(in super::super) fn path(cwnd: u32, rtt_ms: u64) -> Path {
        let rtt = Duration::from_millis(rtt_ms);
        let mut path = Path { ssthresh: 1, min_rtt: Some(rtt), established: true, ..Path::new(1, cwnd) };
        path.set_srtt(rtt);
        path
    }

    #[test]
    fn only_established_paths_with_a_sample_count() {
        let closed = Path { established: false, ..path(10, 10) };
        let unsampled = Path { srtt: None, ..path(10, 10) };
        let paths = [closed, path(10, 20), unsampled];
        assert_eq!(siblings(&paths, 1).map(|s| s.index).collect::<Vec<_>>(), [1]);
        assert_eq!(total_rate(&paths, 1), 500.0);
        assert_eq!(established(&paths, 1), 2);
    }

    #[test]
    fn only_the_paths_of_a_group_see_each_other() {
        let paths = [path(10, 10), Path { group: 1, ..path(20, 10) }, path(30, 10)];
        assert_eq!(siblings(&paths, 2).map(|s| s.index).collect::<Vec<_>>(), [0, 2]);
        assert_eq!((established(&paths, 1), total_rate(&paths, 1)), (1, 2000.0));
    }

    #[test]
    fn a_recovering_path_counts_with_its_threshold() {
        let recovering = Path { ssthresh: 5, state: RecoveryState::Recovery, ..path(9, 10) };
        assert_eq!(siblings(&[recovering], 0).next().map(|s| s.window), Some(5.0));
    }
}
