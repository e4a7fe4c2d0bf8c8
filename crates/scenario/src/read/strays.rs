//! What a flow's protocol does not have: keys of other protocols, and congestion controls that need more than it measures.

use subflow_policy::congestion::{Algorithm, CongestionControl};

use crate::file::{Problem, Section};
use crate::protocol_name::ProtocolName;

/// Keys of a flow without a protocol that show that another one than the default, TCP, was meant.
const NOT_BY_DEFAULT: &[&str] =
    &["scheduler", "path_manager", "bottleneck", "coupling", "subflows", "primary", "mptcp", "sctp", "quic"];
/// Keys that mean nothing without a connection.
const NOT_WITH_UDP: &[&str] = &[
    "congestion",
    "scheduler",
    "path_manager",
    "bottleneck",
    "coupling",
    "subflows",
    "primary",
    "tcp",
    "mptcp",
    "sctp",
    "quic",
    "send_after",
];

/// Rejects a congestion control that is computed from delivery rates, which SCTP does not measure.
///
/// # Errors
///
/// The flow names one. A default is not one.
pub(super) fn refuse_rate_based(section: &Section<'_>, congestion: &Algorithm, protocol: &str) -> Result<(), Problem> {
    match section.given("congestion") {
        Some(field) if congestion.takes_rate_samples() => Err(field
            .problem(format!("{} needs delivery rates, and {protocol} measures none", congestion.name()))
            .help("give the flow the protocol tcp, mptcp, quic or mpquic, or another congestion control")),
        _ => Ok(()),
    }
}

/// Rejects keys that do not apply to the protocol. A flow with `protocol = "tcp"` in the file may have MPTCP keys, so
/// that a sweep over protocols is possible; a flow whose protocol is the default may not.
///
/// # Errors
///
/// The flow has such a key. The first one is named.
pub(super) fn refuse_strays(section: &Section<'_>, kind: ProtocolName) -> Result<(), Problem> {
    let is_default = section.given("protocol").is_none();
    let (protocol, strays, help) = match kind.is_udp() {
        true => ("udp", NOT_WITH_UDP, "drop the key, or choose another protocol"),
        false if is_default => (
            "tcp by default",
            NOT_BY_DEFAULT,
            "add protocol = \"mptcp\" (or \"sctp\", or \"quic\") to the flow, or drop the key",
        ),
        false => return Ok(()),
    };
    match strays.iter().find_map(|key| section.given(key)) {
        None => Ok(()),
        Some(stray) => Err(stray
            .problem(format!("the flow's protocol is {protocol}; this key does not apply to it"))
            .label("not for this protocol")
            .help(help)),
    }
}
