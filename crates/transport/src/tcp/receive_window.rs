//! The receive window: its advertisement, and the growth of the receive buffer (dynamic right-sizing).
//!
//! As in Linux, three numbers determine the window: the size of the buffer; `clamp` (Linux `window_clamp`), the share
//! of the buffer that payload can occupy, half of it until the first full-sized segment allows an estimate; and
//! `threshold` (Linux `rcv_ssthresh`), which increases by two segments with every full-sized segment received.

use subflow_quantity::{Duration, Instant};

use super::config::{Autotuning, ReceiveBuffer};

/// Denominator of the share of the buffer that payload occupies (Linux: 2 to the power of `TCP_RMEM_TO_WIN_SCALE`).
const SHARE_DENOMINATOR: u64 = 256;
/// Bytes of buffer that a packet occupies in addition to its payload: its descriptor of 256 bytes, and a head of 640
/// with space for headers (Linux 6.12, 64 bit: `truesize` less `len`, read from packets of the kernel measured).
pub(crate) const PACKET_OVERHEAD: u64 = 896;
/// Segments up to this size do not change the estimate of the share (Linux: the initial `rcv_mss`, `TCP_MSS_DEFAULT`).
const MIN_MEASURED_SEGMENT: u64 = 536;

/// The window that a receiver advertises. Offsets are those of the subflow or of the MPTCP connection.
#[derive(Clone, Debug)]
pub struct ReceiveWindow {
    buffer: u64,
    /// Largest size of the buffer; `None` if its size is fixed.
    maximum: Option<u64>,
    clamp: u64,
    /// Share of an automatic buffer that payload occupies, times [`SHARE_DENOMINATOR`] (Linux `scaling_ratio`).
    share: u64,
    /// The largest segment received.
    largest: u64,
    threshold: u64,
    /// Offset after the last byte ever admitted: the window never shrinks (RFC 9293, section 3.8.6.2.1).
    right_edge: u64,
    scale: u8,
    mss: u64,
    /// Bytes read in the last measured round trip.
    space: u64,
    measured_from: u64,
    measured_at: Instant,
    /// 8 times the receiver's RTT estimate, in nanoseconds.
    rtt8: u64,
}

impl ReceiveWindow {
    /// The window of a new connection; `mss` is the largest segment expected.
    pub fn new(buffer: ReceiveBuffer, mss: u32, now: Instant) -> Self {
        let mss = u64::from(mss);
        let (size, maximum, clamp, largest) = match buffer {
            ReceiveBuffer::Fixed(size) => (size, None, size, size),
            ReceiveBuffer::Automatic(Autotuning { initial, maximum }) => {
                (initial, Some(maximum), initial / 2, maximum.max(initial))
            }
        };
        let scale = (0..14).find(|scale| largest >> scale <= 65_535).unwrap_or(14);
        // Linux initially offers a whole number of segments.
        let whole_segments = |bytes: u64| bytes - if bytes > mss { bytes % mss } else { 0 };
        let threshold = if maximum.is_some() { whole_segments(clamp.min(65_535)) } else { clamp };
        Self {
            buffer: size,
            maximum,
            clamp,
            share: SHARE_DENOMINATOR / 2,
            largest: MIN_MEASURED_SEGMENT,
            threshold,
            right_edge: 0,
            scale,
            mss,
            space: threshold.min(10 * mss),
            measured_from: 0,
            measured_at: now,
            rtt8: 0,
        }
    }

    /// The connection is established: the measurement of the amount read begins, and room for one segment is reserved
    /// until the share is measured. What has been advertised stays (Linux `tcp_init_buffer_space`).
    pub fn on_established(&mut self, now: Instant) {
        self.measured_at = now;
        if self.maximum.is_some() && self.clamp > 2 * self.mss {
            self.clamp = (self.clamp - self.mss).max(2 * self.mss);
            self.threshold = self.threshold.min(self.clamp);
        }
    }

    /// The window scale to offer (RFC 7323).
    pub fn scale(&self) -> u8 {
        self.scale
    }

