//! The arguments of `subflow import`.

use std::path::PathBuf;

use clap::Args;
use subflow_quantity::{Duration, Rate};

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file: GraphML or GML (Topology Zoo), SNDlib (XML, JSON, native), MiniEdit's .mn, minitopo, htsim's .topo,
    /// HPCC's topologies, or lines of two nodes and a weight (Rocketfuel); - is standard input
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
    /// The two nodes that a connection joins, instead of demands [default: the file's demands, or the two nodes that are
    /// farthest apart]
    #[arg(long, value_names = ["NODE", "NODE"], num_args = 2)]
    pub(crate) between: Option<Vec<String>>,
    /// Leave out the file's demands
    #[arg(long)]
    pub(crate) without_demands: bool,
}

fn speed(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|speed| (1.0..=300_000.0).contains(speed));
    number.ok_or_else(|| "expected a number from 1 to 300000".to_owned())
}

fn factor(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|factor| (1e-9..=1e3).contains(factor));
    number.ok_or_else(|| "expected a number from 0.000000001 to 1000".to_owned())
}
