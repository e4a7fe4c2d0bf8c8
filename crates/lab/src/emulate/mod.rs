//! One run of a scenario in real time. Each host is a network namespace with the kernel's TCP and MPTCP, or a host in
//! this process with our stack. The scenario's links connect them.
//!
//! | to find | look in |
//! |---|---|
//! | settings of a host's kernel, and those that it does not have | `settings.rs` |
//! | namespaces, listeners | `hosts.rs` |
//! | path managers of kernels, and their addresses that come and go | `paths.rs` |
//! | flows with an end on a kernel | `kernel_flow.rs`; the figures of that end: `kernel_end.rs` |
//! | the applications on kernel sockets | `application.rs`; their traffic: `traffic.rs` |
//! | our stack with real bytes | `userspace.rs`; SCTP on hosts with a kernel: `sctp.rs` |
//! | the figures of a run | `measure.rs`; metrics over time: `sample.rs` |
//! | captures | `capture.rs` |
//! | programs in hosts | `programs/`; their connections: `connections/`, `bottlenecks.rs` |
//! | a network that stays until it is asked to end | `persistent/` |
//! | switches in place of routers, with the controller's settings, and what they count | `switched.rs` |

mod application;
pub mod bottlenecks;
mod capture;
mod connections;
mod hosts;
mod kernel_end;
mod kernel_flow;
mod measure;
mod paths;
pub mod persistent;
mod programs;
mod sample;
mod sctp;
mod settings;
mod switched;
mod traffic;
mod unopened;
mod userspace;

use std::thread;

use subflow_linux::{Device, Emulator, Interrupt, Needs, Priority, Provided, Wake, WallClock};
pub use subflow_linux::{DeviceKind, Interrupt as Stop, cleanup, device_in_use, kernel_release};
use subflow_network::{HostId, InterfaceId};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::{Flow, HostStack, Scenario};
use subflow_transport::RandomSource;
pub use switched::SwitchOptions;

use crate::RunError;
use crate::capture::Capture;
use crate::results::{ProgramResult, RunResult, SwitchReport};
use crate::simulate::build::{Run, Setup, Wires, build_for};
use crate::simulate::figures::FlowBaseline;
use crate::simulate::sample::Sampler;
use crate::simulate::{RunOptions, check_size};
use connections::{Connections, Recorded};
use hosts::KernelHosts;
use kernel_flow::KernelFlow;
use measure::{Baseline, Conditions};
use programs::Containers;
use sample::Sampled;
use sctp::KernelSctp;
use settings::Plan;
use switched::Switched;
use userspace::RealWorld;

/// Interval at which the figures of sockets are read: the counters of a subflow are lost when it closes.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);

/// What joins hosts and links.
#[derive(Clone, Debug, Default)]
pub struct Machinery {
    /// The kind of device that connects kernels to the links; `None` selects one that the machine supports.
    pub device: Option<DeviceKind>,
    /// Switches in place of the scenario's routers. Default: the routers are the simulator's.
    pub switches: Option<SwitchOptions>,
}

/// Checks that `scenario` can run here in real time, as [`emulate`] does before it creates anything.
pub fn check(scenario: &Scenario, machinery: &Machinery) -> Result<(), RunError> {
    prepare(scenario, machinery).map(drop)
}

/// The settings of the hosts' kernels, and what the machine provides. Fails if something is missing or not supported.
fn prepare(scenario: &Scenario, machinery: &Machinery) -> Result<(Vec<Plan>, Provided), RunError> {
    let device = machinery.device;
    if let Some(options) = &machinery.switches {
        switched::check(scenario, device, options)?;
    }
    programs::check(scenario)?;
    let plans = settings::plans(scenario)?;
    let provided = subflow_linux::require(&Needs { device, ..needs(scenario) });
    Ok((plans, provided?))
}

