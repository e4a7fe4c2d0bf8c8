//! Fetching from memory into the cache, without waiting.

use prefetch_index::prefetch_index;

/// Fetches the first cache line of `value`, for [`Hosts::look_ahead`](crate::Hosts::look_ahead).
#[inline]
pub fn prefetch<T>(value: &T) {
    prefetch_index(core::slice::from_ref(value), 0);
}
