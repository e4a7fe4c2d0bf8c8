//! Tables as CSV.

use serde_json::Number;

use crate::{Table, Values};

/// The table as CSV with a header line. Numbers are written as in JSON; a cell without a value is empty.
pub fn to_csv(table: &Table) -> String {
    const MEMORY: &str = "writing to memory does not fail";
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(table.columns.iter().map(|column| &column.name)).expect(MEMORY);
    for row in 0..table.rows() {
        writer.write_record(table.columns.iter().map(|column| cell(&column.values, row))).expect(MEMORY);
    }
    String::from_utf8(writer.into_inner().expect(MEMORY)).expect("text in, text out")
}

fn cell(values: &Values, row: usize) -> String {
    match values {
        Values::Words(words) | Values::Categories(words) => words.get(row).unwrap_or_default().to_owned(),
        Values::Integers(numbers) => numbers[row].map_or_else(String::new, |number| number.to_string()),
        // Measured numbers are rounded in the column; swept ones are as the scenario has them.
        Values::Numbers(numbers) => {
            numbers[row].and_then(Number::from_f64).map_or_else(String::new, |number| number.to_string())
        }
        Values::Flags(flags) => flags[row].map_or_else(String::new, |flag| flag.to_string()),
    }
}
