//! Explicit congestion notification (RFC 9260, appendix A): both sides offer it in the handshake, packets with new data
//! are ECN-capable, and ECNE reports the lowest TSN of a packet that was marked, again with every SACK until the sender
//! answers with CWR.
//!
//! A window is reduced once for all that was sent before the reduction, as by RFC 3168. Which one is decided by the
//! destination that the marked TSN was sent to last.

use subflow_policy::congestion::{Loss, RecoveryState};
use subflow_quantity::Instant;
use subflow_wire::sctp::Chunk;
use subflow_wire::{Ecn as Codepoint, IpHeader, Packet, SctpPacket};

use super::Association;
use super::outbound::SentChunk;

/// The use of ECN by one association.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ecn {
    /// The lowest TSN of the first marked packet that the peer has not answered.
    to_report: Option<u32>,
    /// The marks of all up to this TSN are answered by a reduction.
    reduced_until: u64,
}

impl Association {
    /// Whether both sides have agreed to use ECN.
    pub fn uses_ecn(&self) -> bool {
        self.peer.has_ecn()
    }

    /// Makes a packet with new data ECN-capable.
    pub(super) fn make_capable(&self, packet: &mut Packet) {
        if self.peer.has_ecn() {
            packet.ip.ecn = Codepoint::Ect0;
        }
    }

    /// A packet arrived with the network header `ip`: remembers its mark.
    pub(super) fn take_codepoint(&mut self, ip: &IpHeader, packet: &SctpPacket) {
        if ip.ecn != Codepoint::CongestionExperienced || !self.peer.has_ecn() {
            return;
        }
        let mut tsns = packet.chunks.iter().filter_map(|chunk| match chunk {
            Chunk::Data(data) => Some(data.tsn),
            _ => None,
        });
        let Some(first) = tsns.next() else { return };
        let is_lower = |tsn: u32, than: u32| (tsn.wrapping_sub(than) as i32) < 0;
        let lowest = tsns.fold(first, |lowest, tsn| if is_lower(tsn, lowest) { tsn } else { lowest });
        self.counters.ce_received += 1;
        self.ecn.to_report.get_or_insert(lowest);
    }

    /// A SACK is sent to `destination`: ECNE goes with it, until the peer has answered.
    pub(super) fn report_mark(&mut self, destination: usize) {
        if let Some(lowest_tsn) = self.ecn.to_report {
            self.control.push(destination, Chunk::EcnEcho { lowest_tsn });
        }
    }

    /// The peer reports the mark of a packet whose lowest TSN was `wire`: the window is reduced, unless it was since then,
    /// and CWR answers in any case.
    pub(super) fn on_ecn_echo(&mut self, wire: u32, from: usize, now: Instant) {
        if !self.peer.has_ecn() {
            return;
        }
        let next = self.outbound.queue.next_tsn();
        let Some(tsn) = self.outbound.tsn_of(wire).filter(|&tsn| tsn > 0 && tsn < next) else { return };
        if tsn > self.ecn.reduced_until {
            self.ecn.reduced_until = next - 1;
            let index = self.outbound.queue.chunk(tsn).map_or(from, SentChunk::destination);
            let loss = Loss { now, in_flight: self.destinations[index].flight.amount(), by_timer: false };
            // Fast recovery has reduced the window already.
            if !self.is_recovering(index) {
                self.note_state_changed_by(index, |congestion| congestion.on_mark(index, &loss));
                self.enter_state(index, RecoveryState::Open);
                self.counters.mark_reductions += 1;
            }
        }
        self.control.push(from, Chunk::CongestionWindowReduced { lowest_tsn: wire });
    }

    /// The peer has reduced its window for the mark of the packet whose lowest TSN was `wire`.
    pub(super) fn on_window_reduced(&mut self, wire: u32) {
        let is_answered = |tsn: u32| wire.wrapping_sub(tsn) as i32 >= 0;
        self.ecn.to_report.take_if(|tsn| is_answered(*tsn));
    }
}
