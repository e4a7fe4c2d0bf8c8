//! Random streams: one per component, all from one seed.
//!
//! A component's stream depends only on the seed and on the component's name, so adding or removing another component
//! does not change its random numbers.

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

/// The random stream of the component named `name` in the run with `seed`.
///
/// Names are hashed with 64-bit FNV-1a and mixed with the seed by SplitMix64. Neither must change, because results
/// depend on them.
pub fn stream(seed: u64, name: &str) -> Pcg64Mcg {
    let mut state = seed ^ splitmix64(fnv1a(name.as_bytes()));
    let mut bytes = [0; 16];
    for half in bytes.chunks_exact_mut(8) {
        state = state.wrapping_add(GOLDEN_GAMMA);
        half.copy_from_slice(&splitmix64(state).to_le_bytes());
    }
    Pcg64Mcg::from_seed(bytes)
}

/// SplitMix64's increment (Steele, Lea, Flood 2014).
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64.
const fn splitmix64(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// FNV-1a with the 64-bit offset basis and prime.
const fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use rand_core::RngCore;

    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn a_stream_depends_on_seed_and_name() {
        let first = |seed, name| stream(seed, name).next_u64();
        assert_eq!(first(1, "link/wifi/loss"), first(1, "link/wifi/loss"));
        assert_ne!(first(1, "link/wifi/loss"), first(2, "link/wifi/loss"));
        assert_ne!(first(1, "link/wifi/loss"), first(1, "link/lte/loss"));
    }

    #[test]
    fn consecutive_seeds_give_independent_streams() {
        let mean = (0..1000).map(|seed| (stream(seed, "x").next_u64() >> 32) as f64).sum::<f64>() / 1000.0;
        assert!((mean / 2f64.powi(32) - 0.5).abs() < 0.03, "{mean}");
    }
}
