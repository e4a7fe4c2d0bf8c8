//! Processing of data and FINs: delivery in order, reassembly, duplicates (RFC 9293, section 3.10.7.4, seventh and
//! eighth check).

use core::ops::Range;

use subflow_quantity::Instant;
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::acknowledge::DataContext;
use super::reassembly::Run;
use super::receive_window::ReceiveWindow;
use super::{Connection, State};
use crate::edge::Taken;

impl Connection {
    /// Processes the payload and the FIN of an acceptable segment that begins at `start`; for `data` see
    /// [`on_segment`](Self::on_segment).
    pub(super) fn on_payload(&mut self, segment: &TcpSegment, start: u64, data: Option<u64>, now: Instant) {
        let end = start + u64::from(segment.payload.length);
        if segment.flags.contains(TcpFlags::FIN) {
            self.on_fin(end, now);
        }
        if start < end {
            self.on_data(start..end, data, now);
        } else if segment.flags.contains(TcpFlags::FIN) && end > self.receive.nxt {
            // A FIN beyond a hole is acknowledged at once, as data is (RFC 5681, section 4.2).
            self.request_ack();
        }
        if self.receive.fin == Some(self.receive.nxt) {
            self.receive.nxt += 1;
            self.request_ack();
            self.on_fin_received(now);
        }
    }

    /// Processes a FIN at offset `fin`. The first one within the window ends the peer's stream; data beyond it is
    /// dropped.
    #[cold]
    fn on_fin(&mut self, fin: u64, now: Instant) {
        if fin < self.receive.nxt {
            // A retransmission of the FIN, or an invalid one: data has been received at this offset.
            self.on_fin_again(now);
        } else if self.receive.fin.is_none() && fin <= self.receive.nxt + self.receive_window() {
            self.receive.fin = Some(fin);
            self.receive.reassembly.discard_from(fin);
        }
    }

    /// Records the duplicate `start..end`, which the next acknowledgment reports (RFC 2883).
    #[cold]
    pub(super) fn note_duplicate(&mut self, start: u64, end: u64) {
        if self.negotiated.sack && start < end && end <= self.receive.nxt {
            self.receive.duplicate = Some(start..end);
        }
    }

    fn on_data(&mut self, sequence: Range<u64>, data: Option<u64>, now: Instant) {
        let Range { start, end } = sequence;
        let next = self.receive.nxt;
        if end <= next {
            self.note_duplicate(start, end);
            return self.acknowledge.on_duplicate(self.receive_window());
        }
        if matches!(self.state, State::CloseWait | State::Closing | State::LastAck | State::TimeWait) {
            return;
        }
        let fresh = start.max(next)..end.min(self.receive.fin.unwrap_or(u64::MAX));
        if start >= next + self.receive_window() || fresh.is_empty() {
            return self.acknowledge.on_duplicate(self.receive_window());
        }
        if start < next {
            self.note_duplicate(start, next);
        }
        self.store(start, fresh, data);
        self.after_data(end - start, now);
    }

    /// Delivers or stores `fresh`, the new part of a payload that begins at `start`.
    fn store(&mut self, start: u64, fresh: Range<u64>, data: Option<u64>) {
        let skip = fresh.start - start;
        let data = data.map_or(fresh.start - 1, |data| data + skip);
        let (payload_offset, end) = (skip as u32, data + (fresh.end - fresh.start));
        let run = Run { start: fresh.start, end: fresh.end, data };
        if run.start == self.receive.nxt {
            self.receive.taken = Some(Taken { payload_offset, stream: data..end });
            return self.on_in_order(run);
        }
        self.on_out_of_order(run, Taken { payload_offset, stream: data..end });
    }

    // These two stay out of the path of data in order, whose registers they would take.
    #[cold]
    #[inline(never)]
    fn on_out_of_order(&mut self, run: Run, taken: Taken) {
        let stored = self.receive.reassembly.insert(run);
        self.receive.taken = (!stored.dropped).then_some(taken);
        if self.negotiated.sack && stored.duplicate.is_some() {
            self.receive.duplicate = stored.duplicate;
        }
    }

    fn on_in_order(&mut self, run: Run) {
        self.deliver(run);
        if !self.receive.reassembly.is_empty() {
            self.deliver_ready();
        }
    }

