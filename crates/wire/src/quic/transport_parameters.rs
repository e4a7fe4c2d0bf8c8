//! Transport parameters (RFC 9000, section 18, and extensions).

use core::net::{SocketAddrV4, SocketAddrV6};

use super::frame::STATELESS_RESET_TOKEN_LENGTH;
use super::{ConnectionId, Emitter};
use crate::error::{EmitError, Header, ParseError};
use crate::reader::Reader;

/// Identifiers of transport parameters (IANA, "QUIC Transport Parameters").
mod id {
    pub(super) const ORIGINAL_DESTINATION_CONNECTION_ID: u64 = 0x00;
    pub(super) const MAX_IDLE_TIMEOUT: u64 = 0x01;
    pub(super) const STATELESS_RESET_TOKEN: u64 = 0x02;
    pub(super) const MAX_UDP_PAYLOAD_SIZE: u64 = 0x03;
    pub(super) const INITIAL_MAX_DATA: u64 = 0x04;
    pub(super) const INITIAL_MAX_STREAM_DATA_BIDI_LOCAL: u64 = 0x05;
    pub(super) const INITIAL_MAX_STREAM_DATA_BIDI_REMOTE: u64 = 0x06;
    pub(super) const INITIAL_MAX_STREAM_DATA_UNI: u64 = 0x07;
    pub(super) const INITIAL_MAX_STREAMS_BIDI: u64 = 0x08;
    pub(super) const INITIAL_MAX_STREAMS_UNI: u64 = 0x09;
    pub(super) const ACK_DELAY_EXPONENT: u64 = 0x0a;
    pub(super) const MAX_ACK_DELAY: u64 = 0x0b;
    pub(super) const DISABLE_ACTIVE_MIGRATION: u64 = 0x0c;
    pub(super) const PREFERRED_ADDRESS: u64 = 0x0d;
    pub(super) const ACTIVE_CONNECTION_ID_LIMIT: u64 = 0x0e;
    pub(super) const INITIAL_SOURCE_CONNECTION_ID: u64 = 0x0f;
    pub(super) const RETRY_SOURCE_CONNECTION_ID: u64 = 0x10;
    pub(super) const MAX_DATAGRAM_FRAME_SIZE: u64 = 0x20;
    pub(super) const INITIAL_MAX_PATH_ID: u64 = 0x3e;
    pub(super) const MIN_ACK_DELAY: u64 = 0xff04_de1b;
}

/// What one end says about itself in the handshake. The default is what holds for an end that says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransportParameters {
    /// The destination of the client's first packet; only a server says it.
    pub original_destination_connection_id: Option<ConnectionId>,
    /// The idle time after which the end closes the connection, in milliseconds; 0: never.
    pub max_idle_timeout: u64,
    /// What a stateless reset of the first connection identifier contains; only a server says it.
    pub stateless_reset_token: Option<[u8; STATELESS_RESET_TOKEN_LENGTH]>,
    /// The largest UDP payload that the end takes, in bytes, at least 1200.
    pub max_udp_payload_size: u64,
    /// Bytes that the peer may send on all streams together.
    pub initial_max_data: u64,
    /// Bytes that the peer may send on each bidirectional stream that this end opens.
    pub initial_max_stream_data_bidi_local: u64,
    /// Bytes that the peer may send on each bidirectional stream that it opens itself.
    pub initial_max_stream_data_bidi_remote: u64,
    /// Bytes that the peer may send on each unidirectional stream.
    pub initial_max_stream_data_uni: u64,
    /// Bidirectional streams that the peer may open.
    pub initial_max_streams_bidi: u64,
    /// Unidirectional streams that the peer may open.
    pub initial_max_streams_uni: u64,
    /// The exponent of two by which delays in this end's acknowledgments are divided, at most 20.
    pub ack_delay_exponent: u64,
    /// The longest delay of this end's acknowledgments, in milliseconds, below 2^14.
    pub max_ack_delay: u64,
    /// Whether the peer shall stay at its address.
    pub disable_active_migration: bool,
    /// Where the client shall continue; only a server says it.
    pub preferred_address: Option<Box<PreferredAddress>>,
    /// Connection identifiers of the peer that the end keeps, at least 2.
    pub active_connection_id_limit: u64,
    /// The source of the end's first packet.
    pub initial_source_connection_id: Option<ConnectionId>,
    /// The source of the server's Retry packet; only a server says it.
    pub retry_source_connection_id: Option<ConnectionId>,
    /// The largest DATAGRAM frame that the end takes, in bytes; 0: none (RFC 9221, section 3).
    pub max_datagram_frame_size: u64,
    /// The highest path identifier that the peer may use at first, below 2^32; `None` without multipath
    /// (draft-ietf-quic-multipath).
    pub initial_max_path_id: Option<u64>,
    /// The shortest delay of acknowledgments that the peer may ask for, in microseconds; `None` if it may not
    /// (draft-ietf-quic-ack-frequency).
    pub min_ack_delay: Option<u64>,
}

