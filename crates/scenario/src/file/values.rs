//! Types beyond those of TOML: quantities with units, bounded numbers, times, periods.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use subflow_quantity::notation::NotationError;
use subflow_quantity::{Duration, Rate, Ratio, Size};

use super::node::Value;
use super::{Field, Problem, Section};

/// The longest duration in a scenario, including that of a run: results of calculations with durations stay far below
/// the end of the clock, 584 years.
pub(crate) const LONGEST_DURATION: Duration = Duration::from_secs(1_000_000);

/// The highest rate of a link, except unlimited: at this rate, full-sized packets are a nanosecond apart.
pub const FASTEST_RATE: Rate = Rate::from_mbit(10_000_000);

impl Field<'_> {
    /// A quantity in its notation. The error for a number without a unit lists the units.
    pub(crate) fn quantity<T: FromStr<Err = NotationError>>(&self, expected: &str) -> Result<T, Problem> {
        let text = match self.value() {
            Value::String(text) => text.clone(),
            Value::Integer(n) => n.to_string(),
            Value::Float(x) if x.is_finite() => x.to_string(),
            _ => return Err(self.expected(expected)),
        };
        text.parse().map_err(|error| self.notation_problem(&error))
    }

    fn notation_problem(&self, error: &NotationError) -> Problem {
        let label = match error {
            NotationError::MissingUnit { .. } => "the unit is missing",
            NotationError::UnknownUnit { .. } => "the unit is unknown",
            NotationError::Negative { .. } => "below zero",
            NotationError::OutOfRange { .. } => "too large",
            NotationError::TooFine { .. } => "too fine",
            _ => "this is none",
        };
        let problem = self.problem(error).label(label);
        match error {
            NotationError::MissingUnit { text, example, .. } => {
                let unit = example.split_once(' ').map_or("", |(_, unit)| unit);
                problem.help(format!("write it as text with a unit: \"{text} {unit}\""))
            }
            _ => problem,
        }
    }

    /// A duration of at most [`LONGEST_DURATION`], zero allowed.
    pub(crate) fn duration(&self) -> Result<Duration, Problem> {
        let duration = self.quantity("a duration such as \"20 ms\"")?;
        if duration > LONGEST_DURATION {
            return Err(self.expected(&format!("at most {LONGEST_DURATION}")).label("longer than any run"));
        }
        Ok(duration)
    }

    /// A duration above zero.
    pub(crate) fn positive_duration(&self) -> Result<Duration, Problem> {
        let duration = self.duration()?;
        if duration.is_zero() {
            return Err(self.expected("a duration above zero").label("zero"));
        }
        Ok(duration)
    }

    /// A rate above zero, at most [`FASTEST_RATE`].
    pub(crate) fn rate(&self) -> Result<Rate, Problem> {
        let rate: Rate = self.quantity("a rate such as \"50 Mbit/s\"")?;
        if rate.bits_per_second() == 0 {
            return Err(self.expected("a rate above zero").label("zero"));
        }
        if rate > FASTEST_RATE {
            return Err(self.expected(&format!("at most {FASTEST_RATE}")).label("faster than any link"));
        }
        Ok(rate)
    }

    /// A size within bounds, in bytes.
    pub(crate) fn size(&self, allowed: RangeInclusive<u64>) -> Result<u64, Problem> {
        let size: Size = self.quantity("a size such as \"100 MB\"")?;
        let bytes = size.as_bytes();
        if allowed.contains(&bytes) {
            return Ok(bytes);
        }
        let bounds = allowed.map_bounds(|n| Size::from_bytes(n).to_string());
        Err(self.expected(&format!("a size {bounds}")).label(if bytes == 0 { "zero" } else { "out of bounds" }))
    }

    /// A whole number within bounds.
    pub(crate) fn integer(&self, allowed: RangeInclusive<u64>) -> Result<u64, Problem> {
        let bounds = || allowed.map_bounds(|n| n.to_string());
        match self.value() {
            Value::Integer(n) => match u64::try_from(*n).ok().filter(|n| allowed.contains(n)) {
                Some(n) => Ok(n),
                None => Err(self.expected(&format!("a whole number {}", bounds()))),
            },
            _ => Err(self.expected(&format!("a whole number {}", bounds()))),
        }
    }

    /// True or false.
    pub(crate) fn boolean(&self) -> Result<bool, Problem> {
        match self.value() {
            Value::Boolean(b) => Ok(*b),
            Value::String(_) => Err(self.expected("true or false, without quotes")),
            _ => Err(self.expected("true or false")),
        }
    }

    /// A number from zero to one, without a unit.
    pub(crate) fn fraction(&self) -> Result<f64, Problem> {
        match self.value() {
            Value::Float(x) if (0.0..=1.0).contains(x) => Ok(*x),
            Value::Integer(0) => Ok(0.0),
            Value::Integer(1) => Ok(1.0),
            _ => Err(self.expected("a number from 0 to 1")),
        }
    }

    /// A ratio within bounds; `kind` describes them.
    pub(crate) fn ratio(
        &self,
        allowed: RangeInclusive<Ratio>,
        kind: impl FnOnce() -> String,
    ) -> Result<Ratio, Problem> {
        let ratio: Ratio = self.quantity("a ratio such as \"1/4\" or 1.2")?;
        match allowed.contains(&ratio) {
            true => Ok(ratio),
            false => Err(self.expected(&kind())),
        }
    }

    /// A number above zero, at most one, without a unit.
    pub(crate) fn weight(&self) -> Result<f64, Problem> {
        match self.value() {
            Value::Float(x) if *x > 0.0 && *x <= 1.0 => Ok(*x),
            Value::Integer(1) => Ok(1.0),
            _ => Err(self.expected("a number above 0, at most 1")),
        }
    }
}

impl Section<'_> {
    /// The ratio under `key`, from one fraction to another.
    pub(crate) fn ratio(&self, key: &'static str, bounds: [(u32, u32); 2]) -> Result<Ratio, Problem> {
        let ratio = |(numerator, denominator)| Ratio::new(numerator, denominator).expect("not divided by zero");
        let [least, most] = bounds.map(ratio);
        self.value(key).ratio(least..=most, || self.kind(key))
    }
}

trait Bounds {
    fn map_bounds<T: Display>(&self, show: impl Fn(u64) -> T) -> String;
}

impl Bounds for RangeInclusive<u64> {
    fn map_bounds<T: Display>(&self, show: impl Fn(u64) -> T) -> String {
        match (*self.start(), *self.end()) {
            (0, u64::MAX) => "of 0 or more".to_owned(),
            (low, u64::MAX) => format!("of {} or more", show(low)),
            (low, high) => format!("from {} to {}", show(low), show(high)),
        }
    }
}
