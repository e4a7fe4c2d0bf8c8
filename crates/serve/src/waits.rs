//! Why the reader of a flow has no more at an instant: where it stopped, and when which subflow sent what it waits for. It is
//! taken from all packets that were recorded; those that the page draws are fewer.

use std::collections::BTreeMap;

use serde::Serialize;
use subflow_lab::results::{Sequence, SequenceKind};

/// The most instants of a flow from which the reader waited: the longest ones.
const MOST: usize = 6000;

/// The waits of a flow.
#[derive(Debug, Serialize)]
pub(crate) struct Waits<'a> {
    flow: &'a str,
    /// One of so many steps of the reader, and of so many packets, was recorded. Only where both are one is it known what
    /// the reader waits for.
    every: u64,
    /// Waits that are shorter may be left out, in seconds.
    least_s: f64,
    /// In the order of time.
    waits: Vec<Wait<'a>>,
}

#[derive(Debug, Serialize)]
struct Wait<'a> {
    since_s: f64,
    /// Null after the last step.
    until_s: Option<f64>,
    /// How much can be read: the position of the first byte that is missing.
    end: u64,
    /// The packets that had carried that byte, in the order of time.
    sent: Vec<Carrier<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Carrier<'a> {
    of: &'a str,
    kind: SequenceKind,
    at_s: f64,
}

impl<'a> Waits<'a> {
    /// Those of each flow whose reader was recorded.
    pub(crate) fn of(sequences: &'a [Sequence]) -> Vec<Self> {
        let readable = sequences.iter().filter(|sequence| sequence.kind == SequenceKind::Readable);
        readable.map(|readable| Self::of_flow(readable, sequences)).collect()
    }

    fn of_flow(readable: &'a Sequence, sequences: &'a [Sequence]) -> Self {
        let carries = |sequence: &&Sequence| {
            use SequenceKind::{Copied, Retransmitted, Sent};
            let flow = sequence.of.split('/').next().unwrap_or_default();
            flow == readable.of && matches!(sequence.kind, Sent | Retransmitted | Copied)
        };
        let mut every = readable.every;
        let mut carriers: BTreeMap<u64, Vec<Carrier<'a>>> = BTreeMap::new();
        for sequence in sequences.iter().filter(carries) {
            every = every.max(sequence.every);
            for point in sequence.points() {
                let carrier = Carrier { of: &sequence.of, kind: sequence.kind, at_s: point.time_s };
                carriers.entry(point.offset).or_default().push(carrier);
            }
        }
        let points = readable.points();
        let mut places: Vec<usize> = (0..points.len()).collect();
        let length =
            |place: usize| points.get(place + 1).map_or(f64::INFINITY, |next| next.time_s - points[place].time_s);
        places.sort_by(|a, b| length(*b).total_cmp(&length(*a)).then(a.cmp(b)));
        let least_s = places.get(MOST).map_or(0.0, |place| length(*place));
        places.truncate(MOST);
        places.sort_unstable();
        let wait = |place: usize| {
            let (point, until_s) = (points[place], points.get(place + 1).map(|next| next.time_s));
            // Packets follow each other without gaps: the one with the byte is the last that does not begin after it.
            let found = carriers.range(..=point.offset).next_back().filter(|_| every == 1 && until_s.is_some());
            let mut sent = found.map(|(_, sent)| sent.clone()).unwrap_or_default();
            sent.retain(|carrier| until_s.is_some_and(|until_s| carrier.at_s <= until_s));
            sent.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
            Wait { since_s: point.time_s, until_s, end: point.offset, sent }
        };
        Self { flow: &readable.of, every, least_s, waits: places.into_iter().map(wait).collect() }
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::{Duration, Instant};

    use super::*;

    fn sequence(of: &str, kind: SequenceKind, points: &[(u64, u64)]) -> Sequence {
        let mut sequence = Sequence::new(of, kind);
        for (ms, offset) in points {
            sequence.push(Instant::ZERO + Duration::from_millis(*ms), *offset);
        }
        sequence
    }

    #[test]
    fn the_missing_byte_is_that_of_the_packet_that_carried_it_and_of_its_copies() {
        let sequences = [
            sequence("f/0", SequenceKind::Sent, &[(1, 0), (2, 2000), (4, 3000)]),
            sequence("f/1", SequenceKind::Sent, &[(3, 1000)]),
            sequence("f/0", SequenceKind::Copied, &[(50, 1000)]),
            sequence("g/0", SequenceKind::Sent, &[(1, 1000)]),
            sequence("f", SequenceKind::Readable, &[(10, 1000), (60, 4000)]),
        ];
        let [waits] = &Waits::of(&sequences)[..] else { panic!("one reader") };
        let sent: Vec<(&str, f64)> = waits.waits[0].sent.iter().map(|carrier| (carrier.of, carrier.at_s)).collect();
        assert_eq!((waits.waits[0].end, sent), (1000, vec![("f/1", 0.003), ("f/0", 0.05)]));
        assert_eq!((waits.waits[1].until_s, waits.waits[1].sent.len()), (None, 0), "it has all");
    }

    #[test]
    fn where_packets_were_left_out_no_carrier_is_named() {
        let many: Vec<(u64, u64)> = (0..40_000).map(|number| (number, number * 1000)).collect();
        let sequences = [sequence("f/0", SequenceKind::Sent, &many), sequence("f", SequenceKind::Readable, &many[1..])];
        let [waits] = &Waits::of(&sequences)[..] else { panic!("one reader") };
        assert!(waits.every > 1 && waits.waits.iter().all(|wait| wait.sent.is_empty()));
        assert_eq!(waits.waits.len(), MOST);
    }
}
