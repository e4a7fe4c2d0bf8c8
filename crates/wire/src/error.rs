//! What can be wrong with a packet, on its way in and on its way out.

use core::fmt;

use thiserror::Error;

/// Received bytes that are no packet this crate understands. The sender, or the path, is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ParseError {
    /// The first four bits name neither IPv4 nor IPv6.
    #[error("IP version is {0}, expected 4 or 6")]
    IpVersion(u8),
    /// The bytes end before the header does, or before the end that the header announces.
    #[error("{header} header needs {needed} bytes, {available} are there")]
    Truncated {
        /// The header that announced, or by its nature has, that length.
        header: Header,
        /// Bytes it needs, counted from its own first byte.
        needed: usize,
        /// Bytes from its own first byte to the end.
        available: usize,
    },
    /// A header's length field is smaller than the header itself.
    #[error("{header} header states a length of {stated} bytes, expected at least {minimum}")]
    LengthField {
        /// The header.
        header: Header,
        /// The length it states, in bytes.
        stated: usize,
        /// The smallest length that makes sense.
        minimum: usize,
    },
    /// A checksum does not match.
    #[error("{0} checksum does not match")]
    Checksum(Header),
    /// The packet is a fragment; this crate does not reassemble.
    #[error("{0} packet is a fragment, expected a whole packet")]
    Fragment(Header),
    /// The packet carries a protocol other than TCP, UDP and SCTP.
    #[error("{header} header announces protocol {protocol}, expected TCP (6), UDP (17) or SCTP (132)")]
    Protocol {
        /// The header that announces it.
        header: Header,
        /// The IANA protocol number.
        protocol: u8,
    },
}

/// A typed packet that has no form in bytes. The caller is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EmitError {
    /// One address is IPv4, the other IPv6.
    #[error("source and destination address are of different families")]
    MixedFamilies,
    /// The payload bytes are not as many as the packet's payload description says.
    #[error("payload is described as {expected} bytes long, {given} were given")]
    PayloadLength {
        /// `payload.length` of the packet.
        expected: u32,
        /// Bytes given.
        given: usize,
    },
    /// The packet is larger than IP can express.
    #[error("packet of {needed} bytes exceeds the {limit} that its IP header can express")]
    PacketTooLong {
        /// IP length of the packet.
        needed: u32,
        /// Largest IP length of its family.
        limit: u32,
    },
    /// The TCP options take more than the 40 bytes a header has for them (RFC 9293, section 3.1).
    #[error("TCP options take {needed} bytes, the header has room for 40")]
    OptionsTooLong {
        /// Bytes they take, with padding.
        needed: u32,
    },
    /// An SCTP chunk is larger than its length field can say.
    #[error("SCTP chunk takes {needed} bytes, expected at most 65535")]
    ChunkTooLong {
        /// Bytes it takes.
        needed: u32,
    },
    /// An option lacks a field without which none of its wire forms can be written.
    #[error("{option} option lacks {missing}")]
    IncompleteOption {
        /// The option, by its name in RFC 8684.
        option: &'static str,
        /// The field that is missing.
        missing: &'static str,
    },
}

/// A protocol header, to say in an error which one is meant.
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
    /// The common header of SCTP (RFC 9260, section 3.1).
    Sctp,
    /// A chunk of SCTP (RFC 9260, section 3.2).
    SctpChunk,
}

impl fmt::Display for Header {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Ipv4 => "IPv4",
            Self::Ipv6 => "IPv6",
            Self::Ipv6Extension => "IPv6 extension",
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
            Self::Sctp => "SCTP",
            Self::SctpChunk => "SCTP chunk",
        })
    }
}
