//! Receiving at the data level: data passes from the subflows to the application, and the window that all subflows share
//! follows (RFC 8684, sections 3.3.1 to 3.3.5).

use core::ops::Range;

use subflow_quantity::Instant;

use super::received_mappings::{DISCARD, InOrder};
use super::{Connection, Subflow};
use crate::Event;

impl Connection {
    /// Passes in-order data of the subflow to the data level.
    pub(super) fn collect_data(&mut self, index: usize, now: Instant) {
        if !self.subflows[index].tcp.has_received() {
            return;
        }
        let mut ready = core::mem::take(&mut self.scratch);
        self.subflows[index].tcp.take_received(&mut ready);
        if self.phase.is_plain() {
            self.take_stream(index, &mut ready, now);
        } else if self.subflows[index].mappings.is_empty() {
            for range in ready.drain(..).filter(|range| range.start < DISCARD) {
                self.on_data(index, range, now);
            }
        } else {
            self.take_verified(index, &mut ready, now);
        }
        self.scratch = ready;
    }

    /// On plain TCP the stream of the subflow is the data.
    fn take_stream(&mut self, index: usize, ready: &mut Vec<Range<u64>>, now: Instant) {
        for range in ready.drain(..) {
            let length = range.end - range.start;
            self.subflows[index].count_received(length);
            self.receive.accept_in_order(length);
            self.stream.on_received(length);
        }
        if !self.stream.reading {
            self.subflows[index].tcp.set_unread(self.stream.unread(), now);
        }
    }

    /// Data of a mapping with a checksum waits until the whole mapping is verified (RFC 8684, section 3.3).
    #[cold]
    fn take_verified(&mut self, index: usize, ready: &mut Vec<Range<u64>>, now: Instant) {
        let done = self.subflows[index].tcp.counters().bytes_received;
        let mut at = done - ready.iter().map(|range| range.end - range.start).sum::<u64>();
        for mut range in ready.drain(..) {
            while !range.is_empty() {
                let (until, fate) = self.subflows[index].mappings.in_order(at, at + (range.end - range.start));
                let piece = range.start..range.start + (until - at);
                (at, range.start) = (until, piece.end);
                let data = match fate {
                    InOrder::Passes => piece,
                    InOrder::Completes(data) => data,
                    InOrder::Waits | InOrder::Discarded => continue,
                };
                if data.start < DISCARD {
                    self.on_data(index, data, now);
                }
            }
        }
        self.subflows[index].mappings.forget_below(done);
    }

    /// Data `range` arrived on subflow `index`, in the order of that subflow's stream.
    pub(super) fn on_data(&mut self, index: usize, range: Range<u64>, now: Instant) {
        let length = range.end - range.start;
        let Some(accepted) = self.receive.accept(range) else { return };
        self.subflows[index].count_received(accepted.new);
        if !self.config.subflows_open_window && self.receive.open_window(length, self.stream.unread()) {
            self.subflows[index].tcp.on_window_growth();
        }
        if accepted.in_order > 0 {
            self.stream.on_received(accepted.in_order);
            self.adjust_buffer(index, now);
        }
        self.reach_data_fin();
    }

    /// Adjusts the receive buffer to the amount of data that the application reads in one round trip of the slowest
    /// subflow.
    fn adjust_buffer(&mut self, index: usize, now: Instant) {
        let slowest = self.subflows.slowest_receiver_rtt(index);
        if self.config.subflows_open_window {
            let own = self.subflows.iter().filter(|subflow| subflow.is_established()).map(|s| s.tcp.own_window());
            self.receive.follow_subflows(own);
        }
        let has_grown = self.receive.adjust_buffer(slowest, self.stream.unread(), now);
        if has_grown && self.config.subflows_open_window {
            self.subflows.follow_buffer(self.receive.window());
        }
    }

    /// The peer's stream ends at `offset`. Returns whether that is new.
    pub(super) fn on_data_fin(&mut self, offset: u64) -> bool {
        let is_new = self.receive.on_data_fin(offset);
        self.reach_data_fin();
        is_new
    }

    fn reach_data_fin(&mut self) {
        if self.receive.reach_end() {
            self.emit(Event::PeerFinished);
        }
    }

    /// The window to advertise on subflow `index`, counted from the DATA_ACK. Buffer and right edge are those of the
    /// connection. How far the window is opened is each subflow's own where `subflows_open_window` is set (Linux
    /// `__tcp_select_window`, `mptcp_space`, `mptcp_set_rwin`).
    pub(super) fn advertised_window(&mut self, index: usize) -> u64 {
        let threshold = self.window_threshold(&self.subflows[index]);
        self.receive.advertise(threshold, self.stream.unread())
    }

    #[inline]
    fn window_threshold(&self, subflow: &Subflow) -> Option<u64> {
        self.config.subflows_open_window.then(|| subflow.tcp.own_window().threshold())
    }

    /// The application starts or stops reading. A window that opens is advertised at once.
    pub(crate) fn set_reading(&mut self, reading: bool, now: Instant) {
        self.stream.reading = reading;
        if self.has_fallen_back() {
            let unread = if reading { 0 } else { self.stream.unread() };
            self.subflows.touch(0).tcp.set_unread(unread, now);
        }
        if !reading {
            return;
        }
        self.stream.read = self.stream.received;
        self.offer_window();
    }

    /// The application has read the first `total` bytes. A window that opens is advertised at once.
    pub(crate) fn set_bytes_read(&mut self, total: u64, now: Instant) {
        self.stream.set_bytes_read(total);
        if self.has_fallen_back() {
            self.subflows.touch(0).tcp.set_unread(self.stream.unread(), now);
        }
        self.offer_window();
    }

    /// Advertises the window on every subflow if one of them would advertise at least twice what is left of the last
    /// one. Until an acknowledgment leaves, nothing has been advertised.
    fn offer_window(&mut self) {
        let established = self.subflows.iter().filter(|subflow| subflow.is_established());
        let thresholds = established.map(|subflow| self.window_threshold(subflow));
        let after = self.receive.possible_window(thresholds, self.stream.unread());
        if after >= 2 * self.receive.window_left() {
            for index in 0..self.subflows.len() {
                if self.subflows[index].is_established() {
                    self.subflows.touch(index).tcp.request_ack();
                }
            }
        }
    }
}
