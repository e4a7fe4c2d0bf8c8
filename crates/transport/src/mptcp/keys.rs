//! Keys, tokens and authentication (RFC 8684, sections 3.1 and 3.2): SHA-256 and HMAC-SHA256.

use sha2::{Digest, Sha256};

use crate::mac::{hmac_sha256, is_equal};

/// A key and the values derived from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The 64-bit key.
    pub key: u64,
    /// The most significant 32 bits of its SHA-256: identifies the connection in MP_JOIN.
    pub token: u32,
    /// The least significant 64 bits of its SHA-256: the initial data sequence number.
    pub initial_data_sequence: u64,
}

impl Key {
    /// Whether a peer's `key` equals this one. The comparison takes constant time.
    pub fn is(&self, key: u64) -> bool {
        is_equal(&self.key.to_be_bytes(), &key.to_be_bytes())
    }

    /// Derives the token and the initial data sequence number.
    pub fn new(key: u64) -> Self {
        let hash = Sha256::digest(key.to_be_bytes());
        Self {
            key,
            token: u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]),
            initial_data_sequence: u64::from_be_bytes(hash[24..32].try_into().expect("eight bytes")),
        }
    }

    /// The data sequence number of stream offset `offset`: the first byte follows the initial number.
    pub fn data_sequence(&self, offset: u64) -> u64 {
        self.initial_data_sequence.wrapping_add(1).wrapping_add(offset)
    }

    /// The stream offset of data sequence number `number`. A 32-bit number (`wide` is false) is extended to the offset
    /// nearest to `near`.
    pub fn offset(&self, number: u64, wide: bool, near: u64) -> u64 {
        if wide {
            return number.wrapping_sub(self.initial_data_sequence.wrapping_add(1));
        }
        let expected = self.data_sequence(near);
        let delta = (number as u32).wrapping_sub(expected as u32) as i32;
        near.wrapping_add_signed(i64::from(delta))
    }
}

fn hmac(first: u64, second: u64, message: &[&[u8]]) -> [u8; 32] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&first.to_be_bytes());
    key[8..].copy_from_slice(&second.to_be_bytes());
    hmac_sha256(&key, message)
}

/// The HMAC of MP_JOIN, with keys and nonces in the order sender, receiver.
pub fn join_hmac(sender: u64, receiver: u64, sender_nonce: u32, receiver_nonce: u32) -> [u8; 32] {
    hmac(sender, receiver, &[&sender_nonce.to_be_bytes(), &receiver_nonce.to_be_bytes()])
}

/// The leftmost 64 bits of an HMAC, for the SYN/ACK.
pub fn leftmost_64(hmac: &[u8; 32]) -> u64 {
    u64::from_be_bytes(hmac[..8].try_into().expect("eight bytes"))
}

/// The leftmost 160 bits of an HMAC, for the third ACK.
pub fn leftmost_160(hmac: &[u8; 32]) -> [u8; 20] {
    hmac[..20].try_into().expect("twenty bytes")
}

/// The truncated HMAC of ADD_ADDR (section 3.4.1): the rightmost 64 bits of the HMAC over identifier, address and port.
pub fn add_address_hmac(sender: u64, receiver: u64, id: u8, address: std::net::IpAddr, port: u16) -> u64 {
    let octets: &[u8] = match &address {
        std::net::IpAddr::V4(v4) => &v4.octets(),
        std::net::IpAddr::V6(v6) => &v6.octets(),
    };
    let hash = hmac(sender, receiver, &[&[id], octets, &port.to_be_bytes()]);
    u64::from_be_bytes(hash[24..].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_and_sequence_number_are_the_two_ends_of_the_hash() {
        // SHA-256 of 0000000000000001, computed with sha256sum.
        let key = Key::new(1);
        assert_eq!((key.token, key.initial_data_sequence), (0xcd26_6215, 0x19ec_5090_83d0_0a50));
    }

    #[test]
    fn short_numbers_are_completed_near_what_is_expected() {
        let key = Key::new(7);
        for offset in [0, 1, 0xFFFF_FFF0, 0x1_2345_6789] {
            let number = key.data_sequence(offset);
            assert_eq!(key.offset(number, true, 0), offset);
            assert_eq!(key.offset(number & 0xFFFF_FFFF, false, offset + 5000), offset);
        }
    }

    #[test]
    fn both_sides_compute_the_same_join_hmac() {
        assert_eq!(join_hmac(1, 2, 3, 4), join_hmac(1, 2, 3, 4));
        assert_ne!(join_hmac(1, 2, 3, 4), join_hmac(2, 1, 4, 3));
    }

    #[test]
    fn rfc_8684_section_3_2_truncates_the_hmac_of_both_nonces_under_both_keys() {
        // HMAC-SHA256 of 00000003 00000004 under 0000000000000001 0000000000000002, computed with Python's hmac.
        let hmac = join_hmac(1, 2, 3, 4);
        assert_eq!(leftmost_64(&hmac), 0xe5c5_265e_f877_e594);
        let leftmost = [0xe5c5_265e, 0xf877_e594, 0x38bc_6c93, 0x4ea1_09a8, 0xfb18_ad68_u32].map(u32::to_be_bytes);
        assert_eq!(leftmost_160(&hmac), *leftmost.as_flattened());
    }
}
