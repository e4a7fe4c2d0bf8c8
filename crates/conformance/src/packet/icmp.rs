//! ICMP errors about packets of the host.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use subflow_wire::icmp::{IcmpError, IcmpKind, Quoted, Unreachable};

use super::fields::Fields;
use super::wire::Arriving;
use crate::script::Path;

/// The router that reports, of documentation's addresses (RFC 5737, RFC 3849).
const ROUTERS: (IpAddr, IpAddr) =
    (IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 0, 1)));
/// The length of the quoted packet, unless the script states it.
const QUOTED_LENGTH: u32 = 1500;

/// The names of the kinds without a value.
pub(crate) const KINDS: [(&str, IcmpKind); 8] = [
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
pub(super) fn build(path: &Path, fields: Fields<'_>, (protocol, transport): (u8, Vec<u8>)) -> Result<Arriving, String> {
    let named = KINDS.into_iter().find(|(name, _)| fields.has(name)).map(|(_, kind)| kind);
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
