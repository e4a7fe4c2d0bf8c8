//! The arguments of the command line. Those of the larger commands are in the other files.

mod bench;
mod compare;
#[cfg(any(feature = "analyze", feature = "import"))]
pub(crate) mod files;
#[cfg(all(feature = "live", target_os = "linux"))]
pub(crate) mod live;
pub(crate) mod names;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod on_linux;
#[cfg(feature = "publications")]
mod reproduce;
#[cfg(feature = "serve")]
mod serve;
mod sweep;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use subflow_quantity::Size;
use subflow_scenario::sweep::Plan;

#[cfg(not(feature = "analyze"))]
pub(crate) use AnyArguments as Analyze;
#[cfg(not(feature = "conformance"))]
pub(crate) use AnyArguments as Conform;
#[cfg(not(feature = "import"))]
pub(crate) use AnyArguments as Import;
#[cfg(not(feature = "publications"))]
pub(crate) use AnyArguments as Reproduce;
#[cfg(not(feature = "serve"))]
pub(crate) use AnyArguments as Serve;
pub(crate) use bench::{Bench, BenchTun, Benchmark};
pub(crate) use compare::{Compare, Comparing, Repeating};
#[cfg(feature = "analyze")]
pub(crate) use files::Analyze;
#[cfg(feature = "import")]
pub(crate) use files::{ExportNetwork, Import};
#[cfg(all(feature = "live", target_os = "linux"))]
pub(crate) use live::{Cc, Paths, Proxy, ProxyTransport, StatusArguments, Tunnel, Watch};
#[cfg(all(feature = "linux", target_os = "linux"))]
pub(crate) use on_linux::{Down, Exec, Link, LinkState, Ps, Set, Shell, Up, Validate};
#[cfg(feature = "publications")]
pub(crate) use reproduce::Reproduce;
#[cfg(feature = "serve")]
pub(crate) use serve::Serve;
pub(crate) use sweep::{Export, Merge, Shard, Source};
#[cfg(not(all(feature = "live", target_os = "linux")))]
pub(crate) use {
    AnyArguments as Cc, AnyArguments as Paths, AnyArguments as Proxy, AnyArguments as StatusArguments,
    AnyArguments as Watch,
};
#[cfg(not(all(feature = "linux", target_os = "linux")))]
pub(crate) use {
    AnyArguments as Down, AnyArguments as Exec, AnyArguments as Link, AnyArguments as Ps, AnyArguments as Set,
    AnyArguments as Shell, AnyArguments as Up, AnyArguments as Validate,
};

/// A laboratory for multipath transport: one scenario file describes hosts, paths and traffic; real MPTCP, TCP
/// and SCTP stacks run it in a simulator.
#[derive(Debug, Parser)]
#[command(name = "subflow", version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The arguments of a command that this build lacks: any.
#[derive(Debug, Args)]
pub(crate) struct AnyArguments {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<std::ffi::OsString>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scenario and print what it measured
    Run(Box<Run>),
    /// Write the results of runs in stores, such as those of `run --shard`
    Merge(Merge),
    /// Print the runs of a store as CSV, a line for each flow, also during a sweep
    Export(Export),
    /// Compare two results, paired by point and seed, and fail if a metric has become worse than a bound allows
    Compare(Compare),
    /// Check a scenario, and print its errors or a summary of its runs
    Check(Check),
    /// Write a commented scenario to start from
    New(New),
    /// Open a page in the browser in which a scenario is edited and run, and its figures renew
    Serve(Serve),
    /// Write a scenario with the network of another tool's file: Topology Zoo, SNDlib, Mininet, htsim, HPCC
    Import(Import),
    /// Read captures (pcap, pcapng) and print their connections, subflows, retransmissions and round-trip times
    Analyze(Analyze),
    /// List all names that scenarios may use, and the publications
    List(List),
    /// Reproduce the experiments of a publication and compare the figures
    Reproduce(Reproduce),
    /// Measure the speed of the engine
    Bench(Bench),
    /// Run scenarios both in the simulator and on this kernel, and compare the figures
    Validate(Validate),
    /// Load, list or unload coupled congestion control in this kernel (needs root)
    Cc(Cc),
    /// Manage the paths of this machine's MPTCP connections until interrupted (needs root)
    Paths(Paths),
    /// Watch this machine's MPTCP connections, their subflows, and which of these share a bottleneck
    Watch(Watch),
    /// Proxy for applications: SOCKS5 and HTTP CONNECT in, MPTCP over several interfaces out (needs root)
    Proxy(Proxy),
    /// Show the connections, subflows and bytes of running proxies and path managers (needs root)
    Status(StatusArguments),
    /// Build the network of a scenario on Linux, which stays until `down` (needs root)
    Up(Up),
    /// Run a command in a host of a network that is up; the exit code is the command's
    Exec(Exec),
    /// Open a shell in a host of a network that is up
    Shell(Shell),
    /// List the networks that are up, their hosts, and the programs in them
    Ps(Ps),
    /// Interrupt a link of a network that is up, or restore it
    Link(Link),
    /// Change the rate, the delay or the loss of a link of a network that is up
    Set(Set),
    /// End a network that is up, with all programs in it
    Down(Down),
    /// Remove what killed runs and networks on Linux, proxies and path managers left behind
    Cleanup,
    /// Run scripts of protocol tests against the TCP, MPTCP and SCTP stacks
    Conform(Conform),
    /// Print a JSON Schema of scenario files, for completion and checks in editors
    Schema,
    /// Print completions of this command for a shell
    Completions(Completions),
    /// Print a manual page in roff, of this command or of one of its commands
    Man(Man),
}

