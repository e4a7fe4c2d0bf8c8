//! The packet numbers that have arrived in a packet number space, and when they are acknowledged (RFC 9000, section 13.2).

use std::collections::VecDeque;

use subflow_quantity::{Duration, Instant};
use subflow_wire::Ecn;
use subflow_wire::quic::{AckFrame, EcnCounts};

use super::config::ACK_DELAY_EXPONENT;

/// Ranges that are remembered: those with the highest numbers (section 13.2.3). Of numbers below them it counts as if
/// they had arrived.
const MOST_RANGES: usize = 64;
/// Ranges that an ACK frame lists.
const MOST_RANGES_SENT: usize = 32;

/// The packets that have arrived, and the acknowledgment that is due.
#[derive(Clone, Debug, Default)]
pub(super) struct Received {
    /// Both ends included, from the highest downwards, with gaps between them.
    ranges: VecDeque<(u64, u64)>,
    /// Every number below counts as received.
    floor: u64,
    largest_at: Instant,
    ecn: EcnCounts,
    /// Ack-eliciting packets that no acknowledgment has covered.
    unacknowledged: u32,
    /// When the acknowledgment is sent at the latest, if there is one to send.
    due_at: Option<Instant>,
}

/// When an end acknowledges.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckPolicy {
    /// Ack-eliciting packets for each acknowledgment.
    pub(super) threshold: u32,
    /// The longest delay.
    pub(super) max_delay: Duration,
}

impl Received {
    /// The highest number that has arrived.
    #[inline]
    pub(super) fn largest(&self) -> Option<u64> {
        self.ranges.front().map(|range| range.1)
    }

    /// Whether packet `number` has arrived before, or may have.
    pub(super) fn contains(&self, number: u64) -> bool {
        let of_range = |&(start, end): &(u64, u64)| (start..=end).contains(&number);
        number < self.floor || self.ranges.iter().take_while(|range| range.1 >= number).any(of_range)
    }