/// Runs `scenario` once in real time. The random numbers of the links come from `seed`, those of our stacks from the
/// system. `machinery` states what joins hosts and links. `options.paths` has an effect in the simulator only. When
/// `interrupt` is raised, the run ends early with an error. Everything that it created is removed when it returns.
pub fn emulate(
    scenario: &Scenario,
    seed: u64,
    machinery: &Machinery,
    options: &RunOptions,
    interrupt: &Interrupt,
) -> Result<RunResult, RunError> {
    emulate_drawn(&scenario.drawn(seed), seed, machinery, options, interrupt)
}

/// Runs a scenario whose flows have their starts and sizes.
fn emulate_drawn(
    scenario: &Scenario,
    seed: u64,
    machinery: &Machinery,
    options: &RunOptions,
    interrupt: &Interrupt,
) -> Result<RunResult, RunError> {
    // Sockets may use the congestion controls as long as this value exists.
    let (plans, Provided { device: used, congestion: _provided }) = prepare(scenario, machinery)?;
    let is_kernel = |host: usize| scenario.hosts[host].stack == HostStack::Kernel;
    let Wired { run, hosts, devices, switched } = wire(scenario, seed, machinery, &plans, used, interrupt)?;
    // Any thread can end the run with this.
    let stop = Interrupt::default();
    let flows = KernelFlow::open_all(scenario, seed, &hosts)?;
    let drivers = paths::drivers(scenario, seed, &hosts)?;
    let containers = Containers::create(scenario, &hosts)?;

    subflow_linux::lock_memory();
    let cpu_before = cpu_seconds(&switched);
    let clock = WallClock::start();
    let connections = containers.record(scenario, &hosts, options.series, clock)?;
    let Run { network, world, links, interfaces } = run;
    let create = |folder| Capture::create(scenario, &interfaces, folder, options.run);
    let capture = options.pcap.as_ref().map(create).transpose()?;
    let world = RealWorld::new(world, scenario, is_kernel, KernelSctp::open_all(scenario, &hosts)?);
    let mut emulator = Emulator::new(network, world, devices, clock, stop.clone());
    if let Some(switched) = &switched {
        emulator.set_far_devices(switched.far_devices(&interfaces, is_kernel));
    }
    if let Some(capture) = &capture {
        capture::tap(capture, &mut emulator, scenario, &interfaces);
    }
    let sampler = options.series.then(|| Sampler::new(scenario));
    let sampled = Sampled { scenario, links: &links, flows: &flows };
    let watch_interval = if options.series { WATCH_INTERVAL.min(scenario.sample_interval) } else { WATCH_INTERVAL };
    let (measure_from, end) = (Instant::ZERO + scenario.measure_from, Instant::ZERO + scenario.duration);

    thread::scope(|scope| {
        for flow in &flows {
            application::start(flow, scope, &hosts, clock, &stop);
        }
        let programs = containers.start(scope, scenario, (&options.programs, options.run), clock, &stop);
        let recording = connections.as_ref().map(|connections| connections.watch(scope, &stop));
        let managing = paths::start(drivers, scope, scenario, &hosts, clock, &stop);
        if let Some(switched) = &switched {
            let stop = &stop;
            scope.spawn(move || switched.follow_timeline(scenario, clock, stop));
        }
        let engine = scope.spawn(move || drive(emulator, sampled, sampler, [measure_from, end]));
        let watch = Watch { flows: &flows, clock, measure_from, interval: watch_interval, interrupt, stop: &stop };
        let kernel_baseline = watch.until(|| engine.is_finished(), &capture);
        let outcome = joined(engine);
        flows.iter().for_each(KernelFlow::watch);
        let recorded = connections.as_ref().map_or_else(|| Ok(Recorded::default()), Connections::recorded);
        let cpu_s = cpu_seconds(&switched) - cpu_before;
        let drops = hosts.drops();
        stop.raise();
        let managed = managing.into_iter().chain(recording).try_for_each(joined);
        let programs = programs.map_or(Ok(Vec::new()), joined);
        let driven = outcome?;
        let programs = managed.map_err(RunError::from).and(programs)?;
        check_end(driven.wake, &capture)?;
        let conditions = Conditions {
            cpu_s,
            drops: drops?,
            device: used,
            device_was_asked_for: machinery.device.is_some(),
            real_time_priority: driven.real_time_priority,
        };
        let mut emulator = driven.emulator;
        let baseline = driven.baseline.with_kernel_ends(kernel_baseline, emulator.network());
        capture.map_or(Ok(()), |capture| capture.finish(emulator.parts().0))?;
        check_size(emulator.parts().0, &links)?;
        emulator.userspace().world.nodes.check_flows()?;
        let mut result =
            measure::result(scenario, seed, &emulator, &links, &flows, &hosts, &baseline, &conditions, &plans)?;
        result.series = driven.sampler.map(Sampler::finish).unwrap_or_default();
        let switches = switched.as_ref().map(|used| switched::report(used, scenario)).transpose()?;
        Ok(with_reports(result, programs, recorded?, switches))
    })
}

