//! The path managers of `subflow-policy` for the kernel's MPTCP connections, over its userspace path manager
//! (`net.mptcp.pm_type=1`).
//!
//! | to find | look in |
//! |---|---|
//! | what happens at an event: the loop | `driver.rs` |
//! | one connection: its policy, and how its commands are carried out | `connection.rs` |
//! | which subflows are about to close, and which one stays | `closing.rs` |
//! | attempts that began before there was a route | `unrouted.rs` |
//! | connections that are there already, and what becomes of them | `takeover.rs`, `comparison.rs` |
//! | the addresses of this host, with their identifiers | `local.rs` |
//! | which policy and which interfaces | `rules.rs` |
//! | commands in words, for the log; the status | `wording.rs`; `report.rs`, `carried.rs` |
//! | that nobody else manages the paths; the setting of the kernel | `ownership.rs`; its lock: `state_lock.rs` of the crate |

mod carried;
mod closing;
mod comparison;
mod connection;
mod driver;
mod local;
mod ownership;
mod report;
mod rules;
mod takeover;
mod unrouted;
mod wording;

pub use driver::Driver;
pub use ownership::Ownership;
pub use rules::{InterfaceRule, InterfaceRules, NamedSubflow, Plan, Rules};
pub use takeover::{Found, connections};
