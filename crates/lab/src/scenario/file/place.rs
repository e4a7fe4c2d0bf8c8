//! Where a value was written: in the scenario file, or on the command line.

use std::ops::Range;
use std::sync::Arc;

/// A text that values come from.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// The file's path as the user gave it, or `--set`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// A range of bytes in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The text.
    pub source: Arc<Source>,
    /// The bytes; on character boundaries.
    pub span: Range<usize>,
}

impl Place {
    /// Line and column of the first byte, counted from 1, columns in characters.
    pub fn line_and_column(&self) -> (usize, usize) {
        let before = self.source.text.get(..self.span.start).unwrap_or(&self.source.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// `file:line:column`.
    pub fn shown(&self) -> String {
        let (line, column) = self.line_and_column();
        format!("{}:{line}:{column}", self.source.name)
    }
}
