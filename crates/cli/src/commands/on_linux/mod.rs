//! Commands that need Linux, and their error on other systems.

use std::path::Path;

use subflow_lab::execute::Progress;
use subflow_lab::results::{Experiment, RunResult};
use subflow_lab::simulate::RunOptions;
use subflow_lab::{RunError, Stop};
use subflow_publications::{OnLinux, Paper, Request};
use subflow_scenario::sweep::{Job, Plan};

#[cfg(target_os = "linux")]
use subflow_lab::{
    benchmark::TunThroughput,
    emulate,
    execute::{execute_with, run_job_with},
    validation::{self, CASES, Case},
};
#[cfg(target_os = "linux")]
use subflow_publications::{Emulator, Routers, reproduce_on_linux};
#[cfg(target_os = "linux")]
use subflow_scenario::Scenario;
#[cfg(target_os = "linux")]
use subflow_scenario::file::{did_you_mean, list};

#[cfg(target_os = "linux")]
use super::signals;
#[cfg(target_os = "linux")]
use crate::arguments::{BenchFormat, Switches};
use crate::arguments::{BenchTun, Device, Run, Validate};
use crate::failure::Failure;

/// Checks that every point of a plan can run in real time here: the last one may start hours after the first.
#[cfg(target_os = "linux")]
pub(crate) fn check(plan: &Plan, arguments: &Run) -> Result<(), Failure> {
    let machinery = machinery(arguments);
    let mut jobs = plan.jobs();
    jobs.dedup_by_key(|job| job.point);
    for job in jobs {
        let scenario = &plan.points[job.point].scenario;
        emulate::check(scenario, &machinery).map_err(|error| error.in_job(plan, job))?;
    }
    Ok(())
}

/// Runs a plan in real time, one run after the other.
#[cfg(target_os = "linux")]
pub(crate) fn execute(
    plan: &Plan,
    arguments: &Run,
    options: &RunOptions,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Experiment, Failure> {
    let machinery = machinery(arguments);
    let stop = stop_on_signals()?;
    Ok(execute_with(plan, 1, options, progress, |scenario, seed, options| {
        emulate::emulate(scenario, seed, &machinery, options, &stop)
    })?)
}

/// How a run of a plan is done in real time, until `stop` is requested.
#[cfg(target_os = "linux")]
pub(crate) fn runner<'a>(
    plan: &'a Plan,
    arguments: &Run,
    options: &'a RunOptions,
    stop: &Stop,
) -> impl Fn(Job) -> Result<RunResult, RunError> + Sync + use<'a> {
    let machinery = machinery(arguments);
    let stop = emulate::Stop::on_flag(stop.flag());
    move |job| {
        run_job_with(plan, job, options, |scenario, seed, options| {
            emulate::emulate(scenario, seed, &machinery, options, &stop)
        })
    }
}

/// What a store knows runs in real time by, besides their scenarios: the kernel, the devices that join it to the links,
/// and the switches with their controller. Fails where no devices can be made.
#[cfg(target_os = "linux")]
pub(crate) fn identity(arguments: &Run) -> Result<String, Failure> {
    let Run { device, switches, controller, .. } = arguments;
    let device = emulate::device_in_use(device.map(kind))?.name();
    let routers = match switches {
        None => "simulated".to_owned(),
        Some(Switches::Ovs) => format!("ovs, controller {}", controller.display()),
    };
    Ok(format!("on linux {}, device {device}, routers {routers}", emulate::kernel_release()))
}

#[cfg(target_os = "linux")]
fn machinery(arguments: &Run) -> emulate::Machinery {
    let options = || emulate::SwitchOptions { controller: arguments.controller.clone().into() };
    emulate::Machinery {
        device: arguments.device.map(kind),
        switches: arguments.switches.map(|Switches::Ovs| options()),
    }
}

#[cfg(target_os = "linux")]
fn kind(device: Device) -> emulate::DeviceKind {
    match device {
        Device::Tun => emulate::DeviceKind::Tun,
        Device::Veth => emulate::DeviceKind::Veth,
    }
}

/// What stops runs in real time at the first signal.
#[cfg(target_os = "linux")]
fn stop_on_signals() -> Result<emulate::Stop, Failure> {
    signals::say(signals::Said::of_runs(Some(signals::REMOVES_NAMESPACES), None));
    Ok(emulate::Stop::on_flag(signals::stop_on_signals()?.flag()))
}

/// What runs the emulations of publications.
#[cfg(target_os = "linux")]
struct RealTimeRuns<'a> {
    /// The command of the switches' controller.
    controller: &'a Path,
    stop: emulate::Stop,
}

#[cfg(target_os = "linux")]
impl RealTimeRuns<'_> {
    fn machinery(&self, routers: Routers) -> emulate::Machinery {
        let switches = (routers == Routers::OpenVSwitch)
            .then(|| emulate::SwitchOptions { controller: self.controller.as_os_str().to_owned() });
        emulate::Machinery { device: None, switches }
    }
}

