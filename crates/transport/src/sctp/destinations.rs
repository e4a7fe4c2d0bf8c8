//! The addresses of the peer, and the choice among them where none is prescribed.

use core::ops::{Index, IndexMut};
use std::net::IpAddr;

use super::cookie::MAX_PEER_ADDRESSES;
use super::destination::Destination;
use super::reachability::Reachability;

/// The destinations of an association: at least one, and at most as many as a cookie may list. The first is the peer's
/// initial address.
#[derive(Clone, Debug)]
pub(super) struct Destinations {
    all: Vec<Destination>,
    primary: usize,
    /// Packets in a row without an answer, over all of them.
    errors: u32,
}

impl Index<usize> for Destinations {
    type Output = Destination;

    #[inline]
    fn index(&self, index: usize) -> &Destination {
        &self.all[index]
    }
}

impl IndexMut<usize> for Destinations {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut Destination {
        &mut self.all[index]
    }
}

impl Destinations {
    pub(super) fn new(first: Destination) -> Self {
        Self { all: vec![first], primary: 0, errors: 0 }
    }

    /// Adds one, unless there are as many as there may be. Returns its index.
    pub(super) fn add(&mut self, destination: Destination) -> Option<usize> {
        (self.all.len() < MAX_PEER_ADDRESSES).then(|| self.all.push(destination))?;
        Some(self.all.len() - 1)
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = &Destination> {
        self.all.iter()
    }

    #[inline]
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Destination> {
        self.all.iter_mut()
    }

    pub(super) fn as_slice(&self) -> &[Destination] {
        &self.all
    }

    /// The destination that has this address.
    #[inline]
    pub(super) fn with_address(&self, address: IpAddr) -> Option<usize> {
        self.all.iter().position(|destination| destination.remote == address)
    }

    pub(super) fn primary(&self) -> usize {
        self.primary
    }

    /// Makes a destination the primary one, where it exists.
    pub(super) fn set_primary(&mut self, index: usize) {
        if index < self.all.len() {
            self.primary = index;
        }
    }

    /// The destination of data and control chunks without a specified one: the primary one, or the first active one
    /// while the primary is not active (section 6.4). If none is active, the potentially failed one with the fewest
    /// errors (RFC 7829, section 3.2), otherwise the inactive one with the fewest errors. Failed destinations thus
    /// alternate, and none of them keeps data that another one might carry.
    #[inline]
    pub(super) fn current(&self) -> usize {
        if self.all[self.primary].is_active() { self.primary } else { self.best_without_primary() }
    }

    fn best_without_primary(&self) -> usize {
        let best = |wanted: Reachability| {
            let silent = (0..self.all.len()).filter(|&index| self.all[index].reachability() == wanted);
            silent.min_by_key(|&index| (self.all[index].health.errors(), index != self.primary))
        };
        let active = self.all.iter().position(Destination::is_active);
        active
            .or_else(|| best(Reachability::PotentiallyFailed))
            .or_else(|| best(Reachability::Inactive))
            .unwrap_or(self.primary)
    }

    /// Whether data may be sent to a destination now: it is active, or no destination is better.
    #[inline]
    pub(super) fn takes_data(&self, index: usize) -> bool {
        self.all[index].is_active() || index == self.current()
    }

    /// Whether T3-rtx of any destination runs.
    pub(super) fn any_timer_runs(&self) -> bool {
        self.all.iter().any(|destination| destination.timer.at().is_some())
    }

    /// Packets in a row without an answer, over all destinations.
    pub(super) fn errors(&self) -> u32 {
        self.errors
    }

    /// A packet was not answered that counts for the association. Returns how many there are in a row.
    pub(super) fn count_error(&mut self) -> u32 {
        self.errors += 1;
        self.errors
    }

    /// The peer has answered.
    #[inline]
    pub(super) fn on_answer(&mut self) {
        self.errors = 0;
    }
}
