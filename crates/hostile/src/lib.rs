//! Hostile traffic against whole hosts, in virtual time.
//!
//! A [`Case`] is two hosts and a list of [`Action`](action::Action)s: applications that connect, write, read, stop and
//! crash; a network that drops, delays, duplicates, corrupts, splits, strips and replays; addresses that come and go;
//! pauses of up to 60 days; an attacker who sees nothing, or everything, or is the peer itself. [`run`] applies
//! them to two [`Host`](subflow_transport::Host)s and compares these with a model of what was written and what was
//! delivered. After every action:
//!
//! - no panic and no debug assertion;
//! - memory within stated bounds, for each endpoint and for each host, counted at the allocator;
//! - CPU time for each packet within a bound, and packets in answer to a packet, too;
//! - all delivered data is the written data, in order and without duplicates.
//!
//! At the end the network loses nothing more and all applications close. Connections that no informed attacker has
//! attacked complete, both ends stop sending, and their memory is freed.
//!
//! Cases come from seeds (the driver, `src/main.rs`), from a fuzzer's bytes (`fuzz/`), from files, or from other cases
//! that are changed ([`Case::mutated`]). Those that once failed are in `counterexamples/`, and the tests replay them;
//! those in `fuzz/corpus/` were chosen because together they reach much of the stacks.

pub mod action;
pub mod case;
pub mod corpus;
pub mod forgery;
pub mod setup;
pub mod shrink;

mod attempt;
mod forge;
mod generate;
mod ledger;
mod limits;
mod stack;
mod wiretap;
mod world;

pub use attempt::{Failure, attempt};
pub use case::Case;
pub use corpus::Corpus;
pub use stack::Stack;
pub use world::Report;

use cpu_time::ThreadTime;

use world::World;

/// Lets a case happen.
///
/// # Panics
///
/// Where something did not hold that has to.
pub fn run(case: &Case) -> Report {
    run_traced(case, false)
}

/// As [`run`]; prints every action, every packet and every end of a connection where `traced`.
///
/// # Panics
///
/// As [`run`].
pub fn run_traced(case: &Case, traced: bool) -> Report {
    let mut world = World::new(case, traced);
    let mut most_held = (0, 1);
    let larger = |one: (i64, i64), other: (i64, i64)| if one.0 * other.1 > other.0 * one.1 { one } else { other };
    for action in &case.actions {
        world.trace(|| format!("{action:?}"));
        let (before, start) = ((world.steps(), world.bytes()), ThreadTime::now());
        world.act(action);
        most_held = larger(world.check(), most_held);
        let (steps, bytes) = (world.steps() - before.0, world.bytes() - before.1);
        let spent = start.elapsed().as_micros() as u64;
        let allowed =
            limits::CPU_PER_ACTION_US + limits::CPU_PER_STEP_US * steps + limits::CPU_PER_KILOBYTE_US * bytes / 1000;
        assert!(spent <= allowed, "slow: {spent} µs of CPU time for {steps} packets and timers, {bytes} bytes");
    }
    Report { most_held, ..world.finish() }
}
