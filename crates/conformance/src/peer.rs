//! What a peer of QUIC keeps, so that scripts need not write it: connection identifiers and packet numbers.

use std::collections::BTreeMap;

use crate::value::{Field, Value};

/// The connection identifier of the peer.
pub(crate) const PEER_ID: [u8; 8] = [0xc0, 0xff, 0xee, 0, 0, 0, 0, 1];
/// The destination of a client's first packet, as in RFC 9001, appendix A.
const ORIGINAL_ID: [u8; 8] = [0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08];

/// A peer, as far as scripts leave its packets to it.
#[derive(Debug, Default)]
pub(crate) struct Peer {
    /// By the index of the path.
    paths: BTreeMap<usize, Numbers>,
    /// The destination of the host's first packet, if the host is a client.
    original: Option<Vec<u8>>,
}

/// What belongs to a path.
#[derive(Debug, Default)]
struct Numbers {
    /// The destination of its packets.
    to: Option<Vec<u8>>,
    /// The source of its long headers.
    from: Option<Vec<u8>>,
    /// The packet number that comes next in each space.
    next: [u64; 3],
    /// The number behind the highest of the host's 1-RTT packets.
    of_host: u64,
}

/// The packet number space of a packet by the name of its type: `None` if it has no number.
pub(crate) fn space_of(name: &str) -> Option<usize> {
    match name {
        "INITIAL" => Some(0),
        "HANDSHAKE" => Some(1),
        "ONE_RTT" | "ZERO_RTT" => Some(2),
        _ => None,
    }
}

/// Whether a packet has a long header.
fn is_long(name: &str) -> bool {
    matches!(name, "INITIAL" | "ZERO_RTT" | "HANDSHAKE" | "RETRY" | "VERSION_NEGOTIATION")
}

impl Peer {
    /// A datagram of the host has arrived.
    pub(crate) fn hear(&mut self, path: usize, datagram: &[Field]) {
        let numbers = self.paths.entry(path).or_default();
        for packet in datagram.iter().filter(|field| is_long(field.name) || field.name == "ONE_RTT") {
            if is_long(packet.name) {
                numbers.to = part(packet, "from");
                self.original = self.original.take().or_else(|| part(packet, "to"));
            }
            if packet.name == "ONE_RTT" {
                numbers.of_host = numbers.of_host.max(number_of(packet).map_or(0, |number| number + 1));
            }
        }
    }

    /// Adds to the packets of a datagram what the script does not say.
    pub(crate) fn complete(&mut self, path: usize, datagram: &mut [Field]) {
        let Self { paths, original } = self;
        let numbers = paths.entry(path).or_default();
        for packet in datagram.iter_mut().filter(|field| is_long(field.name) || field.name == "ONE_RTT") {
            let default = || ORIGINAL_ID.to_vec();
            let to = part(packet, "to").or_else(|| numbers.to.clone()).unwrap_or_else(default);
            let from = part(packet, "from").or_else(|| numbers.from.clone()).unwrap_or_else(|| PEER_ID.to_vec());
            packet.parts.retain(|part| !matches!(part.name, "to" | "from"));
            packet.parts.push(Field::bytes("to", &to));
            if is_long(packet.name) {
                packet.parts.push(Field::bytes("from", &from));
                numbers.from = Some(from.clone());
            }
            numbers.to = Some(to);
            if let Some(space) = space_of(packet.name) {
                let number = number_of(packet).unwrap_or(numbers.next[space]);
                packet.parts.retain(|part| part.name != "number");
                packet.parts.push(Field::number("number", number));
                numbers.next[space] = number + 1;
            }
            complete_messages(packet, &from, original.as_deref());
        }
    }

    /// The number of its next 1-RTT packet on a path, and the one that the host's next packet there has.
    pub(crate) fn next_numbers(&self, path: usize) -> (u64, u64) {
        self.paths.get(&path).map_or((0, 0), |numbers| (numbers.next[2], numbers.of_host))
    }

    /// The destination of the host's first packet.
    pub(crate) fn original(&self) -> Option<&[u8]> {
        self.original.as_deref()
    }
}

/// Adds connection identifiers to transport parameters.
fn complete_messages(packet: &mut Field, from: &[u8], original: Option<&[u8]>) {
    let frames = packet.parts.iter_mut().filter(|frame| frame.name == "CRYPTO");
    for message in frames.flat_map(|frame| &mut frame.parts) {
        let lacks = |message: &Field, name: &str, without: &str| {
            !message.parts.iter().any(|part| part.name == name || part.name == without)
        };
        let has_parameters = matches!(message.name, "CLIENT_HELLO" | "ENCRYPTED_EXTENSIONS");
        if has_parameters && lacks(message, "source", "without_source") {
            message.parts.push(Field::bytes("source", from));
        }
        if let Some(original) = original
            && message.name == "ENCRYPTED_EXTENSIONS"
            && lacks(message, "original", "without_original")
        {
            message.parts.push(Field::bytes("original", original));
        }
    }
}

/// The bytes of a part.
pub(crate) fn part(field: &Field, name: &str) -> Option<Vec<u8>> {
    match field.parts.iter().find(|part| part.name == name)?.values.first()? {
        Value::Bytes(bytes) => Some(bytes.clone()),
        _ => None,
    }
}

/// A number among the parts.
pub(crate) fn part_number(field: &Field, name: &str) -> Option<u64> {
    match field.parts.iter().find(|part| part.name == name)?.values.first()? {
        Value::Number(number) => Some(*number),
        _ => None,
    }
}

fn number_of(packet: &Field) -> Option<u64> {
    part_number(packet, "number")
}
