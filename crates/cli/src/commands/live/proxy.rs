//! `subflow proxy`: our MPTCP for applications.

use crate::arguments::Proxy;
use crate::failure::Failure;
use crate::output::say;

#[cfg(not(target_os = "linux"))]
pub(crate) fn proxy(_: &Proxy) -> Result<(), Failure> {
    Err(super::on_linux::only_linux())
}

#[cfg(target_os = "linux")]
pub(crate) fn proxy(arguments: &Proxy) -> Result<(), Failure> {
    use subflow_proxy::{Options, Settings, dry_run, run};

    if arguments.via.len() > 16 {
        return Err(Failure::bad_input("--via names more than 16 interfaces", "name fewer"));
    }
    let options = Options::named(&arguments.congestion, &arguments.scheduler, &arguments.paths).map_err(unknown)?;
    let options = Options { mtu: arguments.mtu.unwrap_or(u16::MAX), ..options };
    let settings = Settings { listen: arguments.listen, via: arguments.via.clone(), options };
    if arguments.dry_run {
        return crate::output::print(&dry_run(&settings).map_err(failure)?);
    }
    if !arguments.listen.ip().is_loopback() {
        say("warning: everybody who reaches the address may use this proxy: it has no authentication");
    }
    run(&settings, say).map_err(failure)
}

/// Undoes what killed proxies have left, and reports what it did, a line each.
#[cfg(target_os = "linux")]
pub(super) fn cleanup(report: &mut dyn FnMut(&str)) -> Result<(), Failure> {
    subflow_proxy::cleanup(report).map_err(failure)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn cleanup(_: &mut dyn FnMut(&str)) -> Result<(), Failure> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn failure(error: subflow_proxy::Error) -> Failure {
    match error {
        subflow_proxy::Error::BadInput { problem, help } => Failure::bad_input(problem, help),
        subflow_proxy::Error::Failed(why) => Failure::RunFailed(why),
    }
}

#[cfg(target_os = "linux")]
fn unknown(error: subflow_proxy::UnknownName) -> Failure {
    use subflow_scenario::file::{did_you_mean, list};

    let known = || error.known.iter().copied();
    let otherwise = format!("there are {}", list(known()));
    Failure::bad_input(error.to_string(), did_you_mean(&error.name, known(), &otherwise))
}
