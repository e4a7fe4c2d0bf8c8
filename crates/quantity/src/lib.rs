//! Time, data rates, sizes and probabilities as exact integers.
//!
//! Everything that Subflow computes runs on these types, never on a wall clock and never on floating-point seconds, so
//! that one seed gives the same packets on every machine. [`notation`] reads and writes them as people do
//! (`"50 Mbit/s"`, `"20 ms"`, `"1 %"`).

pub mod notation;
mod packets;
mod probability;
mod rate;
mod ratio;
mod size;
mod time;

pub use packets::Packets;
pub use probability::Probability;
pub use rate::Rate;
pub use ratio::Ratio;
pub use size::Size;
pub use time::{Duration, Instant};
