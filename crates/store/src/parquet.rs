//! Tables as Parquet files.

use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use subflow_lab::table::Table;

use crate::to_arrow;

/// The table as a Parquet file, compressed with Snappy. The same table gives the same bytes.
pub fn to_parquet(table: &Table) -> Vec<u8> {
    const MEMORY: &str = "columns of these types can be written to memory";
    let batch = to_arrow(table);
    // Readers that do not know Arrow's schema find the metadata of the table here.
    let metadata = table.metadata.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone())).collect();
    let properties =
        WriterProperties::builder().set_compression(Compression::SNAPPY).set_key_value_metadata(Some(metadata)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).expect(MEMORY);
    writer.write(&batch).expect(MEMORY);
    writer.into_inner().expect(MEMORY)
}
