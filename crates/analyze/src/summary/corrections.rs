//! Times of several points of capture, by the clock of the first file.

/// The clock of a file, against that of the first file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockRow {
    /// The number of the file, from 1 on.
    pub file: usize,
    /// How far it is ahead at the first packet of all, in ms.
    pub offset_ms: f64,
    /// How much faster it is, in parts per million.
    pub skew_ppm: f64,
    /// The largest error of the offset, if delays differ by direction: half the smallest round-trip time between the
    /// points, in ms.
    pub uncertainty_ms: f64,
}

/// A point of capture without packets for so long may have ended, in nanoseconds.
const QUIET: u64 = 1_000_000_000;

/// The clocks of all files that have another one than the first file.
#[derive(Clone, Debug, Default)]
pub(super) struct Corrections {
    rows: Vec<ClockRow>,
    origin: u64,
    /// Of each point, the first one that its clock was compared with, directly or through others.
    compared_with: Vec<Option<u16>>,
    /// The times of the first and the last packet of each point.
    spans: Vec<Option<[u64; 2]>>,
}

impl Corrections {
    /// None for points with the times of their first and last packets; offsets are those at `origin`, in nanoseconds.
    pub(super) fn new(spans: Vec<Option<[u64; 2]>>, origin: u64) -> Self {
        Self { rows: Vec::new(), origin, compared_with: vec![None; spans.len()], spans }
    }

    /// Adds a clock.
    pub(super) fn extend(&mut self, row: Option<ClockRow>) {
        self.rows.extend(row);
    }

    /// The clock of a point was compared with that of the point `root`.
    pub(super) fn compare(&mut self, root: u16, point: u16) {
        self.compared_with[usize::from(point)] = Some(root);
    }

    pub(super) fn is_compared(&self, point: u16) -> bool {
        self.compared_with[usize::from(point)].is_some()
    }

    /// Whether the times of two points can be compared, once they are corrected.
    pub(super) fn are_comparable(&self, points: [u16; 2]) -> bool {
        let [first, second] = points.map(|point| self.compared_with.get(usize::from(point)).copied().flatten());
        first.is_some() && first == second
    }

    /// Whether each of two points was capturing when the other, between two times of its own, saw a connection: packets that
    /// it does not show were lost then. Where the times cannot be compared they are taken to be the same.
    pub(super) fn were_capturing(&self, [one, other]: [(u16, [u64; 2]); 2]) -> bool {
        let is_in = |(point, times): (u16, [u64; 2]), other: u16| {
            let Some(Some(span)) = self.spans.get(usize::from(other)) else { return false };
            let [first, last] = times.map(|time| self.corrected(point, time));
            let [begin, end] = span.map(|time| self.corrected(other, time));
            begin <= first.saturating_add(QUIET) && last <= end.saturating_add(QUIET)
        };
        !self.are_comparable([one.0, other.0]) || (is_in(one, other.0) && is_in(other, one.0))
    }

    pub(super) fn rows(&self) -> &[ClockRow] {
        &self.rows
    }

    fn row(&self, point: u16) -> Option<&ClockRow> {
        self.rows.iter().find(|row| row.file == usize::from(point) + 1)
    }

    /// A time of a point by the clock of the first one, in nanoseconds.
    pub(super) fn corrected(&self, point: u16, time: u64) -> u64 {
        let Some(row) = self.row(point) else { return time };
        let passed = time as f64 - self.origin as f64;
        let ahead = row.offset_ms * 1e6 + row.skew_ppm / 1e6 * passed;
        time.saturating_add_signed(-(ahead.round() as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offset_and_skew_are_subtracted() {
        let row = ClockRow { file: 2, offset_ms: -5.0, skew_ppm: 10.0, uncertainty_ms: 1.0 };
        let mut corrections = Corrections::new(vec![None; 3], 1_000_000_000);
        corrections.extend(Some(row));
        [0, 1].into_iter().for_each(|point| corrections.compare(0, point));
        assert_eq!(corrections.corrected(0, 2_000_000_000), 2_000_000_000);
        assert_eq!(corrections.corrected(1, 1_000_000_000), 1_005_000_000);
        // A second later it has gained 10 µs.
        assert_eq!(corrections.corrected(1, 2_000_000_000), 2_004_990_000);
        assert!(corrections.are_comparable([1, 0]) && !corrections.are_comparable([2, 0]));
    }

    #[test]
    fn a_point_that_ends_before_a_connection_does_not_tell_losses() {
        const S: u64 = 1_000_000_000;
        let mut corrections = Corrections::new(vec![Some([0, 20 * S]), Some([5 * S, 15 * S])], 0);
        [0, 1].into_iter().for_each(|point| corrections.compare(0, point));
        let were = |times: [u64; 2]| corrections.were_capturing([(0, times.map(|it| it * S)), (1, [6 * S, 9 * S])]);
        assert!(were([6, 9]) && were([5, 16]), "the last packets may be lost");
        assert!(!were([6, 17]) && !were([3, 9]));
    }
}
