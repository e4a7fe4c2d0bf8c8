//! Ratios of means, and what a few runs leave open. Intervals are Fieller's, of the runs within cells.

use std::ops::RangeInclusive;

use subflow_lab::statistics::{Interval, mean, ratio_of_cells_interval};
use subflow_report::Measured;

use super::results::Row;

/// A ratio of two means, each of a cell or of several, and the bounds between which it lies at 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Ratio {
    /// How many times the mean over the cells `b` that over `a` is, with equal weights, by Fieller's interval. What the
    /// cells of one mean differ by is no error: the interval comes from the scatter of the runs within cells, which are
    /// taken as independent. It is open where a cell has been run once, and where the mean over `b` cannot be told from
    /// zero.
    pub(crate) fn of_cells(a: &[&Row], b: &[&Row], metric: usize) -> Self {
        let mean_of = |cells: &[&Row]| mean(&cells.iter().map(|row| row.mean(metric)).collect::<Vec<_>>());
        let value = mean_of(a).unwrap_or(f64::NAN) / mean_of(b).unwrap_or(f64::NAN);
        let [of_a, of_b] = [a, b].map(|cells| cells.iter().map(|row| row.samples(metric)).collect::<Vec<_>>());
        let [of_a, of_b] = [&of_a, &of_b].map(|cells| cells.iter().map(Vec::as_slice).collect::<Vec<_>>());
        match ratio_of_cells_interval(&of_b, &of_a, 0.95) {
            Some(Interval { low, high, .. }) => Self { value, low, high },
            None => Self { value, low: 0.0, high: f64::INFINITY },
        }
    }

    /// The same by the delta method, which is for small errors: `None` where a mean has no interval, or that of `b` is zero or
    /// uncertain by half of itself.
    pub(crate) fn by_errors(a: &Row, b: &Row, metric: usize) -> Option<Self> {
        let figure = |row: &Row| {
            let (mean, interval) = (row.mean(metric), row.interval(metric)?);
            let half = (interval.high - interval.low) / 2.0;
            Some((mean, if half == 0.0 { 0.0 } else { half / mean }))
        };
        let ((a, error), (b, error_of_b)) = (figure(a)?, figure(b)?);
        // The relative variances of independent means add up.
        let of = |value: f64| Self::around(value, value * error.hypot(error_of_b));
        (b != 0.0 && error_of_b < 0.5).then(|| of(a / b))
    }

    /// A ratio with half of its interval.
    pub(crate) fn around(value: f64, half: f64) -> Self {
        Self { value, low: value - half, high: value + half }
    }

    /// The mean of ratios of independent measurements; `None` without any.
    pub(crate) fn average(ratios: &[Self]) -> Option<Self> {
        let value = mean(&ratios.iter().map(|ratio| ratio.value).collect::<Vec<_>>())?;
        let squares: f64 = ratios.iter().map(|ratio| ratio.half().powi(2)).sum();
        Some(Self::around(value, squares.sqrt() / ratios.len() as f64))
    }

    pub(crate) fn half(self) -> f64 {
        (self.high - self.low) / 2.0
    }

    pub(crate) fn is_below_one(self) -> bool {
        self.high < 1.0
    }

    pub(crate) fn is_above_one(self) -> bool {
        self.low > 1.0
    }

    /// To read, with a star where its interval leaves 1 out.
    pub(crate) fn marked(self) -> String {
        let star = if self.is_below_one() || self.is_above_one() { "*" } else { "" };
        format!("{:.2}{star}", self.value)
    }

    /// As the figure that decides a finding.
    pub(crate) fn measured(self) -> Measured {
        let is_known = self.high.is_finite();
        let interval = is_known.then_some(Interval { low: self.low, high: self.high, confidence: 0.95 });
        Measured::new(self.value, interval, "times")
    }

    /// Whether it is in `range`; `None` where some of what lies between the bounds is and some is not.
    pub(crate) fn is_in(self, range: &RangeInclusive<f64>) -> Option<bool> {
        is_between((self.low, self.high), range)
    }

    /// Whether two means are about equal: they are by their values, and are not where no value between the bounds is
    /// in `range`.
    pub(crate) fn is_about(self, range: &RangeInclusive<f64>) -> Option<bool> {
        if range.contains(&self.value) { Some(true) } else { self.is_in(range).filter(|within| !within) }
    }
}

/// Whether what lies from `low` to `high` is in `range`; `None` where some of it is and some is not.
pub(super) fn is_between((low, high): (f64, f64), range: &RangeInclusive<f64>) -> Option<bool> {
    match () {
        () if range.contains(&low) && range.contains(&high) => Some(true),
        () if low > *range.end() || high < *range.start() => Some(false),
        () => None,
    }
}

