//! A TOML document as a tree in which every key and value has its place in the text.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use toml_edit::{Item, Key, TableLike};

use super::{Origin, Place, Source};

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) place: Place,
}

/// A default that has been parsed, and the nodes made of it so far.
struct DefaultValue {
    item: Item,
    by_path: BTreeMap<String, Node>,
}

impl DefaultValue {
    fn parse(literal: &str) -> Self {
        let value: toml_edit::Value = literal.parse().expect("defaults are TOML; a test reads each of them");
        Self { item: Item::Value(value), by_path: BTreeMap::new() }
    }
}

/// The TOML types.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Datetime,
    Array(Vec<Node>),
    Table(Vec<Entry>),
}

/// One key of a table. Keys are unique within it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_place: Place,
    pub(crate) node: Node,
}

impl Node {
    /// A default of the schema at `path`, in TOML. Each point of a sweep has the same ones, which are converted once.
    pub(crate) fn of_default(path: &str, literal: &str) -> Self {
        thread_local! {
            static KNOWN: RefCell<BTreeMap<String, DefaultValue>> = RefCell::default();
        }
        /// Paths of very many flows are not all kept.
        const MOST_PATHS: usize = 1000;
        KNOWN.with_borrow_mut(|known| {
            if !known.contains_key(literal) {
                known.insert(literal.to_owned(), DefaultValue::parse(literal));
            }
            let DefaultValue { item, by_path } = known.get_mut(literal).expect("it was inserted if it was missing");
            if let Some(node) = by_path.get(path) {
                return node.clone();
            }
            let name = format!("default of {path}");
            let source = Arc::new(Source { origin: Origin::Default, name, text: literal.to_owned() });
            let node = Self::new(item, &source, &(0..literal.len()));
            if by_path.len() < MOST_PATHS {
                by_path.insert(path.to_owned(), node.clone());
            }
            node
        })
    }

    /// Converts an item that toml_edit parsed from `source`. The span of a table with a header is that header; where
    /// toml_edit gives no span, the place is `fallback` (that of the key).
    pub(crate) fn new(item: &Item, source: &Arc<Source>, fallback: &Range<usize>) -> Self {
        let span = item.span().unwrap_or_else(|| fallback.clone());
        let value = match item {
            Item::None => Value::Table(Vec::new()),
            Item::Value(value) => Value::new(value, source, &span),
            Item::Table(table) => Value::Table(entries(table, source, &span)),
            Item::ArrayOfTables(tables) => {
                let of_table = |table: &toml_edit::Table| {
                    let span = table.span().unwrap_or_else(|| span.clone());
                    Self { value: Value::Table(entries(table, source, &span)), place: place(source, span) }
                };
                Value::Array(tables.iter().map(of_table).collect())
            }
        };
        Self { value, place: place(source, span) }
    }

    /// The value for an error message: as written, shortened, or its type if it is long.
    pub(crate) fn shown(&self) -> String {
        match &self.value {
            Value::String(text) if text.chars().count() <= 60 => format!("{text:?}"),
            Value::String(_) => "a long string".to_owned(),
            Value::Integer(n) => n.to_string(),
            Value::Float(x) => format!("{x:?}"),
            Value::Boolean(b) => b.to_string(),
            Value::Datetime => "a date".to_owned(),
            Value::Array(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }

    /// The value as JSON, for results. Dates, which scenarios do not use, become null.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::String(text) => text.as_str().into(),
            Value::Integer(n) => (*n).into(),
            Value::Float(x) => (*x).into(),
            Value::Boolean(b) => (*b).into(),
            Value::Datetime => serde_json::Value::Null,
            Value::Array(elements) => elements.iter().map(Self::to_json).collect(),
            Value::Table(entries) => {
                serde_json::Value::Object(entries.iter().map(|e| (e.key.clone(), e.node.to_json())).collect())
            }
        }
    }

    /// Adds the value to `text` in a notation that differs for any two different values. Entries are in the file's
    /// order, which decides on addresses and on ties.
    pub(crate) fn write_canonical(&self, text: &mut String) {
        match &self.value {
            Value::String(words) => *text += &format!("{words:?}"),
            Value::Integer(n) => *text += &n.to_string(),
            Value::Float(x) => *text += &format!("{x:?}"),
            Value::Boolean(b) => *text += &b.to_string(),
            Value::Datetime => *text += "date",
            Value::Array(elements) => {
                text.push('[');
                for element in elements {
                    element.write_canonical(text);
                    text.push(',');
                }
                text.push(']');
            }
            Value::Table(entries) => {
                text.push('{');
                for entry in entries {
                    *text += &format!("{:?}=", entry.key);
                    entry.node.write_canonical(text);
                    text.push(',');
                }
                text.push('}');
            }
        }
    }

    /// The entry of `key`, if this is a table that has one.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        let Value::Table(entries) = &self.value else { return None };
        entries.iter().find(|entry| entry.key == key)
    }
}

impl Value {
    fn new(value: &toml_edit::Value, source: &Arc<Source>, span: &Range<usize>) -> Self {
        match value {
            toml_edit::Value::String(text) => Self::String(text.value().clone()),
            toml_edit::Value::Integer(n) => Self::Integer(*n.value()),
            toml_edit::Value::Float(x) => Self::Float(*x.value()),
            toml_edit::Value::Boolean(b) => Self::Boolean(*b.value()),
            toml_edit::Value::Datetime(_) => Self::Datetime,
            toml_edit::Value::Array(array) => {
                let element = |value: &toml_edit::Value| {
                    let span = value.span().unwrap_or_else(|| span.clone());
                    Node { value: Self::new(value, source, &span), place: place(source, span) }
                };
                Self::Array(array.iter().map(element).collect())
            }
            toml_edit::Value::InlineTable(table) => Self::Table(entries(table, source, span)),
        }
    }
}

fn entries(table: &dyn TableLike, source: &Arc<Source>, fallback: &Range<usize>) -> Vec<Entry> {
    let entry = |(name, item): (&str, &Item)| {
        let key_span = table.key(name).and_then(Key::span).unwrap_or_else(|| fallback.clone());
        let node = Node::new(item, source, &key_span);
        Entry { key: name.to_owned(), key_place: place(source, key_span), node }
    };
    table.iter().map(entry).collect()
}

fn place(source: &Arc<Source>, span: Range<usize>) -> Place {
    Place { source: Arc::clone(source), span }
}
