//! Runs scenarios and measures them: [`execute`] distributes the runs of a plan over the cores, [`simulate`] does one
//! of them, [`results`] contains the measurements, [`statistics`] summarises repetitions, [`comparison`] compares
//! points and results, [`capture`] writes packets to files,
//! [`event_log`] what connections did. [`benchmark`] measures the engine.
//!
//! The simulator never reads a wall clock: the same file and seed give the same results on every machine. `emulate` and
//! `validation`, which exist on Linux only, run scenarios in real time against the kernel.

pub mod benchmark;
pub mod capture;
pub mod comparison;
mod cpu_time;
#[cfg(target_os = "linux")]
pub mod emulate;
pub mod event_log;
pub mod execute;
pub mod number;
pub mod results;
mod run_error;
pub mod simulate;
pub mod statistics;
mod stop;
#[cfg(target_os = "linux")]
pub mod validation;

pub use cpu_time::CpuTimer;
pub use run_error::RunError;
pub use stop::Stop;
