//! ECMP: which of several equal-cost paths a flow takes (RFC 2992: hash-threshold and modulo-N; here modulo-N).

/// The salt that a switch mixes into flow hashes, different for each switch. If all switches used the same hash, all
/// flows that one switch forwards to the next would have the same hash there (polarisation).
pub fn salt(switch: u32) -> u32 {
    (switch + 1).wrapping_mul(0x9E37_79B9)
}

/// Which of `ways` next hops a flow with this hash takes at a switch with this salt.
#[inline]
pub fn choose(hash: u16, salt: u32, ways: usize) -> usize {
    // The finaliser of MurmurHash3: every bit of the flow hash and of the salt affects the result.
    let mut mixed = u32::from(hash) ^ salt;
    mixed = (mixed ^ (mixed >> 16)).wrapping_mul(0x85EB_CA6B);
    mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xC2B2_AE35);
    mixed ^= mixed >> 16;
    ((u64::from(mixed) * ways as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_spread_evenly_and_independently_at_each_switch() {
        let mut pairs = [[0u32; 4]; 4];
        for hash in 0..=u16::MAX {
            pairs[choose(hash, salt(1), 4)][choose(hash, salt(2), 4)] += 1;
        }
        let expected = 65_536 / 16;
        assert!(pairs.iter().flatten().all(|&count| count.abs_diff(expected) < expected / 10), "{pairs:?}");
    }
}
