//! Data for the application, and the chunks that it came in.

/// A message for the application, or a part of a large one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Stream number.
    pub stream: u16,
    /// Whether it was sent unordered.
    pub unordered: bool,
    /// The peer's payload protocol identifier.
    pub payload_protocol: u32,
    /// The first and the last of its chunks, numbered from 1 for the peer's initial TSN. An edge keeps bytes by this
    /// number.
    pub tsns: (u64, u64),
    /// Its bytes.
    pub bytes: u64,
    /// Whether it is the beginning of a message; always true if messages are delivered whole.
    pub begins: bool,
    /// Whether the message ends with it.
    pub ends: bool,
}

/// A chunk whose data was accepted, for the edge that stores its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenChunk {
    /// Its place among all chunks of the packet.
    pub index: usize,
    /// Its number, counted from 1 for the peer's initial TSN, as in [`Delivery::tsns`].
    pub tsn: u64,
}
