//! Processing a SACK or NR-SACK (RFC 9260, section 6.2.1): what it acknowledges, takes back, and makes room for.

use subflow_quantity::{Duration, Instant};
use subflow_wire::sctp::{GAP_BLOCK_LENGTH, GapBlock, SackChunk};

use super::Association;
use super::cuc::Reported;
use super::gap_blocks::{Bounds, GapReport, Named};
use super::outbound::{SentChunk, Status};
use super::reassembly::Delivery;
use super::tags::violation;
use crate::tcp::Closed;

/// What one SACK says of one destination.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heard {
    /// Bytes newly acknowledged that were in flight there.
    pub(super) bytes: u64,
    /// Something sent there last is newly acknowledged, and the highest TSN of it.
    pub(super) highest_new: Option<u64>,
    /// Something newly acknowledged proves that it works.
    proven: bool,
    /// The earliest of its outstanding TSNs is acknowledged: T3 starts anew.
    pub(super) restart_timer: bool,
    /// Something sent there earlier is still missing.
    hole: bool,
    /// In flight before the SACK.
    pub(super) flight_before: u64,
    rtt: Option<Duration>,
}

/// The peer acknowledges what was never sent: the association has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Violation;

/// Memory for one SACK at a time, kept from one to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct SackScratch {
    pub(super) heard: Vec<Heard>,
    pub(super) deliveries: Vec<Delivery>,
}

/// What one SACK says as a whole.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Verdict {
    pub(super) cumulative_advanced: bool,
    /// The lowest and highest TSN newly acknowledged.
    pub(super) lowest_new: Option<u64>,
    pub(super) highest_new: Option<u64>,
    /// The highest TSN that it names.
    pub(super) highest_reported: u64,
    /// Packets with data that it stands for, where the receiver counts them (DAC).
    pub(super) data_packets: u8,
}

