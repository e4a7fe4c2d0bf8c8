//! The places of values: in the scenario file, or on the command line.

use std::ops::Range;
use std::sync::Arc;

/// The origin of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user: a file.
    User,
    /// The user: an assignment, `PATH=VALUE`, in an option of the command line or in an argument.
    Assignment,
    /// The schema: a default.
    Default,
}

/// A text that contains values.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// The origin of the text.
    pub origin: Origin,
    /// The file's path as the user gave it, or the option.
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

    /// `file:line:column`, or the default.
    pub fn shown(&self) -> String {
        let Source { origin, name, text } = &*self.source;
        let (line, column) = self.line_and_column();
        match origin {
            Origin::User | Origin::Assignment => format!("{name}:{line}:{column}"),
            Origin::Default => format!("{name}, {text}"),
        }
    }
}
