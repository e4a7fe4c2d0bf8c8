//! One run of a scenario on the wall clock: each host a network namespace with the kernel's TCP and MPTCP, or a host
//! with our stack in this process, over the scenario's links.
//!
//! | to find | look in |
//! |---|---|
//! | what a host's kernel is told, and what it cannot be told | `settings.rs` |
//! | namespaces, listeners | `hosts.rs`; addresses and MPTCP endpoints: `addresses.rs` |
//! | the applications on kernel sockets | `application.rs`; what they have done: `kernel_end.rs` |
//! | our stack with real bytes | `userspace.rs` |
//! | from the ends to figures | `measure.rs`; metrics over time: `sample.rs` |
//! | captures | `capture.rs` |

mod addresses;
mod application;
mod capture;
mod hosts;
mod kernel_end;
mod measure;
mod sample;
mod settings;
mod userspace;

use std::thread;

pub use subflow_linux::{DeviceKind, Interrupt as Stop, cleanup};
use subflow_linux::{Emulator, Interrupt, Needs, Priority, Provided, Wake, WallClock};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::{HostStack, Protocol, Scenario};
use subflow_transport::RandomSource;

use crate::execute::RunError;
use crate::results::RunResult;
use crate::simulate::RunOptions;
use crate::simulate::build::{Run, build_for};
use crate::simulate::capture::Capture;
use crate::simulate::sample::Sampler;
use application::KernelFlow;
use hosts::KernelHosts;
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
        Some(directory) => Some(Capture::create(scenario, &interfaces, directory, options.run)?),
        None => None,
    };
    let world = RealWorld::new(world, scenario, is_kernel);
    let mut emulator = Emulator::new(network, world, devices, clock, stop.clone());
    if let Some(capture) = &capture {
        capture::tap(capture, &mut emulator, scenario, &interfaces);
    }
    let mut sampler = options.series.then(|| Sampler::new(scenario));
    let sampled = Sampled { scenario, links: &links, flows: &flows };
    let watch_interval = if options.series { WATCH_INTERVAL.min(scenario.sample_interval) } else { WATCH_INTERVAL };
    let (measure_from, end) = (Instant::ZERO + scenario.measure_from, Instant::ZERO + scenario.duration);

    thread::scope(|scope| {
        for flow in &flows {
            flow.start(scope, &hosts, clock, &stop);
        }
        let engine = scope.spawn(move || {
            let real_time_priority = Priority::Network.take();
            {
                let (network, world) = emulator.parts();
                world.open_datagram_receivers(network);
            }
            sampled.run_until(&mut emulator, measure_from, &mut sampler)?;
            let baseline = Baseline::of_links_and_our_ends(&emulator, scenario, sampled.links);
            let wake = sampled.run_until(&mut emulator, end, &mut sampler)?;
            Ok((emulator, real_time_priority, baseline, wake, sampler))
        });
        let mut kernel_baseline = None;
        while !engine.is_finished() {
            thread::sleep(std::time::Duration::from_nanos(watch_interval.as_nanos()));
            if kernel_baseline.is_none() && clock.now() >= measure_from {
                kernel_baseline = Some(flows.iter().map(KernelFlow::baseline).collect());
            }
            flows.iter().for_each(KernelFlow::watch);
            if interrupt.is_raised() {
                stop.raise();
            }
        }
        let outcome = engine.join();
        flows.iter().for_each(KernelFlow::watch);
        let cpu_s = subflow_linux::process_cpu_seconds() - cpu_before;
        let conditions = hosts.drops().map(|drops| Conditions {
            cpu_s,
            drops,
            device: used,
            device_was_asked_for: device.is_some(),
            real_time_priority: false,
        });
        stop.raise();
        let outcome = outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let (mut emulator, real_time_priority, baseline, wake, sampler) = outcome.map_err(failed)?;
        if wake == Wake::Interrupted {
            return Err(RunError::failed("interrupted; what the run had made is removed"));
        }
        let conditions = Conditions { real_time_priority, ..conditions.map_err(failed)? };
        let baseline = baseline.with_kernel_ends(kernel_baseline.unwrap_or_default());
        if let Some(capture) = capture {
            capture.finish(emulator.parts().0)?;
        }
        emulator.userspace().world.nodes.verdict()?;
        let result =
            measure::result(scenario, seed, &emulator, &links, &flows, &hosts, &baseline, &conditions, &plans)?;
        Ok(RunResult { series: sampler.map(Sampler::finish).unwrap_or_default(), ..result })
    })
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
