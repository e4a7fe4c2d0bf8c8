//! Errors of parsing and writing packets.

use core::fmt;

use thiserror::Error;

/// Received bytes are not a packet that this crate supports. The error is the sender's or the path's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ParseError {
    /// The version field is neither 4 nor 6.
    #[error("IP version is {0}, expected 4 or 6")]
    IpVersion(u8),
    /// The bytes end within the header, or before the length that the header states.
    #[error("{header} header needs {needed} bytes, {available} are there")]
    Truncated {
        /// The header that states or has that length.
        header: Header,
        /// Bytes needed, counted from its first byte.
        needed: usize,
        /// Bytes available, counted from its first byte.
        available: usize,
    },
    /// A header's length field is smaller than the header itself.
    #[error("{header} header states a length of {stated} bytes, expected at least {minimum}")]
    LengthField {
        /// The header.
        header: Header,
        /// The length it states, in bytes.
        stated: usize,
        /// The smallest valid length.
        minimum: usize,
    },
    /// A field has a value that its format excludes.
    #[error("{header} header: {field} is not valid")]
    Field {
        /// The header.
        header: Header,
        /// The field, by its name in the specification.
        field: &'static str,
    },
    /// A checksum does not match.
    #[error("{0} checksum does not match")]
    Checksum(Header),
    /// The packet is a fragment; this crate does not reassemble fragments.
    #[error("{0} packet is a fragment, expected a whole packet")]
    Fragment(Header),
    /// The packet carries a protocol other than TCP, UDP and SCTP.
    #[error("{header} header announces protocol {protocol}, expected TCP (6), UDP (17) or SCTP (132)")]
    Protocol {
        /// The header that contains it.
        header: Header,
        /// The IANA protocol number.
        protocol: u8,
    },
}

/// A typed packet cannot be written as bytes. The error is the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EmitError {
    /// One address is IPv4, the other IPv6.
    #[error("source and destination address are of different families")]
    MixedFamilies,
    /// The number of payload bytes differs from the packet's payload description.
    #[error("payload is described as {expected} bytes long, {given} were given")]
    PayloadLength {
        /// `payload.length` of the packet.
        expected: u32,
        /// Bytes given.
        given: usize,
    },
    /// The packet is larger than the IP length field allows.
    #[error("packet of {needed} bytes exceeds the {limit} that its IP header can express")]
    PacketTooLong {
        /// IP length of the packet.
        needed: u32,
        /// Largest IP length of its family.
        limit: u32,
    },
    /// The TCP options take more than the 40 bytes available in a header (RFC 9293, section 3.1).
    #[error("TCP options take {needed} bytes, the header has room for 40")]
    OptionsTooLong {
        /// Bytes needed, with padding.
        needed: u32,
    },
    /// An SCTP chunk is larger than its length field allows.
    #[error("SCTP chunk takes {needed} bytes, expected at most 65535")]
    ChunkTooLong {
        /// Bytes needed.
        needed: u32,
    },
    /// A value is larger than a variable-length integer of QUIC can express.
    #[error("value {value} exceeds 2^62 - 1, the largest variable-length integer")]
    VarintTooLarge {
        /// The value.
        value: u64,
    },
    /// An option lacks a field that all of its wire formats need.
    #[error("{option} option lacks {missing}")]
    IncompleteOption {
        /// The option, by its name in RFC 8684.
        option: &'static str,
        /// The missing field.
        missing: &'static str,
    },
}

/// The protocol header to which an error refers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// IPv4 (RFC 791).
    Ipv4,
    /// IPv6 (RFC 8200).
    Ipv6,
    /// An IPv6 extension header (RFC 8200, section 4).
    Ipv6Extension,
    /// TCP (RFC 9293).
    Tcp,
    /// UDP (RFC 768).
    Udp,
    /// ICMP (RFC 792) or ICMPv6 (RFC 4443).
    Icmp,
    /// The common header of SCTP (RFC 9260, section 3.1).
    Sctp,
    /// A chunk of SCTP (RFC 9260, section 3.2).
    SctpChunk,
    /// A packet of QUIC (RFC 9000, section 17).
    Quic,
    /// Transport parameters of QUIC (RFC 9000, section 18).
    QuicTransportParameters,
}

impl fmt::Display for Header {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Ipv4 => "IPv4",
            Self::Ipv6 => "IPv6",
            Self::Ipv6Extension => "IPv6 extension",
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
            Self::Icmp => "ICMP",
            Self::Sctp => "SCTP",
            Self::SctpChunk => "SCTP chunk",
            Self::Quic => "QUIC",
            Self::QuicTransportParameters => "QUIC transport parameter",
        })
    }
}
