//! Error causes, in ABORT and ERROR (RFC 9260, section 3.3.10).

use super::tlv;
use crate::reader::Reader;

/// Why something is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorCause {
    /// DATA came on a stream that does not exist.
    InvalidStreamIdentifier {
        /// The stream.
        stream: u16,
    },
    /// Parameters that have to be there are not: their types.
    MissingMandatoryParameter(Vec<u16>),
    /// The cookie came too late.
    StaleCookie {
        /// By how many microseconds.
        staleness_us: u32,
    },
    /// The receiver has no resources left.
    OutOfResource,
    /// An address that cannot be resolved: the whole parameter.
    UnresolvableAddress(Box<[u8]>),
    /// A chunk of a type that is not understood: the whole chunk.
    UnrecognizedChunkType(Box<[u8]>),
    /// A mandatory parameter has a value that it cannot have.
    InvalidMandatoryParameter,
    /// Parameters of an INIT ACK that were not understood: the whole parameters.
    UnrecognizedParameters(Box<[u8]>),
    /// A DATA chunk had no data.
    NoUserData {
        /// Its TSN.
        tsn: u32,
    },
    /// A COOKIE ECHO came while shutting down.
    CookieReceivedWhileShuttingDown,
    /// A restart tried to bring new addresses: the whole address parameters.
    RestartWithNewAddresses(Box<[u8]>),
    /// The user gave up: the reason it gave.
    UserInitiatedAbort(Box<[u8]>),
    /// The peer broke the rules: further information.
    ProtocolViolation(Box<[u8]>),
    /// Any other cause.
    Unknown {
        /// Cause code.
        code: u16,
        /// What stands behind code and length.
        value: Box<[u8]>,
    },
}

/// Cause codes (IANA).
mod code {
    pub(super) const INVALID_STREAM_IDENTIFIER: u16 = 1;
    pub(super) const MISSING_MANDATORY_PARAMETER: u16 = 2;
    pub(super) const STALE_COOKIE: u16 = 3;
    pub(super) const OUT_OF_RESOURCE: u16 = 4;
    pub(super) const UNRESOLVABLE_ADDRESS: u16 = 5;
    pub(super) const UNRECOGNIZED_CHUNK_TYPE: u16 = 6;
    pub(super) const INVALID_MANDATORY_PARAMETER: u16 = 7;
    pub(super) const UNRECOGNIZED_PARAMETERS: u16 = 8;
    pub(super) const NO_USER_DATA: u16 = 9;
    pub(super) const COOKIE_RECEIVED_WHILE_SHUTTING_DOWN: u16 = 10;
    pub(super) const RESTART_WITH_NEW_ADDRESSES: u16 = 11;
    pub(super) const USER_INITIATED_ABORT: u16 = 12;
    pub(super) const PROTOCOL_VIOLATION: u16 = 13;
}

impl ErrorCause {
    /// Its code.
    pub const fn code(&self) -> u16 {
        match self {
            Self::InvalidStreamIdentifier { .. } => code::INVALID_STREAM_IDENTIFIER,
            Self::MissingMandatoryParameter(_) => code::MISSING_MANDATORY_PARAMETER,
            Self::StaleCookie { .. } => code::STALE_COOKIE,
            Self::OutOfResource => code::OUT_OF_RESOURCE,
            Self::UnresolvableAddress(_) => code::UNRESOLVABLE_ADDRESS,
            Self::UnrecognizedChunkType(_) => code::UNRECOGNIZED_CHUNK_TYPE,
            Self::InvalidMandatoryParameter => code::INVALID_MANDATORY_PARAMETER,
            Self::UnrecognizedParameters(_) => code::UNRECOGNIZED_PARAMETERS,
            Self::NoUserData { .. } => code::NO_USER_DATA,
            Self::CookieReceivedWhileShuttingDown => code::COOKIE_RECEIVED_WHILE_SHUTTING_DOWN,
            Self::RestartWithNewAddresses(_) => code::RESTART_WITH_NEW_ADDRESSES,
            Self::UserInitiatedAbort(_) => code::USER_INITIATED_ABORT,
            Self::ProtocolViolation(_) => code::PROTOCOL_VIOLATION,
            Self::Unknown { code, .. } => *code,
        }
    }