    /// Packet `number`, which has not arrived before, has arrived at `now`.
    pub(super) fn insert(&mut self, number: u64, is_eliciting: bool, ecn: Ecn, policy: AckPolicy, now: Instant) {
        match ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 => self.ecn.ect0 += 1,
            Ecn::Ect1 => self.ecn.ect1 += 1,
            Ecn::CongestionExperienced => self.ecn.ce += 1,
        }
        let is_next = self.largest().is_none_or(|largest| number == largest + 1);
        if self.largest().is_none_or(|largest| number > largest) {
            self.largest_at = now;
        }
        self.enter(number);
        if !is_eliciting {
            return;
        }
        self.unacknowledged += 1;
        // Section 13.2.1: what is out of order, and a mark, are acknowledged at once.
        let at_once = !is_next || ecn == Ecn::CongestionExperienced || self.unacknowledged >= policy.threshold;
        let at = if at_once { now } else { now + policy.max_delay };
        self.due_at = Some(self.due_at.map_or(at, |due| due.min(at)));
    }

    #[inline]
    fn enter(&mut self, number: u64) {
        match self.ranges.front_mut() {
            Some((_, end)) if *end + 1 == number => *end = number,
            _ => self.enter_out_of_order(number),
        }
    }

    fn enter_out_of_order(&mut self, number: u64) {
        let place = self.ranges.iter().position(|&(_, end)| end < number).unwrap_or(self.ranges.len());
        let joins_above = place > 0 && self.ranges[place - 1].0 == number + 1;
        let joins_below = self.ranges.get(place).is_some_and(|&(_, end)| end + 1 == number);
        match (joins_above, joins_below) {
            (true, true) => {
                self.ranges[place - 1].0 = self.ranges[place].0;
                self.ranges.remove(place);
            }
            (true, false) => self.ranges[place - 1].0 = number,
            (false, true) => self.ranges[place].1 = number,
            (false, false) => self.ranges.insert(place, (number, number)),
        }
        if self.ranges.len() > MOST_RANGES
            && let Some((_, end)) = self.ranges.pop_back()
        {
            self.floor = self.floor.max(end + 1);
        }
    }

    /// The peer knows of the acknowledgment of all packets up to `largest`: they need not be listed again.
    pub(super) fn forget_through(&mut self, largest: u64) {
        self.floor = self.floor.max(largest + 1);
        while let Some((start, end)) = self.ranges.back_mut() {
            if *end > largest {
                *start = (*start).max(largest + 1);
                return;
            }
            // The highest number stays known: later ones are expanded by it.
            if self.ranges.len() == 1 {
                let (start, end) = &mut self.ranges[0];
                *start = *end;
                return;
            }
            self.ranges.pop_back();
        }
    }

    /// When an acknowledgment is due; `None` if there is none to send.
    #[inline]
    pub(super) fn due_at(&self) -> Option<Instant> {
        self.due_at
    }

    /// Whether packets wait to be acknowledged.
    #[inline]
    pub(super) fn owes_ack(&self) -> bool {
        self.due_at.is_some()
    }

    /// The ACK frame that is sent at `now`; nothing waits to be acknowledged any more.
    pub(super) fn take_ack(&mut self, now: Instant) -> Option<AckFrame> {
        let mut frame = AckFrame::of_ranges(self.ranges.iter().copied().take(MOST_RANGES_SENT))?;
        frame.delay = now.since(self.largest_at).as_micros() >> ACK_DELAY_EXPONENT;
        frame.ecn = (self.ecn != EcnCounts::default()).then_some(self.ecn);
        (self.unacknowledged, self.due_at) = (0, None);
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: AckPolicy = AckPolicy { threshold: 2, max_delay: Duration::from_millis(25) };

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn after(numbers: &[u64]) -> Received {
        let mut received = Received::default();
        for &number in numbers {
            assert!(!received.contains(number));
            received.insert(number, true, Ecn::NotEct, POLICY, at(1));
        }
        received
    }

    #[test]
    fn ranges_join_in_any_order_of_arrival() {
        let received = after(&[5, 3, 9, 4, 8, 6]);
        assert_eq!(received.ranges, [(8, 9), (3, 6)]);
        assert!([3, 6, 8].iter().all(|&number| received.contains(number)));
        assert!([2, 7, 10].iter().all(|&number| !received.contains(number)));
    }

    #[test]
    fn every_second_packet_is_acknowledged_at_once_and_a_single_one_after_the_delay() {
        let mut received = after(&[0]);
        assert_eq!(received.due_at(), Some(at(26)));
        received.insert(1, true, Ecn::NotEct, POLICY, at(2));
        assert_eq!(received.due_at(), Some(at(2)));
        let ack = received.take_ack(at(10)).expect("it is due");
        assert_eq!((ack.largest, ack.first_range, ack.delay), (1, 1, 1000), "8 ms in units of 8 µs");
        assert_eq!((received.due_at(), received.owes_ack()), (None, false));
        received.insert(3, true, Ecn::NotEct, POLICY, at(11));
        assert_eq!(received.due_at(), Some(at(11)), "packet 2 is missing");
        received.take_ack(at(11));
        received.insert(4, false, Ecn::NotEct, POLICY, at(12));
        assert_eq!(received.due_at(), None, "it elicits nothing");
        received.insert(5, true, Ecn::CongestionExperienced, POLICY, at(13));
        assert_eq!(received.due_at(), Some(at(13)), "it was marked");
        assert_eq!(received.take_ack(at(13)).and_then(|ack| ack.ecn).map(|ecn| ecn.ce), Some(1));
    }

    #[test]
    fn what_the_peer_knows_is_not_listed_again_and_counts_as_received() {
        let mut received = after(&[0, 1, 2, 5, 6, 9]);
        received.forget_through(5);
        assert_eq!(received.ranges, [(9, 9), (6, 6)]);
        assert!(received.contains(3));
        received.forget_through(9);
        assert_eq!((received.largest(), received.ranges.len()), (Some(9), 1));
    }

    #[test]
    fn the_number_of_ranges_is_bounded() {
        let received = after(&(0..200).map(|n| 2 * n).collect::<Vec<_>>());
        assert_eq!(received.ranges.len(), MOST_RANGES);
        assert!(received.contains(1), "too old to be told from a duplicate");
        assert!(!received.contains(397));
    }
}
