//! Round-trip times: samples, and the retransmission timeout that a sender computes of them.

/// Linux `TCP_RTO_MIN`, in nanoseconds.
const MINIMUM_VARIATION: u64 = 200_000_000;
/// The timeout before the first sample (RFC 6298, section 2.1).
const INITIAL_TIMEOUT: u64 = 1_000_000_000;

/// Samples of one direction, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrips {
    pub(crate) count: u64,
    sum: u128,
    pub(crate) minimum: u64,
    pub(crate) maximum: u64,
    smoothed: u64,
    variation: u64,
}

impl RoundTrips {
    pub(crate) fn add(&mut self, sample: u64) {
        if self.count == 0 {
            (self.minimum, self.maximum, self.smoothed, self.variation) = (sample, sample, sample, sample / 2);
        } else {
            self.minimum = self.minimum.min(sample);
            self.maximum = self.maximum.max(sample);
            // RFC 6298, section 2.3.
            self.variation = (3 * self.variation + self.smoothed.abs_diff(sample)) / 4;
            self.smoothed = (7 * self.smoothed + sample) / 8;
        }
        self.count += 1;
        self.sum += u128::from(sample);
    }

    pub(crate) fn mean(&self) -> Option<u64> {
        (self.count > 0).then(|| (self.sum / u128::from(self.count)) as u64)
    }

    /// The smoothed round-trip time (RFC 6298, section 2.3).
    pub(crate) fn smoothed(&self) -> Option<u64> {
        (self.count > 0).then_some(self.smoothed)
    }

    /// The retransmission timeout with the minimum of Linux, which is one of the variation.
    pub(crate) fn timeout(&self) -> u64 {
        match self.count {
            0 => INITIAL_TIMEOUT,
            _ => self.smoothed + (4 * self.variation).max(MINIMUM_VARIATION),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_is_that_of_rfc_6298_with_the_minimum_of_linux() {
        let mut samples = RoundTrips::default();
        assert_eq!((samples.timeout(), samples.mean()), (INITIAL_TIMEOUT, None));
        samples.add(40_000_000);
        assert_eq!(samples.timeout(), 240_000_000);
        samples.add(200_000_000);
        // Variation (3 * 20 + 160) / 4 = 55 ms, smoothed (7 * 40 + 200) / 8 = 60 ms.
        assert_eq!(samples.timeout(), 60_000_000 + 220_000_000);
        assert_eq!((samples.mean(), samples.minimum, samples.maximum), (Some(120_000_000), 40_000_000, 200_000_000));
    }
}
