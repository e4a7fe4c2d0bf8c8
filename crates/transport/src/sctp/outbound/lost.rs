//! Chunks that are believed lost and wait for retransmission.

use std::collections::BTreeSet;

use super::sent_chunk::FastRetransmit;

/// Chunks for the same next destination: what blocks one of them blocks all.
#[derive(Clone, Debug)]
struct Class {
    /// The destination of the last transmission.
    destination: usize,
    fast: FastRetransmit,
    tsns: BTreeSet<u64>,
}

/// The lost chunks of a retransmission queue, by class.
#[derive(Clone, Debug, Default)]
pub(in crate::sctp) struct LostChunks {
    /// In the order in which they first occurred; at most four for each destination.
    classes: Vec<Class>,
}

impl LostChunks {
    pub(super) fn insert(&mut self, tsn: u64, destination: usize, fast: FastRetransmit) {
        self.class(destination, fast).insert(tsn);
    }

    pub(super) fn remove(&mut self, tsn: u64, destination: usize, fast: FastRetransmit) {
        self.class(destination, fast).remove(&tsn);
    }

    /// Removes all chunks of a class.
    pub(super) fn take(&mut self, destination: usize, fast: FastRetransmit) -> BTreeSet<u64> {
        core::mem::take(self.class(destination, fast))
    }

    fn class(&mut self, destination: usize, fast: FastRetransmit) -> &mut BTreeSet<u64> {
        let known = self.classes.iter().position(|class| class.destination == destination && class.fast == fast);
        let at = known.unwrap_or_else(|| {
            self.classes.push(Class { destination, fast, tsns: BTreeSet::new() });
            self.classes.len() - 1
        });
        &mut self.classes[at].tsns
    }

    /// The first chunk outside of the classes in `held_up`, a set of bits, with its class.
    pub(in crate::sctp) fn first(&self, held_up: u128) -> Option<(u64, usize)> {
        let free = self.classes.iter().enumerate().filter(|(class, _)| held_up >> class & 1 == 0);
        free.filter_map(|(class, chunks)| Some((*chunks.tsns.first()?, class))).min()
    }

    /// The destinations and states of those that wait.
    pub(in crate::sctp) fn kinds(&self) -> impl Iterator<Item = (usize, FastRetransmit)> {
        self.classes.iter().filter(|class| !class.tsns.is_empty()).map(|class| (class.destination, class.fast))
    }

    /// All of them, ascending.
    pub(in crate::sctp) fn all(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.classes.iter().flat_map(|class| &class.tsns).copied().collect();
        all.sort_unstable();
        all
    }

    pub(super) fn clear(&mut self) {
        self.classes.clear();
    }

    #[cfg(test)]
    pub(in crate::sctp) fn contains(&self, tsn: u64) -> bool {
        self.classes.iter().any(|class| class.tsns.contains(&tsn))
    }
}
