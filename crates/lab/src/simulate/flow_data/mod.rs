//! What happens to a flow's data on its way, packet by packet: how it is sent, when it arrives and can be read, its delays.
//!
//! | concern | file |
//! |---|---|
//! | a flow's record, made at once, or from what the parts of a run have kept | this one |
//! | the record: what is sent, and samples | `record.rs` |
//! | what arrives, and what can be read | `arrivals.rs` |
//! | many packets recorded at a time | `batch.rs` |
//! | ranges that cannot be read yet | `segments.rs` |
//! | SCTP's chunks | `chunks.rs` |
//! | streams of QUIC | `streams.rs` |
//! | the data in a packet | `transmissions.rs` |
//! | the subflows | `subflows.rs` |
//! | distributions of delays | `delays.rs` |

mod arrivals;
mod batch;
mod chunks;
mod delays;
mod record;
mod segments;
mod streams;
mod subflows;
#[cfg(test)]
mod tests;
mod transmissions;

use core::ops::Range;
use std::collections::BTreeSet;

use subflow_quantity::{Duration, Instant};
use subflow_scenario::Flow;
use subflow_transport::tcp::Ends;
use subflow_transport::{Endpoint, Note, Noted};
use subflow_wire::{Body, Packet, Payload};

pub(crate) use delays::FlowDelays;
#[cfg(test)]
use record::DataSample;
pub(super) use record::{DataRecord, SubflowSample};
pub(super) use subflows::FourTuple;

use crate::event_log::Sending;
use chunks::Undelivered;
use streams::StreamArrivals;
use transmissions::{Transmission, Unit, for_each_range, forward_tsn, four_tuple};

/// The record of a flow's data, and the node that sends it.
pub(super) struct FlowData {
    sender: usize,
    record: DataRecord,
    /// What happened since the last [`replay`](Self::replay), in order; `None` if it is recorded at once.
    steps: Option<Vec<Step>>,
    /// If messages are delivered out of order.
    undelivered: Option<Undelivered>,
    /// If its data is on several streams.
    streams: Option<StreamArrivals>,
    /// What the packet that arrived last has changed.
    arrivals: Vec<Arrival>,
}

/// The time, then the order of what happens at that time.
type When = (Instant, u64);

/// Something that happened, and when.
#[derive(Clone, Debug)]
struct Step {
    when: When,
    what: What,
}

/// What happened, and the ends of the subflow on which it did.
#[derive(Clone, Debug)]
enum What {
    Sent(Ends, Transmission),
    Arrived(Arrival),
    /// The data from this offset on.
    Lost(Ends, u64),
    TimedOut(Ends),
    Rtt(Ends, Duration),
}

/// What a packet changes at the receiver.
#[derive(Clone, Debug)]
enum Arrival {
    /// A range has arrived, and all data below `readable` can be read.
    Taken { data: Range<u64>, readable: u64 },
    /// The same, and the packet contains more.
    TakenWithMore { data: Range<u64>, readable: u64 },
    /// A range can be read, maybe before earlier ones.
    Delivered(Range<u64>),
    /// What was not delivered of the chunks up to this TSN never is.
    Skipped(u32),
}

impl FlowData {
    /// The record of `flow`. If its ends are in different parts of the run, `later` is set.
    pub(super) fn new(flow: &Flow, later: bool) -> Self {
        let is_unordered = flow.may_deliver_out_of_order();
        Self {
            sender: flow.data_sender(),
            record: DataRecord::new(is_unordered),
            steps: later.then(Vec::new),
            undelivered: (is_unordered && !flow.has_streams()).then(Undelivered::default),
            streams: flow.has_streams().then(StreamArrivals::default),
            arrivals: Vec::new(),
        }
    }

    pub(super) fn record(&self) -> &DataRecord {
        &self.record
    }

    pub(super) fn record_mut(&mut self) -> &mut DataRecord {
        &mut self.record
    }

    /// Whether `node` sends the flow's data.
    #[inline]
    pub(super) fn is_sender(&self, node: usize) -> bool {
        self.sender == node
    }

