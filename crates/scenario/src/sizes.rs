//! Sizes of transfers and messages that are drawn at random: well-known distributions, and those measured by others
//! ([`SizeTable`]).

use std::sync::Arc;

use rand_core::RngCore;

use crate::SizeTable;
use crate::random::{below, standard_normal, uniform};
use crate::size_table::MOST_BYTES;

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
}
