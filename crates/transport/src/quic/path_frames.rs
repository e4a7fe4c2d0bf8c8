//! The frames of the multipath extension that arrive, and those that are lost (draft-ietf-quic-multipath-21, section 4).

use subflow_quantity::Instant;
use subflow_wire::quic::{AckFrame, Frame, NewConnectionIdFrame};

use super::Connection;
use super::connection_ids::ConnectionIds;
use super::error::TransportError;
use super::path::{Path, PathState};
use super::sent::SentFrame;
use super::space_id::SpaceId;

/// The highest path identifier of the extension (section 2.1).
const MOST_PATH_ID: u64 = u32::MAX as u64;
/// Challenges that wait for their answer.
const MOST_RESPONSES: usize = 8;

impl Connection {
    /// Processes a frame of the extension, or of path validation.
    ///
    /// # Errors
    ///
    /// It was not negotiated, or names a path beyond the limit.
    pub(super) fn on_path_frame(&mut self, place: usize, frame: &Frame, now: Instant) -> Result<(), TransportError> {
        if let Frame::PathChallenge(data) = frame {
            let responses = &mut self.paths[place].responses;
            if responses.len() < MOST_RESPONSES {
                responses.push_back(*data);
            }
            return Ok(());
        }
        let Some(multipath) = self.multipath() else { return Err(TransportError::ProtocolViolation) };
        let max_own = multipath.max_own;
        let known = |path: u64| if path <= max_own { Ok(()) } else { Err(TransportError::ProtocolViolation) };
        match *frame {
            Frame::PathResponse(data) => self.on_path_response(&data, now),
            Frame::PathAbandon { path, error_code } => {
                known(path)?;
                self.on_abandoned(path, error_code, now);
            }
            Frame::PathStatus { path, sequence, available } => {
                known(path)?;
                self.on_status(path, sequence, !available);
            }
            Frame::MaxPathId(max) => {
                let least = self.peer.initial_max_path_id.unwrap_or(0);
                if !(least..=MOST_PATH_ID).contains(&max) {
                    return Err(TransportError::ProtocolViolation);
                }
                let Some(multipath) = self.multipath() else { return Ok(()) };
                multipath.max_of_peer = multipath.max_of_peer.max(max);
                self.issue_path_ids();
            }
            Frame::PathsBlocked(path) => known(path)?,
            Frame::PathCidsBlocked { path, next_sequence } => {
                if self.ids_of_path(path)?.is_some_and(|ids| next_sequence > ids.issued()) {
                    return Err(TransportError::ProtocolViolation);
                }
            }
            // Frames of the other end, and of extensions that were not negotiated.
            _ => return Err(TransportError::ProtocolViolation),
        }
        Ok(())
    }

    /// An acknowledgment of 1-RTT packets: of those of path `path`, which may have arrived on another one (PATH_ACK), or
    /// of the initial path (ACK).
    pub(super) fn on_path_ack(
        &mut self,
        path: Option<u64>,
        ack: &AckFrame,
        now: Instant,
    ) -> Result<(), TransportError> {
        let (is_multipath, max_own) = (self.is_multipath(), self.multipath.as_ref().map_or(0, |known| known.max_own));
        if path.is_some_and(|path| !is_multipath || path > max_own) {
            return Err(TransportError::ProtocolViolation);
        }
        match self.place_of_path(path.unwrap_or(0)) {
            Some(place) => self.on_ack(SpaceId::of_path(place), ack, now),
            // The path is closed, or was never opened.
            None => Ok(()),
        }
    }

    /// The peer has issued a connection identifier of a path.
    pub(super) fn on_new_path_id(&mut self, path: u64, new: &NewConnectionIdFrame) -> Result<(), TransportError> {
        let of_others =
            self.paths.iter().filter(|known| known.id != path && !known.is_closed()).map(|known| &known.ids);
        let reserved = self.multipath.iter().flat_map(|multipath| &multipath.reserved);
        let mut of_others = of_others.chain(reserved.filter(|(id, _)| **id != path).map(|(_, ids)| ids));
        // Section 3.2.1: an identifier is that of one path.
        if of_others.any(|ids| ids.is_of_peer(new.connection_id)) {
            return Err(TransportError::ProtocolViolation);
        }
        match self.ids_of_path(path)? {
            Some(ids) => ids.on_new(new),
            None => Ok(()),
        }
    }

