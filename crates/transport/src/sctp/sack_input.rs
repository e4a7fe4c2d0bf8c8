//! Processing of a SACK or NR-SACK (RFC 9260, section 6.2.1): acknowledgments, reneging, and the peer's window.

use subflow_quantity::Instant;
use subflow_wire::sctp::{GAP_BLOCK_LENGTH, GapBlock, SackChunk};

use super::Association;
use super::cuc::Reported;
use super::gap_blocks::{Bounds, GapReport, ReportedTsn};
use super::newly_acked::SackSummary;
use super::outbound::Status;
use super::violation::Violation;
use crate::tcp::Closed;

impl Association {
    /// A SACK came from the destination `from`.
    pub(super) fn on_sack(&mut self, sack: &SackChunk, non_renegable: &[GapBlock], from: usize, now: Instant) {
        if self.remote_tag == 0 || self.opening.at.is_some() {
            return;
        }
        let Ok(Some(cumulative)) = self.read_cumulative(sack.cumulative_tsn) else { return };
        self.counters.sacks_received += 1;
        self.probe_answered = true;
        self.begin_sack();
        let mut summary = SackSummary {
            cumulative_advanced: cumulative > self.outbound.cumulative(),
            highest_reported: cumulative,
            data_packets: sack.data_packets,
            ..SackSummary::default()
        };
        self.leave_recovery(cumulative);
        self.acknowledge_cumulatively(cumulative, &mut summary, now);
        let mut report = core::mem::take(&mut self.destinations[from].report);
        let bounds = Bounds {
            cumulative,
            last_sent: self.outbound.next_tsn() - 1,
            // No more fit in a packet.
            most_blocks: (self.room() / GAP_BLOCK_LENGTH) as usize,
        };
        if report.read(bounds, &sack.gaps, non_renegable) {
            self.destinations.iter_mut().for_each(|destination| destination.highest_reported = None);
        }
        let inconsistent = self.acknowledge_blocks(&report, &mut summary, now) | self.take_back_next();
        if self.state.is_closed() {
            return;
        }
        self.update_destinations(&summary, now);
        if !report.is_empty() {
            self.count_misses(&report, &summary, now);
        }
        self.destinations[from].report = report;
        if inconsistent {
            self.destinations.iter_mut().for_each(|destination| destination.report.invalidate());
        }
        self.peer_offer = u64::from(sack.a_rwnd);
        self.repeat_refused_probe();
        self.advance_abandoned_point(now);
    }

    /// The window is open again, and the probe of the closed one is not acknowledged: the peer had no room for it. It
    /// is sent again now. Otherwise it would wait for T3, which probes have backed off up to RTO.Max, while later
    /// chunks go.
    fn repeat_refused_probe(&mut self) {
        let Some(tsn) = self.window_probe else { return };
        match self.outbound.chunk(tsn).filter(|chunk| chunk.status == Status::InFlight) {
            Some(probe) if probe.length() > self.peer_offer => {}
            Some(_) => {
                self.window_probe = None;
                self.mark_lost(tsn);
            }
            None => self.window_probe = None,
        }
    }

    /// The cumulative TSN of a SHUTDOWN acknowledges, too. `false` where the association has ended with it.
    pub(super) fn acknowledge_up_to(&mut self, wire: u32, now: Instant) -> bool {
        let cumulative = match self.read_cumulative(wire) {
            Ok(Some(cumulative)) => cumulative,
            Ok(None) => return true,
            Err(Violation) => return false,
        };
        self.begin_sack();
        let advanced = cumulative > self.outbound.cumulative();
        let mut summary = SackSummary { cumulative_advanced: advanced, ..SackSummary::default() };
        self.leave_recovery(cumulative);
        self.acknowledge_cumulatively(cumulative, &mut summary, now);
        if self.take_back_next() {
            self.destinations.iter_mut().for_each(|destination| destination.report.invalidate());
        }
        if self.state.is_closed() {
            return false;
        }
        self.update_destinations(&summary, now);
        true
    }

    /// The cumulative TSN of a SACK or SHUTDOWN; `None` for one that is older than another before (section 6.2.1, D i).
    /// One that covers what was never sent ends the association.
    fn read_cumulative(&mut self, wire: u32) -> Result<Option<u64>, Violation> {
        let acknowledged = self.outbound.cumulative();
        let cumulative = self.local_tsns.unwrap(wire, acknowledged).filter(|&cumulative| cumulative >= acknowledged);
        let Some(cumulative) = cumulative else { return Ok(None) };
        let is_unsent = |tsn| self.outbound.chunk(tsn).is_none_or(|chunk| chunk.status == Status::Assigned);
        if cumulative >= self.outbound.next_tsn() || (acknowledged + 1..=cumulative).any(is_unsent) {
            self.abort_with(vec![Violation.cause()], Closed::Aborted);
            return Err(Violation);
        }
        Ok(Some(cumulative))
    }

    /// The cumulative TSN says that the next one is missing, whatever gap blocks have said: it is in flight again, or
    /// nothing would ever send it. A peer that has promised to keep it is in violation. Gives whether it was taken
    /// back.
    fn take_back_next(&mut self) -> bool {
        let tsn = self.outbound.cumulative() + 1;
        let Some(chunk) = self.outbound.chunk_mut(tsn).filter(|chunk| chunk.is_acked()) else { return false };
        if chunk.status == Status::NonRenegable {
            self.abort_with(vec![Violation.cause()], Closed::Aborted);
            return false;
        }
        chunk.status = Status::InFlight;
        let (index, length) = (chunk.destination, chunk.length());
        self.on_reneged(index, length);
        true
    }

