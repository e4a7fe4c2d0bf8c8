//! Time, data rates and sizes as exact integers.
//!
//! Everything that Subflow computes runs on these types, never on a wall clock and never on floating-point seconds, so
//! that one seed gives the same packets on every machine. [`notation`] reads and writes them as people do
//! (`"50 Mbit/s"`, `"20 ms"`, `"1 %"`).

mod rate;
mod time;

pub use rate::Rate;
pub use time::{Duration, Instant};
