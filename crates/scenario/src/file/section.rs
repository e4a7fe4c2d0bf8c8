//! Reads tables according to their schema: it rejects unknown keys, takes every default from the schema, and names the
//! value's path in every error.

use std::borrow::Cow;

use subflow_policy::catalogue::Choice;

use super::node::{Entry, Node, Value};
use super::suggestion::{did_you_mean, list};
use super::{Origin, Place, Problem};
use crate::table::{Default, FieldSchema, TableSchema};

/// A value that is being parsed, with its dotted path.
#[derive(Clone, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) path: String,
    pub(crate) node: Cow<'a, Node>,
    /// Its description in the schema.
    doc: &'static str,
}

impl<'a> Field<'a> {
    /// The root of a document.
    pub(crate) fn root(node: &'a Node) -> Self {
        Self { path: String::new(), node: Cow::Borrowed(node), doc: "" }
    }

    /// A default of the schema.
    fn from_default(path: String, literal: &str, doc: &'static str) -> Self {
        let node = Node::of_default(&path, literal);
        Self { path, node: Cow::Owned(node), doc }
    }

    /// The default of `key` in tables of this kind.
    pub(crate) fn default_of(schema: &'static TableSchema, key: &'static str) -> Field<'static> {
        match &schema.field(key).default {
            Default::Value(literal) => Field::from_default(key.to_owned(), literal, &schema.field(key).doc),
            Default::Required | Default::None(_) => panic!("the schema gives {key} no default"),
        }
    }

    fn child<'s>(&'s self, entry: &'s Entry, doc: &'static str) -> Field<'s> {
        Field { path: self.path_of(&entry.key), node: Cow::Borrowed(&entry.node), doc }
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// The name for use in messages.
    pub(crate) fn name(&self) -> &str {
        if self.path.is_empty() { "the scenario" } else { &self.path }
    }

    /// The place at which it was written.
    pub(crate) fn place(&self) -> &Place {
        &self.node.place
    }

    /// Whether it is a default of the schema.
    pub(crate) fn is_default(&self) -> bool {
        self.place().source.origin == Origin::Default
    }

    /// The TOML value.
    pub(crate) fn value(&self) -> &Value {
        &self.node.value
    }

    /// `path: found …, expected …`, with the key's meaning as the remedy.
    pub(crate) fn expected(&self, expected: &str) -> Problem {
        let problem =
            Problem::at(self.place(), format!("{}: found {}, expected {expected}", self.name(), self.node.shown()));
        match self.doc {
            "" => problem,
            doc => problem.help(format!("{} is {doc}", self.name())),
        }
    }

    /// A problem other than a wrong type.
    pub(crate) fn problem(&self, message: impl std::fmt::Display) -> Problem {
        Problem::at(self.place(), format!("{}: {message}", self.name()))
    }

    /// The warning that this value, which stands at `path`, has no effect.
    pub(crate) fn without_effect(&self, path: &str, why: &str) -> Problem {
        Problem::at(self.place(), format!("{path} has no effect: {why}")).label("without effect")
    }

    /// The text of a string.
    pub(crate) fn string(&self, expected: &str) -> Result<&str, Problem> {
        match self.value() {
            Value::String(text) => Ok(text),
            _ => Err(self.expected(expected)),
        }
    }

    /// The elements of a list.
    pub(crate) fn list(&self, expected: &str) -> Result<Vec<Field<'_>>, Problem> {
        let Value::Array(elements) = self.value() else { return Err(self.expected(expected)) };
        let element =
            |(index, node)| Field { path: format!("{}.{index}", self.path), node: Cow::Borrowed(node), doc: self.doc };
        Ok(elements.iter().enumerate().map(element).collect())
    }

    /// The entries of a table whose keys are names that the user gives.
    pub(crate) fn named_entries(&self, kind: &str) -> Result<Vec<(&str, Field<'_>)>, Problem> {
        let Value::Table(entries) = self.value() else {
            return Err(self.expected(&format!("a table with one {kind} per name")));
        };
        for Entry { key, key_place, .. } in entries {
            check_name_at(key, kind, key_place)?;
        }
        Ok(entries.iter().map(|entry| (entry.key.as_str(), self.child(entry, ""))).collect())
    }

    /// The table; all of its keys must be in `schema`.
    pub(crate) fn section(&self, schema: &'static TableSchema) -> Result<Section<'_>, Problem> {
        let Value::Table(entries) = self.value() else {
            return Err(self.expected(&format!("a table with {}", list(schema.keys()))));
        };
        for Entry { key, key_place, .. } in entries {
            if !schema.keys().any(|known| known == key) {
                let label = did_you_mean(key, schema.keys(), "not a key that is known here");
                return Err(Problem::at(key_place, format!("{}: unknown key {key:?}", self.name()))
                    .label(label)
                    .help(format!("the keys here are {}", list(schema.keys()))));
            }
        }
        Ok(Section { field: self, schema })
    }

    /// The choice with this name.
    pub(crate) fn choice<T: Copy>(&self, what: &str, choices: &[Choice<T>]) -> Result<T, Problem> {
        let names = || choices.iter().map(|choice| choice.description.name);
        let text = self.string(&format!("{what}: {}", list(names())))?;
        Choice::find(choices, text).ok_or_else(|| self.unknown_name(text, what, names()))
    }

    /// The problem of an unknown name: suggests the nearest one and lists all.
    pub(crate) fn unknown_name<'n>(
        &self,
        found: &str,
        what: &str,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> Problem {
        Problem::at(self.place(), format!("{}: found {found:?}, expected {what}", self.name()))
            .label(did_you_mean(found, names.clone(), "no such name"))
            .help(format!("there are: {}", list(names)))
    }
}

