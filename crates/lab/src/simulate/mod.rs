//! One run of a scenario in the simulator: built (`build.rs`, `stacks.rs`), driven (`world.rs`, with `nodes.rs` and
//! `application.rs`), and turned into figures (`measure.rs`, `sample.rs`).

mod application;
pub(crate) mod build;
mod data_path;
pub(crate) mod figures;
pub(crate) mod measure;
pub(crate) mod nodes;
pub(crate) mod path_sample;
pub(crate) mod sample;
mod sctp;
pub(crate) mod stacks;
pub(crate) mod subflow_figures;
pub(crate) mod world;

use subflow_network::{DuplexLink, Network};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::{Flow, Scenario};

use crate::capture::{Capture, CaptureFolder};
use crate::results::{Engine, RunResult};
use crate::{CpuTimer, RunError, Stop};
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
    /// Ends a simulated run early, with an error, within a fraction of a second.
    pub stop: Option<Stop>,
}

/// The first simulated time that passes between two looks at [`RunOptions::stop`].
const FIRST_SLICE: Duration = Duration::from_millis(1);
/// The longest: what is quiet may become busy within a slice.
const LONGEST_SLICE: Duration = Duration::from_millis(100);
/// Events between two looks, about: a few hundredths of a second of CPU time.
const EVENTS_PER_SLICE: u64 = 50_000;

/// Runs `scenario` once, with every random stream made from `seed`.
pub fn simulate(scenario: &Scenario, seed: u64, options: &RunOptions) -> Result<RunResult, RunError> {
    let mut run = build::build(scenario, seed, options.paths)?;
    let capture = match &options.pcap {
        Some(folder) => Some(Capture::begin(&mut run.network, scenario, &run.interfaces, folder, options.run)?),
        None => None,
    };
    let mut sampler = options.series.then(|| Sampler::new(scenario));
    if options.series {
        run.world.nodes.record_data(scenario.flows.iter().map(Flow::data_sender));
    }
    let timer = CpuTimer::start();
    let measure_from = Instant::ZERO + scenario.measure_from;
    let end = Instant::ZERO + scenario.duration;
    let watched = Watched { capture: capture.as_ref(), stop: options.stop.as_ref() };
    run.run_until(scenario, measure_from, &mut sampler, watched)?;
    let baseline = run.baseline();
    run.run_until(scenario, end, &mut sampler, watched)?;
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

/// What can end a run early.
#[derive(Clone, Copy)]
struct Watched<'a> {
    capture: Option<&'a Capture>,
    stop: Option<&'a Stop>,
}

impl Run {
    /// Runs until `end` and takes the samples that are due, if there is a sampler. Fails at most one sample interval
    /// after a capture has failed.
    fn run_until(
        &mut self,
        scenario: &Scenario,
        end: Instant,
        sampler: &mut Option<Sampler>,
        Watched { capture, stop }: Watched<'_>,
    ) -> Result<(), RunError> {
        if sampler.is_some() || capture.is_some() {
            let mut at = self.network.now() + scenario.sample_interval;
            while at < end {
                self.advance(at, stop)?;
                if let Some(sampler) = sampler {
                    sampler.sample(self, scenario, at);
                }
                capture.map_or(Ok(()), Capture::check)?;
                at += scenario.sample_interval;
            }
        }
        self.advance(end, stop)
    }

    /// Runs until `end`. Where the run can be stopped it goes in slices of simulated time, each about as much work as
    /// the others; that changes nothing about the results.
    fn advance(&mut self, end: Instant, stop: Option<&Stop>) -> Result<(), RunError> {
        let mut slice = FIRST_SLICE;
        while let Some(stop) = stop {
            if stop.is_requested() {
                return Err(RunError::failed("stopped on request"));
            }
            let at = self.network.now() + slice;
            if at >= end {
                break;
            }
            let before = self.network.metrics().events;
            self.network.run_until(&mut self.world, at);
            check_size(&self.network, &self.links)?;
            match self.network.metrics().events - before {
                events if events > EVENTS_PER_SLICE => slice = (slice / 2).max(Duration::from_nanos(1)),
                events if events < EVENTS_PER_SLICE / 2 => slice = slice.saturating_mul(2).min(LONGEST_SLICE),
                _ => {}
            }
        }
        self.network.run_until(&mut self.world, end);
        check_size(&self.network, &self.links)
    }
}

/// Fails if packets have filled the memory that the network may take: the figures of the run are not valid then.
pub(crate) fn check_size(network: &Network, links: &[DuplexLink]) -> Result<(), RunError> {
    if !network.has_overflowed() {
        return Ok(());
    }
    let directions = links.iter().flat_map(|link| [link.forward, link.backward]);
    let longest = directions.max_by_key(|&link| network.queue_length(link));
    let longest = longest.map_or_else(String::new, |link| {
        format!("; most of them wait for links.{}: limit its queue", network.link_name(link))
    });
    Err(RunError::failed(format!("more than {} packets are in the network at once{longest}", Network::MOST_PACKETS)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::file::Document;

    use super::*;

    fn two_lossy_paths() -> Scenario {
        let text = "duration = \"5 s\"\n[hosts]\na = [\"x\", \"y\"]\nb = [\"x\", \"y\"]\n\
                    [links.one]\nbetween = [\"a.x\", \"b.x\"]\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nloss = \"1 %\"\n\
                    [links.two]\nbetween = [\"a.y\", \"b.y\"]\nrate = \"5 Mbit/s\"\ndelay = \"40 ms\"\nloss = \"1 %\"\n\
                    [flows.file]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"mptcp\"\n";
        let document = Document::parse(Path::new("two.toml"), text.to_owned()).expect("TOML");
        Scenario::read(&document).expect("a good scenario")
    }

    #[test]
    fn a_run_that_can_be_stopped_has_the_same_results() {
        let scenario = two_lossy_paths();
        let plain = simulate(&scenario, 3, &RunOptions::default()).expect("it runs");
        let options = RunOptions { stop: Some(Stop::default()), ..RunOptions::default() };
        let sliced = simulate(&scenario, 3, &options).expect("it runs");
        let engine = Engine { cpu_s: 0.0, ..plain.engine };
        assert_eq!(RunResult { engine, ..plain }, RunResult { engine, ..sliced.clone() });
        assert_eq!(sliced.engine.events, engine.events);
    }

    #[test]
    fn packets_that_fill_the_memory_end_the_run() {
        let text = "duration = \"3000 s\"\n[hosts]\na = [\"x\"]\nb = [\"x\"]\n\
                    [links.slow]\nbetween = [\"a.x\", \"b.x\"]\nrate = \"1 bit/s\"\nqueue = \"unlimited\"\n\
                    [flows.datagrams]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"udp\"\n\
                    on_off = { rate = \"10 Mbit/s\", packet = \"1400 B\" }\n";
        let document = Document::parse(Path::new("slow.toml"), text.to_owned()).expect("TOML");
        let scenario = Scenario::read(&document).expect("a good scenario");
        let error = simulate(&scenario, 1, &RunOptions::default()).expect_err("too many packets").to_string();
        assert!(error.contains("2000000 packets") && error.contains("links.slow"), "{error}");
    }

    #[test]
    fn a_run_that_is_asked_to_stop_has_no_results() {
        let stop = Stop::default();
        stop.request();
        for series in [false, true] {
            let options = RunOptions { stop: Some(stop.clone()), series, ..RunOptions::default() };
            assert_eq!(simulate(&two_lossy_paths(), 3, &options), Err(RunError::failed("stopped on request")));
        }
    }
}
