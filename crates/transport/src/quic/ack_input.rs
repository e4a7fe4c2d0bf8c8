//! Acknowledgments that arrive, and what they prove lost (RFC 9002, appendix A.7 to A.10).

use subflow_policy::congestion::RecoveryState;
use subflow_quantity::{Duration, Instant};
use subflow_wire::quic::{AckFrame, EcnCounts};

use super::error::TransportError;
use super::path::Path;
use super::recovery::{Delivery, Recovery};
use super::send_stream::SendStream;
use super::sent::{SentFrame, SentFrames, SentPacket};
use super::space_id::SpaceId;
use super::{Connection, MAIN_STREAM};
use crate::notes::{Note, Noted};

impl Connection {
    /// An acknowledgment of packets of one packet number space has arrived.
    ///
    /// # Errors
    ///
    /// It acknowledges a packet that was not sent.
    pub(super) fn on_ack(&mut self, id: SpaceId, ack: &AckFrame, now: Instant) -> Result<(), TransportError> {
        let space = self.space_mut(id);
        if ack.largest >= space.next_number() {
            return Err(TransportError::ProtocolViolation);
        }
        let (una, nxt) = (ack.largest + 1, space.next_number());
        let raises = space.sent.largest_acknowledged().is_none_or(|largest| ack.largest > largest);
        let mut newly = core::mem::take(&mut self.scratch);
        match id {
            SpaceId::Data(place) => {
                let Path { space, recovery, .. } = &mut self.paths[usize::from(place)];
                space.sent.acknowledge(ack, &mut newly, recovery.rate.as_deref_mut());
            }
            SpaceId::Initial | SpaceId::Handshake => self.space_mut(id).sent.acknowledge(ack, &mut newly, None),
        }
        if let Some(latest) = newly.iter().max_by_key(|packet| packet.number) {
            let rtt = (latest.number == ack.largest).then(|| now.since(latest.sent_at));
            if let Some(sample) = rtt {
                let delay = self.delay_of(id, ack);
                self.paths[id.path()].rtt.sample(sample, delay, now);
                self.note_rtt(id.path(), sample);
            }
            let (packets, latest_sent_at) = (newly.len() as u32, latest.sent_at);
            let capable = newly.iter().filter(|packet| packet.is_capable).count() as u32;
            let delivery = Delivery { now, packets, latest_sent_at, rtt, ecn: (raises, capable), una, nxt };
            self.on_delivery(id, delivery, ack.ecn);
            self.observe(id.path(), rtt, now);
        }
        newly.drain(..).for_each(|packet| self.on_packet_acknowledged(&packet.frames));
        self.scratch = newly;
        Ok(())
    }

    /// The delay that the peer says it has had (RFC 9002, section 5.3).
    fn delay_of(&self, id: SpaceId, ack: &AckFrame) -> Duration {
        if !id.is_data() {
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

    fn on_delivery(&mut self, id: SpaceId, delivery: Delivery, counts: Option<EcnCounts>) {
        self.timers_moved = true;
        let place = id.path();
        let before = self.recovery_state(place);
        let path = &mut self.paths[place];
        let ack = path.recovery.on_acknowledged(&mut self.congestion, &delivery, &path.rtt);
        self.note_state(place, before);
        let lost = self.detect_lost(id, false, delivery.now);
        let ce = self.take_marks(id, &delivery, counts);
        let unit_bytes = self.datagram_size();
        let path = &mut self.paths[place];
        path.recovery.on_delivered(&mut self.congestion, (ack, lost, ce), (unit_bytes, path.rtt.min()));
        // A client does not know from Initial packets alone that the server has validated its address.
        if self.is_server || id != SpaceId::Initial {
            path.recovery.probe_count = 0;
        }
    }

    /// What an acknowledgment says of ECN: how many packets more were marked.
    fn take_marks(&mut self, id: SpaceId, delivery: &Delivery, counts: Option<EcnCounts>) -> u32 {
        let (raises, capable) = delivery.ecn;
        let recovery = &mut self.paths[id.path()].recovery;
        if !id.is_data() || !raises || !recovery.ecn.is_on() {
            return 0;
        }
        let marked = recovery.ecn.on_acknowledged(capable, counts);
        if marked > 0 {
            let before = self.recovery_state(id.path());
            let recovery = &mut self.paths[id.path()].recovery;
            recovery.on_marked(&mut self.congestion, delivery.latest_sent_at, delivery.now);
            self.note_state(id.path(), before);
        }
        marked.min(u64::from(u32::MAX)) as u32
    }

    /// Finds lost packets of a packet number space, and returns their number.
    pub(super) fn detect_lost(&mut self, id: SpaceId, by_timer: bool, now: Instant) -> u32 {
        let mut lost = core::mem::take(&mut self.lost_scratch);
        let path = &self.paths[id.path()];
        let limits = (path.rtt.loss_delay(), self.config.packet_threshold);
        let since = path.rtt.first_sample_at();
        let losses = self.space_mut(id).sent.detect_lost(now, limits, since, &mut lost);
        if losses.packets > 0 {
            let (before, max_ack_delay) = (self.recovery_state(id.path()), self.max_ack_delay());
            let path = &mut self.paths[id.path()];
            path.counters.packets_lost += u64::from(losses.packets);
            path.recovery.on_lost(&mut self.congestion, &losses, by_timer, now);
            if Recovery::is_persistent(losses.longest_span, &path.rtt, max_ack_delay) {
                path.recovery.on_persistent_congestion(&mut self.congestion, now);
                path.rtt.restart_min();
            }
            self.note_losses(id.path(), &lost);
            self.note_state(id.path(), before);
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
                    self.streams.change_send(stream, |send| send.on_lost(start..end, fin));
                }
                SentFrame::Crypto { start, end } => self.space_mut(id).crypto.on_lost(start, end),
                SentFrame::Ack { .. } => {}
                SentFrame::MaxData => self.streams.tell_again(None, false),
                SentFrame::MaxStreams => (self.streams.owes_streams, self.streams.owes_news) = (true, true),
                SentFrame::MaxStreamData(stream) => self.streams.tell_again(Some(stream), false),
                SentFrame::ResetStream(stream) => self.streams.tell_again(Some(stream), true),
                SentFrame::StopSending(stream) => self.streams.ask_to_stop_again(stream),
                SentFrame::HandshakeDone => self.owes_handshake_done = true,
                frame => self.send_path_frame_again(id.path(), frame),
            }
        }
    }

