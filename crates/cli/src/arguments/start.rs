//! The arguments of commands for new users, editors and shells.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct New {
    /// What the scenario is about
    #[arg(value_enum)]
    pub(crate) kind: Template,
    /// The file to write, which must not exist [default: KIND.toml]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    /// MPTCP over two paths, with a sweep of congestion controls
    TwoPaths,
    /// A phone with WiFi and LTE whose WiFi becomes slow and fails
    Mobile,
    /// MPTCP and TCP at one bottleneck
    SharedBottleneck,
    /// A multihomed SCTP association, with and without concurrent multipath transfer
    Sctp,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The command, such as run
    pub(crate) command: Option<String>,
}
