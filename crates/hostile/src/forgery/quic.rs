//! What a forged QUIC datagram says, relative to what its receiver expects.

use serde::{Deserialize, Serialize};

/// The type of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuicPacketType {
    /// Initial.
    Initial,
    /// Handshake.
    Handshake,
    /// 1-RTT.
    #[default]
    OneRtt,
    /// 0-RTT.
    ZeroRtt,
    /// Retry.
    Retry,
    /// Version Negotiation.
    VersionNegotiation,
}

/// A QUIC datagram with one packet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuicForgery {
    /// The type of the packet.
    pub packet: QuicPacketType,
    /// Its number, from the one that comes next.
    pub number: i64,
    /// Bytes of a token; an odd number sets the key phase of a 1-RTT packet.
    pub token: u8,
    /// Bytes to which it is padded.
    pub length: u16,
    /// Its frames.
    pub frames: Vec<FrameForgery>,
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FrameForgery {
    /// So many bytes of PADDING.
    Padding(u16),
    /// PING.
    Ping,
    /// ACK, or PATH_ACK with a path.
    Ack {
        /// The path.
        path: Option<u64>,
        /// The largest number, from the last that the receiver has sent.
        largest: i64,
        /// Further packets of the first range, and of the second one.
        first: u64,
        /// Gap to a second range; 0 for none.
        gap: u64,
        /// A count of CE.
        ecn: Option<u64>,
    },
    /// STREAM.
    Stream {
        /// The stream.
        stream: u64,
        /// Offset, from the end of what was sent on the first stream.
        offset: i64,
        /// Bytes.
        length: u16,
        /// FIN.
        fin: bool,
    },
    /// CRYPTO, whose first byte is a type of message.
    Crypto {
        /// Offset.
        offset: u64,
        /// Bytes.
        length: u16,
        /// The first byte.
        kind: u8,
    },
    /// RESET_STREAM.
    Reset {
        /// The stream.
        stream: u64,
        /// Final size, from the end of what was sent on the first stream.
        size: i64,
    },
    /// STOP_SENDING.
    Stop {
        /// The stream.
        stream: u64,
    },
    /// A frame with a limit.
    Limit {
        /// Which.
        kind: LimitForgery,
        /// The stream, or the path, that it names.
        stream: u64,
        /// The limit.
        value: u64,
    },
    /// NEW_CONNECTION_ID, or PATH_NEW_CONNECTION_ID with a path.
    NewId {
        /// The path.
        path: Option<u64>,
        /// Sequence number.
        sequence: u64,
        /// Retire Prior To, at most the sequence number.
        retire: u64,
        /// Bytes of the identifier.
        length: u8,
    },
    /// RETIRE_CONNECTION_ID, or PATH_RETIRE_CONNECTION_ID with a path.
    RetireId {
        /// The path.
        path: Option<u64>,
        /// Sequence number.
        sequence: u64,
    },
    /// PATH_CHALLENGE of eight such bytes.
    Challenge(u8),
    /// PATH_RESPONSE.
    Response {
        /// Whether it answers the receiver's latest challenge.
        right: bool,
    },
    /// CONNECTION_CLOSE.
    Close {
        /// Whether it is an application's.
        application: bool,
        /// The error.
        error_code: u64,
    },
    /// HANDSHAKE_DONE.
    HandshakeDone,
    /// NEW_TOKEN of so many bytes.
    Token(u8),
    /// DATAGRAM of so many bytes.
    Datagram(u16),
    /// PATH_ABANDON.
    Abandon {
        /// The path.
        path: u64,
        /// The error.
        error_code: u64,
    },
    /// PATH_STATUS_AVAILABLE or PATH_STATUS_BACKUP.
    Status {
        /// The path.
        path: u64,
        /// Sequence number.
        sequence: u64,
        /// Whether the path is available.
        available: bool,
    },
    /// Any bytes.
    Raw(Vec<u8>),
}

/// A frame with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitForgery {
    /// MAX_DATA.
    Data,
    /// MAX_STREAM_DATA.
    StreamData,
    /// MAX_STREAMS of bidirectional streams.
    Streams,
    /// MAX_STREAMS of unidirectional streams.
    StreamsOneWay,
    /// DATA_BLOCKED.
    DataBlocked,
    /// STREAM_DATA_BLOCKED.
    StreamDataBlocked,
    /// STREAMS_BLOCKED.
    StreamsBlocked,
    /// MAX_PATH_ID.
    Paths,
    /// PATHS_BLOCKED.
    PathsBlocked,
    /// PATH_CIDS_BLOCKED.
    PathIdsBlocked,
}
