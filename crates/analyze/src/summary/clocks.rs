//! The clocks of several points of capture: how far each is from that of the first file, and how much faster.
//!
//! The same packets at two points tell d = delay + offset in one direction, and delay − offset in the other. The skew is
//! the slope that leaves the largest gap between the lower envelope of the one and the upper envelope of the other: the
//! two smallest delays, which a wrong slope makes smaller (as in Moon, Skelly, Towsley 1999, with both directions). The
//! offset cannot be told from delays that differ by direction: the smallest delays of both directions are taken to be
//! equal, as NTP does.

use super::corrections::{ClockRow, Corrections};

/// Whether times of different files can be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clocks {
    /// They are compared as they are, unless that would make a delay negative, or the clocks run at different speeds; those
    /// of files that have no packets in common are not compared.
    #[default]
    Auto,
    /// All files were captured by one clock.
    Same,
    /// Each file has a clock of its own.
    Different,
}

/// Skews of clocks, at most.
const LARGEST_SKEW: f64 = 500e-6;
/// Shorter captures tell no skew, in nanoseconds.
const SHORTEST: f64 = 10e9;
/// A skew that makes the gap wider by less is none, in nanoseconds.
const SMALLEST_GAIN: f64 = 20_000.0;
const STEPS: u32 = 80;

/// What several points of capture show of one connection.
pub(super) trait Shared {
    fn points(&self) -> Vec<u16>;

    /// Packets of the end `end` at two points: whether the first is nearer to the sender, and the times at both.
    fn between(&self, end: usize, points: [u16; 2]) -> Vec<(bool, [u64; 2])>;
}

/// Time differences between two points by direction: the time at the first, and the difference, from `origin` on.
#[derive(Clone, Debug, Default)]
struct Differences {
    to_second: Vec<(f64, f64)>,
    to_first: Vec<(f64, f64)>,
}

/// The clocks of all points, by the packets that they have in common: with the first point, else with one that has some
/// in common with it, and so on.
pub(super) fn corrections(
    shown: &[&dyn Shared],
    spans: &[Option<[u64; 2]>],
    clocks: Clocks,
    origin: u64,
) -> Corrections {
    let count = shown.iter().flat_map(|it| it.points()).max().map_or(0, |last| last + 1);
    let mut corrections = Corrections::new(spans.to_vec(), origin);
    for root in 0..count {
        let mut compared = if corrections.is_compared(root) { Vec::new() } else { vec![root] };
        while let Some(known) = compared.pop() {
            corrections.compare(root, known);
            for other in (0..count).filter(|other| *other != known) {
                if corrections.is_compared(other) {
                    continue;
                }
                let differences = Differences::between([known, other], shown, &corrections, origin);
                if clocks == Clocks::Same || differences.are_of_both_directions() {
                    corrections.extend(differences.clock(usize::from(other) + 1, clocks));
                    corrections.compare(root, other);
                    compared.insert(0, other);
                }
            }
        }
    }
    corrections
}

impl Differences {
    fn between(points: [u16; 2], shown: &[&dyn Shared], corrections: &Corrections, origin: u64) -> Self {
        let mut differences = Self::default();
        for (it, end) in shown.iter().flat_map(|it| [(it, 0), (it, 1)]) {
            differences.add(it.between(end, points), points[0], corrections, origin);
        }
        differences
    }

    fn add(&mut self, packets: Vec<(bool, [u64; 2])>, first: u16, corrections: &Corrections, origin: u64) {
        for (from_first, [here, there]) in packets {
            let here = corrections.corrected(first, here);
            let at = here as f64 - origin as f64;
            let difference = there as f64 - here as f64;
            if from_first { &mut self.to_second } else { &mut self.to_first }.push((at, difference));
        }
    }

    const fn are_of_both_directions(&self) -> bool {
        !self.to_second.is_empty() && !self.to_first.is_empty()
    }

