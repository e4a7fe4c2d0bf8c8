//! Data for the application.

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
