//! Frames (RFC 9000, section 19, and extensions).

use super::{AckFrame, ConnectionId, CryptoFrame, DatagramFrame, Direction, StreamFrame, StreamId};
use crate::Payload;

/// Bytes of a stateless reset token (RFC 9000, section 10.3).
pub const STATELESS_RESET_TOKEN_LENGTH: usize = 16;

/// One frame of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// This many bytes of zero, each of which is a PADDING frame; at least one.
    Padding(u32),
    /// Asks for an acknowledgment.
    Ping,
    /// Acknowledges packets: ACK, or PATH_ACK for those of one path.
    Ack(AckFrame),
    /// Ends the sending part of a stream at once.
    ResetStream {
        /// The stream.
        stream: StreamId,
        /// Why; the application defines it.
        error_code: u64,
        /// Size of the stream in bytes, which counts for flow control.
        final_size: u64,
    },
    /// Asks the peer to stop sending on a stream.
    StopSending {
        /// The stream.
        stream: StreamId,
        /// Why; the application defines it.
        error_code: u64,
    },
    /// Messages of the handshake.
    Crypto(CryptoFrame),
    /// A token for the Initial packets of a later connection.
    NewToken(Box<[u8]>),
    /// Data of a stream.
    Stream(StreamFrame),
    /// Bytes that the peer may send on all streams together.
    MaxData(u64),
    /// Bytes that the peer may send on one stream.
    MaxStreamData {
        /// The stream.
        stream: StreamId,
        /// Bytes since its beginning.
        maximum: u64,
    },
    /// Streams that the peer may open in one direction.
    MaxStreams {
        /// The direction.
        direction: Direction,
        /// Their number since the beginning.
        maximum: u64,
    },
    /// The connection's flow control blocks data.
    DataBlocked(u64),
    /// A stream's flow control blocks data.
    StreamDataBlocked {
        /// The stream.
        stream: StreamId,
        /// The limit, in bytes.
        limit: u64,
    },
    /// The limit of streams blocks the opening of one.
    StreamsBlocked {
        /// The direction.
        direction: Direction,
        /// The limit.
        limit: u64,
    },
    /// A further connection identifier; with PATH_NEW_CONNECTION_ID, one for a path.
    NewConnectionId(Box<NewConnectionIdFrame>),
    /// A connection identifier is not used any more.
    RetireConnectionId {
        /// The path of the identifier, with PATH_RETIRE_CONNECTION_ID.
        path: Option<u64>,
        /// Its sequence number.
        sequence: u64,
    },
    /// Asks the peer to send these bytes back on the same path.
    PathChallenge([u8; 8]),
    /// Answers PATH_CHALLENGE with the bytes it had.
    PathResponse([u8; 8]),
    /// Closes the connection.
    ConnectionClose(Box<CloseFrame>),
    /// The server has confirmed the handshake.
    HandshakeDone,
    /// An unreliable datagram of the application.
    Datagram(DatagramFrame),
    /// Asks for an acknowledgment without delay (draft-ietf-quic-ack-frequency).
    ImmediateAck,
    /// Says how seldom the peer may acknowledge (draft-ietf-quic-ack-frequency).
    AckFrequency {
        /// Number of this frame: a later one replaces an earlier one.
        sequence: u64,
        /// Ack-eliciting packets that need no acknowledgment yet.
        eliciting_threshold: u64,
        /// The longest delay of an acknowledgment, in microseconds.
        max_ack_delay: u64,
        /// Reordering, in packets, from which on an acknowledgment is sent at once; 0: never, 1: always.
        reordering_threshold: u64,
    },
    /// A path is not used any more.
    PathAbandon {
        /// The path.
        path: u64,
        /// Why.
        error_code: u64,
    },
    /// Whether the peer should use a path: PATH_STATUS_AVAILABLE or PATH_STATUS_BACKUP.
    PathStatus {
        /// The path.
        path: u64,
        /// Number of this frame among those of the path: a later one replaces an earlier one.
        sequence: u64,
        /// Whether the path is available, not a backup.
        available: bool,
    },
    /// The highest path identifier that the peer may use.
    MaxPathId(u64),
    /// The highest path identifier keeps a path from being opened.
    PathsBlocked(u64),
    /// A path cannot be opened because there is no connection identifier for it.
    PathCidsBlocked {
        /// The path.
        path: u64,
        /// The sequence number that the next connection identifier would have.
        next_sequence: u64,
    },
    /// The rest of a packet, from a frame on whose type is unknown or whose contents do not follow its format. It closes
    /// the connection (RFC 9000, section 12.4).
    Invalid(Box<[u8]>),
}

