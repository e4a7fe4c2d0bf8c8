//! The record of a flow's data, made at once or, if its ends are in different parts of the run, from what each of them
//! has noted.

use core::ops::Range;

use subflow_quantity::{Duration, Instant};
use subflow_transport::tcp::Ends;
use subflow_transport::{Note, Noted};
use subflow_wire::sctp::Chunk;
use subflow_wire::{Body, Packet, Payload};

use super::carriers::Way;
use super::data_path::DataPath;
use crate::event_log::Sending;

/// The record of a flow's data, and the node that sends it.
pub(super) struct FlowData {
    sender: usize,
    path: DataPath,
    /// What happened since the last [`replay`](Self::replay), in order; `None` if it is recorded at once.
    steps: Option<Vec<Step>>,
}

/// The time, then the order of what happens at that time.
type When = (Instant, u64);

/// Something that happened to a range.
#[derive(Clone, Copy, Debug)]
struct Step {
    when: When,
    what: What,
    start: u64,
    end: u64,
}

/// What happened, and the ends of the subflow on which it did.
#[derive(Clone, Copy, Debug)]
enum What {
    Sent(Ends),
    Arrived,
    Lost(Ends),
    TimedOut(Ends),
    Rtt(Ends, Duration),
}

impl FlowData {
    pub(super) fn new(sender: usize, later: bool) -> Self {
        Self { sender, path: DataPath::default(), steps: later.then(Vec::new) }
    }

    pub(super) fn path(&self) -> &DataPath {
        &self.path
    }

    pub(super) fn path_mut(&mut self) -> &mut DataPath {
        &mut self.path
    }

    /// Whether `node` sends the flow's data.
    #[inline]
    pub(super) fn is_sender(&self, node: usize) -> bool {
        self.sender == node
    }

    /// A packet of the sender leaves.
    #[inline]
    pub(super) fn note_sent(&mut self, packet: &Packet, when: When) {
        match (&packet.body, &mut self.steps) {
            (Body::Tcp(segment), None) => {
                let Payload { stream_offset, length, .. } = segment.payload;
                if length > 0 {
                    let way = way(packet, segment.source_port, segment.destination_port);
                    self.path.note_sent(way, stream_offset, length, when.0);
                }
            }
            _ => self.note_ranges_sent(packet, when),
        }
    }

    #[cold]
    fn note_ranges_sent(&mut self, packet: &Packet, when: When) {
        for_each_range(packet, |way, start, end| match &mut self.steps {
            None => self.path.note_sent(way, start, (end - start) as u32, when.0),
            Some(steps) => steps.push(Step { when, what: What::Sent(way.ends()), start, end }),
        });
    }

    /// A packet has arrived at the receiver.
    #[inline]
    pub(super) fn note_arrived(&mut self, packet: &Packet, when: When) {
        match (&packet.body, &mut self.steps) {
            (Body::Tcp(segment), None) => {
                let Payload { stream_offset, length, .. } = segment.payload;
                if length > 0 {
                    self.path.note_arrived(stream_offset, length, when.0);
                }
            }
            _ => self.note_ranges_arrived(packet, when),
        }
    }

    #[cold]
    fn note_ranges_arrived(&mut self, packet: &Packet, when: When) {
        for_each_range(packet, |_, start, end| match &mut self.steps {
            None => self.path.note_arrived(start, (end - start) as u32, when.0),
            Some(steps) => steps.push(Step { when, what: What::Arrived, start, end }),
        });
    }

