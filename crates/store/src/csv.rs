//! Tables as CSV.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use serde_json::Number;

use crate::Table;

/// The table as CSV with a header line. Numbers are written as in JSON; a cell without a value is empty.
pub fn to_csv(table: &Table) -> String {
    const MEMORY: &str = "writing to memory does not fail";
    let mut writer = csv::Writer::from_writer(Vec::new());
    let schema = table.batch.schema();
    writer.write_record(schema.fields().iter().map(|field| field.name())).expect(MEMORY);
    let columns = table.batch.columns();
    for row in 0..table.batch.num_rows() {
        writer.write_record(columns.iter().map(|column| cell(column, row))).expect(MEMORY);
    }
    String::from_utf8(writer.into_inner().expect(MEMORY)).expect("text in, text out")
}

/// A cell of one of the types that tables have.
fn cell(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return String::new();
    }
    match column.data_type() {
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        // Measured numbers are rounded in the column; swept ones are as the scenario has them.
        DataType::Float64 => {
            let number = Number::from_f64(column.as_primitive::<Float64Type>().value(row));
            number.map_or_else(String::new, |number| number.to_string())
        }
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
        DataType::Dictionary(..) => {
            let words = column.as_dictionary::<Int32Type>();
            words.values().as_string::<i32>().value(words.keys().value(row) as usize).to_owned()
        }
        other => unreachable!("no table has a column of {other}"),
    }
}
