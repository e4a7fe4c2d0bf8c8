//! The wall clock as the network's clock.

use std::time::Instant as Wall;

use subflow_quantity::{Duration, Instant};

/// Counts nanoseconds from the beginning of a run, as everything simulated does. Copies count from the same moment.
#[derive(Clone, Copy, Debug)]
pub struct WallClock {
    start: Wall,
}

impl WallClock {
    /// A clock that reads zero now.
    pub fn start() -> Self {
        Self { start: Wall::now() }
    }

    /// The time since the start.
    #[inline]
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.start.elapsed().as_nanos() as u64)
    }

    /// How long it is until `at`; nothing, where it has passed.
    pub fn until(&self, at: Instant) -> std::time::Duration {
        let now = self.now();
        std::time::Duration::from_nanos(at.as_nanos().saturating_sub(now.as_nanos()))
    }

    /// Sleeps until `at`, in pieces of at most `piece`, as long as `go_on` says so; returns whether it came to `at`.
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
