//! The data-level timer: when to repeat data that the subflows have delivered and the peer has not acknowledged, or to
//! check for stale subflows.

use subflow_quantity::{Duration, Instant};

use crate::tcp;

/// Number of repetitions of data, or of a DATA_FIN, without progress at the data level before the interval starts to
/// double. Without backoff, a peer that acknowledges the repetitions on the subflow and never at the data level would
/// receive them without end.
pub(super) const REPEATS_AT_ONE_RATE: u32 = 10;

/// The interval if no subflow has a retransmission timer (`TCP_RTO_MIN`).
const SHORTEST_RTO: Duration = Duration::from_millis(200);

/// Largest number of doublings of an interval.
pub(super) const MOST_DOUBLINGS: u32 = 16;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DataTimer {
    at: Option<Instant>,
    /// The interval that was chosen when the scheduler was asked last; `None` for the shortest one.
    interval: Option<Duration>,
    /// Number of repetitions without any progress.
    repeats: u32,
}

impl DataTimer {
    /// [`Instant::MAX`] if it does not run.
    #[inline]
    pub(super) fn deadline(&self) -> Instant {
        self.at.unwrap_or(Instant::MAX)
    }

    #[inline]
    pub(super) fn is_running(&self) -> bool {
        self.at.is_some()
    }

    #[inline]
    pub(super) fn stop(&mut self) {
        self.at = None;
    }

    /// Stops it and forgets the chosen interval.
    pub(super) fn reset_interval(&mut self) {
        (self.at, self.interval) = (None, None);
    }

    /// New data has been acknowledged.
    #[inline]
    pub(super) fn on_progress(&mut self) {
        (self.at, self.repeats) = (None, 0);
    }

    pub(super) fn choose_interval(&mut self, interval: Option<Duration>) {
        self.interval = interval;
    }

    /// Starts it with `rto`, doubled for each repetition without progress.
    pub(super) fn start_with_backoff(&mut self, rto: Duration, tcp: &tcp::Config, now: Instant) {
        let delay = rto.saturating_mul(1 << self.repeats.min(MOST_DOUBLINGS)).min(tcp.max_rto);
        self.at = Some(now + delay);
    }

    /// Starts it with the chosen interval, which doubles only after [`REPEATS_AT_ONE_RATE`] repetitions.
    pub(super) fn start_with_interval(&mut self, tcp: &tcp::Config, now: Instant) {
        let interval = self.interval.unwrap_or(SHORTEST_RTO);
        let doublings = self.repeats.saturating_sub(REPEATS_AT_ONE_RATE).min(MOST_DOUBLINGS);
        let delay = interval.saturating_mul(1 << doublings).min(tcp.max_rto);
        self.at = Some(tcp.tick().deadline(now, delay));
    }

    /// Number of repetitions since the last progress.
    pub(super) fn repeats(&self) -> u32 {
        self.repeats
    }

    pub(super) fn count_repetition(&mut self) {
        self.repeats += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_doubles_with_each_repetition_until_there_is_progress() {
        let tcp = tcp::Config { max_rto: Duration::from_secs(5), ..tcp::Config::default() };
        let (rto, now) = (Duration::from_secs(1), Instant::ZERO);
        let mut timer = DataTimer::default();
        let mut delays = Vec::new();
        for _ in 0..4 {
            timer.start_with_backoff(rto, &tcp, now);
            delays.push(timer.deadline().since(now));
            timer.count_repetition();
        }
        assert_eq!(delays, [1, 2, 4, 5].map(Duration::from_secs));
        timer.on_progress();
        assert!(!timer.is_running());
        timer.start_with_backoff(rto, &tcp, now);
        assert_eq!(timer.deadline(), now + rto);
    }
}
