//! One run of a scenario on the wall clock: each host a network namespace with the kernel's TCP and MPTCP, or a host
//! with our stack in this process, over the scenario's links.
//!
//! | to find | look in |
//! |---|---|
//! | what a host's kernel is told, and what it cannot be told | `settings.rs` |
//! | namespaces, listeners | `hosts.rs`; addresses and MPTCP endpoints: `addresses.rs` |
//! | flows with an end on a kernel | `kernel_flow.rs`; what that end has done: `kernel_end.rs` |
//! | the applications on kernel sockets | `application.rs`; what they send and receive: `traffic.rs` |
//! | our stack with real bytes | `userspace.rs` |
//! | from the ends to figures | `measure.rs`; metrics over time: `sample.rs` |
//! | captures | `capture.rs` |

mod addresses;
mod application;
mod capture;
mod hosts;
mod kernel_end;
mod kernel_flow;
mod measure;
mod sample;
mod settings;
mod traffic;
mod userspace;

use std::thread;

pub use subflow_linux::{DeviceKind, Interrupt as Stop, cleanup};
use subflow_linux::{Emulator, Interrupt, Needs, Priority, Provided, Wake, WallClock};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::{HostStack, Protocol, Scenario};
use subflow_transport::RandomSource;

use crate::capture::Capture;
use crate::execute::RunError;
use crate::results::RunResult;
use crate::simulate::RunOptions;
use crate::simulate::build::{Run, build_for};
use crate::simulate::figures::FlowBaseline;
use crate::simulate::sample::Sampler;
use hosts::KernelHosts;
use kernel_flow::KernelFlow;
use measure::{Baseline, Conditions};
use sample::Sampled;
use settings::Plan;
use userspace::RealWorld;

/// How often sockets are asked what they have done: a subflow that closes takes its counters with it.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);

/// Looks whether `scenario` can run here in real time, as [`emulate`] does before it makes anything.
pub fn check(scenario: &Scenario, device: Option<DeviceKind>) -> Result<(), RunError> {
    prepare(scenario, device).map(drop)
}

/// What the hosts' kernels are told, and what the machine provides; an error that says what is missing or refused.
fn prepare(scenario: &Scenario, device: Option<DeviceKind>) -> Result<(Vec<Plan>, Provided), RunError> {
    refuse_sctp(scenario)?;
    let plans = settings::plans(scenario)?;
    let provided = subflow_linux::require(&Needs { device, ..needs(scenario) });
    Ok((plans, provided.map_err(|error| RunError::failed(error.to_string()))?))
}

/// Runs `scenario` once in real time. `seed` makes the links' randomness; the random numbers of our stacks are the
/// system's. `device` is what joins kernels to the links; `None` for what the machine has. `options.paths` are the
/// simulator's alone. Ends early, with an error, when `interrupt` is raised; whatever it made is gone when it returns.
pub fn emulate(
    scenario: &Scenario,
    seed: u64,
    device: Option<DeviceKind>,
    options: &RunOptions,
    interrupt: &Interrupt,
) -> Result<RunResult, RunError> {
    let failed = |error: subflow_linux::Error| RunError::failed(error.to_string());
    // Sockets may have the congestion controls for as long as they are provided.
    let (plans, Provided { device: used, congestion: _provided }) = prepare(scenario, device)?;
    let is_kernel = |host: usize| scenario.hosts[host].stack == HostStack::Kernel;
    // What these hosts send leaves the process: nobody may be able to tell their keys and sequence numbers in advance.
    let random = RandomSource::system().map_err(|error| RunError::failed(error.to_string()))?;
    let run = build_for(scenario, seed, false, |_| random.clone(), |host| !is_kernel(host))?;
    let (hosts, devices) = KernelHosts::create(scenario, &run, &plans, used).map_err(failed)?;
    // Ends everything in this run, whoever wants it.
    let stop = Interrupt::default();
    let flows = KernelFlow::open_all(scenario, seed, &hosts).map_err(failed)?;

    subflow_linux::lock_memory();
    let cpu_before = subflow_linux::process_cpu_seconds();
    let clock = WallClock::start();
    let Run { network, world, links, interfaces } = run;
    let capture = match &options.pcap {
        Some(folder) => Some(Capture::create(scenario, &interfaces, folder, options.run)?),
        None => None,
    };
    let world = RealWorld::new(world, scenario, is_kernel);
    let mut emulator = Emulator::new(network, world, devices, clock, stop.clone());
    if let Some(capture) = &capture {
        capture::tap(capture, &mut emulator, scenario, &interfaces);
    }
    let sampler = options.series.then(|| Sampler::new(scenario));
    let sampled = Sampled { scenario, links: &links, flows: &flows };
    let watch_interval = if options.series { WATCH_INTERVAL.min(scenario.sample_interval) } else { WATCH_INTERVAL };
    let (measure_from, end) = (Instant::ZERO + scenario.measure_from, Instant::ZERO + scenario.duration);

    thread::scope(|scope| {
        for flow in &flows {
            flow.start(scope, &hosts, clock, &stop);
        }
        let engine = scope.spawn(move || drive(emulator, sampled, sampler, [measure_from, end]));
        let watch = Watch { flows: &flows, clock, measure_from, interval: watch_interval, interrupt, stop: &stop };
        let kernel_baseline = watch.until(|| engine.is_finished(), &capture);
        let outcome = engine.join();
        flows.iter().for_each(KernelFlow::watch);
        let cpu_s = subflow_linux::process_cpu_seconds() - cpu_before;
        let drops = hosts.drops();
        stop.raise();
        let driven = outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map_err(failed)?;
        check_capture(&capture)?;
        if driven.wake == Wake::Interrupted {
            return Err(RunError::failed("interrupted; what the run had made is removed"));
        }
        let conditions = Conditions {
            cpu_s,
            drops: drops.map_err(failed)?,
            device: used,
            device_was_asked_for: device.is_some(),
            real_time_priority: driven.real_time_priority,
        };
        let baseline = driven.baseline.with_kernel_ends(kernel_baseline);
        let mut emulator = driven.emulator;
        if let Some(capture) = capture {
            capture.finish(emulator.parts().0)?;
        }
        emulator.userspace().world.nodes.verdict()?;
        let result =
            measure::result(scenario, seed, &emulator, &links, &flows, &hosts, &baseline, &conditions, &plans)?;
        Ok(RunResult { series: driven.sampler.map(Sampler::finish).unwrap_or_default(), ..result })
    })
}

