//! OLIA: opportunistic linked increases (Khalili, Gast, Popovic, Le Boudec: "MPTCP Is Not Pareto-Optimal", CoNEXT 2012;
//! draft-khalili-mptcp-congestion-control-05).
//!
//! ```text
//! on an ACK of b:  w_i += b m_i · [ (w_i / rtt_i²) / (Σ_p w_p / rtt_p)²  +  α_i / w_i ]
//! ```
//!
//! The first term is the Pareto-optimal coupling. The second term shifts window from the paths with the largest
//! windows, `M`, to the best paths with smaller windows, `C = B \ M`:
//!
//! | path | `α_i` |
//! |---|---|
//! | in C | `+1 / (|R| |C|)` |
//! | in M, if C is not empty | `−1 / (|R| |M|)` |
//! | else | 0 |
//!
//! `R` is the set of established paths. `B` is the set of paths with the largest `ℓ_i / rtt_i²`, where `ℓ_i` is the
//! number of bytes acknowledged since the last loss or between the last two losses, whichever is larger. It is
//! proportional to the square of the rate `√(2ℓ)/rtt` that TCP would reach. (Some texts, among them lima2017 eq. 3.4,
//! print `ℓ²/rtt`, which the option `printed_rank` takes; the CoNEXT paper and the Linux code rank by `ℓ/rtt²`.) Slow
//! start is that of Reno; on loss the threshold is `w/2`, at least 1 segment if the connection has several paths (draft,
//! section 3), else 2.
//!
//! **As in the MPTCP kernel 0.9x** (`mptcp_olia.c`): ties in B are exact equality of integers, with RTTs in
//! microseconds; only the first of several consecutive timeouts ends a loss interval; a negative α never reduces the
//! window below one segment. [`Growth::count_acks`](super::Growth::count_acks) makes it count ACKs, as that kernel
//! does, and the switch `two_segment_floor` uses that kernel's least threshold.
//! The switch `fixed_point` adds that kernel's rounding of each increment towards zero to
//! multiples of 1/1024 packet: two equal paths stop growing above 512 packets.

use core::cmp::Ordering;

use subflow_quantity::Instant;

use crate::catalogue::{Attribute, Catalogued, Description};

use super::siblings::{Sibling, established, sibling, visit};
use super::{Ack, CongestionControl, FIXED_POINT_DOC, Path, RecoveryState, TWO_SEGMENT_FLOOR_DOC, reno, set_state};

/// The scale of an increment in the MPTCP kernel's fixed-point arithmetic: 1/1024 packet.
const FIXED_POINT: f64 = 1024.0;
/// Qualities that differ by a larger part than this are compared without their fractions: each of the two was rounded
/// three times, by at most 2⁻⁵³.
const ROUNDING: f64 = 1e-14;

/// Opportunistic linked increases.
#[derive(Clone, Debug, Default)]
pub struct Olia {
    fixed_point: bool,
    two_segment_floor: bool,
    printed_rank: bool,
    paths: Vec<PathState>,
}

/// OLIA's state for one path.
#[derive(Clone, Copy, Debug, Default)]
struct PathState {
    /// Stream positions of the last two losses and of the last acknowledgment.
    loss_before_last: u64,
    last_loss: u64,
    una: u64,
    /// Growth not yet added to the window, in quanta; negative if the window is to decrease.
    credit: f64,
    /// Its quality, and the RTT in seconds for which it was computed; 0 if it is to be computed again.
    approximate: f64,
    of_rtt: f64,
}

impl PathState {
    /// ℓ: the bytes acknowledged between the last two losses or since the last one, whichever is larger.
    fn inter_loss(&self) -> u64 {
        (self.una - self.last_loss).max(self.last_loss - self.loss_before_last)
    }

    /// ℓ has changed.
    fn forget_quality(&mut self) {
        self.of_rtt = 0.0;
    }
}

impl Olia {
    /// Creates OLIA with exact or with the MPTCP kernel's fixed-point arithmetic, and with the draft's or that kernel's
    /// least threshold.
    pub fn new(fixed_point: bool, two_segment_floor: bool) -> Self {
        Self { fixed_point, two_segment_floor, ..Self::default() }
    }

