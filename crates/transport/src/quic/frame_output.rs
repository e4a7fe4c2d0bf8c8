//! The frames of a packet that leaves (RFC 9000, section 13).

use subflow_wire::Payload;
use subflow_wire::quic::{Frame, StreamFrame, StreamId, varint_length};

use super::multipath::Multipath;
use super::path_choice::Load;
use super::send_stream::Piece;
use super::sent::{SentFrame, SentFrames};
use super::space_id::SpaceId;
use super::{Connection, Counters};

/// Frames about streams and connection identifiers are added while this many bytes are left: none is longer.
const LONGEST_CONTROL_FRAME: u32 = 64;

impl Connection {
    /// Whether a packet number space has frames to send that elicit an acknowledgment.
    pub(super) fn has_frames(&self, id: SpaceId, load: Load) -> bool {
        let has_messages = self.space(id).crypto.has_pending();
        let has_others = || {
            self.paths[id.path()].has_own_frames()
                || load != Load::OwnFrames && self.has_control()
                || load == Load::Data && self.streams.has_pending()
        };
        has_messages || id.is_data() && has_others()
    }

    /// Whether there are frames about the connection, which any path can carry.
    pub(super) fn has_control(&self) -> bool {
        let has_path_news = || {
            let multipath = self.multipath.as_deref();
            multipath.is_some_and(Multipath::has_news) || self.paths[1..].iter().any(|path| path.ids.has_news())
        };
        self.owes_handshake_done || self.streams.owes_news || self.paths[0].ids.has_news() || has_path_news()
    }

    /// Adds frames to a packet in which `room` bytes are left.
    pub(super) fn fill_packet(
        &mut self,
        (id, load): (SpaceId, Load),
        mut room: u32,
        frames: &mut Vec<Frame>,
        sent: &mut SentFrames,
    ) {
        while let Some(crypto) = self.space_mut(id).crypto.take(room) {
            let start = crypto.offset;
            sent.push(SentFrame::Crypto { start, end: start + crypto.data.len() as u64 });
            room = add(Frame::Crypto(crypto), room, frames);
        }
        if id.is_data() {
            room = self.add_control((id.path(), load), room, frames, sent);
        }
        if id.is_data() && load == Load::Data {
            self.add_data(id.path(), room, frames, sent);
        }
    }

    fn add_control(
        &mut self,
        (place, load): (usize, Load),
        mut room: u32,
        frames: &mut Vec<Frame>,
        sent: &mut SentFrames,
    ) -> u32 {
        while room >= LONGEST_CONTROL_FRAME {
            let Some(frame) = self.next_control(place, load) else { break };
            sent.extend(match &frame {
                Frame::HandshakeDone => Some(SentFrame::HandshakeDone),
                Frame::MaxData(_) => Some(SentFrame::MaxData),
                Frame::MaxStreams { .. } => Some(SentFrame::MaxStreams),
                Frame::MaxStreamData { stream, .. } => Some(SentFrame::MaxStreamData(*stream)),
                Frame::ResetStream { stream, .. } => Some(SentFrame::ResetStream(*stream)),
                Frame::StopSending { stream, .. } => Some(SentFrame::StopSending(*stream)),
                Frame::NewConnectionId(new) => {
                    Some(SentFrame::NewConnectionId { path: new.path.unwrap_or(0), sequence: new.sequence })
                }
                Frame::RetireConnectionId { path, sequence } => {
                    Some(SentFrame::RetireConnectionId { path: path.unwrap_or(0), sequence: *sequence })
                }
                Frame::PathChallenge(_) => Some(SentFrame::PathChallenge),
                Frame::PathStatus { .. } => Some(SentFrame::PathStatus),
                &Frame::PathAbandon { path, error_code } => Some(SentFrame::PathAbandon { path, error_code }),
                Frame::MaxPathId(_) => Some(SentFrame::MaxPathId),
                // Answers to challenges, and what only informs the peer, are not sent again.
                _ => None,
            });
            room = add(frame, room, frames);
        }
        room
    }

    fn next_control(&mut self, place: usize, load: Load) -> Option<Frame> {
        let may_carry_others = load != Load::OwnFrames;
        if may_carry_others && core::mem::take(&mut self.owes_handshake_done) {
            return Some(Frame::HandshakeDone);
        }
        let own = self.next_own_frame(place);
        if own.is_some() || !may_carry_others {
            return own;
        }
        let ids = self.paths.iter_mut().find_map(|path| path.ids.take_news());
        let ids = ids.or_else(|| self.multipath.as_deref_mut().and_then(Multipath::take_news));
        ids.or_else(|| self.streams.take_news())
    }

    /// The next frame that only the path at `place` can carry.
    fn next_own_frame(&mut self, place: usize) -> Option<Frame> {
        let path = &mut self.paths[place];
        if let Some(data) = path.responses.pop_front() {
            return Some(Frame::PathResponse(data));
        }
        if core::mem::take(&mut path.status.is_due) {
            let (sequence, available) = (path.status.sequence, !path.status.own_backup);
            return Some(Frame::PathStatus { path: path.id, sequence, available });
        }
        self.next_challenge(place).map(Frame::PathChallenge)
    }

    /// Adds data of streams. The last frame reaches to the end of the packet if the packet is full.
    fn add_data(&mut self, place: usize, mut room: u32, frames: &mut Vec<Frame>, sent: &mut SentFrames) {
        let Counters { retransmissions, copies, .. } = self.paths[place].counters;
        while let Some((stream, offset)) = self.streams.next_sender() {
            let header = StreamFrame::header_length(stream, offset, false, 0);
            let Some(most) = room.checked_sub(header) else { return };
            let Some(piece) = self.streams.take(stream, most.into()) else { return };
            let length = (piece.range.end - piece.range.start) as u32;
            let has_length = header + varint_length(length.into()) + length <= room;
            if piece.is_retransmission {
                // However many pieces it carries, it is one packet.
                self.paths[place].counters.retransmissions = retransmissions + 1;
            }
            if self.note_carrier(place, stream, &piece) > 0 {
                self.paths[place].counters.copies = copies + 1;
            }
            let (start, end, fin) = (piece.range.start, piece.range.end, piece.fin);
            sent.push(SentFrame::Stream { stream, start, end, fin });
            let payload = Payload { stream_offset: piece.place, length, sum: 0 };
            room = add(Frame::Stream(StreamFrame { stream, offset: start, fin, has_length, payload }), room, frames);
            if !has_length {
                return;
            }
        }
    }

    /// Data leaves on the path at `place`. Returns how many bytes of it another path carried last.
    fn note_carrier(&mut self, place: usize, stream: StreamId, piece: &Piece) -> u64 {
        let Some(multipath) = self.multipath.as_deref_mut() else { return 0 };
        let path = self.paths[place].id as u32;
        let moved = self.streams.change_send(stream, |send| send.carry(piece.range.clone(), path)).unwrap_or(0);
        multipath.reinjected += moved;
        moved
    }
}

/// Adds a frame, and returns the room that is left.
fn add(frame: Frame, room: u32, frames: &mut Vec<Frame>) -> u32 {
    let left = room.saturating_sub(frame.length());
    frames.push(frame);
    left
}
