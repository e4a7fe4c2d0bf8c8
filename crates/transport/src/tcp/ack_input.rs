//! Processing of acknowledgments (RFC 9293, section 3.10.7.4; the order of steps is that of Linux `tcp_ack`).

use subflow_policy::congestion::{Ack, Controller, DeliverySample, RecoveryState};
use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::Connection;
use super::acceptability::Offsets;
use super::sent_segments::Tags;
use super::timers::Purpose;

/// Findings about one acknowledgment.
#[derive(Debug, Default)]
pub(super) struct AckFindings {
    /// SND.UNA before.
    pub(super) prior_una: u64,
    /// Its acknowledgment number, as an offset.
    pub(super) acknowledgment: u64,
    /// End of the highest segment SACKed or acknowledged before.
    pub(super) prior_highest: u64,
    /// SND.UNA advanced.
    pub(super) una_advanced: bool,
    /// Segments newly acknowledged cumulatively.
    pub(super) acknowledged: u32,
    /// Segments newly SACKed.
    pub(super) newly_sacked: u32,
    /// A retransmitted segment was acknowledged.
    pub(super) retransmission_acknowledged: bool,
    /// A segment of this recovery episode that was never retransmitted was newly acknowledged or SACKed.
    pub(super) original_acknowledged: bool,
    /// Transmission times of the first and the last segment that were cumulatively acknowledged without having been
    /// retransmitted.
    pub(super) originals: Option<(Instant, Instant)>,
    /// Transmission times of the first and the last segment that were newly SACKed without having been retransmitted.
    pub(super) sacked_originals: Option<(Instant, Instant)>,
    /// It carries a D-SACK.
    pub(super) dsack: bool,
    /// The D-SACK reports the tail loss probe.
    pub(super) dsack_of_probe: bool,
    /// The peer reports that the network has marked data (RFC 3168: ECE).
    pub(super) is_echo: bool,
    /// A retransmission was marked lost.
    pub(super) lost_retransmission: bool,
    /// A duplicate acknowledgment (RFC 5681, section 2).
    pub(super) duplicate: bool,
    /// The retransmission timer is to be restarted.
    pub(super) rearm_timer: bool,
    /// The latest RTT sample.
    pub(super) rtt: Option<Duration>,
}

/// Counts before an acknowledgment was processed.
#[derive(Clone, Copy)]
struct Before {
    /// Segments in flight.
    in_flight: u32,
    /// Segments delivered, and lost, since the connection began.
    delivered: u64,
    lost: u64,
}

impl Connection {
    /// Processes the acknowledgment of an acceptable segment.
    pub(super) fn on_acknowledgment(
        &mut self,
        segment: &TcpSegment,
        offsets: Offsets,
        now: Instant,
        cc: &mut Controller,
    ) {
        let mut findings = AckFindings {
            prior_una: self.send.una(),
            prior_highest: self.highest_sacked(),
            acknowledgment: offsets.acknowledgment,
            ..AckFindings::default()
        };
        let before = Before {
            in_flight: self.sent.in_flight(),
            delivered: self.recovery.delivered(),
            lost: self.sent.lost_total(),
        };
        let acknowledged = self.send.on_acknowledgment(offsets.start, offsets.acknowledgment, segment.window);
        if acknowledged.advanced > 0 {
            findings.una_advanced = true;
            self.counters.bytes_acknowledged += acknowledged.advanced;
            self.rto.on_progress();
        }
        if !segment.options.sack.is_empty() && self.negotiated.sack {
            self.on_sack_blocks(segment, &mut findings, now, cc);
            self.recovery.on_delivered(findings.newly_sacked);
        } else {
            self.reported_sacks.on_no_blocks();
        }
        if self.ecn.is_used() {
            findings.is_echo = segment.flags.contains(TcpFlags::ECE);
            self.take_announcement(segment);
        }
        // RFC 5681, section 2. A lower acknowledgment number means that the segment was reordered.
        let repeats =
            !findings.una_advanced && offsets.acknowledgment == self.send.una() && !acknowledged.is_window_update;
        let repeats = repeats && segment.payload.length == 0 && !segment.flags.contains(TcpFlags::FIN);
        findings.duplicate = repeats && findings.newly_sacked == 0 && !findings.dsack;
        if self.sent.is_empty() {
            return self.on_ack_with_nothing_out(&mut findings, now, cc);
        }
        self.counters.duplicate_acks += u64::from(repeats);
        self.remove_acknowledged(&mut findings, now);
        if self.mtu_search.is_some() {
            self.look_at_mtu_probe(now, cc);
        }
        self.update_rtt(&mut findings, now, cc);
        self.rack.adapt(self.send.una(), self.send.next());
        if self.recovery.probe().is_some() {
            self.on_ack_of_probe(&findings, now, cc);
        }
        self.recover_and_grow(&mut findings, before, now, cc);
    }

