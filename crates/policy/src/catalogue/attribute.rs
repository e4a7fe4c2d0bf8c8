//! How an algorithm declares its options, and how they are read and set by name.

use std::sync::Arc;

use subflow_quantity::{Duration, Probability, Ratio};

use super::option::{Conflict, Domain, Refused, Setting, Value};
use super::{Catalogued, Description};

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
    is_required: bool,
}

/// By the type of the value: the values that the option takes, its getter and its setter.
enum Access<T: 'static> {
    Boolean(fn(&T) -> bool, fn(&mut T, bool)),
    Integer([u64; 2], fn(&T) -> u64, fn(&mut T, u64)),
    Subflows([u64; 2], fn(&T) -> u64, fn(&mut T, u64)),
    Ratio([Ratio; 2], fn(&T) -> Ratio, fn(&mut T, Ratio)),
    Fraction(fn(&T) -> f64, fn(&mut T, f64)),
    Weight(fn(&T) -> f64, fn(&mut T, f64)),
    Duration(fn(&T) -> Duration, fn(&mut T, Duration)),
    PositiveDuration(fn(&T) -> Duration, fn(&mut T, Duration)),
    Probability(fn(&T) -> Probability, fn(&mut T, Probability)),
    QueueLength(fn(&T) -> Value, fn(&mut T, Value)),
    Pattern(fn(&T) -> Arc<[bool]>, fn(&mut T, Arc<[bool]>)),
    Integers(usize, [u64; 2], fn(&T) -> Vec<u64>, fn(&mut T, &[u64])),
    Name(fn() -> Vec<Description>, fn(&T) -> &'static str, fn(&mut T, &str)),
}

