//! The energy of radio interfaces, from the packets that they send and receive.
//!
//! A sent packet counts when its last bit leaves the interface, one that is lost after that, too; a received one when it
//! arrives. The end of a transmission is no event: what has left is counted at the next event of the interface, in the
//! order of time (`departures.rs`). A promotion takes energy, but delays no packet.
//!
//! | to find | look in |
//! |---|---|
//! | states, powers and times, and published models | `power.rs` |
//! | what a radio has taken | `meter.rs` |

mod meter;
mod power;

pub(crate) use meter::Meter;
pub use power::{Listening, RadioPower, RadioState, RadioUse};
