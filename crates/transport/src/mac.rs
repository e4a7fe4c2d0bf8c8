//! Message authentication: HMAC-SHA256 (RFC 2104, FIPS 198-1) and the comparison of its values.

use std::net::{IpAddr, SocketAddr};

use hmac::{Hmac, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::tcp::Ends;

/// HMAC-SHA256 of the concatenated parts of a message.
pub(crate) fn hmac_sha256(key: &[u8], message: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in message {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// Whether two secrets are equal. The time that it takes does not depend on where they differ, so that nobody can find
/// a right value byte by byte.
pub(crate) fn is_equal(ours: &[u8], theirs: &[u8]) -> bool {
    ours.ct_eq(theirs).into()
}

/// Addresses and ports as 36 bytes, IPv4 addresses as IPv6 ones (RFC 4291, section 2.5.5.2).
pub(crate) fn bytes_of_ends(ends: Ends) -> [u8; 36] {
    let mut bytes = [0; 36];
    bytes[..18].copy_from_slice(&bytes_of_end(ends.local));
    bytes[18..].copy_from_slice(&bytes_of_end(ends.remote));
    bytes
}

/// An address and a port as 18 bytes.
pub(crate) fn bytes_of_end(end: SocketAddr) -> [u8; 18] {
    let address = match end.ip() {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    };
    let mut bytes = [0; 18];
    bytes[..16].copy_from_slice(&address.octets());
    bytes[16..].copy_from_slice(&end.port().to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_message_are_one_message() {
        // RFC 4231, test case 2.
        let mac = hmac_sha256(b"Jefe", &[b"what do ya ", b"want for nothing?"]);
        assert_eq!(mac[..8], [0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e]);
    }

    #[test]
    fn values_are_equal_when_every_byte_and_the_length_are() {
        assert!(is_equal(&[1, 2, 3], &[1, 2, 3]));
        assert!(
            !is_equal(&[1, 2, 3], &[0, 2, 3]) && !is_equal(&[1, 2, 3], &[1, 2, 4]) && !is_equal(&[1, 2], &[1, 2, 3])
        );
    }
}
