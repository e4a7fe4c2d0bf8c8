//! Tables as CSV, as JSON, and as text with aligned columns for terminals and files.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Number;

use super::{Cell, Column, Table, Values};
use crate::number;

impl Table {
    /// The table as CSV with a header line. Numbers are written as in JSON; a cell without a value is empty.
    pub fn to_csv(&self) -> String {
        const MEMORY: &str = "writing to memory does not fail";
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(self.names()).expect(MEMORY);
        for row in 0..self.len() {
            writer.write_record(self.columns.iter().map(|column| field(&column.values, row))).expect(MEMORY);
        }
        String::from_utf8(writer.into_inner().expect(MEMORY)).expect("text in, text out")
    }
}

fn field(values: &Values, row: usize) -> String {
    match values {
        Values::Words(words) | Values::Categories(words) => words.get(row).unwrap_or_default().to_owned(),
        // Measured numbers are rounded in such a column; swept ones are as the scenario has them.
        Values::Numbers(numbers) => {
            numbers[row].and_then(Number::from_f64).map_or_else(String::new, |number| number.to_string())
        }
        Values::Integers(_) | Values::Flags(_) | Values::Cells(_) => values.cell(row).to_string(),
    }
}

/// A list of objects, one for each row.
impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.len()))?;
        for row in 0..self.len() {
            list.serialize_element(&Row(&self.columns, row))?;
        }
        list.end()
    }
}

struct Row<'a>(&'a [Column], usize);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for column in self.0 {
            map.serialize_entry(&column.name, &column.values.cell(self.1))?;
        }
        map.end()
    }
}

impl Table {
    /// The table as aligned text. Numbers have two decimals, unless their column says otherwise.
    pub fn to_text(&self) -> String {
        let align = |column: &Column| match column.align {
            Some(align) => align,
            None if column.values.are_words() => Align::Left,
            None => Align::Right,
        };
        let mut table = TextTable::new(self.columns.iter().map(|column| (column.name.as_str(), align(column))));
        for row in 0..self.len() {
            table.row(self.columns.iter().map(|column| match column.values.cell(row) {
                Cell::Text(text) => text,
                Cell::Integer(n) => n.to_string(),
                Cell::Number(x) => number::fixed(x, column.decimals.unwrap_or(2)),
                Cell::Empty => "–".to_owned(),
            }));
        }
        table.render()
    }
}

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// For words.
    Left,
    /// For numbers.
    Right,
}

/// A table of text cells. Columns are as wide as their widest cell and two spaces apart; no cell is wider than
/// [`TextTable::WIDEST`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextTable {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Longer cells are shortened in the middle, because names differ at their ends.
    pub const WIDEST: usize = 36;

    /// A table without rows.
    pub fn new<'a>(columns: impl IntoIterator<Item = (&'a str, Align)>) -> Self {
        let columns = columns.into_iter().map(|(name, align)| (shortened(name), align)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row with one cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().map(|cell| shortened(&cell)).collect();
        assert_eq!(cells.len(), self.columns.len(), "a row has a cell for each column");
        self.rows.push(cells);
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as lines, each with its end, without trailing spaces.
    pub fn render(&self) -> String {
        let width = |index: usize| {
            let cells = self.rows.iter().map(|row| row[index].chars().count());
            cells.chain([self.columns[index].0.chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let header: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let mut text = String::new();
        for row in [&header].into_iter().chain(&self.rows) {
            let mut line = String::new();
            for ((cell, (_, align)), &width) in row.iter().zip(&self.columns).zip(&widths) {
                match align {
                    Align::Left => line += &format!("{cell:<width$}  "),
                    Align::Right => line += &format!("{cell:>width$}  "),
                }
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}

fn shortened(cell: &str) -> String {
    let count = cell.chars().count();
    if count <= TextTable::WIDEST {
        return cell.to_owned();
    }
    let half = (TextTable::WIDEST - 1) / 2;
    let (start, end): (String, String) = (cell.chars().take(half).collect(), cell.chars().skip(count - half).collect());
    format!("{start}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_left_aligned_and_numbers_right_aligned() {
        let mut table = TextTable::new([("flow", Align::Left), ("Mbit/s", Align::Right)]);
        table.row(["album".into(), "9.6".into()]);
        table.row(["b".into(), "112.0".into()]);
        assert_eq!(table.render(), "flow   Mbit/s\nalbum     9.6\nb       112.0\n");
    }

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
        let text = "case  goodput_mbps  published_mbps\nlia           9.50               9\nolia          0.33               –\n";
        assert_eq!(table.to_text(), text);
        assert_eq!((table.len(), table.first(1).rows().len()), (2, 1));
    }

    #[test]
    fn a_long_cell_is_shortened_in_the_middle() {
        let cut = shortened(&format!("start{}end", "x".repeat(80)));
        assert!(cut.starts_with("start") && cut.ends_with("end") && cut.chars().count() <= TextTable::WIDEST);
    }
}
