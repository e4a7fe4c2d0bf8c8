//! One run of a scenario in the simulator: built (`build.rs`, `stacks.rs`), driven (`world.rs`, with `nodes.rs` and
//! `application.rs`), and turned into figures (`measure.rs`, `sample.rs`).

pub(crate) mod application;
pub(crate) mod build;
mod dialogue;
mod division;
pub(crate) mod figures;
mod flow_data;
pub(crate) mod flow_series;
mod live_view;
pub(crate) mod measure;
pub(crate) mod nodes;
pub(crate) mod object_series;
mod observer;
mod page;
mod parts;
pub(crate) mod sample;
pub(crate) mod stacks;
pub(crate) mod world;

use std::ops::ControlFlow;
use std::sync::Arc;

use build::{Run, Setup};
use parts::Parts;
use sample::Sampler;
use subflow_network::{DuplexLink, Network, Stop};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::Scenario;

use crate::capture::{Capture, CaptureFolder};
use crate::event_log::{EventFolder, EventLog};
use crate::program_output::{ProgramOutput, refuse_programs};
use crate::results::{Engine, FlowResult, LinkResult, RunResult};
use crate::{CpuTimer, RunError};

pub use dialogue::ExchangeClock;
pub use division::{Division, Undivided};
pub use live_view::{LiveRun, LiveView};
pub use object_series::series_metrics;

/// What a run records in addition to its figures.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The folder for captures, if packets are captured.
    pub pcap: Option<CaptureFolder>,
    /// The folder for event logs, if what connections do is logged.
    pub events: Option<EventFolder>,
    /// Where the output of programs goes, on Linux.
    pub programs: ProgramOutput,
    /// Number of the run, for file names.
    pub run: usize,
    /// Keep metrics over time ([`RunResult::series`]).
    pub series: bool,
    /// Keep every sample of every subflow ([`RunResult::paths`]); memory grows with the run.
    pub paths: bool,
    /// The number of threads on which one run is done, if [`Division::of`] finds parts for them; 0 and 1 are one. They
    /// change nothing about the results.
    pub threads: usize,
    /// Where a simulated run shows its metrics over time while it goes on, if it keeps them. It does not change them.
    pub live: Option<LiveView>,
    /// Ends a simulated run early, with an error, within a fraction of a second.
    pub stop: Option<Stop>,
    /// Shows the waiting time of the exchanges of the flow with this index while the run, on one thread, goes on.
    pub exchange_clock: Option<(usize, Arc<ExchangeClock>)>,
}

/// The first simulated time that passes between two looks at [`RunOptions::stop`] in a run on several threads.
const FIRST_SLICE: Duration = Duration::from_micros(10);
/// The longest: what is quiet may become busy within a slice.
const LONGEST_SLICE: Duration = Duration::from_millis(100);
/// Events between two looks, about: a few hundredths of a second of CPU time.
const EVENTS_PER_SLICE: u64 = 50_000;

/// Runs `scenario` once, with every random stream made from `seed`.
pub fn simulate(scenario: &Scenario, seed: u64, options: &RunOptions) -> Result<RunResult, RunError> {
    refuse_programs(scenario)?;
    let scenario = &*scenario.drawn(seed);
    let setup = Setup { seed, record_paths: options.paths, stop: options.stop.as_ref() };
    if let Ok(division) = Division::of(scenario, options) {
        let parts = Parts::divided(scenario, setup, &division)?;
        let result = measured(parts, scenario, seed, options);
        // Parts do not know which failure is the first one of the whole run.
        if result.is_ok() || options.stop.as_ref().is_some_and(Stop::is_requested) {
            return result;
        }
    }
    measured(Parts::whole(scenario, setup)?, scenario, seed, options)
}