    /// Length in bytes with code and length, without padding.
    pub fn length(&self) -> u32 {
        let value = match self {
            Self::InvalidStreamIdentifier { .. } | Self::StaleCookie { .. } | Self::NoUserData { .. } => 4,
            Self::MissingMandatoryParameter(types) => 4 + 2 * types.len(),
            Self::OutOfResource | Self::InvalidMandatoryParameter | Self::CookieReceivedWhileShuttingDown => 0,
            Self::UnresolvableAddress(bytes)
            | Self::UnrecognizedChunkType(bytes)
            | Self::UnrecognizedParameters(bytes)
            | Self::RestartWithNewAddresses(bytes)
            | Self::UserInitiatedAbort(bytes)
            | Self::ProtocolViolation(bytes)
            | Self::Unknown { value: bytes, .. } => bytes.len(),
        };
        (tlv::HEADER_LENGTH + value) as u32
    }

    fn emit(&self, out: &mut Vec<u8>) {
        tlv::emit(self.code(), out, |out| match self {
            Self::InvalidStreamIdentifier { stream } => {
                out.extend_from_slice(&stream.to_be_bytes());
                out.extend_from_slice(&[0, 0]);
            }
            Self::MissingMandatoryParameter(types) => {
                out.extend_from_slice(&(types.len() as u32).to_be_bytes());
                types.iter().for_each(|kind| out.extend_from_slice(&kind.to_be_bytes()));
            }
            Self::StaleCookie { staleness_us: value } | Self::NoUserData { tsn: value } => {
                out.extend_from_slice(&value.to_be_bytes());
            }
            Self::OutOfResource | Self::InvalidMandatoryParameter | Self::CookieReceivedWhileShuttingDown => {}
            Self::UnresolvableAddress(bytes)
            | Self::UnrecognizedChunkType(bytes)
            | Self::UnrecognizedParameters(bytes)
            | Self::RestartWithNewAddresses(bytes)
            | Self::UserInitiatedAbort(bytes)
            | Self::ProtocolViolation(bytes)
            | Self::Unknown { value: bytes, .. } => out.extend_from_slice(bytes),
        });
    }

    /// `None` if the value is not one that the code can have.
    fn parse(code: u16, value: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(value);
        let cause = match code {
            code::INVALID_STREAM_IDENTIFIER => {
                let stream = reader.u16()?;
                let _reserved = reader.u16()?;
                return reader.finish(Self::InvalidStreamIdentifier { stream });
            }
            code::MISSING_MANDATORY_PARAMETER => {
                let count = reader.u32()? as usize;
                if count.checked_mul(2) != Some(reader.remaining()) {
                    return None;
                }
                Self::MissingMandatoryParameter((0..count).map(|_| reader.u16()).collect::<Option<_>>()?)
            }
            code::STALE_COOKIE => {
                let staleness_us = reader.u32()?;
                return reader.finish(Self::StaleCookie { staleness_us });
            }
            code::OUT_OF_RESOURCE => return reader.finish(Self::OutOfResource),
            code::UNRESOLVABLE_ADDRESS => Self::UnresolvableAddress(value.into()),
            code::UNRECOGNIZED_CHUNK_TYPE => Self::UnrecognizedChunkType(value.into()),
            code::INVALID_MANDATORY_PARAMETER => return reader.finish(Self::InvalidMandatoryParameter),
            code::UNRECOGNIZED_PARAMETERS => Self::UnrecognizedParameters(value.into()),
            code::NO_USER_DATA => {
                let tsn = reader.u32()?;
                return reader.finish(Self::NoUserData { tsn });
            }
            code::COOKIE_RECEIVED_WHILE_SHUTTING_DOWN => return reader.finish(Self::CookieReceivedWhileShuttingDown),
            code::RESTART_WITH_NEW_ADDRESSES => Self::RestartWithNewAddresses(value.into()),
            code::USER_INITIATED_ABORT => Self::UserInitiatedAbort(value.into()),
            code::PROTOCOL_VIOLATION => Self::ProtocolViolation(value.into()),
            _ => Self::Unknown { code, value: value.into() },
        };
        Some(cause)
    }
}

/// Bytes that causes take, with the padding between them and without that behind the last.
pub(super) fn causes_length(causes: &[ErrorCause]) -> u32 {
    let (last, others) = match causes.split_last() {
        Some((last, others)) => (last.length(), others),
        None => (0, causes),
    };
    others.iter().map(|cause| tlv::padded(cause.length())).sum::<u32>() + last
}

/// Appends them, with the padding of the last.
pub(super) fn emit_causes(causes: &[ErrorCause], out: &mut Vec<u8>) {
    causes.iter().for_each(|cause| cause.emit(out));
}

/// `None` if one is malformed.
pub(super) fn parse_causes(bytes: &[u8]) -> Option<Vec<ErrorCause>> {
    tlv::walk(bytes).map(|item| item.ok().and_then(|(code, value)| ErrorCause::parse(code, value))).collect()
}
