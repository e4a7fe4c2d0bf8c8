//! The path of the next packet: that of a scheduler for data, and what other frames need (draft-ietf-quic-multipath-21,
//! section 5).

use subflow_policy::scheduler::{Assignment, QueueView, Scheduler, SubflowView, What};
use subflow_quantity::{Duration, Instant};

use super::Connection;
use super::path::{Path, PathState};

/// Bytes of a full packet that are not data: short header with a connection identifier of 8 bytes and a packet number of
/// 2, tag, and the header of a STREAM frame.
const OVERHEAD: u32 = 11 + 16 + 6;

/// What a packet of a path may carry beside acknowledgments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// Everything.
    Data,
    /// Everything but data.
    Control,
    /// Frames of this path only: it carries no data yet, or may have failed.
    OwnFrames,
}

impl Connection {
    /// Bytes of data in a full packet.
    pub(super) fn full_payload(&self) -> u32 {
        self.datagram_size() - OVERHEAD
    }

    /// Whether another path than the one at `place` works.
    pub(super) fn has_other_live(&self, place: usize) -> bool {
        self.paths.len() > 1 && self.paths.iter().enumerate().any(|(other, path)| other != place && path.is_live())
    }

    /// The path of a packet that has no scheduler: the live one with the smallest RTT, backups last; else one that may
    /// have failed.
    pub(super) fn best_path(&self) -> Option<usize> {
        let rank = |path: &Path| {
            let is_backup = path.status.own_backup || path.status.peer_backup;
            (!path.is_live(), is_backup, path.rtt.srtt().unwrap_or(Duration::MAX))
        };
        let open = self.paths.iter().enumerate().filter(|(_, path)| path.is_open());
        open.min_by_key(|(_, path)| rank(path)).map(|(place, _)| place)
    }

    /// The path of the next packet and what it may carry; `None` if there is nothing to send.
    pub(super) fn next_path(&mut self, now: Instant) -> Option<(usize, Load)> {
        if self.paths.len() == 1 && self.paths[0].sends() {
            return Some((0, Load::Data));
        }
        if let Some(place) = self.scheduled_path(now) {
            return Some((place, Load::Data));
        }
        if let Some(place) = (0..self.paths.len()).find(|&place| self.wants_packet(place, now)) {
            return Some((place, self.load_of(place)));
        }
        let place = self.best_path()?;
        let owes_other_ack = self.owes_ack_of_abandoned(now);
        let path = &mut self.paths[place];
        let admits = path.is_live() && path.recovery.admits(&self.congestion, now);
        (owes_other_ack || admits && self.has_control()).then_some((place, Load::Control))
    }

    /// Whether an acknowledgment is due that an abandoned path cannot carry.
    fn owes_ack_of_abandoned(&self, now: Instant) -> bool {
        let is_due = |path: &Path| path.space.received.due_at().is_some_and(|at| at <= now);
        self.paths.iter().any(|path| path.owes_ack_elsewhere() && is_due(path))
    }

    fn load_of(&self, place: usize) -> Load {
        match &self.paths[place] {
            path if path.is_live() => Load::Control,
            path if path.is_open() && !self.has_other_live(place) => Load::Data,
            _ => Load::OwnFrames,
        }
    }

    /// Whether the path itself has to send a packet.
    fn wants_packet(&mut self, place: usize, now: Instant) -> bool {
        let path = &mut self.paths[place];
        if !path.sends() || path.amplification.is_limited() {
            return false;
        }
        let ack_is_due = path.space.received.due_at().is_some_and(|at| at <= now);
        let has_frames = path.has_own_frames() || place == 0 && path.space.crypto.has_pending();
        ack_is_due || path.space.probes > 0 || has_frames && path.recovery.admits(&self.congestion, now)
    }

    /// The path that the scheduler chooses for data, if any is to be sent and any path may carry it.
    fn scheduled_path(&mut self, now: Instant) -> Option<usize> {
        let start = self.streams.sent_in_all();
        let (again, new) = self.streams.pending_bytes();
        if !self.streams.has_pending() {
            self.paths.iter_mut().for_each(|path| path.recovery.on_nothing_to_send(&self.congestion));
            return None;
        }
        self.update_views(now);
        let credit = self.streams.credit();
        let in_flight: u64 = self.paths.iter().map(|path| u64::from(path.recovery.in_flight())).sum();
        let outstanding = in_flight * u64::from(self.full_payload());
        let full = u64::from(self.full_payload());
        let multipath = self.multipath.as_deref_mut()?;
        let may_send = multipath.views.iter().any(|view| view.can_send);
        multipath.blocked += u64::from(credit < full && may_send);
        let queue = QueueView {
            now,
            // The end of a stream takes a packet as well.
            new_data: start..start + (again + new).max(1),
            fragment_end: start,
            backlog: again + new,
            window: credit.saturating_add(outstanding),
            window_left: credit,
            blocked: multipath.blocked,
            ..QueueView::default()
        };
        match multipath.scheduling.next(&multipath.views, &queue)? {
            Assignment { subflow, what: What::New { .. } } => {
                multipath.views.get(subflow).filter(|view| view.can_send).map(|_| subflow)
            }
            Assignment { what: What::Copy { .. }, .. } => None,
        }
    }

    fn update_views(&mut self, now: Instant) {
        let mss = self.full_payload();
        let Some(multipath) = self.multipath.as_deref_mut() else { return };
        multipath.views.clear();
        for (place, path) in self.paths.iter_mut().enumerate() {
            let in_flight = path.recovery.in_flight();
            let can_send = path.is_live() && path.recovery.admits(&self.congestion, now);
            let outstanding = subflow_policy::congestion::Outstanding { amount: in_flight, unit_bytes: mss };
            let of_controller = self.congestion.path(place);
            multipath.views.push(SubflowView {
                local_id: multipath.local_addresses.id_for(path.ends.local.ip()).unwrap_or_default(),
                srtt: path.rtt.srtt(),
                rtt_variation: path.rtt.variation(),
                latest_rtt: path.rtt.latest(),
                cwnd: of_controller.cwnd(),
                in_flight,
                mss,
                queued_bytes: 0,
                held_bytes: u64::from(in_flight) * u64::from(mss),
                // A path has no queue beyond its window.
                buffer_full: !can_send,
                pacing_rate: self.congestion.pacing_rate(place, outstanding).unwrap_or(u64::MAX),
                packets_sent: path.counters.datagrams_sent,
                packets_resent: path.counters.packets_lost,
                slow_start: of_controller.in_slow_start(),
                established: path.is_open(),
                backup: path.status.own_backup || path.status.peer_backup,
                potentially_failed: path.is_open() && !path.is_live(),
                can_send,
            });
        }
    }
}

impl Path {
    /// Whether an acknowledgment of its packets waits that it cannot carry any more.
    pub(super) fn owes_ack_elsewhere(&self) -> bool {
        matches!(self.state, PathState::Abandoned { .. }) && self.space.received.owes_ack()
    }

    /// Whether frames wait that only this path can carry.
    pub(super) fn has_own_frames(&self) -> bool {
        self.challenges.is_due || !self.responses.is_empty() || self.status.is_due
    }
}
