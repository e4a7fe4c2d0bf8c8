//! The folder of a paper, which the crate contains, and the published tables in it.

use super::grid::Cell;

/// The files of a folder by their paths in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folder {
    /// The paper's name.
    pub(crate) name: &'static str,
    /// Path and text.
    pub(crate) files: &'static [(&'static str, &'static str)],
}

/// The folder `papers/NAME` with these files.
macro_rules! folder {
    ($name:literal: $($file:literal),+ $(,)?) => {
        $crate::study::Folder {
            name: $name,
            files: &[$(($file, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/papers/", $name, "/", $file)))),+],
        }
    };
}
pub(crate) use folder;

impl Folder {
    /// The text of a file.
    ///
    /// # Panics
    ///
    /// Without such a file.
    pub(crate) fn text(&self, path: &str) -> &'static str {
        let file = self.files.iter().find(|(known, _)| *known == path);
        file.unwrap_or_else(|| panic!("{}: there is no file {path}", self.name)).1
    }
}

/// A published table, as printed. Its last column has the figures, the others the variables of their cells, or what sets several figures of a
/// cell apart.
#[derive(Clone, Debug)]
pub(super) struct Published {
    columns: Vec<String>,
    rows: Vec<(Vec<String>, f64)>,
}

impl Published {
    /// The tables of a folder: its files that end with `.csv`.
    ///
    /// # Panics
    ///
    /// A table is wrong. A test reads each.
    pub(super) fn all(folder: &Folder) -> Vec<Self> {
        let tables = folder.files.iter().filter(|(path, _)| path.ends_with(".csv"));
        tables.map(|(path, text)| Self::read(text).unwrap_or_else(|error| panic!("{path}: {error}"))).collect()
    }

    fn read(text: &str) -> Result<Self, csv::Error> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let mut columns: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
        columns.pop();
        let mut rows = Vec::new();
        for row in reader.records() {
            let row = row?;
            let figure = row.iter().next_back().and_then(|figure| figure.parse().ok()).unwrap_or(f64::NAN);
            rows.push((row.iter().take(columns.len()).map(str::to_owned).collect(), figure));
        }
        Ok(Self { columns, rows })
    }

    /// The figure of `cell` with these values of further columns.
    pub(super) fn value(&self, cell: &Cell, further: &[(&str, &str)]) -> Option<f64> {
        self.rows.iter().find(|(values, _)| self.is_of(values, cell, further)).map(|(_, figure)| *figure)
    }

    /// Whether a row with these values is of `cell`.
    fn is_of(&self, values: &[String], cell: &Cell, further: &[(&str, &str)]) -> bool {
        self.columns.iter().zip(values).all(|(column, value)| match further.iter().find(|(name, _)| name == column) {
            Some((_, wanted)) => value == wanted,
            None if column == "item" => *value == cell.item,
            None => cell.says(column, value),
        })
    }
}

#[cfg(test)]
impl Published {
    /// The rows that are of none of `cells`.
    pub(super) fn unused(&self, cells: &[Cell]) -> Vec<&[String]> {
        let is_of = |values: &[String], cell: &Cell| {
            let known = self.columns.iter().zip(values).filter(|(name, _)| cell.variables.contains_key(*name));
            known.clone().count() > 1 && known.into_iter().all(|(name, value)| cell.says(name, value))
        };
        let unused = |(values, _): &&(Vec<String>, f64)| !cells.iter().any(|cell| is_of(values, cell));
        self.rows.iter().filter(unused).map(|(values, _)| values.as_slice()).collect()
    }
}
