//! The arguments of `subflow paths`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Paths {
    /// The path manager of all new connections; `subflow list path-managers` names them. It goes before that of the
    /// configuration
    #[arg(long, value_name = "NAME", required_unless_present = "config")]
    pub(crate) policy: Option<String>,
    /// The configuration, a TOML file, which is read again on SIGHUP
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) config: Option<PathBuf>,
    /// What to write to standard error
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = LogLevel::Info)]
    pub(crate) log: LogLevel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// What ends the command
    Error,
    /// Also what it goes on without
    Warn,
    /// Also its start and end, addresses and configurations
    Info,
    /// Also connections and subflows
    Debug,
}
