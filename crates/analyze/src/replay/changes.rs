//! What a link was like over time: when it carried nothing, and how its rate changed.
//!
//! | of a link | from |
//! |---|---|
//! | down | one second or more in which timeouts sent something again and again, and no acknowledgment came |
//! | another rate | seconds in all of which its queue stood, so that what was acknowledged is what it carried |
//!
//! A link whose queue did not stand tells no rate: that of the time before stays for some seconds, then it is the one that
//! is taken for the link as a whole.

use std::collections::BTreeMap;

/// The length of the intervals in which data is counted, in seconds.
pub(super) const INTERVAL_S: f64 = 0.1;
/// Intervals without acknowledged data from which on a link may have been down.
const FEWEST_SILENT: u64 = 10;
/// What was sent in vain within them, at least.
pub(super) const FEWEST_TRIES: usize = 2;
/// Timeouts are farther apart than so many intervals when they follow each other.
const JUST_BEFORE: u64 = 2;
/// Intervals after the last acknowledgment in which what was in flight may still be sent.
const STILL_SENT: u64 = 3;
/// A rate is told of so many intervals at least, and of so many parts of a capture at most.
const FEWEST_OF_PART: u64 = 10;
const MOST_PARTS: u64 = 200;
/// A queue that held so many full packets on average stood.
const STANDING: f64 = 4.0;
const FULL_PACKET_BITS: f64 = 12_000.0;
/// Rates change if nine tenths of the parts were as many times as fast as one tenth.
const LEAST_RANGE: f64 = 1.4;
/// For so many parts that tell no rate, the last one stays.
const UNTOLD_PARTS: f64 = 3.0;
/// A rate is another one if it differs by this share.
const LEAST_CHANGE: f64 = 0.15;

/// What the connections over a link show by intervals, counted from the first packet of all.
#[derive(Clone, Debug, Default)]
pub(super) struct OverTime {
    /// Data that was acknowledged, in Mbit/s.
    pub(super) acknowledged: BTreeMap<u64, f64>,
    /// Data that was sent.
    pub(super) sent: BTreeMap<u64, f64>,
    /// Sums and numbers of round-trip times, in ms.
    pub(super) round_trips: BTreeMap<u64, (f64, u32)>,
}

/// A change of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    Down,
    Up,
    /// In Mbit/s, with headers.
    Rate(f64),
}

impl OverTime {
    /// The times without an acknowledgment although data was sent: from, in seconds, and until then if it ended.
    pub(super) fn outages(&self) -> Vec<(f64, Option<f64>)> {
        let last = self.sent.iter().rev().find(|(_, mbit)| **mbit > 0.0).map_or(0, |(at, _)| *at);
        // Also a SACK gives a sample.
        let acknowledged = self.acknowledged.iter().filter(|(_, mbit)| **mbit > 0.0).map(|(at, _)| *at);
        let mut with_data: Vec<u64> = acknowledged.chain(self.round_trips.keys().copied()).collect();
        with_data.sort_unstable();
        with_data.dedup();
        let ends = with_data.iter().skip(1).map(|at| Some(*at)).chain([None]);
        let of_gap = |(&before, next): (&u64, Option<u64>)| {
            let (begin, end) = (before + 1, next.unwrap_or(last + 1));
            let is_tried = |(_, mbit): &(&u64, &f64)| **mbit > 0.0;
            let tries = self.sent.range(begin.max(before + STILL_SENT)..end.max(before + STILL_SENT)).filter(is_tried);
            // What was sent at last arrived, or there is nothing behind it.
            let failed: Vec<u64> = tries.map(|(at, _)| *at).collect();
            let before_next = next.and_then(|next| self.sent.range(..next).rev().find(is_tried)).map(|(at, _)| *at);
            // What arrived was sent just before its acknowledgment, or in the same interval.
            let arrived = next.map(|next| before_next.filter(|at| next - at <= JUST_BEFORE).unwrap_or(next));
            let failed: Vec<u64> = failed.into_iter().filter(|at| Some(*at) != arrived).collect();
            let is_long = end.saturating_sub(begin) >= FEWEST_SILENT && failed.len() >= FEWEST_TRIES;
            let (Some(last_failed), true) = (failed.last(), is_long) else {
                return None;
            };
            let until = arrived.map(|arrived| (*last_failed + arrived) as f64 / 2.0 * INTERVAL_S);
            Some((begin as f64 * INTERVAL_S, until))
        };
        with_data.iter().zip(ends).filter_map(of_gap).collect()
    }

