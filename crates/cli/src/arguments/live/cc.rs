//! The arguments of `subflow cc`.

use clap::{Args, Subcommand};

use crate::arguments::BenchFormat;

#[derive(Debug, Args)]
pub(crate) struct Cc {
    #[command(subcommand)]
    pub(crate) action: CcAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CcAction {
    /// Load congestion controls for good, for every socket that asks for one by name
    Load(CcNames),
    /// List them with their state and CPU time
    List(CcList),
    /// Unload congestion controls; sockets that have one keep it until they are closed
    Unload(CcNames),
}

#[derive(Debug, Args)]
pub(crate) struct CcNames {
    /// Their names, in scenarios or in the kernel
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
    pub(crate) names: Vec<String>,
    /// All of them
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CcList {
    /// What to print
    #[arg(long, value_enum, default_value_t = BenchFormat::Text)]
    pub(crate) format: BenchFormat,
}
