//! `[programs.NAME]`: programs that run in hosts, on Linux only.

use std::path::PathBuf;

use subflow_policy::path_manager::PathManagement;
use subflow_quantity::Duration;

/// A program that runs in a host.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name in the scenario.
    pub name: String,
    /// The host, by index into [`Scenario::hosts`](super::Scenario::hosts). It runs the kernel's stack.
    pub host: usize,
    /// What is run. Addresses are filled in.
    pub command: ProgramCommand,
    /// When it starts: after the start of the run, or after the event in `after`.
    pub start: Duration,
    /// When it is ended, from the start of the run; `None` means with the run.
    pub stop: Option<Duration>,
    /// What it waits for.
    pub after: Option<After>,
    /// Environment variables, besides those of the command that runs the scenario. Addresses are filled in.
    pub environment: Vec<(String, String)>,
    /// The user that it runs as; `None` means that of the command that runs the scenario.
    pub user: Option<String>,
    /// Its working directory; `None` means that of the command that runs the scenario.
    pub directory: Option<PathBuf>,
    /// Whether its TCP sockets become MPTCP sockets.
    pub mptcp: bool,
    /// The congestion control of its host's kernel, by its name in scenarios; `None` means that of the machine.
    pub congestion: Option<String>,
    /// The path manager of the MPTCP connections of its host; `None` means the kernel's own.
    pub path_manager: Option<PathManagement>,
}

/// What a program runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramCommand {
    /// A program with its arguments; not empty.
    Words(Vec<String>),
    /// A line for `sh -c`.
    Shell(String),
}

/// What a program waits for before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The start of another program, by index into [`Scenario::programs`](super::Scenario::programs).
    Start(usize),
    /// The exit of another program, however it ended.
    Exit(usize),
    /// A TCP port on which something listens.
    Listens {
        /// The host, by index into [`Scenario::hosts`](super::Scenario::hosts).
        host: usize,
        /// The port.
        port: u16,
    },
}

impl After {
    /// The program that it waits for, if it is one.
    pub fn program(self) -> Option<usize> {
        match self {
            Self::Start(program) | Self::Exit(program) => Some(program),
            Self::Listens { .. } => None,
        }
    }
}