/// The state of the network's thread at its end.
struct Driven {
    emulator: Emulator<RealWorld>,
    real_time_priority: bool,
    baseline: Baseline,
    wake: Wake,
    sampler: Option<Sampler>,
}

/// Drives the network, in a thread of its own, until `end`. Counting begins at `measure_from`.
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

/// What is observed while the network's thread runs.
struct Watch<'a> {
    flows: &'a [KernelFlow],
    clock: WallClock,
    measure_from: Instant,
    interval: Duration,
    /// Ends the run when it is raised from outside.
    interrupt: &'a Interrupt,
    /// Ends all threads of the run.
    stop: &'a Interrupt,
}

impl Watch<'_> {
    /// Observes the sockets until the run `is_over`, and ends it early on an interrupt or if a capture fails. Returns where
    /// counting began at receivers on kernels.
    fn until(&self, is_over: impl Fn() -> bool, capture: &Option<Capture>) -> Vec<Option<FlowBaseline>> {
        let mut baseline = None;
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

/// The first error of the captures, where there are any.
fn check_capture(capture: &Option<Capture>) -> Result<(), RunError> {
    capture.as_ref().map_or(Ok(()), Capture::check)
}

/// SCTP flows have no kernel sockets here.
fn refuse_sctp(scenario: &Scenario) -> Result<(), RunError> {
    match scenario.flows.iter().find(|flow| matches!(flow.protocol, Protocol::Sctp(_))) {
        None => Ok(()),
        Some(flow) => Err(RunError::failed(format!(
            "{}: found an SCTP flow, expected tcp, mptcp or udp on Linux; SCTP runs in the simulator (without --on linux)",
            flow.name
        ))),
    }
}

/// What the machine has to have for `scenario`.
fn needs(scenario: &Scenario) -> Needs {
    let mut needs = Needs::default();
    for flow in &scenario.flows {
        let kernel = [flow.from, flow.to].iter().any(|end| scenario.hosts[end.host].stack == HostStack::Kernel);
        if !kernel {
            continue;
        }
        let congestion = match &flow.protocol {
            Protocol::Tcp(tcp) => tcp.congestion,
            Protocol::Mptcp(mptcp) => {
                needs.mptcp = true;
                mptcp.congestion
            }
            Protocol::Sctp(_) | Protocol::Udp => continue,
        };
        // Both ends are told, but only the one that sends data uses it.
        let sender = if is_request_response(flow) { flow.to } else { flow.from };
        if scenario.hosts[sender.host].stack == HostStack::Kernel {
            needs.congestion.push(congestion.name().to_owned());
        }
    }
    needs
}

fn is_request_response(flow: &subflow_scenario::Flow) -> bool {
    matches!(flow.traffic, subflow_scenario::Traffic::RequestResponse { .. })
}