    /// A packet leaves `node`, and is recorded at once. Calls `told` with its way, each range of data in it and, if it
    /// is the flow's data, whether it is new.
    pub(super) fn on_sent(
        &mut self,
        packet: &Packet,
        node: usize,
        now: Instant,
        mut told: impl FnMut(Way<'_>, Range<u64>, Option<Sending>),
    ) {
        let is_sender = self.sender == node;
        for_each_range(packet, |way, start, end| {
            let sending = is_sender.then(|| self.path.on_packet_sent(way, start, end, now));
            told(way, start..end, sending);
        });
    }

    /// A packet has arrived at `node`, and is recorded at once. Calls `told` with its way, each range of data in it and,
    /// likewise, what can be read now.
    pub(super) fn on_arrived(
        &mut self,
        packet: &Packet,
        node: usize,
        now: Instant,
        mut told: impl FnMut(Way<'_>, Range<u64>, Option<Range<u64>>),
    ) {
        let is_sender = self.sender == node;
        for_each_range(packet, |way, start, end| {
            let readable = if is_sender { None } else { self.path.on_range_arrived(start, end, now) };
            told(way, start..end, readable);
        });
    }

    /// An endpoint of `node` has noted something.
    pub(super) fn on_noted(&mut self, noted: &Noted, node: usize, when: When) {
        if self.sender != node {
            return;
        }
        let (what, start, end) = match &noted.note {
            Note::Lost { data, .. } => (What::Lost(noted.ends), data.start, data.end),
            Note::Timeout { .. } => (What::TimedOut(noted.ends), 0, 0),
            _ => return,
        };
        self.add(Step { when, what, start, end });
    }

    /// The sender has measured RTTs.
    pub(super) fn on_rtts(&mut self, ends: Ends, samples: &[Duration], when: When) {
        match &mut self.steps {
            Some(steps) => {
                let step = |&sample: &Duration| Step { when, what: What::Rtt(ends, sample), start: 0, end: 0 };
                steps.extend(samples.iter().map(step));
            }
            None => self.path.on_rtts(ends, samples),
        }
    }

    fn add(&mut self, step: Step) {
        match &mut self.steps {
            Some(steps) => steps.push(step),
            None => step.add_to(&mut self.path),
        }
    }

    /// Takes the steps that another part has noted.
    pub(super) fn take_steps(&mut self, other: &mut Self) {
        let (Some(own), Some(other)) = (&mut self.steps, &mut other.steps) else { return };
        // What a single part has noted has the order in which it happened, also if `when` does not tell it.
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
            step.add_to(&mut self.path);
        }
    }
}

impl Step {
    fn add_to(self, path: &mut DataPath) {
        let Self { when: (now, _), what, start, end } = self;
        match what {
            What::Sent(ends) => _ = path.on_range_sent(ends, start, end, now),
            What::Arrived => _ = path.on_range_arrived(start, end, now),
            What::Lost(ends) => path.on_lost(ends, start, now),
            What::TimedOut(ends) => path.on_timeout(ends, now),
            What::Rtt(ends, sample) => path.on_rtts(ends, &[sample]),
        }
    }
}

/// Calls `each` with the way of a packet and the range of each piece of data in it.
fn for_each_range(packet: &Packet, mut each: impl FnMut(Way<'_>, u64, u64)) {
    let mut range = |source_port, destination_port, payload: &Payload| {
        if payload.length > 0 {
            let (start, end) = bounds(payload);
            each(way(packet, source_port, destination_port), start, end);
        }
    };
    match &packet.body {
        Body::Tcp(segment) => range(segment.source_port, segment.destination_port, &segment.payload),
        Body::Sctp(sctp) => {
            for chunk in &sctp.chunks {
                if let Chunk::Data(data) = chunk {
                    range(sctp.source_port, sctp.destination_port, &data.payload);
                }
            }
        }
        Body::Udp(_) => {}
    }
}

#[inline]
fn way(packet: &Packet, source_port: u16, destination_port: u16) -> Way<'_> {
    Way { ip: &packet.ip, source_port, destination_port }
}

/// Where the bytes of a payload are in the stream of the application.
#[inline]
fn bounds(payload: &Payload) -> (u64, u64) {
    (payload.stream_offset, payload.stream_offset + u64::from(payload.length))
}
