//! Paths that are opened, validated, abandoned and closed (draft-ietf-quic-multipath-21, section 3), and the path manager
//! that decides about them.

use std::net::{IpAddr, SocketAddr};

use rand_core::RngCore;
use subflow_policy::path_manager::{Command, Event as PathEvent, FourTuple, MAX_SUBFLOWS};
use subflow_policy::scheduler::Scheduler;
use subflow_quantity::Instant;
use subflow_wire::quic::{ConnectionId, Frame};

use super::Connection;
use super::connection_ids::ConnectionIds;
use super::path::{Path, PathState};
use super::sent::SentFrame;
use super::space_id::SpaceId;
use crate::Event;
use crate::mptcp::OpenRequest;
use crate::tcp::Ends;

/// Reasons to abandon a path (section 4.2.1).
const APPLICATION_ABANDON_PATH: u64 = 0x3e;
const PATH_RESOURCE_LIMIT_REACHED: u64 = 0x3e75;
const PATH_UNSTABLE_OR_POOR: u64 = 0x3e76;
const NO_CID_AVAILABLE_FOR_PATH: u64 = 0x3e77;

impl Connection {
    /// Passes an event to the path manager and executes its commands.
    pub(super) fn on_path_event(&mut self, event: PathEvent, now: Instant) {
        let Some(multipath) = self.multipath() else { return };
        if !multipath.path_manager.add(event) {
            return;
        }
        let mut commands = Vec::new();
        while self.multipath().is_some_and(|multipath| multipath.path_manager.next(now, &mut commands)) {
            commands.drain(..).for_each(|command| self.carry_out(command, now));
        }
    }

    fn carry_out(&mut self, command: Command, now: Instant) {
        match command {
            Command::Open { local, remote, port, backup } => {
                let backups = self.config.multipath.as_ref().map_or(&[][..], |multipath| &multipath.backup_addresses);
                let request = OpenRequest {
                    local: local.address,
                    local_id: local.id,
                    remote: SocketAddr::new(remote.address, port),
                    remote_id: remote.id,
                    local_port: None,
                    backup: backup || backups.contains(&local.address),
                };
                match self.multipath() {
                    Some(multipath) if multipath.path_manager.requests() < MAX_SUBFLOWS => {
                        multipath.path_manager.request(request);
                    }
                    _ => self.on_open_failed(&request, now),
                }
            }
            // The draft has no frame with addresses.
            Command::Announce(_) | Command::Withdraw { .. } => {}
            Command::Close(ends) => {
                if let Some(place) = self.place_between(ends) {
                    self.abandon(place, APPLICATION_ABANDON_PATH, now);
                }
            }
            Command::SetBackup { subflow, backup } => {
                if let Some(place) = self.place_between(subflow) {
                    self.set_backup(place, backup);
                }
            }
        }
    }

    fn place_between(&self, ends: FourTuple) -> Option<usize> {
        let known = Ends { local: ends.local, remote: ends.remote };
        self.paths.iter().position(|path| path.sends() && path.ends == known)
    }

    /// Asks the peer to use the path at `place` as a backup, or not.
    pub(super) fn set_backup(&mut self, place: usize, backup: bool) {
        let status = &mut self.paths[place].status;
        if status.own_backup != backup {
            (status.own_backup, status.is_due) = (backup, true);
            status.sequence += 1;
        }
    }

    /// How many of the paths that were requested can be opened now.
    pub(super) fn openable_requests(&self) -> usize {
        let Some(multipath) = self.multipath.as_deref().filter(|_| self.phase.is_confirmed()) else { return 0 };
        let closed = self.paths.iter().filter(|path| path.is_closed()).count();
        let places = MAX_SUBFLOWS - self.paths.len() + closed;
        multipath.path_manager.requests().min(multipath.openable()).min(places)
    }

    /// Paths wait that cannot be opened: the peer is told why (sections 4.6 and 4.7).
    pub(super) fn note_blocked_paths(&mut self) {
        let is_client = !self.is_server && self.phase.is_confirmed();
        if let Some(multipath) = self.multipath().filter(|_| is_client)
            && multipath.path_manager.requests() > multipath.openable()
        {
            multipath.note_blocked_path();
        }
    }

