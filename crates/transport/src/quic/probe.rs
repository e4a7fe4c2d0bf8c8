//! The loss detection timer: lost packets and probe timeouts (RFC 9002, sections 6.1.2 and 6.2, appendix A.8 and A.9).

use smallvec::{SmallVec, smallvec};
use subflow_quantity::Instant;

use super::Connection;
use super::path::Path;
use super::sent::SentFrames;
use super::space_id::SpaceId;
use crate::notes::Note;
use crate::tcp::Closed;

/// Packets that a probe timeout sends while data is in flight (section 6.2.4: one or two).
const PROBES: u8 = 2;

impl Connection {
    /// The packet number spaces whose packets are sent on the path at `place`.
    fn spaces_of(place: usize) -> SmallVec<[SpaceId; 3]> {
        if place == 0 { SmallVec::from_buf(SpaceId::OF_INITIAL_PATH) } else { smallvec![SpaceId::of_path(place)] }
    }

    /// When a packet is to be considered lost for which it was too early yet, and its packet number space.
    fn loss_time(&self, place: usize) -> Option<(Instant, SpaceId)> {
        let of = |id: SpaceId| self.space(id).sent.loss_time().map(|at| (at, id));
        Self::spaces_of(place).into_iter().filter_map(of).min_by_key(|&(at, _)| at)
    }

    /// When probes are sent if no acknowledgment comes before, and in which packet number space.
    fn probe_time(&self, place: usize) -> Option<(Instant, SpaceId)> {
        let Path { rtt, recovery, .. } = &self.paths[place];
        let timeout = rtt.probe_timeout();
        if recovery.in_flight() == 0 {
            // The server may wait for proof of the client's address (section 6.2.2.1).
            let keeps_probing = !self.is_server && !self.phase.is_established() && self.phase.is_open();
            let id = match self.space(SpaceId::Handshake).is_open() {
                true => SpaceId::Handshake,
                false => SpaceId::Initial,
            };
            return keeps_probing.then(|| (self.idle.last_activity() + recovery.backed_off(timeout), id));
        }
        let of = |id: SpaceId| {
            let last_sent_at = self.space(id).sent.last_sent_at()?;
            let timeout = match id {
                // Section 6.2.1: not before the handshake is confirmed.
                SpaceId::Data(_) if !self.phase.is_confirmed() && !self.is_server && self.awaits_handshake() => {
                    return None;
                }
                SpaceId::Data(_) => timeout + self.max_ack_delay(),
                SpaceId::Initial | SpaceId::Handshake => timeout,
            };
            Some((last_sent_at + recovery.backed_off(timeout), id))
        };
        Self::spaces_of(place).into_iter().filter_map(of).min_by_key(|&(at, _)| at)
    }

    /// Whether packets of the handshake are in flight, whose timer goes first.
    fn awaits_handshake(&self) -> bool {
        self.handshake_spaces.iter().any(|space| space.sent.outstanding() > 0)
    }

    /// When the loss detection timer of the path at `place` expires.
    #[inline]
    pub(super) fn loss_detection_time(&self, place: usize) -> Option<Instant> {
        if place == 0 && self.in_handshake() {
            return self.loss_detection_time_in_handshake(place);
        }
        // Only packets of one number space are in flight.
        let Path { rtt, recovery, space, .. } = &self.paths[place];
        space.sent.loss_time().or_else(|| {
            let timeout = recovery.backed_off(rtt.probe_timeout() + self.max_ack_delay());
            space.sent.last_sent_at().map(|at| at + timeout)
        })
    }

    fn loss_detection_time_in_handshake(&self, place: usize) -> Option<Instant> {
        self.loss_time(place).or_else(|| self.probe_time(place)).map(|(at, _)| at)
    }

    /// Timers have become earlier, or were not set before: they may have expired meanwhile.
    pub(super) fn on_moved_timers(&mut self, now: Instant) {
        if !self.phase.is_open() {
            return;
        }
        if self.idle_time().is_some_and(|at| at <= now) {
            return self.end(Closed::TimedOut);
        }
        for place in 0..self.paths.len() {
            let path = &self.paths[place];
            if path.sends() && !path.amplification.is_limited() {
                self.on_loss_detection_timeout(place, now);
            }
        }
    }

    /// The loss detection timer of the path at `place` may have expired.
    pub(super) fn on_loss_detection_timeout(&mut self, place: usize, now: Instant) {
        match self.loss_time(place) {
            Some((at, id)) if at <= now => {
                self.detect_lost(id, true, now);
                // Until it expired it took the place of all probe timeouts.
                self.timers_moved = true;
            }
            Some(_) => {}
            None => {
                if let Some((_, id)) = self.probe_time(place).filter(|&(at, _)| at <= now) {
                    self.on_probe_timeout(id);
                }
            }
        }
    }

    /// No acknowledgment has come for a probe timeout: one or two packets ask for one, if possible with data.
    fn on_probe_timeout(&mut self, id: SpaceId) {
        let path = &mut self.paths[id.path()];
        path.recovery.probe_count += 1;
        path.counters.timeouts += 1;
        let in_a_row = path.recovery.probe_count;
        self.note(id.path(), Note::Timeout { in_a_row });
        if self.has_other_live(id.path()) {
            return self.suspect(id);
        }
        let space = self.space_mut(id);
        space.probes = if space.sent.outstanding() > 0 { PROBES } else { 1 };
        if id.is_data() && !self.streams.has_pending() {
            self.repeat_outstanding(id, PROBES.into());
        }
        // Section 6.2.4: what is missing of the handshake goes along, also if data that the peer cannot process yet
        // fills the window.
        for id in [SpaceId::Initial, SpaceId::Handshake] {
            self.repeat_outstanding(id, usize::MAX);
            let space = self.space_mut(id);
            if space.crypto.has_pending() {
                space.probes = PROBES;
            }
        }
    }

    /// A path may have failed while others work: it is probed without data, and what it carries goes to the others as
    /// well. What they have delivered already is not sent again.
    fn suspect(&mut self, id: SpaceId) {
        self.space_mut(id).probes = 1;
        self.repeat_outstanding(id, usize::MAX);
    }

    /// Sends the first `most` frames again of those in flight.
    fn repeat_outstanding(&mut self, id: SpaceId, most: usize) {
        let frames: SentFrames = self.space(id).sent.outstanding_frames().take(most).collect();
        self.send_again(id, &frames);
    }
}
