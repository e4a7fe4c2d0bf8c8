//! The arguments of `subflow conform`.

use std::path::PathBuf;

use clap::Args;

use super::Platform;

#[derive(Debug, Args)]
pub(crate) struct Conform {
    /// Scripts, or folders of them
    #[arg(value_name = "FILE", required = true)]
    pub(crate) scripts: Vec<PathBuf>,
    /// Where: our stack in virtual time, or the kernel in real time (TCP and MPTCP; needs root)
    #[arg(long, value_enum, default_value_t = Platform::Simulator)]
    pub(crate) on: Platform,
    #[cfg(all(feature = "linux", target_os = "linux"))]
    /// On Linux, a list of scripts that it is known not to pass: NAME and reason
    #[arg(long, value_name = "FILE")]
    pub(crate) differences: Option<PathBuf>,
    #[cfg(all(feature = "linux", target_os = "linux"))]
    /// On Linux, how many scripts to run at once
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) jobs: u32,
}
