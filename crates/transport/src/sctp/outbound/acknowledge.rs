//! What a SACK acknowledges, and what the peer has dropped (RFC 9260, section 6.2.1).

use subflow_quantity::Instant;

use super::Outbound;
use super::newly_acked::NewlyAcked;
use super::sent_chunk::{SentChunk, Status};
use crate::sctp::cuc::Reported;
use crate::sctp::destinations::Destinations;
use crate::sctp::gap_blocks::{GapReport, ReportedTsn};
use crate::sctp::violation::Violation;
use crate::sctp::{Config, Counters};

/// What a SACK changes beside the data to send.
pub(in crate::sctp) struct Acknowledging<'a> {
    pub(in crate::sctp) config: &'a Config,
    pub(in crate::sctp) destinations: &'a mut Destinations,
    pub(in crate::sctp) newly: &'a mut NewlyAcked,
    pub(in crate::sctp) counters: &'a mut Counters,
    pub(in crate::sctp) now: Instant,
}

impl Acknowledging<'_> {
    #[inline]
    fn record(&mut self, tsn: u64, chunk: &SentChunk) {
        let destination = &mut self.destinations[chunk.destination()];
        let proven = destination.is_proven_by(chunk);
        // What T3 or a fast retransmission has taken out of flight is credited to no destination.
        if chunk.is_in_flight() {
            destination.counters.bytes_acknowledged += chunk.length();
        }
        self.newly.record(tsn, chunk, proven, self.now);
    }
}

impl Outbound {
    /// The cumulative TSN of a SACK or SHUTDOWN; `None` for one that is older than another before (section 6.2.1, D i).
    ///
    /// # Errors
    ///
    /// If it covers what was never sent.
    pub(in crate::sctp) fn read_cumulative(&self, wire: u32) -> Result<Option<u64>, Violation> {
        let acknowledged = self.queue.cumulative();
        let cumulative = self.tsns.unwrap(wire, acknowledged).filter(|&cumulative| cumulative >= acknowledged);
        let Some(cumulative) = cumulative else { return Ok(None) };
        let is_unsent = |tsn| self.queue.chunk(tsn).is_none_or(|chunk| chunk.status() == Status::Assigned);
        if cumulative >= self.queue.next_tsn() || (acknowledged + 1..=cumulative).any(is_unsent) {
            return Err(Violation);
        }
        Ok(Some(cumulative))
    }

    /// The chunks up to `cumulative` are acknowledged, and leave the queue.
    pub(in crate::sctp) fn acknowledge_up_to(&mut self, cumulative: u64, on: &mut Acknowledging<'_>) {
        while self.queue.cumulative() < cumulative {
            let Acknowledging { destinations, newly, .. } = on;
            let landed = |index: usize, length| newly.updates[index].bytes += length;
            let Some((tsn, chunk)) = self.queue.pop(destinations, landed) else { return };
            let (index, length, status) = (chunk.destination(), chunk.length(), chunk.status());
            newly.updates[index].restart_timer = true;
            if status != Status::Abandoned {
                self.acknowledged += length;
            }
            // What was abandoned, or will not be dropped, was freed at that time.
            if !matches!(status, Status::Abandoned | Status::NonRenegable) {
                self.freed += length;
            }
            if !chunk.is_acked() && status != Status::Abandoned {
                destinations[index].cuc.on_cumulative();
                on.record(tsn, &chunk);
            }
        }
    }

