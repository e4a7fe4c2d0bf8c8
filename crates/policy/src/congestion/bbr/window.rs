//! The window of a path: a multiple of its bandwidth-delay product, with room for bursts of the end hosts; and what is
//! left of it in recovery.

use subflow_quantity::Instant;

use super::super::{DeliverySample, Path, RateSample, RecoveryState};
use super::bandwidth::{Bandwidth, GAIN_UNIT};
use super::phases::Mode;
use super::{MIN_WINDOW, PathState};

/// Without an RTT sample, and before so many packets were delivered, the window is an initial one (Linux:
/// `TCP_INIT_CWND`).
const INITIAL_WINDOW: u32 = 10;
/// Bursts under way: in the sender's queue, in its device and in the receiver's.
const BURSTS: u32 = 3;
/// What PROBE_BW's phase of the highest gain may have in flight beyond the product.
const PROBE_PACKETS: u32 = 2;

/// The window while losses are repaired.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recovery {
    /// The last window without losses and outside of PROBE_RTT.
    prior_window: u32,
    /// The recovery state at the last acknowledgment.
    prior_state: RecoveryState,
    /// As much is sent as is delivered: in the first round trip of a recovery.
    is_conserving: bool,
}

pub(super) fn is_repairing(state: RecoveryState) -> bool {
    matches!(state, RecoveryState::Recovery | RecoveryState::Loss)
}

impl Recovery {
    /// A round trip has ended.
    pub(super) fn on_round(&mut self) {
        self.is_conserving = false;
    }

    /// A retransmission timeout occurred.
    pub(super) fn on_timeout(&mut self) {
        self.prior_state = RecoveryState::Loss;
    }

    pub(super) fn prior_window(&self) -> u32 {
        self.prior_window
    }

    /// Remembers the window before it is reduced, unless it is already: in recovery, or in PROBE_RTT.
    pub(super) fn save_window(&mut self, path: &Path, is_probing_rtt: bool) {
        let is_reduced = is_repairing(self.prior_state) || is_probing_rtt;
        self.prior_window = if is_reduced { self.prior_window.max(path.cwnd) } else { path.cwnd };
    }

    /// Takes the recovery state at an acknowledgment. Returns the one before.
    pub(super) fn follow(&mut self, state: RecoveryState) -> RecoveryState {
        core::mem::replace(&mut self.prior_state, state)
    }
}

impl<const COUPLED: bool> PathState<COUPLED> {
    /// Sets the window after a delivery.
    pub(super) fn set_window(&mut self, path: &mut Path, sample: &DeliverySample, rate: &RateSample) {
        let acked = sample.ack.acked;
        let mut cwnd = path.cwnd;
        if acked > 0 {
            cwnd = self.repaired_window(path, sample);
            if !self.recovery.is_conserving {
                cwnd = self.grown_window(cwnd, path, sample, rate);
            }
        }
        let most = if self.phase.mode() == Mode::ProbeRtt { MIN_WINDOW } else { Path::INFINITE };
        path.cwnd = cwnd.min(most);
    }

    /// The window as losses leave it. An acknowledgment of P packets lets at most 2P leave: what is lost is subtracted
    /// here, what was delivered is added while the window grows.
    fn repaired_window(&mut self, path: &Path, sample: &DeliverySample) -> u32 {
        let (acked, in_flight) = (sample.ack.acked, sample.in_flight);
        let mut cwnd = if sample.lost > 0 { path.cwnd.saturating_sub(sample.lost).max(1) } else { path.cwnd };
        let before = self.recovery.follow(path.state);
        if path.state == RecoveryState::Recovery && before != RecoveryState::Recovery {
            self.recovery.is_conserving = true;
            self.model.begin_round();
            cwnd = in_flight.saturating_add(acked);
        } else if is_repairing(before) && !is_repairing(path.state) {
            self.recovery.is_conserving = false;
            cwnd = cwnd.max(self.recovery.prior_window);
        }
        if self.recovery.is_conserving { cwnd.max(in_flight.saturating_add(acked)) } else { cwnd }
    }

    /// The window `cwnd`, grown to the target by what was delivered, or cut to it once the pipe was full.
    fn grown_window(&self, cwnd: u32, path: &Path, sample: &DeliverySample, rate: &RateSample) -> u32 {
        let acked = sample.ack.acked;
        let is_full = self.model.is_full();
        let bandwidth = self.bandwidth();
        let mut target = self.product(bandwidth, self.phase.window_gain());
        if is_full {
            target = target.saturating_add(self.model.aggregation.allowance(bandwidth));
        }
        target = self.with_bursts(target, path, rate.unit_bytes);
        let grown = if is_full {
            cwnd.saturating_add(acked).min(target)
        } else if cwnd < target || sample.delivered < u64::from(INITIAL_WINDOW) {
            cwnd.saturating_add(acked)
        } else {
            cwnd
        };
        grown.max(MIN_WINDOW)
    }

    /// `gain` times the product of `bandwidth` and the smallest RTT, in packets.
    fn product(&self, bandwidth: Bandwidth, gain: u32) -> u32 {
        match self.model.min_rtt() {
            Some(rtt) => bandwidth.product(rtt.as_micros(), gain),
            None => INITIAL_WINDOW,
        }
    }

    /// `packets`, with room for bursts of the end hosts.
    fn with_bursts(&self, packets: u32, path: &Path, unit_bytes: u32) -> u32 {
        let room = packets.saturating_add(BURSTS * self.pacing.burst(path, unit_bytes));
        // Fewer acknowledgments are delayed if it is even.
        let even = room.saturating_add(1) & !1;
        if self.phase.is_probing_for_bandwidth() { even.saturating_add(PROBE_PACKETS) } else { even }
    }

    /// What may be in flight at `gain` times the largest bandwidth.
    pub(super) fn in_flight_at(&self, gain: u32, path: &Path, rate: &RateSample) -> u32 {
        self.with_bursts(self.product(self.model.largest(), gain), path, rate.unit_bytes)
    }

    /// An estimate of what will be in the network when the next packet leaves, of the `in_flight` that are so now: the
    /// bottleneck will have delivered some until then, and the next burst is added while the amount is to grow.
    pub(super) fn in_network_at_departure(&self, in_flight: u32, path: &Path, rate: &RateSample, now: Instant) -> u32 {
        let delivered = self.model.bandwidth().packets_in(rate.departure.since(now).as_micros());
        let grows = self.phase.pacing_gain() > GAIN_UNIT;
        let added = if grows { self.pacing.burst(path, rate.unit_bytes) } else { 0 };
        let left = u64::from(in_flight).saturating_add(added.into()).saturating_sub(delivered);
        u32::try_from(left).unwrap_or(u32::MAX)
    }
}
