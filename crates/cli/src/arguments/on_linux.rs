//! The arguments of commands that run on Linux only: `subflow validate`, and those for a network that stays, `up`, `exec`,
//! `shell`, `ps`, `link`, `set` and `down`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use subflow_lab::emulate::DeviceKind;

use super::{BenchFormat, Device, names};

impl Device {
    /// The kind of device that it names.
    pub(crate) fn kind(self) -> DeviceKind {
        match self {
            Self::Tun => DeviceKind::Tun,
            Self::Veth => DeviceKind::Veth,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Up {
    /// The scenario, a TOML file, or - for standard input. Its programs start, its flows are not run
    pub(crate) scenario: PathBuf,
    /// The name of the network [default: that of the file]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Set the value at PATH to VALUE (TOML, or else text), such as links.wifi.loss="2 %"
    #[arg(long, value_name = "PATH=VALUE", value_parser = names::profiles(), hide_possible_values = true)]
    pub(crate) set: Vec<String>,
    /// Do not start the programs of the scenario
    #[arg(long)]
    pub(crate) without_programs: bool,
    /// What connects the kernels to the links [default: TUN devices, or veth pairs where there are none]
    #[arg(long, value_enum)]
    pub(crate) device: Option<Device>,
    /// Be the process of the network, which another one has started and waits for
    #[arg(long, hide = true)]
    pub(crate) detached: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Exec {
    /// The network [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub(crate) network: Option<String>,
    /// The host
    pub(crate) host: String,
    /// The command with its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Shell {
    /// The network [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub(crate) network: Option<String>,
    /// The host
    pub(crate) host: String,
}

#[derive(Debug, Args)]
pub(crate) struct Ps {
    /// Also list the TCP and MPTCP connections of the programs, the latest ones of each network
    #[arg(long)]
    pub(crate) connections: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = BenchFormat::Text)]
    pub(crate) format: BenchFormat,
}

#[derive(Debug, Args)]
pub(crate) struct Link {
    /// The network [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub(crate) network: Option<String>,
    /// The link
    pub(crate) link: String,
    /// What becomes of it
    #[arg(value_enum)]
    pub(crate) state: LinkState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LinkState {
    /// It drops all packets, in both directions
    Down,
    /// It carries packets again
    Up,
}

#[derive(Debug, Args)]
pub(crate) struct Set {
    /// The network [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub(crate) network: Option<String>,
    /// What to change: links.LINK.rate, links.LINK.delay or links.LINK.loss
    pub(crate) path: String,
    /// The value as in a scenario, such as "5 Mbit/s"
    #[arg(allow_hyphen_values = true)]
    pub(crate) value: String,
}

#[derive(Debug, Args)]
pub(crate) struct Down {
    /// Write what was measured since it stands to this folder first, as `run` writes results
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replace results in the folder that are of another scenario
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// The network [default: the only one]
    pub(crate) network: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// Only this case; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) case: Vec<String>,
    /// How often the kernel runs each case [default: once; more often for random cases]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: Option<u32>,
    /// What connects the kernels to the links [default: TUN devices, or veth pairs where there are none]
    #[arg(long, value_enum)]
    pub(crate) device: Option<Device>,
    /// What to print
    #[arg(long, value_enum, default_value_t = BenchFormat::Text)]
    pub(crate) format: BenchFormat,
}
