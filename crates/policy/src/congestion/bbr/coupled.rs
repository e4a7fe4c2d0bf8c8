//! C-MPBBR: BBR, version 1, whose subflows divide the bandwidth of a bottleneck that they seem to share.
//!
//! Source: the kernel module of Mahmud and others, "Coupled Multipath BBR (C-MPBBR)" (IEEE Access 8, 2020), in its form
//! for MPTCP 0.95, where the division by n is commented out; the paper was not at hand.
//!
//! Subflows are taken to share a bottleneck if their bandwidths are alike: within 20 % of that of the subflow. With $`n`$
//! of them, it included, the subflow sends at 1/n of its bandwidth, and its window is that of 1/n:
//!
//! ```text
//! n = number of subflows k with 0.8 B ≤ B_k ≤ 1.2 B        pacing rate = 0.99 · gain · B / n
//! ```
//!
//! As in the module, n is counted in the fourth part of PROBE_BW's cycle, holds if two acknowledgments in a row find more
//! than one, and is used from the third part of each cycle on: the first two probe and drain at the whole bandwidth.
//!
//! **Disjoint paths of like bandwidth** are taken for one bottleneck, too, and are used by half while the cycle cruises.
//! The goal of RFC 6356 that a connection gets at least what its best path gives is missed there.
//!
//! **Not taken over:** the module also closes the slowest subflow if the best one alone would deliver more. A congestion
//! control closes no subflows here. The additions of later kernels to BBR stay (aggregation, pacing margin).

use crate::catalogue::{Catalogued, Description};

use super::super::Path;
use super::PathState;
use super::bandwidth::Bandwidth;
use super::versions::ByPath;

/// How much two bandwidths of a bottleneck differ at most, in percent.
const ALIKE_PERCENT: u64 = 20;
/// The part of the cycle in which subflows are counted, and the first one in which the number is used.
const COUNTED_IN: usize = 3;
const USED_FROM: usize = 2;

/// BBR whose paths divide the bandwidth of a bottleneck that they seem to share (coupled).
pub type CoupledBbr = ByPath<PathState<true>>;

impl Catalogued for CoupledBbr {
    const DESCRIPTION: Description = Description {
        name: "c-mpbbr",
        aliases: &["coupled-bbr"],
        summary: "bbr whose subflows divide the bandwidth of a bottleneck, which they share if their bandwidths are alike",
        source: "Mahmud et al., IEEE Access 2020",
    };
}

/// The subflows that seem to share the bottleneck of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sharing {
    /// The number by which the bandwidth is divided.
    number: u32,
    /// That of the last acknowledgment.
    last: u32,
}

impl Sharing {
    pub(super) const NONE: Self = Self { number: 1, last: 1 };

    /// An acknowledgment in part `part` of the cycle finds `alike` subflows, this one included.
    fn count(&mut self, part: usize, alike: impl FnOnce() -> u32) {
        if part != COUNTED_IN {
            return;
        }
        let found = alike().max(1);
        self.number = match (found, self.last) {
            (_, ..=1) => 1,
            (..=1, last) => last,
            (found, _) => found,
        };
        self.last = found;
    }

    /// What the subflow takes of `bandwidth` in part `part` of the cycle.
    pub(super) fn share_of(self, bandwidth: Bandwidth, part: usize) -> Bandwidth {
        if part < USED_FROM { bandwidth } else { Bandwidth(bandwidth.0 / u64::from(self.number)) }
    }
}

/// Counts the subflows whose bandwidths are like that of `path`, among those that are coupled with it.
pub(super) fn couple<const COUPLED: bool>(states: &mut [PathState<COUPLED>], paths: &[Path], path: usize) {
    let Some(part) = states[path].phase.part() else { return };
    let own = states[path].model.bandwidth().0;
    let is_alike = |other: u64| u128::from(other.abs_diff(own)) * 100 <= u128::from(own) * u128::from(ALIKE_PERCENT);
    let mut sharing = states[path].sharing;
    sharing.count(part, || {
        let coupled =
            states.iter().zip(paths).filter(|(_, other)| other.established && other.group == paths[path].group);
        let bandwidths = coupled.map(|(state, _)| state.model.bandwidth().0).filter(|&bandwidth| bandwidth > 0);
        bandwidths.filter(|&bandwidth| is_alike(bandwidth)).count() as u32
    });
    states[path].sharing = sharing;
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Instant;

    use super::super::versions::Version;
    use super::*;

    /// A path of this bandwidth in the part of the cycle in which subflows are counted.
    fn cruising_at(bandwidth: u64) -> PathState<true> {
        let mut state = PathState::<true>::new(1);
        state.model.set_bandwidth(Bandwidth(bandwidth));
        state.phase.probe_bandwidth(Instant::ZERO);
        while state.phase.part() != Some(COUNTED_IN) {
            state.phase.advance(Instant::ZERO);
        }
        state
    }

    #[test]
    fn two_acknowledgments_in_a_row_have_to_find_more_than_one() {
        let mut sharing = Sharing::NONE;
        let mut numbers = Vec::new();
        for found in [1, 2, 2, 3, 1, 1, 2] {
            sharing.count(COUNTED_IN, || found);
            numbers.push(sharing.number);
        }
        assert_eq!(numbers, [1, 1, 2, 3, 3, 1, 1]);
    }

    #[test]
    fn only_the_fourth_part_of_the_cycle_counts_and_the_first_two_use_the_whole_bandwidth() {
        let mut sharing = Sharing { number: 2, last: 2 };
        for part in [0, 1, 2, 4, 7] {
            sharing.count(part, || panic!("part {part}"));
        }
        assert_eq!([0, 1, 2, 7].map(|part| sharing.share_of(Bandwidth(1000), part).0), [1000, 1000, 500, 500]);
    }

    #[test]
    fn alike_are_bandwidths_that_differ_by_at_most_a_fifth() {
        let numbers = |bandwidths: [u64; 3]| {
            let paths = [0; 3].map(|_| Path { established: true, ..Path::new(1, 10) });
            let mut states = bandwidths.map(cruising_at);
            (0..2).for_each(|_| couple(&mut states, &paths, 0));
            states[0].sharing.number
        };
        assert_eq!([numbers([1000, 800, 1200]), numbers([1000, 799, 1200]), numbers([1000, 799, 1201])], [3, 2, 1]);
        assert_eq!(numbers([1000, 0, 0]), 1, "a path without samples does not count");
    }
}