/// Where a server would rather be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreferredAddress {
    /// With IPv4; all zero if there is none.
    pub v4: SocketAddrV4,
    /// With IPv6; all zero if there is none.
    pub v6: SocketAddrV6,
    /// The connection identifier to use there.
    pub connection_id: ConnectionId,
    /// What a stateless reset of it contains.
    pub stateless_reset_token: [u8; STATELESS_RESET_TOKEN_LENGTH],
}

impl Default for TransportParameters {
    fn default() -> Self {
        Self {
            original_destination_connection_id: None,
            max_idle_timeout: 0,
            stateless_reset_token: None,
            max_udp_payload_size: 65_527,
            initial_max_data: 0,
            initial_max_stream_data_bidi_local: 0,
            initial_max_stream_data_bidi_remote: 0,
            initial_max_stream_data_uni: 0,
            initial_max_streams_bidi: 0,
            initial_max_streams_uni: 0,
            ack_delay_exponent: 3,
            max_ack_delay: 25,
            disable_active_migration: false,
            preferred_address: None,
            active_connection_id_limit: 2,
            initial_source_connection_id: None,
            retry_source_connection_id: None,
            max_datagram_frame_size: 0,
            initial_max_path_id: None,
            min_ack_delay: None,
        }
    }
}

impl TransportParameters {
    /// The integers that have a default, with their identifiers.
    fn integers(&mut self) -> [(u64, &mut u64); 12] {
        [
            (id::MAX_IDLE_TIMEOUT, &mut self.max_idle_timeout),
            (id::MAX_UDP_PAYLOAD_SIZE, &mut self.max_udp_payload_size),
            (id::INITIAL_MAX_DATA, &mut self.initial_max_data),
            (id::INITIAL_MAX_STREAM_DATA_BIDI_LOCAL, &mut self.initial_max_stream_data_bidi_local),
            (id::INITIAL_MAX_STREAM_DATA_BIDI_REMOTE, &mut self.initial_max_stream_data_bidi_remote),
            (id::INITIAL_MAX_STREAM_DATA_UNI, &mut self.initial_max_stream_data_uni),
            (id::INITIAL_MAX_STREAMS_BIDI, &mut self.initial_max_streams_bidi),
            (id::INITIAL_MAX_STREAMS_UNI, &mut self.initial_max_streams_uni),
            (id::ACK_DELAY_EXPONENT, &mut self.ack_delay_exponent),
            (id::MAX_ACK_DELAY, &mut self.max_ack_delay),
            (id::ACTIVE_CONNECTION_ID_LIMIT, &mut self.active_connection_id_limit),
            (id::MAX_DATAGRAM_FRAME_SIZE, &mut self.max_datagram_frame_size),
        ]
    }

