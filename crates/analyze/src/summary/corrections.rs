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

/// The clocks of all files that have another one than the first file.
#[derive(Clone, Debug, Default)]
pub(super) struct Corrections {
    rows: Vec<ClockRow>,
    origin: u64,
}

impl Corrections {
    /// Clocks with their offsets at `origin`, in nanoseconds.
    pub(super) const fn new(rows: Vec<ClockRow>, origin: u64) -> Self {
        Self { rows, origin }
    }

    pub(super) fn rows(&self) -> &[ClockRow] {
        &self.rows
    }

    fn row(&self, file: u16) -> Option<&ClockRow> {
        self.rows.iter().find(|row| row.file == usize::from(file) + 1)
    }

    /// A time of a file by the clock of the first one, in nanoseconds.
    pub(super) fn corrected(&self, file: u16, time: u64) -> u64 {
        let Some(row) = self.row(file) else { return time };
        let passed = time as f64 - self.origin as f64;
        let ahead = row.offset_ms * 1e6 + row.skew_ppm / 1e6 * passed;
        time.saturating_add_signed(-(ahead.round() as i64))
    }

    /// Whether the clock of a file is known to be another.
    pub(super) fn is_corrected(&self, file: u16) -> bool {
        self.row(file).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offset_and_skew_are_subtracted() {
        let row = ClockRow { file: 2, offset_ms: -5.0, skew_ppm: 10.0, uncertainty_ms: 1.0 };
        let corrections = Corrections::new(vec![row], 1_000_000_000);
        assert_eq!(corrections.corrected(0, 2_000_000_000), 2_000_000_000);
        assert_eq!(corrections.corrected(1, 1_000_000_000), 1_005_000_000);
        // A second later it has gained 10 µs.
        assert_eq!(corrections.corrected(1, 2_000_000_000), 2_004_990_000);
        assert!(corrections.is_corrected(1) && !corrections.is_corrected(0));
    }
}
