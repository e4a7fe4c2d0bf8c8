//! What an item adds to the report.

use subflow_lab::statistics::{mean, mean_interval};
use subflow_report::{Alternative, Cell, Figure, Finding, Measured, Table, Verdict};

const COLUMNS: [&str; 8] = ["item", "case", "of", "metric", "value", "ci95_low", "ci95_high", "runs"];

/// What one reading of the paper makes of a finding: the words for it, whether it holds (`None` where nothing is known),
/// the figure that decides, and all figures in words.
pub(super) type Reading = (&'static str, Option<bool>, Option<Measured>, String);

/// An item's results.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) rows: Vec<[Cell; 8]>,
    pub(super) readable: Vec<(String, Table)>,
    pub(super) findings: Vec<Finding>,
    pub(super) figures: Vec<Figure>,
    pub(super) notes: Vec<String>,
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

    /// The same, all of it but the findings marked as made under `load`.
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

    /// Adds a finding of the paper, with the `published` figure; `confirmed` is `None` if the runs do not decide it, and
    /// `why` explains one that is not confirmed.
    pub(super) fn published(
        &mut self,
        (statement, source, published): (&str, &str, &str),
        confirmed: Option<bool>,
        measured: Option<Measured>,
        evidence: String,
        why: &str,
    ) {
        let evidence = if confirmed == Some(true) { evidence } else { format!("{evidence}. {why}") };
        self.finding(statement, confirmed, evidence);
        let finding = self.findings.pop().expect("it was added");
        self.findings.push(finding.source(source).published(published).measured(measured));
    }

    /// Adds a finding that several readings of the paper judge. The first is taken for the paper's, the others are
    /// alternatives; the evidence tells the verdicts of the first two.
    pub(super) fn finding_by_reading(
        &mut self,
        (statement, source, published): (&str, &str, &str),
        readings: Vec<Reading>,
    ) {
        let shown: Vec<String> = readings
            .iter()
            .take(2)
            .map(|(choice, holds, _, evidence)| format!("{choice}: {}, {evidence}", Verdict::from(*holds).text()))
            .collect();
        let mut readings = readings.into_iter();
        let Some((_, holds, measured, _)) = readings.next() else { return };
        let mut finding = Finding::new(statement, holds, shown.join("; ")).source(source).published(published);
        finding.measured = measured;
        finding.alternatives.extend(readings.map(|(choice, holds, measured, _)| Alternative {
            choice: choice.to_owned(),
            verdict: holds.into(),
            measured,
        }));
        self.findings.push(finding);
    }

    /// Adds a finding; `confirmed` is `None` if the runs do not decide it.
    pub(super) fn finding(&mut self, statement: &str, confirmed: impl Into<Option<bool>>, mut evidence: String) {
        let confirmed = confirmed.into();
        if confirmed.is_none() {
            evidence += ". Intervals overlap: what differs may be chance";
        }
        self.findings.push(Finding::new(statement, confirmed, evidence));
    }
}

/// The rows of all parts.
pub(super) fn table(parts: &[Part]) -> Table {
    let mut table = Table::new(COLUMNS);
    parts.iter().flat_map(|part| &part.rows).for_each(|row| table.row(row.clone()));
    table
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

/// Whether all of `parts` hold; `None` where none is refuted, but some are undecided.
pub(super) fn all<const N: usize>(parts: [Option<bool>; N]) -> Option<bool> {
    if parts.contains(&Some(false)) { Some(false) } else { parts.into_iter().collect::<Option<Vec<_>>>().map(|_| true) }
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

    #[test]
    fn one_part_that_fails_refutes_the_whole() {
        assert_eq!(all([None, Some(false)]), Some(false));
        assert_eq!(all([None, Some(true)]), None);
        assert_eq!(all([Some(true); 2]), Some(true));
    }
}
