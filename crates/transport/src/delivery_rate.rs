//! The delivery rate of a path (draft-cheng-iccrg-delivery-rate-estimation-02; Linux `tcp_rate.c`), as all protocols that
//! measure it do.
//!
//! Each packet is sent with a snapshot of what was delivered until then. When it is delivered, the snapshot tells how
//! much was delivered while it was in flight, and in which time: that since the last delivery before it was sent, or the
//! time in which as much was sent, if that is longer. A sample is *application-limited* if, when the packet was sent,
//! the sender had had nothing to send and what it had sent before was not yet delivered.

use subflow_quantity::{Duration, Instant};

/// What was delivered when a packet was sent last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot {
    /// Its place among packets sent at the same time: the end of a segment as an offset, or a packet number.
    pub(crate) order: u64,
    /// Packets delivered, and the time of the last delivery.
    pub(crate) delivered: u64,
    delivered_at: Instant,
    /// When the packet was sent whose delivery was the last one.
    first_sent_at: Instant,
    application_limited: bool,
}

impl Snapshot {
    /// The same of a part of the packet.
    pub(crate) fn with_order(self, order: u64) -> Self {
        Self { order, ..self }
    }
}

/// The snapshot of the packet that was sent last of those that an acknowledgment delivers.
#[derive(Clone, Copy, Debug)]
struct Newest {
    snapshot: Snapshot,
    sent_at: Instant,
}

/// The state of the estimator (the names of the draft are `C.delivered_time`, `C.first_sent_time`, `C.app_limited`).
#[derive(Clone, Debug)]
pub(crate) struct RateEstimator {
    delivered_at: Instant,
    first_sent_at: Instant,
    /// The rate is application-limited until more packets than this are delivered.
    limited_until: Option<u64>,
    /// Of the acknowledgment that is being processed.
    newest: Option<Newest>,
}

/// What the estimator knows of a sample.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateTaken {
    pub(crate) delivered: u64,
    pub(crate) prior_delivered: u64,
    pub(crate) interval: Option<Duration>,
    pub(crate) application_limited: bool,
}

impl RateEstimator {
    /// Before the first packet, at `now`. With `is_limited` the application had nothing to send until then.
    pub(crate) fn new(is_limited: bool, now: Instant) -> Self {
        Self { delivered_at: now, first_sent_at: now, limited_until: is_limited.then_some(0), newest: None }
    }

    /// A packet is sent for the first time while nothing is in flight.
    pub(crate) fn on_sent_alone(&mut self, now: Instant) {
        (self.delivered_at, self.first_sent_at) = (now, now);
    }

    /// The snapshot of a packet that is sent after `delivered` ones were delivered.
    pub(crate) fn snapshot(&self, order: u64, delivered: u64) -> Snapshot {
        Snapshot {
            order,
            delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            application_limited: self.limited_until.is_some(),
        }
    }

    /// The packet of `snapshot`, sent at `sent_at`, was delivered.
    pub(crate) fn on_delivered(&mut self, snapshot: Snapshot, sent_at: Instant) {
        let is_newer = |newest: Newest| (sent_at, snapshot.order) > (newest.sent_at, newest.snapshot.order);
        if self.newest.is_none_or(is_newer) {
            self.newest = Some(Newest { snapshot, sent_at });
            self.first_sent_at = sent_at;
        }
    }

    /// The application has nothing to send until `packets` are delivered.
    pub(crate) fn limit_until(&mut self, packets: u64) {
        self.limited_until = Some(packets);
    }

    /// Whether the application had nothing to send, and what was sent before is not delivered.
    pub(crate) fn is_limited(&self) -> bool {
        self.limited_until.is_some()
    }

    /// When something was delivered last, or the path began to send while nothing was in flight.
    pub(crate) fn delivered_at(&self) -> Instant {
        self.delivered_at
    }

    /// A sample that ends at `now` with `acked` packets delivered by one acknowledgment, `delivered` in all.
    pub(crate) fn take(&mut self, acked: u32, delivered: u64, min_rtt: Duration, now: Instant) -> RateTaken {
        if self.limited_until.is_some_and(|until| delivered > until) {
            self.limited_until = None;
        }
        if acked > 0 {
            self.delivered_at = now;
        }
        let Some(Newest { snapshot, sent_at }) = self.newest.take() else { return RateTaken::default() };
        let sending = sent_at.since(snapshot.first_sent_at);
        let acknowledging = now.since(snapshot.delivered_at);
        let interval = sending.max(acknowledging);
        RateTaken {
            delivered: delivered.saturating_sub(snapshot.delivered),
            prior_delivered: snapshot.delivered,
            // A shorter one comes from retransmissions whose originals were delivered.
            interval: (interval >= min_rtt).then_some(interval),
            application_limited: snapshot.application_limited,
        }
    }
}
