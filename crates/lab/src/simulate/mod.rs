//! One run of a scenario in the simulator: built (`build.rs`, `stacks.rs`), driven (`world.rs`, with `nodes.rs` and
//! `application.rs`), and turned into figures (`measure.rs`, `sample.rs`, `capture.rs`).

mod application;
pub(crate) mod build;
pub(crate) mod capture;
pub(crate) mod figures;
pub(crate) mod measure;
pub(crate) mod nodes;
pub(crate) mod sample;
mod sctp;
mod stacks;
pub(crate) mod world;

use std::path::PathBuf;

use subflow_quantity::Instant;
use subflow_scenario::Scenario;

use crate::execute::{CpuTimer, RunError};
use crate::results::{Engine, RunResult};
use build::Run;
use capture::Capture;
use sample::Sampler;

/// What a run is to leave behind besides its figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// Write a capture per host here, as `RUN-HOST.pcapng`; the directory exists.
    pub pcap: Option<PathBuf>,
    /// Number of the run, for names of files.
    pub run: usize,
    /// Keep metrics over time ([`RunResult::series`]).
    pub series: bool,
    /// Keep every sample of every subflow ([`RunResult::paths`]); memory grows with the run.
    pub paths: bool,
}

/// Runs `scenario` once, with every random stream made from `seed`.
pub fn simulate(scenario: &Scenario, seed: u64, options: &RunOptions) -> Result<RunResult, RunError> {
    let mut run = build::build(scenario, seed, options.paths)?;
    let capture = match &options.pcap {
        Some(directory) => Some(Capture::begin(&mut run.network, scenario, &run.interfaces, directory, options.run)?),
        None => None,
    };
    let mut sampler = options.series.then(|| Sampler::new(scenario));
    let timer = CpuTimer::start();
    let measure_from = Instant::ZERO + scenario.measure_from;
    let end = Instant::ZERO + scenario.duration;
    run.go_on(scenario, measure_from, &mut sampler);
    let baseline = run.baseline();
    run.go_on(scenario, end, &mut sampler);
    let cpu_s = timer.seconds();
    if let Some(capture) = capture {
        capture.finish(&mut run.network)?;
    }
    run.world.nodes.verdict()?;
    let metrics = run.network.metrics();
    Ok(RunResult {
        seed,
        duration_s: scenario.duration.as_secs_f64(),
        flows: run.flows(scenario, &baseline, end),
        links: run.link_results(scenario, &baseline, end),
        engine: Engine { packet_hops: metrics.packet_hops, events: metrics.events, cpu_s },
        paths: if options.paths { run.path_records() } else { Vec::new() },
        real_time: None,
        series: sampler.map(Sampler::finish).unwrap_or_default(),
    })
}

impl Run {
    /// Runs until `end`, with samples on the way where they are wanted.
    fn go_on(&mut self, scenario: &Scenario, end: Instant, sampler: &mut Option<Sampler>) {
        if let Some(sampler) = sampler {
            let mut at = sampler.next(self.network.now());
            while at < end {
                self.network.run_until(&mut self.world, at);
                sampler.sample(self, scenario, at);
                at = sampler.next(at);
            }
        }
        self.network.run_until(&mut self.world, end);
    }
}
