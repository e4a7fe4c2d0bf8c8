//! Control chunks that wait to be sent, and packets that answer others (RFC 9260, sections 3.3.10 and 6.10).

use std::collections::VecDeque;
use std::net::IpAddr;

use subflow_wire::sctp::{CHUNK_HEADER_LENGTH, Chunk, ErrorCause, UdpEncapsulation};

use super::input::Origin;
use super::packet_size::padded;

/// A control chunk for a destination.
#[derive(Clone, Debug)]
pub(super) struct Control {
    pub(super) destination: usize,
    /// The address that its packet leaves from, where it answers one that arrived there.
    pub(super) local: Option<IpAddr>,
    pub(super) chunk: Chunk,
    /// The verification tag of its packet, where it is not the peer's.
    pub(super) tag: Option<u32>,
}

impl Control {
    /// Whether it may be bundled.
    pub(super) fn is_bundled(&self) -> bool {
        self.tag.is_none() && !matches!(self.chunk, Chunk::Init(_) | Chunk::InitAck(_) | Chunk::ShutdownComplete { .. })
    }
}

/// A packet that is independent of the association's state, with an address and a tag of its own.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) local: IpAddr,
    pub(super) remote: IpAddr,
    pub(super) tag: u32,
    pub(super) encapsulation: Option<UdpEncapsulation>,
    pub(super) chunk: Chunk,
}

/// The control chunks, in the order in which they are sent.
#[derive(Clone, Debug, Default)]
pub(super) struct ControlQueue {
    controls: VecDeque<Control>,
    replies: VecDeque<Reply>,
    /// What is to be reported of the packet at hand.
    causes: Vec<ErrorCause>,
}

impl ControlQueue {
    pub(super) fn push(&mut self, destination: usize, chunk: Chunk) {
        self.controls.push_back(Control { destination, local: None, chunk, tag: None });
    }

    /// Adds a chunk that answers a packet which arrived at the address `local`: it leaves from there.
    pub(super) fn push_answer(&mut self, destination: usize, local: IpAddr, chunk: Chunk) {
        self.controls.push_back(Control { destination, local: Some(local), chunk, tag: None });
    }

    /// The same, before all others.
    pub(super) fn push_first(&mut self, destination: usize, local: IpAddr, chunk: Chunk) {
        self.controls.push_front(Control { destination, local: Some(local), chunk, tag: None });
    }

    /// Adds an INIT, whose packet has the tag 0, for the first destination.
    pub(super) fn push_init(&mut self, init: Chunk) {
        self.controls.push_back(Control { destination: 0, local: None, chunk: init, tag: Some(0) });
    }

    /// A packet of its own in answer to the one at hand.
    pub(super) fn reply(&mut self, origin: Origin, tag: u32, chunk: Chunk) {
        let encapsulation = origin.encapsulation.map(|theirs| UdpEncapsulation {
            source_port: theirs.destination_port,
            destination_port: theirs.source_port,
        });
        self.replies.push_back(Reply { local: origin.local, remote: origin.source, tag, encapsulation, chunk });
    }

    /// Records an error cause for the sender of the packet at hand. All causes for a packet share one ERROR, which fits
    /// into the `room` of one packet; further ones are not reported.
    pub(super) fn report(&mut self, cause: ErrorCause, room: u32) {
        let taken: u32 = self.causes.iter().map(|cause| padded(cause.length())).sum();
        if CHUNK_HEADER_LENGTH + taken + padded(cause.length()) <= room {
            self.causes.push(cause);
        }
    }

    /// The packet at hand is processed: the ERROR with all causes that it gave is sent to `destination` from
    /// `local`, where it arrived.
    #[inline]
    pub(super) fn send_reports(&mut self, destination: usize, local: IpAddr) {
        if !self.causes.is_empty() {
            let causes = core::mem::take(&mut self.causes);
            self.push_answer(destination, local, Chunk::Error(causes));
        }
    }

    /// Removes the next packet that answers another one.
    #[inline]
    pub(super) fn next_reply(&mut self) -> Option<Reply> {
        self.replies.pop_front()
    }

    /// Removes the next chunk.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Control> {
        self.controls.pop_front()
    }

    /// Removes the next chunk if it may be bundled in a packet to `destination` from `local` and takes at most `room`
    /// bytes there. Chunks that do not answer a packet leave from `usual`.
    pub(super) fn next_bundled(&mut self, destination: usize, [local, usual]: [IpAddr; 2], room: u32) -> Option<Chunk> {
        let next = self.controls.front()?;
        let is_same_path = next.destination == destination && next.local.unwrap_or(usual) == local;
        let fits = is_same_path && next.is_bundled() && padded(next.chunk.length()) <= room;
        if !fits {
            return None;
        }
        self.controls.pop_front().map(|control| control.chunk)
    }

    /// This host has lost an address: answers that wait leave from that of their destination's path.
    pub(super) fn forget_source(&mut self, lost: IpAddr) {
        for control in &mut self.controls {
            control.local = control.local.filter(|&local| local != lost);
        }
    }

    /// The association is over: what was to be sent is not, but for replies.
    pub(super) fn end(&mut self) {
        self.controls.clear();
        self.causes.clear();
    }
}

#[cfg(test)]
impl ControlQueue {
    /// The chunk that is sent next.
    pub(super) fn first(&self) -> Option<&Chunk> {
        self.controls.front().map(|control| &control.chunk)
    }

    /// Bytes of all that waits.
    pub(super) fn footprint(&self) -> usize {
        let chunks = self.controls.iter().map(|control| &control.chunk);
        chunks.chain(self.replies.iter().map(|reply| &reply.chunk)).map(|chunk| chunk.length() as usize + 100).sum()
    }
}
