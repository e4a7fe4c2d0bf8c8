//! Protocol violations of the peer. Each ends the association with an ABORT (RFC 9260, section 3.3.10.13).

use subflow_wire::sctp::{ErrorCause, RawChunk};

/// Maximum number of bytes of a malformed chunk that the ABORT returns.
const MAX_QUOTED_BYTES: usize = 64;

/// The peer violates the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Violation;

impl Violation {
    /// The error cause, without further information.
    pub(super) fn cause(self) -> ErrorCause {
        ErrorCause::ProtocolViolation(Box::default())
    }

    /// The error cause, with the beginning of the chunk that is malformed.
    pub(super) fn cause_with(self, chunk: &RawChunk) -> ErrorCause {
        let mut bytes = chunk.to_bytes().into_vec();
        bytes.truncate(MAX_QUOTED_BYTES);
        ErrorCause::ProtocolViolation(bytes.into())
    }
}
