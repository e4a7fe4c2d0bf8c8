//! The arguments of `subflow analyze`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Figures;

#[derive(Debug, Args)]
pub(crate) struct Analyze {
    /// Captures in the format pcap or pcapng, also compressed with gzip or zstd. Several are read together: give those of
    /// both ends, or of all interfaces
    #[arg(value_name = "FILE", required = true, num_args = 1..=1000)]
    pub(crate) files: Vec<PathBuf>,
    /// Folder for tables, series over time and a report
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Also write each figure of the report to a separate file, in the folder
    #[arg(long, value_enum, value_name = "FORMAT", requires = "out")]
    pub(crate) figures: Option<Figures>,
    /// Replace other results in the folder
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = AnalyzeFormat::Text)]
    pub(crate) format: AnalyzeFormat,
    /// The table that `--format csv` prints
    #[arg(long, value_enum, default_value_t = CaptureTable::Subflows)]
    pub(crate) table: CaptureTable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnalyzeFormat {
    /// Tables to read
    Text,
    /// One object with everything
    Json,
    /// One table
    Csv,
}

/// A table of an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CaptureTable {
    /// A line for each direction of a connection
    Connections,
    /// A line for each direction of a subflow or path
    Subflows,
}

impl Analyze {
    /// The command line that makes the same report.
    pub(crate) fn command(&self) -> String {
        let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        let out = self.out.as_ref().map(|out| format!(" --out {}", out.display())).unwrap_or_default();
        format!("subflow analyze {}{out}", files.join(" "))
    }
}