#[cfg(target_os = "linux")]
impl Emulator for RealTimeRuns<'_> {
    fn check(&self, scenario: &Scenario, routers: Routers) -> Result<(), RunError> {
        emulate::check(scenario, &self.machinery(routers))
    }

    fn run(
        &self,
        scenario: &Scenario,
        seed: u64,
        routers: Routers,
        options: &RunOptions,
    ) -> Result<RunResult, RunError> {
        emulate::emulate(scenario, seed, &self.machinery(routers), options, &self.stop)
    }
}

/// Reproduces in the simulator and in real time.
#[cfg(target_os = "linux")]
pub(crate) fn reproduce(
    paper: &dyn Paper,
    request: &Request,
    controller: Option<&Path>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<OnLinux, Failure> {
    let controller = controller.unwrap_or(Path::new("subflow-openflow"));
    let stop = stop_on_signals()?;
    Ok(reproduce_on_linux(paper, request, &RealTimeRuns { controller, stop }, progress)?)
}

/// Removes the namespaces of killed runs, and reports each.
#[cfg(target_os = "linux")]
pub(crate) fn cleanup(report: &mut dyn FnMut(&str)) -> Result<(), Failure> {
    Ok(emulate::cleanup(|name| report(&format!("removed {name}")))?)
}

/// Runs the requested cases in the simulator and on the kernel. Returns the comparison in the requested format, and the
/// objections of cases that do not agree or are undecided.
#[cfg(target_os = "linux")]
pub(crate) fn validate(arguments: &Validate) -> Result<(String, Vec<String>), Failure> {
    let names = || CASES.iter().map(|case| case.name);
    if let Some(unknown) = arguments.case.iter().find(|name| !names().any(|known| known == name.as_str())) {
        return Err(Failure::bad_input(
            format!("--case: found {unknown:?}, expected a case: {}", list(names())),
            did_you_mean(unknown, names(), "without --case, all are run"),
        ));
    }
    let stop = stop_on_signals()?;
    let wanted =
        |case: &&'static Case| arguments.case.is_empty() || arguments.case.iter().any(|name| name == case.name);
    let comparisons = CASES
        .iter()
        .filter(wanted)
        .map(|case| validation::compare(case, arguments.repeat, arguments.device.map(kind), &stop))
        .collect::<Result<Vec<_>, _>>()?;
    let text = match arguments.format {
        BenchFormat::Json => json(&comparisons)?,
        BenchFormat::Text => validation::to_text(&comparisons),
    };
    Ok((text, comparisons.iter().filter_map(validation::Comparison::objection).collect()))
}

/// Measures our stack against the kernel's over a TUN device.
#[cfg(target_os = "linux")]
pub(crate) fn bench_tun(arguments: &BenchTun) -> Result<String, Failure> {
    let stop = stop_on_signals()?;
    let result = TunThroughput { seconds: arguments.duration, mtu: arguments.mtu }.run(&stop)?;
    if arguments.format == BenchFormat::Json {
        return json(&result);
    }
    let memory = |mb: Option<f64>| mb.map_or_else(|| "unknown".to_owned(), |mb| format!("{mb:.1} MB"));
    let rows = [
        ("duration", format!("{} s", result.seconds)),
        ("largest packet", format!("{} bytes", result.mtu)),
        ("goodput", format!("{:.1} Mbit/s", result.goodput_mbps)),
        ("CPU time of the stack", format!("{:.2} s", result.cpu_s)),
        ("retransmissions", result.retransmissions.to_string()),
        ("memory after 1/4", memory(result.rss_early_mb)),
        ("memory at the end", memory(result.rss_late_mb)),
    ];
    Ok(rows.iter().map(|(name, value)| format!("{name:24} {value:>20}\n")).collect())
}

#[cfg(target_os = "linux")]
fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::RunFailed(error.to_string()))?;
    Ok(text + "\n")
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn validate(_: &Validate) -> Result<(String, Vec<String>), Failure> {
    Err(only_linux())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn bench_tun(_: &BenchTun) -> Result<String, Failure> {
    Err(only_linux())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn check(_: &Plan, _: &Run) -> Result<(), Failure> {
    Err(only_linux())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn execute(_: &Plan, _: &Run, _: &RunOptions, _: &(dyn Fn(Progress) + Sync)) -> Result<Experiment, Failure> {
    Err(only_linux())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn runner<'a>(
    _: &'a Plan,
    _: &Run,
    _: &'a RunOptions,
    _: &Stop,
) -> impl Fn(Job) -> Result<RunResult, RunError> + Sync + use<'a> {
    |_| Err(RunError::failed("this system is not Linux"))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn identity(_: &Run) -> Result<String, Failure> {
    Err(only_linux())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn reproduce(
    _: &dyn Paper,
    _: &Request,
    _: Option<&Path>,
    _: &(dyn Fn(Progress) + Sync),
) -> Result<OnLinux, Failure> {
    Err(only_linux())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn cleanup(_: &mut dyn FnMut(&str)) -> Result<(), Failure> {
    Err(only_linux())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn only_linux() -> Failure {
    RunError::refused("this system is not Linux: runs in real time need its network namespaces and MPTCP").into()
}
