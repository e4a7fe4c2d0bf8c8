//! Variable-length integers (RFC 9000, section 16).

use crate::PayloadBytes;
use crate::error::EmitError;

/// The largest value of a variable-length integer.
pub const MAX_VARINT: u64 = (1 << 62) - 1;

/// Bytes that `value` takes in its shortest form: 1, 2, 4 or 8. A value above [`MAX_VARINT`] counts as 8, and is an
/// error when it is written.
#[inline]
pub const fn varint_length(value: u64) -> u32 {
    match value {
        0..0x40 => 1,
        0x40..0x4000 => 2,
        0x4000..0x4000_0000 => 4,
        _ => 8,
    }
}

/// Appends fields to a buffer, and remembers the first value that no variable-length integer can express.
pub(crate) struct Emitter<'a> {
    out: &'a mut Vec<u8>,
    too_large: Option<u64>,
}

impl<'a> Emitter<'a> {
    pub(crate) const fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, too_large: None }
    }

    /// Appends `value` in its shortest form.
    pub(crate) fn varint(&mut self, value: u64) {
        self.varint_of(value, varint_length(value));
    }

    /// Appends `value` with `length` bytes: 1, 2, 4 or 8, enough for it.
    pub(crate) fn varint_of(&mut self, value: u64, length: u32) {
        if value > MAX_VARINT {
            self.too_large = self.too_large.or(Some(value));
        }
        let prefix = u64::from(length.trailing_zeros()) << (8 * length - 2);
        let bytes = (value & MAX_VARINT | prefix).to_be_bytes();
        self.bytes(&bytes[8 - length as usize..]);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Appends `bytes` behind their number.
    pub(crate) fn counted_bytes(&mut self, bytes: &[u8]) {
        self.varint(bytes.len() as u64);
        self.bytes(bytes);
    }

    /// Appends the `length` bytes that a payload describes.
    pub(crate) fn payload(&mut self, payload: PayloadBytes<'_>, length: u32) {
        match payload {
            PayloadBytes::Zero => self.zeros(length),
            PayloadBytes::Bytes(bytes) => self.bytes(bytes),
        }
    }

    pub(crate) fn zeros(&mut self, length: u32) {
        self.out.resize(self.out.len() + length as usize, 0);
    }

    /// An error if a value was too large.
    pub(crate) fn finish(self) -> Result<(), EmitError> {
        self.too_large.map_or(Ok(()), |value| Err(EmitError::VarintTooLarge { value }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::Reader;

    fn emitted(value: u64) -> (Vec<u8>, Result<(), EmitError>) {
        let mut out = Vec::new();
        let mut emitter = Emitter::new(&mut out);
        emitter.varint(value);
        let result = emitter.finish();
        (out, result)
    }

    #[test]
    fn the_examples_of_appendix_a_1() {
        for (bytes, value) in [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
        ] {
            assert_eq!(Reader::new(bytes).varint(), Some(value));
            assert_eq!(emitted(value), (bytes.to_vec(), Ok(())));
        }
        assert_eq!(Reader::new(&[0x40, 0x25]).varint(), Some(37), "not the shortest form");
    }

    #[test]
    fn bounds_of_each_length_go_both_ways() {
        for value in [0, 63, 64, 16_383, 16_384, (1 << 30) - 1, 1 << 30, MAX_VARINT] {
            let (bytes, result) = emitted(value);
            assert_eq!((bytes.len() as u32, result), (varint_length(value), Ok(())));
            assert_eq!(Reader::new(&bytes).varint(), Some(value));
            assert_eq!(Reader::new(&bytes[..bytes.len() - 1]).varint(), None, "{value} cut short");
        }
    }

    #[test]
    fn a_value_beyond_62_bits_is_an_error() {
        assert_eq!(emitted(1 << 62).1, Err(EmitError::VarintTooLarge { value: 1 << 62 }));
    }
}