impl<T: 'static> Attribute<T> {
    const fn new(key: &'static str, doc: &'static str, access: Access<T>) -> Self {
        Self { key, doc, access, is_required: false }
    }

    /// The same option, without a default: a scenario has to give it.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// An option that is true or false.
    pub const fn flag(key: &'static str, doc: &'static str, get: fn(&T) -> bool, set: fn(&mut T, bool)) -> Self {
        Self::new(key, doc, Access::Boolean(get, set))
    }

    /// A whole number from the first to the second of `bounds`.
    pub const fn integer(
        key: &'static str,
        doc: &'static str,
        bounds: [u64; 2],
        get: fn(&T) -> u64,
        set: fn(&mut T, u64),
    ) -> Self {
        Self::new(key, doc, Access::Integer(bounds, get, set))
    }

    /// A number of subflows from the first to the second of `bounds`, or that of disjoint paths: who knows the network
    /// sets the number.
    pub const fn subflows(
        key: &'static str,
        doc: &'static str,
        bounds: [u64; 2],
        get: fn(&T) -> u64,
        set: fn(&mut T, u64),
    ) -> Self {
        Self::new(key, doc, Access::Subflows(bounds, get, set))
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
        Self::new(key, doc, Access::Ratio([least, most], get, set))
    }

    /// A number from 0 to 1.
    pub const fn fraction(key: &'static str, doc: &'static str, get: fn(&T) -> f64, set: fn(&mut T, f64)) -> Self {
        Self::new(key, doc, Access::Fraction(get, set))
    }

    /// A duration.
    pub const fn duration(
        key: &'static str,
        doc: &'static str,
        get: fn(&T) -> Duration,
        set: fn(&mut T, Duration),
    ) -> Self {
        Self::new(key, doc, Access::Duration(get, set))
    }

    /// A number above 0, at most 1.
    pub const fn weight(key: &'static str, doc: &'static str, get: fn(&T) -> f64, set: fn(&mut T, f64)) -> Self {
        Self::new(key, doc, Access::Weight(get, set))
    }

    /// A duration above zero.
    pub const fn positive_duration(
        key: &'static str,
        doc: &'static str,
        get: fn(&T) -> Duration,
        set: fn(&mut T, Duration),
    ) -> Self {
        Self::new(key, doc, Access::PositiveDuration(get, set))
    }

    /// A probability.
    pub const fn probability(
        key: &'static str,
        doc: &'static str,
        get: fn(&T) -> Probability,
        set: fn(&mut T, Probability),
    ) -> Self {
        Self::new(key, doc, Access::Probability(get, set))
    }

    /// A length of a queue: [`Value::Packets`], [`Value::Bytes`], or [`Value::Derived`] from the limit of the queue.
    pub const fn queue_length(
        key: &'static str,
        doc: &'static str,
        get: fn(&T) -> Value,
        set: fn(&mut T, Value),
    ) -> Self {
        Self::new(key, doc, Access::QueueLength(get, set))
    }

    /// A list with one element per packet, from a file.
    pub const fn pattern(
        key: &'static str,
        doc: &'static str,
        get: fn(&T) -> Arc<[bool]>,
        set: fn(&mut T, Arc<[bool]>),
    ) -> Self {
        Self::new(key, doc, Access::Pattern(get, set))
    }

    /// A list of `count` whole numbers from the first to the second of `bounds`.
    pub const fn integers(
        key: &'static str,
        doc: &'static str,
        (count, bounds): (usize, [u64; 2]),
        get: fn(&T) -> Vec<u64>,
        set: fn(&mut T, &[u64]),
    ) -> Self {
        Self::new(key, doc, Access::Integers(count, bounds, get, set))
    }

    /// One of a few `names`.
    pub const fn name(
        key: &'static str,
        doc: &'static str,
        names: fn() -> Vec<Description>,
        get: fn(&T) -> &'static str,
        set: fn(&mut T, &str),
    ) -> Self {
        Self::new(key, doc, Access::Name(names, get, set))
    }

    fn setting(&self, of: &T) -> Setting {
        let (domain, value) = match self.access {
            Access::Boolean(get, _) => (Domain::Boolean, Value::Boolean(get(of))),
            Access::Integer([least, most], get, _) => (Domain::Integer(least..=most), Value::Integer(get(of))),
            Access::Subflows([least, most], get, _) => (Domain::Subflows(least..=most), Value::Integer(get(of))),
            Access::Ratio([least, most], get, _) => (Domain::Ratio(least..=most), Value::Ratio(get(of))),
            Access::Fraction(get, _) => (Domain::Fraction, Value::Fraction(get(of))),
            Access::Weight(get, _) => (Domain::Weight, Value::Fraction(get(of))),
            Access::Duration(get, _) => (Domain::Duration, Value::Duration(get(of))),
            Access::PositiveDuration(get, _) => (Domain::PositiveDuration, Value::Duration(get(of))),
            Access::Probability(get, _) => (Domain::Probability, Value::Probability(get(of))),
            Access::QueueLength(get, _) => (Domain::QueueLength, get(of)),
            Access::Pattern(get, _) => (Domain::Pattern, Value::Pattern(get(of))),
            Access::Integers(count, [least, most], get, _) => {
                (Domain::Integers(count, least..=most), Value::Integers(get(of)))
            }
            Access::Name(names, get, _) => (Domain::Name(names()), Value::Name(get(of))),
        };
        Setting { key: self.key, doc: self.doc, domain, value, is_required: self.is_required }
    }

    /// Sets it if it takes `value`, and says whether it does.
    fn set(&self, of: &mut T, value: Value) -> bool {
        match (&self.access, value) {
            (Access::Boolean(_, set), Value::Boolean(value)) => set(of, value),
            (Access::Integer(bounds, _, set) | Access::Subflows(bounds, _, set), Value::Integer(value))
                if (bounds[0]..=bounds[1]).contains(&value) =>
            {
                set(of, value);
            }
            (Access::Ratio([least, most], _, set), Value::Ratio(value)) if (*least..=*most).contains(&value) => {
                set(of, value);
            }
            (Access::Fraction(_, set), Value::Fraction(value)) if (0.0..=1.0).contains(&value) => set(of, value),
            (Access::Weight(_, set), Value::Fraction(value)) if value > 0.0 && value <= 1.0 => set(of, value),
            (Access::Duration(_, set), Value::Duration(value)) => set(of, value),
            (Access::PositiveDuration(_, set), Value::Duration(value)) if !value.is_zero() => set(of, value),
            (Access::Probability(_, set), Value::Probability(value)) => set(of, value),
            (Access::QueueLength(_, set), value @ (Value::Packets(_) | Value::Bytes(_) | Value::Derived(_))) => {
                set(of, value);
            }
            (Access::Pattern(_, set), Value::Pattern(value)) => set(of, value),
            (Access::Integers(count, [least, most], _, set), Value::Integers(values))
                if values.len() == *count && values.iter().all(|value| (least..=most).contains(&value)) =>
            {
                set(of, &values);
            }
            (Access::Name(names, _, set), Value::Name(value)) if names().iter().any(|name| name.name == value) => {
                set(of, value);
            }
            _ => return false,
        }
        true
    }
}
