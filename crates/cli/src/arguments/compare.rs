//! The arguments of comparisons.

use std::path::PathBuf;

use clap::Args;
use subflow_lab::comparison::{Bound, Precision};
use subflow_lab::results::metrics::ComparedMetric;

use super::BenchFormat;

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The results that are the baseline: a folder of `run --out`, or the JSON of `run --format json`
    pub(crate) baseline: PathBuf,
    /// The results that are compared with them
    pub(crate) results: PathBuf,
    #[command(flatten)]
    pub(crate) metrics: Metrics,
    /// Exit with 1 if METRIC has become worse by more than PERCENT of the baseline's mean; may be given several times
    #[arg(long, value_name = "METRIC PERCENT %")]
    pub(crate) bound: Vec<Bound>,
    /// What to print
    #[arg(long, value_enum, default_value_t = BenchFormat::Text)]
    pub(crate) format: BenchFormat,
}

#[derive(Debug, Args)]
pub(crate) struct Metrics {
    #[arg(long, value_name = "NAME", help = metrics())]
    pub(crate) metric: Vec<ComparedMetric>,
}

/// The help of `--metric`, with the names of all metrics.
fn metrics() -> String {
    let names = |metrics: &mut dyn Iterator<Item = ComparedMetric>, last: &str| {
        let names: Vec<&str> = metrics.map(|metric| metric.name).collect();
        let (end, start) = names.split_last().expect("there are metrics");
        format!("{} {last} {end}", start.join(", "))
    };
    format!(
        "What to compare: {}; may be given several times [default: {}, where flows have them]",
        names(&mut ComparedMetric::all(), "or"),
        names(&mut ComparedMetric::usual().into_iter(), "and"),
    )
}

/// What is compared with what, of runs that are done now.
#[derive(Debug, Args)]
pub(crate) struct Comparing {
    /// Add the differences of all points of the sweep to those with this value of a swept name, paired by seed
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) baseline: Option<String>,
    /// Also print the differences to these results: a folder of an earlier command
    #[arg(long, value_name = "DIR", conflicts_with = "baseline")]
    pub(crate) compare: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) metrics: Metrics,
    /// With --compare, exit with 1 if METRIC has become worse by more than PERCENT of the mean there; may be given
    /// several times
    #[arg(long, value_name = "METRIC PERCENT %", requires = "compare")]
    pub(crate) bound: Vec<Bound>,
}

/// When there are enough runs.
#[derive(Debug, Args)]
pub(crate) struct Repeating {
    /// Repeat until the 95 % interval of each mean is this narrow, such as "goodput ± 2 %" (or +-): at least 10 runs of
    /// each point, then a quarter more each time
    #[arg(long, value_name = "METRIC ± PERCENT %", conflicts_with_all = ["shard", "pcap"])]
    pub(crate) until: Option<Precision>,
    /// With --until, the most runs of each point
    #[arg(long, value_name = "N", default_value_t = 100, requires = "until")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_repeat: u32,
}
