//! The loss detection timer: lost packets and probe timeouts (RFC 9002, sections 6.1.2 and 6.2, appendix A.8 and A.9).

use subflow_quantity::Instant;

use super::Connection;
use super::sent::SentFrames;
use super::space::SpaceId;
use crate::notes::Note;

/// Packets that a probe timeout sends while data is in flight (section 6.2.4: one or two).
const PROBES: u8 = 2;

impl Connection {
    /// When a packet is to be considered lost for which it was too early yet, and its packet number space.
    fn loss_time(&self) -> Option<(Instant, SpaceId)> {
        let of = |id: SpaceId| self.spaces[id as usize].sent.loss_time().map(|at| (at, id));
        SpaceId::ALL.into_iter().filter_map(of).min_by_key(|&(at, _)| at)
    }

    /// When probes are sent if no acknowledgment comes before, and in which packet number space.
    fn probe_time(&self) -> Option<(Instant, SpaceId)> {
        let timeout = self.rtt.probe_timeout();
        if self.recovery.in_flight() == 0 {
            // The server may wait for proof of the client's address (section 6.2.2.1).
            let keeps_probing = !self.is_server && !self.phase.is_established() && self.phase.is_open();
            let id = match self.spaces[SpaceId::Handshake as usize].is_open() {
                true => SpaceId::Handshake,
                false => SpaceId::Initial,
            };
            return keeps_probing.then(|| (self.idle.last_activity() + self.recovery.backed_off(timeout), id));
        }
        let of = |id: SpaceId| {
            let last_sent_at = self.spaces[id as usize].sent.last_sent_at()?;
            let timeout = match id {
                // Section 6.2.1: not before the handshake is confirmed.
                SpaceId::Data if !self.phase.is_confirmed() && !self.is_server && self.awaits_handshake() => {
                    return None;
                }
                SpaceId::Data => timeout + self.max_ack_delay(),
                _ => timeout,
            };
            Some((last_sent_at + self.recovery.backed_off(timeout), id))
        };
        SpaceId::ALL.into_iter().filter_map(of).min_by_key(|&(at, _)| at)
    }

    /// Whether packets of the handshake are in flight, whose timer goes first.
    fn awaits_handshake(&self) -> bool {
        [SpaceId::Initial, SpaceId::Handshake].iter().any(|&id| self.spaces[id as usize].sent.outstanding() > 0)
    }

    /// When the loss detection timer expires.
    pub(super) fn loss_detection_time(&self) -> Option<Instant> {
        self.loss_time().or_else(|| self.probe_time()).map(|(at, _)| at)
    }

    /// The loss detection timer may have expired.
    pub(super) fn on_loss_detection_timeout(&mut self, now: Instant) {
        match self.loss_time() {
            Some((at, id)) if at <= now => {
                self.detect_lost(id, true, now);
            }
            Some(_) => {}
            None => {
                if let Some((_, id)) = self.probe_time().filter(|&(at, _)| at <= now) {
                    self.on_probe_timeout(id);
                }
            }
        }
    }

    /// No acknowledgment has come for a probe timeout: one or two packets ask for one, if possible with data.
    fn on_probe_timeout(&mut self, id: SpaceId) {
        self.recovery.probe_count += 1;
        self.counters.timeouts += 1;
        self.note(Note::Timeout { in_a_row: self.recovery.probe_count });
        let space = &mut self.spaces[id as usize];
        space.probes = if space.sent.outstanding() > 0 { PROBES } else { 1 };
        if id == SpaceId::Data && !self.streams.has_pending() {
            self.repeat_outstanding(id, PROBES.into());
        }
        // Section 6.2.4: what is missing of the handshake goes along, also if data that the peer cannot process yet
        // fills the window.
        for id in [SpaceId::Initial, SpaceId::Handshake] {
            self.repeat_outstanding(id, usize::MAX);
            let space = &mut self.spaces[id as usize];
            if space.crypto.has_pending() {
                space.probes = PROBES;
            }
        }
    }

    /// Sends the first `most` frames again of those in flight.
    fn repeat_outstanding(&mut self, id: SpaceId, most: usize) {
        let frames: SentFrames = self.spaces[id as usize].sent.outstanding_frames().take(most).collect();
        self.send_again(id, &frames);
    }
}
