//! The arguments of `subflow watch`.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::{BenchFormat, Figures, seconds};

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// Seconds between two reports
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = seconds)]
    pub(crate) interval: f64,
    /// Seconds until it ends [default: until Ctrl-C]
    #[arg(long, value_name = "S", value_parser = until)]
    pub(crate) duration: Option<f64>,
    /// Milliseconds between two looks at the kernel's figures, from which shared bottlenecks are detected
    #[arg(long, value_name = "MS", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) sample: u16,
    /// Capture the acknowledgments that arrive, for detectors that need the delays of single packets
    #[arg(long)]
    pub(crate) capture: bool,
    /// What to print: a table that is renewed, or an object for each report on a line of its own
    #[arg(long, value_enum, default_value_t = BenchFormat::Text)]
    pub(crate) format: BenchFormat,
    /// Folder for a report of the whole time, written at the end: figures over time, and a table of all subflows
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Also write each figure of the report to a file of its own, in this folder
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
