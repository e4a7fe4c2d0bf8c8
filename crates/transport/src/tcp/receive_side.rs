//! The receiving half of a connection: sequence space (RFC 9293, section 3.3.1), window, reassembly, and the data that
//! is ready for the application.

use core::ops::Range;

use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::Timestamps;

use super::reassembly::{Reassembly, Run};
use super::receive_window::ReceiveWindow;
use super::timestamps::PeerTimestamps;
use super::{Config, segment};
use crate::edge::Taken;

/// Receive sequence space and received data. All offsets count from the peer's SYN at 0.
#[derive(Clone, Debug)]
pub(super) struct ReceiveSide {
    /// The peer's initial sequence number.
    initial: u32,
    /// RCV.NXT.
    nxt: u64,
    /// RCV.NXT in the last acknowledgment sent (RFC 7323: Last.ACK.sent).
    acknowledged: u64,
    window: ReceiveWindow,
    reassembly: Reassembly,
    /// Offset of the peer's FIN, if one has arrived.
    fin: Option<u64>,
    timestamps: PeerTimestamps,
    /// Duplicate range that the next acknowledgment reports (RFC 2883).
    duplicate: Option<Range<u64>>,
    /// In-order data that the owner has not yet taken: ranges of the application stream.
    ready: Vec<Range<u64>>,
    /// The part of the latest segment's payload that was accepted.
    taken: Option<Taken>,
    /// In-order bytes that the application has not read; they reduce the advertised window.
    unread: u64,
    /// On an MPTCP subflow: the window of the connection.
    shared: Option<SharedWindow>,
}

/// The window of an MPTCP connection, as one of its subflows advertises it.
#[derive(Clone, Copy, Debug)]
struct SharedWindow {
    bytes: u64,
    /// The subflow's own segments open it.
    is_opened_here: bool,
}

/// What storing a payload has brought.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    /// Bytes that became in order.
    pub(super) in_order: u64,
    /// No data beyond a hole is left of what there was before.
    pub(super) filled_gap: bool,
}

impl ReceiveSide {
    /// That of a connection whose full-sized segments have `segment` bytes.
    pub(super) fn new(config: &Config, segment: u32, now: Instant) -> Self {
        Self {
            initial: 0,
            nxt: 0,
            acknowledged: 0,
            window: ReceiveWindow::new(config.receive_buffer, segment, now),
            reassembly: Reassembly::new(config.receive_buffer.largest()),
            fin: None,
            timestamps: PeerTimestamps::default(),
            duplicate: None,
            ready: Vec::new(),
            taken: None,
            unread: 0,
            shared: None,
        }
    }

    /// The peer's SYN has the sequence number `initial`. `scaling`: both ends scale their windows.
    pub(super) fn on_syn(&mut self, initial: u32, timestamps: Option<Timestamps>, scaling: bool, now: Instant) {
        (self.initial, self.nxt, self.acknowledged) = (initial, 1, 1);
        if !scaling {
            self.window.without_scaling();
        }
        self.timestamps.on_syn(timestamps, now);
        self.window.select(self.nxt, 0);
    }

    pub(super) fn on_established(&mut self, now: Instant) {
        self.window.on_established(now);
    }

