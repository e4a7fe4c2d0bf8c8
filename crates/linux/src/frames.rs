//! The bytes of packets from kernels, by packet id, and what middleboxes change of them.

use core::ops::Range;

use subflow_network::{Derivation, PacketId};
use subflow_wire::{Ecn, Packet, set_congestion_experienced};

use crate::echo;
use crate::packet_writer::emit_changed;

/// The bytes of a packet from a kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) bytes: Vec<u8>,
    pub(crate) payload: Range<usize>,
    /// What the bytes are, if middleboxes may change it.
    pub(crate) described: Option<Packet>,
}

impl Frame {
    /// The bytes of its payload.
    pub(crate) fn content(&self) -> &[u8] {
        &self.bytes[self.payload.clone()]
    }

    /// Replaces the payload. Lengths and checksums are as before.
    fn set_content(&mut self, content: Vec<u8>) {
        self.bytes.truncate(self.payload.start);
        self.bytes.extend(content);
        self.payload.end = self.bytes.len();
    }

    /// Changes the payload as [`Derivation::Rewritten`] says.
    fn rewrite(&mut self, longer: i32) {
        let mut content = self.content().to_vec();
        if let Some(first) = content.first_mut() {
            *first = first.wrapping_add(1);
        }
        content.resize(content.len().saturating_add_signed(longer as isize), 0);
        self.set_content(content);
    }

    /// Its bytes, with Congestion Experienced if a link has set it on `packet`.
    pub(crate) fn with_mark_of(&mut self, packet: &Packet) -> &[u8] {
        if packet.ip.ecn == Ecn::CongestionExperienced {
            set_congestion_experienced(&mut self.bytes);
        }
        &self.bytes
    }
}

/// Frames by packet id.
#[derive(Debug, Default)]
pub(crate) struct Frames(Vec<Frame>);

impl Frames {
    /// The frame of a packet: an old or an empty one, if the packet is new.
    pub(crate) fn at(&mut self, id: PacketId) -> &mut Frame {
        if self.0.len() <= id.index() {
            self.0.resize_with(id.index() + 1, Frame::default);
        }
        &mut self.0[id.index()]
    }

    /// Gives `copy` the frame of `original`, if that has one.
    pub(crate) fn copy(&mut self, original: PacketId, copy: PacketId) {
        if let Some(frame) = self.0.get(original.index()).cloned() {
            *self.at(copy) = frame;
        }
    }

    /// Does with frames what a middlebox has done with packets.
    pub(crate) fn derive(&mut self, derivation: Derivation) {
        match derivation {
            Derivation::Copied { cause, copy } => *self.at(copy) = self.at(cause).clone(),
            Derivation::Joined { first, whole } => {
                let before = self.at(first).content().to_vec();
                let whole = self.at(whole);
                let content = [&before[..], whole.content()].concat();
                whole.set_content(content);
            }
            Derivation::Rewritten { packet, longer } => self.at(packet).rewrite(longer),
        }
    }

    /// Brings the frame of `id` up to date if middleboxes have changed the packet.
    pub(crate) fn refresh(&mut self, id: PacketId, packet: &mut Packet) {
        let frame = self.at(id);
        if frame.described.as_ref() == Some(packet) {
            return;
        }
        let changed = match echo::is_description(packet) {
            true => echo::with_ends_of(packet, &frame.bytes),
            false => emit_changed(packet, frame.content()),
        };
        if let Some((bytes, payload)) = changed {
            *frame = Frame { bytes, payload, described: Some(packet.clone()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(content: &[u8]) -> Frame {
        Frame { bytes: [b"head", content].concat(), payload: 4..4 + content.len(), described: None }
    }

    fn id(index: usize) -> PacketId {
        PacketId::from_index(index)
    }

    #[test]
    fn frames_follow_what_middleboxes_do() {
        let mut frames = Frames::default();
        *frames.at(id(0)) = frame(b"abc");
        *frames.at(id(1)) = frame(b"def");
        frames.derive(Derivation::Copied { cause: id(1), copy: id(2) });
        frames.derive(Derivation::Joined { first: id(0), whole: id(1) });
        assert_eq!([1, 2].map(|index| frames.at(id(index)).content().to_vec()), [b"abcdef".to_vec(), b"def".to_vec()]);
        for (longer, expected) in [(0, &b"eef"[..]), (2, b"fef\0\0"), (-3, b"ge")] {
            frames.derive(Derivation::Rewritten { packet: id(2), longer });
            assert_eq!(frames.at(id(2)).content(), expected);
        }
    }

    #[test]
    fn a_copy_of_a_packet_without_a_frame_has_none() {
        let mut frames = Frames::default();
        frames.copy(id(3), id(4));
        assert!(frames.at(id(4)).bytes.is_empty());
    }
}
