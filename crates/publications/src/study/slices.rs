//! Rows of the results table for parts of a cell: a path, a flow, or a second of its runs. The paper's code says which there
//! are, and what they measured; claims, tables and figures of the paper's file are about them like about cells.
//!
//! They stand in place of the cell's row, or beside it. Those beside have the variable `slice`, and are there only for
//! claims, tables and figures whose `where` has the same.

use std::borrow::Cow;

use serde_json::Value;

use super::Study;
use super::cell::{Cell, SLICE};
use super::grid::resolved;
use super::metrics::Metric;
use super::results::{Results, Row};

/// A part of a cell.
pub(crate) struct Slice {
    /// The variables that set it apart.
    pub(crate) variables: Vec<(&'static str, Value)>,
    /// Its figures by metric, one of each run.
    pub(crate) figures: Vec<(&'static str, Vec<f64>)>,
}

impl Slice {
    /// The part whose figures are at `places` of the row's samples.
    pub(crate) fn of(
        row: &Row,
        variables: Vec<(&'static str, Value)>,
        metrics: &[&'static str],
        places: impl Iterator<Item = usize>,
    ) -> Self {
        let figure = |(metric, place): (&&'static str, usize)| (*metric, row.samples(place));
        Self { variables, figures: metrics.iter().zip(places).map(figure).collect() }
    }

    /// Its row beside others of the cell `of`. Variables of the cell may refer to those of the slice.
    fn row(self, of: &Cell, metrics: &[Metric]) -> Row {
        let number = self.figures.iter().map(|(_, figures)| figures.len()).max().unwrap_or(0);
        let mut runs = vec![vec![f64::NAN; metrics.len()]; number];
        for (name, figures) in self.figures {
            let place = metrics.iter().position(|metric| metric.name == name);
            let place = place.unwrap_or_else(|| panic!("paper.toml: there is no metric {name:?}, which code measures"));
            runs.iter_mut().zip(figures).for_each(|(run, figure)| run[place] = figure);
        }
        let own = self.variables.into_iter().map(|(name, value)| (name.to_owned(), value));
        let variables = resolved(&of.variables.clone().into_iter().chain(own).collect());
        Row { cell: Cell { variables, ..of.clone() }, runs }
    }
}

impl Study {
    /// The results table, whose rows are slices of cells where the paper's code makes such.
    pub(super) fn table<'r>(&self, results: &'r Results) -> Cow<'r, Results> {
        let Some(slices) = self.code.slices else { return Cow::Borrowed(results) };
        let rows = |row: &'r Row| {
            let slices = slices(row);
            let is_beside = |slice: &Slice| slice.variables.iter().any(|(name, _)| *name == SLICE);
            let whole = slices.iter().all(is_beside).then(|| row.clone());
            let rows = slices.into_iter().map(|slice| slice.row(&row.cell, &self.description.metrics));
            whole.into_iter().chain(rows).collect::<Vec<_>>()
        };
        let rows = results.rows.iter().flat_map(rows).collect();
        Cow::Owned(Results { rows, runs: results.runs, published: results.published.clone() })
    }
}