    /// Growth in quanta per unit acknowledged on `own`.
    fn increase(&mut self, paths: &[Path], own: Sibling) -> f64 {
        let group = self.group(paths, own.index);
        own.rate() / own.rtt / (group.rate * group.rate) + self.alpha(paths, own, &group) / own.window
    }

    /// What all paths of the group of path `of` have together.
    #[inline]
    fn group(&mut self, paths: &[Path], of: usize) -> Group {
        let (mut rate, mut largest, mut best) = (0.0, 0.0, None::<Quality>);
        let established = visit(paths, of, |sibling| {
            rate += sibling.rate();
            if sibling.window > largest {
                largest = sibling.window;
            }
            let quality = self.quality(sibling);
            if best.is_none_or(|best| self.compare(quality, best) == Ordering::Greater) {
                best = Some(quality);
            }
        });
        Group { established, rate, largest, best }
    }

    /// α of one path.
    fn alpha(&mut self, paths: &[Path], own: Sibling, group: &Group) -> f64 {
        let is_largest = |sibling: &Sibling| sibling.window == group.largest;
        let mut is_best = |sibling: Sibling| {
            let quality = self.quality(sibling);
            group.best.is_some_and(|best| self.compare(quality, best) == Ordering::Equal)
        };
        // Of many paths, most are neither the largest nor the best.
        if !is_largest(&own) && !is_best(own) {
            return 0.0;
        }
        let (mut collected, mut maximal) = (0_u32, 0_u32);
        visit(paths, own.index, |sibling| {
            if is_largest(&sibling) {
                maximal += 1;
            } else if is_best(sibling) {
                collected += 1;
            }
        });
        let all = group.established as f64;
        match collected {
            0 => 0.0,
            _ if is_largest(&own) => -1.0 / (all * f64::from(maximal)),
            collected => 1.0 / (all * f64::from(collected)),
        }
    }

    /// How good a path is. Each acknowledgment asks that of all paths, of which one has changed.
    #[inline]
    fn quality(&mut self, of: Sibling) -> Quality {
        let path = &mut self.paths[of.index];
        if path.of_rtt != of.rtt {
            let (dividend, divisor) = fraction(self.printed_rank, path.inter_loss(), of.rtt);
            path.approximate = dividend as f64 / divisor as f64;
            path.of_rtt = of.rtt;
        }
        Quality { approximate: path.approximate, of }
    }

    /// Compares two qualities exactly.
    #[inline]
    fn compare(&self, one: Quality, other: Quality) -> Ordering {
        let margin = other.approximate * ROUNDING;
        if one.approximate > other.approximate + margin {
            Ordering::Greater
        } else if one.approximate < other.approximate - margin {
            Ordering::Less
        } else {
            self.compare_exactly(one.of, other.of)
        }
    }

    #[cold]
    fn compare_exactly(&self, one: Sibling, other: Sibling) -> Ordering {
        let of = |path: Sibling| fraction(self.printed_rank, self.paths[path.index].inter_loss(), path.rtt);
        let ((dividend, divisor), (other_dividend, other_divisor)) = (of(one), of(other));
        (dividend * other_divisor).cmp(&(other_dividend * divisor))
    }
}

/// `ℓ / rtt²`, or as printed `ℓ² / rtt`: dividend and divisor, with the RTT in microseconds. Their products fit.
fn fraction(printed: bool, inter_loss: u64, rtt_s: f64) -> (u128, u128) {
    let rtt = u128::from(((rtt_s * 1e6) as u64).clamp(1, 1 << 33));
    match printed {
        true => (u128::from(inter_loss.min(1 << 46)).pow(2), rtt),
        false => (inter_loss.min(1 << 60).into(), rtt.pow(2)),
    }
}

/// What the paths of a group have together.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// The number of established paths, with or without an RTT sample.
    established: usize,
    /// `Σ x`, in units per second.
    rate: f64,
    /// The largest window.
    largest: f64,
    /// The quality of the best path; `None` if no path counts.
    best: Option<Quality>,
}

