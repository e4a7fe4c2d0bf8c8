//! Acknowledgments that arrive, and what they prove lost (RFC 9002, appendix A.7 to A.10).

use subflow_policy::congestion::RecoveryState;
use subflow_quantity::{Duration, Instant};
use subflow_wire::quic::AckFrame;

use super::error::TransportError;
use super::recovery::{Delivery, Recovery};
use super::sent::{SentFrame, SentFrames, SentPacket};
use super::space::SpaceId;
use super::{Connection, MAIN_STREAM};
use crate::notes::Note;

impl Connection {
    /// An acknowledgment of packets of one packet number space has arrived.
    ///
    /// # Errors
    ///
    /// It acknowledges a packet that was not sent.
    pub(super) fn on_ack(&mut self, id: SpaceId, ack: &AckFrame, now: Instant) -> Result<(), TransportError> {
        let space = &mut self.spaces[id as usize];
        if ack.largest >= space.next_number() {
            return Err(TransportError::ProtocolViolation);
        }
        let mut newly = core::mem::take(&mut self.scratch);
        space.sent.acknowledge(ack, &mut newly);
        let (una, nxt) = (ack.largest + 1, space.next_number());
        if let Some(latest) = newly.iter().max_by_key(|packet| packet.number) {
            let rtt = (latest.number == ack.largest).then(|| now.since(latest.sent_at));
            if let Some(sample) = rtt {
                self.rtt.sample(sample, self.delay_of(id, ack), now);
                self.note_rtt(sample);
            }
            let (packets, latest_sent_at) = (newly.len() as u32, latest.sent_at);
            self.on_delivery(id, Delivery { now, packets, latest_sent_at, rtt, una, nxt });
        }
        newly.drain(..).for_each(|packet| self.on_packet_acknowledged(id, &packet.frames));
        self.scratch = newly;
        Ok(())
    }

    /// The delay that the peer says it has had (RFC 9002, section 5.3).
    fn delay_of(&self, id: SpaceId, ack: &AckFrame) -> Duration {
        if id != SpaceId::Data {
            return Duration::ZERO;
        }
        let delay = ack.delay.saturating_mul(1 << self.peer.ack_delay_exponent).min(1 << 40);
        let delay = Duration::from_micros(delay);
        if self.phase.is_confirmed() { delay.min(self.max_ack_delay()) } else { delay }
    }

    /// The longest delay of the peer's acknowledgments.
    pub(super) fn max_ack_delay(&self) -> Duration {
        Duration::from_millis(self.peer.max_ack_delay)
    }

    fn on_delivery(&mut self, id: SpaceId, delivery: Delivery) {
        let before = self.recovery.state();
        let ack = self.recovery.on_acknowledged(&delivery, &self.rtt);
        self.note_state(before);
        let lost = self.detect_lost(id, false, delivery.now);
        self.recovery.on_delivered(ack, lost);
        // A client does not know from Initial packets alone that the server has validated its address.
        if self.is_server || id != SpaceId::Initial {
            self.recovery.probe_count = 0;
        }
    }

    /// Finds lost packets of a packet number space, and returns their number.
    pub(super) fn detect_lost(&mut self, id: SpaceId, by_timer: bool, now: Instant) -> u32 {
        let mut lost = core::mem::take(&mut self.lost_scratch);
        let limits = (self.rtt.loss_delay(), self.config.packet_threshold);
        let since = self.rtt.first_sample_at();
        let losses = self.spaces[id as usize].sent.detect_lost(now, limits, since, &mut lost);
        if losses.packets > 0 {
            self.counters.packets_lost += u64::from(losses.packets);
            let before = self.recovery.state();
            self.recovery.on_lost(losses.packets, losses.latest_sent_at, by_timer, now);
            if Recovery::is_persistent(losses.longest_span, &self.rtt, self.max_ack_delay()) {
                self.recovery.on_persistent_congestion(now);
            }
            self.note_losses(&lost);
            self.note_state(before);
            lost.drain(..).for_each(|packet| self.send_again(id, &packet.frames));
        }
        self.lost_scratch = lost;
        losses.packets
    }

    /// What a lost packet carried is sent again where it is still needed (RFC 9000, section 13.3).
    pub(super) fn send_again(&mut self, id: SpaceId, frames: &[SentFrame]) {
        for &frame in frames {
            match frame {
                SentFrame::Stream { stream, start, end, fin } => {
                    if let Some(send) = self.streams.send_mut(stream) {
                        send.on_lost(start..end, fin);
                    }
                }
                SentFrame::Crypto { start, end } => self.spaces[id as usize].crypto.on_lost(start, end),
                SentFrame::Ack { .. } => {}
                SentFrame::MaxData => self.streams.tell_again(None, false),
                SentFrame::MaxStreamData(stream) => self.streams.tell_again(Some(stream), false),
                SentFrame::ResetStream(stream) => self.streams.tell_again(Some(stream), true),
                SentFrame::HandshakeDone => self.owes_handshake_done = true,
                SentFrame::NewConnectionId(sequence) => self.ids.tell_again(sequence),
                SentFrame::RetireConnectionId(sequence) => self.ids.retire_again(sequence),
            }
        }
    }

    fn on_packet_acknowledged(&mut self, id: SpaceId, frames: &SentFrames) {
        for &frame in frames {
            match frame {
                SentFrame::Stream { stream, start, end, fin } => {
                    if let Some(send) = self.streams.send_mut(stream) {
                        let growth = send.on_acknowledged(start..end, fin);
                        if growth > 0 && stream == MAIN_STREAM {
                            self.stream.on_acknowledged(send.acknowledged());
                        }
                    }
                }
                SentFrame::Ack { largest } => self.spaces[id as usize].received.forget_through(largest),
                SentFrame::ResetStream(stream) => {
                    if let Some(send) = self.streams.send_mut(stream) {
                        send.on_reset_acknowledged();
                    }
                }
                _ => {}
            }
        }
    }
}

/// What loss recovery does is noted for whoever explains a run.
impl Connection {
    pub(super) fn note(&mut self, note: Note) {
        if let Some(notes) = &mut self.notes {
            notes.noted.push(note);
        }
    }

    fn note_rtt(&mut self, sample: Duration) {
        if let Some(notes) = &mut self.notes {
            notes.rtts.push(sample);
        }
    }

    fn note_state(&mut self, old: RecoveryState) {
        let new = self.recovery.state();
        if old != new {
            self.note(Note::State { old, new });
        }
    }

    fn note_losses(&mut self, lost: &[SentPacket]) {
        let Some(notes) = &mut self.notes else { return };
        for packet in lost {
            let data = packet.frames.iter().filter_map(|frame| match *frame {
                SentFrame::Stream { stream: MAIN_STREAM, start, end, .. } => Some(start..end),
                _ => None,
            });
            let sent_at = packet.sent_at;
            notes.noted.extend(data.map(|data| Note::Lost { data, sent_at }));
        }
    }
}
