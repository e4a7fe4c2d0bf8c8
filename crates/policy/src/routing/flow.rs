//! What a router sees of a packet.

use std::net::{IpAddr, SocketAddr};

use sha2::{Digest, Sha256};

/// The 5-tuple: one direction of one conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowKey {
    /// Where it comes from.
    pub source: SocketAddr,
    /// Where it goes.
    pub destination: SocketAddr,
    /// IP protocol number: 6 TCP, 17 UDP.
    pub protocol: u8,
}

impl FlowKey {
    /// The other direction.
    pub fn reversed(self) -> Self {
        Self { source: self.destination, destination: self.source, ..self }
    }

    /// A hash of the 5-tuple for ECMP, not symmetric: the other direction has another. The function is fixed for all
    /// time, because results depend on it: FNV-1a of addresses, ports and protocol, folded to 16 bits. `seed` stands for
    /// what a vendor or operator configures.
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
        // FNV leaves the low bits poorly mixed: fold the high ones onto them.
        let folded = (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (folded >> 48) as u16
    }
}

/// What the MPTCP options of a flow's first packet tell a router (RFC 8684).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signal {
    /// Nothing: no MPTCP handshake.
    #[default]
    None,
    /// A SYN with MP_CAPABLE: a connection begins (section 3.1). In version 1 there is no key in it.
    Capable,
    /// A SYN/ACK with MP_CAPABLE and the server's key, of which [`token_of`] makes the token that joins will show.
    CapableReply {
        /// The server's key.
        key: u64,
    },
    /// A SYN with MP_JOIN: a further subflow of the connection with this token (section 3.2).
    Join {
        /// The receiver's token.
        token: u32,
    },
}

/// The token that names the connection whose receiver has `key`: the most significant 32 bits of the key's SHA-256 (RFC
/// 8684, section 3.2).
pub fn token_of(key: u64) -> u32 {
    let hash = Sha256::digest(key.to_be_bytes());
    u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_the_beginning_of_the_hash() {
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
}
