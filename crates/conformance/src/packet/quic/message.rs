//! Messages of the handshake of QUIC, with transport parameters.

use subflow_wire::quic::{ConnectionId, CryptoFrame, TransportParameters};

use crate::packet::fields::Fields;
use crate::value::Field;

/// The messages with their types (RFC 8446, section 4), and whether they have transport parameters.
const MESSAGES: [(&str, u8, bool); 4] =
    [("CLIENT_HELLO", 1, true), ("SERVER_HELLO", 2, false), ("ENCRYPTED_EXTENSIONS", 8, true), ("FINISHED", 20, false)];

/// Type and length in front of a message, and the length of transport parameters in front of them.
const MESSAGE_HEADER: usize = 4;
const LENGTH_OF_PARAMETERS: usize = 2;

/// What a CRYPTO frame has: its place, and the message that begins with it at the beginning of a packet number space.
pub(super) fn describe(crypto: &CryptoFrame) -> Vec<Field> {
    let mut parts = vec![Field::number("offset", crypto.offset), Field::number("len", crypto.data.len() as u64)];
    parts.extend(if crypto.offset == 0 { describe_message(&crypto.data) } else { None });
    parts
}

fn describe_message(data: &[u8]) -> Option<Field> {
    let (name, _, has_parameters) = *MESSAGES.iter().find(|(_, kind, _)| Some(kind) == data.first())?;
    let size = u32::from_be_bytes([0, *data.get(1)?, *data.get(2)?, *data.get(3)?]) as usize + MESSAGE_HEADER;
    let mut parts = vec![Field::number("size", size as u64)];
    if has_parameters {
        let (length, rest) = data[MESSAGE_HEADER..].split_first_chunk::<LENGTH_OF_PARAMETERS>()?;
        let parameters = rest.get(..usize::from(u16::from_be_bytes(*length)))?;
        parts.extend(describe_parameters(&TransportParameters::parse(parameters).ok()?));
    }
    Some(Field::group(name, parts))
}

fn describe_parameters(parameters: &TransportParameters) -> Vec<Field> {
    let ids = [
        ("original", parameters.original_destination_connection_id),
        ("source", parameters.initial_source_connection_id),
        ("retry", parameters.retry_source_connection_id),
    ];
    let ids = ids.into_iter().filter_map(|(name, id)| Some(Field::bytes(name, id?.as_bytes())));
    let integers = [
        ("idle_timeout", parameters.max_idle_timeout),
        ("udp_payload", parameters.max_udp_payload_size),
        ("max_data", parameters.initial_max_data),
        ("max_stream_data", parameters.initial_max_stream_data_bidi_remote),
        ("max_streams", parameters.initial_max_streams_bidi),
        ("max_streams_uni", parameters.initial_max_streams_uni),
        ("ack_delay_exponent", parameters.ack_delay_exponent),
        ("max_ack_delay", parameters.max_ack_delay),
        ("id_limit", parameters.active_connection_id_limit),
    ];
    let token = parameters.stateless_reset_token.map(|token| Field::bytes("reset_token", &token));
    let still = parameters.disable_active_migration.then(|| Field::flag("no_migration"));
    let max_path_id = parameters.initial_max_path_id.map(|max| Field::number("max_path_id", max));
    let integers = integers.map(|(name, value)| Field::number(name, value));
    ids.chain(integers).chain(token).chain(still).chain(max_path_id).collect()
}

/// The bytes of a CRYPTO frame.
pub(super) fn build(parts: Fields<'_>) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    for field in parts.0 {
        let Some(&(_, kind, has_parameters)) = MESSAGES.iter().find(|(name, ..)| *name == field.name) else { continue };
        let of_message = Fields(&field.parts);
        let mut body = Vec::new();
        if has_parameters {
            let parameters = build_parameters(of_message)?;
            body.extend_from_slice(&(parameters.len() as u16).to_be_bytes());
            body.extend_from_slice(&parameters);
        }
        let size = of_message.number("size").unwrap_or(0) as usize;
        body.resize(body.len().max(size.saturating_sub(MESSAGE_HEADER)), 0);
        bytes.extend_from_slice(&(u32::from(kind) << 24 | body.len() as u32).to_be_bytes());
        bytes.extend_from_slice(&body);
    }
    bytes.extend(parts.bytes("data").unwrap_or_default());
    Ok(bytes)
}

fn build_parameters(parts: Fields<'_>) -> Result<Vec<u8>, String> {
    let id = |name| match parts.bytes(name) {
        Some(bytes) => ConnectionId::new(&bytes).map(Some).ok_or(format!("{name} has more than 20 bytes")),
        None => Ok(None),
    };
    let defaults = TransportParameters::default();
    let number = |name, default| parts.number(name).unwrap_or(default);
    let token = parts.bytes("reset_token").map(|token| token.try_into().map_err(|_| "a token has 16 bytes"));
    let max_stream_data = number("max_stream_data", 0);
    let parameters = TransportParameters {
        original_destination_connection_id: id("original")?,
        initial_source_connection_id: id("source")?,
        retry_source_connection_id: id("retry")?,
        stateless_reset_token: token.transpose()?,
        max_idle_timeout: number("idle_timeout", 0),
        max_udp_payload_size: number("udp_payload", defaults.max_udp_payload_size),
        initial_max_data: number("max_data", 0),
        initial_max_stream_data_bidi_local: max_stream_data,
        initial_max_stream_data_bidi_remote: max_stream_data,
        initial_max_streams_bidi: number("max_streams", 0),
        initial_max_streams_uni: number("max_streams_uni", 0),
        ack_delay_exponent: number("ack_delay_exponent", defaults.ack_delay_exponent),
        max_ack_delay: number("max_ack_delay", defaults.max_ack_delay),
        disable_active_migration: parts.has("no_migration"),
        active_connection_id_limit: number("id_limit", defaults.active_connection_id_limit),
        initial_max_path_id: parts.number("max_path_id"),
        ..defaults
    };
    let mut bytes = Vec::new();
    parameters.emit(&mut bytes).map_err(|error| error.to_string())?;
    for other in parts.0.iter().filter(|field| field.name == "param") {
        let value = other.bytes_at(1);
        if other.number_at(0) >= 1 << 14 || value.len() >= 64 {
            return Err("param has an identifier of two bytes at most, and less than 64 bytes".to_owned());
        }
        bytes.extend_from_slice(&(other.number_at(0) as u16 | 0x4000).to_be_bytes());
        bytes.push(value.len() as u8);
        bytes.extend_from_slice(&value);
    }
    Ok(bytes)
}

/// The fields of a message with the parameters of a peer whose identifier is `source`; those of a server name the
/// `original` one.
pub(crate) fn peer_parameters(parameters: &TransportParameters, source: &[u8], original: Option<&[u8]>) -> Vec<Field> {
    let mut fields = describe_parameters(parameters);
    fields.push(Field::bytes("source", source));
    fields.extend(original.map(|original| Field::bytes("original", original)));
    fields
}
