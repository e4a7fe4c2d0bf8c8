//! How the values of switches are written in a scenario.

use std::fmt::Debug;
use std::ops::RangeInclusive;

use subflow_policy::catalogue::Choice;
use subflow_quantity::{Duration, Size};

use crate::file::{Field, Problem, Value};
use crate::table::Kind;

/// Bounds of buffers: a smaller one does not hold two packets, a larger one never limits a connection.
pub(crate) const BUFFER: RangeInclusive<u64> = 3000..=1 << 40;

/// Bounds of counts of packets and of retries.
pub(super) const COUNT: RangeInclusive<u64> = 0..=1_000_000;

/// The notation of a value of type `T`.
pub(super) struct Notation<T> {
    /// The kind of value that the schema describes.
    pub(super) kind: Kind,
    /// From the value of a key.
    pub(super) parse: Box<Parse<T>>,
    /// To TOML.
    pub(super) literal: Box<dyn Fn(&T) -> String + Send + Sync>,
}

type Parse<T> = dyn Fn(&Field<'_>) -> Result<T, Problem> + Send + Sync;

impl<T> Notation<T> {
    pub(super) fn new(
        kind: &str,
        parse: impl Fn(&Field<'_>) -> Result<T, Problem> + Send + Sync + 'static,
        literal: impl Fn(&T) -> String + Send + Sync + 'static,
    ) -> Self {
        Self { kind: Kind::Value(kind.to_owned()), parse: Box::new(parse), literal: Box::new(literal) }
    }
}

pub(super) fn flag() -> Notation<bool> {
    flag_for(true, false)
}

/// Two values that stand for true and false.
pub(super) fn flag_for<T: Clone + PartialEq + Send + Sync + 'static>(on: T, off: T) -> Notation<T> {
    let is_on = on.clone();
    let parse = move |field: &Field<'_>| Ok(if field.boolean()? { on.clone() } else { off.clone() });
    Notation::new("true or false", parse, move |value| (*value == is_on).to_string())
}

pub(super) fn whole<N>(range: RangeInclusive<u64>) -> Notation<N>
where
    N: TryFrom<u64, Error: Debug> + ToString + 'static,
{
    let kind = format!("a whole number from {} to {}", range.start(), range.end());
    let parse = move |field: &Field<'_>| {
        let number = field.integer(range.clone())?;
        Ok(N::try_from(number).expect("the range is within the type"))
    };
    Notation::new(&kind, parse, N::to_string)
}

/// A size in bytes; `kind` describes the range.
pub(super) fn size<N>(kind: &str, range: RangeInclusive<u64>) -> Notation<N>
where
    N: TryFrom<u64, Error: Debug> + Copy + Into<u64> + 'static,
{
    let parse = move |field: &Field<'_>| {
        let bytes = field.size(range.clone())?;
        Ok(N::try_from(bytes).expect("the range is within the type"))
    };
    Notation::new(kind, parse, |bytes| format!("'{}'", Size::from_bytes((*bytes).into())))
}

pub(super) fn duration() -> Notation<Duration> {
    Notation::new("a duration", |field| field.duration(), |duration| format!("'{duration}'"))
}

pub(super) fn positive_duration() -> Notation<Duration> {
    Notation::new("a duration above zero", |field| field.positive_duration(), |duration| format!("'{duration}'"))
}

/// One of a few names; `what` they are names of.
pub(super) fn one_of<T: Copy + PartialEq + Send + Sync + 'static>(
    what: &'static str,
    choices: &'static [Choice<T>],
) -> Notation<T> {
    let literal = |value: &T| {
        let choice = choices.iter().find(|choice| choice.value == *value).expect("every value has a name");
        format!("'{}'", choice.description.name)
    };
    Notation {
        kind: Kind::Word(Choice::descriptions(choices)),
        ..Notation::new("", |field| field.choice(what, choices), literal)
    }
}

/// A bound, or "unlimited".
pub(super) fn unlimited_or<T: 'static>(bound: Notation<T>) -> Notation<Option<T>> {
    let is_none = |value: &Value| matches!(value, Value::String(text) if text == "unlimited");
    optional("\"unlimited\"", "'unlimited'", is_none, bound)
}

/// A value, or false.
pub(super) fn false_or<T: 'static>(value: Notation<T>) -> Notation<Option<T>> {
    optional("false", "false", |value| matches!(value, Value::Boolean(false)), value)
}

fn optional<T: 'static>(
    none: &str,
    none_literal: &'static str,
    is_none: fn(&Value) -> bool,
    some: Notation<T>,
) -> Notation<Option<T>> {
    let Notation { kind, parse, literal } = some;
    let Kind::Value(kind) = kind else { panic!("names have no other values beside them") };
    let parse = move |field: &Field<'_>| if is_none(field.value()) { Ok(None) } else { parse(field).map(Some) };
    let literal = move |value: &Option<T>| value.as_ref().map_or_else(|| none_literal.to_owned(), &literal);
    Notation::new(&format!("{kind}, or {none}"), parse, literal)
}