    /// Updates the recovery state, the retransmission timer and the congestion window.
    fn recover_and_grow(&mut self, findings: &mut AckFindings, before: Before, now: Instant, cc: &mut Controller) {
        let mut ack = Ack {
            now,
            acked: (self.recovery.delivered() - before.delivered) as u32,
            rtt: findings.rtt,
            una: self.send.una(),
            nxt: self.send.next(),
            in_flight: before.in_flight,
        };
        cc.on_sample(self.path, &ack);
        let settled = self.recovery_state(cc) == RecoveryState::Open
            && findings.newly_sacked == 0
            && !findings.dsack
            && !findings.duplicate
            && !findings.is_echo;
        if settled {
            self.undo.forget_retransmissions();
        } else {
            self.on_dubious_ack(findings, now, cc);
            if findings.is_echo {
                // What has begun on account of a loss is not undone either (RFC 3168, section 6.1.2).
                cc.forget_undo(self.path);
            }
            ack.acked = (self.recovery.delivered() - before.delivered) as u32;
        }
        if findings.rearm_timer {
            self.set_transmission_timer(now, cc);
        }
        self.report_delivery(ack, findings, before.lost, cc);
    }

    /// Removes cumulatively acknowledged segments from the retransmission queue.
    fn remove_acknowledged(&mut self, findings: &mut AckFindings, now: Instant) {
        let una = self.send.una();
        let mut reordered = u64::MAX;
        let (mut first, mut last) = (None, Instant::ZERO);
        let min = self.rto.rtt().min().unwrap_or(Duration::ZERO);
        while let Some(head) = self.sent.head() {
            if head.end > una {
                if head.start < una {
                    self.sent.trim_head(una);
                }
                break;
            }
            let segment = self.sent.pop_head();
            if let Some(rate) = &mut self.delivery_rate {
                rate.on_head_acknowledged(segment.sent_at);
            }
            let repeated = segment.tags.has(Tags::EVER_RETRANSMITTED);
            let sacked = segment.tags.has(Tags::SACKED);
            if repeated {
                findings.retransmission_acknowledged = true;
            } else if !sacked {
                first.get_or_insert(segment.sent_at);
                last = segment.sent_at;
                reordered = reordered.min(segment.start);
                if segment.end <= self.recovery.point() {
                    findings.original_acknowledged = true;
                }
            }
            if !sacked {
                self.recovery.on_delivered(self.negotiated.sack.into());
                let spurious = repeated && self.echo_precedes(segment.sent_at);
                if !spurious {
                    self.rack.on_delivered(now, segment.sent_at, segment.end, repeated, min);
                }
            }
            findings.acknowledged += 1;
        }
        if !self.negotiated.sack {
            self.uncount_duplicate_acks(findings.acknowledged);
        }
        if findings.acknowledged > 0 {
            findings.rearm_timer = true;
            if reordered < findings.prior_highest {
                self.note_reordering(reordered);
            }
        }
        if !findings.retransmission_acknowledged {
            findings.originals = first.map(|first| (first, last));
        }
        if self.send.acknowledge_fin() {
            // The FIN occupies a sequence number and is not a byte of data.
            self.counters.bytes_acknowledged -= 1;
            self.on_fin_acknowledged(now);
        }
    }

