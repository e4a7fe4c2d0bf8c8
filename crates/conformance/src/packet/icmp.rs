//! ICMP errors about packets of the host.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use subflow_wire::icmp::{IcmpError, IcmpKind, Quoted, Unreachable};

use super::fields::Fields;
use super::wire::Arriving;
use crate::script::Path;
use crate::value::Field;
use crate::vocabulary::Protocol;

/// The router that reports, of documentation's addresses (RFC 5737, RFC 3849).
const ROUTERS: (IpAddr, IpAddr) =
    (IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 0, 1)));
/// The length of the quoted packet, unless the script states it.
const QUOTED_LENGTH: u32 = 1500;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_SCTP: u8 = 132;
/// The type of INIT.
const INIT: u8 = 1;

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

/// The error that `fields` describe, as bytes.
///
/// # Errors
///
/// If it has no kind, or cannot be written.
pub(crate) fn build(protocol: Protocol, path: &Path, fields: &[Field]) -> Result<Arriving, String> {
    let fields = Fields(fields);
    let named = KINDS.into_iter().find(|(name, _)| fields.has(name)).map(|(_, kind)| kind);
    let too_big = fields.number("too_big").map(|mtu| IcmpKind::TooBig { mtu: mtu as u32 });
    let kind = named.or(too_big).ok_or("ICMP says what is wrong, such as host_unreachable or too_big 1200")?;
    let number = |name| fields.number(name).unwrap_or(0) as u32;
    let ports = [path.local.port().to_be_bytes(), path.remote.port().to_be_bytes()].concat();
    let (protocol, transport) = match protocol {
        Protocol::Tcp | Protocol::Mptcp => (PROTOCOL_TCP, [ports, number("seq").to_be_bytes().to_vec()].concat()),
        Protocol::Sctp => {
            let header = [ports, number("tag").to_be_bytes().to_vec()].concat();
            let init = |tag: u64| [&[0; 4][..], &[INIT, 0, 0, 20], &(tag as u32).to_be_bytes()].concat();
            (PROTOCOL_SCTP, [header, fields.number("init_tag").map(init).unwrap_or_default()].concat())
        }
    };
    let length = fields.number("length").map_or(QUOTED_LENGTH, |length| length as u32);
    let (source, destination) = (path.local.ip(), path.remote.ip());
    let error = IcmpError { kind, quoted: Quoted { source, destination, protocol, length, transport } };
    let mut bytes = Vec::new();
    let router = if source.is_ipv4() { ROUTERS.0 } else { ROUTERS.1 };
    error.emit(router, &mut bytes).map_err(|error| error.to_string())?;
    Ok(Arriving { bytes, corrupt: false })
}
