//! Tables in CSV files: a first line that names the columns, lines of comments, and errors with the number of a line.

use csv::{Reader, ReaderBuilder, StringRecord, Trim};
use subflow_network::TraceError;

/// What is wrong with a line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineError {
    /// The line, counted from 1.
    pub(crate) line: usize,
    pub(crate) found: String,
    pub(crate) expected: String,
}

impl LineError {
    pub(crate) fn new(line: usize, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { line, found: found.into(), expected: expected.into() }
    }

    /// A line that is not CSV, or has another number of fields than the first one.
    pub(crate) fn not_csv(error: &csv::Error) -> Self {
        let line = error.position().map_or(1, |position| position.line() as usize);
        Self::new(line, error.to_string(), "as many fields as the first line has")
    }
}

impl From<TraceError> for LineError {
    fn from(TraceError { line, found, expected }: TraceError) -> Self {
        Self { line, found, expected }
    }
}

/// A reader of `text` that skips comments and the space around fields.
pub(crate) fn reader(text: &str) -> Reader<&[u8]> {
    ReaderBuilder::new().trim(Trim::All).comment(Some(b'#')).from_reader(text.as_bytes())
}

/// A line with its number, counted from 1.
pub(crate) struct Record {
    pub(crate) line: usize,
    fields: StringRecord,
}

impl Record {
    pub(crate) fn field(&self, column: usize) -> &str {
        &self.fields[column]
    }

    /// The whole line.
    pub(crate) fn text(&self) -> String {
        self.fields.iter().collect::<Vec<_>>().join(",")
    }
}

/// The lines of a table with exactly these columns, in this order.
pub(crate) fn records(
    text: &str,
    columns: &[&str],
) -> Result<impl Iterator<Item = Result<Record, LineError>>, LineError> {
    let mut reader = reader(text);
    let header = reader.headers().map_err(|error| LineError::not_csv(&error))?;
    if header.iter().ne(columns.iter().copied()) {
        let found = header.iter().collect::<Vec<_>>().join(",");
        return Err(LineError::new(1, format!("'{found}'"), columns.join(",")));
    }
    let records = reader.into_records().map(|record| {
        let fields = record.map_err(|error| LineError::not_csv(&error))?;
        Ok(Record { line: fields.position().map_or(0, |position| position.line() as usize), fields })
    });
    Ok(records.collect::<Vec<_>>().into_iter())
}
