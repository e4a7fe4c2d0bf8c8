//! Received data (RFC 9260, section 6.2): which chunks are accepted, are duplicates or are dropped for lack of space,
//! what the application gets of them, and the SACKs that are due for them.
//!
//! | what | where |
//! |---|---|
//! | which TSNs have arrived | `arrivals.rs` |
//! | from chunks to messages, in the order of their streams | `reassembly.rs`, `stream_order.rs` |
//! | when a SACK is sent, and its contents | `sack_schedule.rs` |

mod arrivals;
mod reassembly;
mod sack_schedule;
mod stream_order;

use std::collections::VecDeque;
use std::net::IpAddr;

use subflow_quantity::Instant;
use subflow_wire::sctp::{DataChunk, ForwardTsnChunk, SkippedStream};

use super::tsn::{TsnSpace, unwrap_ssn};
use super::violation::Violation;
use super::{Config, Counters};
use crate::stream::Stream;
use arrivals::Arrivals;
use reassembly::{Arrived, Reassembly};
use sack_schedule::SackSchedule;

/// The maximum number of fragments and messages that wait. Those ahead of the cumulative TSN are at most
/// [`MOST_TSNS_AHEAD`](super::config::MOST_TSNS_AHEAD); below it only fragments of long messages wait, which are
/// partially delivered when there are too many, and messages of streams in which the peer has omitted an earlier
/// message.
pub(super) const MAX_HELD_PIECES: usize = 1 << 16;

/// A message for the application, or a part of a large one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Stream number.
    pub stream: u16,
    /// Whether it was sent unordered.
    pub unordered: bool,
    /// The peer's payload protocol identifier.
    pub payload_protocol: u32,
    /// The first and the last of its chunks, numbered from 1 for the peer's initial TSN. An edge keeps bytes by this
    /// number.
    pub tsns: (u64, u64),
    /// Its bytes.
    pub bytes: u64,
    /// Whether it is the beginning of a message; always true if messages are delivered whole.
    pub begins: bool,
    /// Whether the message ends with it.
    pub ends: bool,
}

/// A chunk whose data was accepted, for the edge that stores its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenChunk {
    /// Its place among all chunks of the packet.
    pub index: usize,
    /// Its number, counted from 1 for the peer's initial TSN, as in [`Delivery::tsns`].
    pub tsn: u64,
}

/// The receiving side of an association.
#[derive(Clone, Debug)]
pub(super) struct Inbound {
    tsns: TsnSpace,
    streams: u16,
    arrivals: Arrivals,
    reassembly: Reassembly,
    sack: SackSchedule,
    /// Of the packet at hand, the chunks whose data was accepted.
    taken: Vec<TakenChunk>,
    /// Of the packet at hand, the chunks that it made deliverable, as runs of consecutive numbers.
    delivered: Vec<(u64, u64)>,
    deliveries: VecDeque<Delivery>,
    /// What becomes deliverable at a time, kept for its memory.
    deliverable: Vec<Delivery>,
}

/// What received data needs of the rest of the association.
pub(super) struct Receiver<'a> {
    pub(super) config: &'a Config,
    pub(super) stream: &'a mut Stream,
    pub(super) counters: &'a mut Counters,
    /// Whether SACKs are NR-SACKs: nothing that was acknowledged is dropped.
    pub(super) nr_sack: bool,
}

/// What is wrong with a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The association ends.
    Violation(Violation),
    /// The data is discarded, and the peer is told (section 6.5).
    NoSuchStream(u16),
}

impl Inbound {
    /// Nothing has arrived, and the peer is not known.
    pub(super) fn new(config: &Config) -> Self {
        Self {
            tsns: TsnSpace::new(0),
            streams: config.inbound_streams,
            arrivals: Arrivals::new(config.most_tsns_ahead),
            reassembly: Reassembly::default(),
            sack: SackSchedule::default(),
            taken: Vec::new(),
            delivered: Vec::new(),
            deliveries: VecDeque::new(),
            deliverable: Vec::new(),
        }
    }

    /// The peer begins with this TSN.
    pub(super) fn expect(&mut self, initial_tsn: u32) {
        self.tsns = TsnSpace::new(initial_tsn);
    }

    /// The number of streams from the peer, as negotiated.
    pub(super) fn streams(&self) -> u16 {
        self.streams
    }

