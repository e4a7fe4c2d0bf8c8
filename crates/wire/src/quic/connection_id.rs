//! Connection identifiers (RFC 9000, section 5.1).

use core::fmt;

use super::Emitter;
use crate::reader::Reader;

/// The most bytes that a connection identifier of version 1 has.
pub const MAX_CONNECTION_ID_LENGTH: usize = 20;

/// A connection identifier: up to [`MAX_CONNECTION_ID_LENGTH`] bytes, or none.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId {
    length: u8,
    bytes: [u8; MAX_CONNECTION_ID_LENGTH],
}

impl ConnectionId {
    /// The identifier of no bytes.
    pub const EMPTY: Self = Self { length: 0, bytes: [0; MAX_CONNECTION_ID_LENGTH] };

    /// An identifier of these bytes; `None` if they are too many.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut id = Self::EMPTY;
        id.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        id.length = bytes.len() as u8;
        Some(id)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length.into()]
    }

    /// The number of its bytes.
    #[inline]
    pub const fn length(&self) -> u32 {
        self.length as u32
    }

    /// Whether it has no bytes.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Appends it behind its length in one byte.
    pub(super) fn emit_counted(&self, out: &mut Emitter<'_>) {
        out.bytes(&[self.length]);
        out.bytes(self.as_bytes());
    }

    /// Reads one behind its length in one byte.
    pub(super) fn read_counted(reader: &mut Reader<'_>) -> Option<Self> {
        let length = reader.u8()?;
        Self::new(reader.bytes(length.into())?)
    }
}

impl fmt::Debug for ConnectionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ConnectionId(")?;
        self.as_bytes().iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))?;
        formatter.write_str(")")
    }
}
