//! The sending half of a connection: sequence space (RFC 9293, section 3.3.1), the peer's window, and the data that is
//! not yet sent.

use core::ops::Range;

use subflow_quantity::{Duration, Instant};

use super::send_queue::SendQueue;
use super::{Connection, segment};

/// Send sequence space, window and send queue. All offsets count from the SYN at 0. What the window and the queue
/// admit becomes a segment in [`take`](Self::take) only, which advances SND.NXT.
#[derive(Clone, Debug)]
pub(super) struct SendSide {
    /// Initial sequence number.
    initial: u32,
    /// Shift of the peer's window field.
    scale: u8,
    /// SND.UNA.
    una: u64,
    /// SND.NXT.
    nxt: u64,
    /// SND.UNA + SND.WND: offset after the last byte that the peer's window admits.
    window_end: u64,
    /// Largest window the peer ever offered, in bytes.
    max_window: u64,
    /// Sequence offset of the segment that last updated the window (SND.WL1).
    window_from: u64,
    /// Time of the last transmission of data or a FIN.
    last_sent_at: Instant,
    /// End of the last segment below full size (Minshall's variant of Nagle's algorithm).
    small_until: u64,
    queue: SendQueue,
}

/// A new segment, taken from the queue.
#[derive(Clone, Debug)]
pub(super) struct NewSegment {
    /// Its sequence offsets; a FIN occupies one.
    pub(super) sequence: Range<u64>,
    /// Its data, as a range of the application stream.
    pub(super) data: Range<u64>,
    /// It carries the FIN.
    pub(super) has_fin: bool,
    /// No data is left in the queue.
    pub(super) is_last: bool,
}

/// What an acknowledgment has changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acknowledged {
    /// How far SND.UNA has advanced.
    pub(super) advanced: u64,
    /// It is a pure window update: SND.UNA stayed, and the window is another one.
    pub(super) is_window_update: bool,
}

impl SendSide {
    /// That of a connection whose SYN has the sequence number `initial`.
    pub(super) fn new(initial: u32, now: Instant) -> Self {
        Self {
            initial,
            scale: 0,
            una: 0,
            nxt: 0,
            window_end: 0,
            max_window: 0,
            window_from: 0,
            last_sent_at: now,
            small_until: 0,
            queue: SendQueue::default(),
        }
    }

    /// SND.UNA.
    #[inline]
    pub(super) fn una(&self) -> u64 {
        self.una
    }

