//! SCTP packets.

use subflow_wire::sctp::chunk_type;
use subflow_wire::{Body, Dscp, Ecn, IpHeader, PROTOCOL_SCTP, Packet, SctpPacket};

use super::chunk;
use super::fields::Fields;
use super::wire::Arrival;
use crate::script::Path;
use crate::value::Field;

/// The protocol number, and the start of a packet that left on `path`, as ICMP quotes it: with an INIT, if `init_tag` is
/// given.
pub(super) fn quoted(path: &Path, fields: Fields<'_>) -> (u8, Vec<u8>) {
    let tag = fields.number("tag").unwrap_or(0) as u32;
    let init = |tag: u64| [&[0; 4][..], &[chunk_type::INIT, 0, 0, 20], &(tag as u32).to_be_bytes()].concat();
    let chunk = fields.number("init_tag").map(init).unwrap_or_default();
    (PROTOCOL_SCTP, [path.ports().as_slice(), &tag.to_be_bytes(), &chunk].concat())
}

pub(super) fn describe(packet: &SctpPacket) -> Vec<Field> {
    let tag = Field::number("tag", packet.verification_tag);
    core::iter::once(tag).chain(packet.chunks.iter().map(chunk::describe)).collect()
}

pub(super) fn build(path: &Path, given: &[Field]) -> Result<Arrival, String> {
    let fields = Fields(given);
    let chunks = given.iter().map(chunk::build).filter_map(Result::transpose).collect::<Result<_, _>>()?;
    let packet = SctpPacket {
        source_port: path.remote.port(),
        destination_port: path.local.port(),
        verification_tag: fields.number("tag").unwrap_or(0) as u32,
        encapsulation: None,
        may_fragment: false,
        chunks,
    };
    let ip = IpHeader {
        source: path.remote.ip(),
        destination: path.local.ip(),
        hop_limit: 64,
        dscp: Dscp::DEFAULT,
        ecn: Ecn::NotEct,
    };
    Ok(Arrival {
        packet: Packet { ip, body: Body::Sctp(packet) },
        payload_sum: 0,
        options: Vec::new(),
        corrupt: fields.has("corrupt"),
    })
}
