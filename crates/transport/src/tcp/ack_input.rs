//! Acknowledgments (RFC 9293, section 3.10.7.4; the order of steps is Linux's `tcp_ack`).

use subflow_policy::congestion::{Ack, Controller, RecoveryState};
use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::Connection;
use super::acceptability::Offsets;
use super::recovery::is_reducing;
use super::sent_segment::Tags;
use super::timers::Purpose;

/// What one acknowledgment brought.
#[derive(Debug, Default)]
pub(crate) struct AckFindings {
    pub(crate) prior_una: u64,
    pub(crate) acknowledgment: u64,
    /// End of the highest segment SACKed before.
    pub(crate) prior_highest: u64,
    /// Segments outstanding, and believed in flight, before.
    prior_out: u32,
    prior_in_flight: u32,
    /// Segments delivered, and lost, since the beginning.
    prior_delivered: u64,
    prior_lost: u64,
    /// The cumulative acknowledgment advanced.
    pub(crate) una_advanced: bool,
    /// Segments newly acknowledged cumulatively.
    pub(crate) acknowledged: u32,
    /// Segments newly SACKed.
    pub(crate) newly_sacked: u32,
    /// A retransmitted segment was acknowledged.
    pub(crate) retransmission_acknowledged: bool,
    /// A segment of the present episode was (S)ACKed that was never retransmitted.
    pub(crate) original_acknowledged: bool,
    /// Never retransmitted and acknowledged cumulatively: when the first and the last were sent.
    pub(crate) originals: Option<(Instant, Instant)>,
    /// Never retransmitted and newly SACKed: when the first and the last were sent.
    pub(crate) sacked_originals: Option<(Instant, Instant)>,
    pub(crate) dsack: bool,
    pub(crate) dsack_of_probe: bool,
    /// A retransmission was found lost.
    pub(crate) lost_retransmission: bool,
    /// A duplicate acknowledgment (RFC 5681, section 2).
    pub(crate) duplicate: bool,
    /// The retransmission timer restarts.
    pub(crate) rearm_timer: bool,
    /// The latest RTT sample.
    pub(crate) rtt: Option<Duration>,
}

impl Connection {
    /// Takes in the acknowledgment of an acceptable segment.
    pub(crate) fn on_acknowledgment(
        &mut self,
        segment: &TcpSegment,
        offsets: Offsets,
        now: Instant,
        cc: &mut Controller,
    ) {
        let mut findings = AckFindings {
            prior_una: self.send.una,
            prior_highest: self.highest_sacked(),
            prior_out: self.sent.packets_out(),
            prior_in_flight: self.sent.in_flight(),
            prior_delivered: self.recovery.delivered,
            prior_lost: self.sent.lost_total,
            acknowledgment: offsets.acknowledgment,
            ..AckFindings::default()
        };
        let window_update = self.advance_una(segment, offsets, &mut findings);
        if !segment.options.sack.is_empty() && self.negotiated.sack {
            self.on_sack_blocks(segment, &mut findings, now, cc);
            self.recovery.delivered += u64::from(findings.newly_sacked);
        } else if !self.recovery.last_blocks.is_empty() {
            self.recovery.last_blocks.clear();
        }
        // RFC 5681, section 2; an older acknowledgment was only overtaken.
        let repeats = !findings.una_advanced && offsets.acknowledgment == self.send.una && !window_update;
        let repeats = repeats && segment.payload.length == 0 && !segment.flags.contains(TcpFlags::FIN);
        findings.duplicate = repeats && findings.newly_sacked == 0 && !findings.dsack;
        if findings.prior_out == 0 {
            return self.on_ack_with_nothing_out(&mut findings, now, cc);
        }
        self.counters.duplicate_acks += u64::from(repeats);
        self.remove_acknowledged(&mut findings, now);
        self.update_rtt(&mut findings, now, cc);
        self.recovery.rack.adapt(self.send.una, self.send.nxt);
        if self.recovery.probe.is_some() {
            self.on_ack_of_probe(&findings, now, cc);
        }
        self.recover_and_grow(&mut findings, now, cc);
    }

    /// Takes in the acknowledgment number and the window. Returns whether the window alone changed.
    fn advance_una(&mut self, segment: &TcpSegment, offsets: Offsets, findings: &mut AckFindings) -> bool {
        let Offsets { start, acknowledgment } = offsets;
        if acknowledgment < self.send.una {
            return false;
        }
        let window_update = self.update_window(segment, start, acknowledgment);
        if acknowledgment > self.send.una {
            findings.una_advanced = true;
            self.counters.bytes_acknowledged += acknowledgment - self.send.una;
            self.send.una = acknowledgment;
            self.retries = 0;
        }
        window_update
    }

    /// Moves the state of recovery, sets the timer and adapts the window.
    fn recover_and_grow(&mut self, findings: &mut AckFindings, now: Instant, cc: &mut Controller) {
        let mut sample = Ack {
            now,
            acked: (self.recovery.delivered - findings.prior_delivered) as u32,
            rtt: findings.rtt,
            una: self.send.una,
            nxt: self.send.nxt,
            in_flight: findings.prior_in_flight,
        };
        cc.on_sample(self.path, &sample);
        let settled = self.recovery_state(cc) == RecoveryState::Open
            && findings.newly_sacked == 0
            && !findings.dsack
            && !findings.duplicate;
        if settled {
            self.recovery.undo.first_retransmission = None;
        } else {
            self.on_dubious_ack(findings, now, cc);
            sample.acked = (self.recovery.delivered - findings.prior_delivered) as u32;
        }
        if findings.rearm_timer {
            self.set_transmission_timer(now, cc);
        }
        self.control_window(&sample, findings, cc);
    }