/// Does a run and measures it.
fn measured(mut parts: Parts, scenario: &Scenario, seed: u64, options: &RunOptions) -> Result<RunResult, RunError> {
    let capture = match &options.pcap {
        Some(folder) => {
            let run = parts.first();
            Some(Capture::begin(&mut run.network, scenario, &run.interfaces, folder, options.run)?)
        }
        None => None,
    };
    if let Some((flow, clock)) = &options.exchange_clock {
        parts.first().world.applications[*flow].show_exchanges(Arc::clone(clock));
    }
    let mut sampler = options.series.then(|| Sampler::new(scenario));
    if let (Some(sampler), Some(view)) = (&mut sampler, &options.live) {
        sampler.show_in(view.clone(), options.run);
    }
    let log =
        options.events.as_ref().map(|folder| EventLog::create(scenario, seed, folder, options.run)).transpose()?;
    let is_logged = log.is_some();
    if options.series || is_logged {
        parts.observe(scenario, log);
    }
    let timer = CpuTimer::start();
    let measure_from = Instant::ZERO + scenario.measure_from;
    let end = Instant::ZERO + scenario.duration;
    let watched = Watched { capture: capture.as_ref(), is_logged, stop: options.stop.as_ref() };
    let mut slice = FIRST_SLICE;
    run_until(&mut parts, scenario, measure_from, &mut sampler, watched, &mut slice)?;
    let baseline = parts.gathered(|run| run.begin_measuring());
    run_until(&mut parts, scenario, end, &mut sampler, watched, &mut slice)?;
    let cpu_s = timer.seconds() + parts.cpu_s;
    if let Some(capture) = capture {
        capture.finish(&mut parts.first().network)?;
    }
    parts.finish_log()?;
    parts.first().world.nodes.check_flows()?;
    let metrics = parts.metrics();
    let series = sampler.map(Sampler::finish).unwrap_or_default();
    let (seed, engine) = (seed, Engine { packet_hops: metrics.packet_hops, events: metrics.events, cpu_s });
    Ok(parts.gathered(|run| {
        run.complete_records();
        RunResult {
            seed,
            duration_s: scenario.duration.as_secs_f64(),
            flows: run.flows(scenario, &baseline, end, options.series),
            links: run.link_results(scenario, &baseline, end),
            interfaces: run.interface_results(scenario),
            engine,
            paths: if options.paths { run.path_records() } else { Vec::new() },
            real_time: None,
            series,
            sequences: if options.series { run.sequences(scenario) } else { Vec::new() },
            exchanges: run.exchanges(end),
            connections: Vec::new(),
        }
    }))
}

/// What can end a run early.
#[derive(Clone, Copy)]
struct Watched<'a> {
    capture: Option<&'a Capture>,
    is_logged: bool,
    stop: Option<&'a Stop>,
}

/// Runs until `end` and takes the samples that are due, if there is a sampler. Fails at most one sample interval after a
/// capture or an event log has failed.
fn run_until(
    parts: &mut Parts,
    scenario: &Scenario,
    end: Instant,
    sampler: &mut Option<Sampler>,
    Watched { capture, is_logged, stop }: Watched<'_>,
    slice: &mut Duration,
) -> Result<(), RunError> {
    if sampler.is_some() || capture.is_some() || is_logged {
        let mut at = parts.now() + scenario.sample_interval;
        while at < end {
            advance(parts, at, stop, slice)?;
            match sampler {
                Some(sampler) => parts.gathered(|run| sampler.sample(run, scenario, at)),
                None => parts.gathered(Run::complete_records),
            }
            capture.map_or(Ok(()), Capture::check)?;
            parts.check_log()?;
            at += scenario.sample_interval;
        }
    }
    advance(parts, end, stop, slice)
}

