//! Varying delay as in `tc netem`: jitter with a distribution and correlation, and packets without delay.

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::Duration;

use crate::Probability;

/// The variation of a link's delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// σ: half the width of the uniform distribution, the standard deviation of the normal one, the scale of Pareto's.
    pub deviation: Duration,
    /// Which distribution.
    pub distribution: Distribution,
    /// The weight of the previous draw in each draw. As in netem, it also narrows the distribution.
    pub correlation: Probability,
}

/// The distribution of delays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distribution {
    /// Uniform from delay − σ to delay + σ (netem without `distribution`).
    #[default]
    Uniform,
    /// delay + σ z with a standard normal z, limited to four σ.
    Normal,
    /// delay + σ (u^(−1/3) − 3/2) · 4/3 with a uniform u, limited to four σ: most packets are early, some very late
    /// (iproute2's table).
    Pareto,
}

/// Packets without delay, which overtake those before them (`tc netem reorder`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overtaking {
    /// The probability that a packet that may overtake does so.
    pub probability: Probability,
    /// The weight of the previous draw in each draw.
    pub correlation: Probability,
    /// Every `gap`-th packet after the last one that overtook may overtake; at least 1.
    pub gap: u32,
}

/// The state that determines the delay of each packet.
#[derive(Debug)]
pub(crate) struct Netem {
    pub(crate) delay: Duration,
    jitter: Option<(Jitter, Correlated)>,
    overtaking: Option<(Overtaking, Correlated)>,
    /// Packets delayed since the last one that overtook.
    delayed: u32,
}

impl Netem {
    /// `None` if every packet has the same delay.
    pub(crate) fn new(delay: Duration, jitter: Option<Jitter>, overtaking: Option<Overtaking>) -> Option<Self> {
        if jitter.is_none() && overtaking.is_none() {
            return None;
        }
        Some(Self {
            delay,
            jitter: jitter.map(|jitter| (jitter, Correlated::new(jitter.correlation))),
            overtaking: overtaking.map(|overtaking| (overtaking, Correlated::new(overtaking.correlation))),
            delayed: 0,
        })
    }

    /// The delay of the next packet (`netem_enqueue`); `None` if it overtakes.
    pub(crate) fn next(&mut self, random: &mut Pcg64Mcg) -> Option<Duration> {
        if let Some((overtaking, draws)) = &mut self.overtaking
            && self.delayed >= overtaking.gap - 1
            && overtaking.probability.hits(draws.next(random))
        {
            self.delayed = 0;
            return None;
        }
        self.delayed = self.delayed.saturating_add(1);
        let Some((jitter, draws)) = &mut self.jitter else { return Some(self.delay) };
        let deviation = jitter.deviation.as_nanos() as f64 * jitter.distribution.deviations(draws.next(random));
        let nanos = libm::round(self.delay.as_nanos() as f64 + deviation).max(0.0);
        Some(Duration::from_nanos(nanos as u64))
    }
}

impl Distribution {
    /// The deviation, in σ, for a draw from all 32-bit numbers.
    fn deviations(self, draw: u32) -> f64 {
        // The middle of the draw's interval, so that it is never 0 or 1.
        let uniform = (f64::from(draw) + 0.5) / (1u64 << 32) as f64;
        match self {
            Self::Uniform => 2.0 * uniform - 1.0,
            Self::Normal => normal_quantile(uniform).clamp(-4.0, 4.0),
            Self::Pareto => ((libm::cbrt(1.0 / uniform) - 1.5) * 4.0 / 3.0).min(4.0),
        }
    }
}

/// Draws in which the previous draw has a weight (netem's `get_crandom`).
#[derive(Debug)]
struct Correlated {
    /// The weight ρ in steps of 2⁻³².
    part: u64,
    last: u32,
}

impl Correlated {
    fn new(correlation: Probability) -> Self {
        Self { part: (correlation.as_f64() * (1u64 << 32) as f64) as u64, last: 0 }
    }

    fn next(&mut self, random: &mut Pcg64Mcg) -> u32 {
        let value = (random.next_u64() >> 32) as u32;
        if self.part == 0 {
            return value;
        }
        let mixed =
            u128::from(value) * u128::from((1u64 << 32) - self.part) + u128::from(self.last) * u128::from(self.part);
        self.last = (mixed >> 32) as u32;
        self.last
    }
}

