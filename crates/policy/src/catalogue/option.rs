//! Options of algorithms: their names, the values that they take, and the values that they have.

use core::fmt;
use core::ops::RangeInclusive;
use std::sync::Arc;

use subflow_quantity::{Duration, Probability, Ratio};

use super::Description;

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(u64),
    /// A ratio.
    Ratio(Ratio),
    /// A number from 0 to 1.
    Fraction(f64),
    /// A duration.
    Duration(Duration),
    /// A probability.
    Probability(Probability),
    /// A number of packets in a queue.
    Packets(u64),
    /// A number of bytes in a queue.
    Bytes(u64),
    /// A list with one element per packet.
    Pattern(Arc<[bool]>),
    /// A list of whole numbers.
    Integers(Vec<u64>),
    /// One of a few names.
    Name(&'static str),
    /// No value of its own: it follows from what this text says.
    Derived(&'static str),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Ratio(value) => value.fmt(f),
            Self::Fraction(value) => value.fmt(f),
            Self::Duration(value) => value.fmt(f),
            Self::Probability(value) => value.fmt(f),
            Self::Packets(value) => write!(f, "{value} packets"),
            Self::Bytes(value) => write!(f, "{value} bytes"),
            Self::Pattern(value) => write!(f, "a list of {} packets", value.len()),
            Self::Integers(values) => write!(f, "{values:?}"),
            Self::Name(value) | Self::Derived(value) => value.fmt(f),
        }
    }
}

/// The values that an option takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// True or false.
    Boolean,
    /// A whole number in this range.
    Integer(RangeInclusive<u64>),
    /// A number of subflows in this range, or `"disjoint-paths"`, which stands for the number of paths without a common
    /// link.
    Subflows(RangeInclusive<u64>),
    /// A ratio in this range.
    Ratio(RangeInclusive<Ratio>),
    /// A number from 0 to 1.
    Fraction,
    /// A number above 0, at most 1.
    Weight,
    /// A duration.
    Duration,
    /// A duration above zero.
    PositiveDuration,
    /// A probability.
    Probability,
    /// A number of packets or of bytes, or a time or bandwidth-delay product, which stands for bytes.
    QueueLength,
    /// A file with a 0 or 1 for each packet.
    Pattern,
    /// A list of so many whole numbers in this range.
    Integers(usize, RangeInclusive<u64>),
    /// One of these names.
    Name(Vec<Description>),
}

/// The values as a continuation of "expected".
impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("true or false"),
            Self::Integer(range) => write!(f, "a whole number from {} to {}", range.start(), range.end()),
            Self::Subflows(range) => {
                write!(f, "a whole number from {} to {}, or \"disjoint-paths\"", range.start(), range.end())
            }
            Self::Ratio(range) => write!(f, "a ratio from {} to {}", range.start(), range.end()),
            Self::Fraction => f.write_str("a number from 0 to 1"),
            Self::Weight => f.write_str("a number above 0, at most 1"),
            Self::Duration => f.write_str("a duration"),
            Self::PositiveDuration => f.write_str("a duration above zero"),
            Self::Probability => f.write_str("a probability"),
            Self::QueueLength => f.write_str("packets, a size, a duration or a bdp"),
            Self::Pattern => f.write_str("a path"),
            Self::Integers(count, range) => {
                write!(f, "a list of {count} whole numbers from {} to {}", range.start(), range.end())
            }
            Self::Name(names) => {
                f.write_str("one of ")?;
                names
                    .iter()
                    .enumerate()
                    .try_for_each(|(number, name)| write!(f, "{}{:?}", if number == 0 { "" } else { ", " }, name.name))
            }
        }
    }
}

/// An option of an algorithm with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its name.
    pub key: &'static str,
    /// Its meaning, as a continuation of "KEY is".
    pub doc: &'static str,
    /// The values that it takes.
    pub domain: Domain,
    /// The value that it has.
    pub value: Value,
    /// Whether a scenario has to give it.
    pub is_required: bool,
}

/// An option whose value does not go with those of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Its name.
    pub key: &'static str,
    /// What is expected of it.
    pub expected: String,
}

/// Why an option was not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The algorithm has no such option.
    Unknown,
    /// The option takes no such value.
    Value,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "the algorithm has no such option",
            Self::Value => "the option takes no such value",
        })
    }
}

impl core::error::Error for Refused {}
