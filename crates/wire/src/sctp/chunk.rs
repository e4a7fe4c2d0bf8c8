//! Chunks (RFC 9260, section 3.3) and those that extensions add.

use super::cause::{causes_length, emit_causes, parse_causes};
use super::tlv::CHUNK_HEADER_LENGTH;
use super::{DataChunk, ErrorCause, ForwardTsnChunk, InitChunk, NrSackChunk, SackChunk, parameter_type, tlv};
use crate::reader::Reader;
use crate::{Payload, PayloadBytes};

/// One chunk of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// User data.
    Data(DataChunk),
    /// Opens an association.
    Init(Box<InitChunk>),
    /// Answers INIT, with a state cookie.
    InitAck(Box<InitChunk>),
    /// Acknowledges data.
    Sack(SackChunk),
    /// Probes a path: bytes that the peer sends back as they are.
    Heartbeat(Box<[u8]>),
    /// Answers HEARTBEAT with the bytes it had.
    HeartbeatAck(Box<[u8]>),
    /// Ends the association at once.
    Abort {
        /// T: the verification tag is that of the packet answered, since there is no association.
        reflected: bool,
        /// Why.
        causes: Vec<ErrorCause>,
    },
    /// Ends the association once everything has arrived.
    Shutdown {
        /// Cumulative TSN ack.
        cumulative_tsn: u32,
    },
    /// Answers SHUTDOWN.
    ShutdownAck,
    /// Reports a mistake that does not end the association.
    Error(Vec<ErrorCause>),
    /// Brings the state cookie back.
    CookieEcho(Box<[u8]>),
    /// Answers COOKIE ECHO.
    CookieAck,
    /// Explicit congestion notification echo (appendix A).
    EcnEcho {
        /// Lowest TSN of the packet that was marked.
        lowest_tsn: u32,
    },
    /// Congestion window reduced (appendix A).
    CongestionWindowReduced {
        /// Lowest TSN of the ECN echo that it answers.
        lowest_tsn: u32,
    },
    /// Answers SHUTDOWN ACK.
    ShutdownComplete {
        /// T: the verification tag is that of the packet answered, since there is no association.
        reflected: bool,
    },
    /// Acknowledges data, and says what of it is kept for certain.
    NrSack(NrSackChunk),
    /// Moves the peer's cumulative TSN over what has been abandoned (RFC 3758).
    ForwardTsn(ForwardTsnChunk),
    /// A chunk of another type.
    Unknown(RawChunk),
    /// A chunk of a type above whose contents do not follow its format.
    Malformed(RawChunk),
}

/// Types of chunks (IANA, "Stream Control Transmission Protocol (SCTP) Parameters").
pub mod chunk_type {
    #![allow(missing_docs, reason = "the names are those of the registry")]
    pub const DATA: u8 = 0;
    pub const INIT: u8 = 1;
    pub const INIT_ACK: u8 = 2;
    pub const SACK: u8 = 3;
    pub const HEARTBEAT: u8 = 4;
    pub const HEARTBEAT_ACK: u8 = 5;
    pub const ABORT: u8 = 6;
    pub const SHUTDOWN: u8 = 7;
    pub const SHUTDOWN_ACK: u8 = 8;
    pub const ERROR: u8 = 9;
    pub const COOKIE_ECHO: u8 = 10;
    pub const COOKIE_ACK: u8 = 11;
    pub const ECNE: u8 = 12;
    pub const CWR: u8 = 13;
    pub const SHUTDOWN_COMPLETE: u8 = 14;
    pub const NR_SACK: u8 = 16;
    pub const FORWARD_TSN: u8 = 192;
}

/// T, of ABORT and SHUTDOWN COMPLETE.
const FLAG_REFLECTED: u8 = 0x01;

impl Chunk {
    /// What a DATA chunk carries.
    #[inline]
    pub const fn payload(&self) -> Option<&Payload> {
        match self {
            Self::Data(data) => Some(&data.payload),
            _ => None,
        }
    }

