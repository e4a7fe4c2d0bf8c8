//! Data to send: messages that wait, chunks with TSNs until the peer has them, and what was abandoned.
//!
//! Every byte that the application wrote waits in a message, is in the retransmission queue, or is counted as freed.
//!
//! | what | where |
//! |---|---|
//! | messages, and how they are cut into chunks | `messages.rs` |
//! | chunks with TSNs: their statuses, and what is in flight | `queue.rs`, `sent_chunk.rs`, `lost.rs` |
//! | what SACKs acknowledge, and what the peer has dropped | `acknowledge.rs`, `newly_acked.rs` |
//! | data that is given up, and FORWARD-TSN | `forward_tsn.rs` |

mod acknowledge;
mod forward_tsn;
mod lost;
mod messages;
mod newly_acked;
mod queue;
mod sent_chunk;

use subflow_quantity::Instant;
use subflow_wire::Payload;
use subflow_wire::sctp::{Chunk, DataChunk};

pub(super) use acknowledge::Acknowledging;
pub(super) use newly_acked::NewlyAcked;
use queue::RetransmissionQueue;
pub(super) use sent_chunk::{FastRetransmit, Flight, SentChunk, Status};

use super::config::MessageOptions;
use super::tsn::TsnSpace;
use forward_tsn::ForwardTsn;
use messages::Messages;

/// The sending side of an association.
#[derive(Clone, Debug)]
pub(super) struct Outbound {
    tsns: TsnSpace,
    messages: Messages,
    pub(super) queue: RetransmissionQueue,
    /// Bytes that need no space in the send buffer any more.
    freed: u64,
    /// Those of them that the peer has.
    acknowledged: u64,
    /// The highest TSN that a gap block has acknowledged.
    highest_gap_acked: u64,
    forward_tsn: ForwardTsn,
}

impl Outbound {
    /// Nothing was written. `for_scheduler`: a scheduler distributes the data.
    pub(super) fn new(initial_tsn: u32, for_scheduler: bool) -> Self {
        Self {
            tsns: TsnSpace::new(initial_tsn),
            messages: Messages::default(),
            queue: RetransmissionQueue::new(for_scheduler),
            freed: 0,
            acknowledged: 0,
            highest_gap_acked: 0,
            forward_tsn: ForwardTsn::default(),
        }
    }

    /// The initial TSN is that of the cookie from which the association is created.
    pub(super) fn set_initial_tsn(&mut self, initial_tsn: u32) {
        self.tsns = TsnSpace::new(initial_tsn);
    }

    /// The initial TSN, as INIT and INIT ACK carry it.
    pub(super) fn initial_tsn(&self) -> u32 {
        self.tsns.initial()
    }

    /// The TSN with this number on the wire.
    pub(super) fn tsn_of(&self, wire: u32) -> Option<u64> {
        self.tsns.unwrap(wire, self.queue.cumulative())
    }

    /// The peer's cumulative TSN as it is sent.
    pub(super) fn cumulative_tsn(&self) -> u32 {
        self.tsns.wire(self.queue.cumulative())
    }

    /// Adds `length` bytes at `offset` in all that was written, as messages of `message_size`.
    pub(super) fn push(&mut self, offset: u64, length: u64, message_size: u64, options: MessageOptions, at: Instant) {
        self.messages.push(offset, length, message_size, options, at);
    }

    /// Bytes that have no TSN yet.
    #[inline]
    pub(super) fn unassigned(&self) -> u64 {
        self.messages.bytes()
    }

    /// The length of the next chunk that will get a TSN, at most `most`.
    #[inline]
    pub(super) fn next_length(&self, most: u32) -> Option<u32> {
        self.messages.next_length(most)
    }

    /// The next chunk, of at most `most` bytes, gets its TSN and is assigned to `destination`. Returns TSN and length.
    #[inline]
    pub(super) fn assign_next(&mut self, most: u32, destination: usize, now: Instant) -> Option<(u64, u32)> {
        let fragment = self.messages.take(most)?;
        Some((self.queue.assign(fragment, destination, now), fragment.length))
    }

    /// Drops the messages of which nothing was sent. Returns the number of bytes, which count as never written.
    pub(super) fn discard(&mut self) -> u64 {
        self.messages.discard()
    }

    /// Bytes written that need no space in the send buffer any more.
    #[inline]
    pub(super) fn freed(&self) -> u64 {
        self.freed
    }

    /// Bytes written that the peer has acknowledged and can no longer drop.
    pub(super) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Whether everything written is acknowledged or abandoned.
    #[inline]
    pub(super) fn is_all_acknowledged(&self) -> bool {
        self.queue.is_empty() && self.messages.bytes() == 0
    }

    /// The chunk as it is sent. `finished`: the application writes no more.
    ///
    /// # Panics
    ///
    /// If the chunk is not in the queue.
    #[inline]
    pub(super) fn data_chunk(&self, tsn: u64, finished: bool) -> Chunk {
        let nothing_follows = finished && self.messages.bytes() == 0;
        let fragment = self.queue.chunk(tsn).expect("a chunk of the queue").fragment();
        Chunk::Data(DataChunk {
            // The end of the association waits for the last acknowledgment (RFC 7053).
            immediate: nothing_follows && tsn + 1 == self.queue.next_tsn(),
            unordered: fragment.unordered,
            begin: fragment.begins,
            end: fragment.ends,
            tsn: self.tsns.wire(tsn),
            stream: fragment.stream,
            stream_sequence: fragment.ssn as u16,
            protocol_identifier: fragment.payload_protocol,
            payload: Payload { stream_offset: fragment.offset, length: fragment.length, sum: 0 },
        })
    }

    /// The association is over: nothing is sent again.
    pub(super) fn end(&mut self) {
        self.queue.forget_losses();
    }
}