    /// Appends them as they stand in the handshake (section 18). What has its default is left out.
    ///
    /// # Errors
    ///
    /// A value is too large for its format. Then `out` is unchanged.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let start = out.len();
        let mut emitter = Emitter::new(out);
        let (mut own, mut defaults) = (self.clone(), Self::default());
        let integers = own.integers().into_iter().zip(defaults.integers());
        let given = integers.filter(|((_, own), (_, default))| own != default).map(|((id, own), _)| (id, *own));
        let optional = [(id::INITIAL_MAX_PATH_ID, self.initial_max_path_id), (id::MIN_ACK_DELAY, self.min_ack_delay)];
        for (id, value) in given.chain(optional.into_iter().filter_map(|(id, value)| Some((id, value?)))) {
            emitter.varint(id);
            emitter.varint(super::varint_length(value).into());
            emitter.varint(value);
        }
        for (id, connection_id) in [
            (id::ORIGINAL_DESTINATION_CONNECTION_ID, self.original_destination_connection_id),
            (id::INITIAL_SOURCE_CONNECTION_ID, self.initial_source_connection_id),
            (id::RETRY_SOURCE_CONNECTION_ID, self.retry_source_connection_id),
        ] {
            if let Some(connection_id) = connection_id {
                emitter.varint(id);
                emitter.counted_bytes(connection_id.as_bytes());
            }
        }
        if let Some(token) = self.stateless_reset_token {
            emitter.varint(id::STATELESS_RESET_TOKEN);
            emitter.counted_bytes(&token);
        }
        if self.disable_active_migration {
            emitter.varint(id::DISABLE_ACTIVE_MIGRATION);
            emitter.counted_bytes(&[]);
        }
        if let Some(preferred) = &self.preferred_address {
            emitter.varint(id::PREFERRED_ADDRESS);
            preferred.emit(&mut emitter);
        }
        let result = emitter.finish();
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    /// Reads the parameters that `bytes` consist of. Those of other identifiers are ignored (section 7.4.2).
    ///
    /// # Errors
    ///
    /// One is cut short, comes twice, or has a value that its definition excludes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let (mut parameters, mut seen) = (Self::default(), Vec::new());
        let mut reader = Reader::new(bytes);
        while reader.remaining() > 0 {
            let available = reader.remaining();
            let entry = reader.varint().zip(reader.varint());
            let entry = entry.and_then(|(id, length)| Some((id, reader.bytes(usize::try_from(length).ok()?)?)));
            let header = Header::QuicTransportParameters;
            let truncated = ParseError::Truncated { header, needed: available + 1, available };
            let (id, value) = entry.ok_or(truncated)?;
            if seen.contains(&id) {
                return Err(ParseError::Field { header, field: "identifier that comes twice" });
            }
            seen.push(id);
            parameters.set(id, value).ok_or(ParseError::Field { header, field: "value" })?;
        }
        let is_valid = parameters.max_udp_payload_size >= 1200
            && parameters.ack_delay_exponent <= 20
            && parameters.max_ack_delay < 1 << 14
            && parameters.active_connection_id_limit >= 2
            && parameters.initial_max_streams_bidi.max(parameters.initial_max_streams_uni) <= 1 << 60
            && parameters.initial_max_path_id.is_none_or(|most| most <= u32::MAX.into());
        match is_valid {
            true => Ok(parameters),
            false => Err(ParseError::Field { header: Header::QuicTransportParameters, field: "value" }),
        }
    }

    /// `None` if the value does not follow the format of its parameter.
    fn set(&mut self, id: u64, value: &[u8]) -> Option<()> {
        let integer = || {
            let mut reader = Reader::new(value);
            let integer = reader.varint()?;
            reader.finish(integer)
        };
        if let Some((_, place)) = self.integers().into_iter().find(|&(of, _)| of == id) {
            *place = integer()?;
            return Some(());
        }
        match id {
            id::ORIGINAL_DESTINATION_CONNECTION_ID => {
                self.original_destination_connection_id = Some(ConnectionId::new(value)?);
            }
            id::INITIAL_SOURCE_CONNECTION_ID => self.initial_source_connection_id = Some(ConnectionId::new(value)?),
            id::RETRY_SOURCE_CONNECTION_ID => self.retry_source_connection_id = Some(ConnectionId::new(value)?),
            id::STATELESS_RESET_TOKEN => self.stateless_reset_token = Some(value.try_into().ok()?),
            id::DISABLE_ACTIVE_MIGRATION => self.disable_active_migration = value.is_empty().then_some(true)?,
            id::PREFERRED_ADDRESS => self.preferred_address = Some(Box::new(PreferredAddress::parse(value)?)),
            id::INITIAL_MAX_PATH_ID => self.initial_max_path_id = Some(integer()?),
            id::MIN_ACK_DELAY => self.min_ack_delay = Some(integer()?),
            _ => {}
        }
        Some(())
    }
}

impl PreferredAddress {
    /// Bytes beside the connection identifier.
    const FIXED_LENGTH: u64 = 4 + 2 + 16 + 2 + 1 + STATELESS_RESET_TOKEN_LENGTH as u64;

    fn emit(&self, out: &mut Emitter<'_>) {
        out.varint(Self::FIXED_LENGTH + u64::from(self.connection_id.length()));
        out.bytes(&self.v4.ip().octets());
        out.bytes(&self.v4.port().to_be_bytes());
        out.bytes(&self.v6.ip().octets());
        out.bytes(&self.v6.port().to_be_bytes());
        self.connection_id.emit_counted(out);
        out.bytes(&self.stateless_reset_token);
    }

    fn parse(value: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(value);
        let v4 = SocketAddrV4::new(reader.array::<4>()?.into(), reader.u16()?);
        let v6 = SocketAddrV6::new(reader.array::<16>()?.into(), reader.u16()?, 0, 0);
        let connection_id = ConnectionId::read_counted(&mut reader).filter(|id| !id.is_empty())?;
        let stateless_reset_token = reader.array()?;
        reader.finish(Self { v4, v6, connection_id, stateless_reset_token })
    }
}
