//! The Internet checksum (RFC 1071): one's-complement sums of 16-bit big-endian words.
//!
//! Here a *sum* is not complemented; a *checksum* is the complement of a sum, as it is sent.

use std::net::IpAddr;

/// One's-complement sum of `bytes`, with an odd last byte padded with zero. It is 0 only if every byte is 0.
pub fn ones_complement_sum(bytes: &[u8]) -> u16 {
    let mut words = bytes.chunks_exact(4);
    let mut sum: u64 = 0;
    for word in &mut words {
        sum += u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
    }
    sum += match *words.remainder() {
        [] => 0,
        [a] => u64::from(u16::from_be_bytes([a, 0])),
        [a, b] => u64::from(u16::from_be_bytes([a, b])),
        [a, b, c, ..] => u64::from(u32::from_be_bytes([a, b, c, 0])),
    };
    fold(sum)
}

/// Adds the sums of two pieces whose offsets differ by an even number.
#[inline]
pub const fn ones_complement_add(a: u16, b: u16) -> u16 {
    let (sum, carry) = a.overflowing_add(b);
    sum + carry as u16
}

/// The contribution of a piece with this `sum` that starts at `offset` bytes: at an odd offset the two bytes of each
/// word are swapped (RFC 1071, section 2 B).
///
/// The sum of adjacent pieces is `ones_complement_add(first, sum_at_offset(second, first_length))`.
#[inline]
pub const fn sum_at_offset(sum: u16, offset: u64) -> u16 {
    if offset.is_multiple_of(2) { sum } else { sum.swap_bytes() }
}

/// Sum of the pseudo header that TCP and UDP checksums cover (RFC 9293, section 3.1; RFC 8200, section 8.1).
pub(crate) fn pseudo_header_sum(source: IpAddr, destination: IpAddr, protocol: u8, length: u32) -> u16 {
    let addresses = ones_complement_add(address_sum(source), address_sum(destination));
    ones_complement_add(addresses, fold(u64::from(protocol) + u64::from(length)))
}

fn address_sum(address: IpAddr) -> u16 {
    match address {
        IpAddr::V4(address) => ones_complement_sum(&address.octets()),
        IpAddr::V6(address) => ones_complement_sum(&address.octets()),
    }
}

/// Adds the carries back in until 16 bits remain.
pub(crate) const fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sums_the_example_of_rfc_1071_section_3() {
        assert_eq!(ones_complement_sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0xddf2);
    }

    #[test]
    fn pads_an_odd_last_byte_with_zero() {
        assert_eq!(ones_complement_sum(&[0x12]), 0x1200);
        assert_eq!(ones_complement_sum(&[0x00, 0x01, 0x12]), 0x1201);
        assert_eq!(ones_complement_sum(&[0, 1, 0, 1, 0x12]), 0x1202);
    }

    #[test]
    fn adds_with_end_around_carry() {
        assert_eq!(ones_complement_add(0xffff, 0x0001), 0x0001);
        assert_eq!(ones_complement_add(0x8000, 0x8000), 0x0001);
    }

    #[test]
    fn sum_of_the_pseudo_header_counts_every_field() {
        let (source, destination) = ("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap());
        assert_eq!(pseudo_header_sum(source, destination, 6, 20), 0x0a00 + 1 + 0x0a00 + 2 + 6 + 20);
        let (source, destination) = ("fd00::1".parse().unwrap(), "::2".parse().unwrap());
        assert_eq!(pseudo_header_sum(source, destination, 17, 0x1_0000), 0xfd00 + 1 + 2 + 17 + 1);
    }

    proptest! {
        #[test]
        fn the_sums_of_two_pieces_add_up(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            cut in any::<prop::sample::Index>(),
        ) {
            let (first, second) = bytes.split_at(cut.index(bytes.len() + 1));
            let second = sum_at_offset(ones_complement_sum(second), first.len() as u64);
            prop_assert_eq!(ones_complement_add(ones_complement_sum(first), second), ones_complement_sum(&bytes));
        }
    }
}
