//! A table of results.

use arrow_array::RecordBatch;

/// The key of a column's unit in the metadata of its field.
pub const UNIT: &str = "unit";
/// The key of a column's description there.
pub const DESCRIPTION: &str = "description";

/// A table in Arrow's format. The metadata of each field has its unit ([`UNIT`]; absent for words and plain counts) and
/// its meaning ([`DESCRIPTION`]).
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub batch: RecordBatch,
}
