//! The bounds of the switches of all stacks.

use std::ops::RangeInclusive;

use crate::file::{Field, Problem};

/// Bounds of buffers: less holds no two packets, more is no buffer.
pub(super) const BUFFER: RangeInclusive<u64> = 3000..=1 << 40;

/// What a count of packets or retries may be.
pub(super) const COUNT: RangeInclusive<u64> = 0..=1_000_000;

/// Two bounds of which the lower one is above the upper one. The user hears of the one that is not a default.
pub(super) fn wrong_way_round(low: &Field<'_>, high: &Field<'_>) -> Problem {
    let (culprit, other) = if high.is_default() { (low, high) } else { (high, low) };
    let bound = if high.is_default() { "at most" } else { "at least" };
    culprit.expected(&format!("{bound} {}, {}", other.name(), other.node.shown()))
}