/// Runs until `end`. The network of a run on one thread looks for the request to stop itself. Its parts on several threads
/// go in slices of simulated time, each about as much work as the others, where they can be stopped or note what happens;
/// that changes nothing about the results. `slice` is the length of the next one.
fn advance(parts: &mut Parts, end: Instant, stop: Option<&Stop>, slice: &mut Duration) -> Result<(), RunError> {
    let check = || if stop.is_some_and(Stop::is_requested) { Err(RunError::STOPPED) } else { Ok(()) };
    if !parts.are_several() || stop.is_none() && !parts.note_data() {
        parts.run_until(end)?;
        return check();
    }
    loop {
        check()?;
        let before = parts.events();
        parts.run_until((parts.now() + *slice).min(end))?;
        match parts.events() - before {
            events if events > EVENTS_PER_SLICE => *slice = (*slice / 2).max(Duration::from_nanos(1)),
            events if events < EVENTS_PER_SLICE / 2 => *slice = slice.saturating_mul(2).min(LONGEST_SLICE),
            _ => {}
        }
        if parts.now() >= end {
            return Ok(());
        }
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
    Err(RunError::TooLarge(format!("more than {} packets are in the network at once{longest}", Network::MOST_PACKETS)))
}

/// Runs `scenario` as [`simulate`] does, and passes the figures of its flows and links at each of `instants`
/// to `look`. They are those of a run that ends then, so that one run serves for several durations. The instants rise from
/// the scenario's `measure_from` to at most its duration. The run ends after the last of them, or as soon as `look`
/// breaks: what happens after a transfer whose end is all that is asked for need not be simulated.
///
/// # Errors
///
/// Where the run fails.
pub fn simulate_flows(
    scenario: &Scenario,
    seed: u64,
    instants: impl IntoIterator<Item = Duration>,
    mut look: impl FnMut(Vec<FlowResult>, Vec<LinkResult>) -> ControlFlow<()>,
) -> Result<(), RunError> {
    let scenario = &*scenario.drawn(seed);
    let mut parts = Parts::whole(scenario, Setup::of_seed(seed))?;
    parts.run_until(Instant::ZERO + scenario.measure_from)?;
    let baseline = parts.gathered(|run| run.begin_measuring());
    for at in instants {
        debug_assert!((scenario.measure_from..=scenario.duration).contains(&at), "{at:?} is not measured");
        let end = Instant::ZERO + at;
        parts.run_until(end)?;
        parts.first().world.nodes.check_flows()?;
        let figures =
            |run: &mut Run| (run.flows(scenario, &baseline, end, false), run.link_results(scenario, &baseline, end));
        let (flows, links) = parts.gathered(figures);
        if look(flows, links).is_break() {
            break;
        }
    }
    Ok(())
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
            assert_eq!(simulate(&two_lossy_paths(), 3, &options), Err(RunError::Stopped("stopped on request")));
        }
    }

    /// A file that takes some two seconds, beside datagrams without end.
    fn file_and_datagrams(duration_s: u64) -> Scenario {
        let text = format!(
            "duration = \"{duration_s} s\"\nwarm_up = \"500 ms\"\n[hosts]\na = [\"x\", \"y\"]\nb = [\"x\", \"y\"]\n\
             [links.one]\nbetween = [\"a.x\", \"b.x\"]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nloss = \"1 %\"\n\
             [links.two]\nbetween = [\"a.y\", \"b.y\"]\nrate = \"5 Mbit/s\"\ndelay = \"40 ms\"\n\
             [flows.file]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"mptcp\"\nsend = \"2 MB\"\n\
             [flows.datagrams]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"udp\"\n\
             on_off = {{ rate = \"2 Mbit/s\", on = {{ exponential = \"1 s\" }}, off = {{ exponential = \"1 s\" }} }}\n"
        );
        let document = Document::parse(Path::new("file.toml"), text).expect("TOML");
        Scenario::read(&document).expect("a good scenario")
    }

    fn whole(duration_s: u64) -> RunResult {
        simulate(&file_and_datagrams(duration_s), 5, &RunOptions::default()).expect("it runs")
    }

    #[test]
    fn figures_at_an_instant_are_those_of_a_run_that_ends_then() {
        let mut seen = Vec::new();
        let look = |flows, links| {
            seen.push((flows, links));
            ControlFlow::Continue(())
        };
        simulate_flows(&file_and_datagrams(9), 5, [1, 4, 9].map(Duration::from_secs), look).expect("it runs");
        assert_eq!(seen, [1, 4, 9].map(whole).map(|run| (run.flows, run.links)));
        assert!(seen[0].0[0].completion_s.is_none() && seen[1].0[0].completion_s.is_some());
        assert!(seen[0].1[0].packets > 0);
    }

    #[test]
    fn a_run_ends_when_its_figures_suffice() {
        let mut looks = 0;
        let mut file = None;
        let look = |flows: Vec<FlowResult>, _| {
            looks += 1;
            file = flows.into_iter().find(|flow| flow.completion_s.is_some());
            if file.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        simulate_flows(&file_and_datagrams(9), 5, (1..=9).map(Duration::from_secs), look).expect("it runs");
        assert!((2..6).contains(&looks), "{looks} looks");
        let (file, whole) = (file.expect("the file arrives"), whole(9).flows.swap_remove(0));
        assert_eq!((file.goodput_mbps, file.completion_s), (whole.goodput_mbps, whole.completion_s));
    }
}