/// Checks a name: names occur in dotted paths, tables and file names. The error is a message and the remedy.
pub(crate) fn check_name(name: &str, kind: &str) -> Result<(), (String, &'static str)> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.len() <= 64 && name.chars().all(allowed) {
        return Ok(());
    }
    let expected = "a name of at most 64 letters, digits, - and _";
    let help = "names turn up in paths such as links.wifi.rate and in file names";
    Err((format!("found {name:?} as the name of a {kind}, expected {expected}"), help))
}

/// [`check_name`] of a name at `place`.
fn check_name_at(name: &str, kind: &str, place: &Place) -> Result<(), Problem> {
    check_name(name, kind).map_err(|(message, help)| Problem::at(place, message).label("this name").help(help))
}

/// A name as a value (an interface in a list); the rules are those of a name as a key.
pub(crate) fn name_value(field: &Field<'_>, kind: &str) -> Result<String, Problem> {
    let name = field.string(&format!("the name of a {kind}"))?;
    check_name_at(name, kind, field.place())?;
    Ok(name.to_owned())
}

/// A table whose keys are all known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section<'a> {
    field: &'a Field<'a>,
    schema: &'static TableSchema,
}

impl<'a> Section<'a> {
    /// The value of `key`, if the file has one.
    pub(crate) fn given(&self, key: &'static str) -> Option<Field<'a>> {
        let doc = self.schema.field(key).doc.as_str();
        self.field.node.entry(key).map(|entry| self.field.child(entry, doc))
    }

    /// The keys that the file has, with their descriptions.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static FieldSchema> + use<'a> {
        let Value::Table(entries) = self.field.value() else { unreachable!("a section is a table") };
        let schema = self.schema;
        entries.iter().map(move |entry| schema.field(&entry.key))
    }

    /// The entries of the table under `key`, if the file has one; their keys are names that the user chooses.
    pub(crate) fn entries_of(&self, key: &'static str) -> impl Iterator<Item = (&'a str, Field<'a>)> + use<'a> {
        let field = self.field;
        let entries = match field.node.entry(key).map(|entry| &entry.node.value) {
            Some(Value::Table(entries)) => &entries[..],
            _ => &[],
        };
        let path = field.path_of(key);
        entries.iter().map(move |entry| {
            let path = format!("{path}.{}", entry.key);
            (entry.key.as_str(), Field { path, node: Cow::Borrowed(&entry.node), doc: "" })
        })
    }

    /// Calls `act` with each entry of the table under `key`, if the file has one whose keys are names of a `kind`.
    pub(crate) fn each(&self, key: &'static str, kind: &str, mut act: impl FnMut(&str, &Field<'_>)) {
        if let Some(field) = self.given(key) {
            field.named_entries(kind).iter().flatten().for_each(|(name, entry)| act(name, entry));
        }
    }

    /// The value of `key`: that of the file, or the default.
    pub(crate) fn value(&self, key: &'static str) -> Field<'a> {
        self.given(key).unwrap_or_else(|| self.default(key))
    }

    /// The default of `key`.
    pub(crate) fn default(&self, key: &'static str) -> Field<'a> {
        match &self.schema.field(key).default {
            Default::Value(literal) => self.default_literal(key, literal),
            Default::Required | Default::None(_) => panic!("the schema gives {key} no default"),
        }
    }

    /// A default for `key` that is not in the schema.
    pub(crate) fn default_literal(&self, key: &'static str, literal: &str) -> Field<'a> {
        Field::from_default(self.field.path_of(key), literal, &self.schema.field(key).doc)
    }

    /// The value of `key`, which is required.
    pub(crate) fn required(&self, key: &'static str) -> Result<Field<'a>, Problem> {
        self.given(key).ok_or_else(|| {
            let schema = self.schema.field(key);
            Problem::at(
                self.field.place(),
                format!("{}: {key} is missing, expected {}", self.field.name(), schema.takes()),
            )
            .label(format!("{key} is missing"))
            .help(format!("{key} is {}", schema.doc))
        })
    }

    /// The accepted values of `key`.
    pub(crate) fn kind(&self, key: &'static str) -> String {
        self.schema.field(key).takes()
    }

    /// The table itself as a field.
    pub(crate) fn field(&self) -> &'a Field<'a> {
        self.field
    }
}

/// Layers of one kind of table.
pub(crate) struct Layers<'a> {
    tables: Vec<Section<'a>>,
    schema: &'static TableSchema,
}

impl<'a> Layers<'a> {
    /// Layers from the topmost of `tables` down, each of which may be absent.
    pub(crate) fn new(tables: &'a [Option<Field<'a>>], schema: &'static TableSchema) -> Result<Self, Problem> {
        let tables = tables.iter().flatten().map(|table| table.section(schema)).collect::<Result<_, _>>()?;
        Ok(Self { tables, schema })
    }

    /// The value of `key` from the topmost layer that has one.
    pub(crate) fn given(&self, key: &'static str) -> Option<Field<'a>> {
        self.tables.iter().find_map(|table| table.given(key))
    }

    /// The value of `key` from the topmost layer that has one, or else `default`, in TOML.
    pub(crate) fn given_or(&self, key: &'static str, default: &str) -> Field<'a> {
        self.given(key).unwrap_or_else(|| Field::from_default(key.to_owned(), default, &self.schema.field(key).doc))
    }
}
