//! Values of keys.

use std::fmt::Display;

use subflow_quantity::{Bdp, Duration, Packets, Probability, Rate, Ratio, Size};
use toml_edit::{Array, InlineTable, Value};

/// What a key of a scenario can take: words, numbers, quantities, lists, and tables ([`Options`]).
pub trait ScenarioValue {
    /// The value in TOML.
    fn into_value(self) -> Value;
}

/// A table: an algorithm with options, a queue, an event, or any other value with keys of its own.
#[derive(Clone, Debug, Default)]
pub struct Options(pub(super) InlineTable);

impl Options {
    /// No keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// The algorithm with this name: `Options::of("ecf").set("beta", 1.5)`.
    pub fn of(name: &str) -> Self {
        Self::new().set("name", name)
    }

    /// Adds a key.
    #[must_use]
    pub fn set(mut self, key: &str, value: impl ScenarioValue) -> Self {
        self.0.insert(key, value.into_value());
        self
    }
}

impl ScenarioValue for Options {
    fn into_value(self) -> Value {
        Value::InlineTable(self.0)
    }
}

impl ScenarioValue for &str {
    fn into_value(self) -> Value {
        self.into()
    }
}

impl ScenarioValue for String {
    fn into_value(self) -> Value {
        self.into()
    }
}

impl ScenarioValue for bool {
    fn into_value(self) -> Value {
        self.into()
    }
}

impl ScenarioValue for u32 {
    fn into_value(self) -> Value {
        i64::from(self).into()
    }
}

impl ScenarioValue for i32 {
    fn into_value(self) -> Value {
        i64::from(self).into()
    }
}

impl ScenarioValue for i64 {
    fn into_value(self) -> Value {
        self.into()
    }
}

impl ScenarioValue for u64 {
    /// A number that no whole number of TOML can be becomes text, which the reader refuses by its digits.
    fn into_value(self) -> Value {
        i64::try_from(self).map_or_else(|_| written(self), Value::from)
    }
}

impl ScenarioValue for f64 {
    fn into_value(self) -> Value {
        self.into()
    }
}

impl<T: ScenarioValue, const N: usize> ScenarioValue for [T; N] {
    fn into_value(self) -> Value {
        Value::Array(Array::from_iter(self.into_iter().map(T::into_value)))
    }
}

impl<T: ScenarioValue> ScenarioValue for Vec<T> {
    fn into_value(self) -> Value {
        Value::Array(Array::from_iter(self.into_iter().map(T::into_value)))
    }
}

/// What a value is as text; quantities have a unit and are read back exactly.
fn written(quantity: impl Display) -> Value {
    quantity.to_string().into()
}

macro_rules! quantities {
    ($($quantity:ty),+) => {
        $(impl ScenarioValue for $quantity {
            fn into_value(self) -> Value {
                written(self)
            }
        })+
    };
}

quantities!(Bdp, Duration, Packets, Probability, Rate, Ratio, Size);
