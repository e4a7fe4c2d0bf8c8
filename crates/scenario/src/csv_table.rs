//! Tables in CSV files: a first line that names the columns, lines of comments, and errors with the number of a line.

use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord, Trim};
use subflow_network::TraceError;

/// What is wrong with a line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineError {
    /// The line, counted from 1.
    pub(crate) line: usize,
    pub(crate) found: String,
    pub(crate) expected: String,
    pub(crate) cause: Cause,
}

/// Why a file cannot be read, as far as there are different ways out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A value that makes no sense.
    Value,
    /// The file ends within a line.
    Truncated,
    /// Columns with other names, or too few.
    Columns,
    /// Fields that something else than a comma separates.
    Separator,
    /// A line with more or fewer fields than there are columns.
    Ragged,
}

impl Cause {
    /// What the user is told beside the name of the file, and what to do.
    pub(crate) const fn advice(self) -> (&'static str, &'static str) {
        match self {
            Self::Value => ("a line of this file is not as expected", "correct the line, or get the file again"),
            Self::Truncated => {
                ("this file ends within a line", "get the file again, or end it after its last whole line")
            }
            Self::Columns => (
                "this file has other columns",
                "give the columns these names in the first line; lines that begin with # are comments",
            ),
            Self::Separator => (
                "the columns of this file are not separated by commas",
                "put a comma between columns, and a point into decimal numbers",
            ),
            Self::Ragged => (
                "a line of this file has another number of fields",
                "give each line as many fields as there are columns; those of missing values are empty",
            ),
        }
    }
}

impl LineError {
    pub(crate) fn new(line: usize, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { line, found: found.into(), expected: expected.into(), cause: Cause::Value }
    }

    pub(crate) fn because(self, cause: Cause) -> Self {
        Self { cause, ..self }
    }

    /// A line that is not CSV, or has another number of fields than the first one.
    pub(crate) fn not_csv(error: &csv::Error) -> Self {
        let line = error.position().map_or(1, |position| position.line() as usize);
        match error.kind() {
            ErrorKind::UnequalLengths { expected_len, len, .. } => {
                let fields = |n: &u64| format!("{n} field{}", if *n == 1 { "" } else { "s" });
                Self::new(line, fields(len), format!("{}, as in the first line", fields(expected_len)))
                    .because(Cause::Ragged)
            }
            _ => Self::new(line, "a line that is not CSV", "fields with commas between them"),
        }
    }

    /// A first line that does not name the columns `expected`.
    pub(crate) fn other_columns(header: &StringRecord, found: String, expected: impl Into<String>) -> Self {
        let separators = [(";", "';' between columns"), ("\t", "tabs between columns")];
        let other = separators.into_iter().find(|(separator, _)| header.len() == 1 && header[0].contains(separator));
        match other {
            Some((_, found)) => Self::new(1, found, "',' between them").because(Cause::Separator),
            None => Self::new(1, found, expected).because(Cause::Columns),
        }
    }
}

impl From<TraceError> for LineError {
    fn from(TraceError { line, found, expected }: TraceError) -> Self {
        Self { line, found, expected, cause: Cause::Value }
    }
}

/// A reader of `text` that skips comments and the space around fields.
pub(crate) fn reader(text: &str) -> Reader<&[u8]> {
    ReaderBuilder::new().trim(Trim::All).comment(Some(b'#')).from_reader(text.as_bytes())
}
