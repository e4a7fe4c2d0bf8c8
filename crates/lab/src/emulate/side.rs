//! One end of a flow on a kernel, with what its thread needs.

use subflow_linux::{Interrupt, Namespace, WallClock};
use subflow_quantity::{Duration, Instant};

use super::kernel_end::KernelEnd;
use super::kernel_flow::KernelFlow;

const INTERRUPT_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// One end. What it does is in `application.rs` and `traffic.rs`.
pub(super) struct Side<'a> {
    pub(super) flow: &'a KernelFlow,
    pub(super) end: &'a KernelEnd,
    pub(super) clock: WallClock,
    pub(super) stop: Interrupt,
    pub(super) namespace: &'a Namespace,
}

impl Side<'_> {
    /// Sleeps until `at`. Returns false if the run is stopped before.
    pub(super) fn sleep_until(&self, at: Instant) -> bool {
        self.clock.sleep_until(at, INTERRUPT_CHECK_INTERVAL, || !self.stop.is_raised())
    }

    /// Whether the scenario ends the traffic now or has ended it.
    pub(super) fn stop_is_due(&self) -> bool {
        self.flow.flow.stop.is_some_and(|stop| self.clock.now() >= Instant::ZERO + stop)
    }
}
