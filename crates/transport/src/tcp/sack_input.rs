//! Processing of SACK blocks (RFC 2018) and D-SACK (RFC 2883).

use core::ops::Range;

use arrayvec::ArrayVec;
use subflow_policy::congestion::{Controller, RecoveryState};
use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::TcpSegment;

use super::Connection;
use super::ack_input::AckFindings;
use super::sent_segments::Tags;

/// What the peer's SACK blocks have reported.
#[derive(Clone, Debug, Default)]
pub(super) struct ReportedSacks {
    /// End of the highest segment SACKed.
    highest: u64,
    /// The blocks of the last acknowledgment, whose segments are already marked.
    blocks: ArrayVec<Range<u64>, 4>,
}

impl ReportedSacks {
    /// End of the highest segment SACKed.
    #[inline]
    pub(super) fn highest(&self) -> u64 {
        self.highest
    }

    /// An acknowledgment without SACK blocks arrived.
    #[inline]
    pub(super) fn on_no_blocks(&mut self) {
        if !self.blocks.is_empty() {
            self.blocks.clear();
        }
    }

    /// The receiver has dropped what it had SACKed.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// The known block that overlaps or adjoins `block`.
    fn block_beside(&self, block: &Range<u64>) -> Option<Range<u64>> {
        self.blocks.iter().find(|known| known.start <= block.end && known.end >= block.start).cloned()
    }
}

impl Connection {
    /// Marks the segments that the SACK blocks report. SND.UNA has already been advanced.
    pub(super) fn on_sack_blocks(
        &mut self,
        segment: &TcpSegment,
        findings: &mut AckFindings,
        now: Instant,
        cc: &Controller,
    ) {
        let mut blocks = self.blocks_of(segment);
        let duplicate = self.duplicate_block(&blocks, findings.acknowledgment);
        if let Some(duplicate) = &duplicate {
            blocks.remove(0);
            self.on_dsack(duplicate.clone(), findings);
        }
        let is_valid = |block: &Range<u64>| {
            block.end <= self.send.next() && block.end > self.send.una() && block.start < block.end
        };
        blocks.retain(|block| is_valid(block));
        if let Some(duplicate) = duplicate.filter(is_valid) {
            // What arrived twice has arrived, also if the block around it is not valid.
            let is_reported = blocks.iter().any(|block| block.start <= duplicate.start && duplicate.end <= block.end);
            if !is_reported {
                blocks.push(duplicate);
            }
        }
        let mut lowest_reordered = u64::MAX;
        for block in &blocks {
            self.mark_block(block.clone(), findings, &mut lowest_reordered, now);
        }
        self.reported_sacks.blocks = blocks;
        let state = self.recovery_state(cc);
        if lowest_reordered != u64::MAX && (state != RecoveryState::Loss || self.undo.is_possible()) {
            self.note_reordering(lowest_reordered);
        }
    }

    fn blocks_of(&self, segment: &TcpSegment) -> ArrayVec<Range<u64>, 4> {
        let offset = |number| self.send.offset_of(number);
        segment.options.sack.iter().filter_map(|block| Some(offset(block.left)?..offset(block.right)?)).collect()
    }

    /// The first block is a D-SACK if it lies below the acknowledgment number or within the second block (RFC 2883,
    /// section 4).
    fn duplicate_block(&self, blocks: &[Range<u64>], acknowledgment: u64) -> Option<Range<u64>> {
        let first = blocks.first()?;
        let below = first.start < acknowledgment;
        let within = blocks.get(1).is_some_and(|second| second.start <= first.start && first.end <= second.end);
        (first.start < first.end && (below || within)).then(|| first.clone())
    }

    /// Processes a D-SACK: a retransmission was not necessary.
    fn on_dsack(&mut self, duplicate: Range<u64>, findings: &mut AckFindings) {
        let length = duplicate.end - duplicate.start;
        if duplicate.end > self.send.next() || length > self.send.max_window().max(65_535) {
            return;
        }
        findings.dsack = true;
        if self.recovery.probe().is_some_and(|probe| probe.end == duplicate.end) {
            findings.dsack_of_probe = true;
        }
        if self.reordering.is_seen() && !findings.dsack_of_probe {
            self.rack.on_dsack();
        }
        let segments = length.div_ceil(u64::from(self.size.mss())) as i64;
        self.undo.on_dsack(duplicate.end, segments);
        let mut id = self.sent.first_ending_after(duplicate.start);
        while self.sent.contains(id) && self.sent.get(id).end <= duplicate.end {
            self.sent.clear_retransmission(id);
            id = id.wrapping_add(1);
        }
    }

    /// Marks the segments of one block, except those that the last acknowledgment's blocks covered.
    fn mark_block(&mut self, block: Range<u64>, findings: &mut AckFindings, reordered: &mut u64, now: Instant) {
        match self.reported_sacks.block_beside(&block) {
            Some(known) => {
                self.mark_range(&block, block.start..known.start.min(block.end), findings, reordered, now);
                self.mark_range(&block, known.end.max(block.start)..block.end, findings, reordered, now);
            }
            None => self.mark_range(&block, block.clone(), findings, reordered, now),
        }
    }

    /// Marks the segments that have bytes in `range` and lie in `block` as a whole: what was retransmitted may arrive
    /// in parts, in another order, so that the rest of a segment was reported before.
    fn mark_range(
        &mut self,
        block: &Range<u64>,
        range: Range<u64>,
        findings: &mut AckFindings,
        reordered: &mut u64,
        now: Instant,
    ) {
        if range.start >= range.end {
            return;
        }
        let mut id = self.sent.first_ending_after(range.start);
        while self.sent.contains(id) {
            let segment = self.sent.get(id);
            if segment.start >= range.end || segment.end > block.end {
                break;
            }
            if segment.start >= block.start && !segment.tags.has(Tags::SACKED) {
                self.mark_segment(id, findings, reordered, now);
            }
            id = id.wrapping_add(1);
        }
        self.reported_sacks.highest = self.reported_sacks.highest.max(range.end);
    }

    fn mark_segment(&mut self, id: u32, findings: &mut AckFindings, reordered: &mut u64, now: Instant) {
        let segment = self.sent.get(id);
        let (start, end, sent_at, tags) = (segment.start, segment.end, segment.sent_at, segment.tags);
        let repeated = tags.has(Tags::EVER_RETRANSMITTED);
        let min = self.rto.rtt().min().unwrap_or(Duration::ZERO);
        self.rack.on_delivered(now, sent_at, end, repeated, min);
        if !repeated {
            if start < self.reported_sacks.highest {
                *reordered = (*reordered).min(start);
            }
            if end <= self.recovery.point() {
                findings.original_acknowledged = true;
            }
            let first = findings.sacked_originals.map_or(sent_at, |(first, _)| first);
            findings.sacked_originals = Some((first, sent_at));
        }
        self.sent.mark_sacked(id);
        if let Some(rate) = &mut self.delivery_rate {
            rate.on_sacked(id, sent_at);
        }
        findings.newly_sacked += 1;
    }
}
