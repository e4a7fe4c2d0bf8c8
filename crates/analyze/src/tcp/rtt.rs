//! Round-trip times: samples, also by timestamps, and the retransmission timeout that a sender computes of them.

use std::collections::VecDeque;

use subflow_wire::tcp::{TcpFlags, TcpSegment};

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
    latest: u64,
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
        self.latest = sample;
        self.count += 1;
        self.sum += u128::from(sample);
    }

    pub(crate) fn mean(&self) -> Option<u64> {
        (self.count > 0).then(|| (self.sum / u128::from(self.count)) as u64)
    }

    /// By how much the last sample exceeds the smallest.
    pub(super) const fn wait(&self) -> u64 {
        self.latest - self.minimum
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

/// Values that no acknowledgment has echoed, at most: older ones are forgotten.
const MOST_VALUES: usize = 256;

/// The values of timestamps (RFC 7323) that one end sent: a round trip goes from the first segment with a value to the
/// acknowledgment that echoes it. It also counts where a segment was sent twice, and at a receiver's point of capture, where
/// the data that goes the other way echoes the values of acknowledgments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Echoes {
    values: VecDeque<(u32, u64)>,
    /// The samples.
    pub(crate) round_trips: RoundTrips,
}

impl Echoes {
    /// The end sends a segment.
    pub(super) fn sent(&mut self, segment: &TcpSegment, time: u64) {
        let Some(timestamps) = segment.options.timestamps else { return };
        let is_new = |&(last, _): &(u32, u64)| timestamps.value.wrapping_sub(last).cast_signed() > 0;
        if self.values.back().is_none_or(is_new) {
            if self.values.len() == MOST_VALUES {
                self.values.pop_front();
            }
            self.values.push_back((timestamps.value, time));
        }
    }

    /// The end receives a segment. An echo without ACK is undefined (section 3.2).
    pub(super) fn received(&mut self, segment: &TcpSegment, time: u64) {
        let timestamps = segment.options.timestamps.filter(|_| segment.flags.contains(TcpFlags::ACK));
        let Some(echo) = timestamps.map(|timestamps| timestamps.echo) else { return };
        while let Some(&(value, sent)) = self.values.front() {
            match echo.wrapping_sub(value).cast_signed() {
                0 => {
                    self.round_trips.add(time.saturating_sub(sent));
                    self.values.pop_front();
                    return;
                }
                1.. => drop(self.values.pop_front()),
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use subflow_wire::tcp::Timestamps;

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

    #[test]
    fn a_value_that_several_segments_have_counts_once_and_from_the_first() {
        let segment = |value: u32, echo: u32| {
            let mut segment = TcpSegment { flags: TcpFlags::ACK, ..Default::default() };
            segment.options.timestamps = Some(Timestamps { value, echo });
            segment
        };
        let mut echoes = Echoes::default();
        for (value, time) in [(u32::MAX, 10), (u32::MAX, 20), (0, 30), (5, 40)] {
            echoes.sent(&segment(value, 0), time);
        }
        for (echo, time) in [(u32::MAX, 110), (u32::MAX, 120), (5, 190), (3, 200)] {
            echoes.received(&segment(0, echo), time);
        }
        assert_eq!((echoes.round_trips.count, echoes.round_trips.minimum, echoes.round_trips.maximum), (2, 100, 150));
    }
}
