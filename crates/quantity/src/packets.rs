//! Numbers of packets.

use core::fmt;

/// A number of packets, such as a queue's limit.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packets(u64);

impl Packets {
    /// `n` packets.
    pub const fn new(n: u64) -> Self {
        Self(n)
    }
    /// The number.
    pub const fn count(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes `100 packets`, `1 packet`.
impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packet{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}