    /// The peer does not support window scaling: the window is limited to 16 bits.
    pub fn without_scaling(&mut self) {
        self.scale = 0;
        self.clamp = self.clamp.min(65_535);
        self.threshold = self.threshold.min(65_535);
        self.maximum = None;
    }

    /// Selects the window to advertise, in bytes. `next` is the next offset expected, `held` the number of bytes in
    /// the buffer (unread or out of order).
    pub fn select(&mut self, next: u64, held: u64) -> u64 {
        self.select_below(self.threshold, next, held)
    }

    /// [`select`](Self::select), with the threshold of the subflow that advertises the window (MPTCP).
    pub fn select_below(&mut self, threshold: u64, next: u64, held: u64) -> u64 {
        let free = self.clamp.saturating_sub(held);
        let mut window = free.min(threshold);
        if window < self.mss.min(self.clamp / 2) {
            // Silly window avoidance (RFC 9293, section 3.8.6.2.2).
            window = 0;
        }
        let granule = (1u64 << self.scale) - 1;
        window = (window + granule) & !granule;
        self.right_edge = self.right_edge.max(next + window.min(65_535 << self.scale));
        self.right_edge - next
    }

    /// Notes that a window up to `edge` was advertised.
    pub fn admit(&mut self, edge: u64) {
        self.right_edge = self.right_edge.max(edge);
    }

    /// Bytes that remain of the last advertised window.
    pub fn left(&self, next: u64) -> u64 {
        self.right_edge.saturating_sub(next)
    }

    /// Offset after the last byte admitted.
    pub fn right_edge(&self) -> u64 {
        self.right_edge
    }

    /// Processes the arrival of `length` bytes (Linux `tcp_grow_window`). Returns whether the window may increase.
    pub fn on_segment(&mut self, length: u64, held: u64) -> bool {
        self.measure_share(length);
        let waiting = if self.maximum.is_some() { length } else { 0 };
        let room = self.clamp.saturating_sub(held + waiting).saturating_sub(self.threshold);
        if length < 128 || room == 0 {
            return false;
        }
        self.threshold += room.min((2 * self.mss).max(2 * length));
        true
    }

    /// The window up to which this side opens it so far, in bytes (Linux `rcv_ssthresh`).
    pub fn threshold(&self) -> u64 {
        self.threshold
    }

    /// On a subflow: takes over the size of the connection's buffer if that has grown (Linux `mptcp_rcv_space_adjust`).
    /// The threshold follows with what the subflow itself receives.
    pub fn follow(&mut self, connection: &Self) {
        if connection.buffer > self.buffer {
            (self.buffer, self.clamp) = (connection.buffer, connection.clamp);
        }
    }

