//! Samples of the delivery rate ([`RateEstimator`]): each segment of the retransmission queue has a snapshot, of its last
//! transmission.
//!
//! Only connections whose congestion control [takes samples](Controller::takes_rate_samples) keep snapshots.

use std::collections::VecDeque;

use subflow_policy::congestion::{Controller, RateSample, RecoveryState};
use subflow_quantity::{Duration, Instant};

use super::Connection;
use super::ack_input::AckFindings;
use super::sent_queue::SentQueue;
use crate::delivery_rate::{RateEstimator, RateTaken, Snapshot};

/// The snapshot of a segment.
#[derive(Clone, Copy, Debug)]
struct OfSegment {
    snapshot: Snapshot,
    /// The segment was delivered: it is part of a sample.
    is_used: bool,
}

/// The estimator with the snapshots of outstanding segments.
#[derive(Clone, Debug)]
pub(super) struct DeliveryRate {
    /// Of the segments of the retransmission queue, in its order.
    snapshots: VecDeque<OfSegment>,
    /// Identifier of the first one there.
    head: u32,
    estimator: RateEstimator,
    /// The peer has discarded what it had acknowledged selectively: until that is repaired, samples would count it
    /// twice.
    is_in_doubt: bool,
}

impl DeliveryRate {
    /// Before the first segment, at `now`. With `is_limited` the application had nothing to send until then.
    pub(super) fn new(is_limited: bool, now: Instant) -> Self {
        let estimator = RateEstimator::new(is_limited, now);
        Self { snapshots: VecDeque::new(), head: 0, estimator, is_in_doubt: false }
    }

    /// A new segment that ends at `end` is sent after `delivered` ones were delivered; `is_alone`: nothing else is
    /// outstanding.
    pub(super) fn on_sent(&mut self, end: u64, is_alone: bool, delivered: u64, now: Instant) {
        if is_alone {
            self.estimator.on_sent_alone(now);
        }
        self.snapshots.push_back(self.snapshot(end, delivered));
    }

    /// Segment `id` is sent again.
    pub(super) fn on_sent_again(&mut self, id: u32, delivered: u64) {
        let place = self.place(id);
        let end = self.snapshots[place].snapshot.order;
        self.snapshots[place] = self.snapshot(end, delivered);
    }

    fn snapshot(&self, end: u64, delivered: u64) -> OfSegment {
        OfSegment { snapshot: self.estimator.snapshot(end, delivered), is_used: false }
    }

    fn place(&self, id: u32) -> usize {
        id.wrapping_sub(self.head) as usize
    }

    /// Segment `id`, sent at `sent_at`, was selectively acknowledged.
    pub(super) fn on_sacked(&mut self, id: u32, sent_at: Instant) {
        let place = self.place(id);
        self.use_snapshot(self.snapshots[place], sent_at);
        self.snapshots[place].is_used = true;
    }

    /// The first segment, sent at `sent_at`, was acknowledged.
    pub(super) fn on_head_acknowledged(&mut self, sent_at: Instant) {
        self.head = self.head.wrapping_add(1);
        if let Some(snapshot) = self.snapshots.pop_front() {
            self.use_snapshot(snapshot, sent_at);
        }
    }

    fn use_snapshot(&mut self, OfSegment { snapshot, is_used }: OfSegment, sent_at: Instant) {
        if !is_used {
            self.estimator.on_delivered(snapshot, sent_at);
        }
    }

    /// Outstanding segments were cut: each part has the snapshot of the whole.
    fn on_cut(&mut self, sent: &SentQueue) {
        self.head = sent.head_id();
        let before = core::mem::take(&mut self.snapshots);
        let of = |end: u64| {
            let whole = before.partition_point(|known| known.snapshot.order < end);
            let known = before.get(whole)?;
            Some(OfSegment { snapshot: known.snapshot.with_order(end), ..*known })
        };
        self.snapshots = sent.ids().filter_map(|id| of(sent.get(id).end)).collect();
    }

    /// The peer has discarded what it had acknowledged selectively.
    pub(super) fn on_reneging(&mut self) {
        self.is_in_doubt = true;
    }

