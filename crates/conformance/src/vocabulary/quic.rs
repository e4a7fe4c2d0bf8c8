//! The parts of datagrams of QUIC: packets, frames, messages of the handshake and transport parameters.

use super::{ADDRESS, BYTES, Entry, N16, N32, ValueKind, arriving, entry, flag, group, number};

const N62: &[ValueKind] = &[ValueKind::Number(62)];

/// A UDP datagram with QUIC.
pub(super) const DATAGRAM: &[Entry] = &[
    number("length", N16, "bytes of the datagram behind the header of UDP; one that arrives is padded to so many"),
    group("INITIAL", &[LONG, NUMBERED, TOKEN, FRAMES], "an Initial packet"),
    group("ZERO_RTT", &[LONG, NUMBERED, FRAMES], "a 0-RTT packet"),
    group("HANDSHAKE", &[LONG, NUMBERED, FRAMES], "a Handshake packet"),
    group("ONE_RTT", &[SHORT, NUMBERED, FRAMES], "a 1-RTT packet"),
    group("RETRY", &[LONG, TOKEN, RETRY], "a Retry packet"),
    group("VERSION_NEGOTIATION", &[LONG, VERSIONS], "a Version Negotiation packet"),
    arriving(flag("ect0", "the IP packet is marked ECT(0)")),
    arriving(flag("ect1", "the IP packet is marked ECT(1)")),
    arriving(flag("ce", "the IP packet is marked CE")),
    arriving(number("source", ADDRESS, "the address from which it comes, instead of that of the path")),
    arriving(number("source_port", N16, "the port from which it comes, instead of that of the path")),
    arriving(flag("corrupt", "a wrong checksum")),
];

/// What every packet with a long header has.
const LONG: &[Entry] = &[
    number("to", BYTES, "destination connection identifier"),
    number("from", BYTES, "source connection identifier"),
    number("version", N32, "version; 1 in packets that arrive"),
];

const SHORT: &[Entry] = &[
    number("to", BYTES, "destination connection identifier"),
    flag("key_phase", "the key phase bit"),
    flag("spin", "the latency spin bit"),
];

const NUMBERED: &[Entry] =
    &[number("number", N62, "packet number, of which a packet that leaves shows the bytes on the wire")];

const TOKEN: &[Entry] = &[number("token", BYTES, "the token")];

const RETRY: &[Entry] = &[number("tag", BYTES, "the integrity tag, of 16 bytes; zero unless it is written")];

const VERSIONS: &[Entry] = &[entry("versions", 1..=16, &[ValueKind::Number(32)], "the versions that are offered")];

/// The frames of a packet.
pub(super) const FRAMES: &[Entry] = &[
    entry("PADDING", 0..=1, N16, "so many bytes of padding; one if none are written"),
    flag("PING", "asks for an acknowledgment"),
    group("ACK", &[ACK], "acknowledges packets"),
    group("RESET_STREAM", &[STREAM_ERROR], "ends the sending part of a stream"),
    group("STOP_SENDING", &[STREAM_ERROR], "asks the peer to end its sending part"),
    group("CRYPTO", &[CRYPTO], "messages of the handshake"),
    number("NEW_TOKEN", BYTES, "a token for a later connection"),
    group("STREAM", &[STREAM], "data of a stream"),
    number("MAX_DATA", N62, "bytes that the peer may send on all streams"),
    group("MAX_STREAM_DATA", &[STREAM_LIMIT], "bytes that the peer may send on a stream"),
    number("MAX_STREAMS", N62, "bidirectional streams that the peer may open"),
    number("MAX_STREAMS_UNI", N62, "unidirectional streams that the peer may open"),
    number("DATA_BLOCKED", N62, "the connection's limit blocks data"),
    group("STREAM_DATA_BLOCKED", &[STREAM_LIMIT], "a stream's limit blocks data"),
    number("STREAMS_BLOCKED", N62, "the limit of bidirectional streams blocks one"),
    number("STREAMS_BLOCKED_UNI", N62, "the limit of unidirectional streams blocks one"),
    group("NEW_CONNECTION_ID", &[NEW_ID], "a further connection identifier"),
    number("RETIRE_CONNECTION_ID", N62, "the sequence number of an identifier that is not used any more"),
    number("PATH_CHALLENGE", BYTES, "8 bytes that the peer shall return"),
    number("PATH_RESPONSE", BYTES, "the bytes of a challenge"),
    group("CONNECTION_CLOSE", &[CLOSE], "the transport closes the connection"),
    group("APPLICATION_CLOSE", &[CLOSE], "the application closes the connection"),
    flag("HANDSHAKE_DONE", "the server has confirmed the handshake"),
    group("DATAGRAM", &[LENGTH], "an unreliable datagram"),
    flag("IMMEDIATE_ACK", "asks for an acknowledgment without delay"),
    group("PATH_ACK", &[PATH, ACK], "acknowledges packets of a path"),
    group("PATH_ABANDON", &[PATH, ERROR], "a path is not used any more"),
    group("PATH_STATUS_AVAILABLE", &[PATH, SEQUENCE], "a path is available"),
    group("PATH_STATUS_BACKUP", &[PATH, SEQUENCE], "a path is a backup"),
    group("PATH_NEW_CONNECTION_ID", &[PATH, NEW_ID], "a further connection identifier of a path"),
    group("PATH_RETIRE_CONNECTION_ID", &[PATH, SEQUENCE], "an identifier of a path is not used any more"),
    number("MAX_PATH_ID", N62, "the highest path identifier that the peer may use"),
    number("PATHS_BLOCKED", N62, "the highest path identifier keeps a path from being opened"),
    group("PATH_CIDS_BLOCKED", &[PATH, SEQUENCE], "there is no connection identifier for a path"),
    number("FRAME", BYTES, "a frame as it stands on the wire, to the end of the packet"),
];

