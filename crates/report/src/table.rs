//! Rows with named columns, as JSON, CSV and text.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use subflow_lab::number;
use subflow_lab::results::{Align, TextTable};

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A count.
    Integer(i64),
    /// A measured number.
    Number(f64),
    /// Unknown: `null`, or empty.
    Empty,
}

/// Rows with the same columns. JSON writes it as a list of objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub fn new<'a>(columns: impl IntoIterator<Item = &'a str>) -> Self {
        Self { columns: columns.into_iter().map(str::to_owned).collect(), rows: Vec::new() }
    }

    /// Adds a row with a cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let cells: Vec<Cell> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.columns.len(), "a row has a cell for each column");
        self.rows.push(cells);
    }

    /// The columns' names.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    /// The table as CSV with a header line.
    pub fn to_csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.columns).expect("writing to memory does not fail");
        for row in &self.rows {
            writer.write_record(row.iter().map(Cell::shown)).expect("writing to memory does not fail");
        }
        let bytes = writer.into_inner().expect("writing to memory does not fail");
        String::from_utf8(bytes).expect("text in, text out")
    }

    /// The table as aligned text.
    pub fn to_text(&self) -> String {
        let numeric = |index: usize| self.rows.iter().all(|row| !matches!(row[index], Cell::Text(_)));
        let align = |index: usize| if numeric(index) { Align::Right } else { Align::Left };
        let mut table =
            TextTable::new(self.columns.iter().enumerate().map(|(index, name)| (name.as_str(), align(index))));
        for row in &self.rows {
            table.row(row.iter().map(|cell| match cell {
                Cell::Number(x) => number::fixed(*x, 2),
                Cell::Empty => "–".to_owned(),
                other => other.shown(),
            }));
        }
        table.render()
    }
}

impl Cell {
    fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Integer(n) => n.to_string(),
            Self::Number(x) => number::shown(*x),
            Self::Empty => String::new(),
        }
    }
}

impl From<Option<f64>> for Cell {
    fn from(x: Option<f64>) -> Self {
        x.map_or(Self::Empty, Self::Number)
    }
}
impl From<f64> for Cell {
    fn from(x: f64) -> Self {
        Self::Number(x)
    }
}
impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
impl From<i64> for Cell {
    fn from(n: i64) -> Self {
        Self::Integer(n)
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Integer(n) => serializer.serialize_i64(*n),
            Self::Number(x) => number::serialize(x, serializer),
            Self::Empty => serializer.serialize_none(),
        }
    }
}

struct Row<'a>(&'a [String], &'a [Cell]);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (column, cell) in self.0.iter().zip(self.1) {
            map.serialize_entry(column, cell)?;
        }
        map.end()
    }
}

impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.rows.len()))?;
        for row in &self.rows {
            list.serialize_element(&Row(&self.columns, row))?;
        }
        list.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_written_as_json_csv_and_text() {
        let mut table = Table::new(["case", "goodput_mbps", "published_mbps"]);
        table.row(["lia".into(), 9.5.into(), Cell::Integer(9)]);
        table.row(["olia".into(), (1.0 / 3.0).into(), Cell::Empty]);
        let json = serde_json::to_string(&table).expect("plain data");
        assert_eq!(
            json,
            r#"[{"case":"lia","goodput_mbps":9.5,"published_mbps":9},{"case":"olia","goodput_mbps":0.333333,"published_mbps":null}]"#
        );
        assert_eq!(table.to_csv(), "case,goodput_mbps,published_mbps\nlia,9.5,9\nolia,0.333333,\n");
        assert!(table.to_text().lines().all(|line| line.len() <= 100));
    }
}
