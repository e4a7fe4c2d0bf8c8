//! The description of the tables of a scenario file: the keys of each, their values, defaults and meanings.

use subflow_policy::catalogue::{Choice, Description};

/// The default of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Default {
    /// The key is required.
    Required,
    /// This TOML value.
    Value(String),
    /// Described by this text.
    None(String),
}

/// One key of a table.
#[derive(Clone, Debug)]
pub struct FieldSchema {
    /// The key.
    pub key: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// Its default.
    pub default: Default,
    /// Its meaning, as a continuation of "KEY is".
    pub doc: String,
    /// The names of the algorithms whose option it is; empty for a key that belongs to the table itself.
    pub algorithms: Vec<&'static str>,
}

impl FieldSchema {
    /// The accepted values, as a continuation of "expected".
    pub fn takes(&self) -> String {
        self.kind.takes()
    }

    /// The names that it accepts, if it accepts names from a catalogue.
    pub fn names(&self) -> Option<&[Description]> {
        match &self.kind {
            Kind::Value(_) => None,
            Kind::Word(names) | Kind::Named(_, names) => Some(names),
        }
    }
}

/// The kind of value that a key accepts.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Described by this text.
    Value(String),
    /// Only one of these names.
    Word(Vec<Description>),
    /// As described by this text, including one of these names.
    Named(String, Vec<Description>),
}

impl Kind {
    /// The accepted values, as a continuation of "expected".
    pub(crate) fn takes(&self) -> String {
        match self {
            Self::Value(words) | Self::Named(words, _) => words.clone(),
            Self::Word(names) => {
                let quoted: Vec<String> = names.iter().map(|entry| format!("{:?}", entry.name)).collect();
                let (last, others) = quoted.split_last().expect("a key takes at least one word");
                if others.is_empty() { last.clone() } else { format!("{} or {last}", others.join(", ")) }
            }
        }
    }
}

/// One kind of table.
#[derive(Clone, Debug)]
pub struct TableSchema {
    /// The path of such tables.
    pub path: &'static str,
    /// Their purpose, in one or two sentences.
    pub doc: &'static str,
    /// Their keys.
    pub fields: Vec<FieldSchema>,
}

impl TableSchema {
    /// Its keys, in the order of the reference.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.fields.iter().map(|field| field.key)
    }

    /// The key with this name.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn field(&self, key: &str) -> &FieldSchema {
        let field = self.fields.iter().find(|field| field.key == key);
        field.unwrap_or_else(|| panic!("the reader asks for {key}, which the schema of {} does not know", self.path))
    }
}

/// A key of the table itself.
fn own(key: &'static str, kind: Kind, default: Default, doc: &str) -> FieldSchema {
    FieldSchema { key, kind, default, doc: doc.into(), algorithms: Vec::new() }
}

pub(crate) fn required(key: &'static str, kind: &str, doc: &str) -> FieldSchema {
    own(key, Kind::Value(kind.into()), Default::Required, doc)
}

pub(crate) fn value(key: &'static str, kind: &str, default: &str, doc: &str) -> FieldSchema {
    own(key, Kind::Value(kind.into()), Default::Value(default.into()), doc)
}

pub(crate) fn optional(key: &'static str, kind: &str, default: &str, doc: &str) -> FieldSchema {
    own(key, Kind::Value(kind.into()), Default::None(default.into()), doc)
}

/// A key that accepts only names.
pub(crate) fn word<T>(key: &'static str, choices: &[Choice<T>], default: Default, doc: &str) -> FieldSchema {
    words(key, Choice::descriptions(choices), default, doc)
}

/// The same with the names of a catalogue.
pub(crate) fn words(key: &'static str, names: Vec<Description>, default: Default, doc: &str) -> FieldSchema {
    own(key, Kind::Word(names), default, doc)
}

/// A key whose value is, or whose table contains, the name of an algorithm, model or topology.
pub(crate) fn named(
    key: &'static str,
    kind: &str,
    names: Vec<Description>,
    default: Default,
    doc: &str,
) -> FieldSchema {
    own(key, Kind::Named(kind.into(), names), default, doc)
}

impl Default {
    /// This TOML value.
    pub(crate) fn of(literal: &str) -> Self {
        Self::Value(literal.into())
    }

    /// Described by this text.
    pub(crate) fn described(words: &str) -> Self {
        Self::None(words.into())
    }
}
