//! Tables as CSV.

use serde_json::Number;

use super::{Table, Values};

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