    /// The application has nothing to send until `segments` are delivered.
    fn limit_until(&mut self, segments: u64) {
        self.estimator.limit_until(segments);
    }

    fn take(&mut self, acked: u32, delivered: u64, min_rtt: Duration, now: Instant) -> RateTaken {
        self.estimator.take(acked, delivered, min_rtt, now)
    }
}

impl Connection {
    /// The sample of an acknowledgment that delivered `acked` segments.
    pub(super) fn take_rate_sample(
        &mut self,
        acked: u32,
        findings: &AckFindings,
        now: Instant,
        cc: &Controller,
    ) -> Option<RateSample> {
        let delivered = self.recovery.delivered();
        let rate = self.delivery_rate.as_deref_mut()?;
        let min_rtt = self.rto.rtt().min().unwrap_or(Duration::ZERO);
        let taken = rate.take(acked, delivered, min_rtt, now);
        rate.is_in_doubt &= cc.path(self.path).state() == RecoveryState::Loss;
        let ack_delayed = findings.acknowledged == 1
            && findings.newly_sacked == 0
            && findings.originals.is_some()
            && self.send.una() - findings.prior_una < u64::from(self.size.mss_without_reserve())
            && taken.prior_delivered + 1 == delivered;
        Some(RateSample {
            delivered: taken.delivered,
            prior_delivered: taken.prior_delivered,
            interval: taken.interval.filter(|_| !rate.is_in_doubt),
            application_limited: taken.application_limited,
            ack_delayed,
            lost: self.sent.lost_total(),
            delivered_at: rate.estimator.delivered_at(),
            departure: self.pacer.departure(),
            unit_bytes: self.size.mss_without_reserve(),
        })
    }

    /// Congestion control itself keeps the path from sending: what it sends now is application-limited.
    pub(super) fn note_held_back(&mut self, cc: &Controller) {
        let until = self.recovery.delivered() + u64::from(self.sent.in_flight());
        if let Some(rate) = self.delivery_rate.as_deref_mut().filter(|_| cc.holds_back(self.path)) {
            rate.limit_until(until);
        }
    }

    /// The application writes: it limits the rate if less than a segment was left to send, while the window had room and
    /// nothing lost had to be sent again (Linux `tcp_rate_check_app_limited`).
    pub(crate) fn note_write(&mut self, cc: &Controller) {
        let Some(rate) = self.delivery_rate.as_deref_mut() else { return };
        let in_flight = self.sent.in_flight();
        let has_nothing = self.send.queue().bytes() < u64::from(self.size.mss_without_reserve());
        if has_nothing && in_flight < cc.path(self.path).cwnd() && self.sent.lost_out() <= self.sent.retrans_out() {
            rate.limit_until(self.recovery.delivered() + u64::from(in_flight));
        }
    }

    /// The connection begins to send while nothing is in flight: congestion control learns it if the application had had
    /// nothing to send.
    pub(super) fn note_restart(&self, now: Instant, cc: &mut Controller) {
        if self.delivery_rate.as_deref().is_some_and(|rate| rate.estimator.is_limited()) {
            cc.on_restart(self.path, now);
        }
    }

