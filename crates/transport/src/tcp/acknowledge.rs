//! Delayed and immediate acknowledgments (RFC 9293, section 3.8.6.3; timing as in Linux).

use subflow_quantity::{Duration, Instant};

use super::config::{AckPolicy, Config, DelayedAck, SackCompression};
use super::timers::Tick;

/// Maximum number of consecutive quick acknowledgments (Linux `TCP_MAX_QUICKACKS`).
const MAX_QUICK_ACKS: u32 = 16;
/// Duplicate acknowledgments that SACK compression never delays: the sender's DupThresh.
const UNCOMPRESSED_DUPLICATES: u32 = 3;
/// Minimum time between two challenge ACKs (Linux `tcp_invalid_ratelimit`).
const CHALLENGE_INTERVAL: Duration = Duration::from_millis(500);
/// Minimum segment length from which the peer's segment size is estimated (Linux `TCP_MIN_MSS`).
const MIN_MEASURED_LENGTH: u64 = 88;

/// State of the receiver's acknowledgments.
#[derive(Clone, Debug)]
pub(super) struct Acknowledge {
    policy: AckPolicy,
    compression: Option<SackCompression>,
    tick: Tick,
    urgency: Urgency,
    /// Expiry of the delayed-ACK timer; [`Instant::MAX`] if it does not run.
    delayed_until: Instant,
    /// Expiry of the SACK compression timer; [`Instant::MAX`] if it does not run.
    compressed_until: Instant,
    /// Remaining acknowledgments in quick-ACK mode.
    quick: u32,
    /// Data alternates between the directions, so that acknowledgments can be piggybacked (Linux `pingpong` mode).
    interactive: bool,
    /// The current delay (Linux `ato`); zero before the first data.
    delay: Duration,
    last_data_at: Instant,
    /// Estimate of the peer's segment size (Linux `rcv_mss`).
    segment_size: u64,
    /// Length of the last segment below that estimate.
    last_short: u64,
    /// A segment below that size arrived, which marks the end of a message (Linux `ICSK_ACK_PUSHED`).
    pushed: bool,
    duplicates: u32,
    duplicates_of: u64,
    held_back: u32,
    /// Time of the last challenge ACK.
    challenged_at: Option<Instant>,
}

/// When an acknowledgment is to be sent; a later variant includes the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    /// Not at all.
    None,
    /// With the next segment or at the expiry of a timer (Linux `ICSK_ACK_SCHED`).
    Pending,
    /// Immediately (Linux `ICSK_ACK_NOW`).
    Now,
    /// Before any data: the third ACK of the handshake, or an answer in SYN-RECEIVED.
    BeforeData,
}

/// The receiver's state as [`Acknowledge::on_data`] needs it.
pub(super) struct DataContext {
    pub(super) now: Instant,
    /// Payload bytes of the segment.
    pub(super) length: u64,
    /// Next offset expected.
    pub(super) next: u64,
    /// Next offset expected when the last acknowledgment was sent.
    pub(super) acknowledged: u64,
    /// Whether out-of-order data is held.
    pub(super) out_of_order: bool,
    /// Window last advertised, in bytes.
    pub(super) window: u64,
    pub(super) rto: Duration,
    /// The smaller of the sender's and receiver's RTT estimate.
    pub(super) rtt: Option<Duration>,
    pub(super) sack: bool,
}

impl Acknowledge {
    pub(super) fn new(config: &Config, mss: u64) -> Self {
        Self {
            policy: config.ack_policy,
            compression: config.sack_compression,
            tick: config.tick(),
            urgency: Urgency::None,
            delayed_until: Instant::MAX,
            compressed_until: Instant::MAX,
            quick: 0,
            interactive: false,
            delay: Duration::ZERO,
            last_data_at: Instant::ZERO,
            segment_size: mss.min(536),
            last_short: 0,
            pushed: false,
            duplicates: 0,
            duplicates_of: 0,
            held_back: 0,
            challenged_at: None,
        }
    }

    #[inline]
    fn raise(&mut self, urgency: Urgency) {
        self.urgency = self.urgency.max(urgency);
    }

    /// An acknowledgment is to be sent immediately.
    #[inline]
    pub(super) fn request(&mut self) {
        self.raise(Urgency::Now);
    }

    /// An acknowledgment is to be sent before any data.
    pub(super) fn request_before_data(&mut self) {
        self.raise(Urgency::BeforeData);
    }