impl Verdict {
    fn note(&mut self, tsn: u64) {
        self.lowest_new = Some(self.lowest_new.map_or(tsn, |lowest| lowest.min(tsn)));
        self.highest_new = Some(self.highest_new.map_or(tsn, |highest| highest.max(tsn)));
    }
}

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
        let mut verdict = Verdict {
            cumulative_advanced: cumulative > self.outbound.cumulative(),
            highest_reported: cumulative,
            data_packets: sack.data_packets,
            ..Verdict::default()
        };
        self.leave_recovery(cumulative);
        self.acknowledge_cumulatively(cumulative, &mut verdict, now);
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
        let surprising = self.acknowledge_blocks(&report, &mut verdict, now) | self.take_back_next();
        if self.state.is_closed() {
            return;
        }
        self.settle_destinations(&verdict, now);
        if !report.is_empty() {
            self.count_misses(&report, &verdict, now);
        }
        self.destinations[from].report = report;
        if surprising {
            self.destinations.iter_mut().for_each(|destination| destination.report.distrust());
        }
        self.peer_offer = u64::from(sack.a_rwnd);
        self.advance_abandoned_point(now);
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
        let mut verdict = Verdict { cumulative_advanced: advanced, ..Verdict::default() };
        self.leave_recovery(cumulative);
        self.acknowledge_cumulatively(cumulative, &mut verdict, now);
        if self.take_back_next() {
            self.destinations.iter_mut().for_each(|destination| destination.report.distrust());
        }
        if self.state.is_closed() {
            return false;
        }
        self.settle_destinations(&verdict, now);
        true
    }

    /// The cumulative TSN of a SACK or SHUTDOWN; `None` for one that is older than another before (section 6.2.1, D i). One that covers
    /// what was never sent ends the association.
    fn read_cumulative(&mut self, wire: u32) -> Result<Option<u64>, Violation> {
        let acknowledged = self.outbound.cumulative();
        let cumulative = self.local_tsns.unwrap(wire, acknowledged).filter(|&cumulative| cumulative >= acknowledged);
        let Some(cumulative) = cumulative else { return Ok(None) };
        let is_unsent = |tsn| self.outbound.chunk(tsn).is_none_or(|chunk| chunk.status == Status::Assigned);
        if cumulative >= self.outbound.next_tsn() || (acknowledged + 1..=cumulative).any(is_unsent) {
            self.abort_with(vec![violation()], Closed::Aborted);
            return Err(Violation);
        }
        Ok(Some(cumulative))
    }

    /// The cumulative TSN says that the next one is missing, whatever gap blocks have said: it is in flight again, or nothing would ever
    /// send it. A peer that has promised to keep it is in violation. Gives whether it was taken back.
    fn take_back_next(&mut self) -> bool {
        let tsn = self.outbound.cumulative() + 1;
        let Some(chunk) = self.outbound.chunk_mut(tsn).filter(|chunk| chunk.is_acked()) else { return false };
        if chunk.status == Status::Kept {
            self.abort_with(vec![violation()], Closed::Aborted);
            return false;
        }
        chunk.status = Status::InFlight;
        let (index, length) = (chunk.destination, chunk.length());
        self.on_reneged(index, length);
        true
    }

    fn begin_sack(&mut self) {
        self.scratch.heard.clear();
        for destination in &mut self.destinations {
            destination.cuc.begin_sack();
            self.scratch.heard.push(Heard { flight_before: destination.in_flight, ..Heard::default() });
        }
    }

    fn acknowledge_cumulatively(&mut self, cumulative: u64, verdict: &mut Verdict, now: Instant) {
        while self.outbound.cumulative() < cumulative {
            let Some((tsn, mut chunk)) = self.outbound.pop() else { return };
            self.scheduler.iter_mut().for_each(|scheduler| scheduler.pop());
            let index = chunk.destination;
            self.scratch.heard[index].restart_timer = true;
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
            self.land_copies(&mut chunk);
            self.note_newly_acked(tsn, &chunk, verdict, now);
        }
    }

    /// Books a chunk that is acknowledged for the first time, whose status is still the old one.
    fn note_newly_acked(&mut self, tsn: u64, chunk: &SentChunk, verdict: &mut Verdict, now: Instant) {
        let proof = self.is_proof(chunk);
        let (length, destination) = (chunk.length(), &mut self.destinations[chunk.destination]);
        let heard = &mut self.scratch.heard[chunk.destination];
        match chunk.status {
            Status::InFlight => {
                destination.land(length);
                self.outbound.in_flight -= length;
                heard.bytes += length;
                destination.counters.bytes_acknowledged += length;
            }
            // What T3 or a fast retransmission has taken out of flight was counted then.
            Status::Lost | Status::Assigned => {}
            Status::GapAcked | Status::Kept | Status::Abandoned => return,
        }
        if chunk.timed {
            destination.timing = false;
            if !chunk.is_retransmitted() {
                heard.rtt = Some(now.since(chunk.sent_at));
            }
        }
        heard.highest_new = Some(heard.highest_new.map_or(tsn, |highest| highest.max(tsn)));
        heard.proven |= proof;
        verdict.note(tsn);
    }

    /// Goes over the queue as far as gap blocks reach, now or before: what is newly acknowledged, what the peer has dropped. A SACK
    /// with a higher cumulative TSN is newer than all others. Gives whether what was known is not to be relied on.
    fn acknowledge_blocks(&mut self, report: &GapReport, verdict: &mut Verdict, now: Instant) -> bool {
        debug_assert!(report.settled().iter().cloned().flatten().all(|tsn| self.is_settled(tsn)));
        let (mut surprising, newest) = (false, verdict.cumulative_advanced);
        let last = if newest { self.highest_gap_acked } else { 0 };
        for mut named in report.unsettled(self.outbound.cumulative() + 1, last) {
            named.before |= newest;
            surprising |= self.review(named, !report.is_empty(), verdict, now);
        }
        verdict.highest_reported = verdict.highest_reported.max(report.end());
        self.highest_gap_acked = if newest { report.end() } else { self.highest_gap_acked.max(report.end()) };
        surprising
    }

    /// Whether there is nothing to say of a TSN that two SACKs in a row name.
    fn is_settled(&self, tsn: u64) -> bool {
        let chunk = self.outbound.chunk(tsn);
        chunk.is_some_and(|chunk| chunk.is_acked() || chunk.status == Status::Abandoned)
    }

    /// One TSN of the queue. Gives whether it is named without having been sent, or was dropped.
    fn review(&mut self, named: Named, has_gaps: bool, verdict: &mut Verdict, now: Instant) -> bool {
        let Named { tsn, now: reported, before } = named;
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
        let heard = &mut self.scratch.heard[index];
        if newly {
            heard.restart_timer |= !heard.hole && self.config.gap_acks_restart_timer;
            let mut chunk = chunk.clone();
            self.land_copies(&mut chunk);
            self.note_newly_acked(tsn, &chunk, verdict, now);
            self.outbound.take_lost(tsn);
        } else if matches!(status, Status::InFlight | Status::Lost) {
            heard.hole = true;
        }
        let new_status = match (status, reported) {
            (Status::InFlight | Status::Lost | Status::GapAcked, Some(true)) => {
                self.freed += length;
                Status::Kept
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

    /// The peer has dropped a chunk that it had acknowledged: it counts as in flight again (section 6.2.1, and rule R4 of 6.3.2).
    fn on_reneged(&mut self, index: usize, length: u64) {
        self.counters.reneged_by_peer += 1;
        let destination = &mut self.destinations[index];
        destination.take_off(length);
        destination.counters.bytes_acknowledged = destination.counters.bytes_acknowledged.saturating_sub(length);
        self.outbound.in_flight += length;
    }

    /// A chunk is acknowledged of which copies are in flight. Nobody can tell which one arrived: all count.
    fn land_copies(&mut self, chunk: &mut SentChunk) {
        for index in chunk.take_copies() {
            self.destinations[index].land(chunk.length());
            self.scratch.heard[index].bytes += chunk.length();
        }
    }

    /// Estimates, windows, error counts and timers, after everything acknowledged is booked.
    fn settle_destinations(&mut self, verdict: &Verdict, now: Instant) {
        if verdict.cumulative_advanced {
            self.restart_guard(now);
        }
        for index in 0..self.destinations.len() {
            let heard = self.scratch.heard[index];
            if let Some(rtt) = heard.rtt {
                self.on_rtt(index, rtt);
            }
            if heard.highest_new.is_some() {
                self.on_answered(index, heard.proven);
            }
            if heard.bytes > 0 {
                self.grow_window(index, &heard, verdict, now);
            }
            let rto = self.destinations[index].rto.rto();
            let deadline = self.deadline(now, rto);
            let destination = &mut self.destinations[index];
            if destination.in_flight == 0 {
                // Rule R2, and section 7.2.2: what was counted towards a larger window is forgotten.
                destination.t3 = None;
                self.congestion.path_mut(index).credit = 0;
            } else if heard.restart_timer || destination.t3.is_none() {
                destination.t3 = Some(deadline);
            }
        }
        if self.forward_is_outstanding() {
            self.keep_timer_running(now);
        }
    }

    /// A new RTT measurement of a destination.
    pub(super) fn on_rtt(&mut self, index: usize, rtt: Duration) {
        let estimator = &mut self.destinations[index].rto;
        estimator.sample(rtt);
        if let (Some(srtt), Some(min)) = (estimator.srtt(), estimator.min()) {
            self.congestion.set_rtt(index, srtt, min);
        }
    }
}
