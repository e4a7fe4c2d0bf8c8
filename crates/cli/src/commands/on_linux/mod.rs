//! Commands that need Linux: runs in real time, `validate`, `bench tun` and `cleanup`.

#[cfg(feature = "publications")]
mod publications;

use subflow_lab::benchmark::TunThroughput;
use subflow_lab::execute::{Progress, execute_with, run_job_with};
use subflow_lab::results::{Experiment, RunResult};
use subflow_lab::simulate::RunOptions;
use subflow_lab::validation::{self, CASES, Case};
use subflow_lab::{RunError, Stop, emulate};
use subflow_scenario::file::{did_you_mean, list};
use subflow_scenario::sweep::{Job, Plan};

#[cfg(feature = "live")]
use super::live::{paths, proxy};
use super::{programs, signals};
use crate::arguments::{BenchFormat, BenchTun, Device, Run, Switches, Validate};
use crate::failure::Failure;
use crate::output::print;

#[cfg(feature = "publications")]
pub(crate) use publications::reproduce;

/// Checks that every point of a plan can run in real time here: the last one may start hours after the first.
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
pub(crate) fn identity(arguments: &Run) -> Result<String, Failure> {
    let Run { device, switches, controller, .. } = arguments;
    let device = emulate::device_in_use(device.map(Device::kind))?.name();
    let routers = match switches {
        None => "simulated".to_owned(),
        Some(Switches::Ovs) => format!("ovs, controller {}", controller.display()),
    };
    let (release, programs) = (emulate::kernel_release(), programs::identity(arguments));
    Ok(format!("on linux {release}, device {device}, routers {routers}{programs}"))
}

fn machinery(arguments: &Run) -> emulate::Machinery {
    let options = || emulate::SwitchOptions { controller: arguments.controller.clone().into() };
    emulate::Machinery {
        device: arguments.device.map(Device::kind),
        switches: arguments.switches.map(|Switches::Ovs| options()),
    }
}

/// What stops runs in real time at the first signal.
fn stop_on_signals() -> Result<emulate::Stop, Failure> {
    signals::say(signals::Said::of_runs(Some(signals::REMOVES_NAMESPACES), None));
    Ok(emulate::Stop::on_flag(signals::stop_on_signals()?.flag()))
}

/// Removes what one part left behind, and reports what it did, a line each.
type Part = fn(&mut dyn FnMut(&str)) -> Result<(), Failure>;

pub(crate) fn cleanup() -> Result<(), Failure> {
    let (mut text, mut outcome) = (String::new(), Ok(()));
    // What one of them cannot do must not keep the others from it, nor what they did from being told.
    let parts: &[Part] = &[
        remove_namespaces,
        super::network::cleanup,
        #[cfg(feature = "live")]
        proxy::cleanup,
        #[cfg(feature = "live")]
        paths::cleanup,
    ];
    for part in parts {
        outcome = outcome.and(part(&mut |line| text += &format!("{line}\n")));
    }
    match (text.is_empty(), outcome) {
        (true, Ok(())) => print("there was nothing to remove\n"),
        (true, failed) => failed,
        (false, outcome) => print(&text).and(outcome),
    }
}

/// Removes the namespaces of killed runs, and reports each.
fn remove_namespaces(report: &mut dyn FnMut(&str)) -> Result<(), Failure> {
    Ok(emulate::cleanup(|name| report(&format!("removed {name}")))?)
}

/// Runs the requested cases in the simulator and on the kernel, and prints the comparison. Fails if a case does not
/// agree or is undecided.
pub(crate) fn validate(arguments: &Validate) -> Result<(), Failure> {
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
        .map(|case| validation::compare(case, arguments.repeat, arguments.device.map(Device::kind), &stop))
        .collect::<Result<Vec<_>, _>>()?;
    let text = match arguments.format {
        BenchFormat::Json => json(&comparisons)?,
        BenchFormat::Text => validation::to_text(&comparisons),
    };
    print(&text)?;
    let objections: Vec<String> = comparisons.iter().filter_map(validation::Comparison::objection).collect();
    match objections.is_empty() {
        true => Ok(()),
        false => Err(Failure::RunFailed(objections.join("; "))),
    }
}

/// Measures our stack against the kernel's over a TUN device.
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

fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::RunFailed(error.to_string()))?;
    Ok(text + "\n")
}
