//! The wall clock as the network's clock.

use std::time::Instant as Wall;

use subflow_quantity::{Duration, Instant};

/// The time since the start of a run in nanoseconds, as in a simulation. Copies have the same start.
#[derive(Clone, Copy, Debug)]
pub struct WallClock {
    start: Wall,
}

impl WallClock {
    /// Starts a clock at zero.
    pub fn start() -> Self {
        Self { start: Wall::now() }
    }

    /// The time since the start.
    #[inline]
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.start.elapsed().as_nanos() as u64)
    }

    /// The time until `at`; zero if that is in the past.
    pub fn until(&self, at: Instant) -> std::time::Duration {
        let now = self.now();
        std::time::Duration::from_nanos(at.as_nanos().saturating_sub(now.as_nanos()))
    }

    /// Sleeps until `at`, in steps of at most `piece`, while `go_on` returns true. Returns whether `at` was reached.
    pub fn sleep_until(&self, at: Instant, piece: Duration, go_on: impl Fn() -> bool) -> bool {
        loop {
            if !go_on() {
                return false;
            }
            let left = self.until(at);
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(std::time::Duration::from_nanos(piece.as_nanos())));
        }
    }
}
