//! Processing of data and FINs: delivery in order, reassembly, duplicates (RFC 9293, section 3.10.7.4, seventh and
//! eighth check).

use core::ops::Range;

use subflow_quantity::Instant;
use subflow_wire::IpHeader;
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::Connection;
use super::acknowledge::DataContext;
use super::receive_window::ReceiveWindow;

impl Connection {
    /// Processes the payload and the FIN of an acceptable segment that begins at `start`; for `data` see
    /// [`on_segment`](Self::on_segment).
    pub(super) fn on_payload(
        &mut self,
        ip: &IpHeader,
        segment: &TcpSegment,
        start: u64,
        data: Option<u64>,
        now: Instant,
    ) {
        let end = start + u64::from(segment.payload.length);
        if segment.flags.contains(TcpFlags::FIN) {
            self.on_fin(end, now);
        }
        if start < end {
            self.on_data(ip, start..end, data, now);
        } else if segment.flags.contains(TcpFlags::FIN) && end > self.receive.next() {
            // A FIN beyond a hole is acknowledged at once, as data is (RFC 5681, section 4.2).
            self.request_ack();
        }
        if self.receive.take_fin() {
            self.request_ack();
            self.on_fin_received(now);
        }
    }

    /// Processes a FIN at offset `fin`.
    #[cold]
    fn on_fin(&mut self, fin: u64, now: Instant) {
        if fin < self.receive.next() {
            // A retransmission of the FIN, or an invalid one: data has been received at this offset.
            self.on_fin_again(now);
        } else {
            self.receive.on_fin(fin);
        }
    }

    /// Records the duplicate `start..end`, which the next acknowledgment reports (RFC 2883).
    #[cold]
    pub(super) fn note_duplicate(&mut self, start: u64, end: u64) {
        if self.negotiated.sack {
            self.receive.note_duplicate(start, end);
        }
    }

    fn on_data(&mut self, ip: &IpHeader, sequence: Range<u64>, data: Option<u64>, now: Instant) {
        let Range { start, end } = sequence;
        let next = self.receive.next();
        if end <= next {
            self.note_duplicate(start, end);
            return self.acknowledge.on_duplicate(self.receive_window());
        }
        if self.lifecycle.has_peer_finished() {
            return;
        }
        let fresh = self.receive.fresh(start, end);
        if fresh.is_empty() {
            return self.acknowledge.on_duplicate(self.receive_window());
        }
        if start < next {
            self.note_duplicate(start, next);
        }
        let stored = self.receive.store(start, fresh, data, self.negotiated.sack);
        self.counters.bytes_received += stored.in_order;
        // RFC 5681, section 4.2: a segment that fills a gap is acknowledged immediately.
        if stored.filled_gap {
            self.acknowledge.request();
        }
        if self.ecn.is_used() {
            self.take_codepoint(ip);
        }
        self.after_data(end - start, now);
    }

    /// The window of the MPTCP connection increased on arrival of data on this subflow.
    pub(crate) fn on_window_growth(&mut self) {
        self.acknowledge.on_window_growth();
    }

    fn after_data(&mut self, length: u64, now: Instant) {
        if self.acknowledge.is_immediate() {
            self.request_ack();
        } else {
            self.decide_acknowledgment(length, now);
        }
        if self.receive.open_window(length) {
            self.acknowledge.on_window_growth();
        }
        if self.receive.read_at_once(now) {
            self.acknowledge.on_read(self.receive.next(), self.receive.acknowledged());
        }
    }

    fn decide_acknowledgment(&mut self, length: u64, now: Instant) {
        let rtt = match (self.rto.rtt().srtt(), self.receive.rtt()) {
            (Some(sender), Some(receiver)) => Some(sender.min(receiver)),
            (sender, receiver) => receiver.or(sender),
        };
        self.acknowledge.on_data(&DataContext {
            now,
            length,
            next: self.receive.next(),
            acknowledged: self.receive.acknowledged(),
            out_of_order: self.receive.has_hole(),
            window: self.receive_window(),
            rto: self.rto.base(),
            rtt,
            sack: self.negotiated.sack,
        });
    }

    /// What is left of the receive window that this side has advertised, in bytes from the acknowledgment number.
    pub fn receive_window(&self) -> u64 {
        self.receive.left()
    }

    /// Sets the number of in-order bytes that the application has not read, which reduces the advertised window. A
    /// window that opens again is advertised immediately.
    pub fn set_unread(&mut self, unread: u64, now: Instant) {
        if self.receive.set_unread(unread) && self.lifecycle.is_synchronised() && self.receive.on_read(now) {
            self.request_ack();
        }
    }

    /// On an MPTCP subflow: sets the window of the connection, in bytes, which is advertised from now on, and whether
    /// this subflow's own segments open it.
    pub fn share_window(&mut self, window: u64, opens: bool) {
        self.receive.share_window(window, opens);
    }

    /// The receive window of this subflow: as far as it has opened that of the connection.
    pub(crate) fn own_window(&self) -> &ReceiveWindow {
        self.receive.window()
    }

    /// On an MPTCP subflow: the connection's receive buffer has grown.
    pub(crate) fn follow_buffer(&mut self, connection: &ReceiveWindow) {
        self.receive.follow_buffer(connection);
    }

    /// Whether any byte of the peer's stream has been taken in, in order or beyond a hole.
    pub(crate) fn holds_data(&self) -> bool {
        self.counters.bytes_received > 0 || self.receive.has_hole()
    }

    /// Requests an immediate acknowledgment (MPTCP: one that carries a DATA_ACK or another option).
    pub fn request_ack(&mut self) {
        self.acknowledge.request();
    }
}