    /// SND.NXT.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.nxt
    }

    /// SND.NXT as a sequence number.
    pub(super) fn next_number(&self) -> u32 {
        self.number_of(self.nxt)
    }

    /// The sequence number of an offset.
    #[inline]
    pub(super) fn number_of(&self, offset: u64) -> u32 {
        segment::wrap(offset, self.initial)
    }

    /// Offset of the sequence number `number`; `None` if it lies before the SYN.
    #[inline]
    pub(super) fn offset_of(&self, number: u32) -> Option<u64> {
        segment::unwrap(number, self.initial, self.una)
    }

    /// Offset of an acknowledgment number that is acceptable: SND.UNA − MAX.SND.WND ≤ SEG.ACK ≤ SND.NXT (RFC 5961,
    /// section 5.2), and not below the SYN, which no segment acknowledges. Before the SYN is acknowledged, it has to be.
    #[inline]
    pub(super) fn acceptable_acknowledgment(&self, number: u32) -> Option<u64> {
        let is_recent = |offset: u64| offset + self.max_window >= self.una && offset + self.una > 0;
        self.offset_of(number).filter(|&offset| offset <= self.nxt && is_recent(offset))
    }

    /// Whether the sequence number `number` was sent and is not acknowledged.
    pub(super) fn is_outstanding(&self, number: u32) -> bool {
        self.offset_of(number).is_some_and(|offset| (self.una..self.nxt).contains(&offset))
    }

    /// Whether the SYN has been sent.
    pub(super) fn has_sent_syn(&self) -> bool {
        self.nxt > 0
    }

    /// The SYN or SYN/ACK is sent.
    pub(super) fn on_syn_sent(&mut self) {
        self.nxt = self.nxt.max(1);
    }

    /// The peer's SYN arrived, with a window that is never scaled. `scale`: the shift of all later ones.
    pub(super) fn on_syn(&mut self, window: u16, scale: u8, now: Instant) {
        self.scale = scale;
        self.max_window = window.into();
        self.window_end = self.una + self.max_window;
        self.last_sent_at = now;
    }

    /// The peer acknowledged the SYN, and offers `window` bytes.
    pub(super) fn on_syn_acknowledged(&mut self, window: u64) {
        self.una = 1;
        self.window_end = 1 + window;
    }

    /// The bytes that the window field of a segment offers.
    #[inline]
    pub(super) fn window(&self, field: u16) -> u64 {
        u64::from(field) << self.scale
    }

    /// The largest window that the peer ever offered, in bytes.
    pub(super) fn max_window(&self) -> u64 {
        self.max_window
    }

    /// Processes the acknowledgment number and the window field of an acceptable segment that begins at `start`.
    #[inline]
    pub(super) fn on_acknowledgment(&mut self, start: u64, acknowledgment: u64, window: u16) -> Acknowledged {
        if acknowledgment < self.una {
            return Acknowledged { advanced: 0, is_window_update: false };
        }
        let is_window_update = self.update_window(start, acknowledgment, self.window(window));
        let advanced = acknowledgment - self.una;
        self.una = acknowledgment;
        Acknowledged { advanced, is_window_update }
    }

    /// Updates SND.WND from the newest segment (RFC 9293, section 3.10.7.4). Of segments with equal numbers, the one
    /// with the larger window counts, or one that closes the window (Linux `tcp_may_update_window`): they may arrive in
    /// another order.
    #[inline]
    fn update_window(&mut self, start: u64, acknowledgment: u64, window: u64) -> bool {
        let window_end = acknowledgment + window;
        let newer = acknowledgment > self.una
            || start > self.window_from
            || (start == self.window_from
                && (window_end > self.window_end || window == 0 && acknowledgment == self.una));
        if !newer {
            return false;
        }
        let changed = window_end != self.window_end && acknowledgment == self.una;
        self.window_from = start;
        self.window_end = window_end;
        self.max_window = self.max_window.max(window);
        changed
    }

    /// Whether the window admits `length` more bytes.
    #[inline]
    pub(super) fn admits(&self, length: u64) -> bool {
        self.nxt + length <= self.window_end
    }

    /// Payload bytes that make a segment full-sized for the sender's silly window avoidance (RFC 9293, section
    /// 3.8.6.2.1): the MSS, or half of the largest window that the peer ever offered if that is less (Linux
    /// `tcp_bound_to_half_wnd`).
    #[inline]
    pub(super) fn full_size(&self, mss: u32) -> u64 {
        let bound = if self.max_window > 536 { self.max_window / 2 } else { self.max_window.max(1) };
        u64::from(mss).min(bound)
    }

    /// Whether the window and Nagle's algorithm admit the next new segment.
    pub(super) fn admits_next(&self, mss: u32, nagle: bool) -> bool {
        let Some(front) = self.queue.front_bytes() else { return self.queue.wants_fin() };
        let full = self.full_size(mss);
        let length = full.min(front);
        self.admits(length) && (length == full || length < self.queue.bytes() || self.admits_small(nagle))
    }

    /// Nagle's algorithm with Minshall's modification (RFC 9293, section 3.7.4; Linux `tcp_nagle_check`): whether a
    /// segment below full size may be sent. The last segment of the stream always may.
    fn admits_small(&self, nagle: bool) -> bool {
        !nagle || self.queue.wants_fin() || self.una >= self.small_until
    }

    /// Takes the next new segment from the queue: at most `full` bytes, as the window admits. The FIN goes with the last
    /// data.
    pub(super) fn take(&mut self, full: u64, now: Instant) -> NewSegment {
        let data = self.queue.take(full.min(self.window_end.saturating_sub(self.nxt)));
        let length = data.end - data.start;
        let is_last = self.queue.bytes() == 0;
        let has_fin = is_last && self.queue.wants_fin();
        let sequence = self.nxt..self.nxt + length + u64::from(has_fin);
        if has_fin {
            self.queue.on_fin_sent(sequence.end - 1);
        }
        if length < full {
            self.small_until = sequence.end;
        }
        self.nxt = sequence.end;
        self.last_sent_at = now;
        NewSegment { sequence, data, has_fin, is_last }
    }

    /// A segment is sent again.
    pub(super) fn on_retransmission(&mut self, now: Instant) {
        self.last_sent_at = now;
    }

    /// Time since the last transmission of data or a FIN, or since the last idle time that was dealt with.
    pub(super) fn idle(&self, now: Instant) -> Duration {
        now.since(self.last_sent_at)
    }

    /// The idle time has been dealt with.
    pub(super) fn restart_idle(&mut self, now: Instant) {
        self.last_sent_at = now;
    }

    /// Data and the FIN that are not yet sent.
    #[inline]
    pub(super) fn queue(&self) -> &SendQueue {
        &self.queue
    }

    /// Processes that SND.UNA may have passed the FIN. Returns whether it newly has.
    #[inline]
    pub(super) fn acknowledge_fin(&mut self) -> bool {
        self.queue.acknowledge_fin(self.una)
    }
}

