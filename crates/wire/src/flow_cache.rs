//! A direct-mapped cache by flow.

use prefetch_index::prefetch_index;

/// A direct-mapped cache by flow, for IPv4: each value is in a place that the flow's key determines, so that the place
/// can be fetched from memory before it is needed. A place is within one cache line of 64 bytes, whereas a look-up in a
/// hash table reads two lines, the second one only after the first. Of two flows with the same place, the one that was
/// put last is in it. It stands in front of a table of all flows.
#[derive(Clone, Debug)]
pub struct FlowCache<V> {
    /// Their number is a power of two.
    places: Box<[Place<V>]>,
    /// There are never more places.
    most: usize,
}

/// Addresses; ports and protocol, in an order that is the user's choice, but for the protocol in the low byte of the
/// second part, which is never 0.
pub type FlowKeyV4 = (u64, u64);

#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Place<V> {
    key: FlowKeyV4,
    value: V,
}

/// There are at least so many places for each flow, as long as the bound permits.
const PER_FLOW: usize = 2;

impl<V: Copy + Default> FlowCache<V> {
    /// An empty cache with so many places, and at `most` so many later. A place takes 32 bytes.
    ///
    /// # Panics
    ///
    /// If one of them is not a power of two.
    pub fn new(places: usize, most: usize) -> Self {
        const { assert!(size_of::<Place<V>>() == 32, "a place larger than half a cache line") };
        assert!(places.is_power_of_two() && most.is_power_of_two(), "{places}, {most} places: not powers of two");
        Self { places: vec![Place::default(); places].into_boxed_slice(), most }
    }

    /// Forgets all flows, and makes room for `flows`.
    pub fn reset(&mut self, flows: usize) {
        let wanted = (PER_FLOW * flows).next_power_of_two().min(self.most);
        *self = Self::new(wanted.max(self.places.len()), self.most);
    }

    /// Whether there are too few places for `flows`.
    pub fn is_small_for(&self, flows: usize) -> bool {
        self.places.len() < self.most && self.places.len() < PER_FLOW * flows
    }

    /// Fetches the place of a flow into the cache of the processor.
    #[inline]
    pub fn prefetch(&self, key: FlowKeyV4) {
        prefetch_index(&self.places, self.place_of(key));
    }

    /// The value of a flow, if the flow is in its place.
    #[inline]
    pub fn find(&self, key: FlowKeyV4) -> Option<V> {
        debug_assert!(key.1 & 0xFF != 0, "{key:?} has no protocol");
        let place = &self.places[self.place_of(key)];
        (place.key == key).then_some(place.value)
    }

    /// Puts a flow into its place.
    #[inline]
    pub fn put(&mut self, key: FlowKeyV4, value: V) {
        self.places[self.place_of(key)] = Place { key, value };
    }

    /// Forgets a flow.
    pub fn forget(&mut self, key: FlowKeyV4) {
        if self.find(key).is_some() {
            self.places[self.place_of(key)] = Place::default();
        }
    }

    #[inline]
    fn place_of(&self, (addresses, rest): FlowKeyV4) -> usize {
        // Both halves of a product of 128 bits together depend on all bits of its factors, and the high bits of another
        // product on all bits of that.
        let product = u128::from(addresses ^ 0x243F_6A88_85A3_08D3) * u128::from(rest ^ 0x1319_8A2E_0370_7344);
        let folded = (product >> 64) as u64 ^ product as u64;
        (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & (self.places.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> FlowKeyV4 {
        (0x0A00_0001_0A00_0002, u64::from(number) << 32 | 80 << 16 | 6)
    }

    /// The share of 1000 flows with these keys that have a place of their own.
    fn share_found(key: impl Fn(u64) -> FlowKeyV4) -> f64 {
        let mut cache = FlowCache::new(4, 1 << 12);
        assert!(cache.is_small_for(1000));
        cache.reset(1000);
        assert!(!cache.is_small_for(1000));
        (0..1000).for_each(|number| cache.put(key(number), number));
        (0..1000).filter(|&number| cache.find(key(number)) == Some(number)).count() as f64 / 1000.0
    }

    #[test]
    fn a_flow_is_found_until_another_takes_its_place_or_it_is_forgotten() {
        let mut cache = FlowCache::new(64, 64);
        let other = (2..).find(|&other| cache.place_of(key(other)) == cache.place_of(key(1))).expect("few places");
        cache.put(key(1), 10);
        assert_eq!((cache.find(key(1)), cache.find(key(other))), (Some(10), None));
        cache.put(key(other), 20);
        cache.forget(key(1));
        assert_eq!((cache.find(key(1)), cache.find(key(other))), (None, Some(20)));
        cache.forget(key(other));
        assert_eq!(cache.find(key(other)), None);
    }

    #[test]
    fn most_of_many_flows_have_a_place_of_their_own_however_their_keys_are_packed() {
        let addresses = |local: [u8; 4], remote: u32| u64::from(u32::from_be_bytes(local)) << 32 | u64::from(remote);
        for local in [[10, 0, 0, 1], [36, 63, 0, 1], [192, 168, 1, 1]] {
            let ports_of_routes = |port: u64| (addresses(local, 0x0A00_0002), (32_768 + port) << 32 | 80 << 16 | 6);
            let ports_of_hosts = |port: u64| (addresses(local, 0x0A00_0002), 80 << 24 | (32_768 + port) << 8 | 6);
            let hosts = |host: u64| (addresses(local, 0x0A00_0000 + host as u32), 5000 << 24 | 5000 << 8 | 132);
            let shares = [share_found(ports_of_routes), share_found(ports_of_hosts), share_found(hosts)];
            assert!(shares.iter().all(|&share| share > 0.7), "{local:?}: {shares:?}");
        }
    }
}
