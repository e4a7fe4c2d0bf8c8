//! Bounds of values of several tables.

use std::ops::RangeInclusive;

use subflow_quantity::Ratio;

use crate::file::{Field, Problem, Section};

/// Bounds of buffers: a smaller one does not hold two packets, a larger one never limits a connection.
pub(super) const BUFFER: RangeInclusive<u64> = 3000..=1 << 40;

/// Bounds of counts of packets and of retries.
pub(super) const COUNT: RangeInclusive<u64> = 0..=1_000_000;

/// The problem of a lower bound above its upper bound. It names the bound that the user set, not the default.
pub(super) fn wrong_way_round(low: &Field<'_>, high: &Field<'_>) -> Problem {
    let (culprit, other) = if high.is_default() { (low, high) } else { (high, low) };
    let bound = if high.is_default() { "at most" } else { "at least" };
    culprit.expected(&format!("{bound} {}, {}", other.name(), other.node.shown()))
}

/// A ratio from one fraction to another.
pub(super) fn ratio(section: &Section<'_>, key: &'static str, bounds: [(u32, u32); 2]) -> Result<Ratio, Problem> {
    let field = section.value(key);
    let ratio: Ratio = field.quantity("a ratio such as \"1/4\" or 1.2")?;
    let [least, most] = bounds.map(|(numerator, denominator)| Ratio::new(numerator, denominator));
    match least <= Some(ratio) && Some(ratio) <= most {
        true => Ok(ratio),
        false => Err(field.expected(&section.kind(key))),
    }
}