    /// Whether an acknowledgment is to be sent immediately.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.urgency >= Urgency::Now
    }

    /// Whether an acknowledgment is to be sent before any data.
    #[inline]
    pub(super) fn is_due_before_data(&self) -> bool {
        self.urgency == Urgency::BeforeData
    }

    /// Estimate of the peer's segment size, in bytes (Linux `rcv_mss`).
    #[inline]
    pub(super) fn segment_size(&self) -> u64 {
        self.segment_size
    }

    /// Acknowledges by `policy` from now on; an acknowledgment that is delayed is sent if the policy delays none.
    pub(super) fn set_policy(&mut self, policy: AckPolicy) {
        self.policy = policy;
        if self.is_immediate() {
            self.hurry();
        }
    }

    /// An acknowledgment that is pending is to be sent immediately.
    fn hurry(&mut self) {
        if self.urgency == Urgency::Pending {
            self.urgency = Urgency::Now;
        }
    }

    /// Whether every segment is acknowledged at once.
    #[inline]
    pub(super) fn is_immediate(&self) -> bool {
        matches!(self.policy, AckPolicy::EverySegment)
    }

    /// Data arrived, in order or not (Linux `tcp_event_data_recv` and `__tcp_ack_snd_check`).
    pub(super) fn on_data(&mut self, segment: &DataContext) {
        let AckPolicy::Delayed(DelayedAck { minimum, quick_start, .. }) = self.policy else {
            return self.request();
        };
        self.raise(Urgency::Pending);
        self.measure_segment_size(segment.length);
        let gap = segment.now.since(self.last_data_at);
        if self.delay.is_zero() {
            if quick_start {
                self.enter_quick_mode_for(segment.window, MAX_QUICK_ACKS);
            }
            self.delay = minimum;
        } else if gap <= minimum / 2 {
            self.delay = self.delay / 2 + minimum / 2;
        } else if gap < self.delay {
            self.delay = (self.delay / 2 + gap).min(segment.rto);
        } else if gap > segment.rto && quick_start {
            self.enter_quick_mode_for(segment.window, MAX_QUICK_ACKS);
        }
        self.last_data_at = segment.now;
        self.decide(segment);
    }

    fn measure_segment_size(&mut self, length: u64) {
        if length >= self.segment_size {
            self.segment_size = length;
            self.last_short = 0;
        } else if length == self.last_short && length >= MIN_MEASURED_LENGTH {
            // Two consecutive segments of the same length: this is the peer's segment size (Linux
            // `tcp_measure_rcv_mss`).
            self.segment_size = length;
        } else {
            self.last_short = length;
            self.pushed = true;
        }
    }

    fn decide(&mut self, segment: &DataContext) {
        let unacknowledged = segment.next - segment.acknowledged;
        if self.is_enough(unacknowledged) || self.in_quick_mode() || self.is_due() {
            self.request();
        } else if segment.out_of_order {
            self.report_hole(segment);
        } else {
            self.delay_acknowledgment(segment);
        }
    }

    /// Whether so many bytes, received and not acknowledged, are not to wait for more.
    #[inline]
    fn is_enough(&self, unacknowledged: u64) -> bool {
        match self.policy {
            AckPolicy::EverySegment => true,
            AckPolicy::Delayed(DelayedAck { segments, .. }) => {
                unacknowledged + self.segment_size > u64::from(segments) * self.segment_size
            }
        }
    }

    fn in_quick_mode(&self) -> bool {
        self.quick > 0 && !self.interactive
    }

    /// Out-of-order data is held: the first duplicate acknowledgments are sent at once, later ones are compressed.
    fn report_hole(&mut self, segment: &DataContext) {
        let Some(compression) = self.compression.filter(|c| segment.sack && self.held_back < c.count) else {
            return self.request();
        };
        if self.duplicates_of != segment.next {
            self.duplicates_of = segment.next;
            self.duplicates = 0;
        }
        if self.duplicates < UNCOMPRESSED_DUPLICATES {
            self.duplicates += 1;
            return self.request();
        }
        self.held_back += 1;
        if self.compressed_until == Instant::MAX {
            let part = segment.rtt.map_or(compression.delay, |rtt| rtt / 20);
            self.compressed_until = segment.now + compression.delay.min(part) + compression.slack;
        }
    }

    fn delay_acknowledgment(&mut self, segment: &DataContext) {
        let AckPolicy::Delayed(DelayedAck { minimum, maximum, .. }) = self.policy else { return };
        let mut delay = self.delay;
        if delay > minimum {
            let mut bound = if self.interactive || self.pushed { maximum } else { Duration::from_millis(500) };
            if let Some(rtt) = segment.rtt {
                bound = bound.min(rtt.max(minimum));
            }
            delay = delay.min(bound);
        }
        delay = delay.min(maximum);
        let until = self.tick.deadline(segment.now, delay);
        if self.delayed_until <= segment.now + delay / 4 {
            self.request();
        } else {
            self.delayed_until = self.delayed_until.min(until);
        }
    }

    /// The application read all in-order data: the last segment of several, or the end of a message, is acknowledged
    /// now (Linux `tcp_cleanup_rbuf`).
    pub(super) fn on_read(&mut self, next: u64, acknowledged: u64) {
        if self.urgency == Urgency::Pending
            && (self.is_enough(next - acknowledged) || (self.pushed && !self.interactive))
        {
            self.urgency = Urgency::Now;
        }
    }

    /// A duplicate or unacceptable segment arrived: it is acknowledged immediately (RFC 9293, section 3.10.7.4).
    pub(super) fn on_duplicate(&mut self, window: u64) {
        self.request();
        if matches!(self.policy, AckPolicy::Delayed(DelayedAck { quick_start: true, .. })) {
            self.enter_quick_mode_for(window, MAX_QUICK_ACKS);
            self.interactive = false;
        }
    }

    /// Sends a challenge ACK, subject to the rate limit. Without the limit two ends whose sequence numbers disagree
    /// would acknowledge each other's acknowledgments without end (Linux `tcp_oow_rate_limited`). Returns whether it is
    /// sent.
    pub(super) fn challenge(&mut self, window: u64, now: Instant) -> bool {
        let may = self.challenged_at.is_none_or(|at| now.since(at) >= CHALLENGE_INTERVAL);
        if may {
            self.challenged_at = Some(now);
            self.on_duplicate(window);
        }
        may
    }

    /// The window increased on arrival of data: Linux then has at least one quick acknowledgment left, which
    /// acknowledges that data immediately (`tcp_grow_window`).
    pub(super) fn on_window_growth(&mut self) {
        if matches!(self.policy, AckPolicy::Delayed(DelayedAck { quick_start: true, .. })) {
            self.quick |= 1;
            if self.in_quick_mode() {
                self.hurry();
            }
        }
    }

    fn enter_quick_mode_for(&mut self, window: u64, most: u32) {
        let quick = (window / (2 * self.segment_size)).clamp(1, u64::from(most)) as u32;
        self.quick = self.quick.max(quick.max(2));
    }

    /// The peer's window may be so small that it waits for acknowledgments: the next two are not delayed (Linux
    /// `tcp_enter_quickack_mode`).
    pub(super) fn hurry_for_small_window(&mut self, window: u64) {
        if let AckPolicy::Delayed(DelayedAck { minimum, .. }) = self.policy {
            self.enter_quick_mode_for(window, 2);
            self.interactive = false;
            if !self.delay.is_zero() {
                self.delay = minimum;
            }
        }
    }

    /// Whether an acknowledgment waits for the delayed-ACK timer.
    pub(super) fn is_delayed(&self) -> bool {
        self.delayed_until != Instant::MAX
    }

    /// This side sent data: shortly after it received some, that makes the exchange interactive.
    pub(super) fn on_data_sent(&mut self, now: Instant) {
        if !self.delay.is_zero() && now.since(self.last_data_at) < self.delay {
            self.interactive = true;
        }
    }

    /// An acknowledgment was sent, alone or with data; `new_data` states whether RCV.NXT had advanced since the last
    /// one.
    pub(super) fn on_sent(&mut self, new_data: bool) {
        if new_data && self.quick > 0 {
            self.quick -= 1;
            if let (0, AckPolicy::Delayed(DelayedAck { minimum, .. })) = (self.quick, self.policy) {
                self.delay = minimum;
            }
        }
        self.urgency = Urgency::None;
        self.pushed = false;
        self.delayed_until = Instant::MAX;
        self.compressed_until = Instant::MAX;
        self.held_back = 0;
    }

    /// Handles the timers that have expired at `now`.
    pub(super) fn on_timeout(&mut self, now: Instant, rto: Duration) {
        if self.compressed_until <= now {
            self.compressed_until = Instant::MAX;
            self.request();
        }
        if self.delayed_until <= now {
            self.delayed_until = Instant::MAX;
            if self.urgency == Urgency::None {
                return;
            }
            self.request();
            if self.interactive {
                self.interactive = false;
                if let AckPolicy::Delayed(DelayedAck { minimum, .. }) = self.policy {
                    self.delay = minimum;
                }
            } else {
                self.delay = (self.delay * 2).min(rto);
            }
        }
    }

    /// Expiry of the earlier timer; [`Instant::MAX`] if neither runs.
    #[inline]
    pub(super) fn deadline(&self) -> Instant {
        self.delayed_until.min(self.compressed_until)
    }
}