    /// A packet of the sender leaves.
    #[inline]
    pub(super) fn batch_sent(&mut self, packet: &Packet, when: When) {
        match (&packet.body, &mut self.steps) {
            (Body::Tcp(segment), None) => {
                let Payload { stream_offset, length, .. } = segment.payload;
                if length > 0 {
                    let tuple = four_tuple(packet, segment.source_port, segment.destination_port);
                    self.record.batch_sent(tuple, stream_offset, length, segment.sequence, when.0);
                }
            }
            _ => self.record_sent(packet, when),
        }
    }

    #[cold]
    fn record_sent(&mut self, packet: &Packet, when: When) {
        for_each_range(packet, |tuple, sent| match &mut self.steps {
            None => _ = self.record.on_transmission(tuple.ends(), sent, when.0),
            Some(steps) => steps.push(Step { when, what: What::Sent(tuple.ends(), sent) }),
        });
    }

    /// The receiver has processed a packet that has arrived.
    #[inline]
    pub(super) fn batch_arrived(&mut self, packet: &Packet, endpoint: &Endpoint, when: When) {
        match (&packet.body, &self.steps) {
            (Body::Tcp(_), None) => {
                let readable = endpoint.bytes_received();
                match endpoint.taken() {
                    Some(taken) => self.record.batch_arrived(taken.stream, readable, when.0),
                    None if readable != self.record.known_readable => {
                        self.record.batch_arrived(readable..readable, readable, when.0);
                    }
                    None => {}
                }
            }
            _ => self.record_arrived(packet, endpoint, when),
        }
    }

    #[cold]
    fn record_arrived(&mut self, packet: &Packet, endpoint: &Endpoint, when: When) {
        self.find_arrivals(packet, endpoint);
        let Self { record, steps, arrivals, .. } = self;
        for arrival in arrivals.drain(..) {
            match steps {
                None => _ = record.on_arrival(arrival, when.0),
                Some(steps) => steps.push(Step { when, what: What::Arrived(arrival) }),
            }
        }
    }

    /// Finds what a packet has changed at the receiver.
    fn find_arrivals(&mut self, packet: &Packet, endpoint: &Endpoint) {
        let arrivals = &mut self.arrivals;
        if matches!(packet.body, Body::Udp(_)) {
            return;
        }
        if let Some(streams) = &mut self.streams {
            let mut numbers = BTreeSet::new();
            endpoint.visit_taken(packet, |number, data| {
                streams.insert(number, data.clone());
                arrivals.push(Arrival::Taken { data, readable: 0 });
                numbers.insert(number);
            });
            for number in numbers {
                let readable = endpoint.received_on_stream(number);
                streams.take(number, readable, |data| arrivals.push(Arrival::Delivered(data)));
            }
            return;
        }
        if let Some(undelivered) = &mut self.undelivered {
            endpoint.visit_taken(packet, |number, data| {
                undelivered.insert(number, data.clone());
                arrivals.push(Arrival::Taken { data, readable: 0 });
            });
            for &numbers in endpoint.delivered_chunks() {
                arrivals.extend(undelivered.take(numbers).map(Arrival::Delivered));
            }
            arrivals.extend(forward_tsn(packet).map(Arrival::Skipped));
            return;
        }
        let readable = endpoint.bytes_received();
        endpoint.visit_taken(packet, |_, data| arrivals.push(Arrival::TakenWithMore { data, readable }));
        let last = match arrivals.pop() {
            Some(Arrival::TakenWithMore { data, readable }) => Arrival::Taken { data, readable },
            _ if readable != self.record.known_readable => Arrival::Taken { data: readable..readable, readable },
            _ => return,
        };
        self.record.known_readable = readable;
        arrivals.push(last);
    }

