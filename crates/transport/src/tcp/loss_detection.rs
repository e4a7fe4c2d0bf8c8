//! Loss detection: RACK (RFC 8985, section 6) or DupThresh (RFC 6675).

use subflow_policy::congestion::{Controller, RecoveryState};
use subflow_quantity::{Duration, Instant};

use super::Connection;
use super::ack_input::AckFindings;
use super::timers::Purpose;

/// SACKed segments above a hole that prove it lost (RFC 6675: DupThresh).
pub(super) const DUP_THRESH: u32 = 3;

/// Upper bound of the reordering degree, in segments (`tcp_max_reordering`).
const MAX_REORDERING: u32 = 300;
/// Recoveries without a D-SACK after which the reordering window is reset (RFC 8985, section 6.2:
/// RACK.reo_wnd_persist).
const REO_WND_PERSIST: u32 = 16;
/// Margin added to the reordering and probe timers (Linux `TCP_TIMEOUT_MIN_US`).
pub(super) const TIMER_MARGIN: Duration = Duration::from_millis(2);

/// Variables of RFC 8985, section 5.2.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// Transmission time of the segment sent last among those delivered (RACK.xmit_ts).
    sent_at: Instant,
    /// Its end (RACK.end_seq).
    end: u64,
    /// Its RTT (RACK.rtt).
    rtt: Duration,
    /// A segment was delivered since the last detection.
    advanced: bool,
    /// Multiplier of the reordering window (RACK.reo_wnd_mult).
    steps: u64,
    /// Remaining recoveries before the multiplier is reset (RACK.reo_wnd_persist).
    persist: u32,
    /// A D-SACK arrived with this acknowledgment.
    dsack_seen: bool,
    /// The multiplier may increase again when this offset is acknowledged (RACK.dsack_round).
    round_end: u64,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            sent_at: Instant::ZERO,
            end: 0,
            rtt: Duration::ZERO,
            advanced: false,
            steps: 1,
            persist: 0,
            dsack_seen: false,
            round_end: 0,
        }
    }
}

impl Rack {
    /// Whether `(sent_at, end)` was sent after the most recently delivered segment.
    fn is_newer(&self, sent_at: Instant, end: u64) -> bool {
        (sent_at, end) >= (self.sent_at, self.end)
    }