    fn on_packet_acknowledged(&mut self, frames: &SentFrames) {
        for &frame in frames {
            match frame {
                SentFrame::Stream { stream, start, end, fin } => {
                    let acknowledge =
                        |send: &mut SendStream| (send.on_acknowledged(start..end, fin), send.acknowledged());
                    let grown = self.streams.change_send(stream, acknowledge);
                    if let Some((growth, acknowledged)) = grown
                        && self.application.is_some()
                    {
                        self.on_acknowledged_to_application(stream, growth, acknowledged);
                        continue;
                    }
                    match grown {
                        Some((1.., acknowledged)) if stream == MAIN_STREAM => self.stream.on_acknowledged(acknowledged),
                        Some((growth, _)) if stream != MAIN_STREAM => self.on_further_acknowledged(stream, growth),
                        _ => {}
                    }
                }
                // Another path may have taken the place.
                SentFrame::Ack { space, path, largest } if self.paths[space.path()].id == path => {
                    self.space_mut(space).received.forget_through(largest);
                }
                SentFrame::ResetStream(stream) => {
                    self.streams.change_send(stream, SendStream::on_reset_acknowledged);
                    self.streams.retire(stream);
                }
                _ => {}
            }
        }
    }
}

/// What loss recovery does is noted for whoever explains a run.
impl Connection {
    pub(super) fn note(&mut self, place: usize, note: Note) {
        if let Some(notes) = &mut self.notes {
            notes.noted.push(Noted { ends: self.paths[place].ends, note });
        }
    }

    fn note_rtt(&mut self, place: usize, sample: Duration) {
        if let Some(notes) = &mut self.notes {
            notes.rtts.push((self.paths[place].ends, sample));
        }
    }

    fn recovery_state(&self, place: usize) -> RecoveryState {
        self.paths[place].recovery.state(&self.congestion)
    }

    fn note_state(&mut self, place: usize, old: RecoveryState) {
        let new = self.recovery_state(place);
        if old != new {
            self.note(place, Note::State { old, new });
        }
    }

    fn note_losses(&mut self, place: usize, lost: &[SentPacket]) {
        let Some(notes) = &mut self.notes else { return };
        let ends = self.paths[place].ends;
        for packet in lost {
            let data = packet.frames.iter().filter_map(|frame| match *frame {
                SentFrame::Stream { stream, start, end, .. } => {
                    let place = self.streams.send(stream).map_or(start, |send| send.place_of(start));
                    Some(place..place + (end - start))
                }
                _ => None,
            });
            let sent_at = packet.sent_at;
            notes.noted.extend(data.map(|data| Noted { ends, note: Note::Lost { data, sent_at } }));
        }
    }
}
