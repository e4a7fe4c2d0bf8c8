//! The arguments of `subflow validate`.

use clap::Args;

use super::{BenchFormat, Device};

#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// Only this case; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) case: Vec<String>,
    /// How often the kernel runs each case [default: once, and more often where chance decides]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: Option<u32>,
    /// What joins the kernels to the links [default: TUN devices, or veth pairs where there are none]
    #[arg(long, value_enum)]
    pub(crate) device: Option<Device>,
    /// What to print
    #[arg(long, value_enum, default_value_t = BenchFormat::Text)]
    pub(crate) format: BenchFormat,
}
