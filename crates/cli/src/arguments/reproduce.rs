//! The arguments of `subflow reproduce`.

use std::path::PathBuf;

use clap::Args;

use super::{Figures, Format, Platform, names};

#[derive(Debug, Args)]
pub(crate) struct Reproduce {
    /// The publication, or all; `subflow list papers` names them
    #[arg(required_unless_present = "folder", conflicts_with = "folder")]
    #[arg(value_parser = names::publications(), hide_possible_values = true)]
    pub(crate) paper: Option<String>,
    /// The folder of a study of your own, with its paper.toml, instead of a publication
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Only this item; may be given several times
    #[arg(long, value_name = "ITEM")]
    pub(crate) item: Vec<String>,
    /// Fewer and shorter runs, for first results
    #[arg(long)]
    pub(crate) quick: bool,
    /// A CSV file of configurations instead of the publication's own (linux612)
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) cases: Option<PathBuf>,
    /// Where to run it; on Linux items that can also run in real time, beside the simulator (needs root)
    #[arg(long, value_enum, default_value_t = Platform::Simulator)]
    pub(crate) on: Platform,
    /// The controller of switches on Linux, from `pip install subflow[openflow]` [default: subflow-openflow]
    #[arg(long, value_name = "COMMAND")]
    pub(crate) controller: Option<PathBuf>,
    /// With --on linux, how many runs of each case to do in real time, and as many in the simulator [default: those of
    /// the publication]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) repeat: Option<u16>,
    /// How many runs to do at once [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Folder for the results
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replace results of more than this command reproduces, and remove kept runs unless --resume is given
    #[arg(long)]
    pub(crate) force: bool,
    /// Folder in which runs are kept, for this command and others; without it, runs are kept beside DIR of --out until
    /// the results are written
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Use the runs that an interrupted command has kept
    #[arg(long)]
    pub(crate) resume: bool,
    /// Continue after a run has failed; the results do not contain it, and --resume repeats it
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Also write each figure of the report to a separate file, in the folder for the results
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) figures: Option<Figures>,
}
