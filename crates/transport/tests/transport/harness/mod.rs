//! Two hosts joined by paths in virtual time, with hands on every packet between them.
//!
//! [`Setup`] says what the hosts speak and how the paths are; [`Pair`] drives them. Every packet is written to bytes
//! when it leaves and parsed when it arrives; its payload is a pattern by stream offset, and whatever an endpoint
//! reports as received in order is compared with that pattern. [`tamper`] holds what can happen to a packet on the way.

mod edge;
mod pair;
mod path;
pub(crate) mod sctp;
mod setup;
pub(crate) mod tamper;
mod verbs;

pub(crate) use edge::stream_bytes;
pub(crate) use pair::{CLIENT, Leaving, Pair, SERVER, Sent};
pub(crate) use path::{Fate, Path};
pub(crate) use setup::{Setup, Stack, algorithm};

use subflow_quantity::Duration;

/// `n` milliseconds.
pub(crate) const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// `n` seconds.
pub(crate) const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}
