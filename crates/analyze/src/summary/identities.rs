//! Which MPTCP connections of several points of capture are the same.

use std::collections::BTreeMap;

use super::points::Points;
use crate::tracker::Tracker;

/// For each connection of a point another that is the same, and whether the ends of that are the other way round; itself if
/// it is the first. Connections are the same that have a token in common, or of which several points show one subflow.
#[derive(Debug)]
pub(super) struct Identities {
    same: Vec<(usize, bool)>,
}

impl Identities {
    pub(super) fn of(tracker: &Tracker, groups: &[Points<'_>]) -> Self {
        let mut identities = Self { same: (0..tracker.connections.len()).map(|at| (at, false)).collect() };
        let mut by_token: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
        for (at, (_, connection)) in tracker.connections.iter().enumerate() {
            for (end, token) in connection.tokens.iter().enumerate() {
                let Some(token) = token else { continue };
                let &mut (known, known_end) = by_token.entry(*token).or_insert((at, end));
                identities.join(known, at, end != known_end);
            }
        }
        for group in groups {
            let mut shown = group.connections();
            let Some((first, end_of_first)) = shown.next() else { continue };
            for (other, end) in shown {
                identities.join(first, other, end != end_of_first);
            }
        }
        identities
    }

    /// The first of the connections that are the same as this one, and whether the ends of that are the other way round.
    pub(super) fn first(&mut self, connection: usize) -> (usize, bool) {
        let (mut at, mut is_reversed) = (connection, false);
        while self.same[at].0 != at {
            is_reversed ^= self.same[at].1;
            at = self.same[at].0;
        }
        self.same[connection] = (at, is_reversed);
        (at, is_reversed)
    }

    fn join(&mut self, a: usize, b: usize, is_reversed: bool) {
        let ((a, of_a), (b, of_b)) = (self.first(a), self.first(b));
        if a != b {
            self.same[a.max(b)] = (a.min(b), is_reversed ^ of_a ^ of_b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_connections_that_are_the_same_are_told_through_others() {
        let mut identities = Identities { same: (0..4).map(|at| (at, false)).collect() };
        identities.join(3, 2, true);
        identities.join(3, 1, true);
        identities.join(1, 2, false);
        assert_eq!([0, 1, 2, 3].map(|at| identities.first(at)), [(0, false), (1, false), (1, false), (1, true)]);
    }
}
