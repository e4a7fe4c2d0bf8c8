//! Errors that close a connection (RFC 9000, section 20.1).

use subflow_wire::quic::{CloseCause, CloseFrame};

/// A mistake of the peer, or another reason for the transport to close a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportError {
    /// The server does not take the connection.
    ConnectionRefused,
    /// More data than flow control allows.
    FlowControl,
    /// A stream beyond the limit.
    StreamLimit,
    /// A frame for a stream in a state that does not permit it.
    StreamState,
    /// A final size that contradicts data or another final size.
    FinalSize,
    /// A frame that does not follow its format, or of an unknown type.
    FrameEncoding,
    /// Transport parameters that are malformed, missing or contradict the packets.
    TransportParameter,
    /// More connection identifiers than allowed.
    ConnectionIdLimit,
    /// A token of this server that does not count any more, or not for this client.
    InvalidToken,
    /// Another mistake.
    ProtocolViolation,
    /// More data of the handshake than is kept.
    CryptoBufferExceeded,
    /// The messages of the handshake are not those that are expected (`CRYPTO_ERROR` with TLS's alert
    /// `unexpected_message`).
    UnexpectedMessage,
    /// TLS has refused the handshake, with this alert (`CRYPTO_ERROR`; RFC 8446, section 6).
    Alert(u8),
    /// More packets than allowed could not be decrypted with the keys of the connection.
    AeadLimit,
}

impl TransportError {
    /// Its code.
    pub const fn code(self) -> u64 {
        match self {
            Self::ConnectionRefused => 0x02,
            Self::FlowControl => 0x03,
            Self::StreamLimit => 0x04,
            Self::StreamState => 0x05,
            Self::FinalSize => 0x06,
            Self::FrameEncoding => 0x07,
            Self::TransportParameter => 0x08,
            Self::ConnectionIdLimit => 0x09,
            Self::ProtocolViolation => 0x0a,
            Self::InvalidToken => 0x0b,
            Self::CryptoBufferExceeded => 0x0d,
            Self::AeadLimit => 0x0f,
            Self::UnexpectedMessage => 0x010a,
            Self::Alert(alert) => 0x0100 | alert as u64,
        }
    }

    /// The frame that tells the peer.
    pub(super) fn to_frame(self) -> CloseFrame {
        CloseFrame { cause: CloseCause::Transport { error_code: self.code(), frame_type: 0 }, reason: Box::default() }
    }
}

/// The frame with which an application closes a connection.
pub(super) fn application_close(error_code: u64) -> CloseFrame {
    CloseFrame { cause: CloseCause::Application { error_code }, reason: Box::default() }
}

/// The frame as Initial and Handshake packets may carry it: without the application's error (section 10.2.3).
pub(super) fn without_application(frame: CloseFrame) -> CloseFrame {
    /// `APPLICATION_ERROR`.
    const APPLICATION_ERROR: u64 = 0x0c;
    match frame.cause {
        CloseCause::Application { .. } => CloseFrame {
            cause: CloseCause::Transport { error_code: APPLICATION_ERROR, frame_type: 0 },
            reason: Box::default(),
        },
        CloseCause::Transport { .. } => frame,
    }
}