    pub(super) fn set_streams(&mut self, streams: u16) {
        self.streams = streams;
    }

    /// A packet is at hand.
    pub(super) fn begin_packet(&mut self) {
        self.taken.clear();
        self.delivered.clear();
        self.sack.begin_packet();
    }

    /// The DATA chunk that is number `index` of its packet arrived; it is not empty.
    pub(super) fn on_data(&mut self, index: usize, data: &DataChunk, mut receiver: Receiver<'_>) -> Result<(), Fault> {
        receiver.counters.data_chunks_received += 1;
        let Some(tsn) = self.tsns.unwrap(data.tsn, self.arrivals.cumulative()) else { return Ok(()) };
        if tsn == 0 || self.arrivals.contains(tsn) {
            receiver.counters.duplicates_received += 1;
            self.arrivals.note_duplicate(tsn);
            self.sack.note_data(true);
            return Ok(());
        }
        let too_far = tsn - self.arrivals.cumulative() > u64::from(receiver.config.most_tsns_ahead);
        if too_far || !self.has_room_for(tsn, u64::from(data.payload.length), &mut receiver) {
            self.sack.note_data(true);
            return Ok(());
        }
        self.sack.note_data(data.immediate);
        self.arrivals.insert(tsn);
        if data.stream >= self.streams {
            return Err(Fault::NoSuchStream(data.stream));
        }
        self.taken.push(TakenChunk { index, tsn });
        self.take(tsn, data, &mut receiver).map_err(Fault::Violation)
    }

    /// Whether there is space for a chunk. A chunk that fills a gap has priority over data beyond it, which is dropped
    /// if that is allowed; with NR-SACK the buffer's limit is exceeded instead, by at most the data in flight.
    fn has_room_for(&mut self, tsn: u64, length: u64, receiver: &mut Receiver<'_>) -> bool {
        if self.reassembly.pieces() >= MAX_HELD_PIECES && !self.deliver_partially(receiver) {
            return false;
        }
        let fits = |inbound: &Self, receiver: &Receiver<'_>| inbound.window(receiver.config, receiver.stream) >= length;
        if fits(self, receiver) {
            return true;
        }
        // An empty buffer accepts any chunk: otherwise data larger than the buffer would never arrive.
        if self.reassembly.held() + receiver.stream.unread() == 0 {
            return true;
        }
        // Where the application reads, a message that can begin need not wait for its end.
        while self.reassembly.held() > 0 && self.deliver_partially(receiver) {
            if fits(self, receiver) {
                return true;
            }
        }
        if tsn > self.arrivals.highest() {
            return false;
        }
        let may_renege = receiver.config.reneging && !receiver.nr_sack;
        while may_renege && !fits(self, receiver) && self.arrivals.highest() > tsn {
            if !self.reassembly.drop_chunk(self.arrivals.highest()) {
                break;
            }
            self.arrivals.renege_highest();
            receiver.counters.reneged += 1;
        }
        // The next chunk in order is always accepted: it makes the data that waits for it deliverable.
        fits(self, receiver) || !may_renege || tsn == self.arrivals.cumulative() + 1
    }

    fn take(&mut self, tsn: u64, data: &DataChunk, receiver: &mut Receiver<'_>) -> Result<(), Violation> {
        let next = self.reassembly.next_of(data.stream);
        let ssn = if data.unordered { Some(0) } else { unwrap_ssn(data.stream_sequence, next) };
        // A sequence number from before the beginning of the stream: its message was skipped.
        let Some(ssn) = ssn else { return Ok(()) };
        let arrived = Arrived {
            stream: data.stream,
            ssn,
            unordered: data.unordered,
            payload_protocol: data.protocol_identifier,
            begins: data.begin,
            ends: data.end,
            length: u64::from(data.payload.length),
        };
        let inserted = self.reassembly.insert(tsn, arrived, &mut self.deliverable);
        self.deliver(receiver);
        if self.reassembly.held() >= receiver.config.partial_delivery_point {
            self.deliver_partially(receiver);
        }
        inserted
    }

    /// The application reads again. A message that has filled the buffer meanwhile begins to be delivered: the peer may
    /// have no room left to send its end.
    pub(super) fn resume(&mut self, mut receiver: Receiver<'_>) {
        let config = receiver.config;
        let is_full = self.window(config, receiver.stream) < u64::from(config.mtu);
        if is_full || self.reassembly.held() >= config.partial_delivery_point {
            self.deliver_partially(&mut receiver);
        }
    }