/// z with Φ(z) = `p`, for 0 < `p` < 1, by bisection on the complementary error function: exact to 10⁻⁹, and the same on
/// every machine.
fn normal_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..36 {
        let middle = (low + high) / 2.0;
        if 0.5 * libm::erfc(-middle / core::f64::consts::SQRT_2) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream;

    fn p(value: f64) -> Probability {
        Probability::new(value).unwrap()
    }

    fn delays_ms(distribution: Distribution, correlation: f64, n: usize) -> Vec<f64> {
        let jitter = Jitter { deviation: Duration::from_millis(10), distribution, correlation: p(correlation) };
        let mut netem = Netem::new(Duration::from_millis(100), Some(jitter), None).unwrap();
        let mut random = stream(1, "test");
        (0..n).map(|_| netem.next(&mut random).unwrap().as_nanos() as f64 / 1e6).collect()
    }

    fn moments(values: &[f64]) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt())
    }

    #[test]
    fn each_distribution_has_its_mean_spread_and_bounds() {
        let uniform = delays_ms(Distribution::Uniform, 0.0, 50_000);
        let (mean, deviation) = moments(&uniform);
        assert!((mean - 100.0).abs() < 0.1 && (deviation - 10.0 / 3f64.sqrt()).abs() < 0.1, "{mean} {deviation}");
        assert!(uniform.iter().all(|d| (90.0..=110.0).contains(d)));

        let normal = delays_ms(Distribution::Normal, 0.0, 20_000);
        let (mean, deviation) = moments(&normal);
        assert!((mean - 100.0).abs() < 0.3 && (deviation - 10.0).abs() < 0.2, "{mean} {deviation}");

        let pareto = delays_ms(Distribution::Pareto, 0.0, 50_000);
        let early = pareto.iter().filter(|&&d| d < 100.0).count();
        assert!((30_000..40_000).contains(&early), "{early}");
        assert!(pareto.iter().all(|d| (93.0..=140.0).contains(d)));
    }

    #[test]
    fn with_correlation_consecutive_delays_are_similar() {
        let steps = |delays: Vec<f64>| delays.windows(2).map(|w| (w[0] - w[1]).abs()).sum::<f64>();
        let (none, much) = (delays_ms(Distribution::Uniform, 0.0, 5000), delays_ms(Distribution::Uniform, 0.9, 5000));
        assert!(steps(much) < steps(none) / 4.0);
    }

    #[test]
    fn a_delay_is_never_negative() {
        let jitter =
            Jitter { deviation: Duration::from_millis(50), distribution: Distribution::Normal, correlation: p(0.0) };
        let mut netem = Netem::new(Duration::from_millis(10), Some(jitter), None).unwrap();
        let mut random = stream(1, "test");
        let delays: Vec<_> = (0..1000).map(|_| netem.next(&mut random).unwrap()).collect();
        assert!(delays.contains(&Duration::ZERO));
    }

    #[test]
    fn with_a_gap_and_probability_1_every_gap_th_packet_overtakes() {
        let overtaking = Overtaking { probability: Probability::ALWAYS, correlation: p(0.0), gap: 4 };
        let mut netem = Netem::new(Duration::from_millis(10), None, Some(overtaking)).unwrap();
        let mut random = stream(1, "test");
        let overtakes: Vec<bool> = (0..12).map(|_| netem.next(&mut random).is_none()).collect();
        assert_eq!(overtakes, [false, false, false, true].repeat(3));
    }

    #[test]
    fn without_a_gap_packets_overtake_with_their_probability() {
        let overtaking = Overtaking { probability: p(0.25), correlation: p(0.0), gap: 1 };
        let mut netem = Netem::new(Duration::from_millis(10), None, Some(overtaking)).unwrap();
        let mut random = stream(1, "test");
        let share = (0..20_000).filter(|_| netem.next(&mut random).is_none()).count() as f64 / 20_000.0;
        assert!((share - 0.25).abs() < 0.01, "{share}");
    }

    #[test]
    fn the_quantile_inverts_the_distribution() {
        for (p, z) in [(0.5, 0.0), (0.841_344_746, 1.0), (0.022_750_132, -2.0), (0.999_968_329, 4.0)] {
            assert!((normal_quantile(p) - z).abs() < 1e-5, "{p}");
        }
    }
    #[test]
    fn with_zero_delay_and_jitter_packets_overtake() {
        let jitter =
            Jitter { deviation: Duration::from_millis(10), distribution: Distribution::Uniform, correlation: p(0.0) };
        let overtaking = Overtaking { probability: p(0.5), correlation: p(0.0), gap: 1 };
        let mut netem = Netem::new(Duration::ZERO, Some(jitter), Some(overtaking)).unwrap();
        let mut random = stream(1, "test");
        let delays: Vec<_> = (0..4000).map(|_| netem.next(&mut random)).collect();
        // Half of them overtake; half of the others draw a negative delay, which counts as zero.
        let late = delays.iter().flatten().filter(|delay| !delay.is_zero()).count();
        let skipped = delays.iter().filter(|delay| delay.is_none()).count();
        assert!((1900..2100).contains(&skipped) && (900..1100).contains(&late), "{skipped} {late}");
    }
}
