//! `subflow proxy`: our MPTCP for applications.

use subflow_proxy::{Options, Settings, dry_run, run};
use subflow_scenario::file::{did_you_mean, list};

use super::logging::start_logging;
use crate::arguments::Proxy;
use crate::commands::ending_signals::ending_signals;
use crate::failure::Failure;

pub(crate) fn proxy(arguments: &Proxy) -> Result<(), Failure> {
    if arguments.via.len() > 16 {
        return Err(Failure::bad_input("--via names more than 16 interfaces", "name fewer"));
    }
    let options = Options::named(&arguments.congestion, &arguments.scheduler, &arguments.paths).map_err(unknown)?;
    let options = Options { mtu: arguments.mtu.unwrap_or(u16::MAX), ..options };
    let settings = Settings { listen: arguments.listen, via: arguments.via.clone(), options };
    if arguments.dry_run {
        return crate::output::print(&dry_run(&settings).map_err(failure)?);
    }
    start_logging(arguments.log);
    if !arguments.listen.ip().is_loopback() {
        log::warn!("the proxy has no authentication: everybody who can reach the address may use it");
    }
    run(&settings, ending_signals(), |line| log::info!("{line}")).map_err(failure)
}

/// Undoes what killed proxies have left, and reports what it did, a line each.
pub(crate) fn cleanup(report: &mut dyn FnMut(&str)) -> Result<(), Failure> {
    subflow_proxy::cleanup(report).map_err(failure)
}

fn failure(error: subflow_proxy::Error) -> Failure {
    use subflow_proxy::Error;

    match error {
        Error::Settings { problem, help } | Error::Machine { problem, help } => Failure::bad_input(problem, help),
        Error::Both { first, later } => match *first {
            Error::Settings { problem, help } | Error::Machine { problem, help } => {
                Failure::bad_input(format!("{problem}; {later}"), help)
            }
            first => Failure::RunFailed(format!("{first}; {later}")),
        },
        other => Failure::RunFailed(other.to_string()),
    }
}

fn unknown(error: subflow_proxy::UnknownName) -> Failure {
    let known = || error.known.iter().copied();
    let otherwise = format!("there are {}", list(known()));
    Failure::bad_input(error.to_string(), did_you_mean(&error.name, known(), &otherwise))
}
