//! The fields of a packet that a router uses, and ECMP: which of several equal-cost paths a flow takes (RFC 2992:
//! hash-threshold and modulo-N; here modulo-N).

use std::net::{IpAddr, SocketAddr};

use sha2::{Digest, Sha256};

/// The 5-tuple of a flow: one direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowKey {
    /// Source address and port.
    pub source: SocketAddr,
    /// Destination address and port.
    pub destination: SocketAddr,
    /// IP protocol number: 6 TCP, 17 UDP.
    pub protocol: u8,
}

impl FlowKey {
    /// The other direction.
    pub fn reversed(self) -> Self {
        Self { source: self.destination, destination: self.source, ..self }
    }

    /// A hash of the 5-tuple for ECMP. It is not symmetric: the reverse direction has another hash. The function must
    /// not change, because results depend on it: FNV-1a of addresses, ports and protocol, folded to 16 bits. `seed` is
    /// the hash seed that a vendor or operator configures.
    pub fn hash(self, seed: u64) -> u16 {
        let mut hash = 0xCBF2_9CE4_8422_2325 ^ seed;
        let mut mix = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        for end in [self.source, self.destination] {
            match end.ip() {
                IpAddr::V4(address) => address.octets().into_iter().for_each(&mut mix),
                IpAddr::V6(address) => address.octets().into_iter().for_each(&mut mix),
            }
            end.port().to_be_bytes().into_iter().for_each(&mut mix);
        }
        mix(self.protocol);
        // FNV mixes the low bits poorly, so the high bits are folded onto them.
        let folded = (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (folded >> 48) as u16
    }
}

/// The MPTCP handshake option in a flow's first packet (RFC 8684).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signal {
    /// No MPTCP handshake.
    #[default]
    None,
    /// A SYN with MP_CAPABLE: a new connection (section 3.1). In version 1 it has no key.
    Capable,
    /// A SYN/ACK with MP_CAPABLE and the server's key, from which [`token_of`] computes the token used in joins.
    CapableReply {
        /// The server's key.
        key: u64,
    },
    /// A SYN with MP_JOIN: another subflow of the connection with this token (section 3.2).
    Join {
        /// The receiver's token.
        token: u32,
    },
}

/// The token that identifies the connection whose receiver has `key`: the most significant 32 bits of the key's SHA-256
/// (RFC 8684, section 3.2).
pub fn token_of(key: u64) -> u32 {
    let hash = Sha256::digest(key.to_be_bytes());
    u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
}

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
    fn a_token_is_the_first_32_bits_of_the_hash() {
        // SHA-256 of 0000000000000001, computed with sha256sum.
        assert_eq!(token_of(1), 0xcd26_6215);
    }

    #[test]
    fn the_hash_depends_on_direction_ports_and_seed() {
        let end = |port| SocketAddr::from(([10, 0, 0, 1], port));
        let key = FlowKey { source: end(1), destination: end(2), protocol: 6 };
        let hashes = [key.hash(0), key.reversed().hash(0), key.hash(1), FlowKey { protocol: 17, ..key }.hash(0)];
        assert!((0..4).all(|a| (0..a).all(|b| hashes[a] != hashes[b])), "{hashes:?}");
    }

    #[test]
    fn neighbouring_ports_hash_evenly() {
        let mut counts = [0u32; 8];
        for port in 0..8000 {
            let source = SocketAddr::from(([10, 0, 0, 1], 49_152 + port));
            let key = FlowKey { source, destination: SocketAddr::from(([10, 0, 1, 1], 5001)), protocol: 6 };
            counts[usize::from(key.hash(1) >> 13)] += 1;
        }
        assert!(counts.iter().all(|count| count.abs_diff(1000) < 150), "{counts:?}");
    }

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