    /// Length as the chunk states it: with type, flags and length, without the padding behind.
    #[inline]
    pub fn length(&self) -> u32 {
        const HEADER: u32 = CHUNK_HEADER_LENGTH;
        match self {
            Self::Data(data) => DataChunk::HEADER_LENGTH + data.payload.length,
            Self::Sack(sack) => sack.length(),
            Self::NrSack(nr_sack) => nr_sack.length(),
            Self::Init(init) | Self::InitAck(init) => init.length(),
            Self::Heartbeat(info) | Self::HeartbeatAck(info) => HEADER + (tlv::HEADER_LENGTH + info.len()) as u32,
            Self::Abort { causes, .. } | Self::Error(causes) => HEADER + causes_length(causes),
            Self::Shutdown { .. } | Self::EcnEcho { .. } | Self::CongestionWindowReduced { .. } => HEADER + 4,
            Self::CookieEcho(cookie) => HEADER + cookie.len() as u32,
            Self::ShutdownAck | Self::CookieAck | Self::ShutdownComplete { .. } => HEADER,
            Self::ForwardTsn(forward) => forward.length(),
            Self::Unknown(raw) | Self::Malformed(raw) => HEADER + raw.value.len() as u32,
        }
    }

    /// Its type.
    pub const fn kind(&self) -> u8 {
        match self {
            Self::Data(_) => chunk_type::DATA,
            Self::Init(_) => chunk_type::INIT,
            Self::InitAck(_) => chunk_type::INIT_ACK,
            Self::Sack(_) => chunk_type::SACK,
            Self::Heartbeat(_) => chunk_type::HEARTBEAT,
            Self::HeartbeatAck(_) => chunk_type::HEARTBEAT_ACK,
            Self::Abort { .. } => chunk_type::ABORT,
            Self::Shutdown { .. } => chunk_type::SHUTDOWN,
            Self::ShutdownAck => chunk_type::SHUTDOWN_ACK,
            Self::Error(_) => chunk_type::ERROR,
            Self::CookieEcho(_) => chunk_type::COOKIE_ECHO,
            Self::CookieAck => chunk_type::COOKIE_ACK,
            Self::EcnEcho { .. } => chunk_type::ECNE,
            Self::CongestionWindowReduced { .. } => chunk_type::CWR,
            Self::ShutdownComplete { .. } => chunk_type::SHUTDOWN_COMPLETE,
            Self::NrSack(_) => chunk_type::NR_SACK,
            Self::ForwardTsn(_) => chunk_type::FORWARD_TSN,
            Self::Unknown(raw) | Self::Malformed(raw) => raw.kind,
        }
    }

    /// Whether the T bit of an ABORT or SHUTDOWN COMPLETE is set: the packet carries its sender's own tag.
    pub const fn reflects_tag(&self) -> bool {
        matches!(self.kind(), chunk_type::ABORT | chunk_type::SHUTDOWN_COMPLETE) && self.flags() & FLAG_REFLECTED != 0
    }

    const fn flags(&self) -> u8 {
        match self {
            Self::Data(data) => data.flags(),
            Self::Sack(sack) => sack.flags(),
            Self::NrSack(nr_sack) => nr_sack.sack.flags(),
            Self::Abort { reflected, .. } | Self::ShutdownComplete { reflected } => *reflected as u8 * FLAG_REFLECTED,
            Self::Unknown(raw) | Self::Malformed(raw) => raw.flags,
            _ => 0,
        }
    }

    /// Appends the chunk with its padding. `payload` is the user data of a DATA chunk, as long as described.
    pub(super) fn emit(&self, payload: PayloadBytes<'_>, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[self.kind(), self.flags()]);
        out.extend_from_slice(&(self.length() as u16).to_be_bytes());
        match self {
            Self::Data(data) => data.emit(payload, out),
            Self::Init(init) | Self::InitAck(init) => init.emit(out),
            Self::Sack(sack) => sack.emit(out),
            Self::NrSack(nr_sack) => nr_sack.emit(out),
            Self::Heartbeat(info) | Self::HeartbeatAck(info) => {
                tlv::emit(parameter_type::HEARTBEAT_INFO, out, |out| out.extend_from_slice(info));
            }
            Self::Abort { causes, .. } | Self::Error(causes) => emit_causes(causes, out),
            Self::Shutdown { cumulative_tsn: tsn }
            | Self::EcnEcho { lowest_tsn: tsn }
            | Self::CongestionWindowReduced { lowest_tsn: tsn } => out.extend_from_slice(&tsn.to_be_bytes()),
            Self::CookieEcho(cookie) => out.extend_from_slice(cookie),
            Self::ShutdownAck | Self::CookieAck | Self::ShutdownComplete { .. } => {}
            Self::ForwardTsn(forward) => forward.emit(out),
            Self::Unknown(raw) | Self::Malformed(raw) => out.extend_from_slice(&raw.value),
        }
        tlv::pad(start, out);
    }

