//! Options of algorithms: their names, values and defaults, and how they are read and set.

use core::fmt;
use core::ops::RangeInclusive;

use subflow_quantity::{Duration, Ratio};

use super::{Catalogued, Choice, Description};

/// The value of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// One of a few names.
    Name(&'static str),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Ratio(value) => value.fmt(f),
            Self::Fraction(value) => value.fmt(f),
            Self::Duration(value) => value.fmt(f),
            Self::Name(value) => value.fmt(f),
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
    /// A ratio in this range.
    Ratio(RangeInclusive<Ratio>),
    /// A number from 0 to 1.
    Fraction,
    /// A duration.
    Duration,
    /// One of these names.
    Name(Vec<Description>),
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

/// An algorithm whose options are read and set by name. They are set before its first use: setting one may reset its
/// state.
pub trait Configurable {
    /// Its options with their values.
    fn options(&self) -> Vec<Setting>;

    /// Its switches with their values.
    fn switches(&self) -> Vec<Setting>;

    /// Sets an option or a switch.
    ///
    /// # Errors
    ///
    /// If it has no such option, or the option takes no such value.
    fn set(&mut self, key: &str, value: Value) -> Result<(), Refused>;

    /// The option whose value does not go with those of the others, if there is one.
    fn conflict(&self) -> Option<Conflict>;
}

impl<T: Catalogued> Configurable for T {
    fn options(&self) -> Vec<Setting> {
        T::OPTIONS.iter().map(|option| option.setting(self)).collect()
    }

    fn switches(&self) -> Vec<Setting> {
        T::SWITCHES.iter().map(|option| option.setting(self)).collect()
    }

    fn set(&mut self, key: &str, value: Value) -> Result<(), Refused> {
        let option = T::OPTIONS.iter().chain(T::SWITCHES).find(|option| option.key == key);
        match option.ok_or(Refused::Unknown)?.set(self, value) {
            true => Ok(()),
            false => Err(Refused::Value),
        }
    }

    fn conflict(&self) -> Option<Conflict> {
        Catalogued::conflict(self)
    }
}

/// The declaration of an option of `T`: its name, its meaning, the values that it takes, and how `T` holds it.
pub struct Attribute<T: 'static> {
    key: &'static str,
    doc: &'static str,
    access: Access<T>,
}

/// By the type of the value: the values that the option takes, its getter and its setter.
enum Access<T: 'static> {
    Boolean(fn(&T) -> bool, fn(&mut T, bool)),
    Integer([u64; 2], fn(&T) -> u64, fn(&mut T, u64)),
    Ratio([Ratio; 2], fn(&T) -> Ratio, fn(&mut T, Ratio)),
    Fraction(fn(&T) -> f64, fn(&mut T, f64)),
    Duration(fn(&T) -> Duration, fn(&mut T, Duration)),
    Name(fn() -> Vec<Description>, fn(&T) -> &'static str, fn(&mut T, &str)),
}

impl<T: 'static> Attribute<T> {
    /// An option that is true or false.
    pub const fn flag(key: &'static str, doc: &'static str, get: fn(&T) -> bool, set: fn(&mut T, bool)) -> Self {
        Self { key, doc, access: Access::Boolean(get, set) }
    }

    /// A whole number from the first to the second of `bounds`.
    pub const fn integer(
        key: &'static str,
        doc: &'static str,
        bounds: [u64; 2],
        get: fn(&T) -> u64,
        set: fn(&mut T, u64),
    ) -> Self {
        Self { key, doc, access: Access::Integer(bounds, get, set) }
    }

    /// A ratio from the first to the second of `bounds`, each a numerator and a denominator.
    ///
    /// # Panics
    ///
    /// If a denominator is zero.
    pub const fn ratio(
        key: &'static str,
        doc: &'static str,
        bounds: [(u32, u32); 2],
        get: fn(&T) -> Ratio,
        set: fn(&mut T, Ratio),
    ) -> Self {
        let [(least, of), (most, of_most)] = bounds;
        let least = Ratio::new(least, of).expect("bounds are not divided by zero");
        let most = Ratio::new(most, of_most).expect("bounds are not divided by zero");
        Self { key, doc, access: Access::Ratio([least, most], get, set) }
    }

    /// A number from 0 to 1.
    pub const fn fraction(key: &'static str, doc: &'static str, get: fn(&T) -> f64, set: fn(&mut T, f64)) -> Self {
        Self { key, doc, access: Access::Fraction(get, set) }
    }

    /// A duration.
    pub const fn duration(
        key: &'static str,
        doc: &'static str,
        get: fn(&T) -> Duration,
        set: fn(&mut T, Duration),
    ) -> Self {
        Self { key, doc, access: Access::Duration(get, set) }
    }

    /// One of a few `names`.
    pub const fn name(
        key: &'static str,
        doc: &'static str,
        names: fn() -> Vec<Description>,
        get: fn(&T) -> &'static str,
        set: fn(&mut T, &str),
    ) -> Self {
        Self { key, doc, access: Access::Name(names, get, set) }
    }

    fn setting(&self, of: &T) -> Setting {
        let (domain, value) = match self.access {
            Access::Boolean(get, _) => (Domain::Boolean, Value::Boolean(get(of))),
            Access::Integer([least, most], get, _) => (Domain::Integer(least..=most), Value::Integer(get(of))),
            Access::Ratio([least, most], get, _) => (Domain::Ratio(least..=most), Value::Ratio(get(of))),
            Access::Fraction(get, _) => (Domain::Fraction, Value::Fraction(get(of))),
            Access::Duration(get, _) => (Domain::Duration, Value::Duration(get(of))),
            Access::Name(names, get, _) => (Domain::Name(names()), Value::Name(get(of))),
        };
        Setting { key: self.key, doc: self.doc, domain, value }
    }

    /// Sets it if it takes `value`, and says whether it does.
    fn set(&self, of: &mut T, value: Value) -> bool {
        match (&self.access, value) {
            (Access::Boolean(_, set), Value::Boolean(value)) => set(of, value),
            (Access::Integer([least, most], _, set), Value::Integer(value)) if (*least..=*most).contains(&value) => {
                set(of, value);
            }
            (Access::Ratio([least, most], _, set), Value::Ratio(value)) if (*least..=*most).contains(&value) => {
                set(of, value);
            }
            (Access::Fraction(_, set), Value::Fraction(value)) if (0.0..=1.0).contains(&value) => set(of, value),
            (Access::Duration(_, set), Value::Duration(value)) => set(of, value),
            (Access::Name(names, _, set), Value::Name(value)) if names().iter().any(|name| name.name == value) => {
                set(of, value);
            }
            _ => return false,
        }
        true
    }
}

impl<T: Copy> Choice<T> {
    /// The descriptions of `choices`.
    pub fn descriptions(choices: &[Self]) -> Vec<Description> {
        choices.iter().map(|choice| choice.description).collect()
    }
}
