//! A network that stays until it is asked to end. Each host with a kernel is a network namespace with namespaces of
//! PIDs and mounts for its programs; one process runs the links between them, and answers requests on a socket.
//!
//! | to find | look in |
//! |---|---|
//! | what is asked and answered | `message.rs` |
//! | names, files, and the other end of the socket | `registry.rs` |
//! | the thread that runs the links, and their changes | `control.rs` |
//! | how requests are answered | `server.rs` |

mod control;
mod message;
mod registry;
mod server;

use std::sync::mpsc;
use std::thread;

use subflow_linux::{Emulator, Interrupt, KernelHost, Needs, Provided, WallClock};
use subflow_quantity::Duration;
use subflow_scenario::sweep::Plan as Runs;
use subflow_scenario::{HostStack, Scenario};
use subflow_transport::RandomSource;

use super::hosts::KernelHosts;
use super::programs::Containers;
use super::sctp::KernelSctp;
use super::settings::{Plan, has_path_manager};
use super::userspace::RealWorld;
use super::{DeviceKind, joined, paths, programs, settings};
use crate::RunError;
use crate::program_output::ProgramOutput;
use crate::simulate::build::{Run, Setup, Wires, build_for};
pub use message::{Answer, Emulation, HostStatus, NetworkStatus, ProgramStatus, Request};
pub use registry::{Claim, Client, check_name, cleanup, log_path, names, select};
use server::Server;

/// How often it is checked whether the network is to end.
const INTERVAL: std::time::Duration = std::time::Duration::from_millis(20);

/// How a network is built.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The kind of device that connects kernels to the links; `None` selects one that the machine supports.
    pub device: Option<DeviceKind>,
    /// Whether the programs of the scenario are left out.
    pub without_programs: bool,
}

/// Builds the network of a scenario and runs it until a request or `interrupt` ends it. Then everything is removed. The
/// programs of the scenario start, and what they print goes to standard error; its flows are not run. `ready` is called
/// when the network answers requests; the network ends at once if it returns false.
///
/// # Errors
///
/// The scenario is one of a sweep, or cannot be run in real time; something could not be created; a program of the
/// scenario could not be started.
pub fn hold(
    runs: &Runs,
    claim: Claim,
    options: Options,
    interrupt: &Interrupt,
    ready: impl FnOnce(&Scenario) -> bool,
) -> Result<(), RunError> {
    let scenario = scenario(runs, options)?;
    // Sockets may use the congestion controls as long as this value exists.
    let (plans, Provided { device, congestion: _provided }) = prepare(&runs.points[0].scenario, &scenario, options)?;
    let random = RandomSource::system().map_err(|error| RunError::System(error.to_string()))?;
    let run = build_for(&scenario, Setup::of_seed(scenario.seed), |_| random.clone(), |_, _| false, Wires::Routed)?;
    let (hosts, devices) = KernelHosts::create(&scenario, &run, &plans, device)?;
    let containers = Containers::create_everywhere(&scenario, &hosts)?;
    let listener = claim.listen().map_err(|error| RunError::System(format!("cannot open a socket: {error}")))?;

    subflow_linux::lock_memory();
    let drivers = paths::drivers(&scenario, scenario.seed, &hosts)?;
    let (clock, stop) = (WallClock::start(), Interrupt::default());
    let connections = containers.record_all(&scenario, &hosts, clock)?;
    let Run { network, world, links, .. } = run;
    let is_kernel = |host: usize| scenario.hosts[host].stack == HostStack::Kernel;
    let world = RealWorld::new(world, &scenario, is_kernel, KernelSctp::open_all(&scenario, &hosts)?);
    let emulator = Emulator::new(network, world, devices, clock, stop.clone());
    let (orders, received) = mpsc::channel();
    let server = Server::new(&claim, runs, &scenario, &links, &hosts, &containers, &connections, orders, clock, device);
    let output = ProgramOutput { folder: None, terminal: true };
    let outcome = thread::scope(|scope| {
        let programs = containers.start(scope, &scenario, (&output, 0), clock, &stop);
        let addresses = paths::start(drivers, scope, &scenario, &hosts, clock, &stop);
        let recording = connections.watch(scope, &stop);
        let engine = {
            let (scenario, links) = (&scenario, &links);
            scope.spawn(move || control::run(emulator, &received, scenario, links))
        };
        let answering = {
            let (server, stop) = (&server, &stop);
            scope.spawn(move || server.serve(&listener, scope, stop))
        };
        let is_wanted = ready(&scenario);
        while is_wanted && !engine.is_finished() && !stop.is_raised() && !interrupt.is_raised() {
            thread::sleep(INTERVAL);
        }
        stop.raise();
        let outcome = joined(engine).and_then(|()| addresses.into_iter().chain([recording]).try_for_each(joined));
        joined(answering);
        let ended = programs.map_or(Ok(Vec::new()), joined);
        outcome.map_err(RunError::from).and(ended.map(drop))
    });
    let waiting = server.into_waiting();
    drop(connections);
    drop(containers);
    drop(hosts);
    // Whoever hears of the end may use the name again.
    drop(claim);
    server::tell_the_end(waiting, &outcome);
    outcome
}

/// The scenario of the network: the only one of `runs`, without its flows.
fn scenario(runs: &Runs, options: Options) -> Result<Scenario, RunError> {
    let [point] = runs.points.as_slice() else {
        return Err(RunError::Scenario(format!(
            "the scenario sweeps over {}, expected one network; choose values with --set",
            runs.parameters().join(", ")
        )));
    };
    let mut scenario = Scenario::clone(&point.scenario);
    scenario.flows.clear();
    scenario.groups.clear();
    // Its results begin when it stands.
    scenario.measure_from = Duration::ZERO;
    if options.without_programs {
        scenario.programs.clear();
    }
    if !scenario.hosts.iter().any(|host| host.stack == HostStack::Kernel) {
        return Err(RunError::Scenario(
            "every host has `stack = \"subflow\"`, expected at least one with the kernel's stack, for programs"
                .to_owned(),
        ));
    }
    Ok(scenario)
}

/// The settings of the hosts' kernels, which are those for the flows of `whole`, and what the machine provides.
fn prepare(whole: &Scenario, scenario: &Scenario, options: Options) -> Result<(Vec<Plan>, Provided), RunError> {
    programs::check(scenario)?;
    let mut whole = whole.clone();
    // Flows are not run: what they would take of an existing namespace does not matter.
    whole.hosts.iter_mut().for_each(|host| host.namespace = None);
    whole.flows.retain(|flow| flow.protocol.quic().is_none());
    whole.programs.clone_from(&scenario.programs);
    let mut plans = settings::plans(&whole)?;
    for (_, plan) in plans.iter_mut().enumerate().filter(|(host, _)| !has_path_manager(scenario, *host)) {
        // The kernel's own path manager serves programs that name no other.
        plan.settings.sysctls.retain(|(name, _)| name != "mptcp/pm_type");
    }
    let provided = subflow_linux::require(&Needs { device: options.device, ..programs::needs(scenario) })?;
    Ok((plans, provided))
}

/// The host's network namespace as `ip netns exec` names it.
fn namespace_of(kernel: &KernelHost) -> String {
    kernel.namespace().name().to_owned()
}
