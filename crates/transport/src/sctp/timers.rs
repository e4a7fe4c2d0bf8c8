//! The association's timers: T1, T2, T3-rtx, T5, HEARTBEATs and delayed SACKs.

use subflow_quantity::{Duration, Instant};

use super::Association;
use crate::tcp::Closed;
use crate::tcp::timers::Tick;

impl Association {
    /// When a timer of `delay` expires: at the next tick of the kernel's clock.
    pub(super) fn deadline(&self, now: Instant, delay: Duration) -> Instant {
        Tick { tick: self.config.timer_tick, wheel: self.config.timer_wheel }.deadline(now, delay)
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    pub(crate) fn timeout(&self) -> Option<Instant> {
        if self.state.is_closed() {
            return None;
        }
        let own = [self.opening.at, self.shutdown.t2_at, self.shutdown.t5_at, self.inbound.sack_at()];
        let theirs = self.destinations.iter().flat_map(|destination| [destination.t3, destination.heartbeat.at]);
        own.into_iter().chain(theirs).flatten().min()
    }

    /// Advances the time to `now` and handles all expired timers.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.clock = now;
        self.begin_burst();
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.opening.at) {
            self.on_opening_timeout(now);
        }
        if due(self.inbound.sack_at()) {
            self.inbound.expire_sack();
        }
        for index in 0..self.destinations.len() {
            if due(self.destinations[index].t3) {
                self.on_t3(index, now);
            }
            if due(self.destinations[index].heartbeat.at) {
                self.on_heartbeat_timer(index, now);
            }
        }
        if due(self.shutdown.t2_at) {
            self.on_shutdown_timeout(now);
        }
        if due(self.shutdown.t5_at) {
            self.shutdown.t5_at = None;
            self.abort_with(Vec::new(), Closed::TimedOut);
        }
    }

    /// An event begins: the packets sent in response are a burst of their own (see `Config::max_burst`), and the
    /// privileges of packets that an earlier event has not sent end.
    pub(super) fn begin_burst(&mut self) {
        (self.retransmission_room, self.bursts) = (None, 0);
        let mut leftover = false;
        for destination in self.destinations.iter_mut() {
            (destination.burst_end, destination.restart_rto) = (None, None);
            leftover |= self.config.single_fast_packet && core::mem::take(&mut destination.fast_packet);
        }
        if leftover {
            // What was marked for fast retransmission and has not left waits for the window from now on.
            self.outbound.queue.let_indicated_wait();
        }
    }
}
