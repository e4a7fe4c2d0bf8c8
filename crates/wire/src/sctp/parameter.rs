//! INIT and INIT ACK (RFC 9260, sections 3.3.2 and 3.3.3), which have one format, with their parameters (section
//! 3.3.2.1) and those that extensions add.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::tlv;
use super::tlv::CHUNK_HEADER_LENGTH;
use crate::reader::Reader;

/// One parameter of an INIT or INIT ACK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A further address of the sender, version 4.
    Ipv4Address(Ipv4Addr),
    /// A further address of the sender, version 6.
    Ipv6Address(Ipv6Addr),
    /// State cookie, in an INIT ACK: bytes that only its sender understands.
    StateCookie(Box<[u8]>),
    /// Unrecognized parameter, in an INIT ACK: the whole parameter of the INIT that was not understood, without
    /// padding.
    Unrecognized(Box<[u8]>),
    /// Cookie preservative: by how many milliseconds the cookie should live longer.
    CookiePreservative {
        /// Milliseconds.
        increment_ms: u32,
    },
    /// Host name address: deprecated; whoever gets it aborts.
    HostName(Box<[u8]>),
    /// Supported address types: types of address parameters.
    SupportedAddressTypes(Vec<u16>),
    /// ECN capable (RFC 9260, appendix A).
    EcnCapable,
    /// Supported extensions (RFC 5061, section 4.2.7): chunk types beyond RFC 9260 that the sender understands.
    SupportedExtensions(Vec<u8>),
    /// FORWARD-TSN supported (RFC 3758, section 3.1).
    ForwardTsnSupported,
    /// Adaptation layer indication (RFC 5061, section 4.2.6).
    AdaptationIndication(u32),
    /// Any other parameter.
    Unknown(RawParameter),
}

/// A parameter as it stands on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawParameter {
    /// Type. Its two highest bits say what to do about one that is unknown (RFC 9260, section 3.2.1).
    pub kind: u16,
    /// What stands behind type and length.
    pub value: Box<[u8]>,
}

impl RawParameter {
    /// Whether the parameters behind an unknown one are to be processed (bit 15 of the type).
    pub const fn is_skippable(&self) -> bool {
        self.kind & 0x8000 != 0
    }

    /// Whether an unknown parameter is to be reported to its sender (bit 14 of the type).
    pub const fn is_reportable(&self) -> bool {
        self.kind & 0x4000 != 0
    }
}

/// Types of parameters (IANA, "Stream Control Transmission Protocol (SCTP) Parameters").
pub mod parameter_type {
    #![allow(missing_docs, reason = "the names are those of the registry")]
    pub const HEARTBEAT_INFO: u16 = 1;
    pub const IPV4_ADDRESS: u16 = 5;
    pub const IPV6_ADDRESS: u16 = 6;
    pub const STATE_COOKIE: u16 = 7;
    pub const UNRECOGNIZED: u16 = 8;
    pub const COOKIE_PRESERVATIVE: u16 = 9;
    pub const HOST_NAME: u16 = 11;
    pub const SUPPORTED_ADDRESS_TYPES: u16 = 12;
    pub const ECN_CAPABLE: u16 = 0x8000;
    pub const SUPPORTED_EXTENSIONS: u16 = 0x8008;
    pub const FORWARD_TSN_SUPPORTED: u16 = 0xc000;
    pub const ADAPTATION_INDICATION: u16 = 0xc006;
}

impl Parameter {
    /// Its type.
    pub const fn kind(&self) -> u16 {
        match self {
            Self::Ipv4Address(_) => parameter_type::IPV4_ADDRESS,
            Self::Ipv6Address(_) => parameter_type::IPV6_ADDRESS,
            Self::StateCookie(_) => parameter_type::STATE_COOKIE,
            Self::Unrecognized(_) => parameter_type::UNRECOGNIZED,
            Self::CookiePreservative { .. } => parameter_type::COOKIE_PRESERVATIVE,
            Self::HostName(_) => parameter_type::HOST_NAME,
            Self::SupportedAddressTypes(_) => parameter_type::SUPPORTED_ADDRESS_TYPES,
            Self::EcnCapable => parameter_type::ECN_CAPABLE,
            Self::SupportedExtensions(_) => parameter_type::SUPPORTED_EXTENSIONS,
            Self::ForwardTsnSupported => parameter_type::FORWARD_TSN_SUPPORTED,
            Self::AdaptationIndication(_) => parameter_type::ADAPTATION_INDICATION,
            Self::Unknown(raw) => raw.kind,
        }
    }

    /// The address that it lists.
    pub const fn address(&self) -> Option<IpAddr> {
        match self {
            Self::Ipv4Address(address) => Some(IpAddr::V4(*address)),
            Self::Ipv6Address(address) => Some(IpAddr::V6(*address)),
            _ => None,
        }
    }

