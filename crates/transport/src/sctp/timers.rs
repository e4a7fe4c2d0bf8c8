//! The association's timers: T1, T2, T3-rtx, T5, HEARTBEATs and delayed SACKs.

use subflow_quantity::{Duration, Instant};

use super::{Association, Config};
use crate::tcp::Closed;
use crate::tcp::timers::Tick;

impl Config {
    /// When a timer of `delay` expires: at the next tick of the kernel's clock.
    #[inline]
    pub(super) fn deadline(&self, now: Instant, delay: Duration) -> Instant {
        Tick { tick: self.timer_tick, wheel: self.timer_wheel }.deadline(now, delay)
    }
}

impl Association {
    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    pub(crate) fn timeout(&self) -> Option<Instant> {
        if self.phase.is_closed() {
            return None;
        }
        let own = [self.phase.timeout(), self.inbound.sack_at()];
        let theirs =
            self.destinations.iter().flat_map(|destination| [destination.timer.at(), destination.heartbeat.at()]);
        own.into_iter().chain(theirs).flatten().min()
    }

    /// Advances the time to `now` and handles all expired timers.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.clock = now;
        self.begin_burst();
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.phase.t1_at()) {
            self.on_opening_timeout(now);
        }
        if due(self.inbound.sack_at()) {
            self.inbound.expire_sack();
        }
        for index in 0..self.destinations.len() {
            if due(self.destinations[index].timer.at()) {
                self.on_t3(index, now);
            }
            if due(self.destinations[index].heartbeat.at()) {
                self.on_heartbeat_timer(index, now);
            }
        }
        if due(self.phase.t2_at()) {
            self.on_shutdown_timeout(now);
        }
        if due(self.phase.guard_at()) {
            self.abort_with(Vec::new(), Closed::TimedOut);
        }
    }
}
