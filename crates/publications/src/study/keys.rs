//! The tables of a paper's file, with the places of their keys for messages.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;
use subflow_scenario::file::{Place, Problem, Source, did_you_mean, syntax_problem};
use subflow_scenario::sweep::Parameters;
use toml_edit::{Document, InlineTable, Value as Toml};

use super::template::to_json;

/// A table that is being read.
pub(super) struct Keys {
    source: Arc<Source>,
    entries: InlineTable,
}

impl Keys {
    /// The whole of a file.
    pub(super) fn of(source: &Arc<Source>) -> Result<Self, Problem> {
        let document = Document::parse(source.text.clone()).map_err(|error| syntax_problem(source, &error))?;
        Ok(Self { source: Arc::clone(source), entries: document.as_table().clone().into_inline_table() })
    }

    /// A problem at `key`, or at the table where it has no such key.
    pub(super) fn problem(&self, key: &str, message: impl std::fmt::Display) -> Problem {
        let span = self.entries.get(key).and_then(span).or_else(|| self.entries.iter().find_map(|(_, of)| span(of)));
        Problem::at(
            &Place { source: Arc::clone(&self.source), span: span.unwrap_or(0..0) },
            format!("{key}: {message}"),
        )
    }

    /// Fails where there is a key that is none of `known`.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Problem> {
        match self.entries.iter().find(|(key, _)| !known.contains(key)) {
            None => Ok(()),
            Some((key, _)) => {
                let help = did_you_mean(key, known.iter().copied(), &format!("there are: {}", known.join(", ")));
                Err(self.problem(key, "there is no such key").help(help))
            }
        }
    }

    /// A key whose value is as `read` takes it; `None` where it is missing.
    fn read<'t, T>(
        &'t self,
        key: &str,
        expected: &str,
        read: impl Fn(&'t Toml) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        let wrong = || self.problem(key, format!("found {}, expected {expected}", to_json(value)));
        read(value).map(Some).ok_or_else(wrong)
    }

    /// A text.
    pub(super) fn text(&self, key: &str) -> Result<Option<String>, Problem> {
        self.read(key, "a text", |value| value.as_str().map(str::to_owned))
    }

    /// A text that has to be there.
    pub(super) fn needed(&self, key: &str) -> Result<String, Problem> {
        self.text(key)?.ok_or_else(|| self.problem(key, "it is missing, expected a text"))
    }

    /// Whether a key is true.
    pub(super) fn is(&self, key: &str, default: bool) -> Result<bool, Problem> {
        Ok(self.read(key, "true or false", Toml::as_bool)?.unwrap_or(default))
    }

    /// A number.
    pub(super) fn number(&self, key: &str) -> Result<Option<f64>, Problem> {
        self.read(key, "a number", number)
    }

    /// A list of numbers.
    pub(super) fn numbers(&self, key: &str) -> Result<Vec<f64>, Problem> {
        let numbers = |value: &Toml| value.as_array()?.iter().map(number).collect();
        Ok(self.read(key, "a list of numbers", numbers)?.unwrap_or_default())
    }

    /// A list of values.
    pub(super) fn list(&self, key: &str) -> Result<Vec<Value>, Problem> {
        let list = |value: &Toml| Some(value.as_array()?.iter().map(to_json).collect());
        Ok(self.read(key, "a list", list)?.unwrap_or_default())
    }

    /// A list of texts, or one text.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<String>, Problem> {
        let text = |value: &Toml| value.as_str().map(str::to_owned);
        let texts = |value: &Toml| match value {
            Toml::Array(texts) => texts.iter().map(text).collect(),
            other => text(other).map(|text| vec![text]),
        };
        Ok(self.read(key, "a text or a list of texts", texts)?.unwrap_or_default())
    }

    /// A table of values.
    pub(super) fn table(&self, key: &str) -> Result<Parameters, Problem> {
        let table = |value: &Toml| Some(parameters(value.as_inline_table()?));
        Ok(self.read(key, "a table", table)?.unwrap_or_default())
    }

    /// A list of tables, each read by `read`.
    pub(super) fn tables<T>(&self, key: &str, read: impl Fn(&Self) -> Result<T, Problem>) -> Result<Vec<T>, Problem> {
        let tables = |value: &Toml| value.as_array()?.iter().map(|table| table.as_inline_table().cloned()).collect();
        let tables: Vec<InlineTable> = self.read(key, "a list of tables", tables)?.unwrap_or_default();
        let keys = |entries| Self { source: Arc::clone(&self.source), entries };
        tables.into_iter().map(|table| read(&keys(table))).collect()
    }

    /// All entries.
    pub(super) fn all(&self) -> Parameters {
        parameters(&self.entries)
    }
}

fn parameters(table: &InlineTable) -> Parameters {
    table.iter().map(|(key, value)| (key.to_owned(), to_json(value))).collect()
}

fn number(value: &Toml) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

/// The bytes of a value, or of the first one in it that has some.
fn span(value: &Toml) -> Option<Range<usize>> {
    let below = || match value {
        Toml::Array(values) => values.iter().find_map(span),
        Toml::InlineTable(table) => table.iter().find_map(|(_, value)| span(value)),
        _ => None,
    };
    value.span().or_else(below)
}
