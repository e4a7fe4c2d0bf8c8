//! Verification tags (RFC 9260, sections 8.4 and 8.5): which packets belong to an association, and the answers to those
//! that belong to none.

use subflow_wire::SctpPacket;
use subflow_wire::sctp::{Chunk, ErrorCause, chunk_type};

use super::violation::Violation;

/// Whether the tag is right for an association whose packets carry `local` and whose peer's carry `remote`, 0 while it
/// is unknown. That of a COOKIE ECHO is compared with the cookie's instead (rule D; section 5.1.5).
pub(super) fn is_right(packet: &SctpPacket, local: u32, remote: u32) -> bool {
    let tag = packet.verification_tag;
    let Some(first) = packet.chunks.first() else { return false };
    if is_wrongly_bundled(packet) {
        return false;
    }
    match first {
        // Rule A.
        _ if first.kind() == chunk_type::INIT => tag == 0,
        // Rules B and C: with the T bit set the sender has no association and returns the receiver's tag.
        _ if first.reflects_tag() => tag == remote && remote != 0,
        _ => tag == local,
    }
}

/// INIT, INIT ACK and SHUTDOWN COMPLETE come alone (section 6.10).
pub(super) fn is_wrongly_bundled(packet: &SctpPacket) -> bool {
    let alone = [chunk_type::INIT, chunk_type::INIT_ACK, chunk_type::SHUTDOWN_COMPLETE];
    packet.chunks.len() > 1 && packet.chunks.iter().any(|chunk| alone.contains(&chunk.kind()))
}

/// Whether an association that is opening answers a packet as if it belonged to none, whatever its tag: a SHUTDOWN ACK
/// is of an earlier association between the same ends (section 8.5.1, rule E).
pub(super) fn is_of_earlier_association(packet: &SctpPacket) -> bool {
    packet.chunks.iter().any(|chunk| chunk.kind() == chunk_type::SHUTDOWN_ACK)
}

/// Whether a packet that begins with a COOKIE ECHO may create an association: the chunks beside it do not forbid that.
pub(crate) fn may_open(packet: &SctpPacket) -> bool {
    !is_wrongly_bundled(packet) && !is_of_earlier_association(packet)
}

/// The answer to a packet that belongs to no association, an "out of the blue" packet (section 8.4): a chunk and the
/// tag of its packet. INIT and COOKIE ECHO for a port that somebody listens on do not get here.
pub(crate) fn answer_out_of_the_blue(packet: &SctpPacket) -> Option<(u32, Chunk)> {
    let has = |kind: u8| packet.chunks.iter().any(|chunk| chunk.kind() == kind);
    let tag = packet.verification_tag;
    let first = packet.chunks.first()?;
    if has(chunk_type::ABORT) || is_wrongly_bundled(packet) {
        return None;
    }
    if first.kind() == chunk_type::INIT {
        return match first {
            _ if tag != 0 => None,
            Chunk::Init(init) => refuse_init(Some(init.initiate_tag), Vec::new()),
            Chunk::Malformed(raw) => refuse_init(raw.initiate_tag(), vec![Violation.cause()]),
            _ => None,
        };
    }
    // Section 8.5.1, rule A: only an INIT has a tag of 0.
    if tag == 0 {
        return None;
    }
    if has(chunk_type::SHUTDOWN_ACK) {
        return Some((tag, Chunk::ShutdownComplete { reflected: true }));
    }
    if has(chunk_type::SHUTDOWN_COMPLETE) || has(chunk_type::COOKIE_ACK) || packet.chunks.iter().any(is_stale_cookie) {
        return None;
    }
    Some((tag, Chunk::Abort { reflected: true, causes: Vec::new() }))
}

fn is_stale_cookie(chunk: &Chunk) -> bool {
    let Chunk::Error(causes) = chunk else { return false };
    causes.iter().any(|cause| matches!(cause, ErrorCause::StaleCookie { .. }))
}

