//! `subflow cc`: coupled congestion control in this machine's kernel.

use serde::Serialize;
use subflow_linux::congestion::{self, Loaded, PROGRAMS, Place, Program, Status, Unloaded};
use subflow_scenario::file::{did_you_mean, list as enumerate};

use crate::arguments::BenchFormat;
use crate::arguments::live::{Cc, CcAction, CcNames};
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn cc(arguments: &Cc) -> Result<(), Failure> {
    match &arguments.action {
        CcAction::Load(names) => print(&load(names)?),
        CcAction::Unload(names) => unload(names),
        CcAction::List(statuses) => print(&list(statuses.format)?),
    }
}

fn load(names: &CcNames) -> Result<String, Failure> {
    let programs = chosen(names)?;
    let loaded = congestion::load(&programs)?;
    let mut text = String::new();
    for (program, loaded) in programs.iter().zip(loaded) {
        text += &match loaded {
            Loaded::Now => format!("loaded {}\n", named(program)),
            Loaded::Before => format!("{} is loaded already\n", named(program)),
        };
    }
    Ok(text + &how_to_use(programs[0].kernel_name))
}

/// Unloads programs. One that stays is a failure, when all others have been unloaded.
fn unload(names: &CcNames) -> Result<(), Failure> {
    let programs = chosen(names)?;
    let unloaded = congestion::unload(&programs)?;
    let (mut text, mut kept) = (String::new(), Vec::new());
    for (program, unloaded) in programs.iter().zip(unloaded) {
        let name = named(program);
        match unloaded {
            Unloaded::Now => text += &format!("unloaded {name}\n"),
            Unloaded::Before => text += &format!("{name} was not loaded\n"),
            Unloaded::WhenRunEnds => {
                text += &format!("{name} is unpinned; a run uses it, and it is removed when that ends\n")
            }
            Unloaded::Held(Some(process)) => {
                kept.push(format!(
                    "{name} is not unloaded: process {process} uses it, and it is removed when that ends"
                ));
            }
            Unloaded::Held(None) => kept.push(format!(
                "{name} is not unloaded: no process uses it, and its pin is in a bpf file system that is not mounted \
                 here; unload it where it was loaded"
            )),
        }
    }
    print(&text)?;
    if kept.is_empty() { Ok(()) } else { Err(Failure::RunFailed(kept.join("\n       "))) }
}

fn list(format: BenchFormat) -> Result<String, Failure> {
    let statuses = congestion::list()?;
    if format == BenchFormat::Json {
        let entries: Vec<Entry> = statuses.iter().map(Entry::from).collect();
        let json = serde_json::to_string_pretty(&entries);
        return json.map(|text| text + "\n").map_err(|error| Failure::RunFailed(error.to_string()));
    }
    let mut text = format!("{:10}{:14}{:>13}{:>9}  state\n", "name", "in the kernel", "calls", "ns/call");
    for status in &statuses {
        let Program { name, kernel_name } = status.program;
        let ns = status.call_ns.map_or_else(|| "-".to_owned(), |ns| format!("{ns:.0}"));
        let calls = if status.calls > 0 { status.calls.to_string() } else { "-".to_owned() };
        text += &format!("{name:10}{kernel_name:14}{calls:>13}{ns:>9}  {}\n", state(status));
    }
    if statuses.iter().any(|status| status.place != Place::Nowhere) && statuses.iter().all(|s| s.calls == 0) {
        text += "\nThe kernel counts calls and their time after sysctl -w kernel.bpf_stats_enabled=1\n";
    }
    Ok(text)
}

/// The requested programs.
fn chosen(names: &CcNames) -> Result<Vec<&'static Program>, Failure> {
    if names.all {
        return Ok(PROGRAMS.iter().collect());
    }
    let known = || PROGRAMS.iter().map(|program| program.name);
    let mut programs: Vec<&Program> = Vec::new();
    for name in &names.names {
        let program = Program::from_name(name).ok_or_else(|| {
            Failure::bad_input(
                format!("found {name:?}, expected a congestion control: {}", enumerate(known())),
                did_you_mean(name, known(), "--all takes all of them"),
            )
        })?;
        if !programs.contains(&program) {
            programs.push(program);
        }
    }
    Ok(programs)
}

/// Its name, and its name in the kernel if that differs.
fn named(program: &Program) -> String {
    match program {
        Program { name, kernel_name } if name == kernel_name => (*name).to_owned(),
        Program { name, kernel_name } => format!("{name}, in the kernel {kernel_name}"),
    }
}

fn state(status: &Status) -> &'static str {
    match status.place {
        Place::Pinned | Place::Held if !status.current => "loaded by another version: unload it, and load it again",
        Place::Nowhere => "not loaded",
        Place::Pinned => "loaded",
        Place::Held => "loaded for a run",
        Place::Foreign => "not ours: a module has the name",
    }
}

fn how_to_use(name: &str) -> String {
    format!(
        "\n\
         It stays until `subflow cc unload`, or until the machine restarts. To use {name}:\n\
         \x20 one socket           setsockopt(TCP_CONGESTION, \"{name}\"); on an MPTCP socket, for all its \
         subflows\n\
         \x20 all new connections  sysctl -w net.ipv4.tcp_congestion_control={name}, in each network namespace\n\
         \x20 one route            ip route change … congctl {name}\n\
         \x20 without MPTCP        mptcpize run PROGRAM makes MPTCP of a program's TCP\n"
    )
}

/// A line of the list as JSON.
#[derive(Debug, Serialize)]
struct Entry {
    name: &'static str,
    kernel_name: &'static str,
    state: &'static str,
    /// Whether it is the program of this version, or none.
    current: bool,
    calls: u64,
    call_ns: Option<f64>,
}

impl From<&Status> for Entry {
    fn from(&Status { program, place, current, calls, call_ns }: &Status) -> Self {
        let state = match place {
            Place::Nowhere => "not-loaded",
            Place::Pinned => "loaded",
            Place::Held => "loaded-for-a-run",
            Place::Foreign => "foreign",
        };
        Self { name: program.name, kernel_name: program.kernel_name, state, current, calls, call_ns }
    }
}
