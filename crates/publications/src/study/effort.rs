//! How much is run.

use serde_json::Value;

use crate::Request;

/// How much is run. Values of a paper's file that depend on it are tables: `{ full = 30, quick = 3 }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// For the figures.
    Full,
    /// For a first look.
    Quick,
    /// For a first look at all items.
    Hurried,
    /// For verdicts under other choices.
    Alternatives,
    /// The same for a first look.
    QuickAlternatives,
}

impl Effort {
    /// That of the figures that `request` asks for.
    pub(crate) fn of(request: &Request) -> Self {
        match (request.quick, request.items.is_empty()) {
            (false, _) => Self::Full,
            (true, false) => Self::Quick,
            (true, true) => Self::Hurried,
        }
    }

    /// The keys of a value that depends on the effort. The first that is there counts.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Full => &["full"],
            Self::Quick => &["quick", "full"],
            Self::Hurried => &["hurried", "quick", "full"],
            Self::Alternatives => &["alternatives", "full"],
            Self::QuickAlternatives => &["quick_alternatives", "alternatives", "quick", "full"],
        }
    }

    /// That of verdicts under other choices beside figures of this one.
    pub(crate) fn alternatives(self) -> Self {
        if self == Self::Full { Self::Alternatives } else { Self::QuickAlternatives }
    }

    /// A text that may be for some efforts only: `{ hurried = "…" }`.
    pub(crate) fn text_of(self, value: &Value) -> Option<&str> {
        match value.as_object() {
            Some(table) => self.keys().iter().find_map(|key| table.get(*key)?.as_str()),
            None => value.as_str(),
        }
    }

    /// What `value` is at this effort.
    pub(crate) fn choose(self, value: &Value) -> &Value {
        match value.as_object() {
            Some(table) if table.contains_key("full") => {
                self.keys().iter().find_map(|key| table.get(*key)).expect("it has the key full")
            }
            _ => value,
        }
    }
}