    /// The two envelopes for a skew: the smallest difference on the way to the second point, and the largest back.
    fn envelopes(&self, skew: f64) -> (f64, f64) {
        let without = |&(at, difference): &(f64, f64)| difference - skew * at;
        let lower = self.to_second.iter().map(without).fold(f64::INFINITY, f64::min);
        let upper = self.to_first.iter().map(without).fold(f64::NEG_INFINITY, f64::max);
        (lower, upper)
    }

    fn gap(&self, skew: f64) -> f64 {
        let (lower, upper) = self.envelopes(skew);
        lower - upper
    }

    /// The slope with the widest gap, which is concave in it.
    fn skew(&self) -> f64 {
        let times = || self.to_second.iter().chain(&self.to_first).map(|&(at, _)| at);
        if times().fold(0.0, f64::max) - times().fold(f64::INFINITY, f64::min) < SHORTEST {
            return 0.0;
        }
        let (mut low, mut high) = (-LARGEST_SKEW, LARGEST_SKEW);
        for _ in 0..STEPS {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if self.gap(a) < self.gap(b) { low = a } else { high = b }
        }
        let skew = f64::midpoint(low, high);
        if self.gap(skew) - self.gap(0.0) > SMALLEST_GAIN { skew } else { 0.0 }
    }

    /// The clock of the second point, if it is another.
    fn clock(&self, file: usize, clocks: Clocks) -> Option<ClockRow> {
        if !self.are_of_both_directions() {
            return None;
        }
        let skew = self.skew();
        let (lower, upper) = self.envelopes(skew);
        let may_be_one = lower >= 0.0 && upper <= 0.0 && skew == 0.0;
        let is_another = clocks == Clocks::Different || (clocks == Clocks::Auto && !may_be_one);
        is_another.then(|| ClockRow {
            file,
            offset_ms: f64::midpoint(lower, upper) / 1e6,
            skew_ppm: skew * 1e6,
            uncertainty_ms: (lower - upper).max(0.0) / 2e6,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A minute of packets in both directions whose smallest delay is 10 ms, and a clock of such an offset and skew.
    fn differences(offset: f64, skew: f64) -> Differences {
        let mut differences = Differences::default();
        for nth in 0..600 {
            let at = f64::from(nth) * 1e8;
            let queue = |step: u32| f64::from(nth * step % 7) * 3e6;
            let ahead = offset + skew * at;
            differences.to_second.push((at, 10e6 + queue(3) + ahead));
            differences.to_first.push((at, ahead - 10e6 - queue(5)));
        }
        differences
    }

    #[test]
    fn offset_and_skew_are_found() {
        let clock = differences(-3.5e12, 40e-6).clock(2, Clocks::Auto).expect("another clock");
        assert!((clock.offset_ms + 3.5e6).abs() < 0.1 && (clock.skew_ppm - 40.0).abs() < 1.0, "{clock:?}");
        assert!((clock.uncertainty_ms - 10.0).abs() < 0.1, "{clock:?}");
    }

    #[test]
    fn clocks_that_may_be_one_are_one_unless_they_are_said_to_differ() {
        assert_eq!(differences(2e6, 0.0).clock(2, Clocks::Auto), None);
        let clock = differences(2e6, 0.0).clock(2, Clocks::Different).expect("it is said to be another");
        assert!((clock.offset_ms - 2.0).abs() < 1e-6 && clock.skew_ppm == 0.0, "{clock:?}");
        assert!(differences(12e6, 0.0).clock(2, Clocks::Auto).is_some());
    }

    #[test]
    fn a_queue_that_grows_in_one_direction_is_no_skew() {
        let mut growing = differences(0.0, 0.0);
        for (nth, (_, difference)) in growing.to_second.iter_mut().enumerate() {
            *difference += nth as f64 * 1e5;
        }
        assert_eq!(growing.clock(2, Clocks::Auto), None);
    }
}