    #[cold]
    #[inline(never)]
    fn deliver_ready(&mut self) {
        while let Some(run) = self.receive.reassembly.pop_ready(self.receive.nxt) {
            self.deliver(run);
        }
        if self.receive.reassembly.is_empty() {
            // RFC 5681, section 4.2: a segment that fills a gap is acknowledged immediately.
            self.acknowledge.now = true;
        }
    }

    fn deliver(&mut self, run: Run) {
        let length = run.end - run.start;
        self.receive.nxt = run.end;
        self.counters.bytes_received += length;
        match self.receive.ready.last_mut() {
            Some(last) if last.end == run.data => last.end += length,
            _ => self.receive.ready.push(run.data..run.data + length),
        }
    }

    /// The window of the MPTCP connection increased on arrival of data on this subflow.
    pub(crate) fn on_window_growth(&mut self) {
        self.acknowledge.on_window_growth();
    }

    fn after_data(&mut self, length: u64, now: Instant) {
        let held = self.receive.unread + self.receive.reassembly.bytes();
        if self.acknowledge.is_immediate() {
            self.request_ack();
        } else {
            self.decide_acknowledgment(length, now);
        }
        let alone = self.receive.shared_window.is_none();
        if (alone || self.receive.opens_window) && self.receive.window.on_segment(length, held) {
            self.acknowledge.on_window_growth();
        }
        if alone && self.receive.unread == 0 {
            self.receive.window.on_read(now, self.receive.nxt);
            self.acknowledge.on_read(self.receive.nxt, self.receive.acknowledged);
        }
    }

    fn decide_acknowledgment(&mut self, length: u64, now: Instant) {
        let rtt = match (self.rtt.srtt(), self.receive.window.rtt()) {
            (Some(sender), Some(receiver)) => Some(sender.min(receiver)),
            (sender, receiver) => receiver.or(sender),
        };
        self.acknowledge.on_data(&DataContext {
            now,
            length,
            next: self.receive.nxt,
            acknowledged: self.receive.acknowledged,
            out_of_order: !self.receive.reassembly.is_empty(),
            window: self.receive_window(),
            rto: self.rto(),
            rtt,
            sack: self.negotiated.sack,
        });
    }

    /// What is left of the receive window that this side has advertised, in bytes from the acknowledgment number.
    pub fn receive_window(&self) -> u64 {
        self.receive.window.left(self.receive.nxt)
    }

    /// Sets the number of in-order bytes that the application has not read, which reduces the advertised window. A
    /// window that opens again is advertised immediately.
    pub fn set_unread(&mut self, unread: u64, now: Instant) {
        let before = self.receive.window.left(self.receive.nxt);
        let opened = self.receive.unread > unread;
        self.receive.unread = unread;
        if opened && self.state.is_synchronised() {
            let held = unread + self.receive.reassembly.bytes();
            let after = self.receive.window.clone().select(self.receive.nxt, held);
            if after >= 2 * before && after > 0 {
                self.request_ack();
            }
            self.receive.window.on_read(now, self.receive.nxt - unread);
        }
    }

    /// On an MPTCP subflow: sets the window of the connection, in bytes, which is advertised from now on, and whether
    /// this subflow's own segments open it.
    pub fn share_window(&mut self, window: u64, opens: bool) {
        self.receive.shared_window = Some(window);
        self.receive.opens_window = opens;
    }

    /// The receive window of this subflow: as far as it has opened that of the connection.
    pub(crate) fn own_window(&self) -> &ReceiveWindow {
        &self.receive.window
    }

    /// On an MPTCP subflow: the connection's receive buffer has grown.
    pub(crate) fn follow_buffer(&mut self, connection: &ReceiveWindow) {
        self.receive.window.follow(connection);
    }

    /// Whether any byte of the peer's stream has been taken in, in order or beyond a hole.
    pub(crate) fn holds_data(&self) -> bool {
        self.counters.bytes_received > 0 || !self.receive.reassembly.is_empty()
    }

    /// Requests an immediate acknowledgment (MPTCP: one that carries a DATA_ACK or another option).
    pub fn request_ack(&mut self) {
        self.acknowledge.owed = true;
        self.acknowledge.now = true;
    }
}
