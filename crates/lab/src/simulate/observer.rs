//! Watches what hosts do, for records of the flows' data and for an event log. Hosts do no work for it, and nothing is
//! called if nothing is recorded.

use subflow_quantity::Instant;
use subflow_scenario::Flow;
use subflow_transport::{Endpoint, Event, Noted};
use subflow_wire::Packet;

use super::flow_data::{DataRecord, FlowData};
use crate::RunError;
use crate::event_log::{Act, EventLog, Place};

/// The watcher of a run.
pub(super) struct Observer {
    /// By flow, the record of its data.
    flows: Vec<FlowData>,
    /// Whether the records are complete later, and need the order of what happens at one time.
    later: bool,
    log: Option<EventLog>,
    /// What endpoints have noted, to be sorted out.
    noted: Vec<Noted>,
}

/// The endpoint that something happens to: the node and the flow it belongs to, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occasion {
    pub(super) node: usize,
    pub(super) flow: usize,
    /// The time, then the order of what happens at that time.
    pub(super) when: (Instant, u64),
}

/// What is recorded of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watched {
    /// Nothing.
    Nothing,
    /// How it sends the data of its flow.
    Sender,
    /// How the data of its flow arrives.
    Receiver,
    /// All that it does, for a log.
    All,
}

impl Watched {
    /// Whether packets are recorded that the endpoint sends.
    #[inline]
    pub(super) fn sends(self) -> bool {
        matches!(self, Self::Sender | Self::All)
    }
}

impl Observer {
    /// Records how the data of each flow reaches its reader. If `later`, the record is complete after
    /// [`replay`](Self::replay) only.
    pub(super) fn new(flows: &[Flow], later: bool, log: Option<EventLog>) -> Self {
        let flows = flows.iter().map(|flow| FlowData::new(flow, later)).collect();
        Self { flows, later, log, noted: Vec::new() }
    }

    /// Whether the order of what happens at one time is needed ([`Occasion::when`]).
    #[inline]
    pub(super) fn needs_order(&self) -> bool {
        self.later
    }

    /// An endpoint of `flow` was created at `node`. Returns what is to be recorded of it.
    pub(super) fn on_opened(&self, endpoint: &mut Endpoint, node: usize, flow: usize) -> Watched {
        let watched = match self.log {
            Some(_) => Watched::All,
            None if self.flows[flow].is_sender(node) => Watched::Sender,
            None => Watched::Receiver,
        };
        if watched.sends() {
            endpoint.keep_notes(self.log.is_some());
        }
        watched
    }

    /// An endpoint that [sends](Watched::sends) is about to send what it has.
    #[inline]
    pub(super) fn on_draining(&mut self, endpoint: &mut Endpoint, at: Occasion) {
        // Loss recovery notes what it does before it sends. Only schedulers note more while packets are sent.
        if endpoint.has_notes() {
            self.take_notes(endpoint, at);
        }
    }

    /// A packet leaves an endpoint that [sends](Watched::sends).
    #[inline]
    pub(super) fn on_sent(&mut self, packet: &Packet, endpoint: &mut Endpoint, at: Occasion) {
        if self.log.is_some() {
            self.log_sent(packet, endpoint, at);
        } else {
            self.batch_sent(packet, at.flow, at.when);
        }
    }

    #[inline(never)]
    fn batch_sent(&mut self, packet: &Packet, flow: usize, when: (Instant, u64)) {
        self.flows[flow].batch_sent(packet, when);
    }

    #[cold]
    fn log_sent(&mut self, packet: &Packet, endpoint: &mut Endpoint, at: Occasion) {
        if endpoint.has_notes() {
            self.take_notes(endpoint, at);
        }
        let Some(log) = &mut self.log else { return };
        self.flows[at.flow].on_sent(packet, at.node, at.when.0, |tuple, data, sending| {
            log.sent(at.place(), tuple.ends(), data, sending);
        });
    }

    /// The receiver of a flow's data, which is not logged, has processed a packet.
    #[inline(never)]
    pub(super) fn batch_arrived(&mut self, packet: &Packet, endpoint: &Endpoint, flow: usize, when: (Instant, u64)) {
        self.flows[flow].batch_arrived(packet, endpoint, when);
    }

    /// An endpoint that is logged has processed a packet.
    #[cold]
    pub(super) fn log_arrived(&mut self, packet: &Packet, endpoint: &Endpoint, at: Occasion) {
        let Some(log) = &mut self.log else { return };
        self.flows[at.flow].on_arrived(packet, endpoint, at.node, at.when.0, |tuple, data, readable| {
            log.received(at.place(), tuple.ends().reversed(), data, readable);
        });
    }

