//! Verification tags (RFC 9260, sections 8.4 and 8.5): which packets belong to an association, and what is said to those that
//! belong to none.

use subflow_wire::SctpPacket;
use subflow_wire::sctp::{Chunk, ErrorCause};

/// Whether a packet's tag is right for an association whose packets carry `local` and whose peer's carry `remote`.
pub(super) fn is_right(packet: &SctpPacket, local: u32, remote: u32) -> bool {
    let tag = packet.verification_tag;
    // These come alone (section 6.10); whoever bundles them is not to be believed.
    let is_single =
        |chunk: &Chunk| matches!(chunk, Chunk::Init(_) | Chunk::InitAck(_) | Chunk::ShutdownComplete { .. });
    if packet.chunks.len() > 1 && packet.chunks.iter().any(is_single) {
        return false;
    }
    match packet.chunks.first() {
        // Rule A: an INIT has no tag, and comes alone.
        Some(Chunk::Init(_)) => tag == 0,
        // Rules B and C: with the T bit set the sender had no association and gives the receiver's tag back.
        Some(Chunk::Abort { reflected, .. } | Chunk::ShutdownComplete { reflected }) => {
            if *reflected {
                tag == remote
            } else {
                tag == local
            }
        }
        // Rule D: a cookie is checked by itself.
        Some(Chunk::CookieEcho(_)) => true,
        _ => tag == local,
    }
}

/// The answer to a packet that belongs to no association (section 8.4): a chunk and the tag of its packet. INIT and COOKIE ECHO are
/// the listener's.
pub(crate) fn answer_to_nobody(packet: &SctpPacket) -> Option<(u32, Chunk)> {
    let is_silent = |chunk: &Chunk| match chunk {
        Chunk::Abort { .. } | Chunk::ShutdownComplete { .. } | Chunk::CookieAck => true,
        Chunk::Error(causes) => causes.iter().any(|cause| matches!(cause, ErrorCause::StaleCookie { .. })),
        _ => false,
    };
    if packet.chunks.is_empty() || packet.chunks.iter().any(is_silent) {
        return None;
    }
    let reflected = packet.verification_tag;
    match &packet.chunks[0] {
        Chunk::Init(init) => Some((init.initiate_tag, Chunk::Abort { reflected: false, causes: Vec::new() })),
        Chunk::ShutdownAck => Some((reflected, Chunk::ShutdownComplete { reflected: true })),
        _ => Some((reflected, Chunk::Abort { reflected: true, causes: Vec::new() })),
    }
}
