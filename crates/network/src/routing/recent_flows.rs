//! The routes of the flows that were looked up last, in places that can be fetched from memory ahead.

use prefetch_index::prefetch_index;

use super::FlowRoute;

/// The routes of flows between IPv4 addresses, each in a place that its key determines. A place is within one cache
/// line, whereas a look-up in the table of all flows reads two lines, the second one only after the first. Of two flows
/// with the same place, the last one that was looked up is in it.
#[derive(Debug)]
pub(super) struct RecentFlows {
    /// Their number is a power of two.
    places: Box<[Place]>,
}

/// Addresses; ports and protocol. No flow has the protocol 0.
pub(super) type KeyV4 = (u64, u64);

#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Place {
    key: KeyV4,
    route: Option<FlowRoute>,
}

const _: () = assert!(size_of::<Place>() == 32);

const EMPTY: Place = Place { key: (0, 0), route: None };

/// There are at least so many places for each flow, up to [`MOST`] places, which take 4 MiB.
const PER_FLOW: usize = 2;
const MOST: usize = 1 << 17;

impl RecentFlows {
    pub(super) fn new() -> Self {
        Self { places: vec![EMPTY; 64].into_boxed_slice() }
    }

    /// Forgets all flows, and makes room for `flows`.
    pub(super) fn reset(&mut self, flows: usize) {
        let places = (PER_FLOW * flows).next_power_of_two().clamp(self.places.len(), MOST.max(self.places.len()));
        self.places = vec![EMPTY; places].into_boxed_slice();
    }

    /// Whether there are too few places for `flows`.
    pub(super) fn is_small_for(&self, flows: usize) -> bool {
        self.places.len() < MOST && self.places.len() < PER_FLOW * flows
    }

    /// Fetches the place of a flow into the cache.
    #[inline]
    pub(super) fn prefetch(&self, key: KeyV4) {
        prefetch_index(&self.places, self.place_of(key));
    }

    /// The route of a flow, if the flow is in its place; inner `None`: it has no route.
    #[inline]
    pub(super) fn find(&self, key: KeyV4) -> Option<Option<FlowRoute>> {
        let place = &self.places[self.place_of(key)];
        (place.key == key).then_some(place.route)
    }

    /// Puts a flow into its place.
    #[inline]
    pub(super) fn put(&mut self, key: KeyV4, route: Option<FlowRoute>) {
        self.places[self.place_of(key)] = Place { key, route };
    }

    #[inline]
    fn place_of(&self, (addresses, rest): KeyV4) -> usize {
        // Both halves of a product of 128 bits together depend on all bits of its factors.
        let product = u128::from(addresses ^ 0x243F_6A88_85A3_08D3) * u128::from(rest ^ 0x1319_8A2E_0370_7344);
        ((product >> 64) as u64 ^ product as u64) as usize & (self.places.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::PacketRoute;
    use super::*;
    use crate::InterfaceId;

    fn route(number: u32) -> Option<FlowRoute> {
        Some(FlowRoute { route: PacketRoute::to(InterfaceId(number)), hash: 7 })
    }

    fn key(number: u32) -> KeyV4 {
        (0x0A00_0001_0A00_0002, u64::from(number) << 32 | 80 << 16 | 6)
    }

    #[test]
    fn a_flow_is_found_until_another_takes_its_place() {
        let mut recent = RecentFlows::new();
        let other = (2..).find(|&other| recent.place_of(key(other)) == recent.place_of(key(1))).expect("few places");
        recent.put(key(1), route(1));
        assert_eq!((recent.find(key(1)), recent.find(key(other))), (Some(route(1)), None));
        recent.put(key(other), None);
        assert_eq!((recent.find(key(1)), recent.find(key(other))), (None, Some(None)));
    }

    #[test]
    fn most_of_many_flows_have_a_place_of_their_own() {
        let mut recent = RecentFlows::new();
        assert!(recent.is_small_for(1000));
        recent.reset(1000);
        assert!(!recent.is_small_for(1000));
        (0..1000).for_each(|number| recent.put(key(32_768 + number), route(number)));
        let found = (0..1000).filter(|&number| recent.find(key(32_768 + number)) == Some(route(number))).count();
        assert!(found > 700, "{found} of 1000");
    }
}
