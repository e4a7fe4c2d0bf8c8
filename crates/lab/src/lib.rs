//! From a scenario file to numbers: [`scenario`] reads what an experiment is, [`sweep`] expands it into runs, [`execute`]
//! spreads them over the cores, [`simulate`] does one of them, [`results`] holds what was measured, [`statistics`] sums
//! up repetitions, [`report`] draws it, [`output`] writes it all down. [`papers`] keeps the published experiments that can
//! be reproduced, [`benchmark`] the ones that measure the engine.
//!
//! Nothing simulated reads a wall clock: the same file and seed give the same results on every machine. `emulate` and
//! `validation`, on Linux only, run scenarios in real time, against the kernel.

pub mod benchmark;
#[cfg(target_os = "linux")]
pub mod emulate;
pub mod execute;
mod input;
pub mod output;
pub mod papers;
pub mod report;
pub mod results;
pub mod scenario;
pub mod simulate;
pub mod statistics;
pub mod sweep;
#[cfg(target_os = "linux")]
pub mod validation;
