//! Every key of a scenario file: what it takes, what it means, and its default.
//!
//! This is the one place that says so. The reader refuses keys that are not here and takes its defaults from here; the
//! reference table (`scenarios/REFERENCE.md`) is printed from here.

mod flows;
mod general;
mod network;
mod reference;
mod sctp;
mod stacks;
mod topology;

use super::CatalogueEntry;
pub(crate) use flows::{BOTTLENECK, FLOW, ON_OFF, PATH_MANAGER, PERIOD, REQUESTS, SCHEDULER, SUBFLOW};
pub(crate) use general::{EVENT, ROOT};
pub(crate) use network::{ROUTING, TOPOLOGY};
pub use reference::reference;
pub(crate) use sctp::SCTP;
pub(crate) use stacks::{DELAYED_ACK, MPTCP, PROFILES, Profile, RECEIVE_BUFFER, SACK_COMPRESSION, SEND_BUFFER, TCP};
pub(crate) use topology::{DIRECTIONS, HOST, INTERFACE, JITTER, LINK, LOSS, QUEUE, REORDER, ROUTER, TOKEN_BUCKET};

/// What happens where a key is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// The scenario is refused.
    Required,
    /// This TOML value is taken.
    Value(&'static str),
    /// What these words say.
    None(&'static str),
}

/// One key of a table.
#[derive(Clone, Copy, Debug)]
pub struct FieldSchema {
    /// The key.
    pub key: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What is taken where it is absent.
    pub default: Default,
    /// What it means, to follow "KEY is".
    pub doc: &'static str,
}

impl FieldSchema {
    /// What it takes, to follow "expected".
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

    /// The names that it takes, where it takes names of ours.
    pub fn names(&self) -> Option<Vec<CatalogueEntry>> {
        match self.kind {
            Kind::Value(_) => None,
            Kind::Word(names) | Kind::Named(_, names) => Some(names()),
        }
    }
}

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// What these words say.
    Value(&'static str),
    /// One of these words, and nothing else.
    Word(Names),
    /// What these words say, among it one of these names.
    Named(&'static str, Names),
}

/// The names that a key takes, from the table that the reader looks them up in.
pub type Names = fn() -> Vec<CatalogueEntry>;

/// One kind of table.
#[derive(Clone, Copy, Debug)]
pub struct TableSchema {
    /// Where such tables stand.
    pub path: &'static str,
    /// What they are for, in a sentence or two.
    pub doc: &'static str,
    /// Their keys.
    pub fields: &'static [FieldSchema],
}

impl TableSchema {
    /// Its keys, in the order of the reference.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.fields.iter().map(|field| field.key)
    }

    /// The key of this name.
    ///
    /// # Panics
    ///
    /// Where there is none.
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

/// A key that takes one of a few words.
const fn word(key: &'static str, names: Names, default: Default, doc: &'static str) -> FieldSchema {
    FieldSchema { key, kind: Kind::Word(names), default, doc }
}

/// A key that takes, or whose table begins with, the name of an algorithm, model or shape.
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
    &SCHEDULER,
    &PATH_MANAGER,
    &BOTTLENECK,
    &SUBFLOW,
    &ON_OFF,
    &REQUESTS,
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
