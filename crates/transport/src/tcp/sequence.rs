//! Sequence numbers as 64-bit offsets.
//!
//! A connection represents every sequence number by its 64-bit offset from the initial sequence number: the SYN is
//! offset 0, the first byte of data offset 1. Only segment headers contain 32-bit numbers.

/// The offset nearest to `near` that corresponds to sequence number `number` if `initial` is the initial one. `None`
/// if it lies before the SYN.
pub(crate) fn unwrap(number: u32, initial: u32, near: u64) -> Option<u64> {
    let relative = number.wrapping_sub(initial);
    let delta = relative.wrapping_sub(near as u32) as i32;
    near.checked_add_signed(i64::from(delta))
}

/// The sequence number of `offset`.
pub(crate) fn wrap(offset: u64, initial: u32) -> u32 {
    initial.wrapping_add(offset as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_survive_the_wrap() {
        let initial = 0xFFFF_FFF0;
        for offset in [0, 1, 0x10, 0x1_0000_0000, 0x2_8000_0005] {
            assert_eq!(unwrap(wrap(offset, initial), initial, offset + 1000), Some(offset));
            assert_eq!(unwrap(wrap(offset, initial), initial, offset.saturating_sub(1000)), Some(offset));
        }
    }

    #[test]
    fn numbers_before_the_syn_have_no_offset() {
        assert_eq!(unwrap(99, 100, 0), None);
    }
}
