//! Benchmarks of the engine: their scenarios and results, and the cost of a run.

mod dumbbell;
mod fat_tree;
#[cfg(all(target_os = "linux", feature = "linux"))]
mod tun;

use serde::Serialize;
use subflow_scenario::Scenario;

use crate::results::RunResult;
use crate::simulate::{Division, RunOptions, simulate};
use crate::{CpuTimer, RunError, number};

pub use dumbbell::{BulkProtocol, Dumbbell, DumbbellResult};
pub use fat_tree::{FatTree, FatTreeResult};
#[cfg(all(target_os = "linux", feature = "linux"))]
pub use tun::{TunResult, TunThroughput};

/// A clock of real time in seconds from any start; `None` without one.
pub type Clock<'a> = &'a dyn Fn() -> Option<f64>;

/// Cost of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Packets that left a link.
    pub packet_hops: u64,
    /// Events processed.
    pub events: u64,
    /// Threads of the run.
    pub threads: usize,
    /// CPU time of the run, of all its threads together.
    #[serde(serialize_with = "number::serialize")]
    pub cpu_s: f64,
    /// Real time from the scenario to the result, if the caller has a clock.
    #[serde(serialize_with = "number::optional")]
    pub wall_s: Option<f64>,
    /// Packet hops per CPU second.
    #[serde(serialize_with = "number::serialize")]
    pub hops_per_cpu_s: f64,
    /// Peak resident memory of the process in MB; null if the system does not report it.
    #[serde(serialize_with = "number::optional")]
    pub peak_rss_mb: Option<f64>,
}

impl Cost {
    /// Runs `scenario` once on up to `threads` threads. `clock` returns seconds of real time.
    pub(super) fn of(scenario: &Scenario, threads: usize, clock: Clock<'_>) -> Result<(RunResult, Self), RunError> {
        let options = RunOptions { threads, ..RunOptions::default() };
        let timer = CpuTimer::start();
        let began = clock();
        let result = simulate(scenario, 1, &options)?;
        let wall_s = began.and_then(|began| Some(clock()? - began));
        let cpu_s = if result.engine.cpu_s > 0.0 { result.engine.cpu_s } else { timer.seconds() };
        let cost = Self {
            packet_hops: result.engine.packet_hops,
            events: result.engine.events,
            threads: Division::of(scenario, &options).map_or(1, |division| division.parts()),
            cpu_s,
            wall_s,
            hops_per_cpu_s: result.engine.packet_hops as f64 / cpu_s,
            peak_rss_mb: peak_rss_mb(),
        };
        Ok((result, cost))
    }
}

/// VmHWM of Linux.
fn peak_rss_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

/// The switches of TCP and SCTP, as TOML, for an acknowledgment of every `ack_every` packets; without a number TCP
/// acknowledges every packet and SCTP every second one.
pub(super) fn acknowledgments(ack_every: Option<u16>) -> String {
    let tcp = match ack_every {
        None | Some(1) => "delayed_ack = false".to_owned(),
        Some(packets) => format!("delayed_ack = {{ packets = {packets} }}"),
    };
    let sctp = ack_every.map_or_else(String::new, |packets| format!("\n[sctp]\nsack_frequency = {packets}\n"));
    format!("[tcp]\n{tcp}\n{sctp}")
}
