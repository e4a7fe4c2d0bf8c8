//! Tables as Parquet files.

use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::Table;

/// The table as a Parquet file, compressed with Snappy. The same table gives the same bytes.
pub fn to_parquet(table: &Table) -> Vec<u8> {
    const MEMORY: &str = "columns of these types can be written to memory";
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), table.batch.schema(), Some(properties)).expect(MEMORY);
    writer.write(&table.batch).expect(MEMORY);
    writer.into_inner().expect(MEMORY)
}
