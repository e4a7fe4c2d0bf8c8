//! Transmission sequence numbers: 32 bits on the wire (RFC 9260, section 1.6), 64 bits in this crate.

/// Translates between the TSNs on the wire and those of 64 bits, in which a side's initial TSN is 1 and 0 means that
/// nothing was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TsnSpace {
    /// The TSN on the wire of the number 1.
    initial: u32,
}

impl TsnSpace {
    pub(crate) fn new(initial: u32) -> Self {
        Self { initial }
    }

    /// The initial TSN, as INIT and INIT ACK carry it.
    pub(crate) fn initial(self) -> u32 {
        self.initial
    }

    /// The number on the wire.
    pub(crate) fn wire(self, tsn: u64) -> u32 {
        self.initial.wrapping_add(tsn as u32).wrapping_sub(1)
    }

    /// Of the 64-bit numbers that are `wire` in their last 32 bits, the nearest to `near`. `None` if it is below the
    /// initial TSN.
    pub(crate) fn unwrap(self, wire: u32, near: u64) -> Option<u64> {
        let distance = wire.wrapping_sub(self.wire(near)) as i32;
        near.checked_add_signed(i64::from(distance))
    }
}

/// Of the 64-bit stream sequence numbers that are `wire` in their last 16 bits, the nearest to `near`.
pub(crate) fn unwrap_ssn(wire: u16, near: u64) -> Option<u64> {
    let distance = wire.wrapping_sub(near as u16) as i16;
    near.checked_add_signed(i64::from(distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_the_wire_around_a_wrap() {
        let space = TsnSpace::new(u32::MAX - 1);
        assert_eq!((space.wire(0), space.wire(1), space.wire(3)), (u32::MAX - 2, u32::MAX - 1, 0));
        for tsn in [0_u64, 1, 2, 3, 1 << 31, 1 << 32, (1 << 40) + 7] {
            for near in [tsn, tsn + 1000, tsn.saturating_sub(1000)] {
                assert_eq!(space.unwrap(space.wire(tsn), near), Some(tsn));
            }
        }
    }

    #[test]
    fn a_number_from_before_the_beginning_is_none() {
        let space = TsnSpace::new(10);
        assert_eq!(space.unwrap(8, 1), None);
        assert_eq!(unwrap_ssn(u16::MAX, 0), None);
        assert_eq!(unwrap_ssn(2, 65_535), Some(65_538));
    }
}