    /// RCV.NXT.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.nxt
    }

    /// RCV.NXT in the last acknowledgment sent.
    #[inline]
    pub(super) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// RCV.NXT as a sequence number.
    #[inline]
    pub(super) fn acknowledgment_number(&self) -> u32 {
        segment::wrap(self.nxt, self.initial)
    }

    /// The sequence number of an offset in the peer's stream.
    #[inline]
    pub(super) fn number_of(&self, offset: u64) -> u32 {
        segment::wrap(offset, self.initial)
    }

    /// Offset of the sequence number `number`; `None` if it lies before the peer's SYN.
    #[inline]
    pub(super) fn offset_of(&self, number: u32) -> Option<u64> {
        segment::unwrap(number, self.initial, self.nxt)
    }

    /// Whether `number` is that of the peer's SYN.
    pub(super) fn is_initial(&self, number: u32) -> bool {
        number == self.initial
    }

    /// Whether `start..end` overlaps or adjoins the receive window. As in Linux (`tcp_sequence`), the lower limit is
    /// the last acknowledgment sent instead of RCV.NXT.
    #[inline]
    pub(super) fn is_in_window(&self, start: u64, end: u64) -> bool {
        end >= self.acknowledged && start <= self.window.right_edge().max(self.nxt)
    }

    #[inline]
    pub(super) fn timestamps(&self) -> &PeerTimestamps {
        &self.timestamps
    }

    /// Takes the timestamps of an acceptable segment that begins at `start`. Returns whether the echo is a new one.
    #[inline]
    pub(super) fn take_timestamps(&mut self, theirs: Option<Timestamps>, start: u64, now: Instant) -> bool {
        self.timestamps.take(theirs, start <= self.acknowledged, now)
    }

    /// A segment arrived: nothing of its payload is accepted yet.
    #[inline]
    pub(super) fn begin_segment(&mut self) {
        self.taken = None;
    }

    /// The part of the latest segment's payload that was accepted.
    pub(super) fn taken(&self) -> Option<Taken> {
        self.taken.clone()
    }

    /// The next acknowledgment reports `start..end` as a duplicate, if that was received before.
    #[cold]
    pub(super) fn note_duplicate(&mut self, start: u64, end: u64) {
        if start < end && end <= self.nxt {
            self.duplicate = Some(start..end);
        }
    }

    /// The duplicate that an acknowledgment is to report.
    #[inline]
    pub(super) fn take_duplicate(&mut self) -> Option<Range<u64>> {
        self.duplicate.take()
    }

    /// Data beyond holes, the most recent first.
    pub(super) fn blocks(&self) -> &[Range<u64>] {
        self.reassembly.blocks()
    }

    /// Whether data beyond a hole is held.
    #[inline]
    pub(super) fn has_hole(&self) -> bool {
        !self.reassembly.is_empty()
    }

    /// The number of intervals of data beyond holes.
    pub(super) fn pieces(&self) -> usize {
        self.reassembly.pieces()
    }

    /// A FIN arrived at offset `fin`, where no data was received. The first one within the window ends the peer's
    /// stream; data beyond it is dropped.
    #[cold]
    pub(super) fn on_fin(&mut self, fin: u64) {
        if self.fin.is_none() && fin <= self.nxt + self.left() {
            self.fin = Some(fin);
            self.reassembly.discard_from(fin);
        }
    }

    /// Receives the FIN if all data before it has arrived. Returns whether it did.
    #[inline]
    pub(super) fn take_fin(&mut self) -> bool {
        let is_next = self.fin == Some(self.nxt);
        self.nxt += u64::from(is_next);
        is_next
    }

    /// Whether all data up to the peer's FIN, and the FIN, have arrived.
    pub(super) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.nxt > fin)
    }

    /// The part of the payload `start..end` that was not received before and lies before the FIN; empty if it begins
    /// beyond the window.
    #[inline]
    pub(super) fn fresh(&self, start: u64, end: u64) -> Range<u64> {
        if start >= self.nxt + self.left() {
            return 0..0;
        }
        start.max(self.nxt)..end.min(self.fin.unwrap_or(u64::MAX))
    }

    /// Delivers or stores `fresh`, the new part of a payload that begins at `start`. `data` is the application-stream
    /// offset of the payload, or `None` if the stream is the connection's own. `sack`: duplicates are reported.
    #[inline]
    pub(super) fn store(&mut self, start: u64, fresh: Range<u64>, data: Option<u64>, sack: bool) -> Stored {
        let skip = fresh.start - start;
        let data = data.map_or(fresh.start - 1, |data| data + skip);
        let (payload_offset, end) = (skip as u32, data + (fresh.end - fresh.start));
        let run = Run { start: fresh.start, end: fresh.end, data };
        if run.start == self.nxt {
            self.taken = Some(Taken { payload_offset, stream: data..end });
            return self.on_in_order(run);
        }
        self.on_out_of_order(run, Taken { payload_offset, stream: data..end }, sack);
        Stored { in_order: 0, filled_gap: false }
    }

    // This and the next but one stay out of the path of data in order, whose registers they would take.
    #[cold]
    #[inline(never)]
    fn on_out_of_order(&mut self, run: Run, taken: Taken, sack: bool) {
        let stored = self.reassembly.insert(run);
        self.taken = (!stored.dropped).then_some(taken);
        if sack && stored.duplicate.is_some() {
            self.duplicate = stored.duplicate;
        }
    }

    #[inline]
    fn on_in_order(&mut self, run: Run) -> Stored {
        let length = run.end - run.start;
        self.deliver(run);
        if self.reassembly.is_empty() {
            return Stored { in_order: length, filled_gap: false };
        }
        let next = self.nxt;
        self.deliver_ready();
        Stored { in_order: length + (self.nxt - next), filled_gap: self.reassembly.is_empty() }
    }

    #[cold]
    #[inline(never)]
    fn deliver_ready(&mut self) {
        while let Some(run) = self.reassembly.pop_ready(self.nxt) {
            self.deliver(run);
        }
    }

    #[inline]
    fn deliver(&mut self, run: Run) {
        let length = run.end - run.start;
        self.nxt = run.end;
        match self.ready.last_mut() {
            Some(last) if last.end == run.data => last.end += length,
            _ => self.ready.push(run.data..run.data + length),
        }
    }

    /// The in-order data received since the last call.
    pub(super) fn take_ready(&mut self) -> impl Iterator<Item = Range<u64>> {
        self.ready.drain(..)
    }

    #[inline]
    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// What is left of the advertised window, in bytes from RCV.NXT.
    #[inline]
    pub(super) fn left(&self) -> u64 {
        self.window.left(self.nxt)
    }

    /// The window by itself.
    pub(super) fn window(&self) -> &ReceiveWindow {
        &self.window
    }

    /// The receiver's RTT estimate, from timestamps.
    #[inline]
    pub(super) fn rtt(&self) -> Option<Duration> {
        self.window.rtt()
    }

    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.window.on_rtt(rtt);
    }

    /// Bytes that occupy the receive buffer.
    #[inline]
    fn held(&self) -> u64 {
        self.unread + self.reassembly.bytes()
    }

    /// `length` bytes of data arrived, and `held` are held. Returns whether the window has grown.
    #[inline]
    pub(super) fn open_window(&mut self, length: u64) -> bool {
        let held = self.held();
        self.shared.is_none_or(|shared| shared.is_opened_here) && self.window.on_segment(length, held)
    }

    /// The application has read what was in order, if it reads at once. Returns whether it does.
    #[inline]
    pub(super) fn read_at_once(&mut self, now: Instant) -> bool {
        let reads = self.shared.is_none() && self.unread == 0;
        if reads {
            self.window.on_read(now, self.nxt);
        }
        reads
    }

    /// Sets the number of in-order bytes that the application has not read. Returns whether that is less than before.
    pub(super) fn set_unread(&mut self, unread: u64) -> bool {
        core::mem::replace(&mut self.unread, unread) > unread
    }

    /// The application has read. Returns whether it opens the window to at least twice of what is left of it.
    pub(super) fn on_read(&mut self, now: Instant) -> bool {
        let before = self.left();
        let after = self.window.clone().select(self.nxt, self.held());
        self.window.on_read(now, self.nxt - self.unread);
        after >= 2 * before && after > 0
    }

    /// Advertises the window of the MPTCP connection from now on.
    #[inline]
    pub(super) fn share_window(&mut self, bytes: u64, is_opened_here: bool) {
        self.shared = Some(SharedWindow { bytes, is_opened_here });
    }

    /// The receive buffer of the MPTCP connection has grown.
    pub(super) fn follow_buffer(&mut self, connection: &ReceiveWindow) {
        self.window.follow(connection);
    }

    /// Shift of the window field.
    pub(super) fn window_scale(&self) -> u8 {
        self.window.scale()
    }

    /// The window that a SYN advertises, in bytes.
    pub(super) fn window_for_syn(&mut self) -> u64 {
        self.window.select(self.nxt, 0)
    }

    /// The window that a segment advertises, in bytes.
    #[inline]
    pub(super) fn advertise(&mut self) -> u64 {
        match self.shared {
            Some(shared) => {
                self.window.admit(self.nxt + shared.bytes);
                shared.bytes
            }
            None => {
                let held = self.held();
                self.window.select(self.nxt, held)
            }
        }
    }

    /// An acknowledgment of RCV.NXT is being sent. Returns whether it acknowledges anything new.
    #[inline]
    pub(super) fn acknowledge(&mut self) -> bool {
        core::mem::replace(&mut self.acknowledged, self.nxt) < self.nxt
    }

    /// Takes over what the answer to an unacceptable segment changes.
    #[cfg(test)]
    pub(super) fn take_answer_of(&mut self, other: &Self) {
        self.duplicate.clone_from(&other.duplicate);
        self.taken.clone_from(&other.taken);
    }
}