    /// A packet leaves `node`, and is recorded at once. Calls `told` with its 4-tuple, each range of data in it and, if
    /// it is the flow's data, whether it is new.
    pub(super) fn on_sent(
        &mut self,
        packet: &Packet,
        node: usize,
        now: Instant,
        mut told: impl FnMut(FourTuple<'_>, Range<u64>, Option<Sending>),
    ) {
        let is_sender = self.sender == node;
        for_each_range(packet, |tuple, sent| {
            let data = sent.data.clone();
            let sending = is_sender.then(|| self.record.on_transmission(tuple.ends(), sent, now));
            told(tuple, data, sending);
        });
    }

    /// A packet has arrived at `node`, whose endpoint has processed it, and is recorded at once. Calls `told` with its
    /// 4-tuple, each range of data in it and, likewise, what can be read now.
    pub(super) fn on_arrived(
        &mut self,
        packet: &Packet,
        endpoint: &Endpoint,
        node: usize,
        now: Instant,
        mut told: impl FnMut(FourTuple<'_>, Range<u64>, Option<Range<u64>>),
    ) {
        let mut readable = Vec::new();
        if self.sender != node {
            self.find_arrivals(packet, endpoint);
            for arrival in self.arrivals.drain(..) {
                let start = arrival.start();
                readable.extend(self.record.on_arrival(arrival, now).map(|range| (start, range)));
            }
        }
        for_each_range(packet, |tuple, sent| {
            let of_range = readable.iter().filter(|(start, _)| sent.data.contains(start));
            let readable = of_range.map(|(_, range)| range.clone()).max_by_key(|range| range.end);
            told(tuple, sent.data, readable);
        });
    }

    /// An endpoint of `node` has noted something.
    pub(super) fn on_noted(&mut self, noted: &Noted, node: usize, when: When) {
        if self.sender != node {
            return;
        }
        let what = match &noted.note {
            Note::Lost { data, .. } => What::Lost(noted.ends, data.start),
            Note::Timeout { .. } => What::TimedOut(noted.ends),
            _ => return,
        };
        let step = Step { when, what };
        match &mut self.steps {
            Some(steps) => steps.push(step),
            None => step.add_to(&mut self.record),
        }
    }

    /// The sender has measured RTTs.
    pub(super) fn on_rtts(&mut self, ends: Ends, samples: &[Duration], when: When) {
        match &mut self.steps {
            Some(steps) => {
                steps.extend(samples.iter().map(|&sample| Step { when, what: What::Rtt(ends, sample) }));
            }
            None => self.record.on_rtts(ends, samples),
        }
    }

    /// Takes the steps that another part has kept.
    pub(super) fn take_steps(&mut self, other: &mut Self) {
        let (Some(own), Some(other)) = (&mut self.steps, &mut other.steps) else { return };
        // What a single part has kept has the order in which it happened, also if `when` does not tell it.
        let from_both = !own.is_empty() && !other.is_empty();
        own.append(other);
        if from_both {
            own.sort_by_key(|step| step.when);
        }
    }

    /// Makes the record from the steps of all parts.
    pub(super) fn replay(&mut self) {
        let Some(steps) = &mut self.steps else { return };
        for step in steps.drain(..) {
            step.add_to(&mut self.record);
        }
    }
}

impl Step {
    fn add_to(self, record: &mut DataRecord) {
        let Self { when: (now, _), what } = self;
        match what {
            What::Sent(ends, sent) => _ = record.on_transmission(ends, sent, now),
            What::Arrived(arrival) => _ = record.on_arrival(arrival, now),
            What::Lost(ends, start) => record.on_lost(ends, start, now),
            What::TimedOut(ends) => record.on_timeout(ends, now),
            What::Rtt(ends, sample) => record.on_rtts(ends, &[sample]),
        }
    }
}

impl Arrival {
    /// Where its data begins.
    fn start(&self) -> u64 {
        match self {
            Self::Taken { data, .. } | Self::TakenWithMore { data, .. } | Self::Delivered(data) => data.start,
            Self::Skipped(_) => u64::MAX,
        }
    }
}

impl DataRecord {
    fn on_transmission(&mut self, ends: Ends, sent: Transmission, now: Instant) -> Sending {
        let subflow = self.subflow_of(ends);
        match sent.unit {
            Unit::Segment(sequence) => self.on_sent(subflow, sent.data, sequence, now),
            Unit::Chunk(tsn) => self.on_chunk_sent(subflow, sent.data, tsn, now),
            Unit::Frame => self.on_frame_sent(subflow, sent.data, now),
        }
    }

    fn on_arrival(&mut self, arrival: Arrival, now: Instant) -> Option<Range<u64>> {
        match arrival {
            Arrival::Taken { data, readable } => self.arrive(data, readable, now),
            Arrival::TakenWithMore { data, readable } => self.arrive_with_others(data, readable, now),
            Arrival::Delivered(data) => self.on_delivered(data, now),
            Arrival::Skipped(tsn) => {
                self.on_skipped(tsn, now);
                None
            }
        }
    }
}
