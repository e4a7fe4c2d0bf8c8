//! SCTP packets.

use subflow_wire::{Body, Ecn, IpHeader, Packet, SctpPacket};

use super::chunk;
use super::fields::Fields;
use super::wire::Arrival;
use crate::script::Path;
use crate::value::Field;

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
    let ip = IpHeader { source: path.remote.ip(), destination: path.local.ip(), hop_limit: 64, ecn: Ecn::NotEct };
    Ok(Arrival {
        packet: Packet { ip, body: Body::Sctp(packet) },
        payload_sum: 0,
        options: Vec::new(),
        corrupt: fields.has("corrupt"),
    })
}
