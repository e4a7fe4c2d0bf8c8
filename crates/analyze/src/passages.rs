//! When packets passed a point of capture, to find the same packets at another point: one-way delays, and packets that
//! overtake others.
//!
//! A packet is known by a number that is computed from what no router changes. Of the packets of a direction those with
//! the smallest numbers are kept: both points keep the same ones, without knowing of each other, however far their clocks
//! are apart, and in bounded memory. A number that comes twice at a point says nothing.

use std::collections::BTreeMap;

use subflow_wire::tcp::TcpSegment;

/// Packets of a direction that are kept, at most.
const MOST: usize = 2048;

/// What one end sent, as a point of capture shows it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passages {
    /// Nanoseconds by number; `None` if it came again.
    times: BTreeMap<u64, Option<u64>>,
    /// Larger numbers are not kept.
    limit: Option<u64>,
}

impl Passages {
    pub(crate) fn add_segment(&mut self, segment: &TcpSegment, time: u64) {
        self.add(number(segment), time);
    }

    /// A packet with its number.
    pub(crate) fn add(&mut self, number: u64, time: u64) {
        if self.limit.is_some_and(|limit| number >= limit) {
            return;
        }
        self.times.entry(number).and_modify(|known| *known = None).or_insert(Some(time));
        if self.times.len() > MOST {
            self.limit = self.times.pop_last().map(|(number, _)| number);
        }
    }

    /// The times of packets here and at another point, in the order of those here.
    pub(crate) fn matched(&self, other: &Self) -> Vec<[u64; 2]> {
        let both = self.times.iter().filter_map(|(number, here)| Some([(*here)?, (*other.times.get(number)?)?]));
        let mut both: Vec<[u64; 2]> = both.collect();
        both.sort_unstable();
        both
    }
}

/// Twice how much farther the second of two points is from end 0 than the first, in nanoseconds, by packets of both ends
/// with their times at both points. Their way makes the difference larger for those that the first point has first,
/// whatever the clocks say.
pub(crate) fn farther(matched: &[Vec<[u64; 2]>; 2]) -> Option<i128> {
    let smallest =
        |times: &Vec<[u64; 2]>| times.iter().map(|[here, there]| i128::from(*there) - i128::from(*here)).min();
    Some(smallest(&matched[0])? - smallest(&matched[1])?)
}

/// The share of packets, in the order of their departures, that arrive behind one that left later, in per cent.
pub(crate) fn overtaken_percent(times: &[[u64; 2]]) -> Option<f64> {
    let mut earliest = u64::MAX;
    let overtaken = times.iter().rev().filter(|[_, arrived]| {
        let is_overtaken = *arrived > earliest;
        earliest = earliest.min(*arrived);
        is_overtaken
    });
    let overtaken = overtaken.count();
    (!times.is_empty()).then(|| overtaken as f64 * 100.0 / times.len() as f64)
}

fn number(segment: &TcpSegment) -> u64 {
    let timestamps = segment.options.timestamps.map_or(0, |it| u64::from(it.value) << 32 | u64::from(it.echo));
    let sacked = segment.options.sack.first().map_or(0, |block| u64::from(block.right));
    let positions = u64::from(segment.sequence) << 32 | u64::from(segment.acknowledgment);
    let rest = sacked << 32 | u64::from(segment.flags.0) << 24 | u64::from(segment.payload.length);
    mixed(mixed(mixed(positions) ^ timestamps) ^ rest)
}

/// A number for bytes of a packet, and for what distinguishes it from others with the same bytes.
pub(crate) fn mixed_bytes(seed: u64, bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(mixed(seed ^ bytes.len() as u64), |number, chunk| {
        let word = chunk.iter().fold(0_u64, |word, &byte| word << 8 | u64::from(byte));
        mixed(number ^ word)
    })
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): each bit of the result depends on each of the argument.
const fn mixed(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(sequence: u32) -> TcpSegment {
        TcpSegment { sequence, ..Default::default() }
    }

    #[test]
    fn both_points_keep_the_same_packets_though_one_has_lost_some() {
        let (mut here, mut there) = (Passages::default(), Passages::default());
        for sequence in 0..100_000 {
            here.add_segment(&segment(sequence), u64::from(sequence) * 10);
            if sequence % 10 != 0 {
                there.add_segment(&segment(sequence), u64::from(sequence) * 10 + 7_000_000);
            }
        }
        let both = here.matched(&there);
        assert!(both.len() > MOST / 2 && both.iter().all(|[sent, arrived]| arrived - sent == 7_000_000));
        assert_eq!(overtaken_percent(&both), Some(0.0));
    }

    #[test]
    fn a_packet_that_comes_twice_has_no_delay() {
        let (mut here, mut there) = (Passages::default(), Passages::default());
        for time in [0, 100] {
            here.add_segment(&segment(5), time);
        }
        here.add_segment(&segment(6), 50);
        there.add_segment(&segment(5), 130);
        there.add_segment(&segment(6), 80);
        assert_eq!(here.matched(&there), [[50, 80]]);
    }

    #[test]
    fn the_farther_point_is_told_whatever_the_clocks_say() {
        for ahead in [0, 5_000] {
            // 10 from end 0 to the second point, and 10 back.
            let matched = [vec![[1_000, 1_010 + ahead]], vec![[1_030, 1_020 + ahead]]];
            assert_eq!(farther(&matched), Some(20));
            let [forward, back] = matched;
            assert_eq!(farther(&[back, forward]), Some(-20));
        }
        assert_eq!(farther(&[vec![[1, 2]], Vec::new()]), None);
    }

    #[test]
    fn packets_behind_a_later_one_are_overtaken() {
        assert_eq!(overtaken_percent(&[[0, 10], [1, 30], [2, 20], [3, 25]]), Some(25.0));
        assert_eq!(overtaken_percent(&[]), None);
    }
}