    /// A segment was delivered (RFC 8985, section 6.2, step 2).
    pub(crate) fn on_delivered(&mut self, now: Instant, sent_at: Instant, end: u64, repeated: bool, min: Duration) {
        let rtt = now.since(sent_at);
        if repeated && rtt < min {
            // The acknowledgment is of the original, not of the retransmission.
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if (sent_at, end) > (self.sent_at, self.end) {
            self.sent_at = sent_at;
            self.end = end;
        }
    }

    /// A D-SACK reported a spurious retransmission: the reordering window increases once per round trip (section 6.2,
    /// step 4).
    pub(super) fn on_dsack(&mut self) {
        self.dsack_seen = true;
    }

    /// Updates the multiplier, once per acknowledgment.
    pub(super) fn adapt(&mut self, una: u64, nxt: u64) {
        if self.dsack_seen {
            self.dsack_seen = false;
            if una >= self.round_end {
                self.steps = (self.steps + 1).min(255);
                self.round_end = nxt;
                self.persist = REO_WND_PERSIST;
            }
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// Something that was outstanding may be lost now: the next detection examines it, whether or not a segment was
    /// delivered.
    pub(super) fn examine_again(&mut self) {
        self.advanced = true;
    }

    /// Recovery ended without an undo.
    pub(super) fn on_recovery_left(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// Recovery was undone.
    pub(super) fn on_needless_recovery(&mut self) {
        self.persist = (self.persist + 1).min(REO_WND_PERSIST);
    }
}

/// How far the network reorders (Linux `reordering` and `reord_seen`).
#[derive(Clone, Debug)]
pub(super) struct Reordering {
    /// In segments; at least [`DUP_THRESH`], at most [`MAX_REORDERING`].
    degree: u32,
    is_seen: bool,
}

impl Default for Reordering {
    fn default() -> Self {
        Self { degree: DUP_THRESH, is_seen: false }
    }
}

impl Reordering {
    /// SACKed segments above a hole that prove it lost.
    #[inline]
    pub(super) fn degree(&self) -> u32 {
        self.degree
    }

    /// Whether the degree is above the one that is assumed at first.
    #[inline]
    pub(super) fn is_raised(&self) -> bool {
        self.degree > DUP_THRESH
    }

    /// Whether reordering has been observed.
    #[inline]
    pub(super) fn is_seen(&self) -> bool {
        self.is_seen
    }

    /// A segment arrived after the next `segments`.
    fn note(&mut self, segments: u32) {
        self.degree = self.degree.max(segments.min(MAX_REORDERING));
        self.is_seen = true;
    }

    /// A timeout has shown that the degree was too high: what was SACKed would have been enough.
    pub(super) fn reset(&mut self) {
        self.degree = DUP_THRESH;
    }
}

impl Connection {
    /// Marks lost segments after an acknowledgment.
    pub(super) fn detect_losses(&mut self, findings: &mut AckFindings, now: Instant, cc: &Controller) {
        if self.sent.is_empty() {
            return;
        }
        if !self.negotiated.sack {
            self.mark_head_lost(findings.una_advanced, cc);
        } else if self.config.uses_rack() {
            let retransmissions = self.sent.retrans_out();
            if self.rack_mark_lost(now, cc) {
                findings.rearm_timer = false;
            }
            findings.lost_retransmission |= self.sent.retrans_out() < retransmissions;
        } else {
            self.mark_below_dup_thresh(cc);
        }
    }

    /// RFC 8985, section 6.2, step 4: the reordering window.
    fn reordering_window(&self, cc: &Controller) -> Duration {
        if !self.reordering.is_seen() {
            let recovering = matches!(self.recovery_state(cc), RecoveryState::Recovery | RecoveryState::Loss);
            if recovering || self.sent.sacked_out() >= self.reordering.degree() {
                return Duration::ZERO;
            }
        }
        let quarter = self.rto.rtt().min().unwrap_or(Duration::ZERO) / 4;
        (quarter * self.rack.steps).min(self.rto.rtt().srtt().unwrap_or(Duration::ZERO))
    }

    /// RFC 8985, section 6.2, step 5. Returns whether the reordering timer was set.
    pub(super) fn rack_mark_lost(&mut self, now: Instant, cc: &Controller) -> bool {
        if !core::mem::take(&mut self.rack.advanced) {
            return false;
        }
        let window = self.reordering_window(cc);
        let mut wait = Duration::ZERO;
        let mut next = self.sent.oldest_transmission();
        while let Some(id) = next {
            let segment = self.sent.get(id);
            if self.rack.is_newer(segment.sent_at, segment.end) {
                break;
            }
            let deadline = segment.sent_at + self.rack.rtt + window;
            next = self.sent.next_transmission(id);
            if deadline <= now {
                self.lose(id);
            } else {
                wait = wait.max(deadline.since(now));
            }
        }
        if !wait.is_zero() {
            self.timer.arm(Purpose::Reordering, now, wait + TIMER_MARGIN);
        }
        !wait.is_zero()
    }

    /// Whether RACK does not yet consider a segment sent at `sent_at` lost, so that a timeout does not mark it either.
    pub(super) fn is_too_young(&self, sent_at: Instant, now: Instant, cc: &Controller) -> bool {
        let age_limit = self.rack.rtt + self.reordering_window(cc);
        self.negotiated.sack && self.config.uses_rack() && sent_at + age_limit > now
    }

    /// RFC 6675, `IsLost`: at least DupThresh segments above were SACKed.
    fn mark_below_dup_thresh(&mut self, cc: &Controller) {
        let threshold = self.reordering.degree();
        if self.sent.sacked_out() >= threshold {
            while let Some(id) = self.sent.first_below(threshold) {
                self.lose(id);
            }
        } else if self.recovery_state(cc) == RecoveryState::Recovery && self.sent.lost_out() == 0 {
            // A partial acknowledgment proves the next hole lost (NewReno).
            if self.sent.sacked_out() > 0 && self.sent.retrans_out() == 0 {
                self.lose(self.sent.head_id());
            }
        }
    }

    /// A segment that begins at `low`, below the highest SACKed one, was delivered without retransmission: the network
    /// reorders.
    pub(super) fn note_reordering(&mut self, low: u64) {
        let highest = self.highest_sacked();
        if low >= highest {
            return;
        }
        let distance = (highest - low).div_ceil(u64::from(self.size.mss())).min(u64::from(MAX_REORDERING));
        self.reordering.note(distance as u32);
    }

    pub(super) fn note_reordering_degree(&mut self, segments: u32) {
        self.reordering.note(segments);
    }

    /// End of the highest segment SACKed or acknowledged.
    pub(super) fn highest_sacked(&self) -> u64 {
        self.reported_sacks.highest().max(self.send.una())
    }
}
