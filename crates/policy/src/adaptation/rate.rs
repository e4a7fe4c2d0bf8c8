//! `rate`: by the throughput of the chunks before.
//!
//! ```text
//! C = n / Σ (1 / C_i)    over the latest n ≤ 5 chunks
//! R_next = max { R_i : R_i ≤ C }, or R_min if C is less
//! ```
//!
//! The throughput C_i of a chunk is its size over the time from its request to its last byte. The harmonic mean, which a
//! single fast chunk hardly raises, is that of Jiang, Sekar, Zhang, "Improving Fairness, Efficiency, and Stability in
//! HTTP-based Adaptive Video Streaming with FESTIVE", CoNEXT 2012, section 4.2, there over 20 chunks; five are those of
//! the rate-based player in Yin, Jindal, Sekar, Sinopoli, "A Control-Theoretic Approach for Dynamic Adaptive Video
//! Streaming over HTTP", SIGCOMM 2015, section 7.1.2. The first chunk has the lowest quality.

use super::{PlayerView, highest_up_to};

/// The number of chunks that the estimate takes.
const CHUNKS: usize = 5;

/// The quality of the next chunk.
pub(super) fn choose(view: &PlayerView<'_>) -> usize {
    let latest = &view.throughputs[view.throughputs.len().saturating_sub(CHUNKS)..];
    if latest.is_empty() {
        return 0;
    }
    let times: f64 = latest.iter().map(|throughput| 1.0 / throughput).sum();
    highest_up_to(view.ladder, latest.len() as f64 / times)
}

#[cfg(test)]
mod tests {
    use subflow_quantity::{Duration, Rate};

    use super::*;

    fn chosen(mbit: &[f64]) -> usize {
        let ladder = [1, 2, 3, 5].map(Rate::from_mbit);
        let throughputs: Vec<f64> = mbit.iter().map(|mbit| mbit * 1e6).collect();
        choose(&PlayerView {
            ladder: &ladder,
            chunk: Duration::from_secs(4),
            capacity: Duration::from_secs(30),
            buffered: Duration::ZERO,
            previous: None,
            throughputs: &throughputs,
        })
    }

    #[test]
    fn the_estimate_is_the_harmonic_mean_of_the_last_five_chunks() {
        assert_eq!(chosen(&[]), 0, "nothing is known");
        // 2 / (1/2 + 1/6) = 3 Mbit/s; their arithmetic mean is 4.
        assert_eq!([chosen(&[2.0, 6.0]), chosen(&[2.0, 5.9])], [2, 1]);
        // 5 / (4/10 + 1/2) = 5.56 Mbit/s; the two slow chunks before are forgotten.
        assert_eq!(chosen(&[0.1, 0.1, 10.0, 10.0, 10.0, 10.0, 2.0]), 3);
        assert_eq!(chosen(&[0.5]), 0, "the lowest quality also where the path carries less");
    }
    #[test]
    fn one_fast_chunk_hardly_raises_the_estimate() {
        // 5 / (4/2 + 1/100) = 2.49 Mbit/s.
        assert_eq!(chosen(&[2.0, 2.0, 2.0, 2.0, 100.0]), 1);
    }
}
