//! Sizes of transfers and messages that are drawn at random: well-known distributions, and those measured by others as
//! a table of their cumulative distribution function (CDF).
//!
//! ```text
//! bytes,probability
//! 1000,0.15
//! 20000,0.53
//! 1000000,1
//! ```
//!
//! The first line names the columns. A line says how probable it is that a transfer has at most so many bytes; between
//! two lines sizes are uniform. No line is smaller than the one before it, and the last probability is 1. Lines that
//! begin with `#` are comments.

use std::sync::Arc;

use rand_core::RngCore;

use crate::csv_table::{Cause, LineError, Record, records};
use crate::random::{below, standard_normal, uniform};

/// The maximum number of bytes of a transfer.
pub(crate) const MOST_BYTES: u64 = 1 << 60;

/// The distribution of the sizes of transfers or messages. Every draw is a whole number of bytes, at least 1.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeDistribution {
    /// Always this number of bytes.
    Constant(u64),
    /// Exponential.
    Exponential {
        /// The mean in bytes.
        mean: u64,
    },
    /// Pareto (type I): a probability of `(scale / x)^shape` of more than `x` bytes.
    Pareto {
        /// The mean in bytes, before draws are cut to `most`.
        mean: u64,
        /// The tail index, above 1. Up to 2 the variance is infinite.
        shape: f64,
        /// Larger draws are cut to this.
        most: u64,
    },
    /// Log-normal.
    Lognormal {
        /// The mean in bytes.
        mean: u64,
        /// The standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// Any whole number from `least` to `most`, all equally probable.
    Uniform {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// By a table.
    Empirical(Arc<SizeTable>),
}

/// A cumulative distribution function of sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeTable {
    /// Sizes in bytes, each with the probability of at most this size; the last one is 1.
    lines: Vec<(f64, f64)>,
}

impl SizeDistribution {
    /// Its mean in bytes, rounded; of Pareto without regard to `most`.
    pub fn mean(&self) -> u64 {
        match self {
            Self::Constant(mean)
            | Self::Exponential { mean }
            | Self::Pareto { mean, .. }
            | Self::Lognormal { mean, .. } => *mean,
            Self::Uniform { least, most } => least + (most - least) / 2,
            Self::Empirical(table) => whole(table.mean()),
        }
    }

    /// A size by the distribution, in bytes.
    pub fn draw(&self, rng: &mut impl RngCore) -> u64 {
        match self {
            Self::Constant(bytes) => *bytes,
            Self::Exponential { mean } => whole(-libm::log(uniform(rng)) * *mean as f64),
            Self::Pareto { mean, shape, most } => {
                let scale = *mean as f64 * (shape - 1.0) / shape;
                whole(scale * libm::pow(uniform(rng), -1.0 / shape)).min(*most)
            }
            Self::Lognormal { mean, sigma } => {
                let location = libm::log(*mean as f64) - sigma * sigma / 2.0;
                whole(libm::exp(location + sigma * standard_normal(rng)))
            }
            Self::Uniform { least, most } => least + below(most - least + 1, rng),
            Self::Empirical(table) => whole(table.at(uniform(rng))),
        }
    }
}

impl SizeTable {
    /// Reads the text of a file.
    pub(crate) fn parse(text: &str) -> Result<Self, LineError> {
        let mut lines: Vec<(f64, f64)> = Vec::new();
        for record in records(text, &["bytes", "probability"])? {
            let record = record?;
            let bytes = number(&record, 0, 1.0..=MOST_BYTES as f64, "a size in bytes, at least 1")?;
            let probability = number(&record, 1, 0.0..=1.0, "a probability from 0 to 1");
            let probability = probability.map_err(|error| match record.field(1).parse::<f64>() {
                Ok(percent) if (1.0..=100.0).contains(&percent) => error.because(Cause::Percent),
                _ => error,
            })?;
            if lines.last().is_some_and(|(size, sum)| bytes < *size || probability < *sum) {
                let expected = "a size and a probability that are not below those of the line before";
                return Err(LineError::new(record.line, record.text(), expected));
            }
            lines.push((bytes, probability));
        }
        match lines.last() {
            Some((_, sum)) if *sum == 1.0 => Ok(Self { lines }),
            Some((_, sum)) => Err(LineError::new(text.lines().count(), format!("{sum} as the last probability"), "1")),
            None => Err(LineError::new(2, "the end of the file", "a line with values")),
        }
    }