const ACK: &[Entry] = &[
    entry("range", 1..=32, &[ValueKind::Range(62)], "packets first..last, from the highest range downwards"),
    number(
        "delay",
        N62,
        "the delay as it stands on the wire, in units of 8 µs unless ack_delay_exponent says otherwise",
    ),
    entry("ecn", 3..=3, &[ValueKind::Number(62)], "packets with ECT(0), ECT(1) and CE"),
];

const PATH: &[Entry] = &[number("path", N62, "path identifier")];

const SEQUENCE: &[Entry] = &[number("sequence", N62, "sequence number")];

const ERROR: &[Entry] = &[number("error", N62, "error code")];

const STREAM_ERROR: &[Entry] = &[
    number("stream", N62, "stream identifier"),
    number("error", N62, "error code"),
    number("size", N62, "final size"),
];

const STREAM_LIMIT: &[Entry] = &[number("stream", N62, "stream identifier"), number("limit", N62, "bytes")];

const STREAM: &[Entry] = &[
    number("stream", N62, "stream identifier"),
    number("offset", N62, "offset of the first byte"),
    number("len", N16, "bytes of data"),
    flag("fin", "FIN: the stream ends with it"),
];

const LENGTH: &[Entry] = &[number("len", N16, "bytes of data")];

const NEW_ID: &[Entry] = &[
    number("sequence", N62, "sequence number"),
    number("retire", N62, "identifiers with smaller numbers are to be retired"),
    number("id", BYTES, "the identifier"),
    number("token", BYTES, "stateless reset token, of 16 bytes"),
];

const CLOSE: &[Entry] = &[
    number("error", N62, "error code"),
    number("frame", N62, "type of the frame that caused it"),
    number("reason", BYTES, "an explanation"),
];

const CRYPTO: &[Entry] = &[
    number("offset", N62, "offset of the first byte"),
    number("len", N16, "bytes; one that arrives has those of its messages"),
    number("data", BYTES, "bytes behind the messages"),
    group("CLIENT_HELLO", &[MESSAGE, PARAMETERS], "ClientHello"),
    group("SERVER_HELLO", &[MESSAGE], "ServerHello"),
    group("ENCRYPTED_EXTENSIONS", &[MESSAGE, PARAMETERS], "EncryptedExtensions to CertificateVerify"),
    group("FINISHED", &[MESSAGE], "Finished"),
];

const MESSAGE: &[Entry] = &[number("size", N16, "bytes of the message at least, with its header")];

const PARAMETERS: &[Entry] = &[
    number("original", BYTES, "original_destination_connection_id"),
    number("source", BYTES, "initial_source_connection_id; that of the packet unless it is written"),
    number("retry", BYTES, "retry_source_connection_id"),
    number("reset_token", BYTES, "stateless_reset_token"),
    arriving(flag("without_source", "no initial_source_connection_id")),
    arriving(flag("without_original", "no original_destination_connection_id")),
    number("idle_timeout", N62, "max_idle_timeout in milliseconds"),
    number("udp_payload", N62, "max_udp_payload_size"),
    number("max_data", N62, "initial_max_data"),
    number("max_stream_data", N62, "initial_max_stream_data_bidi_local and _remote"),
    number("max_streams", N62, "initial_max_streams_bidi"),
    number("max_streams_uni", N62, "initial_max_streams_uni"),
    number("ack_delay_exponent", N62, "ack_delay_exponent"),
    number("max_ack_delay", N62, "max_ack_delay in milliseconds"),
    flag("no_migration", "disable_active_migration"),
    number("id_limit", N62, "active_connection_id_limit"),
    number("max_path_id", N62, "initial_max_path_id"),
    arriving(entry("param", 2..=2, &[ValueKind::Number(62), ValueKind::Bytes], "any other: identifier and value")),
];