/// Whether all of `parts` hold: one that fails refutes the whole, one that is open leaves it open, and so do parts that
/// are missing, where it is not `complete`.
pub(crate) fn all(parts: impl IntoIterator<Item = Option<bool>>, complete: bool) -> Option<bool> {
    let parts: Vec<_> = parts.into_iter().collect();
    match () {
        () if parts.contains(&Some(false)) => Some(false),
        () if complete && !parts.contains(&None) => Some(true),
        () => None,
    }
}

/// Says why a verdict is open: not all cells were run, or the intervals allow both.
pub(super) fn with_doubt(verdict: Option<bool>, complete: bool, evidence: String) -> String {
    match (verdict, complete) {
        (None, true) => format!("{evidence}. The intervals allow both verdicts"),
        (None, false) => format!("{evidence}. Not all cells of the finding were run"),
        (Some(_), _) => evidence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lima2017::LIMA2017;
    use crate::study::Effort;

    fn measured(runs: &[f64]) -> Row {
        let row = LIMA2017.invented(Effort::Quick, |_| Vec::new()).rows.swap_remove(0);
        Row { runs: runs.iter().map(|&mptcp| vec![mptcp]).collect(), ..row }
    }

    fn ratio(a: &Row, b: &Row) -> Ratio {
        Ratio::of_cells(&[a], &[b], 0)
    }

    #[test]
    fn intervals_that_overlap_leave_an_order_open() {
        let (low, high) = (measured(&[10.0, 10.1, 9.9]), measured(&[20.0, 20.1, 19.9]));
        assert_eq!(ratio(&low, &high).is_in(&(0.0..=1.0)), Some(true));
        assert_eq!(ratio(&high, &low).is_in(&(0.0..=1.0)), Some(false));
        assert_eq!(ratio(&measured(&[9.0, 11.0, 10.5]), &low).is_in(&(0.0..=1.0)), None);
        assert_eq!(ratio(&low, &measured(&[1.0, 39.0])).is_in(&(0.0..=1.0)), None, "an interval below zero");
        assert_eq!(ratio(&low, &measured(&[99.0])).is_in(&(0.0..=1.0)), None, "one run has no interval");
    }

    #[test]
    fn alike_is_what_differs_little_and_apart_what_surely_differs() {
        let about = |runs: &[f64]| ratio(&measured(runs), &measured(&[10.0, 10.0])).is_about(&(0.95..=1.05));
        assert_eq!(about(&[9.0, 11.2]), Some(true));
        assert_eq!(about(&[10.0, 12.0]), None);
        assert_eq!(about(&[11.9, 12.0]), Some(false));
    }

    #[test]
    fn errors_of_independent_means_add_up() {
        // Intervals of 12.7 times the standard error, which two runs differ by.
        let by_errors = |a: &[f64], b: &[f64]| Ratio::by_errors(&measured(a), &measured(b), 0);
        let ratio = by_errors(&[8.0, 8.0], &[10.0, 10.4]).expect("small errors");
        let error = 12.706 * 0.2 / 10.2;
        assert!((ratio.value - 8.0 / 10.2).abs() < 1e-12 && (ratio.half() - ratio.value * error).abs() < 1e-4);
        assert!(
            ratio.is_below_one() && Ratio::around(0.8, 0.1).is_below_one() && Ratio::around(1.2, 0.1).is_above_one()
        );
        assert_eq!(by_errors(&[1.0, 1.0], &[0.0, 0.0]), None);
        assert_eq!(by_errors(&[33.0, 42.0], &[0.2, 0.4]), None, "next to nothing");
        let both = Ratio::average(&[Ratio::around(0.8, 0.04), Ratio::around(1.0, 0.03)]).expect("two ratios");
        assert!((both.value - 0.9).abs() < 1e-12 && (both.half() - 0.025).abs() < 1e-12);
    }

    #[test]
    fn a_trend_over_cells_is_no_error_of_the_ratio_of_their_means() {
        let cells = |factors: [f64; 2]| [200.0, 20.0].map(|level| measured(&factors.map(|factor| factor * level)));
        let (low, high) = (cells([0.999, 1.001]), cells([1.069, 1.071]));
        let [few, many] = [[&high[0], &high[1]], [&low[0], &low[1]]];
        let gain = Ratio::of_cells(&few, &many, 0);
        assert!((gain.value - 1.07).abs() < 1e-9, "{gain:?}");
        assert_eq!((gain.is_in(&(1.05..=1.1)), gain.is_in(&(1.2..=1.5))), (Some(true), Some(false)));
        assert_eq!(Ratio::of_cells(&[&measured(&[1.0])], &many, 0).is_in(&(0.0..=1.0)), None, "a cell with one run");
    }

    #[test]
    fn one_part_that_fails_refutes_and_one_that_is_missing_does_not_confirm() {
        assert_eq!(all([None, Some(false)], false), Some(false));
        assert_eq!(all([None, Some(true)], true), None);
        assert_eq!(all([Some(true); 2], true), Some(true));
        assert_eq!(all([Some(true); 2], false), None);
    }
}
