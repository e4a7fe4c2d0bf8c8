//! What a forged packet says, relative to what its receiver expects: 0 stands for exactly that.

mod quic;

use serde::{Deserialize, Serialize};

pub use quic::{FrameForgery, LimitForgery, QuicForgery, QuicPacketType};

/// A forged packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Forgery {
    /// A TCP segment.
    Tcp(TcpForgery),
    /// An SCTP packet.
    Sctp(SctpForgery),
    /// A QUIC datagram with one packet.
    Quic(QuicForgery),
}

/// How an attacker behaves in a connection of its own, from the handshake on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Greeting {
    /// MSS that it names; `None` for no such option.
    pub mss: Option<u16>,
    /// Window scale that it names.
    pub window_scale: Option<u8>,
    /// Whether it permits SACK.
    pub sack: bool,
    /// Whether it has timestamps.
    pub timestamps: bool,
    /// Whether it speaks MPTCP.
    pub mptcp: bool,
    /// Whether it demands DSS checksums.
    pub checksum: bool,
    /// SCTP: streams it asks for and takes.
    pub streams: (u16, u16),
    /// The window that it always offers: TCP's field as it stands, or SCTP's in units of 64 bytes.
    pub window: u16,
    /// Whether it acknowledges what it gets.
    pub acknowledges: bool,
    /// Whether it answers the handshake at all.
    pub silent: bool,
}

impl Default for Greeting {
    fn default() -> Self {
        Self {
            mss: Some(1460),
            window_scale: Some(7),
            sack: true,
            timestamps: true,
            mptcp: true,
            checksum: false,
            streams: (10, 10),
            window: 1000,
            acknowledges: true,
            silent: false,
        }
    }
}

/// A TCP segment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TcpForgery {
    /// Sequence number, from the receiver's RCV.NXT.
    pub sequence: i64,
    /// Acknowledgment number, from its SND.NXT.
    pub acknowledgment: i64,
    /// Control bits, as on the wire.
    pub flags: u8,
    /// Window field.
    pub window: u16,
    /// Bytes of payload.
    pub length: u16,
    /// TSval, from the last that the receiver has seen; `None` for no timestamps.
    pub timestamp: Option<i64>,
    /// TSecr, from the last that the receiver has sent.
    pub echo: i64,
    /// MSS and window scale.
    pub syn: Option<(u16, u8)>,
    /// SACK blocks: left edge from SND.NXT, and length.
    pub sack: Vec<(i64, i64)>,
    /// DSS.
    pub dss: Option<DssForgery>,
    /// Another MPTCP option.
    pub option: Option<OptionForgery>,
}

/// A DSS option.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DssForgery {
    /// DATA_ACK, from the last data sequence number that the receiver has sent.
    pub ack: Option<i64>,
    /// Mapping.
    pub mapping: Option<MappingForgery>,
    /// DATA_FIN.
    pub fin: bool,
    /// Whether numbers have 64 bits.
    pub wide: bool,
}

/// A mapping.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MappingForgery {
    /// Data sequence number, from the one that the receiver expects.
    pub data: i64,
    /// Subflow sequence number, from that of the segment.
    pub relative: i64,
    /// Length, from that of the payload.
    pub length: i32,
    /// Whether the length is 0: an infinite mapping.
    pub infinite: bool,
    /// A checksum: right, or wrong.
    pub checksum: Option<bool>,
}