/// The result with what programs and switches report, and with the connections of the programs.
fn with_reports(
    mut result: RunResult,
    mut programs: Vec<ProgramResult>,
    recorded: Recorded,
    switches: Option<SwitchReport>,
) -> RunResult {
    connections::add_totals(&mut programs, &recorded.connections);
    result.flows.extend(recorded.flows);
    result.series.extend(recorded.series);
    // Those of SCTP are there, and last.
    result.connections.splice(..0, recorded.connections);
    if let Some(used) = &mut result.real_time {
        (used.programs, used.switches) = (programs, switches);
        used.notes.extend(recorded.notes);
    }
    result
}

/// The network of a run with its hosts.
struct Wired {
    run: Run,
    hosts: KernelHosts,
    devices: Vec<(HostId, InterfaceId, Device)>,
    switched: Option<Switched>,
}

/// Creates the hosts, and the switches if there are any; then the controller has found all links and hosts.
fn wire(
    scenario: &Scenario,
    seed: u64,
    machinery: &Machinery,
    plans: &[Plan],
    device: DeviceKind,
    interrupt: &Interrupt,
) -> Result<Wired, RunError> {
    // The packets of these hosts leave the process: their keys and sequence numbers must be unpredictable.
    let random = RandomSource::system().map_err(|error| RunError::System(error.to_string()))?;
    let mut switched = match &machinery.switches {
        Some(options) => Some(Switched::start(scenario, seed, options)?),
        None => None,
    };
    let (wired, wires) = match &switched {
        Some(switched) => (&switched.scenario, Wires::PointToPoint),
        None => (scenario, Wires::Routed),
    };
    let ours = |flow: &Flow, host: usize| is_ours(scenario, flow, host);
    let run = build_for(wired, Setup::of_seed(seed), |_| random.clone(), ours, wires)?;
    let (hosts, mut devices) = KernelHosts::create(scenario, &run, plans, device)?;
    if let Some(switched) = &mut switched {
        devices.extend(switched.discover(seed, &random, interrupt)?);
    }
    Ok(Wired { run, hosts, devices, switched })
}

/// CPU seconds of this process and of the switches.
fn cpu_seconds(switched: &Option<Switched>) -> f64 {
    let switches = switched.as_ref().map_or(0.0, |switched| switched.switches.cpu_seconds());
    subflow_linux::process_cpu_seconds() + switches
}

/// The state of the network's thread at its end.
struct Driven {
    emulator: Emulator<RealWorld>,
    real_time_priority: bool,
    baseline: Baseline,
    wake: Wake,
    sampler: Option<Sampler>,
}

