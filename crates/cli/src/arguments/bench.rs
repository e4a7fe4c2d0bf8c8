//! The arguments of `subflow bench`.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use subflow_lab::benchmark::BulkProtocol;

use super::{BenchFormat, seconds};

#[derive(Debug, Args)]
pub(crate) struct Bench {
    #[command(subcommand)]
    pub(crate) benchmark: Benchmark,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Benchmark {
    /// Bulk TCP, SCTP or QUIC flows through one bottleneck of 100 Mbit/s
    Dumbbell(Dumbbell),
    /// MPTCP connections between all hosts of a fat tree of 1 Gbit/s
    FatTree(FatTree),
    /// One connection from our MPTCP to the kernel's over a TUN device, in real time (needs root)
    Tun(BenchTun),
}

#[cfg(not(all(feature = "linux", target_os = "linux")))]
pub(crate) use super::AnyArguments as BenchTun;

#[cfg(all(feature = "linux", target_os = "linux"))]
#[derive(Debug, Args)]
pub(crate) struct BenchTun {
    /// Real seconds
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) duration: u32,
    /// Largest packet in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..=9000))]
    pub(crate) mtu: u16,
    /// What to print
    #[arg(long, value_enum, default_value_t = BenchFormat::Text)]
    pub(crate) format: BenchFormat,
}

#[derive(Debug, Args)]
pub(crate) struct Dumbbell {
    /// How many flows
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) flows: u32,
    /// Simulated seconds
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) duration: u32,
    /// What the flows are
    #[arg(long, default_value = BulkProtocol::ALL[0].name, value_parser = bulk_protocol())]
    pub(crate) protocol: &'static BulkProtocol,
    /// Packets per acknowledgment: more take less work and change the results [default: 1 with TCP, 2 with SCTP]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) ack_every: Option<u16>,
    /// What to print
    #[arg(long, value_enum, default_value_t = BenchFormat::Text)]
    pub(crate) format: BenchFormat,
}

#[derive(Debug, Args)]
pub(crate) struct FatTree {
    /// Ports of a switch: an even number from 2 to 32
    #[arg(long, value_name = "K", default_value_t = 8, value_parser = even_ports)]
    pub(crate) k: u32,
    /// Subflows of each connection
    #[arg(long, value_name = "S", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) subflows: u32,
    /// Simulated seconds
    #[arg(long, value_name = "S", default_value_t = 0.5, value_parser = seconds)]
    pub(crate) duration: f64,
    /// Threads that do the one run
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) threads: u16,
    /// Packets per acknowledgment: more take less work and change the results [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) ack_every: Option<u16>,
    /// What to print
    #[arg(long, value_enum, default_value_t = BenchFormat::Text)]
    pub(crate) format: BenchFormat,
}

fn even_ports(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|k: &u32| (2..=32).contains(k) && k.is_multiple_of(2));
    number.ok_or_else(|| "expected an even number from 2 to 32".to_owned())
}

/// Takes the name of a protocol.
fn bulk_protocol() -> impl TypedValueParser<Value = &'static BulkProtocol> {
    let names = BulkProtocol::ALL.iter().map(|known| PossibleValue::new(known.name).help(known.summary));
    PossibleValuesParser::new(names)
        .try_map(|name| BulkProtocol::from_name(&name).ok_or_else(|| format!("no protocol is called {name}")))
}
