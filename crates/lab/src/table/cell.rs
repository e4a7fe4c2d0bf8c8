//! A value of a table.

use std::fmt;

use serde::ser::{Serialize, Serializer};

use crate::number;

/// A value of a row in a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A count.
    Integer(i64),
    /// A measured number.
    Number(f64),
    /// Unknown: `null`, or empty.
    Empty,
}

/// As in CSV: empty if it is unknown, and numbers as in JSON.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Integer(n) => write!(f, "{n}"),
            Self::Number(x) => f.write_str(&number::shown(*x)),
            Self::Empty => Ok(()),
        }
    }
}

impl From<Option<f64>> for Cell {
    fn from(x: Option<f64>) -> Self {
        x.map_or(Self::Empty, Self::Number)
    }
}
impl From<f64> for Cell {
    fn from(x: f64) -> Self {
        Self::Number(x)
    }
}
impl From<Option<&str>> for Cell {
    fn from(text: Option<&str>) -> Self {
        text.map_or(Self::Empty, Self::from)
    }
}
impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
impl From<i64> for Cell {
    fn from(n: i64) -> Self {
        Self::Integer(n)
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Integer(n) => serializer.serialize_i64(*n),
            Self::Number(x) => number::serialize(x, serializer),
            Self::Empty => serializer.serialize_none(),
        }
    }
}
