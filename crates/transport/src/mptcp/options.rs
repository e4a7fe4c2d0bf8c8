//! The MPTCP options of an arriving segment (RFC 8684, section 3).

use subflow_wire::tcp::TcpSegment;
use subflow_wire::tcp::mptcp::{Capable, Join, MptcpOption, ResetReason};

/// The version of MPTCP implemented here (RFC 8684).
pub(super) const VERSION: u8 = 1;

/// The MP_CAPABLE of a segment. An MP_CAPABLE of a version other than the negotiated one is ignored in every segment
/// of the handshake.
pub(crate) fn capable_of(segment: &TcpSegment) -> Option<&Capable> {
    segment.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Capable(capable) if capable.version == VERSION => Some(capable),
        _ => None,
    })
}

/// The MP_JOIN of a segment.
pub(crate) fn join_of(segment: &TcpSegment) -> Option<&Join> {
    segment.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Join(join) => Some(join),
        _ => None,
    })
}

/// The MP_TCPRST of a segment.
pub(super) fn reset_reason_of(segment: &TcpSegment) -> Option<ResetReason> {
    segment.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Reset(reason) => Some(*reason),
        _ => None,
    })
}