/// How good a path is: `ℓ / rtt²`, or `ℓ² / rtt`.
#[derive(Clone, Copy, Debug)]
struct Quality {
    /// Off by at most three roundings.
    approximate: f64,
    /// The path, for what is exact.
    of: Sibling,
}

impl Catalogued for Olia {
    const DESCRIPTION: Description = Description {
        name: "olia",
        aliases: &[],
        summary: "opportunistic linked increases: Pareto-optimal, with a term that shifts window to better paths",
        source: "Khalili et al., CoNEXT 2012; draft-khalili-mptcp-congestion-control-05",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[Attribute::flag(
        "printed_rank",
        "whether paths are ranked by `ℓ²/rtt`, as lima2017 prints, instead of `ℓ/rtt²`",
        |own| own.printed_rank,
        |own, on| own.printed_rank = on,
    )];

    const SWITCHES: &'static [Attribute<Self>] = &[
        Attribute::flag("fixed_point", FIXED_POINT_DOC, |own| own.fixed_point, |own, on| own.fixed_point = on),
        Attribute::flag(
            "two_segment_floor",
            TWO_SEGMENT_FLOOR_DOC,
            |own| own.two_segment_floor,
            |own, on| own.two_segment_floor = on,
        ),
    ];
}

impl CongestionControl for Olia {
    fn on_path_added(&mut self, _paths: &[Path], path: usize) {
        set_state(&mut self.paths, path, PathState::default());
    }

    fn on_sample(&mut self, _paths: &mut [Path], path: usize, ack: &Ack) {
        let state = &mut self.paths[path];
        state.una = state.una.max(ack.una);
        state.forget_quality();
    }

    fn avoid_congestion(&mut self, paths: &mut [Path], path: usize, _ack: &Ack, acked: u32) {
        let Some(own) = sibling(paths, path) else {
            return reno::grow(&mut paths[path], acked);
        };
        let (quantum, growth) = (f64::from(paths[path].quantum), paths[path].growth());
        let mut increase = self.increase(paths, own) * quantum;
        if self.fixed_point {
            increase = (increase * FIXED_POINT).trunc() / FIXED_POINT;
        }
        let state = &mut self.paths[path];
        let counted = if growth.count_acks { 1.0 } else { f64::from(acked) / quantum };
        state.credit += increase * counted;
        let whole = state.credit.trunc();
        state.credit -= whole;
        let path = &mut paths[path];
        let step = (whole.abs() * quantum) as u32;
        path.cwnd = if whole > 0.0 { path.cwnd.saturating_add(step) } else { shrink(path, step) };
    }

    fn ssthresh_after_loss(&mut self, paths: &[Path], path: usize, _now: Instant) -> u32 {
        let floor = if established(paths, path) > 1 && !self.two_segment_floor { 1 } else { 2 };
        reno::half(&paths[path], floor)
    }

    fn on_state(&mut self, paths: &[Path], path: usize, state: RecoveryState) {
        let repeated = state == RecoveryState::Loss && paths[path].state == RecoveryState::Loss;
        let lost = matches!(state, RecoveryState::Loss | RecoveryState::Recovery | RecoveryState::WindowReduced);
        let path = &mut self.paths[path];
        if lost && !repeated && path.una != path.last_loss {
            path.loss_before_last = path.last_loss;
            path.last_loss = path.una;
            path.forget_quality();
        }
    }
}

/// The window minus `step`, at least the smallest allowed window.
fn shrink(path: &Path, step: u32) -> u32 {
    path.cwnd.saturating_sub(step).max(path.quantum.min(path.cwnd))
}

#[cfg(test)]
mod tests {
    use super::super::siblings::tests::path;
    use super::*;

    /// OLIA after `acked[i]` bytes were acknowledged on path `i` without a loss.
    fn olia(acked: &[u64]) -> Olia {
        let state = |&una| PathState { una, ..PathState::default() };
        Olia { paths: acked.iter().map(state).collect(), ..Olia::default() }
    }

