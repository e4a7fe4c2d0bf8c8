//! One run of a scenario in the simulator: built (`build.rs`, `stacks.rs`), driven (`world.rs`, with `nodes.rs` and
//! `application.rs`), and turned into figures (`measure.rs`, `sample.rs`).

mod application;
pub(crate) mod build;
pub(crate) mod figures;
pub(crate) mod measure;
pub(crate) mod nodes;
pub(crate) mod path_sample;
pub(crate) mod sample;
mod sctp;
mod stacks;
pub(crate) mod subflow_figures;
pub(crate) mod world;

use subflow_quantity::Instant;
use subflow_scenario::Scenario;

use crate::capture::{Capture, CaptureFolder};
use crate::execute::{CpuTimer, RunError};
use crate::results::{Engine, RunResult};
use build::Run;
use sample::Sampler;

/// What a run records in addition to its figures.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The folder for captures, if packets are captured.
    pub pcap: Option<CaptureFolder>,
    /// Number of the run, for file names.
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
        Some(folder) => Some(Capture::begin(&mut run.network, scenario, &run.interfaces, folder, options.run)?),
        None => None,
    };
    let mut sampler = options.series.then(|| Sampler::new(scenario));
    let timer = CpuTimer::start();
    let measure_from = Instant::ZERO + scenario.measure_from;
    let end = Instant::ZERO + scenario.duration;
    run.run_until(scenario, measure_from, &mut sampler, capture.as_ref())?;
    let baseline = run.baseline();
    run.run_until(scenario, end, &mut sampler, capture.as_ref())?;
    let cpu_s = timer.seconds();
    if let Some(capture) = capture {
        capture.finish(&mut run.network)?;
    }
    run.world.nodes.check_flows()?;
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
    /// Runs until `end` and takes the samples that are due, if there is a sampler. Fails at most one sample interval
    /// after a capture has failed.
    fn run_until(
        &mut self,
        scenario: &Scenario,
        end: Instant,
        sampler: &mut Option<Sampler>,
        capture: Option<&Capture>,
    ) -> Result<(), RunError> {
        if sampler.is_some() || capture.is_some() {
            let mut at = self.network.now() + scenario.sample_interval;
            while at < end {
                self.network.run_until(&mut self.world, at);
                if let Some(sampler) = sampler {
                    sampler.sample(self, scenario, at);
                }
                capture.map_or(Ok(()), Capture::check)?;
                at += scenario.sample_interval;
            }
        }
        self.network.run_until(&mut self.world, end);
        Ok(())
    }
}
