//! Packets from the fields of a script, and fields from packets.

mod cause;
mod chunk;
mod fields;
mod option;
mod quic;
mod sctp;
mod tcp;
mod wire;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fields::Fields;
use subflow_wire::icmp::{IcmpError, IcmpKind, Quoted, Unreachable};
use subflow_wire::{Body, Packet};

use crate::script::Path;
use crate::value::Field;
use crate::vocabulary::Protocol;

pub(crate) use quic::{parse_arriving, peer_parameters};
pub(crate) use wire::{Arrival, Arriving, parse};

/// The packet that arrives on `path`.
///
/// # Errors
///
/// If the fields do not fit together, with the reason.
pub(crate) fn build(protocol: Protocol, path: &Path, fields: &[Field]) -> Result<Arrival, String> {
    match protocol {
        Protocol::Tcp | Protocol::Mptcp => tcp::build(path, fields),
        Protocol::Sctp => sctp::build(path, fields),
        Protocol::Quic | Protocol::Mpquic => {
            let (packet, corrupt) = quic::build(path, fields)?;
            Ok(Arrival { packet, payload_sum: 0, options: Vec::new(), corrupt })
        }
    }
}

/// The ICMP error that arrives about a packet that left on `path`.
///
/// # Errors
///
/// As [`build`].
pub(crate) fn build_icmp(protocol: Protocol, path: &Path, fields: &[Field]) -> Result<Arriving, String> {
    let fields = Fields(fields);
    let quoted = match protocol {
        Protocol::Tcp | Protocol::Mptcp => tcp::quoted(path, fields),
        Protocol::Sctp => sctp::quoted(path, fields),
        Protocol::Quic | Protocol::Mpquic => return Err("ICMP errors are about TCP and SCTP".to_owned()),
    };
    icmp_error(path, fields, quoted)
}

/// The fields of a packet that left.
pub(crate) fn describe(packet: &Packet) -> Vec<Field> {
    match &packet.body {
        Body::Tcp(segment) => tcp::describe(segment),
        Body::Sctp(packet) => sctp::describe(packet),
        Body::Quic(datagram) => quic::describe(datagram),
        Body::Udp(_) => Vec::new(),
    }
}

/// The router that reports an ICMP error, of documentation's addresses (RFC 5737, RFC 3849).
const ROUTERS: (IpAddr, IpAddr) =
    (IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 0, 1)));
/// The length of the quoted packet, unless the script states it.
const QUOTED_LENGTH: u32 = 1500;

/// The names of the kinds of ICMP errors without a value.
pub(crate) const ICMP_KINDS: [(&str, IcmpKind); 8] = [
    ("network_unreachable", IcmpKind::Unreachable(Unreachable::Network)),
    ("host_unreachable", IcmpKind::Unreachable(Unreachable::Host)),
    ("protocol_unreachable", IcmpKind::Unreachable(Unreachable::Protocol)),
    ("port_unreachable", IcmpKind::Unreachable(Unreachable::Port)),
    ("route_failed", IcmpKind::Unreachable(Unreachable::SourceRoute)),
    ("time_exceeded", IcmpKind::TimeExceeded),
    ("parameter_problem", IcmpKind::ParameterProblem),
    ("source_quench", IcmpKind::SourceQuench),
];

/// The error that `fields` describe, as bytes. The packet that it is about has the protocol number `protocol`, and
/// `transport` behind its IP header.
///
/// # Errors
///
/// If it has no kind, or cannot be written.
fn icmp_error(path: &Path, fields: Fields<'_>, (protocol, transport): (u8, Vec<u8>)) -> Result<Arriving, String> {
    let named = ICMP_KINDS.into_iter().find(|(name, _)| fields.has(name)).map(|(_, kind)| kind);
    let too_big = fields.number("too_big").map(|mtu| IcmpKind::TooBig { mtu: mtu as u32 });
    let kind = named.or(too_big).ok_or("ICMP says what is wrong, such as host_unreachable or too_big 1200")?;
    let length = fields.number("length").map_or(QUOTED_LENGTH, |length| length as u32);
    let (source, destination) = (path.local.ip(), path.remote.ip());
    let error = IcmpError { kind, quoted: Quoted { source, destination, protocol, length, transport } };
    let mut bytes = Vec::new();
    let router = if source.is_ipv4() { ROUTERS.0 } else { ROUTERS.1 };
    error.emit(router, &mut bytes).map_err(|error| error.to_string())?;
    Ok(Arriving { bytes, corrupt: false })
}