    pub(super) fn parse(kind: u8, flags: u8, value: &[u8]) -> Self {
        let raw = || RawChunk { kind, flags, value: value.into() };
        match Self::parse_known(kind, flags, value) {
            None => Self::Unknown(raw()),
            Some(None) => Self::Malformed(raw()),
            Some(Some(chunk)) => chunk,
        }
    }

    /// The outer option is `None` for an unknown type, the inner one for malformed contents.
    fn parse_known(kind: u8, flags: u8, value: &[u8]) -> Option<Option<Self>> {
        let empty = |chunk: Self| value.is_empty().then_some(chunk);
        let reflected = flags & FLAG_REFLECTED != 0;
        Some(match kind {
            chunk_type::DATA => DataChunk::parse(flags, value).map(Self::Data),
            chunk_type::INIT => InitChunk::parse(value).map(|init| Self::Init(Box::new(init))),
            chunk_type::INIT_ACK => InitChunk::parse(value).map(|init| Self::InitAck(Box::new(init))),
            chunk_type::SACK => SackChunk::parse(flags, value).map(Self::Sack),
            chunk_type::HEARTBEAT => heartbeat_info(value).map(Self::Heartbeat),
            chunk_type::HEARTBEAT_ACK => heartbeat_info(value).map(Self::HeartbeatAck),
            chunk_type::ABORT => parse_causes(value).map(|causes| Self::Abort { reflected, causes }),
            chunk_type::SHUTDOWN => one_tsn(value).map(|cumulative_tsn| Self::Shutdown { cumulative_tsn }),
            chunk_type::SHUTDOWN_ACK => empty(Self::ShutdownAck),
            chunk_type::ERROR => parse_causes(value).map(Self::Error),
            chunk_type::COOKIE_ECHO => Some(Self::CookieEcho(value.into())),
            chunk_type::COOKIE_ACK => empty(Self::CookieAck),
            chunk_type::ECNE => one_tsn(value).map(|lowest_tsn| Self::EcnEcho { lowest_tsn }),
            chunk_type::CWR => one_tsn(value).map(|lowest_tsn| Self::CongestionWindowReduced { lowest_tsn }),
            chunk_type::SHUTDOWN_COMPLETE => empty(Self::ShutdownComplete { reflected }),
            chunk_type::NR_SACK => NrSackChunk::parse(flags, value).map(Self::NrSack),
            chunk_type::FORWARD_TSN => ForwardTsnChunk::parse(value).map(Self::ForwardTsn),
            _ => return None,
        })
    }
}

/// A chunk as it stands on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawChunk {
    /// Type. Its two highest bits say what to do about one that is unknown (RFC 9260, section 3.2).
    pub kind: u8,
    /// Flags.
    pub flags: u8,
    /// What stands behind type, flags and length.
    pub value: Box<[u8]>,
}

impl RawChunk {
    /// Whether the chunks behind an unknown one are to be processed (bit 7 of the type).
    pub const fn is_skippable(&self) -> bool {
        self.kind & 0x80 != 0
    }

    /// Whether an unknown chunk is to be reported to its sender (bit 6 of the type).
    pub const fn is_reportable(&self) -> bool {
        self.kind & 0x40 != 0
    }

    /// The initiate tag of an INIT or INIT ACK whose fixed part is there.
    pub fn initiate_tag(&self) -> Option<u32> {
        let opens = matches!(self.kind, chunk_type::INIT | chunk_type::INIT_ACK);
        let tag = self.value.first_chunk().filter(|_| opens && self.value.len() >= InitChunk::FIXED_LENGTH)?;
        Some(u32::from_be_bytes(*tag))
    }

    /// The chunk with its type, flags and length, without padding: what is reported.
    pub fn to_bytes(&self) -> Box<[u8]> {
        let length = CHUNK_HEADER_LENGTH as usize + self.value.len();
        let mut bytes = Vec::with_capacity(length);
        bytes.extend_from_slice(&[self.kind, self.flags]);
        bytes.extend_from_slice(&(length as u16).to_be_bytes());
        bytes.extend_from_slice(&self.value);
        bytes.into_boxed_slice()
    }
}

/// The value of the one heartbeat information parameter that a HEARTBEAT consists of.
fn heartbeat_info(value: &[u8]) -> Option<Box<[u8]>> {
    let mut parameters = tlv::walk(value);
    match (parameters.next(), parameters.next()) {
        (Some(Ok((parameter_type::HEARTBEAT_INFO, info))), None) => Some(info.into()),
        _ => None,
    }
}

fn one_tsn(value: &[u8]) -> Option<u32> {
    let mut reader = Reader::new(value);
    let tsn = reader.u32()?;
    reader.finish(tsn)
}