    /// The rates in Mbit/s of data, each with the second from which on it holds; none if they hardly change. `usual` is
    /// that of the link as a whole.
    pub(super) fn rates(&self, shortest_ms: f64, usual: f64) -> Vec<(f64, f64)> {
        let end = self.acknowledged.keys().next_back().map_or(0, |last| last + 1);
        let length = end.div_ceil(MOST_PARTS).max(FEWEST_OF_PART);
        let mut has_stood = false;
        let told = (0..end / length).filter_map(|part| {
            let intervals = part * length..(part + 1) * length;
            let mbit = self.acknowledged.range(intervals.clone()).map(|(_, mbit)| mbit).sum::<f64>() / length as f64;
            let stands = |(sum, count): &(f64, u32)| {
                mbit * 1e3 * (sum / f64::from(*count) - shortest_ms) >= STANDING * FULL_PACKET_BITS
            };
            // A part may last for years: only what was captured in it is looked at.
            let is_sent = self.sent.range(intervals.clone()).filter(|(_, mbit)| **mbit > 0.0).count() as u64 == length;
            if !is_sent {
                let last = self.round_trips.range(intervals).next_back();
                has_stood = last.map_or(has_stood, |(_, sample)| stands(sample));
                return None;
            }
            let mut is_filled = true;
            for at in intervals {
                // While a hole is filled there may be no sample.
                has_stood = self.round_trips.get(&at).map_or(has_stood, stands);
                is_filled &= has_stood;
            }
            is_filled.then_some(((part * length) as f64 * INTERVAL_S, mbit))
        });
        let told: Vec<(f64, f64)> = told.collect();
        let mut sorted: Vec<f64> = told.iter().map(|(_, mbit)| *mbit).collect();
        sorted.sort_by(f64::total_cmp);
        let share = |share: f64| sorted.get((sorted.len().saturating_sub(1) as f64 * share).round() as usize);
        if share(0.9).zip(share(0.1)).is_none_or(|(fast, slow)| *fast < LEAST_RANGE * slow) {
            return Vec::new();
        }
        let mut rates: Vec<(f64, f64)> = Vec::new();
        let part_s = length as f64 * INTERVAL_S;
        let mut told_until = f64::INFINITY;
        for (begin, mbit) in told {
            if begin - told_until > UNTOLD_PARTS * part_s {
                rates.push((told_until + UNTOLD_PARTS * part_s, usual));
            }
            told_until = begin + part_s;
            let is_same = |(_, before): &(f64, f64)| (mbit - before).abs() <= LEAST_CHANGE * before;
            if !rates.last().is_some_and(is_same) {
                rates.push((begin, mbit));
            }
        }
        if end as f64 * INTERVAL_S - told_until > UNTOLD_PARTS * part_s {
            rates.push((told_until + UNTOLD_PARTS * part_s, usual));
        }
        rates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intervals with the same value.
    fn constant(intervals: std::ops::Range<u64>, mbit: f64) -> impl Iterator<Item = (u64, f64)> {
        intervals.map(move |at| (at, mbit))
    }

    #[test]
    fn a_link_is_down_while_what_is_sent_is_not_acknowledged() {
        // Acknowledged up to 10 s; tried at 10.4, 10.8, 11.6 and 13.2 s, of which the last arrived.
        let mut over_time = OverTime {
            acknowledged: constant(0..100, 9.0).chain(constant(133..200, 9.0)).collect(),
            sent: constant(0..101, 9.0)
                .chain([104, 108, 116, 132].map(|at| (at, 0.1)))
                .chain(constant(133..200, 9.0))
                .collect(),
            ..OverTime::default()
        };
        let [(from, Some(until))] = over_time.outages()[..] else { panic!("{:?}", over_time.outages()) };
        assert!((from - 10.0).abs() < 1e-9 && (until - 12.4).abs() < 1e-9, "{from} to {until}");
        // An application that pauses sends nothing.
        over_time.sent.retain(|at, _| !(102..133).contains(at));
        assert_eq!(over_time.outages(), []);
    }

    #[test]
    fn rates_are_told_while_the_queue_stands() {
        let mut over_time = OverTime {
            acknowledged: constant(0..100, 10.0)
                .chain(constant(100..200, 5.0))
                .chain(constant(200..300, 1.0))
                .collect(),
            sent: constant(0..300, 1.0).collect(),
            round_trips: (0..300).map(|at| (at, (60.0, 1))).collect(),
        };
        // 5 Mbit/s and 10 ms are four packets; 1 Mbit/s is less than one.
        assert_eq!(over_time.rates(50.0, 8.0), [(0.0, 10.0), (10.0, 5.0), (23.0, 8.0)]);
        over_time.sent.remove(&150);
        assert_eq!(over_time.rates(50.0, 8.0).len(), 3, "a pause tells none of its second");
        over_time.acknowledged = constant(0..300, 10.0).collect();
        assert_eq!(over_time.rates(50.0, 8.0), [], "it does not change");
    }
}
