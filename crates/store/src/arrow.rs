//! Tables in Arrow's format.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Metadata, Schema};

use subflow_lab::table::{Cell, Column, Table, Values};

use crate::{DESCRIPTION, UNIT};

/// The table in Arrow's format. The metadata of each field has its unit ([`UNIT`]; absent for words and plain counts)
/// and its meaning ([`DESCRIPTION`]); that of the schema says what made the table of which scenario.
pub fn to_arrow(table: &Table) -> RecordBatch {
    let arrays: Vec<ArrayRef> = table.columns.iter().map(|column| array(&column.values)).collect();
    let fields: Vec<Field> = table.columns.iter().zip(&arrays).map(|(column, array)| field(column, array)).collect();
    let metadata = table.metadata.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    let schema = Schema::new(fields).with_metadata(metadata.collect::<Metadata>());
    RecordBatch::try_new(Arc::new(schema), arrays).expect("every column has a value for each row")
}

fn field(column: &Column, array: &ArrayRef) -> Field {
    let unit = (!column.unit.is_empty()).then(|| (UNIT.to_owned(), column.unit.clone()));
    let metadata = unit.into_iter().chain([(DESCRIPTION.to_owned(), column.description.clone())]);
    Field::new(&column.name, array.data_type().clone(), true).with_metadata(metadata.collect::<Metadata>())
}

fn array(values: &Values) -> ArrayRef {
    match values {
        Values::Words(words) => Arc::new(words.iter().collect::<StringArray>()),
        Values::Categories(words) => Arc::new(words.iter().collect::<DictionaryArray<Int32Type>>()),
        Values::Integers(numbers) => Arc::new(numbers.iter().copied().collect::<Int64Array>()),
        Values::Numbers(numbers) => Arc::new(numbers.iter().copied().collect::<Float64Array>()),
        Values::Flags(flags) => Arc::new(flags.iter().copied().collect::<BooleanArray>()),
        Values::Cells(cells) => {
            let text = |cell: &Cell| (*cell != Cell::Empty).then(|| cell.to_string());
            Arc::new(cells.iter().map(text).collect::<StringArray>())
        }
    }
}