    /// Requests a further path from `local` to `remote`.
    pub(super) fn request_path(&mut self, local: IpAddr, local_port: Option<u16>, remote: SocketAddr, backup: bool) {
        let is_client = !self.is_server;
        // A request that comes before the handshake ends is kept until paths can be opened.
        let Some(multipath) = self.multipath.as_deref_mut().filter(|_| is_client) else { return };
        let Some(local_id) = multipath.local_addresses.id_for(local) else { return };
        let request = OpenRequest { local, local_port, local_id, remote, remote_id: 0, backup };
        multipath.path_manager.request(request);
        self.note_blocked_paths();
    }

    /// Opens a path that was requested. Returns its place.
    pub(super) fn open_path(&mut self, request: &OpenRequest, ends: Ends, now: Instant) -> Option<usize> {
        let multipath = self.multipath()?;
        if multipath.openable() == 0 {
            return None;
        }
        let id = multipath.next_id;
        let ids = multipath.reserved.remove(&id)?;
        multipath.next_id += 1;
        let place = self.add_path(id, ends, ids, now);
        self.paths[place].amplification.is_validated = true;
        self.set_backup(place, request.backup);
        Some(place)
    }

    /// A path could not be opened.
    pub(super) fn on_open_failed(&mut self, request: &OpenRequest, now: Instant) {
        let failed = FourTuple { local: SocketAddr::new(request.local, 0), remote: request.remote };
        self.on_path_event(PathEvent::NotOpened(failed), now);
    }

    /// A packet to `destination` has arrived between `ends`: the first one of a path that a client opens. Returns its
    /// place.
    pub(super) fn accept_path(&mut self, destination: ConnectionId, ends: Ends, now: Instant) -> Option<usize> {
        let (is_server, is_confirmed) = (self.is_server, self.phase.is_confirmed());
        let is_full = self.paths.len() >= MAX_SUBFLOWS && !self.paths.iter().any(Path::is_closed);
        let multipath = self.multipath().filter(|_| is_server && is_confirmed)?;
        let id = *multipath.reserved.iter().find(|(_, ids)| ids.is_own(destination, false))?.0;
        let ids = multipath.reserved.remove(&id)?;
        if is_full || !ids.has_destination() {
            let error_code = if is_full { PATH_RESOURCE_LIMIT_REACHED } else { NO_CID_AVAILABLE_FOR_PATH };
            multipath.drop_unopened(id, &ids, error_code);
            return None;
        }
        multipath.new_ends.push(ends);
        Some(self.add_path(id, ends, ids, now))
    }

    fn add_path(&mut self, id: u64, ends: Ends, ids: ConnectionIds, now: Instant) -> usize {
        let place = self.paths.iter().position(Path::is_closed).unwrap_or(self.paths.len());
        let mut path = Path::new((place, id), ends, ids, &mut self.congestion, &self.config, now);
        let early = self.multipath.as_deref_mut().and_then(|multipath| multipath.early_status.remove(&id));
        path.status = early.unwrap_or_default();
        match self.paths.get_mut(place) {
            Some(former) => {
                *former = path;
                if let Some(multipath) = &mut self.multipath {
                    let last = multipath.views.get(place).cloned().unwrap_or_default();
                    multipath.scheduling.on_replaced(place, &last);
                }
                self.forget_observations(place);
            }
            None => self.paths.push(path),
        }
        place
    }

    /// The next challenge of the path at `place`, which is unpredictable (RFC 9000, section 8.2.1).
    pub(super) fn next_challenge(&mut self, place: usize) -> Option<[u8; 8]> {
        let challenges = &mut self.paths[place].challenges;
        if !challenges.is_due {
            return None;
        }
        let mut data = [0; 8];
        self.random.fill_bytes(&mut data);
        challenges.enter(data);
        Some(data)
    }

    /// A response validates the path whose challenge it answers, on whatever path it arrives.
    pub(super) fn on_path_response(&mut self, data: &[u8; 8], now: Instant) {
        let Some(place) = self.paths.iter().position(|path| path.challenges.include(data)) else { return };
        if !matches!(self.paths[place].state, PathState::Validating { .. }) {
            return;
        }
        let path = &mut self.paths[place];
        path.state = PathState::Open;
        path.challenges.is_due = false;
        path.amplification.is_validated = true;
        self.timers_moved = true;
        path.recovery.establish(&mut self.congestion, self.config.pacing, now);
        let ends = path.ends;
        self.stream.emit(Event::SubflowEstablished(ends));
        self.on_path_event(PathEvent::SubflowEstablished(four_tuple(ends)), now);
    }