    fn acknowledge_cumulatively(&mut self, cumulative: u64, summary: &mut SackSummary, now: Instant) {
        while self.outbound.cumulative() < cumulative {
            let Some((tsn, mut chunk)) = self.outbound.pop() else { return };
            self.scheduler.iter_mut().for_each(|scheduler| scheduler.pop());
            let index = chunk.destination;
            self.scratch.updates[index].restart_timer = true;
            if chunk.status != Status::Abandoned {
                self.acknowledged += chunk.length();
            }
            if chunk.is_acked() || chunk.status == Status::Abandoned {
                if chunk.status == Status::GapAcked {
                    self.freed += chunk.length();
                }
                continue;
            }
            self.freed += chunk.length();
            self.destinations[index].cuc.on_cumulative();
            self.remove_copies_in_flight(&mut chunk);
            self.note_newly_acked(tsn, &chunk, summary, now);
        }
    }

    /// Processes the queue as far as gap blocks of this or the previous SACK reach: newly acknowledged data, and data
    /// that the peer has dropped. A SACK with a higher cumulative TSN is newer than all others. Returns whether earlier
    /// reports are no longer reliable.
    fn acknowledge_blocks(&mut self, report: &GapReport, summary: &mut SackSummary, now: Instant) -> bool {
        debug_assert!(report.unchanged().iter().cloned().flatten().all(|tsn| self.needs_no_change(tsn)));
        let (mut inconsistent, newest) = (false, summary.cumulative_advanced);
        let last = if newest { self.highest_gap_acked } else { 0 };
        for mut named in report.changed_or_missing(self.outbound.cumulative() + 1, last) {
            named.before |= newest;
            inconsistent |= self.apply_report(named, !report.is_empty(), summary, now);
        }
        summary.highest_reported = summary.highest_reported.max(report.end());
        self.highest_gap_acked = if newest { report.end() } else { self.highest_gap_acked.max(report.end()) };
        inconsistent
    }

    /// Whether a TSN that two consecutive SACKs report needs no processing.
    fn needs_no_change(&self, tsn: u64) -> bool {
        let chunk = self.outbound.chunk(tsn);
        chunk.is_some_and(|chunk| chunk.is_acked() || chunk.status == Status::Abandoned)
    }

    /// One TSN of the queue. Gives whether it is named without having been sent, or was dropped.
    fn apply_report(&mut self, named: ReportedTsn, has_gaps: bool, summary: &mut SackSummary, now: Instant) -> bool {
        let ReportedTsn { tsn, now: reported, before } = named;
        let Some(chunk) = self.outbound.chunk(tsn) else { return false };
        let (index, length, status) = (chunk.destination, chunk.length(), chunk.status);
        let newly = reported.is_some() && matches!(status, Status::InFlight | Status::Lost);
        if has_gaps && status != Status::Abandoned {
            self.destinations[index].cuc.on_outstanding(Reported {
                tsn,
                acked_before: chunk.is_acked(),
                newly_gap_acked: newly,
                retransmitted: chunk.is_retransmitted(),
            });
        }
        if reported.is_some() {
            let highest = &mut self.destinations[index].highest_reported;
            *highest = (*highest).max(Some(tsn));
        }
        let update = &mut self.scratch.updates[index];
        if newly {
            update.restart_timer |= !update.hole && self.config.gap_acks_restart_timer;
            let mut chunk = chunk.clone();
            self.remove_copies_in_flight(&mut chunk);
            self.note_newly_acked(tsn, &chunk, summary, now);
            self.outbound.take_lost(tsn);
        } else if matches!(status, Status::InFlight | Status::Lost) {
            update.hole = true;
        }
        let new_status = match (status, reported) {
            (Status::InFlight | Status::Lost | Status::GapAcked, Some(true)) => {
                self.freed += length;
                Status::NonRenegable
            }
            (Status::InFlight | Status::Lost, Some(false)) => Status::GapAcked,
            (Status::GapAcked, None) if before => {
                self.on_reneged(index, length);
                Status::InFlight
            }
            (unchanged, _) => unchanged,
        };
        if let Some(chunk) = self.outbound.chunk_mut(tsn) {
            chunk.timed &= !newly;
            chunk.copies = if newly { 0 } else { chunk.copies };
            chunk.status = new_status;
        }
        let dropped = status == Status::GapAcked && new_status == Status::InFlight;
        dropped || (reported.is_some() && status == Status::Assigned)
    }

    /// The peer has dropped a chunk that it had acknowledged: it counts as in flight again (section 6.2.1, and rule R4
    /// of 6.3.2).
    fn on_reneged(&mut self, index: usize, length: u64) {
        self.counters.reneged_by_peer += 1;
        let destination = &mut self.destinations[index];
        destination.add_in_flight(length);
        destination.counters.bytes_acknowledged = destination.counters.bytes_acknowledged.saturating_sub(length);
        self.outbound.in_flight += length;
    }
}
