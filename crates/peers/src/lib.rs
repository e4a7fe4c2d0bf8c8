//! Interoperability of our QUIC stack with others, in virtual time: hosts of our stack, of [`quinn_proto`] and of
//! [`noq_proto`] (multipath) over paths that lose, delay, reorder, duplicate and mark datagrams.
//!
//! A [`Case`] follows from a seed: which stack has which role, how much each end writes on how many streams, what the paths
//! do, who updates keys, who closes the connection. [`Case::run`] lets it happen, and fails where a byte that arrives is not
//! the one that was written, where something is missing, or where an end does not end in order. The traffic is real: TLS 1.3
//! with certificates, and protected packets.
//!
//! What a seed decides is the same each time; keys, signatures and what the other stacks draw for themselves are not.
//!
//! | concern | file |
//! |---|---|
//! | cases | `case.rs` |
//! | what the applications write, and whether it arrives | `application.rs` |
//! | the loop, and the paths | `world.rs`, `path.rs` |
//! | what a host does | `node.rs`; ours: `ours.rs`; others: `others.rs`, `stacks.rs` |
//! | certificates | `certificate.rs` |

mod application;
mod case;
mod certificate;
mod node;
mod others;
mod ours;
mod path;
mod stacks;
mod world;

pub use case::{Case, Stack};
pub use world::{Failure, Report};
