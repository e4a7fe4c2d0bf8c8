//! Bandwidth in the fixed-point arithmetic of Linux, and the largest of recent rounds (Linux `lib/win_minmax.c`).

/// The bits behind the point: one unit is about 715 bit/s for packets of 1500 bytes.
const SHIFT: u32 = 24;
/// Gains are in 1/256.
pub(super) const GAIN_UNIT: u32 = 256;
/// Pacing stays 1 % below the bandwidth, so that queues drain (Linux: `bbr_pacing_margin_percent`).
const MARGIN_PERCENT: u64 = 1;

/// A bandwidth in packets per microsecond, times 2^24.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bandwidth(pub(super) u64);

impl Bandwidth {
    /// That at which `packets` are delivered in `micros`, which are not 0.
    pub(super) fn of(packets: u64, micros: u64) -> Self {
        Self((u128::from(packets) << SHIFT).checked_div(micros.into()).map_or(0, saturated))
    }

    /// The packets that it delivers in `micros`, rounded down.
    pub(super) fn packets_in(self, micros: u64) -> u64 {
        saturated((u128::from(self.0) * u128::from(micros)) >> SHIFT)
    }

    /// The packets that `gain` times it delivers in `micros`, rounded up.
    pub(super) fn product(self, micros: u64, gain: u32) -> u32 {
        let scaled = (u128::from(self.0) * u128::from(micros)).saturating_mul(gain.into()) / u128::from(GAIN_UNIT);
        u32::try_from(scaled.div_ceil(1 << SHIFT)).unwrap_or(u32::MAX)
    }

    /// `gain` times it, in bytes of payload per second.
    pub(super) fn bytes_per_second(self, unit_bytes: u32, gain: u32) -> u64 {
        let bytes = u128::from(self.0) * u128::from(unit_bytes) * u128::from(gain) / u128::from(GAIN_UNIT);
        saturated(bytes.saturating_mul(1_000_000) >> SHIFT)
    }

    /// The rate at which a path with `gain` is paced, in bytes of payload per second.
    pub(super) fn pacing_rate(self, unit_bytes: u32, gain: u32) -> u64 {
        let bytes = u128::from(self.0) * u128::from(unit_bytes) * u128::from(gain) / u128::from(GAIN_UNIT);
        saturated(bytes.saturating_mul((10_000 * (100 - MARGIN_PERCENT)).into()) >> SHIFT)
    }
}

fn saturated(n: u128) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// The largest bandwidth of the last rounds: the best three, each later than the one before (Kathleen Nichols'
/// algorithm, as in Linux `minmax_running_max`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxFilter {
    best: [Measured; 3],
}

#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    round: u32,
    bandwidth: Bandwidth,
}

impl MaxFilter {
    pub(super) fn largest(&self) -> Bandwidth {
        self.best[0].bandwidth
    }

    /// Adds a sample of `round`; those that are more than `window` rounds older are forgotten.
    pub(super) fn add(&mut self, bandwidth: Bandwidth, round: u32, window: u32) {
        let new = Measured { round, bandwidth };
        let [first, second, third] = &mut self.best;
        if bandwidth >= first.bandwidth || round - third.round > window {
            self.best = [new; 3];
            return;
        }
        if bandwidth >= second.bandwidth {
            (*second, *third) = (new, new);
        } else if bandwidth >= third.bandwidth {
            *third = new;
        }
        self.age(new, window);
    }

    /// Replaces the best if it is too old, and the next ones before a third of the window has passed without any.
    fn age(&mut self, new: Measured, window: u32) {
        let [first, second, third] = &mut self.best;
        let age = new.round - first.round;
        if age > window {
            (*first, *second, *third) = (*second, *third, new);
            if new.round - first.round > window {
                (*first, *second, *third) = (*second, *third, new);
            }
        } else if second.round == first.round && age > window / 4 {
            (*second, *third) = (new, new);
        } else if third.round == second.round && age > window / 2 {
            *third = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_packets_in_a_millisecond_are_paced_one_percent_below_their_rate() {
        let bandwidth = Bandwidth::of(10, 1000);
        assert_eq!(bandwidth.0, 167_772, "0.01 packets per microsecond times 2^24");
        assert_eq!(bandwidth.packets_in(1000), 9, "rounded down twice");
        assert_eq!([256, 512, 739].map(|gain| bandwidth.product(1000, gain)), [10, 20, 29]);
        assert_eq!(bandwidth.bytes_per_second(1000, 256), 9_999_990);
        assert_eq!(bandwidth.pacing_rate(1000, 256), 9_899_990);
        assert_eq!(bandwidth.pacing_rate(1000, 320), 12_374_988);
    }

    #[test]
    fn extreme_bandwidths_do_not_overflow() {
        let most = Bandwidth::of(u64::MAX, 1);
        assert_eq!((most.0, most.product(u64::MAX, 739), most.pacing_rate(9000, 739)), (u64::MAX, u32::MAX, u64::MAX));
        assert_eq!(Bandwidth::of(5, 0).0, 0);
    }

    #[test]
    fn the_largest_sample_of_ten_rounds_counts() {
        let mut filter = MaxFilter::default();
        let mut largest = Vec::new();
        for (round, sample) in [(1, 50), (3, 30), (6, 40), (11, 10), (12, 20), (17, 5), (23, 5)] {
            filter.add(Bandwidth(sample), round, 10);
            largest.push(filter.largest().0);
        }
        assert_eq!(largest, [50, 50, 50, 50, 40, 20, 5]);
    }
}
