//! The arguments of the commands that read the files of other tools: `analyze` and `import`.

use std::path::PathBuf;

use clap::Args;
#[cfg(feature = "analyze")]
use clap::ValueEnum;
#[cfg(feature = "import")]
use subflow_quantity::{Duration, Packets, Rate};

#[cfg(feature = "analyze")]
use super::Figures;

#[cfg(feature = "analyze")]
#[derive(Debug, Args)]
pub(crate) struct Analyze {
    /// Captures in the format pcap or pcapng, also compressed with gzip or zstd. Several are read together: of both ends,
    /// of several interfaces, of a capture that was cut in time. What they contain tells which are of one host
    #[arg(value_name = "FILE", required_unless_present = "host", num_args = 1..=1000)]
    pub(crate) files: Vec<PathBuf>,
    /// Captures of one host, with commas between them, which are read as one; each FILE is then of a host of its own
    #[arg(long, value_name = "FILE,FILE", value_parser = HostFiles::read)]
    pub(crate) host: Vec<HostFiles>,
    /// Write the packets to this pcap file, with other addresses, without payloads and links, instead of analysing them:
    /// equal prefixes of addresses stay equal (Crypto-PAn). The file must not exist
    #[arg(
        long,
        value_name = "OUT.pcap",
        conflicts_with_all = ["host", "out", "format", "table", "clocks", "scenario", "trace"],
    )]
    pub(crate) anonymise: Option<PathBuf>,
    /// A file with a secret: the same one gives the same addresses in several captures [default: a secret of its own for
    /// each run]
    #[arg(long, value_name = "FILE", requires = "anonymise")]
    pub(crate) secret: Option<PathBuf>,
    /// Whether the times of several files can be compared
    #[arg(long, value_enum, default_value_t = CaptureClocks::Auto)]
    pub(crate) clocks: CaptureClocks,
    /// Folder for tables, series over time and a report
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Also write each figure of the report to a separate file, in the folder
    #[arg(long, value_enum, value_name = "FORMAT", requires = "out")]
    pub(crate) figures: Option<Figures>,
    /// Replace other results in the folder
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Scenario to write, which must not exist: links as far as the packets tell what they are like, and the connections
    /// with their sizes and times
    #[arg(long, value_name = "SCENARIO")]
    pub(crate) scenario: Option<PathBuf>,
    /// Trace to write, which must not exist: the rate of a sender's packets over time, for `trace` of an event
    #[arg(long, value_name = "CSV")]
    pub(crate) trace: Option<PathBuf>,
    /// The sender whose packets make the trace [default: the one that sent most bytes]
    #[arg(long, value_name = "ADDRESS", requires = "trace")]
    pub(crate) trace_from: Option<std::net::IpAddr>,
    /// What to print
    #[arg(long, value_enum, default_value_t = AnalyzeFormat::Text)]
    pub(crate) format: AnalyzeFormat,
    /// The table that `--format csv` prints
    #[arg(long, value_enum, default_value_t = CaptureTable::Subflows)]
    pub(crate) table: CaptureTable,
}

#[cfg(feature = "analyze")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnalyzeFormat {
    /// Tables to read
    Text,
    /// One object with everything
    Json,
    /// One table
    Csv,
}

#[cfg(feature = "analyze")]
/// A table of an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CaptureTable {
    /// A line for each direction of a connection
    Connections,
    /// A line for each direction of a subflow or path
    Subflows,
    /// A line for each pair of subflows and detector of shared bottlenecks
    Bottlenecks,
    /// A line for each protocol and outcome of connections of which there are only totals
    Totals,
}

#[cfg(feature = "analyze")]
/// Whose clock the times of each file are by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CaptureClocks {
    /// One clock, unless that would make a delay negative or the clocks run at different speeds
    Auto,
    /// One clock
    Same,
    /// A clock for each file: offset and skew are estimated and removed
    Different,
}

#[cfg(feature = "analyze")]
impl From<CaptureClocks> for subflow_analyze::Clocks {
    fn from(clocks: CaptureClocks) -> Self {
        match clocks {
            CaptureClocks::Auto => Self::Auto,
            CaptureClocks::Same => Self::Same,
            CaptureClocks::Different => Self::Different,
        }
    }
}

#[cfg(feature = "analyze")]
impl Analyze {
    /// The command line that makes the same report.
    pub(crate) fn command(&self) -> String {
        let joined =
            |files: &[PathBuf], by| files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(by);
        let hosts: String = self.host.iter().map(|host| format!(" --host {}", joined(&host.0, ","))).collect();
        let files = if self.files.is_empty() { String::new() } else { format!(" {}", joined(&self.files, " ")) };
        let out = self.out.as_ref().map(|out| format!(" --out {}", out.display())).unwrap_or_default();
        format!("subflow analyze{files}{hosts}{out}")
    }

