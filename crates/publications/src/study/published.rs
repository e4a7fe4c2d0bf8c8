//! Published tables, as printed. The last column of a table has the figures, the others the variables of their cells, or
//! what sets several figures of a cell apart: the column `metric` has the name of the metric, which is the paper's first
//! one in tables without it.

use std::sync::Arc;

use subflow_scenario::file::Problem;

use super::cell::Cell;
use super::folder::Folder;

#[derive(Clone, Debug, Default)]
pub(crate) struct Published(Arc<Vec<Table>>);

#[derive(Clone, Debug)]
struct Table {
    columns: Vec<String>,
    rows: Vec<(Vec<String>, f64)>,
}

impl Published {
    pub(super) fn read(folder: &Folder) -> Result<Self, Problem> {
        let table = |file: &String| {
            let source = folder.source(file)?;
            Table::read(&source.text).map_err(|why| Problem::nowhere(format!("{}: {why}", source.name)))
        };
        Ok(Self(Arc::new(folder.published().iter().map(table).collect::<Result<_, _>>()?)))
    }

    /// The figure of a cell, with the values of further columns.
    pub(crate) fn of(&self, cell: &Cell, further: &[(&str, &str)]) -> Option<f64> {
        self.0.iter().find_map(|table| table.value(cell, further))
    }

    /// The figure of a cell for a metric, by its place and its name.
    pub(super) fn of_metric(&self, cell: &Cell, place: usize, name: &str) -> Option<f64> {
        let tells = |table: &&Table| place == 0 || table.columns.iter().any(|column| column == "metric");
        self.0
            .iter()
            .filter(tells)
            .find_map(|table| table.value(cell, &[("metric", name)]))
            .filter(|figure| !figure.is_nan())
    }
}

impl Table {
    fn read(text: &str) -> Result<Self, String> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| error.to_string())?;
        let mut columns: Vec<String> = header.iter().map(str::to_owned).collect();
        columns.pop();
        let mut rows = Vec::new();
        for row in reader.records() {
            let row = row.map_err(|error| error.to_string())?;
            // A cell that is empty, or has a dash, is one without a figure.
            let figure = row.iter().next_back().and_then(|figure| figure.trim().parse().ok()).unwrap_or(f64::NAN);
            rows.push((row.iter().take(columns.len()).map(str::to_owned).collect(), figure));
        }
        Ok(Self { columns, rows })
    }

    fn value(&self, cell: &Cell, further: &[(&str, &str)]) -> Option<f64> {
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
mod tests {
    use super::*;

    impl Published {
        /// The rows that are of none of `cells`.
        pub(in crate::study) fn unused(&self, cells: &[Cell]) -> Vec<&[String]> {
            self.0.iter().flat_map(|table| table.unused(cells)).collect()
        }
    }

    impl Table {
        fn unused(&self, cells: &[Cell]) -> Vec<&[String]> {
            let says = |cell: &Cell, name: &str, value: &str| match name {
                "item" => cell.item == value,
                name => cell.says(name, value),
            };
            let is_of = |values: &[String], cell: &Cell| {
                let is_known = |name: &str| name == "item" || cell.variables.contains_key(name);
                let known = self.columns.iter().zip(values).filter(|(name, _)| is_known(name));
                known.clone().count() > 1 && known.into_iter().all(|(name, value)| says(cell, name, value))
            };
            let unused = |(values, _): &&(Vec<String>, f64)| !cells.iter().any(|cell| is_of(values, cell));
            self.rows.iter().filter(unused).map(|(values, _)| values.as_slice()).collect()
        }
    }
}
