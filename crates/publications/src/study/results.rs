//! Cells that have been run: the results table that claims, tables and figures are made of.

use serde_json::Value;
use subflow_lab::statistics::{Interval, mean, mean_interval};
use subflow_report::{Alternative, Measured};

use super::cell::Cell;
use super::published::Published;

/// The figures of one run, in the order of the paper's metrics; NaN where the run has none.
pub(crate) type Sample = Vec<f64>;

#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) cell: Cell,
    /// In the order of their seeds.
    pub(crate) runs: Vec<Sample>,
}

impl Row {
    /// A figure of each run that has it.
    pub(crate) fn samples(&self, metric: usize) -> Vec<f64> {
        self.runs.iter().filter_map(|run| run.get(metric).copied()).filter(|value| !value.is_nan()).collect()
    }

    /// The same with all figures times `factor`.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        let run = |run: &Sample| run.iter().map(|figure| factor * figure).collect();
        Self { cell: self.cell.clone(), runs: self.runs.iter().map(run).collect() }
    }

    pub(crate) fn has(&self, metric: usize) -> bool {
        !self.samples(metric).is_empty()
    }

    /// The mean of a figure; 0 without runs.
    pub(crate) fn mean(&self, metric: usize) -> f64 {
        mean(&self.samples(metric)).unwrap_or(0.0)
    }

    /// The 95 % interval of that mean (Student's t); `None` below two runs.
    pub(crate) fn interval(&self, metric: usize) -> Option<Interval> {
        mean_interval(&self.samples(metric), 0.95)
    }

    /// The ends of that interval; twice the mean where there is none.
    pub(crate) fn ends(&self, metric: usize) -> (f64, f64) {
        let mean = self.mean(metric);
        self.interval(metric).map_or((mean, mean), |interval| (interval.low, interval.high))
    }

    /// The mean of a figure with half its interval, to read: `9.26 ± 0.11`; `None` where no run has it.
    pub(crate) fn shown(&self, metric: usize, decimals: usize, sign: &str) -> Option<String> {
        let mean = self.has(metric).then(|| format!("{:.decimals$}", self.mean(metric)))?;
        let half = |Interval { low, high, .. }| format!("{sign}{:.decimals$}", (high - low) / 2.0);
        Some(mean + &self.interval(metric).map_or_else(String::new, half))
    }

    /// A row for each flow of its runs, where a sample has a figure of each. Its variables `congestion0`, `congestion1`, …
    /// are `congestion` of these; the number is the variable `flow`.
    pub(crate) fn by_flow(&self) -> Vec<Self> {
        let of_flow = |flow: usize| {
            let number = flow.to_string();
            let mut cell = self.cell.clone();
            let named =
                |(name, value): (&String, &Value)| Some((name.strip_suffix(&number)?.to_owned(), value.clone()));
            cell.variables.extend(self.cell.variables.iter().filter_map(named));
            cell.variables.insert("flow".to_owned(), flow.into());
            Self { cell, runs: self.runs.iter().map(|run| vec![run[flow]]).collect() }
        };
        (0..self.runs.first().map_or(0, Vec::len)).map(of_flow).collect()
    }
}

/// All cells that were run, in the order of the paper's file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Results {
    pub(crate) rows: Vec<Row>,
    /// How many runs that took: cells with the same scenario share theirs.
    pub(crate) runs: usize,
    pub(crate) published: Published,
}

/// What our figures say of a claim.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// Whether it holds; `None` where the runs cannot tell.
    pub(crate) verdict: Option<bool>,
    /// The figure that decides.
    pub(crate) measured: Option<Measured>,
    /// All figures, in words.
    pub(crate) evidence: String,
    /// What other readings of the publication give.
    pub(crate) alternatives: Vec<Alternative>,
}

/// A part of a claim: whether it holds, its figure, and all figures in words.
pub(super) struct Part {
    pub(super) holds: Option<bool>,
    pub(super) measured: Measured,
    pub(super) text: String,
}

impl Outcome {
    /// A verdict with the figure that decides, and all figures.
    pub(crate) fn new(verdict: Option<bool>, measured: impl Into<Option<Measured>>, evidence: String) -> Self {
        Self { verdict, measured: measured.into(), evidence, alternatives: Vec::new() }
    }

    /// The same as the verdict of another reading.
    pub(crate) fn alternative(self, choice: &str) -> Alternative {
        let (verdict, choice) = (self.verdict.into(), choice.to_owned());
        Alternative { choice, verdict, measured: self.measured, instead_of: None }
    }
}

impl Results {
    pub(crate) fn only(&self, wanted: impl Fn(&Row) -> bool) -> Self {
        let rows = self.rows.iter().filter(|row| wanted(row)).cloned().collect();
        Self { rows, runs: self.runs, published: self.published.clone() }
    }

    pub(crate) fn of<'a>(&'a self, item: &str) -> impl Iterator<Item = &'a Row> + use<'a> {
        let item = item.to_owned();
        self.rows.iter().filter(move |row| row.cell.item == item)
    }

    /// The cell that differs from that of `row` only in variables that vary together with `name`, which has `value` there.
    pub(crate) fn beside(&self, row: &Row, name: &str, value: &Value) -> Option<&Row> {
        self.rows.iter().find(|other| other.cell.is(name, value.clone()) && row.cell.is_beside(&other.cell, name))
    }

    pub(crate) fn items(&self) -> Vec<&str> {
        distinct(self.rows.iter().map(|row| row.cell.item.as_str()))
    }
}

/// `rows` by the values of variables, in the order of their first occurrence.
pub(crate) fn groups<'r>(rows: &[&'r Row], variables: &[String]) -> Vec<Vec<&'r Row>> {
    let values = |row: &Row| variables.iter().map(|name| row.cell.variables.get(name).cloned()).collect::<Vec<_>>();
    let of = |wanted: &Vec<Option<Value>>| rows.iter().copied().filter(|row| values(row) == *wanted).collect();
    distinct(rows.iter().map(|row| values(row))).iter().map(of).collect()
}

/// Each value once, in the order of their first occurrence.
pub(crate) fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}