    /// Begins the partial delivery of a message whose end has not arrived. Returns whether there was such a message.
    fn deliver_partially(&mut self, receiver: &mut Receiver<'_>) -> bool {
        let begun = receiver.stream.reading && self.reassembly.begin_partial(&mut self.deliverable);
        self.deliver(receiver);
        begun
    }

    fn deliver(&mut self, receiver: &mut Receiver<'_>) {
        for delivery in self.deliverable.drain(..) {
            receiver.stream.on_received(delivery.bytes);
            match self.delivered.last_mut() {
                Some((_, last)) if *last + 1 == delivery.tsns.0 => *last = delivery.tsns.1,
                _ => self.delivered.push(delivery.tsns),
            }
            if receiver.config.record_deliveries {
                self.deliveries.push_back(delivery);
            }
        }
    }

    /// The peer has abandoned data (RFC 3758, section 3.6).
    pub(super) fn on_forward_tsn(&mut self, forward: &ForwardTsnChunk, mut receiver: Receiver<'_>) {
        let Some(tsn) = self.tsns.unwrap(forward.new_cumulative_tsn, self.arrivals.cumulative()) else { return };
        self.sack.note_data(true);
        let ahead = tsn.saturating_sub(self.arrivals.cumulative());
        if ahead == 0 || ahead > u64::from(u16::MAX) {
            return;
        }
        let passed = |skipped: &SkippedStream| {
            let ssn = unwrap_ssn(skipped.stream_sequence, self.reassembly.next_of(skipped.stream))?;
            (skipped.stream < self.streams).then_some((skipped.stream, ssn))
        };
        let streams: Vec<(u16, u64)> = forward.streams.iter().filter_map(passed).collect();
        self.arrivals.advance(tsn);
        self.reassembly.forward(tsn, &streams, &mut self.deliverable);
        self.deliver(&mut receiver);
    }

    /// The free part of the receive buffer, in bytes.
    pub(super) fn window(&self, config: &Config, stream: &Stream) -> u64 {
        config.receive_buffer.saturating_sub(self.reassembly.held() + stream.unread())
    }

    /// The peer's cumulative TSN as it is sent: all chunks up to it have arrived.
    pub(super) fn cumulative_tsn(&self) -> u32 {
        self.tsns.wire(self.arrivals.cumulative())
    }

    /// Whether no data has arrived.
    pub(super) fn is_unused(&self) -> bool {
        self.arrivals.highest() == 0
    }

    /// Bytes that wait for earlier messages or for other fragments of their message.
    pub(super) fn held(&self) -> u64 {
        self.reassembly.held()
    }

    /// The next message, or part of one, that was delivered, where deliveries are recorded.
    pub(super) fn poll_delivery(&mut self) -> Option<Delivery> {
        self.deliveries.pop_front()
    }

    /// Of the packet at hand, the chunks whose data was accepted.
    pub(super) fn taken(&self) -> &[TakenChunk] {
        &self.taken
    }

    /// Of the packet at hand, the chunks that it made deliverable, as runs of consecutive numbers.
    pub(super) fn delivered(&self) -> &[(u64, u64)] {
        &self.delivered
    }

    /// A packet with data has been processed: its acknowledgment is sent now, or delayed until `deadline`.
    pub(super) fn schedule_sack(&mut self, path: (Option<usize>, IpAddr), deadline: Instant, config: &Config) {
        let holes = self.arrivals.has_gaps() && !config.delayed_ack_cmt;
        self.sack.schedule(path, deadline, holes, config.sack_frequency);
    }
}

#[cfg(test)]
impl Inbound {
    /// Bytes that the peer's data makes it hold, buffers' contents not counted; `tree` is what an entry of a map takes,
    /// in units of its own size.
    pub(super) fn footprint(&self, tree: usize) -> usize {
        let piece = size_of::<Arrived>().max(size_of::<Delivery>()) + 4 * size_of::<u64>();
        self.arrivals.beyond().count() * 100
            + self.reassembly.pieces() * piece * tree
            + usize::from(self.streams) * size_of::<u64>()
            + self.taken.capacity() * size_of::<TakenChunk>()
            + self.delivered.capacity() * size_of::<(u64, u64)>()
    }
}