/// A further connection identifier of the sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewConnectionIdFrame {
    /// The path for which it is, with PATH_NEW_CONNECTION_ID.
    pub path: Option<u64>,
    /// Its number.
    pub sequence: u64,
    /// The peer retires all identifiers with smaller numbers.
    pub retire_prior_to: u64,
    /// The identifier, of 1 to 20 bytes.
    pub connection_id: ConnectionId,
    /// What a stateless reset to this identifier contains.
    pub stateless_reset_token: [u8; STATELESS_RESET_TOKEN_LENGTH],
}

/// Closes a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseFrame {
    /// Who found a reason to close.
    pub cause: CloseCause,
    /// An explanation for people, in UTF-8.
    pub reason: Box<[u8]>,
}

/// Why a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseCause {
    /// The transport: an error of section 20.1, and the type of the frame that caused it, or 0.
    Transport {
        /// The error.
        error_code: u64,
        /// The type of the frame.
        frame_type: u64,
    },
    /// The application, whose error it is.
    Application {
        /// The error.
        error_code: u64,
    },
}

/// Types of frames (IANA, "QUIC Frame Types"). STREAM, DATAGRAM, ACK and their like have further types above these.
pub mod frame_type {
    #![allow(missing_docs, reason = "the names are those of the registry")]
    pub const PADDING: u64 = 0x00;
    pub const PING: u64 = 0x01;
    pub const ACK: u64 = 0x02;
    pub const ACK_ECN: u64 = 0x03;
    pub const RESET_STREAM: u64 = 0x04;
    pub const STOP_SENDING: u64 = 0x05;
    pub const CRYPTO: u64 = 0x06;
    pub const NEW_TOKEN: u64 = 0x07;
    pub const STREAM: u64 = 0x08;
    pub const STREAM_LAST: u64 = 0x0f;
    pub const MAX_DATA: u64 = 0x10;
    pub const MAX_STREAM_DATA: u64 = 0x11;
    pub const MAX_STREAMS_BIDI: u64 = 0x12;
    pub const MAX_STREAMS_UNI: u64 = 0x13;
    pub const DATA_BLOCKED: u64 = 0x14;
    pub const STREAM_DATA_BLOCKED: u64 = 0x15;
    pub const STREAMS_BLOCKED_BIDI: u64 = 0x16;
    pub const STREAMS_BLOCKED_UNI: u64 = 0x17;
    pub const NEW_CONNECTION_ID: u64 = 0x18;
    pub const RETIRE_CONNECTION_ID: u64 = 0x19;
    pub const PATH_CHALLENGE: u64 = 0x1a;
    pub const PATH_RESPONSE: u64 = 0x1b;
    pub const CONNECTION_CLOSE: u64 = 0x1c;
    pub const CONNECTION_CLOSE_APPLICATION: u64 = 0x1d;
    pub const HANDSHAKE_DONE: u64 = 0x1e;
    pub const IMMEDIATE_ACK: u64 = 0x1f;
    pub const DATAGRAM: u64 = 0x30;
    pub const DATAGRAM_LEN: u64 = 0x31;
    pub const PATH_ACK: u64 = 0x3e;
    pub const PATH_ACK_ECN: u64 = 0x3f;
    pub const ACK_FREQUENCY: u64 = 0xaf;
    pub const PATH_ABANDON: u64 = 0x3e75;
    pub const PATH_STATUS_BACKUP: u64 = 0x3e76;
    pub const PATH_STATUS_AVAILABLE: u64 = 0x3e77;
    pub const PATH_NEW_CONNECTION_ID: u64 = 0x3e78;
    pub const PATH_RETIRE_CONNECTION_ID: u64 = 0x3e79;
    pub const MAX_PATH_ID: u64 = 0x3e7a;
    pub const PATHS_BLOCKED: u64 = 0x3e7b;
    pub const PATH_CIDS_BLOCKED: u64 = 0x3e7c;
}

