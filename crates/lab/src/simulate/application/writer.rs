//! An application that writes a transfer in bursts.

use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;
use subflow_scenario::Writing;

/// How much of a transfer its application has written so far, as far as there is room.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    writing: Writing,
    /// The bytes of all bursts so far.
    due: u64,
    /// When the next burst comes.
    next_at: Instant,
}

impl Writer {
    /// The first burst comes at `begin`.
    pub(crate) fn new(writing: Writing, begin: Instant) -> Self {
        Self { writing, due: 0, next_at: begin }
    }

    /// Takes the bursts up to `now`; `rng` draws the times between them.
    pub(crate) fn advance(&mut self, now: Instant, rng: &mut Pcg64Mcg) {
        while self.next_at <= now {
            self.due = self.due.saturating_add(self.writing.burst);
            self.next_at += self.writing.every.draw(rng);
        }
    }

    /// The bytes of all bursts so far.
    pub(crate) fn due(&self) -> u64 {
        self.due
    }

    /// When the next burst comes.
    pub(crate) fn next_at(&self) -> Instant {
        self.next_at
    }
}

#[cfg(test)]
mod tests {
    use subflow_network::stream;
    use subflow_quantity::Duration;
    use subflow_scenario::Period;

    use super::*;

    #[test]
    fn a_burst_comes_at_the_beginning_and_after_each_period() {
        let every = Period::Constant(Duration::from_millis(100));
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let mut writer = Writer::new(Writing { burst: 1000, every }, at(50));
        let mut rng = stream(1, "bursts");
        for (millis, due, next) in [(49, 0, 50), (50, 1000, 150), (149, 1000, 150), (355, 4000, 450)] {
            writer.advance(at(millis), &mut rng);
            assert_eq!((writer.due(), writer.next_at()), (due, at(next)), "{millis} ms");
        }
    }
}
