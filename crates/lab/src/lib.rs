//! Runs scenarios and measures them: [`execute`] distributes the runs of a plan over the cores, [`simulate`] does one
//! of them, [`results`] contains the measurements with the declarations of all metrics, [`statistics`] summarises
//! repetitions, [`comparison`] compares points and results, [`output`] writes results as text and CSV, and [`table`] is
//! the form of all tables. [`capture`] writes packets to files, [`event_log`] what connections did. [`benchmark`]
//! measures the engine.
//!
//! This crate is internal to Subflow: its items may change in any release.
//!
//! A transfer, twice:
//!
//! ```
//! use subflow_lab::execute::execute;
//! use subflow_lab::simulate::RunOptions;
//! use subflow_quantity::{Duration, Rate, Size};
//! use subflow_scenario::builder::{FlowBuilder, LinkBuilder, ScenarioBuilder};
//!
//! let link = LinkBuilder::between("client", "server").rate(Rate::from_mbit(8)).delay(Duration::from_millis(10));
//! let plan = ScenarioBuilder::new("transfer")
//!     .duration(Duration::from_secs(10))
//!     .repeat(2)
//!     .host("client", ["eth"])
//!     .host("server", ["eth"])
//!     .link("cable", link)
//!     .flow("file", FlowBuilder::tcp("client", "server").send(Size::from_bytes(1_000_000)))
//!     .plan()
//!     .expect("a good scenario");
//! let experiment = execute(&plan, 0, &RunOptions::default(), &|_| {}).expect("the runs succeed");
//! let flow = &experiment.runs[0].result.flows[0];
//! assert!(flow.completion_s.is_some_and(|seconds| (1.0..1.2).contains(&seconds)));
//! ```
//!
//! The simulator never reads a wall clock: the same file and seed give the same results on every machine. `emulate` and
//! `validation`, which exist on Linux only, run scenarios in real time against the kernel.

pub mod benchmark;
pub mod capture;
pub mod comparison;
mod cpu_time;
#[cfg(all(target_os = "linux", feature = "linux"))]
pub mod emulate;
pub mod event_log;
pub mod execute;
pub mod number;
pub mod output;
pub mod program_output;
pub mod results;
mod run_error;
pub mod simulate;
pub mod statistics;
pub mod table;
#[cfg(all(target_os = "linux", feature = "linux"))]
pub mod validation;

pub use cpu_time::CpuTimer;
pub use run_error::{RunError, remedy};
pub use subflow_network::Stop;