/// An MPTCP option other than DSS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum OptionForgery {
    /// MP_CAPABLE of this version, with so many keys, right or wrong ones, and a data-level length with the second.
    Capable {
        /// Version.
        version: u8,
        /// 0 to 2.
        keys: u8,
        /// Whether they are the right ones.
        right: bool,
        /// Data-level length, where there are two.
        length: Option<u16>,
    },
    /// MP_JOIN on a SYN.
    JoinSyn {
        /// Whether the token is right.
        right: bool,
        /// Address identifier.
        identifier: u8,
    },
    /// MP_JOIN on a SYN/ACK.
    JoinSynAck {
        /// Whether the HMAC is right.
        right: bool,
        /// Address identifier.
        identifier: u8,
    },
    /// MP_JOIN on an ACK.
    JoinAck {
        /// Whether the HMAC is right.
        right: bool,
    },
    /// ADD_ADDR, or its echo.
    AddAddress {
        /// Address identifier.
        identifier: u8,
        /// The attacker's address of this index; from 0xfffd on, the server's.
        address: u16,
        /// Port.
        port: Option<u16>,
        /// Whether the HMAC is right; `None` for an echo.
        right: Option<bool>,
    },
    /// REMOVE_ADDR of so many identifiers, from this one on.
    RemoveAddress {
        /// First identifier.
        identifier: u8,
        /// How many, at least 1.
        count: u8,
    },
    /// MP_PRIO.
    Priority {
        /// B.
        backup: bool,
    },
    /// MP_FAIL, with a data sequence number from the one that the receiver expects.
    Fail(i64),
    /// MP_FASTCLOSE.
    FastClose {
        /// Whether the key is right.
        right: bool,
    },
    /// MP_TCPRST with this reason.
    Reset(u8),
}

/// An SCTP packet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SctpForgery {
    /// The verification tag, as a difference from the right one.
    pub tag: u32,
    /// Whether the tag is 0, as INIT has it.
    pub zero_tag: bool,
    /// Chunks.
    pub chunks: Vec<ChunkForgery>,
}

/// A chunk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ChunkForgery {
    /// DATA.
    Data {
        /// TSN, from the one that the receiver expects.
        tsn: i64,
        /// Stream.
        stream: u16,
        /// Stream sequence number.
        sequence: u16,
        /// Flags: I, U, B, E.
        flags: u8,
        /// Bytes.
        length: u16,
    },
    /// SACK, or NR-SACK.
    Sack {
        /// Cumulative TSN, from the last that the receiver has sent.
        cumulative: i64,
        /// Window.
        window: u32,
        /// Gap blocks.
        gaps: Vec<(u16, u16)>,
        /// NR gap blocks; `None` for a SACK.
        kept: Option<Vec<(u16, u16)>>,
        /// Duplicate TSNs.
        duplicates: u8,
    },
    /// FORWARD-TSN.
    ForwardTsn {
        /// New cumulative TSN, from the one that the receiver expects.
        cumulative: i64,
        /// Streams and sequence numbers.
        streams: Vec<(u16, u16)>,
    },
    /// INIT, or INIT ACK.
    Init {
        /// Whether it is an INIT ACK.
        acknowledges: bool,
        /// Initiate tag.
        tag: u32,
        /// Window.
        window: u32,
        /// Streams: outbound, inbound.
        streams: (u16, u16),
        /// Parameters.
        parameters: Vec<ParameterForgery>,
    },
    /// COOKIE ECHO with a cookie that was seen, one bit of which may be flipped; or with any bytes.
    CookieEcho {
        /// Whether it is the cookie that was seen last.
        seen: bool,
        /// The bit that is flipped, if any.
        flip: Option<u16>,
    },
    /// COOKIE ACK.
    CookieAck,
    /// HEARTBEAT with so many bytes.
    Heartbeat(u8),
    /// HEARTBEAT ACK: with what the receiver has sent, or with so many zero bytes.
    HeartbeatAck(Option<u8>),
    /// ABORT.
    Abort {
        /// T.
        reflected: bool,
    },
    /// SHUTDOWN with a cumulative TSN, from the last that the receiver has sent.
    Shutdown(i64),
    /// SHUTDOWN ACK.
    ShutdownAck,
    /// SHUTDOWN COMPLETE.
    ShutdownComplete {
        /// T.
        reflected: bool,
    },
    /// ERROR with the cause of this code and so many bytes.
    Error(u16, u8),
    /// A chunk of any type, flags, and bytes.
    Raw(u8, u8, Vec<u8>),
}

/// A parameter of INIT and INIT ACK.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ParameterForgery {
    /// An address of the attacker's.
    Address(u16),
    /// A cookie of so many bytes.
    Cookie(u8),
    /// A host name.
    HostName,
    /// Supported extensions.
    Extensions(Vec<u8>),
    /// FORWARD-TSN supported.
    ForwardTsn,
    /// A parameter of any type, and so many bytes.
    Raw(u16, u8),
}
