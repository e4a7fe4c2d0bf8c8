//! What an item adds to the report.

use crate::papers::{Cell, Finding, Table};
use crate::report::Figure;
use crate::statistics::{mean, mean_interval};

const COLUMNS: [&str; 8] = ["item", "case", "of", "metric", "value", "ci95_low", "ci95_high", "runs"];

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

    /// The same, all of it marked as made under `load`.
    pub(super) fn under(mut self, load: &str) -> Self {
        for row in &mut self.rows {
            if let Cell::Text(case) = &mut row[1] {
                *case = format!("{load}, {case}");
            }
        }
        self.readable.iter_mut().for_each(|(title, _)| *title += &format!("; {load}"));
        self.findings.iter_mut().for_each(|finding| finding.statement += &format!("; {load}"));
        self.figures.iter_mut().for_each(|figure| figure.section += &format!(", {load}"));
        self
    }

    /// Adds a finding; `why` explains one that is not confirmed.
    pub(super) fn finding_or(&mut self, statement: &str, confirmed: bool, evidence: String, why: &str) {
        self.finding(statement, confirmed, if confirmed { evidence } else { format!("{evidence}. {why}") });
    }

    /// Adds a finding.
    pub(super) fn finding(&mut self, statement: &str, confirmed: bool, evidence: String) {
        self.findings.push(Finding { statement: statement.to_owned(), confirmed: Some(confirmed), evidence });
    }
}

/// The rows of all parts.
pub(super) fn table(parts: &[Part]) -> Table {
    let mut table = Table::new(COLUMNS);
    parts.iter().flat_map(|part| &part.rows).for_each(|row| table.row(row.clone()));
    table
}

/// Whether the 95 % interval of the mean of `a` lies below that of `b`: what differs by less may be chance.
pub(super) fn clearly_less(a: &[f64], b: &[f64]) -> bool {
    match (mean_interval(a, 0.95), mean_interval(b, 0.95)) {
        (Some(a), Some(b)) => a.high < b.low,
        _ => false,
    }
}

/// `mean ± half`, or the mean alone.
pub(super) fn shown(samples: &[f64], decimals: usize) -> String {
    let Some(mean) = mean(samples) else { return "–".to_owned() };
    match mean_interval(samples, 0.95) {
        Some(interval) => format!("{mean:.decimals$} ± {:.decimals$}", mean - interval.low),
        None => format!("{mean:.decimals$}"),
    }
}