impl Frame {
    /// Whether its packet has to be acknowledged (RFC 9002, section 2).
    pub const fn is_ack_eliciting(&self) -> bool {
        !matches!(self, Self::Padding(_) | Self::Ack(_) | Self::ConnectionClose(_))
    }

    /// What a frame with data of the application carries.
    #[inline]
    pub const fn payload(&self) -> Option<&Payload> {
        match self {
            Self::Stream(stream) => Some(&stream.payload),
            Self::Datagram(datagram) => Some(&datagram.payload),
            _ => None,
        }
    }

    /// Its type. That of [`Invalid`](Self::Invalid) is unknown, 0 here.
    pub const fn kind(&self) -> u64 {
        match self {
            Self::Padding(_) | Self::Invalid(_) => frame_type::PADDING,
            Self::Ping => frame_type::PING,
            Self::Ack(ack) => {
                let base = if ack.path.is_some() { frame_type::PATH_ACK } else { frame_type::ACK };
                base + ack.ecn.is_some() as u64
            }
            Self::ResetStream { .. } => frame_type::RESET_STREAM,
            Self::StopSending { .. } => frame_type::STOP_SENDING,
            Self::Crypto(_) => frame_type::CRYPTO,
            Self::NewToken(_) => frame_type::NEW_TOKEN,
            Self::Stream(stream) => frame_type::STREAM + stream.type_bits(),
            Self::MaxData(_) => frame_type::MAX_DATA,
            Self::MaxStreamData { .. } => frame_type::MAX_STREAM_DATA,
            Self::MaxStreams { direction, .. } => frame_type::MAX_STREAMS_BIDI + direction.bit(),
            Self::DataBlocked(_) => frame_type::DATA_BLOCKED,
            Self::StreamDataBlocked { .. } => frame_type::STREAM_DATA_BLOCKED,
            Self::StreamsBlocked { direction, .. } => frame_type::STREAMS_BLOCKED_BIDI + direction.bit(),
            Self::NewConnectionId(id) if id.path.is_some() => frame_type::PATH_NEW_CONNECTION_ID,
            Self::NewConnectionId(_) => frame_type::NEW_CONNECTION_ID,
            Self::RetireConnectionId { path: Some(_), .. } => frame_type::PATH_RETIRE_CONNECTION_ID,
            Self::RetireConnectionId { path: None, .. } => frame_type::RETIRE_CONNECTION_ID,
            Self::PathChallenge(_) => frame_type::PATH_CHALLENGE,
            Self::PathResponse(_) => frame_type::PATH_RESPONSE,
            Self::ConnectionClose(close) => match close.cause {
                CloseCause::Transport { .. } => frame_type::CONNECTION_CLOSE,
                CloseCause::Application { .. } => frame_type::CONNECTION_CLOSE_APPLICATION,
            },
            Self::HandshakeDone => frame_type::HANDSHAKE_DONE,
            Self::Datagram(datagram) => frame_type::DATAGRAM + datagram.has_length as u64,
            Self::ImmediateAck => frame_type::IMMEDIATE_ACK,
            Self::AckFrequency { .. } => frame_type::ACK_FREQUENCY,
            Self::PathAbandon { .. } => frame_type::PATH_ABANDON,
            Self::PathStatus { available: true, .. } => frame_type::PATH_STATUS_AVAILABLE,
            Self::PathStatus { available: false, .. } => frame_type::PATH_STATUS_BACKUP,
            Self::MaxPathId(_) => frame_type::MAX_PATH_ID,
            Self::PathsBlocked(_) => frame_type::PATHS_BLOCKED,
            Self::PathCidsBlocked { .. } => frame_type::PATH_CIDS_BLOCKED,
        }
    }
}
