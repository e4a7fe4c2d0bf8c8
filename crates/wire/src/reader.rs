//! Reads big-endian fields from the start of a slice.

/// The unread bytes. Every method removes bytes from the start, or returns `None` if too few are left.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    /// The next `length` bytes.
    pub(crate) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    /// All bytes that are left.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// A variable-length integer (RFC 9000, section 16), of any of its lengths.
    pub(crate) fn varint(&mut self) -> Option<u64> {
        let first = *self.0.first()?;
        let bytes = self.bytes(1 << (first >> 6))?;
        let value = bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
        // The two highest bits of the first byte are the length.
        Some(value & (u64::MAX >> (66 - 8 * bytes.len())))
    }

    pub(crate) const fn remaining(&self) -> usize {
        self.0.len()
    }

    /// Returns `value` if every byte has been read.
    pub(crate) fn finish<T>(self, value: T) -> Option<T> {
        self.0.is_empty().then_some(value)
    }
}