    /// The peer does not use a connection identifier of a path any more.
    pub(super) fn on_retired_path_id(&mut self, path: u64, sequence: u64) -> Result<(), TransportError> {
        let mut random = self.random.fork();
        let Some(ids) = self.ids_of_path(path)? else { return Ok(()) };
        let before: Vec<_> = ids.own().collect();
        ids.on_retire(sequence, 1, &mut random)?;
        let after: Vec<_> = ids.own().collect();
        let gone = before.iter().filter(|id| !after.contains(id)).map(|&id| (id, false));
        let new = after.iter().filter(|id| !before.contains(id)).map(|&id| (id, true));
        let changes: Vec<_> = gone.chain(new).collect();
        if let Some(multipath) = self.multipath() {
            multipath.id_changes.extend(changes);
        }
        Ok(())
    }

    /// The connection identifiers of a path, open or not; `None` if it is over.
    fn ids_of_path(&mut self, path: u64) -> Result<Option<&mut ConnectionIds>, TransportError> {
        let place = self.place_of_path(path);
        let Some(multipath) = self.multipath.as_deref_mut().filter(|multipath| multipath.is_negotiated) else {
            return Err(TransportError::ProtocolViolation);
        };
        if path > multipath.max_own {
            return Err(TransportError::ProtocolViolation);
        }
        if let Some(place) = place {
            return Ok(Some(&mut self.paths[place].ids));
        }
        let is_over = !multipath.reserved.contains_key(&path) && multipath.was_reserved(path);
        Ok(if is_over { None } else { Some(multipath.reserve(path)) })
    }

    /// The place of a path that is not closed.
    pub(super) fn place_of_path(&self, path: u64) -> Option<usize> {
        self.paths.iter().position(|known| known.id == path && !known.is_closed())
    }

    /// The peer does not use a path any more (section 4.2). It is answered in kind.
    fn on_abandoned(&mut self, path: u64, error_code: u64, now: Instant) {
        match self.place_of_path(path) {
            Some(place) if !matches!(self.paths[place].state, PathState::Abandoned { .. }) => {
                self.abandon(place, error_code, now);
                if !self.paths.iter().any(Path::sends) {
                    self.close_without_path();
                }
            }
            Some(_) => {}
            None => {
                let Some(multipath) = self.multipath() else { return };
                multipath.early_status.remove(&path);
                if let Some(ids) = multipath.reserved.remove(&path) {
                    multipath.drop_unopened(path, &ids, error_code);
                    multipath.next_id = multipath.next_id.max(path + 1);
                }
            }
        }
    }

    fn on_status(&mut self, path: u64, sequence: u64, backup: bool) {
        let status = match (self.place_of_path(path), self.multipath.as_deref_mut()) {
            (Some(place), _) => &mut self.paths[place].status,
            // A path that is not open yet: the status counts from when it is.
            (None, Some(multipath)) if multipath.is_unused(path) => multipath.early_status.entry(path).or_default(),
            _ => return,
        };
        if sequence >= status.peer_sequence {
            (status.peer_sequence, status.peer_backup) = (sequence + 1, backup);
        }
    }

    /// A frame about paths or their connection identifiers, in a packet of the path at `place`, is lost.
    pub(super) fn send_path_frame_again(&mut self, place: usize, frame: SentFrame) {
        match frame {
            SentFrame::NewConnectionId { path, sequence } => {
                if let Some(ids) = self.sent_ids(path) {
                    ids.tell_again(sequence);
                }
            }
            SentFrame::RetireConnectionId { path, sequence } => {
                if let Some(ids) = self.sent_ids(path) {
                    ids.retire_again(sequence);
                }
            }
            SentFrame::PathChallenge => {
                let path = &mut self.paths[place];
                path.challenges.is_due = matches!(path.state, PathState::Validating { .. });
            }
            SentFrame::PathStatus => {
                let path = &mut self.paths[place];
                path.status.is_due = path.sends();
            }
            SentFrame::PathAbandon { path, error_code } => {
                if let Some(multipath) = &mut self.multipath {
                    multipath.news.push_back(Frame::PathAbandon { path, error_code });
                }
            }
            SentFrame::MaxPathId => {
                if let Some(multipath) = &mut self.multipath {
                    multipath.news.push_back(Frame::MaxPathId(multipath.max_own));
                }
            }
            _ => {}
        }
    }

    fn sent_ids(&mut self, path: u64) -> Option<&mut ConnectionIds> {
        match self.place_of_path(path) {
            Some(place) => Some(&mut self.paths[place].ids),
            None => self.multipath.as_deref_mut()?.reserved.get_mut(&path),
        }
    }
}
