//! All keys of a scenario file: values, meanings and defaults.
//!
//! This schema is the only place that defines them. The parser rejects keys that are not in it and takes defaults from
//! it; the reference (`scenarios/REFERENCE.md`) and the JSON Schema for editors are printed from it.
//!
//! This module and `read` depend on each other: the parser takes keys and defaults from here, and the names that a key
//! accepts are those that the parser turns into values (`read/words.rs`), so that no name is written twice.

mod flows;
mod form;
mod general;
mod json;
mod network;
mod reference;
mod sctp;
mod stacks;
mod topology;

use super::CatalogueEntry;
pub(crate) use flows::{
    BOTTLENECK, CONGESTION, FLOW, ON_OFF, PATH_MANAGER, PERIOD, REQUESTS, SCHEDULER, SIZES, SUBFLOW,
};
pub(crate) use general::{DESIGN, EVENT, ROOT};
pub use json::json_schema;
pub(crate) use network::{ROUTING, TOPOLOGY};
pub use reference::reference;
pub(crate) use sctp::SCTP;
pub(crate) use stacks::{DELAYED_ACK, MPTCP, PROFILES, Profile, RECEIVE_BUFFER, SACK_COMPRESSION, SEND_BUFFER, TCP};
pub(crate) use topology::{DIRECTIONS, HOST, INTERFACE, JITTER, LINK, LOSS, QUEUE, REORDER, ROUTER, TOKEN_BUCKET};

/// The default of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// The key is required.
    Required,
    /// This TOML value.
    Value(&'static str),
    /// Described by this text.
    None(&'static str),
}

/// One key of a table.
#[derive(Clone, Copy, Debug)]
pub struct FieldSchema {
    /// The key.
    pub key: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// Its default.
    pub default: Default,
    /// Its meaning, as a continuation of "KEY is".
    pub doc: &'static str,
}

impl FieldSchema {
    /// The accepted values, as a continuation of "expected".
    pub fn takes(&self) -> String {
        match self.kind {
            Kind::Value(words) | Kind::Named(words, _) => words.to_owned(),
            Kind::Word(names) => {
                let quoted: Vec<String> = names().iter().map(|entry| format!("{:?}", entry.name)).collect();
                let (last, others) = quoted.split_last().expect("a key takes at least one word");
                if others.is_empty() { last.clone() } else { format!("{} or {last}", others.join(", ")) }
            }
        }
    }

    /// The names that it accepts, if it accepts names from a catalogue.
    pub fn names(&self) -> Option<Vec<CatalogueEntry>> {
        match self.kind {
            Kind::Value(_) => None,
            Kind::Word(names) | Kind::Named(_, names) => Some(names()),
        }
    }
}

/// The kind of value that a key accepts.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Described by this text.
    Value(&'static str),
    /// Only one of these names.
    Word(Names),
    /// As described by this text, including one of these names.
    Named(&'static str, Names),
}

/// The names that a key accepts, from the parser's own table.
pub type Names = fn() -> Vec<CatalogueEntry>;

/// One kind of table.
#[derive(Clone, Copy, Debug)]
pub struct TableSchema {
    /// The path of such tables.
    pub path: &'static str,
    /// Their purpose, in one or two sentences.
    pub doc: &'static str,
    /// Their keys.
    pub fields: &'static [FieldSchema],
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
    pub fn field(&self, key: &str) -> &'static FieldSchema {
        let field = self.fields.iter().find(|field| field.key == key);
        field.unwrap_or_else(|| panic!("the reader asks for {key}, which the schema of {} does not know", self.path))
    }
}

const fn required(key: &'static str, kind: &'static str, doc: &'static str) -> FieldSchema {
    FieldSchema { key, kind: Kind::Value(kind), default: Default::Required, doc }
}

const fn value(key: &'static str, kind: &'static str, default: &'static str, doc: &'static str) -> FieldSchema {
    FieldSchema { key, kind: Kind::Value(kind), default: Default::Value(default), doc }
}

const fn optional(key: &'static str, kind: &'static str, default: &'static str, doc: &'static str) -> FieldSchema {
    FieldSchema { key, kind: Kind::Value(kind), default: Default::None(default), doc }
}

/// A key that accepts only names.
const fn word(key: &'static str, names: Names, default: Default, doc: &'static str) -> FieldSchema {
    FieldSchema { key, kind: Kind::Word(names), default, doc }
}

/// A key whose value is, or whose table contains, the name of an algorithm, model or topology.
const fn named(
    key: &'static str,
    kind: &'static str,
    names: Names,
    default: Default,
    doc: &'static str,
) -> FieldSchema {
    FieldSchema { key, kind: Kind::Named(kind, names), default, doc }
}

/// All kinds of tables, in the order of the reference.
pub const TABLES: &[&TableSchema] = &[
    &ROOT,
    &DESIGN,
    &TOPOLOGY,
    &HOST,
    &INTERFACE,
    &ROUTING,
    &ROUTER,
    &LINK,
    &DIRECTIONS,
    &TOKEN_BUCKET,
    &QUEUE,
    &LOSS,
    &JITTER,
    &REORDER,
    &FLOW,
    &CONGESTION,
    &SCHEDULER,
    &PATH_MANAGER,
    &BOTTLENECK,
    &SUBFLOW,
    &ON_OFF,
    &REQUESTS,
    &SIZES,
    &PERIOD,
    &TCP,
    &DELAYED_ACK,
    &SACK_COMPRESSION,
    &RECEIVE_BUFFER,
    &SEND_BUFFER,
    &MPTCP,
    &SCTP,
    &EVENT,
];
