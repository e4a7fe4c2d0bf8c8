//! When a SACK is sent, and its contents (RFC 9260, section 6.2; DAC: Iyengar, Amer, Stewart 2006, section IV; NR-SACK:
//! draft-tuexen-tsvwg-sctp-multipath, section 3).

use subflow_quantity::Instant;
use subflow_wire::sctp::{Chunk, GapBlock, GapBlocks, NrSackChunk, SackChunk};

use super::Association;

/// The maximum of the DAC count of packets: it has two bits of the flags.
const MAX_DAC_COUNT: u32 = 3;

/// The state of acknowledgments that are due.
#[derive(Clone, Debug, Default)]
pub(crate) struct SackSchedule {
    /// When a delayed SACK is due.
    pub(super) at: Option<Instant>,
    /// A SACK is due now.
    due: bool,
    /// Packets with data since the last SACK.
    packets: u32,
    /// A SACK was sent before: the first packet is acknowledged at once.
    begun: bool,
    /// The destination that data came from last.
    destination: usize,
    /// The window last advertised to the peer.
    advertised_window: u64,
    /// Of the packet at hand.
    had_data: bool,
    urgent: bool,
}

impl SackSchedule {
    pub(super) fn begin_packet(&mut self) {
        (self.had_data, self.urgent) = (false, false);
    }

    /// The packet at hand carries data; `urgent` data is acknowledged at once.
    pub(super) fn note_data(&mut self, urgent: bool) {
        self.had_data = true;
        self.urgent |= urgent;
    }

    pub(super) fn had_data(&self) -> bool {
        self.had_data
    }

    /// A SACK is sent with the next packet.
    pub(super) fn now(&mut self) {
        self.due = true;
    }

    /// The delay of a SACK has expired.
    pub(super) fn expire(&mut self) {
        (self.at, self.due) = (None, true);
    }

    pub(super) fn cancel(&mut self) {
        (self.at, self.due) = (None, false);
    }

    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    /// Whether a SACK may be bundled with data.
    pub(super) fn is_owed(&self) -> bool {
        self.due || self.at.is_some()
    }

    pub(super) fn destination(&self) -> usize {
        self.destination
    }
}

impl Association {
    /// A packet with data has been processed: its acknowledgment is sent now or delayed.
    pub(super) fn schedule_sack(&mut self, source: Option<usize>, now: Instant) {
        let holes = self.arrivals.has_gaps() && !self.config.delayed_ack_cmt;
        let deadline = self.deadline(now, self.config.sack_delay);
        let state = &mut self.sack;
        state.packets += 1;
        state.destination = source.unwrap_or(state.destination);
        let enough = state.packets >= self.config.sack_frequency;
        if state.urgent || holes || enough || !state.begun {
            state.due = true;
        } else if state.at.is_none() {
            state.at = Some(deadline);
        }
    }

    /// The free part of the receive buffer, in bytes.
    pub fn receive_window(&self) -> u64 {
        self.config.receive_buffer.saturating_sub(self.reassembly.held() + self.stream.unread())
    }

    /// Sends a window update after the application has read, once the window has grown by a sufficient amount (RFC
    /// 9260, section 6.2, silly window avoidance; Linux `sctp_peer_needs_update`: a packet or a sixteenth of the
    /// kernel's buffer size, of which half is advertised).
    pub(super) fn update_window(&mut self) {
        let worthwhile =
            u64::from(self.config.mtu).max(self.config.receive_buffer / 8).min(self.config.receive_buffer / 2);
        if self.state.may_receive_data() && self.receive_window() >= self.sack.advertised_window + worthwhile.max(1) {
            self.sack.now();
        }
    }

    /// The SACK or NR-SACK of the current state, at most `room` bytes of it.
    pub(super) fn take_sack(&mut self, room: u32) -> Chunk {
        let fit = (room.saturating_sub(24) / 4) as usize;
        let blocks_fit = self.config.max_gap_blocks.map_or(fit, |most| fit.min(usize::from(most)));
        let cumulative = self.arrivals.cumulative();
        let mut blocks: GapBlocks = GapBlocks::new();
        for range in self.arrivals.beyond().take(blocks_fit) {
            let offset = |tsn: u64| u16::try_from(tsn - cumulative).ok();
            let (Some(start), Some(end)) = (offset(range.start), offset(range.end - 1)) else { break };
            blocks.push(GapBlock { start, end });
        }
        let duplicates = self.arrivals.duplicates.drain(..).take(fit - blocks.len());
        let duplicates: Vec<u32> = duplicates.map(|tsn| self.remote_tsns.wire(tsn)).collect();
        let window = self.receive_window();
        let state = &mut self.sack;
        let data_packets = if self.config.delayed_ack_cmt { state.packets.min(MAX_DAC_COUNT) as u8 } else { 0 };
        (state.packets, state.begun, state.due, state.at, state.advertised_window) = (0, true, false, None, window);
        self.counters.sacks_sent += 1;
        let mut sack = SackChunk {
            cumulative_tsn: self.remote_tsns.wire(cumulative),
            a_rwnd: u32::try_from(window).unwrap_or(u32::MAX),
            data_packets,
            gaps: blocks,
            duplicates,
        };
        if self.extensions.nr_sack {
            // With NR-SACK no acknowledged data is dropped.
            let non_renegable = core::mem::take(&mut sack.gaps);
            return Chunk::NrSack(NrSackChunk { sack, non_renegable });
        }
        Chunk::Sack(sack)
    }
}