/// Runs the network in its own thread until `end`. Measuring begins at `measure_from`.
fn drive(
    mut emulator: Emulator<RealWorld>,
    sampled: Sampled<'_>,
    mut sampler: Option<Sampler>,
    [measure_from, end]: [Instant; 2],
) -> subflow_linux::Result<Driven> {
    let real_time_priority = Priority::Network.take();
    {
        let (network, world) = emulator.parts();
        world.open_datagram_receivers(network);
    }
    sampled.run_until(&mut emulator, measure_from, &mut sampler)?;
    let baseline = Baseline::of_links_and_our_ends(&emulator, sampled.scenario, sampled.links);
    let wake = sampled.run_until(&mut emulator, end, &mut sampler)?;
    Ok(Driven { emulator, real_time_priority, baseline, wake, sampler })
}

/// Observes the run while the network's thread drives it.
struct Watch<'a> {
    flows: &'a [KernelFlow],
    clock: WallClock,
    measure_from: Instant,
    interval: Duration,
    /// Raised from outside to end the run.
    interrupt: &'a Interrupt,
    /// Raised to end all threads of the run.
    stop: &'a Interrupt,
}

impl Watch<'_> {
    /// Observes the sockets until the run `is_over`, and ends it early on an interrupt or if a capture fails. Returns
    /// what receivers on kernels had received when measuring began: nothing without a warm-up, of which the first look
    /// at the sockets comes too late to be sure.
    fn until(&self, is_over: impl Fn() -> bool, capture: &Option<Capture>) -> Vec<Option<FlowBaseline>> {
        let mut baseline = (self.measure_from == Instant::ZERO).then(Vec::new);
        while !is_over() {
            thread::sleep(std::time::Duration::from_nanos(self.interval.as_nanos()));
            if baseline.is_none() && self.clock.now() >= self.measure_from {
                baseline = Some(self.flows.iter().map(KernelFlow::baseline).collect());
            }
            self.flows.iter().for_each(KernelFlow::watch);
            if self.interrupt.is_raised() || check_capture(capture).is_err() {
                self.stop.raise();
            }
        }
        baseline.unwrap_or_default()
    }
}

/// The outcome of a thread.
fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Fails if the run was ended before its time: by the first error of the captures, or on request.
fn check_end(wake: Wake, capture: &Option<Capture>) -> Result<(), RunError> {
    check_capture(capture)?;
    match wake {
        Wake::Interrupted => Err(RunError::Stopped("interrupted; everything that the run had created is removed")),
        Wake::Time | Wake::Done => Ok(()),
    }
}

/// Fails with the first error of the captures, if there are any.
fn check_capture(capture: &Option<Capture>) -> Result<(), RunError> {
    capture.as_ref().map_or(Ok(()), Capture::check)
}

/// Whether `flow` uses our stack on `host`: there are no SCTP sockets of kernels here.
fn is_ours(scenario: &Scenario, flow: &Flow, host: usize) -> bool {
    scenario.hosts[host].stack == HostStack::Subflow || flow.protocol.sctp().is_some()
}

/// The features that `scenario` needs from the machine.
fn needs(scenario: &Scenario) -> Needs {
    let mut needs = programs::needs(scenario);
    for flow in &scenario.flows {
        let kernel = [flow.from, flow.to].iter().any(|end| scenario.hosts[end.host].stack == HostStack::Kernel);
        if !kernel {
            continue;
        }
        let Some(congestion) = flow.congestion().filter(|_| flow.protocol.sctp().is_none()) else { continue };
        needs.mptcp |= flow.protocol.mptcp().is_some();
        // Both ends have the setting, but only the sender of data uses it.
        if is_sent_by_kernel(scenario, flow) {
            needs.congestion.push(congestion.name().to_owned());
        }
    }
    needs
}

/// Whether the kernel of a host sends the data of `flow`.
fn is_sent_by_kernel(scenario: &Scenario, flow: &Flow) -> bool {
    let sender = if flow.is_answered() { flow.to } else { flow.from };
    scenario.hosts[sender.host].stack == HostStack::Kernel
}
