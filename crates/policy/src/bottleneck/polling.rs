//! Readings at regular instants, whether or not there is a new value in between (red2018, section 3.1: "read at every
//! instant t").

use subflow_quantity::{Duration, Instant};

/// The instants at which the values of all paths are read. The first one is an interval after the first sample.
#[derive(Clone, Debug, Default)]
pub(super) struct Instants {
    next: Option<Instant>,
}

impl Instants {
    /// The number of instants since the last call that lie before `now`, but not more than `most`: as many readings of
    /// the same value fill a window, and further ones change nothing.
    pub(super) fn passed(&mut self, now: Instant, interval: Duration, most: u32) -> u32 {
        let interval = interval.max(Duration::from_nanos(1));
        let next = *self.next.get_or_insert(now + interval);
        if now <= next {
            return 0;
        }
        let passed = (now.since(next).as_nanos() - 1) / interval.as_nanos() + 1;
        self.next = Some(next + Duration::from_nanos(passed.saturating_mul(interval.as_nanos())));
        passed.min(most.into()) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn instants_are_an_interval_apart_whenever_samples_come() {
        let (mut instants, interval) = (Instants::default(), Duration::from_millis(10));
        let passed: Vec<u32> =
            [3, 4, 13, 14, 14, 22, 45, 53, 54].map(|ms| instants.passed(at(ms), interval, 50)).to_vec();
        // They are at 13, 23, 33, 43 and 53 ms; one at the time of the sample still has the former value.
        assert_eq!(passed, [0, 0, 0, 1, 0, 0, 3, 0, 1]);
    }

    #[test]
    fn a_long_pause_fills_a_window_and_no_more() {
        let mut instants = Instants::default();
        assert_eq!(instants.passed(at(0), Duration::from_micros(10), 50), 0);
        assert_eq!(instants.passed(at(10_000), Duration::from_micros(10), 50), 50);
        assert_eq!(instants.passed(at(10_000), Duration::from_micros(10), 50), 0);
    }
}