    /// The size at the cumulative probability `p`, which is from 0 to 1.
    fn at(&self, p: f64) -> f64 {
        let index = self.lines.partition_point(|(_, sum)| *sum < p);
        let (size, sum) = self.lines[index.min(self.lines.len() - 1)];
        match index.checked_sub(1).map(|before| self.lines[before]) {
            Some((below, lower)) if sum > lower => below + (size - below) * (p - lower) / (sum - lower),
            _ => size,
        }
    }

    fn mean(&self) -> f64 {
        let (first, sum) = self.lines[0];
        let pairs = self.lines.windows(2);
        first * sum + pairs.map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0).sum::<f64>()
    }
}

fn number(
    record: &Record,
    column: usize,
    allowed: core::ops::RangeInclusive<f64>,
    expected: &str,
) -> Result<f64, LineError> {
    let value = record.field(column).parse().ok().filter(|value| allowed.contains(value));
    value.ok_or_else(|| LineError::new(record.line, format!("'{}'", record.field(column)), expected))
}

fn whole(bytes: f64) -> u64 {
    bytes.round().clamp(1.0, MOST_BYTES as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# made\nbytes,probability\n1000,0.25\n3000,0.75\n11000,1\n";

    fn table() -> SizeDistribution {
        SizeDistribution::Empirical(Arc::new(SizeTable::parse(TABLE).expect("a table")))
    }

    #[test]
    fn every_distribution_has_its_mean_and_its_quartiles() {
        let heavy = SizeDistribution::Pareto { mean: 30_000, shape: 3.0, most: MOST_BYTES };
        // Quartiles by the inverse functions: -ln(1-p); (1-p)^(-1/3) of the scale 20,000; exp(μ ± 0.6745 σ).
        let cases = [
            (SizeDistribution::Exponential { mean: 10_000 }, 10_000.0, [2877.0, 6931.0, 13_863.0]),
            (heavy, 30_000.0, [22_013.0, 25_198.0, 31_748.0]),
            (SizeDistribution::Lognormal { mean: 10_000, sigma: 0.5 }, 10_000.0, [6298.0, 8825.0, 12_365.0]),
            (SizeDistribution::Uniform { least: 1000, most: 2000 }, 1500.0, [1250.0, 1500.0, 1750.0]),
            (table(), 0.25 * 1000.0 + 0.5 * 2000.0 + 0.25 * 7000.0, [1000.0, 2000.0, 3000.0]),
        ];
        for (sizes, mean, quartiles) in cases {
            let mut rng = subflow_network::stream(7, "sizes");
            let mut drawn: Vec<u64> = (0..100_000).map(|_| sizes.draw(&mut rng)).collect();
            drawn.sort_unstable();
            let sample_mean = drawn.iter().sum::<u64>() as f64 / 1e5;
            let close = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.02;
            assert!(close(sample_mean, mean) && close(sizes.mean() as f64, mean), "{sizes:?}: mean {sample_mean}");
            for (quarter, expected) in [25_000, 50_000, 75_000].into_iter().zip(quartiles) {
                assert!(close(drawn[quarter] as f64, expected), "{sizes:?}: {} for {expected}", drawn[quarter]);
            }
        }
    }

    #[test]
    fn the_largest_draw_of_a_heavy_tail_is_cut() {
        let sizes = SizeDistribution::Pareto { mean: 10_000, shape: 1.1, most: 50_000 };
        let mut rng = subflow_network::stream(1, "tail");
        assert_eq!((0..10_000).map(|_| sizes.draw(&mut rng)).max(), Some(50_000));
    }

    #[test]
    fn a_broken_table_is_refused_with_its_line() {
        for (text, line) in [
            ("bytes,share\n1,1\n", 1),
            ("bytes,probability\n", 2),
            ("bytes,probability\n1000,0.5\n", 2),
            ("bytes,probability\n1000,0.5\n900,1\n", 3),
            ("bytes,probability\n1000,0.5\n2000,0.4\n", 3),
            ("bytes,probability\n0,1\n", 2),
            ("bytes,probability\n1000,NaN\n", 2),
            ("bytes,probability\n1000\n", 2),
        ] {
            assert_eq!(SizeTable::parse(text).map_err(|error| error.line), Err(line), "{text:?}");
        }
        let cause = |text| SizeTable::parse(text).expect_err("it is broken").cause;
        assert_eq!(cause("bytes,probability\n1000,25\n3000,100\n"), Cause::Percent);
        assert_eq!(cause("bytes,probability\n1000,0.5\n3000,1000\n"), Cause::Value);
        assert_eq!(cause("bytes;probability\n1000;1\n"), Cause::Separator);
        assert_eq!(cause("bytes,share\n1000,1\n"), Cause::Columns);
    }
}
