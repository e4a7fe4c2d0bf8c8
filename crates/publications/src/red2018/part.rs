//! What an item adds to the tables and figures.

use subflow_lab::statistics::{mean, mean_interval};
use subflow_report::{Cell, Figure, Table};

use crate::study::Own;

const COLUMNS: [&str; 8] = ["item", "case", "of", "metric", "value", "ci95_low", "ci95_high", "runs"];

/// An item's results.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) rows: Vec<[Cell; 8]>,
    pub(super) readable: Vec<(String, Table)>,
    pub(super) figures: Vec<Figure>,
}

impl Part {
    /// Adds the mean of `samples`, one of each run, with its 95 % interval (Student's t); nothing without samples.
    pub(super) fn row(&mut self, item: &str, case: &str, of: &str, metric: &str, samples: &[f64]) {
        let Some(mean) = mean(samples) else { return };
        let interval = mean_interval(samples, 0.95);
        self.rows.push([
            item.into(),
            case.into(),
            of.into(),
            metric.into(),
            mean.into(),
            interval.map(|interval| interval.low).into(),
            interval.map(|interval| interval.high).into(),
            Cell::Integer(samples.len() as i64),
        ]);
    }

    /// The same, marked as measured under `load`.
    pub(super) fn under(mut self, load: &str) -> Self {
        for row in &mut self.rows {
            if let Cell::Text(case) = &mut row[1] {
                *case = format!("{load}, {case}");
            }
        }
        self.readable.iter_mut().for_each(|(title, _)| *title += &format!("; {load}"));
        self.figures.iter_mut().for_each(|figure| figure.section += &format!(", {load}"));
        self
    }
}

/// The tables and figures of all parts.
pub(super) fn joined(parts: Vec<Part>) -> Own {
    let mut all = Own { rows: Some(Table::new(COLUMNS)), ..Own::default() };
    for part in parts {
        all.rows.iter_mut().for_each(|table| part.rows.iter().for_each(|row| table.row(row.clone())));
        all.readable.extend(part.readable);
        all.figures.extend(part.figures);
    }
    all
}

/// Whether the mean of `a` lies below that of `b`; `None` where their 95 % intervals overlap.
pub(super) fn less(a: &[f64], b: &[f64]) -> Option<bool> {
    let (a, b) = (mean_interval(a, 0.95)?, mean_interval(b, 0.95)?);
    match () {
        () if a.high < b.low => Some(true),
        () if a.low >= b.high => Some(false),
        () => None,
    }
}

/// `evidence` with what is said where intervals decide nothing.
pub(super) fn with_doubt(verdict: Option<bool>, evidence: String) -> String {
    if verdict.is_none() { evidence + ". Intervals overlap: what differs may be chance" } else { evidence }
}

/// `mean ± half`, or the mean alone.
pub(super) fn shown(samples: &[f64], decimals: usize) -> String {
    let Some(mean) = mean(samples) else { return "–".to_owned() };
    match mean_interval(samples, 0.95) {
        Some(interval) => format!("{mean:.decimals$} ± {:.decimals$}", mean - interval.low),
        None => format!("{mean:.decimals$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_that_overlap_leave_it_undecided() {
        let (low, high) = ([1.0, 1.1, 0.9], [2.0, 2.1, 1.9]);
        assert_eq!((less(&low, &high), less(&high, &low)), (Some(true), Some(false)));
        assert_eq!(less(&low, &[1.0, 1.2, 1.0]), None);
        assert_eq!(less(&low, &[9.0]), None, "one run has no interval");
    }
}
