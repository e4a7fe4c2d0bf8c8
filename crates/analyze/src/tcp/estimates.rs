//! What is estimated of a sender that does not say it: its window, the reactions of its congestion control, and round-trip
//! times by timestamps. Ends that send no data, and only few packets, have none of it: there may be many of them.

use subflow_wire::tcp::TcpSegment;

use super::reaction::{Family, Reaction};
use super::recovery::Retransmissions;
use super::rtt::{Echoes, RoundTrips};
use super::window::Window;

/// Packets without data from which on there are estimates.
const FEWEST_PACKETS: u64 = 8;

/// The estimates of one end, once there are some.
#[derive(Clone, Debug, Default)]
pub(crate) struct Estimates(Option<Box<All>>);

#[derive(Clone, Debug, Default)]
struct All {
    window: Window,
    reaction: Reaction,
    echoes: Echoes,
}

impl Estimates {
    /// The end sends its `packets`-th packet.
    pub(super) fn sent(&mut self, segment: &TcpSegment, packets: u64, time: u64) {
        if self.0.is_none() && segment.payload.length == 0 && packets < FEWEST_PACKETS {
            return;
        }
        self.0.get_or_insert_default().echoes.sent(segment, time);
    }

    /// The end has sent new data; returns the window that this shows.
    pub(super) fn sent_new(&mut self, outstanding: u64, round_trip: Option<u64>, time: u64) -> Option<u64> {
        let all = self.0.as_mut()?;
        if let Some(round) = all.window.sent(outstanding, round_trip.unwrap_or(0), time) {
            all.reaction.round(round);
        }
        Some(all.window.now()).filter(|&window| window > 0)
    }

    /// The end has sent something again, which `before` does not count.
    pub(super) fn sent_again(&mut self, next: u64, largest: u64, [before, after]: [&Retransmissions; 2]) {
        let Some(all) = &mut self.0 else { return };
        let window = all.window.lost(next);
        if after.timeouts > before.timeouts {
            all.reaction.timed_out();
        } else if let Some(window) = window.filter(|_| after.fast > before.fast) {
            all.reaction.lost(window, largest);
        }
    }

    /// A segment arrives at the end.
    pub(super) fn received(&mut self, segment: &TcpSegment, time: u64) {
        if let Some(all) = &mut self.0 {
            all.echoes.received(segment, time);
        }
    }

    pub(super) fn sacked(&mut self, start: u64, end: u64) {
        if let Some(all) = &mut self.0 {
            all.window.sacked(start, end);
        }
    }

    pub(super) fn progressed(&mut self, acknowledged: u64, time: u64) {
        if let Some(all) = &mut self.0 {
            all.window.progressed(acknowledged, time);
        }
    }

    pub(super) fn waited(&mut self, outstanding: u64, largest_segment: u64, passed: u64) {
        if let Some(all) = &mut self.0 {
            all.window.waited(outstanding, largest_segment, passed);
        }
    }

    /// The largest window, in bytes.
    pub(crate) fn largest_window(&self) -> Option<u64> {
        self.0.as_ref().map(|all| all.window.largest).filter(|&largest| largest > 0)
    }

    /// How long the window was not used, in nanoseconds.
    pub(crate) fn unused(&self) -> Option<u64> {
        self.0.as_ref().map(|all| all.window.unused)
    }

    pub(crate) fn family(&self) -> Option<Family> {
        self.0.as_ref()?.reaction.family()
    }

    /// Round-trip times by timestamps.
    pub(crate) fn echoed(&self) -> Option<&RoundTrips> {
        self.0.as_ref().map(|all| &all.echoes.round_trips).filter(|samples| samples.count > 0)
    }

    /// How much of the window is free with so much outstanding: `None` without an estimate, and while losses are repaired.
    pub(crate) fn free(&self, outstanding: u64) -> Option<u64> {
        let window = &self.0.as_ref()?.window;
        let is_known = !window.is_recovering() && window.now() > 0;
        is_known.then(|| window.now().saturating_sub(window.in_flight(outstanding)))
    }
}