    /// RFC 9293, section 3.10.7.4: SND.WND follows the newest segment.
    fn update_window(&mut self, segment: &TcpSegment, start: u64, acknowledgment: u64) -> bool {
        let window = u64::from(segment.window) << self.send.scale;
        let newer = acknowledgment > self.send.una
            || start > self.send.window_from
            || (start == self.send.window_from && acknowledgment + window > self.send.window_end);
        if !newer {
            return false;
        }
        let changed = acknowledgment + window != self.send.window_end && acknowledgment == self.send.una;
        self.send.window_from = start;
        self.send.window_end = acknowledgment + window;
        self.send.max_window = self.send.max_window.max(window);
        changed
    }

    /// Takes what is cumulatively acknowledged off the retransmission queue.
    fn remove_acknowledged(&mut self, findings: &mut AckFindings, now: Instant) {
        let una = self.send.una;
        let mut reordered = u64::MAX;
        let (mut first, mut last) = (None, Instant::ZERO);
        let min = self.rtt.min().unwrap_or(Duration::ZERO);
        while let Some(head) = self.sent.head() {
            if head.end > una {
                break;
            }
            let segment = self.sent.pop_head();
            let repeated = segment.tags.has(Tags::EVER_RETRANSMITTED);
            let sacked = segment.tags.has(Tags::SACKED);
            if repeated {
                findings.retransmission_acknowledged = true;
            } else if !sacked {
                first.get_or_insert(segment.sent_at);
                last = segment.sent_at;
                reordered = reordered.min(segment.start);
                if segment.end <= self.recovery.point {
                    findings.original_acknowledged = true;
                }
            }
            if !sacked {
                self.recovery.delivered += u64::from(self.negotiated.sack);
                let spurious = repeated && self.echo_precedes(segment.sent_at);
                if !spurious {
                    self.recovery.rack.on_delivered(now, segment.sent_at, segment.end, repeated, min);
                }
            }
            findings.acknowledged += 1;
        }
        if !self.negotiated.sack {
            self.uncount_duplicate_acks(findings.acknowledged);
        }
        self.sent.trim_head(una);
        if findings.acknowledged > 0 {
            findings.rearm_timer = true;
            if reordered < findings.prior_highest {
                self.note_reordering(reordered);
            }
        }
        if !findings.retransmission_acknowledged {
            findings.originals = first.map(|first| (first, last));
        }
        if self.queue.acknowledge_fin(una) {
            // The FIN has a sequence number and is no byte.
            self.counters.bytes_acknowledged -= 1;
            self.on_fin_acknowledged(now);
        }
    }

    /// RTT samples (RFC 6298, section 3, Karn's rule): from originals acknowledged cumulatively, else from SACKed
    /// ones, else from the echoed timestamp. The newest segment's RTT goes to congestion control and RACK.
    fn update_rtt(&mut self, findings: &mut AckFindings, now: Instant, cc: &mut Controller) {
        let mut smoothed = findings.originals.map(|(first, _)| now.since(first));
        findings.rtt = findings.originals.map(|(_, last)| now.since(last));
        if let Some((first, last)) = findings.sacked_originals {
            findings.rtt = Some(now.since(last));
            smoothed = smoothed.or(Some(now.since(first)));
            // What was SACKed left before the head was last sent: the head is overdue no more than the timer says.
            let head_is_younger = self.sent.head().is_some_and(|head| first < head.sent_at);
            findings.rearm_timer |= head_is_younger;
        }
        if smoothed.is_none() && findings.acknowledged > 0 {
            smoothed = self.echoed_rtt(now);
            findings.rtt = smoothed.or(findings.rtt);
        }
        if let (Some(smoothed), Some(latest)) = (smoothed, findings.rtt) {
            self.rtt.sample(smoothed, self.send.una, self.send.nxt);
            self.rtt.note_latest(latest);
            self.backoff = 0;
            self.publish_rtt(cc);
        }
    }

    /// Growth, or reduction, of the window by this acknowledgment (Linux `tcp_cong_control`).
    fn control_window(&mut self, sample: &Ack, findings: &AckFindings, cc: &mut Controller) {
        if is_reducing(self.recovery_state(cc)) {
            let newly_lost = self.sent.lost_total > findings.prior_lost;
            return self.reduce_window(sample.acked, newly_lost, findings.una_advanced, cc);
        }
        // With a network known to reorder, SACKed data counts as progress; otherwise only the cumulative point does.
        let progress = findings.acknowledged > 0
            || (self.recovery.reordering > super::recovery::DUP_THRESH && findings.newly_sacked > 0);
        if progress && sample.acked > 0 && self.was_window_limited(cc) {
            cc.on_ack(self.path, sample);
        }
    }

    /// Nothing was outstanding: a D-SACK may tell about what went before, or the window opens (Linux `tcp_ack`, `no_queue`).
    fn on_ack_with_nothing_out(&mut self, findings: &mut AckFindings, now: Instant, cc: &mut Controller) {
        if findings.dsack {
            self.on_dubious_ack(findings, now, cc);
        }
        self.on_answer_to_window_probe(now);
        if self.recovery.probe.is_some() {
            self.on_ack_of_probe(findings, now, cc);
        }
    }

    /// An answer to a window probe, or a window update.
    fn on_answer_to_window_probe(&mut self, now: Instant) {
        if self.queue.is_empty() {
            return;
        }
        // Whatever it says, the peer lives: only silence counts as a retry.
        self.retries = 0;
        if self.admits_next() {
            self.backoff = 0;
            if self.pending(Purpose::WindowProbe) {
                self.timer = None;
            }
        } else if !self.pending(Purpose::WindowProbe) {
            self.arm_window_probe(now);
        }
    }
}
