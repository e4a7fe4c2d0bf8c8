//! What happened to the data of a flow, packet by packet, in bounded memory.

use serde::{Deserialize, Serialize};
use subflow_quantity::Instant;

use crate::number;

/// What happened to data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SequenceKind {
    /// It was sent for the first time.
    Sent,
    /// It was sent again on a subflow that had carried it before; of SCTP, to the destination that it was sent to last.
    Retransmitted,
    /// It was sent again, and the subflow had not carried it: a copy of the scheduler, or a reinjection; of SCTP, to
    /// another destination.
    Copied,
    /// The sender considers it lost.
    Lost,
    /// The retransmission timer of the subflow has expired; the position is the oldest data that it carries.
    TimedOut,
    /// Everything below it can be read.
    Readable,
}

/// Positions in the stream of a flow at which something happened, over time.
///
/// Memory does not grow with simulated time: when there are [`Sequence::CAPACITY`] points, every second one is dropped,
/// and from then on every second one is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sequence {
    /// The subflow, as `flow/number`; a flow that has none, and [`SequenceKind::Readable`], have the flow's name.
    pub of: String,
    /// What happened.
    pub kind: SequenceKind,
    /// One of this number of points is kept.
    pub every: u64,
    /// How often it happened.
    pub count: u64,
    points: Vec<SequencePoint>,
}

/// One point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SequencePoint {
    /// Time in seconds since the run began.
    #[serde(rename = "t", serialize_with = "number::serialize")]
    pub time_s: f64,
    /// The position in bytes from the start of the stream: the first byte of what was sent or lost, the end of what can
    /// be read.
    pub offset: u64,
}

impl Sequence {
    /// Maximum number of points that are kept.
    pub const CAPACITY: usize = 1 << 14;
    /// The number of points for which there is room at first.
    const FIRST: usize = 64;

    /// Nothing so far.
    pub fn new(of: impl Into<String>, kind: SequenceKind) -> Self {
        Self { of: of.into(), kind, every: 1, count: 0, points: Vec::new() }
    }

    /// Adds a point. Times must not decrease.
    #[inline]
    pub fn push(&mut self, at: Instant, offset: u64) {
        if self.is_kept() {
            if self.points.len() == Self::CAPACITY {
                self.thin_out();
            }
            if self.points.len() == self.points.capacity() {
                self.grow();
            }
            // After 2ⁿ × CAPACITY points the next one is kept in any case.
            self.points.push(SequencePoint { time_s: at.as_secs_f64(), offset });
        }
        self.count += 1;
    }

    /// Makes room for four times as many points: thousands of them are copied less often than with twice as many.
    #[cold]
    fn grow(&mut self) {
        let more = (3 * self.points.len()).max(Self::FIRST).min(Self::CAPACITY - self.points.len());
        self.points.reserve_exact(more);
    }

    /// Drops every second point.
    #[cold]
    fn thin_out(&mut self) {
        let mut odd = true;
        self.points.retain(|_| {
            odd = !odd;
            !odd
        });
        self.every *= 2;
    }

    /// Whether the next point is kept; `every` is a power of two.
    #[inline]
    fn is_kept(&self) -> bool {
        self.count & (self.every - 1) == 0
    }

    /// The points that are kept, in the order of time.
    pub fn points(&self) -> &[SequencePoint] {
        &self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_thinned_evenly_when_there_are_too_many() {
        let mut sequence = Sequence::new("file/0", SequenceKind::Sent);
        let many = 3 * Sequence::CAPACITY as u64;
        (0..many).for_each(|n| sequence.push(Instant::from_nanos(n), n));
        assert_eq!((sequence.every, sequence.count), (4, many));
        assert!(sequence.points().len() <= Sequence::CAPACITY);
        let offsets: Vec<u64> = sequence.points().iter().map(|point| point.offset).collect();
        assert_eq!(offsets, (0..many).step_by(4).collect::<Vec<_>>());
    }
}
