//! Errors in a scenario: the message, the place, and the remedy.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, SourceCode};

/// An error in a scenario. When rendered by miette, it shows the place in the text.
#[derive(Clone, PartialEq, Eq)]
pub struct Problem {
    /// The message: the value's path, what was found and what was expected, in one sentence without a full stop.
    pub message: String,
    /// The place; absent if there is no text to refer to (a file that cannot be read).
    pub place: Option<Place>,
    /// The label at the place.
    pub label: String,
    /// Other places that are involved, each with its label.
    pub also: Vec<(Place, String)>,
    /// The remedy; may be empty.
    pub help: String,
}

/// The label of a place of which nothing else is to be said.
const HERE: &str = "here";

impl Problem {
    /// A problem at `place`.
    pub fn at(place: &Place, message: impl Into<String>) -> Self {
        let (message, place) = (message.into(), Some(place.clone()));
        Self { message, place, label: HERE.to_owned(), also: Vec::new(), help: String::new() }
    }
    /// A problem without a place.
    pub fn nowhere(message: impl Into<String>) -> Self {
        Self { message: message.into(), place: None, label: String::new(), also: Vec::new(), help: String::new() }
    }
    /// Sets the label at the place.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }
    /// Sets the remedy.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }
    /// `file:line:column: message (remedy)`, for logs. What is without a text is left out.
    pub fn in_one_line(&self) -> String {
        let place = self.place.as_ref().map(|place| format!("{}: ", place.shown())).unwrap_or_default();
        let label = Some(&self.label).filter(|label| self.place.is_some() && *label != HERE);
        let further: Vec<&str> =
            label.into_iter().chain([&self.help]).map(String::as_str).filter(|text| !text.is_empty()).collect();
        match further.is_empty() {
            true => format!("{place}{}", self.message),
            false => format!("{place}{} ({})", self.message, further.join("; ").replace('\n', "; ")),
        }
    }
    /// Adds another place that is involved. A place in another text becomes a part of the remedy.
    pub fn also(mut self, place: &Place, what: impl Into<String>) -> Self {
        let what = what.into();
        match &self.place {
            Some(main) if main.source == place.source => self.also.push((place.clone(), what)),
            _ => {
                let separator = if self.help.is_empty() { "" } else { "\n" };
                self.help = format!("{}{separator}{}: {what}", self.help, place.shown());
            }
        }
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// In one line, for test failures.
impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_one_line())
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.help.is_empty()).then(|| Box::new(&self.help) as Box<dyn fmt::Display>)
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.place.as_ref().map(|place| &*place.source as &dyn SourceCode)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let main =
            self.place.as_ref().map(|p| LabeledSpan::new_primary_with_span(Some(self.label.clone()), p.span.clone()));
        let also = self.also.iter().map(|(p, what)| LabeledSpan::new_with_span(Some(what.clone()), p.span.clone()));
        Some(Box::new(main.into_iter().chain(also)))
    }
}

impl SourceCode for Source {
    fn read_span<'a>(
        &'a self,
        span: &miette::SourceSpan,
        context_lines_before: usize,
        context_lines_after: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, miette::MietteError> {
        let contents = self.text.read_span(span, context_lines_before, context_lines_after)?;
        let is_long = contents.data().split(|&byte| byte == b'\n').any(|line| line.len() > LONG_LINE);
        let (shown, line, column) = if is_long {
            let shown = self.around(span);
            let before = &self.text[..shown.start];
            let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
            (shown, before.matches('\n').count(), column)
        } else {
            let start = contents.span().offset();
            (start..start + contents.data().len(), contents.line(), contents.column())
        };
        Ok(Box::new(miette::MietteSpanContents::new_named(
            self.name.clone(),
            &self.text.as_bytes()[shown.clone()],
            (shown.start, shown.len()).into(),
            line,
            column,
            contents.line_count(),
        )))
    }
}

/// Of a line with more bytes than this, only a part is shown.
const LONG_LINE: usize = 300;

impl Source {
    /// Up to 60 bytes before and after `span`, on the same lines.
    fn around(&self, span: &miette::SourceSpan) -> core::ops::Range<usize> {
        const MARGIN: usize = 60;
        let start = self.text[..span.offset()].rfind('\n').map_or(0, |at| at + 1);
        let after = span.offset() + span.len();
        let end = self.text[after..].find('\n').map_or(self.text.len(), |at| after + at);
        let is_boundary = |at: &usize| self.text.is_char_boundary(*at);
        let first = (start.max(span.offset().saturating_sub(MARGIN))..=span.offset()).find(is_boundary);
        let last = (after..=end.min(after + MARGIN)).rfind(is_boundary);
        first.unwrap_or(start)..last.unwrap_or(end)
    }
}

/// The errors in a scenario; there is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    /// The first problems in the order in which they were found, at most [`Self::MOST_KEPT`].
    pub first: Vec<Problem>,
    /// The number of all problems.
    pub count: usize,
}

impl Problems {
    /// The number of problems that are kept and shown: a generated file may repeat a mistake thousands of times.
    pub const MOST_KEPT: usize = 20;
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self { first: vec![problem], count: 1 }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.first.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{problem:?}")?;
        }
        match self.count - self.first.len() {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

impl std::error::Error for Problems {}

/// Collects problems while reading continues, so that all of them are reported together. A problem found at several
/// points of a sweep counts once.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    first: Vec<Problem>,
    known: BTreeSet<Identity>,
}

/// The identity of a problem: its message and its place.
type Identity = (String, Option<(String, usize)>);

impl Collector {
    /// The value; or `None`, and its problem is kept.
    pub(crate) fn keep<T>(&mut self, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.add(problem)).ok()
    }
    /// Keeps a problem unless it was found before.
    pub(crate) fn add(&mut self, problem: Problem) {
        let place = problem.place.as_ref().map(|place| (place.source.name.clone(), place.span.start));
        let is_new = self.known.insert((problem.message.clone(), place));
        if is_new && self.first.len() < Problems::MOST_KEPT {
            self.first.push(problem);
        }
    }
    /// Adds the problems that another reader has found.
    pub(crate) fn merge(&mut self, other: Self) {
        other.first.into_iter().for_each(|problem| self.add(problem));
        self.known.extend(other.known);
    }
    /// Whether no problem has been found so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
    /// The value if no problem was found.
    pub(crate) fn finish<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl From<Problem> for Collector {
    fn from(problem: Problem) -> Self {
        let mut collector = Self::default();
        collector.add(problem);
        collector
    }
}

impl From<Collector> for Problems {
    fn from(Collector { first, known }: Collector) -> Self {
        assert!(!known.is_empty(), "reading fails only with a problem");
        Self { first, count: known.len() }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_one_line_nothing_stands_for_what_has_no_text() {
        let (origin, name, text) = (Origin::User, "paths.toml".to_owned(), "a = 1\nbackup = 3\n".to_owned());
        let place = Place { source: Arc::new(Source { origin, name, text }), span: 15..16 };
        let problem = Problem::at(&place, "backup: found integer");
        assert_eq!(problem.in_one_line(), "paths.toml:2:10: backup: found integer");
        let helped = problem.clone().label("no switch").help("write true\nor false");
        let expected = "paths.toml:2:10: backup: found integer (no switch; write true; or false)";
        assert_eq!(helped.in_one_line(), expected);
        assert_eq!(Problem::nowhere("no file").in_one_line(), "no file");
    }
}
