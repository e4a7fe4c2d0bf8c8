//! Fetches from memory what the next packets need (`host/look_ahead.rs`).

use prefetch_index::prefetch_index;

/// Fetches the cache line of `value`.
#[inline]
pub(crate) fn prefetch<T>(value: &T) {
    prefetch_index(core::slice::from_ref(value), 0);
}

/// Fetches the cache lines of `value` and of what follows it in memory, if it is in a row of values.
#[inline]
pub(crate) fn prefetch_with_next<T>(value: &T) {
    prefetch(value);
    prefetch_index(core::slice::from_ref(value), 1);
}

/// Fetches all cache lines of `values`.
#[inline]
pub(crate) fn prefetch_all<T>(values: &[T]) {
    for index in 0..values.len() {
        prefetch_index(values, index);
    }
}

/// Fetches all cache lines of a value of type `T` that has `byte` at `offset`.
#[inline]
pub(crate) fn prefetch_whole<T, B>(byte: &B, offset: usize) {
    const { assert!(size_of::<B>() == 1) };
    for line in (0..size_of::<T>()).step_by(64) {
        prefetch_index(core::slice::from_ref(byte), line.wrapping_sub(offset));
    }
}
