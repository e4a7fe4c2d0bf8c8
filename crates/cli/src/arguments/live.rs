//! The arguments of the tools for this machine's connections: `subflow cc`, `paths`, `proxy`, `status` and `watch`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{BenchFormat, Figures, names, seconds};

#[derive(Debug, Args)]
pub(crate) struct Cc {
    #[command(subcommand)]
    pub(crate) action: CcAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CcAction {
    /// Load congestion controls permanently, for every socket that asks for one by name
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
    #[arg(value_parser = names::programs(), hide_possible_values = true)]
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

#[derive(Debug, Args)]
pub(crate) struct Paths {
    /// The path manager of all new connections; `subflow list path-managers` names them. It overrides the
    /// configuration
    #[arg(long, value_name = "NAME", required_unless_present = "config")]
    #[arg(value_parser = names::path_managers(), hide_possible_values = true)]
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
    /// Errors that end the command
    Error,
    /// Also warnings
    Warn,
    /// Also start and end, addresses, interfaces, configurations, and what clients could not reach
    Info,
    /// Also connections and subflows
    Debug,
}

#[derive(Debug, Args)]
pub(crate) struct Proxy {
    /// Where applications connect, by SOCKS5 or HTTP CONNECT [default: 127.0.0.1:1080]; with --server, the UDP port of
    /// the tunnel
    #[arg(long, value_name = "ADDRESS:PORT", required_if_eq("server", "true"))]
    pub(crate) listen: Option<SocketAddr>,
    /// An interface to use, the preferred one first; may be given up to 16 times
    #[arg(long, value_name = "INTERFACE", required_unless_present = "server", conflicts_with = "server")]
    #[arg(value_parser = names::interfaces(), hide_possible_values = true)]
    pub(crate) via: Vec<String>,
    /// How destinations are reached: by MPTCP, or by multipath QUIC to a server of ours, which connects to them by TCP
    #[arg(long, value_enum, value_name = "TRANSPORT", default_value_t)]
    pub(crate) transport: ProxyTransport,
    #[command(flatten)]
    pub(crate) tunnel: Tunnel,
    /// The scheduler; `subflow list schedulers` names them
    #[arg(long, value_name = "NAME", default_value = "ll")]
    #[arg(value_parser = names::schedulers(), hide_possible_values = true)]
    pub(crate) scheduler: String,
    /// The congestion control; `subflow list congestion` names them
    #[arg(long, value_name = "NAME", default_value = "lia")]
    #[arg(value_parser = names::congestion_controls(), hide_possible_values = true)]
    pub(crate) congestion: String,
    /// The path manager; `subflow list path-managers` names them
    #[arg(long, value_name = "NAME", default_value = "full-mesh")]
    #[arg(value_parser = names::path_managers(), hide_possible_values = true)]
    pub(crate) paths: String,
    /// Largest packet in bytes [default: the smallest MTU of the interfaces; of a tunnel 1280]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(1280..))]
    pub(crate) mtu: Option<u16>,
    /// Print the changes that it would make on this machine, and how it would undo them; a tunnel makes none
    #[arg(long, conflicts_with_all = ["server", "to"])]
    pub(crate) dry_run: bool,
    /// What to write to standard error
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = LogLevel::Info)]
    pub(crate) log: LogLevel,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProxyTransport {
    /// To each destination, or TCP where it has no MPTCP
    #[default]
    Mptcp,
    /// To the server of --to: `subflow proxy --server` on another machine
    Mpquic,
}

/// The two ends of a tunnel by multipath QUIC.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tunnel by multipath QUIC")]
pub(crate) struct Tunnel {
    /// Be the server: accept tunnels, and connect to destinations by TCP
    #[arg(long, requires_all = ["certificate", "key", "peer", "allow"], conflicts_with = "to")]
    pub(crate) server: bool,
    /// The server's address and UDP port
    #[arg(long, value_name = "ADDRESS:PORT", required_if_eq("transport", "mpquic"))]
    pub(crate) to: Option<SocketAddr>,
    /// This end's certificate, a PEM file
    #[arg(long, value_name = "FILE", required_if_eq("transport", "mpquic"))]
    pub(crate) certificate: Option<PathBuf>,
    /// Its private key, a PEM file
    #[arg(long, value_name = "FILE", required_if_eq("transport", "mpquic"))]
    pub(crate) key: Option<PathBuf>,
    /// The other end's certificate: a PEM file, or its SHA-256 fingerprint; once for each client
    #[arg(long, value_name = "FILE|FINGERPRINT", required_if_eq("transport", "mpquic"))]
    pub(crate) peer: Vec<String>,
    /// Where clients of the server may go: a network, or all, maybe with a port; may be given several times
    #[arg(long, value_name = "NETWORK[:PORT]", requires = "server")]
    pub(crate) allow: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// What to print
    #[arg(long, value_enum, default_value_t = BenchFormat::Text)]
    pub(crate) format: BenchFormat,
}

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// Seconds between two reports
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = seconds)]
    pub(crate) interval: f64,
    /// Seconds until it ends [default: until Ctrl-C]
    #[arg(long, value_name = "S", value_parser = until)]
    pub(crate) duration: Option<f64>,
    /// Milliseconds between two readings of the kernel's figures, from which shared bottlenecks are detected
    #[arg(long, value_name = "MS", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) sample: u16,
    /// Capture the acknowledgments that arrive, for detectors that need the delays of individual packets
    #[arg(long)]
    pub(crate) capture: bool,
    /// What to print: a table that updates, or one line with a JSON object for each report
    #[arg(long, value_enum, default_value_t = BenchFormat::Text)]
    pub(crate) format: BenchFormat,
    /// Folder for a report of the whole time, written at the end: figures over time, and a table of all subflows
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Also write each figure of the report to a separate file, in this folder
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) figures: Option<Figures>,
    /// Replace the results of another command in this folder
    #[arg(long)]
    pub(crate) force: bool,
}

/// Unlike that between two reports, the whole time may be days.
fn until(text: &str) -> Result<f64, String> {
    /// A year of 365 days, in seconds.
    const YEAR: f64 = 31_536_000.0;
    let number = text.parse().ok().filter(|seconds| (0.001..=YEAR).contains(seconds));
    number.ok_or_else(|| format!("expected a number from 0.001 to {YEAR}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_at_most_a_year() {
        assert_eq!(["0.001", "1001", "31536000"].map(until), [Ok(0.001), Ok(1001.0), Ok(31_536_000.0)]);
        for text in ["0", "-1", "31536001", "inf", "nan", ""] {
            assert_eq!(until(text), Err("expected a number from 0.001 to 31536000".to_owned()), "{text}");
        }
    }
}