/// What becomes of the results of runs.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Folder for the results [default: results/NAME with --format text, none otherwise]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Also write each figure of the report to a separate file, in the folder for the results
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) figures: Option<Figures>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

impl Output {
    /// The path of the folder for the results, if there is to be one. The name of the default folder ends with `suffix`.
    pub(crate) fn folder(&self, plan: &Plan, suffix: &str) -> Option<PathBuf> {
        match (&self.out, self.format) {
            (Some(out), _) => Some(out.clone()),
            (None, Format::Text) => Some(PathBuf::from("results").join(format!("{}{suffix}", plan.document.name))),
            (None, Format::Json | Format::Csv) => None,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) source: Source,
    /// How many runs to do at once [default: one for each core; on Linux always one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Do each run on up to N threads, with the same results; if its network cannot be divided, on one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) threads: Option<u16>,
    #[command(flatten)]
    pub(crate) repeating: Repeating,
    #[command(flatten)]
    pub(crate) comparing: Comparing,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Show metrics over time of the run under way in this terminal: goodput, cwnd, srtt and queue, or those given, such
    /// as --tui=goodput,in-flight. It keeps metrics over time as a folder for the results does; q cancels the runs
    #[arg(long, value_name = "METRICS", num_args = 0..=1, require_equals = true, value_delimiter = ',')]
    #[arg(default_missing_value = "goodput,cwnd,srtt,queue", conflicts_with = "shard")]
    pub(crate) tui: Option<Vec<String>>,
    /// Replace results, captures or event logs of more runs than this command does
    #[arg(long)]
    pub(crate) force: bool,
    /// Folder in which each run is kept when it ends; runs that it contains are not repeated [default: DIR.runs beside
    /// the folder for the results, until these are written]
    #[arg(long, value_name = "DIR", conflicts_with = "pcap")]
    pub(crate) store: Option<PathBuf>,
    /// Continue an interrupted command: do the runs that are not kept yet
    #[arg(long, conflicts_with = "pcap")]
    pub(crate) resume: bool,
    /// Continue after a run has failed; its error is kept, and --resume repeats the run
    #[arg(long, conflicts_with = "pcap")]
    pub(crate) keep_going: bool,
    /// Do only the K-th of N parts of the runs, into the store; `subflow merge` writes the results
    #[arg(long, value_name = "K/N", requires = "store")]
    #[arg(conflicts_with_all = ["out", "figures", "pcap", "baseline", "compare"])]
    pub(crate) shard: Option<Shard>,
    /// Write every packet at every host to captures in this folder, RUN-HOST.pcapng
    #[arg(long, value_name = "DIR")]
    pub(crate) pcap: Option<PathBuf>,
    /// The maximum size of all captures together, before and during the run
    #[arg(long, value_name = "SIZE", default_value = "10 GB", requires = "pcap")]
    pub(crate) pcap_limit: Size,
    /// Write what connections and schedulers do to event logs in this folder, RUN.jsonl
    #[arg(long, value_name = "DIR", conflicts_with = "shard")]
    pub(crate) events: Option<PathBuf>,
    /// Where to run it; on Linux each host becomes a network namespace, in real time (needs root)
    #[arg(long, value_enum, default_value_t = Platform::Simulator)]
    pub(crate) on: Platform,
    /// Run only the flows of a scenario, and none of its programs
    #[arg(long)]
    pub(crate) without_programs: bool,
    /// On Linux, what connects the kernels to the links [default: TUN devices, or veth pairs where there are none]
    #[arg(long, value_enum)]
    pub(crate) device: Option<Device>,
    /// On Linux, what routers become [default: they stay the simulator's]
    #[arg(long, value_enum, conflicts_with = "pcap")]
    pub(crate) switches: Option<Switches>,
    /// The controller of the switches, from `pip install subflow[openflow]`
    #[arg(long, value_name = "COMMAND", default_value = "subflow-openflow", requires = "switches")]
    pub(crate) controller: PathBuf,
}

impl Run {
    /// What the name of the default folder ends with.
    pub(crate) fn suffix(&self) -> &'static str {
        match self.on {
            Platform::Simulator => "",
            Platform::Linux => "-linux",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switches {
    /// Open vSwitch with its userspace datapath, and an OpenFlow controller that runs during the run
    Ovs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Platform {
    /// In virtual time
    Simulator,
    /// In real time, with the kernel's TCP and MPTCP
    Linux,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Device {
    /// TUN devices, which need /dev/net/tun
    Tun,
    /// veth pairs, read and written by packet sockets
    Veth,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Also simulate parts of a few runs, and print an estimate of the CPU time and disk space of all runs
    #[arg(long)]
    pub(crate) probe: bool,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// What to list [default: everything]
    #[arg(value_enum)]
    pub(crate) what: Option<Catalogue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Catalogue {
    Protocols,
    Congestion,
    Schedulers,
    PathManagers,
    Detectors,
    Profiles,
    Topologies,
    /// Routing modes
    Routing,
    Queues,
    Losses,
    Middleboxes,
    /// Distributions of delays
    Jitter,
    /// All other keys with a fixed set of names
    Switches,
    Papers,
}

/// A time for `--duration` and `--interval`.
fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|seconds| (0.001..=1000.0).contains(seconds));
    number.ok_or_else(|| "expected a number from 0.001 to 1000".to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Figures {
    /// Vector graphics for papers
    Svg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables to read
    Text,
    /// One object with everything
    Json,
    /// A line for each connection and subflow
    Csv,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchFormat {
    /// A table to read
    Text,
    /// One object
    Json,
}

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
    /// The command, such as run, or cc load
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands to this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    pub(crate) out: Option<PathBuf>,
}

#[cfg(feature = "conformance")]
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