    /// The captures of each host, if that is said.
    pub(crate) fn hosts(&self) -> Option<Vec<Vec<PathBuf>>> {
        let others = self.files.iter().map(|file| vec![file.clone()]);
        (!self.host.is_empty()).then(|| self.host.iter().map(|host| host.0.clone()).chain(others).collect())
    }

    /// All captures.
    pub(crate) fn all_files(&self) -> Vec<PathBuf> {
        self.hosts().map_or_else(|| self.files.clone(), |hosts| hosts.concat())
    }
}

#[cfg(feature = "analyze")]
/// The captures of one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostFiles(Vec<PathBuf>);

#[cfg(feature = "analyze")]
impl HostFiles {
    fn read(text: &str) -> Result<Self, String> {
        let files: Vec<PathBuf> = text.split(',').map(PathBuf::from).collect();
        let is_empty = files.iter().any(|file| file.as_os_str().is_empty());
        if is_empty { Err("expected names of files with commas between them".to_owned()) } else { Ok(Self(files)) }
    }
}

#[cfg(feature = "import")]
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file: a network in GraphML or GML (Topology Zoo), of SNDlib (XML, JSON, native), MiniEdit's .mn, minitopo,
    /// htsim's .topo, HPCC, or in lines of two nodes and a weight (Rocketfuel, CAIDA); a page load (HAR); a video of DASH
    /// (.mpd) or HLS (.m3u8, with the playlists of its variants beside it); - is standard input
    pub(crate) file: PathBuf,
    /// The scenario to write, which must not exist [default: standard output]
    #[arg(long, value_name = "SCENARIO")]
    pub(crate) out: Option<PathBuf>,
    /// The rate of links of which the file says nothing
    #[arg(long, value_name = "RATE", default_value = "1 Gbit/s")]
    pub(crate) rate: Rate,
    /// The delay of links of which the file says nothing, neither as a delay nor by the places of their ends
    #[arg(long, value_name = "TIME", default_value = "1 ms")]
    pub(crate) delay: Duration,
    /// The speed of light in the links, in km/s, for delays that follow from places
    #[arg(long, value_name = "SPEED", default_value_t = 200_000.0, value_parser = speed)]
    pub(crate) km_per_second: f64,
    /// Multiply all rates, of links and of demands, by this
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = factor)]
    pub(crate) scale: f64,
    /// The queue of links of which the file says nothing [default: 100 packets]
    #[arg(long, value_name = "PACKETS")]
    pub(crate) queue: Option<Packets>,
    /// The two nodes that a connection joins, instead of demands [default: the file's demands, or the two nodes that are
    /// farthest apart]
    #[arg(long, value_names = ["NODE", "NODE"], num_args = 2)]
    pub(crate) between: Option<Vec<String>>,
    /// Leave out the file's demands
    #[arg(long)]
    pub(crate) without_demands: bool,
}

#[cfg(feature = "import")]
#[derive(Debug, Args)]
pub(crate) struct ExportNetwork {
    /// Write the network of a scenario for this tool: namespaces with tc, Mininet, ns-3 or htsim
    #[arg(long, value_name = "TOOL", value_parser = tool())]
    pub(crate) to: Option<subflow_export::Target>,
    /// The file to write, which must not exist [default: standard output]
    #[arg(long, value_name = "FILE", requires = "to")]
    pub(crate) out: Option<PathBuf>,
    /// Change a value of the scenario, as `run --set` does; may be given several times
    #[arg(long, value_name = "KEY=VALUE", requires = "to")]
    pub(crate) set: Vec<String>,
}

#[cfg(feature = "import")]
fn tool() -> impl clap::builder::TypedValueParser<Value = subflow_export::Target> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    let names = PossibleValuesParser::new(subflow_export::Target::ALL.map(subflow_export::Target::name));
    names.map(|name| {
        let named = subflow_export::Target::ALL.into_iter().find(|target| target.name() == name);
        named.expect("only these names are accepted")
    })
}

#[cfg(feature = "import")]
fn speed(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|speed| (1.0..=300_000.0).contains(speed));
    number.ok_or_else(|| "expected a number from 1 to 300000".to_owned())
}

#[cfg(feature = "import")]
fn factor(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|factor| (1e-9..=1e3).contains(factor));
    number.ok_or_else(|| "expected a number from 0.000000001 to 1000".to_owned())
}
