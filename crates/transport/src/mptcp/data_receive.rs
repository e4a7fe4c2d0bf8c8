//! Receiving at the data level: reassembly over subflows, DATA_ACK, the shared window (RFC 8684, sections 3.3.1–3.3.5).

use core::ops::Range;

use subflow_quantity::Instant;

use super::Connection;
use super::placement::DISCARD;
use super::received_mappings::InOrder;
use crate::Event;
use crate::interval_set::IntervalSet;
use crate::tcp::config::ReceiveBuffer;
use crate::tcp::{PACKET_OVERHEAD, ReceiveWindow};

/// Minimum bound on the number of intervals, for small receive buffers.
const LEAST_BOUND: u64 = 64;

/// The receive side of the data level. Offsets count the peer's bytes from 0.
#[derive(Clone, Debug)]
pub(crate) struct DataReceive {
    /// Next expected offset: the DATA_ACK.
    pub(crate) next: u64,
    /// Data that arrived out of order. The number of intervals is bounded by the number of packets that fit into the
    /// receive buffer. Data beyond the bound is not acknowledged, and the peer retransmits it at the data level.
    pub(crate) held: IntervalSet,
    pub(crate) window: ReceiveWindow,
    /// Offset of the peer's DATA_FIN, once known.
    pub(crate) fin: Option<u64>,
    pub(crate) finished: bool,
}

impl DataReceive {
    pub(crate) fn new(buffer: ReceiveBuffer, mss: u32, now: Instant) -> Self {
        let mut window = ReceiveWindow::new(buffer, mss, now);
        window.select(0, 0);
        window.on_established(now);
        let bound = (buffer.largest() / PACKET_OVERHEAD).max(LEAST_BOUND);
        Self { next: 0, held: IntervalSet::new(bound as usize), window, fin: None, finished: false }
    }
}

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
            self.subflows[index].bytes_received += length;
            self.receive.next += length;
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
        // The DATA_FIN takes an offset of its own, and there is no data beyond it, whatever the peer maps there.
        // Whether the peer has finished is not the right condition: with an infinite mapping this is known before the
        // last bytes are taken.
        let range = range.start..range.end.min(self.receive.fin.unwrap_or(u64::MAX));
        if range.end <= self.receive.next.max(range.start) {
            return;
        }
        let before = self.receive.next;
        let known = before + self.receive.held.covered();
        if range.start <= before && self.receive.held.is_empty() {
            self.receive.next = range.end;
        } else {
            self.receive.held.insert(range.start.max(before)..range.end);
            self.receive.next = self.receive.held.advance(before);
        }
        let new = (self.receive.next + self.receive.held.covered()).saturating_sub(known);
        self.subflows[index].bytes_received += new;
        let held = self.stream.unread() + self.receive.held.covered();
        if !self.config.subflows_open_window && self.receive.window.on_segment(length, held) {
            self.subflows[index].tcp.on_window_growth();
        }
        if self.receive.next > before {
            self.stream.on_received(self.receive.next - before);
            self.adjust_buffer(index, now);
        }
        self.reach_data_fin();
    }

    /// Adjusts the receive buffer to the amount of data that the application reads in one round trip of the slowest
    /// subflow.
    fn adjust_buffer(&mut self, index: usize, now: Instant) {
        // The other subflows have not changed since they were last drained.
        let slowest = self.summaries.slowest_rtt(index, self.subflows[index].receiver_rtt());
        debug_assert_eq!(slowest, self.subflows.iter().filter_map(|subflow| subflow.receiver_rtt()).max());
        if let Some(slowest) = slowest {
            self.receive.window.set_rtt(slowest);
        }
        let read = self.receive.next - self.stream.unread();
        if !self.config.subflows_open_window {
            self.receive.window.on_read(now, read);
            return;
        }
        let own = self.subflows.iter().filter(|subflow| subflow.is_established()).map(|s| s.tcp.own_window());
        self.receive.window.take_least_share(own);
        if self.receive.window.on_read(now, read) {
            for subflow in &mut self.subflows {
                subflow.tcp.follow_buffer(&self.receive.window);
            }
        }
    }

    /// The peer's stream ends at `offset`. An offset below the in-order data is ignored.
    pub(super) fn on_data_fin(&mut self, offset: u64) {
        if offset >= self.receive.next {
            // There is no data beyond it, whatever was mapped there before.
            self.receive.held.discard_from(*self.receive.fin.get_or_insert(offset));
            self.reach_data_fin();
        }
    }

    fn reach_data_fin(&mut self) {
        if self.receive.fin == Some(self.receive.next) && !self.receive.finished {
            self.receive.next += 1;
            self.receive.finished = true;
            self.emit(Event::PeerFinished);
        }
    }

    /// The window to advertise on subflow `index`, counted from the DATA_ACK. Buffer and right edge are those of the
    /// connection. How far the window is opened is each subflow's own where `subflows_open_window` is set (Linux
    /// `__tcp_select_window`, `mptcp_space`, `mptcp_set_rwin`).
    pub(super) fn advertised_window(&mut self, index: usize) -> u64 {
        let held = self.stream.unread() + self.receive.held.covered();
        if !self.config.subflows_open_window {
            return self.receive.window.select(self.receive.next, held);
        }
        let threshold = self.subflows[index].tcp.own_window().threshold();
        self.receive.window.select_below(threshold, self.receive.next, held)
    }

    /// The application starts or stops reading. A window that opens is advertised at once.
    pub(crate) fn set_reading(&mut self, reading: bool, now: Instant) {
        self.stream.reading = reading;
        if self.has_fallen_back() {
            let unread = if reading { 0 } else { self.stream.unread() };
            self.subflows[0].tcp.set_unread(unread, now);
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
            self.subflows[0].tcp.set_unread(self.stream.unread(), now);
            self.touch(0);
        }
        self.offer_window();
    }

    /// Advertises the window on every subflow if one of them would advertise at least twice what is left of the last
    /// one. Until an acknowledgment leaves, nothing has been advertised.
    fn offer_window(&mut self) {
        let before = self.receive.window.left(self.receive.next);
        let advertised = self.receive.window.clone();
        let mut after = 0;
        for index in 0..self.subflows.len() {
            if self.subflows[index].is_established() {
                after = after.max(self.advertised_window(index));
            }
        }
        self.receive.window = advertised;
        if after >= 2 * before {
            for index in 0..self.subflows.len() {
                if self.subflows[index].is_established() {
                    self.subflows[index].tcp.request_ack();
                    self.touch(index);
                }
            }
        }
    }
}