impl Connection {
    /// Appends `data`, a range of the application stream (MPTCP: data-level offsets), to the send queue.
    pub fn push_data(&mut self, data: Range<u64>) {
        debug_assert!(!self.is_finishing(), "data after the FIN");
        if !data.is_empty() {
            self.send.queue.push(data);
        }
    }

    /// Removes the data that has not been sent, except for its first `keep` bytes. Returns the number of bytes removed.
    pub fn discard_unsent(&mut self, keep: u64) -> u64 {
        self.send.queue.truncate(keep)
    }

    /// The data that may be sent or repeated: ranges of the application stream (MPTCP: data-level offsets).
    pub(crate) fn unacknowledged_data(&self) -> impl Iterator<Item = Range<u64>> {
        self.sent.data().chain(self.send.queue.ranges().cloned())
    }

    /// Ends the stream: a FIN follows the queued data.
    pub fn finish(&mut self) {
        self.send.queue.finish();
    }

    /// Whether [`finish`](Self::finish) was called.
    pub fn is_finishing(&self) -> bool {
        self.send.queue.is_finishing()
    }

    /// Whether this side's FIN, and with it every byte pushed, has been acknowledged.
    pub fn fin_is_acknowledged(&self) -> bool {
        self.send.queue.fin_is_acknowledged()
    }

    /// Bytes pushed and not yet sent.
    pub fn queued_bytes(&self) -> u64 {
        self.send.queue.bytes()
    }

    /// Offset, in this connection's own stream, at which data pushed now will start. The relative subflow sequence
    /// number of MPTCP for that data is this plus one.
    pub fn push_offset(&self) -> u64 {
        self.send.nxt.max(1) - 1 + self.send.queue.bytes()
    }

    /// Segments not yet cumulatively acknowledged plus the segments that the queued data will fill.
    pub fn buffered_packets(&self) -> u64 {
        u64::from(self.sent.packets_out()) + self.send.queue.packets(u64::from(self.size.mss().max(1)))
    }

    /// Whether all data pushed so far has been sent and acknowledged.
    pub(crate) fn has_delivered_all(&self) -> bool {
        self.sent.is_empty() && self.send.queue.bytes() == 0
    }

    /// Bytes sent and not yet acknowledged.
    pub fn unacknowledged_bytes(&self) -> u64 {
        self.send.nxt - self.send.una
    }
}
