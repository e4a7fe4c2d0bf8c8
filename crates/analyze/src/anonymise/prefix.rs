//! Addresses with the same prefixes, and others: Crypto-PAn (Xu, Fan, Ammar, Moon 2002), with AES-128.
//!
//! Bit i of an address is inverted or not, by AES of the i bits before it: two addresses that have their first k bits in
//! common have them in common afterwards, too, and without the key nobody can tell which they were.

use std::collections::BTreeMap;
use std::net::IpAddr;

use aes::Aes128;
use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockEncrypt, KeyInit};

/// The length of a key: that of AES, and bytes that fill up prefixes.
pub(super) const KEY_LENGTH: usize = 32;

/// Addresses whose images are remembered, at most.
const MOST_REMEMBERED: usize = 100_000;

/// The map of one key.
pub(super) struct PrefixPreserving {
    cipher: Aes128,
    padding: [u8; 16],
    remembered: BTreeMap<IpAddr, IpAddr>,
}

impl PrefixPreserving {
    pub(super) fn new(key: &[u8; KEY_LENGTH]) -> Self {
        let (key, padding) = key.split_at(16);
        let cipher = Aes128::new(GenericArray::from_slice(key));
        let mut padding: [u8; 16] = padding.try_into().expect("it is the half of 32 bytes");
        cipher.encrypt_block(GenericArray::from_mut_slice(&mut padding));
        Self { cipher, padding, remembered: BTreeMap::new() }
    }

    /// The image of an address, of the same version.
    pub(super) fn address(&mut self, address: IpAddr) -> IpAddr {
        if let Some(known) = self.remembered.get(&address) {
            return *known;
        }
        let image = match address {
            IpAddr::V4(address) => IpAddr::from(self.image(address.octets())),
            IpAddr::V6(address) => IpAddr::from(self.image(address.octets())),
        };
        if self.remembered.len() == MOST_REMEMBERED {
            self.remembered.clear();
        }
        self.remembered.insert(address, image);
        image
    }

    fn image<const N: usize>(&self, address: [u8; N]) -> [u8; N] {
        let mut image = address;
        for bit in 0..8 * N {
            let mut block = self.padding;
            let (whole, part) = (bit / 8, bit % 8);
            block[..whole].copy_from_slice(&address[..whole]);
            let mask = !(0xff_u8 >> part);
            block[whole.min(15)] = address[whole] & mask | self.padding[whole] & !mask;
            self.cipher.encrypt_block(GenericArray::from_mut_slice(&mut block));
            image[whole] ^= (block[0] >> 7) << (7 - part);
        }
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key and the addresses of the authors' sample.
    #[test]
    fn addresses_are_those_of_the_published_sample() {
        let key = [
            21, 34, 23, 141, 51, 164, 207, 128, 19, 10, 91, 22, 73, 144, 125, 16, 216, 152, 143, 131, 121, 121, 101,
            39, 98, 87, 76, 45, 42, 132, 34, 2,
        ];
        let mut map = PrefixPreserving::new(&key);
        for (address, image) in [
            ("128.11.68.132", "135.242.180.132"),
            ("129.118.74.4", "134.136.186.123"),
            ("130.132.252.244", "133.68.164.234"),
            ("141.223.7.43", "141.167.8.160"),
            ("141.233.145.108", "141.129.237.235"),
            ("152.163.225.39", "151.140.114.167"),
        ] {
            assert_eq!(map.address(address.parse().expect("an address")).to_string(), image);
        }
    }

    #[test]
    fn common_prefixes_stay_common_and_others_do_not() {
        let mut map = PrefixPreserving::new(&[7; KEY_LENGTH]);
        let mut octets = |address: &str| match map.address(address.parse().expect("an address")) {
            IpAddr::V6(address) => u128::from(address),
            IpAddr::V4(address) => u128::from(u32::from(address)) << 96,
        };
        let common = |a: u128, b: u128| (a ^ b).leading_zeros();
        let [a, b, c] = ["2001:db8:1::1", "2001:db8:1::2", "2001:db8:9::1"].map(&mut octets);
        assert_eq!((common(a, b), common(a, c)), (126, 44));
        let [a, b] = ["10.0.1.1", "10.0.2.1"].map(octets);
        assert_eq!(common(a, b), 22);
    }
}
