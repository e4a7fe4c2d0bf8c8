//! The form of all tables: columns with names, units and typed values.
//!
//! | to find | look in |
//! |---|---|
//! | the values of a column | `values.rs`; a single one: `cell.rs` |
//! | a table made of rows that have the same type | `columns.rs` |
//! | a table as CSV, as JSON, as aligned text | `formats.rs` |
//!
//! `subflow-store` hands tables on in Arrow's format and as Parquet, `subflow-report` writes them on pages.

mod cell;
mod columns;
mod formats;
mod values;

use std::collections::BTreeMap;

pub use cell::Cell;
pub use columns::{Columns, Heading};
pub use formats::{Align, TextTable};
pub use values::{Values, Words};

/// A table. All columns have the same number of values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Its name; empty if it has none.
    pub name: &'static str,
    /// Its columns.
    pub columns: Vec<Column>,
    /// What made it of which scenario, by key.
    pub metadata: BTreeMap<&'static str, String>,
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The unit of its values; empty for words and plain counts.
    pub unit: String,
    /// What its values mean.
    pub description: String,
    /// How many decimals people are shown of its numbers, where that is not two.
    pub decimals: Option<usize>,
    /// The side on which text aligns its values; by their type if that is not said.
    pub align: Option<Align>,
    /// Its values.
    pub values: Values,
}

impl Table {
    /// A table without rows, whose columns have these names and no units.
    pub fn new<'a>(columns: impl IntoIterator<Item = &'a str>) -> Self {
        let column = |name: &str| Column { name: name.to_owned(), ..Column::default() };
        Self { columns: columns.into_iter().map(column).collect(), ..Self::default() }
    }

    /// Adds a row with a cell for each column.
    ///
    /// # Panics
    ///
    /// There are more or fewer cells than columns, or a column has values of one type only.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let cells: Vec<Cell> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.columns.len(), "a row has a cell for each column");
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            let Values::Cells(values) = &mut column.values else { panic!("{} has values of one type", column.name) };
            values.push(cell);
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its rows.
    pub fn rows(&self) -> Vec<Vec<Cell>> {
        let row = |index| self.columns.iter().map(|column| column.values.cell(index)).collect();
        (0..self.len()).map(row).collect()
    }

    /// The names of its columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Its first rows, at most this number.
    #[must_use]
    pub fn first(&self, rows: usize) -> Self {
        let mut first = self.clone();
        first.columns.iter_mut().for_each(|column| column.values.truncate(rows));
        first
    }

    /// The table without columns that have no value in any row.
    #[must_use]
    pub fn without_empty_columns(mut self) -> Self {
        self.columns.retain(|column| (0..column.values.len()).any(|row| column.values.cell(row) != Cell::Empty));
        self
    }
}