    /// An endpoint has nothing more to send, and reports `event` to its application.
    #[inline]
    pub(super) fn on_drained(&mut self, endpoint: &mut Endpoint, event: Option<Event>, at: Occasion) {
        if self.log.is_some() || event.is_some() {
            self.note_drained(endpoint, event, at);
        }
    }

    #[cold]
    fn note_drained(&mut self, endpoint: &mut Endpoint, event: Option<Event>, at: Occasion) {
        if endpoint.has_notes() {
            self.take_notes(endpoint, at);
        }
        if event.is_some_and(tells_subflows) {
            self.note_rtts(endpoint, at);
        }
        if let Some(log) = &mut self.log {
            log.windows(at.place(), endpoint);
            event.into_iter().for_each(|event| log.event(at.place(), event));
        }
    }

    /// Adds the RTTs that an endpoint of `node` has measured since the last call to the record of the data of `flow`.
    pub(super) fn record_rtts(&mut self, endpoint: &mut Endpoint, node: usize, flow: usize) {
        let flow = &mut self.flows[flow];
        let is_sender = flow.is_sender(node);
        endpoint.take_rtts(|ends, samples| {
            if is_sender {
                flow.record_mut().on_rtts(ends, samples);
            }
        });
    }

    /// The same at an event, in the order of what happens.
    #[cold]
    fn note_rtts(&mut self, endpoint: &mut Endpoint, at: Occasion) {
        let flow = &mut self.flows[at.flow];
        let is_sender = flow.is_sender(at.node);
        endpoint.take_rtts(|ends, samples| {
            if is_sender {
                flow.on_rtts(ends, samples, at.when);
            }
        });
    }

    /// The reader of a flow has all of its data.
    pub(super) fn on_completed(&mut self, bytes: u64, at: Occasion) {
        if let Some(log) = &mut self.log {
            log.completed(at.place(), bytes);
        }
    }

    /// The application of a flow does something.
    pub(super) fn on_act(&mut self, act: &Act, at: Occasion) {
        if let Some(log) = &mut self.log {
            log.act(at.place(), act);
        }
    }

    #[cold]
    fn take_notes(&mut self, endpoint: &mut Endpoint, at: Occasion) {
        endpoint.take_notes(&mut self.noted);
        for noted in self.noted.drain(..) {
            self.flows[at.flow].on_noted(&noted, at.node, at.when);
            if let Some(log) = &mut self.log {
                log.noted(at.place(), &noted);
            }
        }
    }

    /// Brings the records of all flows' data up to date, but for RTTs.
    pub(super) fn catch_up(&mut self) {
        self.flows.iter_mut().for_each(|flow| flow.record_mut().catch_up());
    }

    /// The record of a flow's data.
    pub(super) fn data_record(&self, flow: usize) -> Option<&DataRecord> {
        self.flows.get(flow).map(FlowData::record)
    }

    /// The same, to add to it or to take from it.
    pub(super) fn data_record_mut(&mut self, flow: usize) -> Option<&mut DataRecord> {
        self.flows.get_mut(flow).map(FlowData::record_mut)
    }

    /// Takes what another part of the run has recorded.
    pub(super) fn take_records(&mut self, other: &mut Self) {
        self.flows.iter_mut().zip(&mut other.flows).for_each(|(own, other)| own.take_steps(other));
    }

    /// Adds what the parts of the run have recorded to the records of the flows' data.
    pub(super) fn replay(&mut self) {
        self.flows.iter_mut().for_each(FlowData::replay);
    }

    /// Fails if the event log could not be written.
    pub(super) fn check(&self) -> Result<(), RunError> {
        self.log.as_ref().map_or(Ok(()), EventLog::check)
    }

    /// Ends the event log of a run that ended at `end`.
    pub(super) fn finish(&mut self, end: Instant) -> Result<(), RunError> {
        self.log.take().map_or(Ok(()), |log| log.finish(end))
    }
}

/// Whether it is reported that a subflow begins or ends. Then its RTTs are recorded: the first of them makes it known, and
/// none may be left when another subflow takes its place.
fn tells_subflows(event: Event) -> bool {
    use Event::{Closed, Established, SubflowClosed, SubflowEstablished};
    matches!(event, Established | SubflowEstablished(_) | SubflowClosed(_) | Closed(_))
}

impl Occasion {
    fn place(self) -> Place {
        Place { now: self.when.0, flow: self.flow, host: self.node }
    }
}
