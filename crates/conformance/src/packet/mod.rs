//! Packets from the fields of a script, and fields from packets.

mod cause;
mod chunk;
mod fields;
pub(crate) mod icmp;
mod option;
mod parameter;
mod sctp;
mod tcp;
mod wire;

pub(crate) use wire::{Arrival, Arriving, parse};

use subflow_wire::{Body, Packet};

use fields::Fields;

use crate::script::Path;
use crate::value::Field;
use crate::vocabulary::Protocol;

/// The packet that arrives on `path`.
///
/// # Errors
///
/// If the fields do not fit together, with the reason.
pub(crate) fn build(protocol: Protocol, path: &Path, fields: &[Field]) -> Result<Arrival, String> {
    match protocol {
        Protocol::Tcp | Protocol::Mptcp => tcp::build(path, fields),
        Protocol::Sctp => sctp::build(path, fields),
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
    };
    icmp::build(path, fields, quoted)
}

/// The fields of a packet that left.
pub(crate) fn describe(packet: &Packet) -> Vec<Field> {
    match &packet.body {
        Body::Tcp(segment) => tcp::describe(segment),
        Body::Sctp(packet) => sctp::describe(packet),
        Body::Udp(_) => Vec::new(),
    }
}