    /// Outstanding segments were cut.
    pub(super) fn cut_snapshots(&mut self) {
        if let Some(rate) = &mut self.delivery_rate {
            rate.on_cut(&self.sent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sent_segments::Tags;
    use super::*;

    const MIN_RTT: Duration = Duration::from_millis(10);

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    /// Delivered, prior delivered, milliseconds, application-limited.
    fn shown(taken: RateTaken) -> (u64, u64, Option<u64>, bool) {
        (taken.delivered, taken.prior_delivered, taken.interval.map(Duration::as_millis), taken.application_limited)
    }

    /// Four segments sent at 0, 1, 2 and 3 ms.
    fn four_sent() -> DeliveryRate {
        let mut rate = DeliveryRate::new(false, ms(0));
        (0..4).for_each(|n| rate.on_sent(10 * (n + 1), n == 0, 0, ms(n)));
        rate
    }

    #[test]
    fn a_sample_is_what_was_delivered_while_the_newest_segment_was_in_flight() {
        let mut rate = four_sent();
        rate.on_head_acknowledged(ms(0));
        rate.on_head_acknowledged(ms(1));
        // Two segments in the 12 ms since the first was sent.
        assert_eq!(shown(rate.take(2, 2, MIN_RTT, ms(12))), (2, 0, Some(12), false));
        // Sent after two were delivered at 12 ms, while the others were outstanding.
        rate.on_sent(50, false, 2, ms(13));
        (2..4).for_each(|n| rate.on_head_acknowledged(ms(n)));
        assert_eq!(shown(rate.take(2, 4, MIN_RTT, ms(14))), (4, 0, Some(14), false));
        rate.on_head_acknowledged(ms(13));
        assert_eq!(shown(rate.take(1, 5, MIN_RTT, ms(26))), (3, 2, Some(14), false));
    }

    #[test]
    fn compressed_acknowledgments_do_not_make_the_rate_exceed_that_of_sending() {
        let mut rate = DeliveryRate::new(false, ms(0));
        rate.on_sent(10, true, 0, ms(0));
        (1..=20).for_each(|n| rate.on_sent(10 * (n + 1), false, 0, ms(n)));
        rate.on_head_acknowledged(ms(0));
        assert_eq!(shown(rate.take(1, 1, MIN_RTT, ms(21))), (1, 0, Some(21), false));
        rate.on_sent(220, false, 1, ms(40));
        // All are acknowledged at once, 21 ms after the delivery before; the newest was sent 40 ms after the first.
        (1..=20).chain([40]).for_each(|n| rate.on_head_acknowledged(ms(n)));
        assert_eq!(shown(rate.take(21, 22, MIN_RTT, ms(42))), (21, 1, Some(40), false));
    }

    #[test]
    fn what_was_sacked_is_not_sampled_again_and_short_intervals_are_none() {
        let mut rate = four_sent();
        rate.on_sacked(2, ms(2));
        assert_eq!(shown(rate.take(1, 1, MIN_RTT, ms(12))), (1, 0, Some(12), false));
        rate.on_sent_again(0, 1);
        rate.on_head_acknowledged(ms(13));
        // The original was delivered: 1 ms after the last delivery.
        assert_eq!(shown(rate.take(1, 2, MIN_RTT, ms(13))), (1, 1, Some(11), false));
        rate.on_sent_again(1, 2);
        rate.on_head_acknowledged(ms(14));
        rate.on_head_acknowledged(ms(2));
        assert_eq!(shown(rate.take(1, 3, MIN_RTT, ms(15))), (1, 2, None, false));
        assert_eq!(shown(rate.take(0, 3, MIN_RTT, ms(16))), (0, 0, None, false), "nothing was delivered");
    }

    #[test]
    fn the_limit_of_the_application_ends_when_what_was_sent_before_is_delivered() {
        let mut rate = four_sent();
        rate.limit_until(4);
        rate.on_sent(50, false, 0, ms(4));
        (0..4).for_each(|n| rate.on_head_acknowledged(ms(n)));
        assert!(!rate.take(4, 4, MIN_RTT, ms(12)).application_limited, "they were sent before");
        rate.on_head_acknowledged(ms(4));
        assert!(rate.take(1, 5, MIN_RTT, ms(15)).application_limited);
        rate.on_sent(60, true, 5, ms(20));
        rate.on_head_acknowledged(ms(20));
        assert_eq!(shown(rate.take(1, 6, MIN_RTT, ms(30))), (1, 5, Some(10), false));
    }

    #[test]
    fn the_parts_of_a_cut_segment_have_its_snapshot() {
        let (mut sent, mut rate) = (SentQueue::new(), DeliveryRate::new(false, ms(0)));
        for (range, delivered) in [(0..4, 1), (4..14, 2), (14..18, 3)] {
            rate.on_sent(range.end, false, delivered, ms(0));
            sent.push(range, 0, ms(0), Tags::default());
        }
        assert!(sent.cut(5));
        rate.on_cut(&sent);
        let parts: Vec<_> =
            rate.snapshots.iter().map(|known| (known.snapshot.order, known.snapshot.delivered)).collect();
        assert_eq!(parts, [(4, 1), (9, 2), (14, 2), (18, 3)]);
    }
}
