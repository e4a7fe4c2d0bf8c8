//! When a SACK is sent, and its contents (RFC 9260, section 6.2; DAC: Iyengar, Amer, Stewart 2006, section IV; NR-SACK:
//! draft-tuexen-tsvwg-sctp-multipath, section 3).

use std::net::IpAddr;

use subflow_quantity::Instant;
use subflow_wire::sctp::{Chunk, GapBlock, GapBlocks, NrSackChunk, SackChunk};

use super::{Config, Inbound, Receiver, Stream};

/// The maximum of the DAC count of packets: it has two bits of the flags.
const MAX_DAC_COUNT: u32 = 3;

/// The state of acknowledgments that are due.
#[derive(Clone, Debug, Default)]
pub(super) struct SackSchedule {
    /// When a delayed SACK is due.
    at: Option<Instant>,
    /// A SACK is due now.
    due: bool,
    /// Packets with data since the last SACK.
    packets: u32,
    /// A SACK was sent before: the first packet is acknowledged at once.
    begun: bool,
    /// The destination that data came from last, and this host's address that it was sent to.
    destination: usize,
    local: Option<IpAddr>,
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

    /// A packet with data from `source` to `local` has been processed. Its acknowledgment is sent now, where there are `holes` or
    /// after `frequency` packets, or delayed until `deadline`.
    pub(super) fn schedule(
        &mut self,
        (source, local): (Option<usize>, IpAddr),
        deadline: Instant,
        holes: bool,
        frequency: u32,
    ) {
        self.packets += 1;
        self.destination = source.unwrap_or(self.destination);
        self.local = Some(local);
        if self.urgent || holes || self.packets >= frequency || !self.begun {
            self.due = true;
        } else if self.at.is_none() {
            self.at = Some(deadline);
        }
    }
}

impl Inbound {
    /// Whether the packet at hand carries data.
    pub(in crate::sctp) fn had_data(&self) -> bool {
        self.sack.had_data
    }

    /// A SACK is sent with the next packet.
    pub(in crate::sctp) fn acknowledge_now(&mut self) {
        self.sack.due = true;
    }

    /// When the delay of a SACK expires, if one is delayed.
    pub(in crate::sctp) fn sack_at(&self) -> Option<Instant> {
        self.sack.at
    }

    /// The delay of a SACK has expired.
    pub(in crate::sctp) fn expire_sack(&mut self) {
        (self.sack.at, self.sack.due) = (None, true);
    }

    pub(in crate::sctp) fn cancel_sack(&mut self) {
        (self.sack.at, self.sack.due) = (None, false);
    }

    pub(in crate::sctp) fn is_sack_due(&self) -> bool {
        self.sack.due
    }

    /// Whether a SACK may be bundled with data.
    pub(in crate::sctp) fn is_sack_owed(&self) -> bool {
        self.sack.due || self.sack.at.is_some()
    }

    /// The destination to which a SACK is sent: data came from it last.
    pub(in crate::sctp) fn sack_destination(&self) -> usize {
        self.sack.destination
    }

    /// This host's address that a SACK leaves from: data was sent to it last.
    pub(in crate::sctp) fn sack_source(&self) -> Option<IpAddr> {
        self.sack.local
    }

    /// This host has lost an address: nothing is sent from there any more.
    pub(in crate::sctp) fn forget_sack_source(&mut self, lost: IpAddr) {
        self.sack.local.take_if(|local| *local == lost);
    }

    /// Sends a window update after the application has read, once the window has grown by a sufficient amount (RFC
    /// 9260, section 6.2, silly window avoidance; Linux `sctp_peer_needs_update`: a packet or a sixteenth of the
    /// kernel's buffer size, of which half is advertised).
    pub(in crate::sctp) fn update_window(&mut self, config: &Config, stream: &Stream) {
        let worthwhile = u64::from(config.mtu).max(config.receive_buffer / 8).min(config.receive_buffer / 2);
        if self.window(config, stream) >= self.sack.advertised_window + worthwhile.max(1) {
            self.acknowledge_now();
        }
    }

    /// The SACK or NR-SACK of the current state, at most `room` bytes of it.
    pub(in crate::sctp) fn take_sack(&mut self, room: u32, receiver: Receiver<'_>) -> Chunk {
        let config = receiver.config;
        let fit = (room.saturating_sub(24) / 4) as usize;
        let blocks_fit = config.max_gap_blocks.map_or(fit, |most| fit.min(usize::from(most)));
        let cumulative = self.arrivals.cumulative();
        let mut blocks: GapBlocks = GapBlocks::new();
        for range in self.arrivals.beyond().take(blocks_fit) {
            let offset = |tsn: u64| u16::try_from(tsn - cumulative).ok();
            let (Some(start), Some(end)) = (offset(range.start), offset(range.end - 1)) else { break };
            blocks.push(GapBlock { start, end });
        }
        let duplicates = self.arrivals.take_duplicates().take(fit - blocks.len());
        let duplicates: Vec<u32> = duplicates.map(|tsn| self.tsns.wire(tsn)).collect();
        let window = self.window(config, receiver.stream);
        let state = &mut self.sack;
        let data_packets = if config.delayed_ack_cmt { state.packets.min(MAX_DAC_COUNT) as u8 } else { 0 };
        (state.packets, state.begun, state.due, state.at, state.advertised_window) = (0, true, false, None, window);
        receiver.counters.sacks_sent += 1;
        let mut sack = SackChunk {
            cumulative_tsn: self.tsns.wire(cumulative),
            a_rwnd: u32::try_from(window).unwrap_or(u32::MAX),
            data_packets,
            gaps: blocks,
            duplicates,
        };
        if receiver.nr_sack {
            let non_renegable = core::mem::take(&mut sack.gaps);
            return Chunk::NrSack(NrSackChunk { sack, non_renegable });
        }
        Chunk::Sack(sack)
    }
}