    /// On a connection: payload occupies the least share that its subflows estimate (Linux `mptcp_rcv_space_adjust`).
    pub fn take_least_share<'a>(&mut self, subflows: impl Iterator<Item = &'a Self>) {
        if let (Some(_), Some(share)) = (self.maximum, subflows.map(|subflow| subflow.share).min()) {
            self.share = share;
            self.clamp = self.buffer * share / SHARE_DENOMINATOR;
        }
    }

    /// Updates the estimate of the share from a segment larger than all before (Linux `tcp_measure_rcv_mss`).
    fn measure_share(&mut self, length: u64) {
        if self.maximum.is_some() && length > self.largest {
            self.largest = length;
            self.share = SHARE_DENOMINATOR * length / (length + PACKET_OVERHEAD);
            self.clamp = self.buffer * self.share / SHARE_DENOMINATOR;
        }
    }

    /// Processes an RTT sample of the receiver. A sample below the estimate replaces it, so that a queue that drains
    /// does not delay the growth of the buffer (Linux `tcp_rcv_rtt_update`, since 6.12.35).
    pub fn on_rtt(&mut self, rtt: Duration) {
        let sample = rtt.as_nanos();
        let is_least = self.rtt8 == 0 || sample << 3 < self.rtt8;
        self.rtt8 = if is_least { sample << 3 } else { self.rtt8 - (self.rtt8 >> 3) + sample };
    }

    /// Sets the receiver's RTT estimate (MPTCP: that of the slowest subflow).
    pub fn set_rtt(&mut self, rtt: Duration) {
        self.rtt8 = rtt.as_nanos() << 3;
    }

    /// The receiver's RTT estimate.
    pub fn rtt(&self) -> Option<Duration> {
        (self.rtt8 != 0).then(|| Duration::from_nanos(self.rtt8 >> 3))
    }

    /// The application read up to offset `read`: once per round trip the buffer is adapted to the amount read. Returns
    /// whether it has grown.
    pub fn on_read(&mut self, now: Instant, read: u64) -> bool {
        let Some(maximum) = self.maximum else { return false };
        let elapsed = now.since(self.measured_at).as_nanos();
        if self.rtt8 == 0 || elapsed < self.rtt8 >> 3 {
            return false;
        }
        let before = self.buffer;
        let copied = read - self.measured_from;
        if copied > self.space {
            // Twice the amount of the last round trip, increased by the growth expected for the next one.
            let base = 2 * copied + 16 * self.mss;
            let window = base + 2 * (base * (copied - self.space) / self.space);
            let buffer = (window * SHARE_DENOMINATOR / self.share).min(maximum);
            if buffer > self.buffer {
                self.buffer = buffer;
                self.clamp = buffer * self.share / SHARE_DENOMINATOR;
            }
            self.space = copied;
        }
        self.measured_from = read;
        self.measured_at = now;
        self.buffer > before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AUTO: ReceiveBuffer = ReceiveBuffer::Automatic(Autotuning::LINUX_RECEIVE);

    #[test]
    fn linux_defaults_start_at_64_kib_with_a_scale_of_9() {
        let mut window = ReceiveWindow::new(AUTO, 1448, Instant::ZERO);
        assert_eq!(window.scale(), 9);
        assert_eq!(window.select(1, 0), 65_536);
    }

    /// The windows of Linux 6.12.117 after each of the first full-sized segments of a transfer.
    #[test]
    fn the_first_windows_are_those_of_linux() {
        let mut window = ReceiveWindow::new(AUTO, 1448, Instant::ZERO);
        assert_eq!(window.select(1, 0), 65_536);
        window.on_established(Instant::ZERO);
        let mut advertised = Vec::new();
        for segment in 1..=7 {
            window.on_segment(1448, 0);
            advertised.push(window.select(1 + 1448 * segment, 0));
        }
        assert_eq!(advertised, [67_072, 70_144, 73_216, 75_776, 78_848, 79_872, 79_872]);
    }

    #[test]
    fn the_estimate_of_the_rtt_falls_at_once_and_rises_by_an_eighth() {
        let mut window = ReceiveWindow::new(AUTO, 1448, Instant::ZERO);
        let mut after = |ms| {
            window.on_rtt(Duration::from_millis(ms));
            window.rtt().map(|rtt| rtt.as_millis())
        };
        assert_eq!([after(40), after(80), after(42)], [Some(40), Some(45), Some(42)]);
    }

    #[test]
    fn the_right_edge_never_moves_back() {
        let mut window = ReceiveWindow::new(ReceiveBuffer::Fixed(10_000), 1000, Instant::ZERO);
        assert_eq!(window.select(0, 0), 10_000);
        assert_eq!(window.select(1000, 9000), 9000);
    }

    #[test]
    fn a_full_buffer_closes_the_window() {
        let mut window = ReceiveWindow::new(ReceiveBuffer::Fixed(10_000), 1000, Instant::ZERO);
        window.select(0, 0);
        assert_eq!(window.select(10_000, 9_500), 0);
        assert_eq!(window.select(10_000, 0), 10_000);
    }

    #[test]
    fn the_buffer_follows_what_is_read_in_a_round_trip() {
        let mut window = ReceiveWindow::new(AUTO, 1448, Instant::ZERO);
        window.on_rtt(Duration::from_millis(40));
        window.on_read(Instant::from_nanos(40_000_000), 60_000);
        for _ in 0..200 {
            window.on_segment(1448, 0);
        }
        assert!(window.select(60_000, 0) > 120_000);
    }
}
