//! What a packet carries: its description, and its bytes.

/// A payload without its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// Offset of the first byte in the sender's application stream. It is not sent: the code that has the bytes uses it
    /// to find them. Zero in parsed packets.
    pub stream_offset: u64,
    /// Length in bytes.
    pub length: u32,
    /// One's-complement sum of the payload as 16-bit big-endian words, with an odd last byte padded with zero
    /// (RFC 1071, not complemented). Simulated payloads are all zero, so their sum is 0. MPTCP's DSS checksum uses it.
    pub sum: u16,
}

/// The payload bytes that a packet's payload description refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadBytes<'a> {
    /// Zero bytes of the described length: the payload of a simulated transfer.
    Zero,
    /// These bytes, of exactly the described length; for SCTP, those of all DATA chunks, concatenated.
    Bytes(&'a [u8]),
}