    fn alpha(olia: &Olia, paths: &[Path], path: usize) -> f64 {
        let mut olia = olia.clone();
        let group = olia.group(paths, path);
        olia.alpha(paths, sibling(paths, path).expect("it counts"), &group)
    }

    #[test]
    fn a_lone_path_is_reno() {
        let paths = [path(10, 50)];
        let increase = olia(&[1000]).increase(&paths, sibling(&paths, 0).unwrap());
        assert!((increase - 0.1).abs() < 1e-12);
    }

    #[test]
    fn equal_paths_grow_by_a_quarter_each() {
        let (paths, mut olia) = ([path(10, 50), path(10, 50)], olia(&[1000, 1000]));
        assert_eq!(alpha(&olia, &paths, 0), 0.0, "both are in M: C is empty");
        let increase = olia.increase(&paths, sibling(&paths, 0).unwrap());
        assert!((increase - 10.0 / 400.0).abs() < 1e-12);
    }

    #[test]
    fn the_best_path_with_a_smaller_window_grows_and_the_largest_shrinks() {
        // Path 1 has more bytes acknowledged between losses at the same RTT, but a smaller window.
        let (paths, olia) = ([path(20, 50), path(10, 50), path(5, 50)], olia(&[1000, 2000, 500]));
        let third = 1.0 / 3.0;
        assert_eq!([0, 1, 2].map(|p| alpha(&olia, &paths, p)), [-third, third, 0.0]);
    }

    #[test]
    fn paths_are_ranked_by_the_square_of_the_rate() {
        // 3000/10² > 8000/20²; ℓ²/rtt would rank them in reverse.
        let (paths, mut olia) = ([path(10, 10), path(20, 20)], olia(&[3000, 8000]));
        assert_eq!(alpha(&olia, &paths, 0), 0.5);
        olia.printed_rank = true;
        assert_eq!(alpha(&olia, &paths, 0), 0.0, "the best path is the largest one");
    }

    #[test]
    fn qualities_that_round_to_the_same_number_are_told_apart() {
        // ℓ of 2⁵⁴ and one more are the same in 53 bits; the path with the smaller window is the better one, or as good.
        let paths = [path(20, 1), path(10, 1)];
        let (equal, better) = (olia(&[1 << 54, 1 << 54]), olia(&[1 << 54, (1 << 54) + 1]));
        assert_eq!([alpha(&equal, &paths, 1), alpha(&better, &paths, 1)], [0.5, 0.5]);
        assert_eq!(alpha(&olia(&[(1 << 54) + 1, 1 << 54]), &paths, 1), 0.0, "the largest one is better by a byte");
    }

    #[test]
    fn a_loss_ends_an_interval_and_the_longer_one_counts() {
        let (paths, mut olia) = ([path(10, 10)], olia(&[1000]));
        olia.on_state(&paths, 0, RecoveryState::Recovery);
        olia.paths[0].una = 1400;
        assert_eq!(olia.paths[0].inter_loss(), 1000);
        olia.paths[0].una = 2500;
        assert_eq!(olia.paths[0].inter_loss(), 1500);
    }

    #[test]
    fn the_threshold_floor_is_one_segment_on_several_paths() {
        let mut olia = olia(&[0, 0]);
        let paths = [path(2, 10), path(2, 10)];
        assert_eq!(olia.ssthresh_after_loss(&paths, 0, Instant::ZERO), 1);
        assert_eq!(olia.ssthresh_after_loss(&paths[..1], 0, Instant::ZERO), 2);
    }

    #[test]
    fn fixed_point_stops_growth_above_512_packets() {
        let ack = Ack { now: Instant::ZERO, acked: 1 << 20, rtt: None, una: 0, nxt: 0, in_flight: 10 };
        for (fixed_point, grows) in [(true, false), (false, true)] {
            let mut paths = [path(257, 50), path(257, 50)];
            Olia { fixed_point, ..olia(&[0, 0]) }.on_ack(&mut paths, 0, &ack);
            assert_eq!(paths[0].cwnd > 257, grows);
        }
    }
}
