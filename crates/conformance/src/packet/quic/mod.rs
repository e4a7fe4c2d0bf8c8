//! Datagrams of QUIC.

mod frame;
mod message;

use subflow_transport::quic::CONNECTION_ID_LENGTH;
use subflow_wire::quic::{ConnectionId, Frame, PacketHeader, PacketNumber, QuicDatagram, QuicPacket, VERSION_1};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet};

use super::fields::Fields;
use crate::script::Path;
use crate::value::{Field, Value};

pub(crate) use message::peer_parameters;

/// The datagram in the bytes of a UDP payload. Connection identifiers of short headers have `id_length` bytes.
pub(super) fn parse(packet: Packet, payload: &[u8], id_length: usize) -> Result<Packet, String> {
    let Body::Udp(udp) = packet.body else { return Ok(packet) };
    let parsed = QuicDatagram::parse(udp.source_port, udp.destination_port, payload, id_length);
    let (datagram, _) = parsed.map_err(|error| error.to_string())?;
    Ok(Packet { body: Body::Quic(datagram), ..packet })
}

/// The datagram that arrives at our host.
pub(crate) fn parse_arriving(packet: Packet, payload: &[u8]) -> Result<Packet, String> {
    parse(packet, payload, CONNECTION_ID_LENGTH)
}

/// Bytes of the connection identifier in the short header of a datagram.
pub(super) fn id_length(datagram: &QuicDatagram) -> usize {
    let last = datagram.packets.last().map(|packet| &packet.header);
    last.map_or(0, |header| header.destination().length() as usize)
}

pub(super) fn describe(datagram: &QuicDatagram) -> Vec<Field> {
    let length = Field::number("length", datagram.length());
    core::iter::once(length).chain(datagram.packets.iter().map(describe_packet)).collect()
}

fn describe_packet(packet: &QuicPacket) -> Field {
    let id = |name, id: &ConnectionId| Field::bytes(name, id.as_bytes());
    let mut parts = vec![id("to", &packet.header.destination())];
    let name = match &packet.header {
        PacketHeader::Initial { source, version, token, .. } => {
            parts.extend([id("from", source), Field::number("version", *version)]);
            parts.extend((!token.is_empty()).then(|| Field::bytes("token", token)));
            "INITIAL"
        }
        PacketHeader::ZeroRtt { source, version, .. } => {
            parts.extend([id("from", source), Field::number("version", *version)]);
            "ZERO_RTT"
        }
        PacketHeader::Handshake { source, version, .. } => {
            parts.extend([id("from", source), Field::number("version", *version)]);
            "HANDSHAKE"
        }
        PacketHeader::OneRtt { spin, key_phase, .. } => {
            parts.extend(spin.then(|| Field::flag("spin")));
            parts.extend(key_phase.then(|| Field::flag("key_phase")));
            "ONE_RTT"
        }
        PacketHeader::Retry { source, version, token, integrity_tag, .. } => {
            parts.extend([id("from", source), Field::number("version", *version)]);
            parts.extend([Field::bytes("token", token), Field::bytes("tag", integrity_tag)]);
            "RETRY"
        }
        PacketHeader::VersionNegotiation { source, versions, .. } => {
            parts.push(id("from", source));
            parts.push(Field::values("versions", versions.iter().map(|&one| Value::Number(one.into())).collect()));
            "VERSION_NEGOTIATION"
        }
    };
    parts.extend(packet.header.number().map(|number| Field::number("number", number.truncated())));
    parts.extend(packet.frames.iter().map(frame::describe));
    Field::group(name, parts)
}

/// The datagram that arrives on `path`, and whether its checksum is wrong.
pub(super) fn build(path: &Path, given: &[Field]) -> Result<(Packet, bool), String> {
    let fields = Fields(given);
    let mut datagram = QuicDatagram {
        source_port: fields.number("source_port").map_or(path.remote.port(), |port| port as u16),
        destination_port: path.local.port(),
        packets: given.iter().map(build_packet).filter_map(Result::transpose).collect::<Result<_, String>>()?,
    };
    let missing = fields.number("length").unwrap_or(0).saturating_sub(datagram.length().into());
    if let (Some(last), true) = (datagram.packets.last_mut(), missing > 0) {
        last.frames.insert(0, Frame::Padding(missing as u32));
    }
    let marks = [("ect0", Ecn::Ect0), ("ect1", Ecn::Ect1), ("ce", Ecn::CongestionExperienced)];
    let ecn = marks.into_iter().find(|(name, _)| fields.has(name)).map_or(Ecn::NotEct, |(_, ecn)| ecn);
    let source = fields.address("source").unwrap_or(path.remote.ip());
    let ip = IpHeader { source, destination: path.local.ip(), hop_limit: 64, dscp: Dscp::DEFAULT, ecn };
    Ok((Packet { ip, body: Body::Quic(datagram) }, fields.has("corrupt")))
}

/// The packet that `field` is, if it is one.
fn build_packet(field: &Field) -> Result<Option<QuicPacket>, String> {
    let parts = Fields(&field.parts);
    let id = |name| {
        let bytes = parts.bytes(name).unwrap_or_default();
        ConnectionId::new(&bytes).ok_or(format!("{name} has more than 20 bytes"))
    };
    let (destination, source) = (id("to")?, id("from")?);
    let version = parts.number("version").map_or(VERSION_1, |version| version as u32);
    let token = parts.bytes("token").unwrap_or_default().into_boxed_slice();
    let number = PacketNumber::encode(parts.number("number").unwrap_or(0), None);
    let header = match field.name {
        "INITIAL" => PacketHeader::Initial { version, destination, source, token, number },
        "ZERO_RTT" => PacketHeader::ZeroRtt { version, destination, source, number },
        "HANDSHAKE" => PacketHeader::Handshake { version, destination, source, number },
        "ONE_RTT" => {
            let (spin, key_phase) = (parts.has("spin"), parts.has("key_phase"));
            PacketHeader::OneRtt { destination, spin, key_phase, number }
        }
        "RETRY" => {
            let integrity_tag = parts.bytes("tag").unwrap_or(vec![0; 16]).try_into();
            let integrity_tag = integrity_tag.map_err(|_| "a tag has 16 bytes")?;
            PacketHeader::Retry { version, destination, source, token, integrity_tag }
        }
        "VERSION_NEGOTIATION" => {
            let versions = parts.find("versions").into_iter().flat_map(Field::numbers).map(|one| one as u32).collect();
            PacketHeader::VersionNegotiation { destination, source, versions }
        }
        _ => return Ok(None),
    };
    let frames = field.parts.iter().map(frame::build).filter_map(Result::transpose).collect::<Result<_, _>>()?;
    Ok(Some(QuicPacket { header, frames }))
}