    /// Takes an RTT sample (RFC 6298, section 3, Karn's algorithm): from segments acknowledged cumulatively that were
    /// never retransmitted, else from such segments newly SACKed, else from the echoed timestamp. Congestion control
    /// and RACK use the RTT of the segment sent last.
    fn update_rtt(&mut self, findings: &mut AckFindings, now: Instant, cc: &mut Controller) {
        let mut smoothed = findings.originals.map(|(first, _)| now.since(first));
        findings.rtt = findings.originals.map(|(_, last)| now.since(last));
        if let Some((first, last)) = findings.sacked_originals {
            findings.rtt = Some(now.since(last));
            smoothed = smoothed.or(Some(now.since(first)));
            // The SACKed segment was sent before the head's last transmission: the head's timeout starts anew.
            let head_is_younger = self.sent.head().is_some_and(|head| first < head.sent_at);
            findings.rearm_timer |= head_is_younger;
        }
        if smoothed.is_none() && findings.acknowledged > 0 {
            smoothed = self.echoed_rtt(now);
            findings.rtt = smoothed.or(findings.rtt);
        }
        if let (Some(smoothed), Some(latest)) = (smoothed, findings.rtt) {
            self.take_rtt(smoothed, latest, cc);
        }
    }

    /// Reports the delivery, by which the congestion window grows or shrinks (Linux `tcp_cong_control`).
    fn report_delivery(&mut self, ack: Ack, findings: &AckFindings, lost_before: u64, cc: &mut Controller) {
        let rate = match self.delivery_rate {
            Some(_) => self.take_rate_sample(ack.acked, findings, ack.now, cc),
            None => None,
        };
        // SACKed data counts as progress only if the network is known to reorder (Linux `tcp_may_raise_cwnd`).
        let progress = findings.acknowledged > 0 || (self.reordering.is_raised() && findings.newly_sacked > 0);
        let sample = DeliverySample {
            ack,
            delivered: self.recovery.delivered(),
            lost: self.sent.lost_total().saturating_sub(lost_before) as u32,
            in_flight: self.sent.in_flight(),
            ce: if findings.is_echo { ack.acked } else { 0 },
            advanced: findings.una_advanced,
            progress,
            window_limited: progress && self.was_window_limited(cc),
            rate,
        };
        cc.on_delivered(self.path, &sample);
        if rate.is_some() {
            self.note_held_back(cc);
        }
    }

    /// Nothing was outstanding: a D-SACK may prove an earlier reduction wrong, or the send window may have opened
    /// (Linux `tcp_ack`, label `no_queue`).
    fn on_ack_with_nothing_out(&mut self, findings: &mut AckFindings, now: Instant, cc: &mut Controller) {
        if findings.dsack {
            self.on_dubious_ack(findings, now, cc);
        }
        self.on_answer_to_window_probe(now);
        if self.recovery.probe().is_some() {
            self.on_ack_of_probe(findings, now, cc);
        }
    }

    /// An answer to a zero-window probe, or a window update.
    fn on_answer_to_window_probe(&mut self, now: Instant) {
        if self.send.queue().is_empty() {
            return;
        }
        // Any acknowledgment proves that the peer is alive (RFC 9293, section 3.8.6.1).
        self.rto.on_progress();
        if self.admits_next() {
            self.rto.on_window_opened();
            if self.timer.is_pending(Purpose::WindowProbe) {
                self.timer.stop();
            }
        } else if !self.timer.is_pending(Purpose::WindowProbe) {
            self.arm_window_probe(now);
        }
    }
}
