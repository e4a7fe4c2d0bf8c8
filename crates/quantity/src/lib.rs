//! Time, data rates, sizes, powers and probabilities as exact integers.
//!
//! This crate is internal to Subflow: its items may change in any release.
//!
//! A quantity is written as in scenario files, and computed with exactly:
//!
//! ```
//! use subflow_quantity::{Duration, Rate, Size};
//!
//! fn main() {
//! let rate: Rate = "50 Mbit/s".parse().expect("a rate");
//! let time: Duration = "20 ms".parse().expect("a duration");
//! assert_eq!(Size::from_bytes(rate.bytes_in(time)).to_string(), "125 kB");
//! assert_eq!(time / 8 + Duration::from_micros(1), "2501 us".parse().expect("a duration"));
//! }
//! ```
//!
//! All of Subflow computes with these types, never with a wall clock or floating-point seconds, so that a seed gives
//! the same packets on every machine. [`notation`] parses and writes them in the usual notation (`"50 Mbit/s"`,
//! `"20 ms"`, `"1 %"`).

mod energy;
pub mod notation;
mod probability;
mod rate;
mod ratio;
mod size;
mod time;

pub use energy::{Energy, EnergyPerBit, Power};
pub use probability::Probability;
pub use rate::{Pacing, Rate};
pub use ratio::Ratio;
pub use size::{Bdp, Packets, Size};
pub use time::{Duration, Instant};