    /// Processes the queue as far as gap blocks of this or the previous SACK reach: newly acknowledged data, and data
    /// that the peer has dropped. A SACK with a higher cumulative TSN is newer than all others. Returns whether earlier
    /// reports are no longer reliable.
    pub(in crate::sctp) fn acknowledge_blocks(&mut self, report: &GapReport, on: &mut Acknowledging<'_>) -> bool {
        debug_assert!(report.unchanged().iter().cloned().flatten().all(|tsn| self.needs_no_change(tsn)));
        let (mut inconsistent, newest) = (false, on.newly.cumulative_advanced());
        let last = if newest { self.highest_gap_acked } else { 0 };
        for mut named in report.changed_or_missing(self.queue.cumulative() + 1, last) {
            named.before |= newest;
            inconsistent |= self.apply_report(named, !report.is_empty(), on);
        }
        on.newly.on_blocks(report.end());
        self.highest_gap_acked = if newest { report.end() } else { self.highest_gap_acked.max(report.end()) };
        inconsistent
    }

    /// Whether a TSN that two consecutive SACKs report needs no processing.
    fn needs_no_change(&self, tsn: u64) -> bool {
        self.queue.chunk(tsn).is_some_and(|chunk| chunk.is_acked() || chunk.status() == Status::Abandoned)
    }

    /// One TSN of the queue. Returns whether it is named without having been sent, or was dropped.
    fn apply_report(&mut self, named: ReportedTsn, has_gaps: bool, on: &mut Acknowledging<'_>) -> bool {
        let ReportedTsn { tsn, now: reported, before } = named;
        let Some(chunk) = self.queue.chunk(tsn) else { return false };
        let (index, length, status) = (chunk.destination(), chunk.length(), chunk.status());
        let is_outstanding = matches!(status, Status::InFlight | Status::Lost);
        let destination = &mut on.destinations[index];
        if has_gaps && status != Status::Abandoned {
            destination.cuc.on_outstanding(Reported {
                tsn,
                acked_before: chunk.is_acked(),
                newly_gap_acked: reported.is_some() && is_outstanding,
                retransmitted: chunk.is_retransmitted(),
            });
        }
        if reported.is_some() {
            destination.highest_reported = destination.highest_reported.max(Some(tsn));
        }
        match reported {
            Some(kept) if is_outstanding => {
                let update = &mut on.newly.updates[index];
                update.restart_timer |= !update.hole && on.config.gap_acks_restart_timer;
                on.record(tsn, chunk);
                let Acknowledging { destinations, newly, .. } = on;
                let landed = |index: usize, length| newly.updates[index].bytes += length;
                self.queue.gap_ack(tsn, kept, destinations, landed);
                self.freed += if kept { length } else { 0 };
                false
            }
            Some(kept) if status == Status::GapAcked => {
                if kept {
                    self.queue.gap_ack(tsn, kept, on.destinations, |_, _| {});
                    self.freed += length;
                }
                false
            }
            None if is_outstanding => {
                on.newly.updates[index].hole = true;
                false
            }
            None if status == Status::GapAcked && before => {
                self.renege(tsn, on);
                true
            }
            Some(_) => status == Status::Assigned,
            None => false,
        }
    }

    /// The cumulative TSN says that the next one is missing, whatever gap blocks have said: it is in flight again, or
    /// nothing would ever send it. Returns whether it was taken back.
    ///
    /// # Errors
    ///
    /// If the peer has promised to keep it.
    pub(in crate::sctp) fn take_back_next(&mut self, on: &mut Acknowledging<'_>) -> Result<bool, Violation> {
        let tsn = self.queue.cumulative() + 1;
        match self.queue.chunk(tsn).map(SentChunk::status) {
            Some(Status::NonRenegable) => Err(Violation),
            Some(Status::GapAcked) => {
                self.renege(tsn, on);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// The peer has dropped a chunk that it had acknowledged.
    #[cold]
    fn renege(&mut self, tsn: u64, on: &mut Acknowledging<'_>) {
        let Some(chunk) = self.queue.chunk(tsn) else { return };
        let (length, counters) = (chunk.length(), &mut on.destinations[chunk.destination()].counters);
        counters.bytes_acknowledged = counters.bytes_acknowledged.saturating_sub(length);
        on.counters.reneged_by_peer += 1;
        self.queue.renege(tsn, on.destinations);
    }
}
