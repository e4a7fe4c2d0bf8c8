//! What happened to data, packet by packet: the time-sequence view of captures.

use std::collections::BTreeMap;

use subflow_lab::results::{Sequence, SequenceKind, SequencePoint};
use subflow_quantity::Instant;

use crate::tcp::Cause;

/// Connections, subflows and paths whose packets are kept, at most: the first ones with data.
const MOST_TRACED: usize = 128;

/// What a packet with data is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sending {
    /// Data for the first time.
    New,
    /// MPTCP: data that another subflow has carried. SCTP: a chunk whose last copy went on another path.
    Copied,
    /// Data that the connection, subflow or path has carried.
    Again(Cause),
}

/// Packets with data of one end of a connection or subflow.
#[derive(Clone, Debug, PartialEq)]
pub struct SentSequence {
    /// The number of the connection.
    pub connection: usize,
    /// The ends of the subflow, from the sender to the receiver.
    pub subflow: String,
    /// What the packets are.
    pub sending: Sending,
    sequence: Sequence,
}

impl SentSequence {
    /// When the packets were captured, in seconds since the first packet of all, and the position of their data in the
    /// stream. Of very many, every n-th is kept.
    pub fn points(&self) -> &[SequencePoint] {
        self.sequence.points()
    }

    /// How many there are, of which one in a number is kept.
    pub const fn count(&self) -> u64 {
        self.sequence.count
    }
}

/// Chooses whose packets are kept, and counts their times from the first packet of all.
#[derive(Debug, Default)]
pub(crate) struct Tracing {
    origin: Option<u64>,
    traced: usize,
}

impl Tracing {
    /// A packet of any kind is captured.
    pub(crate) fn begin(&mut self, time: u64) {
        self.origin.get_or_insert(time);
    }

    /// So many are traced that are still followed.
    pub(crate) const fn keep(&mut self, traced: usize) {
        self.traced = traced;
    }

    /// A packet with data of the end `from`, at a position in its stream; `traced` has those of both ends.
    pub(crate) fn add(
        &mut self,
        traced: &mut Option<Box<[Traced; 2]>>,
        from: usize,
        (sending, position): (Sending, u64),
        time: u64,
    ) {
        if traced.is_none() && self.traced == MOST_TRACED {
            return;
        }
        let traced = traced.get_or_insert_with(|| {
            self.traced += 1;
            Box::default()
        });
        traced[from].add(sending, time.saturating_sub(self.origin.unwrap_or(time)), position);
    }
}

/// The packets with data of one end, by what they are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traced {
    sequences: BTreeMap<Sending, Sequence>,
}

impl Traced {
    /// A packet that is captured so many nanoseconds behind the first one.
    fn add(&mut self, sending: Sending, passed: u64, position: u64) {
        let kind = match sending {
            Sending::New => SequenceKind::Sent,
            Sending::Copied => SequenceKind::Copied,
            Sending::Again(_) => SequenceKind::Retransmitted,
        };
        let sequence = self.sequences.entry(sending).or_insert_with(|| Sequence::new("", kind));
        sequence.push(Instant::from_nanos(passed), position);
    }

    pub(crate) fn sequences<'a>(
        &'a self,
        connection: usize,
        subflow: &'a str,
    ) -> impl Iterator<Item = SentSequence> + 'a {
        self.sequences.iter().map(move |(&sending, sequence)| SentSequence {
            connection,
            subflow: subflow.to_owned(),
            sending,
            sequence: sequence.clone(),
        })
    }
}