/// The ABORT that refuses an INIT, under the tag that it asks for; none where that is 0 or missing (sections 3.3.2 and
/// 5.1).
pub(super) fn refuse_init(initiate_tag: Option<u32>, causes: Vec<ErrorCause>) -> Option<(u32, Chunk)> {
    initiate_tag.filter(|&tag| tag != 0).map(|tag| (tag, Chunk::Abort { reflected: false, causes }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use subflow_wire::sctp::{DataChunk, InitChunk, RawChunk};

    fn answer(tag: u32, chunks: &[Chunk]) -> Option<(u32, Chunk)> {
        answer_out_of_the_blue(&SctpPacket { verification_tag: tag, chunks: chunks.to_vec(), ..SctpPacket::default() })
    }

    fn init(initiate_tag: u32) -> Chunk {
        Chunk::Init(Box::new(InitChunk { initiate_tag, ..InitChunk::default() }))
    }

    fn malformed(kind: u8, value: &[u8]) -> Chunk {
        Chunk::Malformed(RawChunk { kind, flags: 0, value: value.into() })
    }

    const OTHER: Chunk = Chunk::Error(Vec::new());
    const REFLECTED: Chunk = Chunk::Abort { reflected: true, causes: Vec::new() };

    #[test]
    fn most_packets_that_belong_to_none_are_answered_with_an_abort_that_reflects_their_tag() {
        for chunk in [OTHER, Chunk::Data(DataChunk::default()), Chunk::CookieEcho(Box::default())] {
            assert_eq!(answer(7, &[chunk]), Some((7, REFLECTED)));
        }
    }

    #[test]
    fn an_abort_is_never_answered() {
        let malformed = malformed(chunk_type::ABORT, &[0, 12]);
        for abort in [REFLECTED, Chunk::Abort { reflected: false, causes: Vec::new() }, malformed] {
            assert_eq!((answer(7, core::slice::from_ref(&abort)), answer(7, &[OTHER, abort.clone()])), (None, None));
        }
    }

    #[test]
    fn an_init_is_answered_under_the_tag_that_it_asks_for() {
        let plain = Chunk::Abort { reflected: false, causes: Vec::new() };
        assert_eq!(answer(0, &[init(5)]), Some((5, plain)));
        assert_eq!([answer(0, &[init(0)]), answer(7, &[init(5)]), answer(0, &[init(5), OTHER])], [None, None, None]);
    }

    #[test]
    fn an_init_that_is_malformed_behind_its_fixed_part_is_answered_and_one_without_is_not() {
        let fixed = [0, 0, 0, 5, 0, 0, 9, 9, 0, 1, 0, 1, 0, 0, 0, 1];
        let causes = vec![ErrorCause::ProtocolViolation(Box::default())];
        let behind = [&fixed[..], &[0, 5, 0, 0]].concat();
        let abort = Chunk::Abort { reflected: false, causes };
        assert_eq!(answer(0, &[malformed(chunk_type::INIT, &behind)]), Some((5, abort)));
        assert_eq!(answer(0, &[malformed(chunk_type::INIT, &fixed[..12])]), None);
    }

    #[test]
    fn a_shutdown_ack_is_answered_wherever_it_stands() {
        for chunks in [vec![Chunk::ShutdownAck], vec![OTHER, Chunk::ShutdownAck]] {
            assert_eq!(answer(7, &chunks), Some((7, Chunk::ShutdownComplete { reflected: true })));
        }
    }

    #[test]
    fn what_ends_an_exchange_is_not_answered() {
        let stale = Chunk::Error(vec![ErrorCause::StaleCookie { staleness_us: 1 }]);
        for chunk in [Chunk::ShutdownComplete { reflected: false }, Chunk::CookieAck, stale] {
            assert_eq!(answer(7, &[chunk]), None);
        }
        assert_eq!((answer(7, &[]), answer(0, &[OTHER])), (None, None), "nothing to answer, and no tag to reflect");
    }
}
