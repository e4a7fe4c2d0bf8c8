//! Cells that have been run: the results table that claims, tables and figures are made of.

use serde_json::Value;
use subflow_lab::statistics::{Interval, mean, mean_interval};
use subflow_report::Measured;

use super::grid::Cell;
use super::published::Published;

/// The figures of one run, in the order of the paper's metrics; NaN where the run has none.
pub(crate) type Sample = Vec<f64>;

/// A cell with its runs.
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

    /// Whether a run has a figure.
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

    /// The mean of a figure with half its interval, to read: `9.26 ± 0.11`.
    pub(crate) fn shown(&self, metric: usize, decimals: usize, sign: &str) -> String {
        let (low, high) = self.ends(metric);
        format!("{:.decimals$}{sign}{:.decimals$}", self.mean(metric), (high - low) / 2.0)
    }
}

/// All cells that were run, in the order of the paper's file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Results {
    pub(crate) rows: Vec<Row>,
    /// How many runs that took: cells with the same scenario share theirs.
    pub(crate) runs: usize,
    /// The published tables.
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
}

impl Outcome {
    /// A verdict with the figure that decides, and all figures.
    pub(crate) fn new(verdict: Option<bool>, measured: impl Into<Option<Measured>>, evidence: String) -> Self {
        Self { verdict, measured: measured.into(), evidence }
    }
}

impl Results {
    /// The cells of an item.
    pub(crate) fn of<'a>(&'a self, item: &str) -> impl Iterator<Item = &'a Row> + use<'a> {
        let item = item.to_owned();
        self.rows.iter().filter(move |row| row.cell.item == item)
    }

    /// The first cell of an item with these variables.
    pub(crate) fn find<const N: usize>(&self, item: &str, wanted: [(&str, Value); N]) -> Option<&Row> {
        self.of(item).find(|row| wanted.iter().all(|(name, value)| row.cell.variables.get(*name) == Some(value)))
    }

    /// The values of a variable in an item, in the order of their first occurrence.
    pub(crate) fn values(&self, item: &str, name: &str) -> Vec<Value> {
        distinct(self.of(item).map(|row| row.cell.variables[name].clone()))
    }

    /// The items that were run, in their order.
    pub(crate) fn items(&self) -> Vec<&str> {
        distinct(self.rows.iter().map(|row| row.cell.item.as_str()))
    }
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