    /// This end does not use the path at `place` any more.
    pub(super) fn abandon(&mut self, place: usize, error_code: u64, now: Instant) {
        let path = self.paths[place].id;
        if let Some(multipath) = self.multipath() {
            multipath.news.push_back(Frame::PathAbandon { path, error_code });
        }
        self.leave_path(place, now);
    }

    /// Stops sending on a path: what it carries goes to the others.
    pub(super) fn leave_path(&mut self, place: usize, now: Instant) {
        let id = SpaceId::of_path(place);
        let frames: Vec<SentFrame> = self.space(id).sent.outstanding_frames().collect();
        let path = &mut self.paths[place];
        let (ends, was_open) = (path.ends, path.is_open());
        path.abandon(now);
        let in_flight = path.space.sent.discard();
        path.recovery.on_discarded(in_flight);
        // The idle timeout lasts for some probe timeouts of the slowest path.
        self.timers_moved = true;
        self.congestion.set_established(place, false);
        self.send_again(id, &frames);
        if was_open {
            self.stream.emit(Event::SubflowClosed(ends));
        }
        self.on_path_event(PathEvent::SubflowClosed(four_tuple(ends)), now);
    }

    /// Ends the states of paths whose time has come, and wakes the path manager.
    pub(super) fn on_path_timers(&mut self, now: Instant) {
        if self.multipath.is_none() {
            return;
        }
        for place in 0..self.paths.len() {
            match self.paths[place].state {
                PathState::Validating { until } if until <= now => self.abandon(place, PATH_UNSTABLE_OR_POOR, now),
                PathState::Abandoned { until } if until <= now => self.close_path(place),
                _ => {}
            }
        }
        if self.path_manager_time().is_some_and(|at| at <= now) {
            self.on_path_event(PathEvent::Woken, now);
        }
    }

    /// When the path manager is to be woken.
    pub(super) fn path_manager_time(&self) -> Option<Instant> {
        let wake_at = self.multipath.as_ref().map(|multipath| multipath.path_manager.wake_at());
        wake_at.filter(|&at| at < Instant::MAX)
    }

    /// Nothing of an abandoned path is processed any more, and the peer may open another one in its stead.
    fn close_path(&mut self, place: usize) {
        let path = &mut self.paths[place];
        path.state = PathState::Closed;
        let figures = path.figures(path.recovery.window(&self.congestion));
        let counters = core::mem::take(&mut path.counters);
        let Some(multipath) = self.multipath.as_deref_mut() else { return };
        multipath.id_changes.extend(path.ids.own().map(|id| (id, false)));
        multipath.list_former(figures, &counters);
        multipath.max_own += 1;
        multipath.news.push_back(Frame::MaxPathId(multipath.max_own));
        self.issue_path_ids();
    }

    /// This host has added an address, or regained one.
    pub(super) fn on_address_added(&mut self, address: IpAddr, now: Instant) {
        let is_active = self.phase.is_confirmed() && !self.is_server;
        let added = self.multipath.as_deref_mut().and_then(|multipath| multipath.local_addresses.add(address));
        if let Some(address) = added.filter(|_| is_active) {
            self.on_path_event(PathEvent::LocalAddressAdded(address), now);
        }
    }

    /// This host has lost an address: its paths are abandoned.
    pub(super) fn on_address_removed(&mut self, address: IpAddr, now: Instant) {
        let is_active = self.phase.is_confirmed() && !self.is_server;
        let Some(lost) = self.multipath().and_then(|multipath| multipath.local_addresses.remove(address)) else {
            return;
        };
        if is_active {
            self.on_path_event(PathEvent::LocalAddressRemoved(lost), now);
        }
        for place in 0..self.paths.len() {
            let path = &self.paths[place];
            if path.sends() && path.ends.local.ip() == address && is_active {
                self.abandon(place, APPLICATION_ABANDON_PATH, now);
            }
        }
    }
}

fn four_tuple(ends: Ends) -> FourTuple {
    FourTuple { local: ends.local, remote: ends.remote }
}
