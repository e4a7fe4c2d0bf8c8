//! The frames of a packet that leaves (RFC 9000, section 13).

use subflow_wire::Payload;
use subflow_wire::quic::{Frame, StreamFrame, varint_length};

use super::Connection;
use super::sent::{SentFrame, SentFrames};
use super::space::SpaceId;

/// Frames about streams and connection identifiers are added while this many bytes are left: none is longer.
const LONGEST_CONTROL_FRAME: u32 = 64;

impl Connection {
    /// Whether a packet number space has frames to send that elicit an acknowledgment.
    pub(super) fn has_frames(&self, id: SpaceId) -> bool {
        let has_messages = self.spaces[id as usize].crypto.has_pending();
        let has_control = || {
            self.owes_handshake_done
                || self.streams.owes_news
                || self.ids.has_news()
                || !self.path_responses.is_empty()
                || self.streams.has_pending()
        };
        has_messages || id == SpaceId::Data && has_control()
    }

    /// Adds frames to a packet in which `room` bytes are left.
    pub(super) fn fill_packet(&mut self, id: SpaceId, mut room: u32, frames: &mut Vec<Frame>, sent: &mut SentFrames) {
        while let Some(crypto) = self.spaces[id as usize].crypto.take(room) {
            let start = crypto.offset;
            sent.push(SentFrame::Crypto { start, end: start + crypto.data.len() as u64 });
            room = add(Frame::Crypto(crypto), room, frames);
        }
        if id == SpaceId::Data {
            room = self.add_control(room, frames, sent);
            self.add_data(room, frames, sent);
        }
    }

    fn add_control(&mut self, mut room: u32, frames: &mut Vec<Frame>, sent: &mut SentFrames) -> u32 {
        while room >= LONGEST_CONTROL_FRAME {
            let Some(frame) = self.next_control() else { break };
            sent.extend(match &frame {
                Frame::HandshakeDone => Some(SentFrame::HandshakeDone),
                Frame::MaxData(_) => Some(SentFrame::MaxData),
                Frame::MaxStreamData { stream, .. } => Some(SentFrame::MaxStreamData(*stream)),
                Frame::ResetStream { stream, .. } => Some(SentFrame::ResetStream(*stream)),
                Frame::NewConnectionId(new) => Some(SentFrame::NewConnectionId(new.sequence)),
                Frame::RetireConnectionId { sequence, .. } => Some(SentFrame::RetireConnectionId(*sequence)),
                // Answers to challenges are not sent again.
                _ => None,
            });
            room = add(frame, room, frames);
        }
        room
    }

    fn next_control(&mut self) -> Option<Frame> {
        if core::mem::take(&mut self.owes_handshake_done) {
            return Some(Frame::HandshakeDone);
        }
        let response = self.path_responses.pop_front().map(Frame::PathResponse);
        response.or_else(|| self.ids.take_news()).or_else(|| self.streams.take_news())
    }

    /// Adds data of streams. The last frame reaches to the end of the packet if the packet is full.
    fn add_data(&mut self, mut room: u32, frames: &mut Vec<Frame>, sent: &mut SentFrames) {
        while let Some((stream, offset)) = self.streams.next_sender() {
            let header = StreamFrame::header_length(stream, offset, false, 0);
            let Some(most) = room.checked_sub(header) else { return };
            let Some(piece) = self.streams.take(stream, most.into()) else { return };
            let length = (piece.range.end - piece.range.start) as u32;
            let has_length = header + varint_length(length.into()) + length <= room;
            self.counters.retransmissions += u64::from(piece.is_retransmission);
            let (start, end, fin) = (piece.range.start, piece.range.end, piece.fin);
            sent.push(SentFrame::Stream { stream, start, end, fin });
            let payload = Payload { stream_offset: start, length, sum: 0 };
            room = add(Frame::Stream(StreamFrame { stream, offset: start, fin, has_length, payload }), room, frames);
            if !has_length {
                return;
            }
        }
    }
}

/// Adds a frame, and returns the room that is left.
fn add(frame: Frame, room: u32, frames: &mut Vec<Frame>) -> u32 {
    let left = room.saturating_sub(frame.length());
    frames.push(frame);
    left
}
