//! Bounds of the switches of all stacks.

use std::ops::RangeInclusive;

use crate::file::{Field, Problem};

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
