//! Packet numbers, of which a packet carries the lowest bytes only (RFC 9000, section 17.1 and appendix A).

/// The lowest bytes of a packet number, as a packet carries them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketNumber {
    truncated: u32,
    length: u8,
}

impl PacketNumber {
    /// The packet number `full` with as many bytes as its receiver needs, who has acknowledged `largest_acknowledged` or
    /// nothing yet: enough for twice the number of packets since then (appendix A.2).
    pub fn encode(full: u64, largest_acknowledged: Option<u64>) -> Self {
        let unacknowledged = match largest_acknowledged {
            None => full + 1,
            Some(largest) => full.saturating_sub(largest).max(1),
        };
        let bits = u64::BITS - (unacknowledged.saturating_mul(2) - 1).leading_zeros();
        let length = bits.div_ceil(8).clamp(1, 4) as u8;
        Self::from_parts(full as u32, length)
    }

    /// The lowest `length` bytes, 1 to 4, of `value`.
    pub(super) const fn from_parts(value: u32, length: u8) -> Self {
        Self { truncated: value & (u32::MAX >> (32 - 8 * length as u32)), length }
    }

    /// The whole packet number, whose receiver has processed `largest` as its highest one, or none yet (appendix A.3).
    pub fn expand(self, largest: Option<u64>) -> u64 {
        let expected = largest.map_or(0, |largest| largest + 1);
        let window = 1_u64 << (8 * self.length);
        let half = window / 2;
        let candidate = expected & !(window - 1) | u64::from(self.truncated);
        if candidate + half <= expected && candidate + window < 1 << 62 {
            candidate + window
        } else if candidate > expected + half && candidate >= window {
            candidate - window
        } else {
            candidate
        }
    }

    /// Its lowest bytes as they are sent.
    pub const fn truncated(self) -> u32 {
        self.truncated
    }

    /// The number of bytes that are sent, 1 to 4.
    pub const fn length(self) -> u32 {
        self.length as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_appendix_a() {
        // A.2: with 0xabe8b3 acknowledged, 0xac5c02 needs 16 bits and 0xace8fe 24 bits.
        let two = PacketNumber::encode(0xac_5c02, Some(0xab_e8b3));
        assert_eq!((two.length(), two.truncated()), (2, 0x5c02));
        let three = PacketNumber::encode(0xac_e8fe, Some(0xab_e8b3));
        assert_eq!((three.length(), three.truncated()), (3, 0xac_e8fe));
        // A.3: after 0xa82f30ea, the 16 bits 0x9b32 are 0xa82f9b32.
        assert_eq!(PacketNumber::from_parts(0x9b32, 2).expand(Some(0xa82f_30ea)), 0xa82f_9b32);
    }

    #[test]
    fn what_is_sent_is_found_again_while_half_the_window_is_outstanding() {
        for full in [0_u64, 1, 127, 128, 255, 256, 65_535, 65_536, 0x00ff_ffff, 0x1_0000_0000, (1 << 62) - 2] {
            for acknowledged in [None, full.checked_sub(1), full.checked_sub(100), full.checked_sub(40_000)] {
                if acknowledged.is_none() && full > 1 << 30 {
                    continue;
                }
                let number = PacketNumber::encode(full, acknowledged);
                // The receiver has what it has acknowledged, or everything before this packet.
                for largest in [acknowledged, full.checked_sub(1)] {
                    assert_eq!(number.expand(largest), full, "{full} after {acknowledged:?}, {largest:?} received");
                }
            }
        }
    }

    #[test]
    fn a_number_from_before_the_window_is_not_taken_for_a_later_one() {
        assert_eq!(PacketNumber::from_parts(0xff, 1).expand(Some(0x1_01)), 0xff);
        assert_eq!(PacketNumber::from_parts(0x00, 1).expand(Some(0xfe)), 0x100);
        assert_eq!(PacketNumber::from_parts(0xff, 1).expand(None), 0xff, "there is none below zero");
    }
}
