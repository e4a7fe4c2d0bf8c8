//! Networks that stay: `subflow up`, `down`, `link` and `set`, and what `cleanup` removes of them.

mod inside;
mod listing;

use std::io::Read;
use std::process::{Command, Stdio};

use subflow_lab::emulate::persistent::{self, Answer, Claim, Client, Options, Request};
use subflow_lab::output::to_text;
use subflow_report::output::Folder;
use subflow_scenario::sweep::{Plan, SeriesKept};
use subflow_scenario::{HostStack, Scenario};

use super::check::load;
use super::signals;
use crate::arguments::{Device, Down, Link, LinkState, Set, Up};
use crate::failure::{Failure, warn};
use crate::output::print;
pub(crate) use inside::{enter_shell, exec};
pub(crate) use listing::ps;

/// Starts the process of the network and waits until it stands, or has failed and said why.
pub(crate) fn up(arguments: &Up) -> Result<(), Failure> {
    if arguments.detached {
        return hold(arguments);
    }
    let failed =
        |error: std::io::Error| Failure::RunFailed(format!("cannot start the process of the network: {error}"));
    let mut process = Command::new(std::env::current_exe().map_err(failed)?);
    process.args(std::env::args_os().skip(1)).arg("--detached").stdout(Stdio::piped());
    if arguments.scenario != std::path::Path::new("-") {
        process.stdin(Stdio::null());
    }
    let mut process = process.spawn().map_err(failed)?;
    let mut said = String::new();
    if let Some(mut stdout) = process.stdout.take() {
        stdout.read_to_string(&mut said).map_err(failed)?;
    }
    if said.is_empty() {
        let code = process.wait().map_err(failed)?.code();
        return Err(Failure::Ended(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)));
    }
    print(&said)
}

/// Is the process of a network until the network ends.
fn hold(arguments: &Up) -> Result<(), Failure> {
    subflow_linux::leave_terminal()?;
    let mut plan = plan(arguments)?;
    // Whoever uses the network may use all of its hosts and interfaces.
    plan.without_effect.retain(|problem| !problem.message.starts_with("hosts."));
    warn(&plan.without_effect);
    let name = arguments.name.clone().unwrap_or_else(|| name_of(&plan.document.name));
    let claim = Claim::take(&name)?;
    let log = claim.log()?;
    let options = Options { device: arguments.device.map(Device::kind), without_programs: arguments.without_programs };
    signals::say(signals::Said::of_runs(Some("stopping, and removing the network"), None));
    let interrupt = subflow_lab::emulate::Stop::on_flag(signals::stop_on_signals()?.flag());
    let flows = plan.points[0].scenario.flows.len();
    let ready = |scenario: &Scenario| {
        // Whoever waits has all that is said when the stream ends.
        let said = print(&description(&name, scenario, flows));
        said.is_ok() && subflow_linux::leave_standard_streams(&log).is_ok()
    };
    Ok(persistent::hold(&plan, claim, options, &interrupt, ready)?)
}

/// The scenario of the network. It needs neither flows nor programs: what runs comes later.
fn plan(arguments: &Up) -> Result<Plan, Failure> {
    let mut document = load(&arguments.scenario)?;
    for assignment in &arguments.set {
        document.set("--set", assignment)?;
    }
    let has_traffic = |path: &str| ["flows.", "programs."].iter().any(|table| path.starts_with(table));
    if !document.leaves().iter().any(|leaf| has_traffic(&leaf.path)) {
        document.set("subflow up", "programs={}")?;
    }
    Ok(Plan { series: SeriesKept::None, ..Plan::read(document)? })
}

/// The name of a file as the name of a network.
fn name_of(file: &str) -> String {
    file.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect()
}

fn description(name: &str, scenario: &Scenario, flows: usize) -> String {
    let entered = scenario.hosts.iter().filter(|host| host.stack == HostStack::Kernel);
    let hosts: Vec<&str> = entered.map(|host| host.name.as_str()).collect();
    let mut text = format!("{name} is up: {}\n", hosts.join(", "));
    if flows > 0 {
        text += &format!("its flows ({flows}) are not run: `subflow run --on linux` does that\n");
    }
    let log = persistent::log_path(name);
    text + &format!(
        "subflow exec --network {name} {} -- COMMAND runs a command, subflow down {name} ends it; log: {}\n",
        hosts[0],
        log.display()
    )
}

/// Asks the network of this name, or the only one.
fn ask(name: Option<&str>, request: &Request) -> Result<Answer, Failure> {
    let name = persistent::select(name)?;
    Ok(Client::connect(&name)?.ask(request)?)
}

/// Ends a network. Its results are written before: where that fails, it stays.
pub(crate) fn down(arguments: &Down) -> Result<(), Failure> {
    let mut client = Client::connect(&persistent::select(arguments.network.as_deref())?)?;
    if let Some(out) = &arguments.out {
        let Answer::Results(results) = client.ask(&Request::Results)? else {
            return Err(Failure::RunFailed("the network has not said what it has measured".to_owned()));
        };
        let (plan, experiment) = results.experiment().map_err(Failure::from)?;
        Folder::for_plan(out, &plan, arguments.force)?.write_experiment(&plan, &experiment, None)?;
        print(&format!("{}\nResults are in {}\n", to_text(&experiment), out.display()))?;
    }
    Ok(client.ask(&Request::Down).map(drop)?)
}

pub(crate) fn link(arguments: &Link) -> Result<(), Failure> {
    let request = Request::Link { link: arguments.link.clone(), up: arguments.state == LinkState::Up };
    ask(arguments.network.as_deref(), &request).map(drop)
}

pub(crate) fn set(arguments: &Set) -> Result<(), Failure> {
    let request = Request::Set { path: arguments.path.clone(), value: arguments.value.clone() };
    ask(arguments.network.as_deref(), &request).map(drop)
}

/// Removes what killed networks have left, and reports each.
pub(super) fn cleanup(report: &mut dyn FnMut(&str)) -> Result<(), Failure> {
    Ok(persistent::cleanup(|name| report(&format!("removed the network {name}")))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_becomes_that_of_a_network() {
        for (file, name) in [("wifi-lte", "wifi-lte"), ("my net.v2", "my-net-v2"), ("é", "-")] {
            assert_eq!(name_of(file), name);
            assert!(persistent::check_name(name).is_ok());
        }
    }
}
