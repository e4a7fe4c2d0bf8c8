//! The record of a flow's data, made at once or, if its ends are in different parts of the run, from what each of them
//! has noted.

use core::ops::Range;

use subflow_quantity::Instant;
use subflow_transport::tcp::Ends;
use subflow_wire::Packet;

use super::data_path::{DataPath, for_each_range};
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

/// A range that was sent, or that arrived.
#[derive(Clone, Copy, Debug)]
struct Step {
    when: When,
    /// The ends of the subflow if it was sent.
    sent_on: Option<Ends>,
    start: u64,
    end: u64,
}

impl FlowData {
    pub(super) fn new(sender: usize, later: bool) -> Self {
        Self { sender, path: DataPath::default(), steps: later.then(Vec::new) }
    }

    pub(super) fn path(&mut self) -> &mut DataPath {
        &mut self.path
    }

    /// A packet leaves `node`. Calls `told` with the ends of its subflow, each range of data in it and, if it is the
    /// flow's data and recorded at once, whether it is new.
    pub(super) fn on_sent(
        &mut self,
        packet: &Packet,
        node: usize,
        when: When,
        mut told: impl FnMut(Ends, Range<u64>, Option<Sending>),
    ) {
        for_each_range(packet, |ends, start, end| match &mut self.steps {
            _ if self.sender != node => told(ends, start..end, None),
            None => told(ends, start..end, Some(self.path.on_range_sent(ends, start, end, when.0))),
            Some(steps) => steps.push(Step { when, sent_on: Some(ends), start, end }),
        });
    }

    /// A packet has arrived at `node`. Calls `told` with the ends of its subflow as its sender sees them, each range of
    /// data in it and, likewise, what can be read now.
    pub(super) fn on_arrived(
        &mut self,
        packet: &Packet,
        node: usize,
        when: When,
        mut told: impl FnMut(Ends, Range<u64>, Option<Range<u64>>),
    ) {
        for_each_range(packet, |ends, start, end| match &mut self.steps {
            _ if self.sender == node => told(ends, start..end, None),
            None => told(ends, start..end, self.path.on_range_arrived(start, end, when.0)),
            Some(steps) => steps.push(Step { when, sent_on: None, start, end }),
        });
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
        for Step { when: (now, _), sent_on, start, end } in steps.drain(..) {
            match sent_on {
                Some(ends) => _ = self.path.on_range_sent(ends, start, end, now),
                None => _ = self.path.on_range_arrived(start, end, now),
            }
        }
    }
}
