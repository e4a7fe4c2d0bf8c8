//! A paper's file as serde reads it, with the place of what is wrong in it.

use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use serde::de::value::SeqDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use subflow_scenario::file::{Place, Problem, Source, did_you_mean, syntax_problem};
use toml_edit::{Document, InlineTableIter, Value as Toml};

pub(super) fn read<T: DeserializeOwned>(source: &Arc<Source>) -> Result<T, Problem> {
    let document = Document::parse(source.text.clone()).map_err(|error| syntax_problem(source, &error))?;
    let root = Toml::InlineTable(document.as_table().clone().into_inline_table());
    T::deserialize(Node(&root)).map_err(|Mistake { key, message, help, span }| {
        let place = Place { source: Arc::clone(source), span: span.unwrap_or(0..0) };
        let key = key.map_or_else(String::new, |key| format!("{key}: "));
        Problem::at(&place, format!("{key}{message}")).help(help)
    })
}

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct Mistake {
    key: Option<String>,
    message: String,
    help: String,
    span: Option<Range<usize>>,
}

impl Mistake {
    /// The same at `value` of `key`, unless it is known to be at a value in that.
    fn at(mut self, key: &str, value: &Toml) -> Self {
        self.key.get_or_insert_with(|| key.to_owned());
        self.within(value)
    }

    fn within(self, value: &Toml) -> Self {
        Self { span: self.span.or_else(|| span(value)), ..self }
    }
}

impl de::Error for Mistake {
    /// What follows a line break is the remedy.
    fn custom<T: Display>(text: T) -> Self {
        let text = text.to_string();
        let (message, help) = text.split_once('\n').unwrap_or((&text, ""));
        Self { key: None, message: message.to_owned(), help: help.to_owned(), span: None }
    }

    fn invalid_type(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let expected = expected.to_string().replace("f64", "a number").replace("u64", "a whole number from 0");
        Self::custom(format_args!("found {found}, expected {expected}"))
    }

    fn missing_field(key: &'static str) -> Self {
        Self { key: Some(key.to_owned()), ..Self::custom("it is missing") }
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        let help = did_you_mean(key, known.iter().copied(), &format!("there are: {}", known.join(", ")));
        Self { key: Some(key.to_owned()), help, ..Self::custom("there is no such key") }
    }
}

struct Node<'t>(&'t Toml);

impl<'de> Deserializer<'de> for Node<'_> {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let read = match self.0 {
            Toml::String(text) => visitor.visit_str(text.value()),
            Toml::Integer(number) => visitor.visit_i64(*number.value()),
            Toml::Float(number) => visitor.visit_f64(*number.value()),
            Toml::Boolean(is_so) => visitor.visit_bool(*is_so.value()),
            Toml::Datetime(time) => visitor.visit_string(time.to_string()),
            Toml::InlineTable(table) => visitor.visit_map(Entries { rest: table.iter(), entry: None }),
            Toml::Array(values) => {
                let mut elements = SeqDeserializer::new(values.iter().map(Node));
                visitor.visit_seq(&mut elements).and_then(|read| elements.end().map(|()| read))
            }
        };
        read.map_err(|mistake| mistake.within(self.0))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        match self.0.as_str() {
            Some(name) => visitor.visit_enum(name.into_deserializer()),
            None => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}

impl IntoDeserializer<'_, Mistake> for Node<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The entries of a table, and the one whose value comes next.
struct Entries<'t> {
    rest: InlineTableIter<'t>,
    entry: Option<(&'t str, &'t Toml)>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Mistake;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Mistake> {
        self.entry = self.rest.next();
        let Some((key, value)) = self.entry else { return Ok(None) };
        seed.deserialize(key.into_deserializer()).map(Some).map_err(|mistake: Mistake| mistake.at(key, value))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Mistake> {
        let (key, value) = self.entry.expect("serde asks for a value after its key");
        seed.deserialize(Node(value)).map_err(|mistake| mistake.at(key, value))
    }
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