    /// The parameter that lists an address.
    pub const fn of_address(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::Ipv4Address(address),
            IpAddr::V6(address) => Self::Ipv6Address(address),
        }
    }

    /// The parameter with its type and length, without padding: what is reported.
    pub fn to_bytes(&self) -> Box<[u8]> {
        let mut bytes = Vec::new();
        self.emit(&mut bytes);
        bytes.truncate(self.length() as usize);
        bytes.into_boxed_slice()
    }

    /// Length in bytes with type and length, without padding.
    pub fn length(&self) -> u32 {
        let value = match self {
            Self::Ipv4Address(_) | Self::CookiePreservative { .. } | Self::AdaptationIndication(_) => 4,
            Self::Ipv6Address(_) => 16,
            Self::StateCookie(bytes) | Self::Unrecognized(bytes) | Self::HostName(bytes) => bytes.len(),
            Self::SupportedAddressTypes(types) => 2 * types.len(),
            Self::SupportedExtensions(types) => types.len(),
            Self::EcnCapable | Self::ForwardTsnSupported => 0,
            Self::Unknown(raw) => raw.value.len(),
        };
        (tlv::HEADER_LENGTH + value) as u32
    }

    fn emit(&self, out: &mut Vec<u8>) {
        tlv::emit(self.kind(), out, |out| match self {
            Self::Ipv4Address(address) => out.extend_from_slice(&address.octets()),
            Self::Ipv6Address(address) => out.extend_from_slice(&address.octets()),
            Self::StateCookie(bytes) | Self::Unrecognized(bytes) | Self::HostName(bytes) => {
                out.extend_from_slice(bytes);
            }
            Self::CookiePreservative { increment_ms: value } | Self::AdaptationIndication(value) => {
                out.extend_from_slice(&value.to_be_bytes());
            }
            Self::SupportedAddressTypes(types) => {
                types.iter().for_each(|kind| out.extend_from_slice(&kind.to_be_bytes()));
            }
            Self::SupportedExtensions(types) => out.extend_from_slice(types),
            Self::EcnCapable | Self::ForwardTsnSupported => {}
            Self::Unknown(raw) => out.extend_from_slice(&raw.value),
        });
    }

    /// `None` if the value is not one that the type can have.
    fn parse(kind: u16, value: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(value);
        match kind {
            parameter_type::IPV4_ADDRESS => {
                let address = reader.array::<4>()?;
                reader.finish(Self::Ipv4Address(address.into()))
            }
            parameter_type::IPV6_ADDRESS => {
                let address = reader.array::<16>()?;
                reader.finish(Self::Ipv6Address(address.into()))
            }
            parameter_type::STATE_COOKIE => Some(Self::StateCookie(value.into())),
            parameter_type::UNRECOGNIZED => Some(Self::Unrecognized(value.into())),
            parameter_type::COOKIE_PRESERVATIVE => {
                let increment_ms = reader.u32()?;
                reader.finish(Self::CookiePreservative { increment_ms })
            }
            parameter_type::HOST_NAME => Some(Self::HostName(value.into())),
            parameter_type::SUPPORTED_ADDRESS_TYPES => {
                let types = (0..value.len() / 2).map(|_| reader.u16()).collect::<Option<_>>()?;
                reader.finish(Self::SupportedAddressTypes(types))
            }
            parameter_type::ECN_CAPABLE => reader.finish(Self::EcnCapable),
            parameter_type::SUPPORTED_EXTENSIONS => Some(Self::SupportedExtensions(value.into())),
            parameter_type::FORWARD_TSN_SUPPORTED => reader.finish(Self::ForwardTsnSupported),
            parameter_type::ADAPTATION_INDICATION => {
                let indication = reader.u32()?;
                reader.finish(Self::AdaptationIndication(indication))
            }
            _ => Some(Self::Unknown(RawParameter { kind, value: value.into() })),
        }
    }
}

/// Bytes that parameters take, with the padding between them and without that behind the last.
pub(super) fn parameters_length(parameters: &[Parameter]) -> u32 {
    let (last, others) = match parameters.split_last() {
        Some((last, others)) => (last.length(), others),
        None => (0, parameters),
    };
    others.iter().map(|parameter| tlv::padded(parameter.length())).sum::<u32>() + last
}

/// Appends them, with the padding of the last.
pub(super) fn emit_parameters(parameters: &[Parameter], out: &mut Vec<u8>) {
    parameters.iter().for_each(|parameter| parameter.emit(out));
}

/// `None` if one is malformed.
pub(super) fn parse_parameters(bytes: &[u8]) -> Option<Vec<Parameter>> {
    tlv::walk(bytes).map(|item| item.ok().and_then(|(kind, value)| Parameter::parse(kind, value))).collect()
}

/// What an INIT or INIT ACK says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InitChunk {
    /// The tag that the other side has to put into every packet.
    pub initiate_tag: u32,
    /// Advertised receiver window, in bytes.
    pub a_rwnd: u32,
    /// Streams that the sender wants to send on.
    pub outbound_streams: u16,
    /// Streams that the sender can receive on, at most.
    pub inbound_streams: u16,
    /// TSN of the sender's first DATA chunk.
    pub initial_tsn: u32,
    /// Parameters, in their order.
    pub parameters: Vec<Parameter>,
}

impl InitChunk {
    /// Bytes of what stands in front of the parameters, behind type, flags and length.
    pub(super) const FIXED_LENGTH: usize = 16;

    /// Length of the chunk in bytes, without the padding behind.
    pub fn length(&self) -> u32 {
        CHUNK_HEADER_LENGTH + Self::FIXED_LENGTH as u32 + parameters_length(&self.parameters)
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.initiate_tag.to_be_bytes());
        out.extend_from_slice(&self.a_rwnd.to_be_bytes());
        out.extend_from_slice(&self.outbound_streams.to_be_bytes());
        out.extend_from_slice(&self.inbound_streams.to_be_bytes());
        out.extend_from_slice(&self.initial_tsn.to_be_bytes());
        emit_parameters(&self.parameters, out);
    }

    pub(super) fn parse(value: &[u8]) -> Option<Self> {
        let (fixed, parameters) = value.split_at_checked(Self::FIXED_LENGTH)?;
        let mut reader = Reader::new(fixed);
        Some(Self {
            initiate_tag: reader.u32()?,
            a_rwnd: reader.u32()?,
            outbound_streams: reader.u16()?,
            inbound_streams: reader.u16()?,
            initial_tsn: reader.u32()?,
            parameters: parse_parameters(parameters)?,
        })
    }
}
