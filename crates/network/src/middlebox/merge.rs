//! `merge`: several segments become one.

use subflow_policy::catalogue::{Attribute, Catalogued, Choice, Description};
use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::{TcpFlags, TcpOptions};
use subflow_wire::{Body, Ecn, Packet, Payload, TcpSegment};

use super::{Fate, Flows, Interference, MOST_DATA, Order, Passage, Ticket};
use crate::routing::flow_key;

/// A device that joins TCP segments which follow one another: receive offload in a router, or a proxy that sends what it
/// has received in segments of its own. A segment waits until the next one of its connection arrives, up to a time.
/// Segments with PSH, which end what was written, do not wait.
///
/// A TCP header has room for one mapping of MPTCP, so that the options of one segment only are kept; the receiver gets
/// data without a mapping and does not acknowledge it at the data level (RFC 8684, section 3.3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The most data that a segment has behind it, in bytes.
    pub size: u32,
    /// How long a segment waits for the next one.
    pub hold: Duration,
    kept: Kept,
    /// What waits, by flow.
    waiting: Flows<Option<Waiting>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Waiting {
    ticket: Ticket,
    until: Instant,
    segment: TcpSegment,
    ecn: Ecn,
}

/// The segment whose options are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kept {
    #[default]
    First,
    Last,
}

const KEPT: [Choice<Kept>; 2] = [
    Choice::new("first", Kept::First, "those of the first segment"),
    Choice::new("last", Kept::Last, "those of the last segment"),
];

impl Default for Merge {
    fn default() -> Self {
        Self { size: 2896, hold: Duration::from_millis(1), kept: Kept::First, waiting: Flows::default() }
    }
}

impl Catalogued for Merge {
    const DESCRIPTION: Description = Description {
        name: "merge",
        aliases: &[],
        summary: "joins TCP segments that follow one another",
        source: "Honda et al., IMC 2011; Hesmans et al., HotMiddlebox 2013",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::integer(
            "size",
            "the most data that a segment has afterwards, in bytes",
            [1, 65_535],
            |merge| merge.size.into(),
            |merge, size| merge.size = size as u32,
        ),
        Attribute::positive_duration(
            "hold",
            "the longest time for which a packet waits",
            |merge| merge.hold,
            |merge, hold| merge.hold = hold,
        ),
        Attribute::name(
            "kept",
            "the segment whose TCP options are kept",
            || Choice::descriptions(&KEPT),
            |merge| Choice::name_of(&KEPT, merge.kept),
            |merge, name| merge.kept = Choice::find(&KEPT, name).unwrap_or_default(),
        ),
    ];
}

impl Merge {
    /// `first` and `next` as one segment, if that is possible.
    fn whole(&self, first: &TcpSegment, next: &TcpSegment) -> Option<TcpSegment> {
        let (before, behind) = (first.payload, next.payload);
        // Bytes of a kernel count from 0 in each packet.
        let continues = behind.stream_offset == before.stream_offset + u64::from(before.length)
            || (before.stream_offset, behind.stream_offset) == (0, 0);
        let length = before.length + behind.length;
        let follows = next.sequence == first.sequence.wrapping_add(before.length) && behind.length > 0;
        if !follows || !continues || length > self.size.min(MOST_DATA) || !is_plain(next) {
            return None;
        }
        let options: &TcpOptions = match self.kept {
            Kept::First => &first.options,
            Kept::Last => &next.options,
        };
        // Real bytes are summed up where they are delivered; the sum of simulated ones is 0.
        let payload = Payload { length, sum: 0, ..before };
        Some(TcpSegment { sequence: first.sequence, options: options.clone(), payload, ..next.clone() })
    }
}

/// Whether a segment has nothing but data.
fn is_plain(segment: &TcpSegment) -> bool {
    let others = TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST | TcpFlags::URG;
    segment.payload.length > 0 && segment.flags.0 & others.0 == 0
}

impl Interference for Merge {
    fn process(&mut self, packet: &mut Packet, passage: &mut Passage<'_>) -> Fate {
        let (flow, ecn) = (flow_key(packet), packet.ip.ecn);
        let Body::Tcp(segment) = &mut packet.body else { return Fate::Pass };
        if let Some(waiting) = self.waiting.of(flow).take().filter(|waiting| passage.now <= waiting.until) {
            // Packets of other middleboxes have no payload of a host, with which another could be joined.
            let may_join = passage.ticket.is_some() && waiting.ecn == ecn;
            let whole = if may_join { self.whole(&waiting.segment, segment) } else { None };
            passage.orders.push(match whole {
                Some(_) => Order::Absorb(waiting.ticket),
                None => Order::Before(waiting.ticket),
            });
            if let Some(whole) = whole {
                *segment = whole;
            }
        }
        let may_grow =
            is_plain(segment) && !segment.flags.contains(TcpFlags::PSH) && segment.payload.length < self.size;
        match passage.ticket {
            Some(ticket) if may_grow => {
                let until = passage.now + self.hold;
                *self.waiting.of(flow) = Some(Waiting { ticket, until, segment: segment.clone(), ecn });
                Fate::Hold(until)
            }
            _ => Fate::Pass,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_packets::{Bench, data, segment, syn};
    use super::super::{PlacedMiddlebox, Split};
    use super::*;

    const fn micros(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    fn bench(size: u32) -> Bench {
        Bench::of([PlacedMiddlebox::new(Merge { size, ..Merge::default() })])
    }

    #[test]
    fn a_segment_waits_and_is_part_of_the_next_one() {
        let mut bench = bench(300);
        assert_eq!(bench.up(micros(0), data(0, 100)), None);
        let (first, _) = bench.outcome.held.expect("it waits");
        assert_eq!(bench.up(micros(10), data(100, 100)), None, "the two wait for a third");
        assert_eq!(bench.outcome.orders, [Order::Absorb(first)]);
        let whole = bench.up(micros(20), data(200, 100)).expect("it has its size");
        let TcpSegment { sequence, payload, .. } = segment(&whole);
        assert_eq!((*sequence, payload.stream_offset, payload.length), (1001, 0, 300));
    }

    #[test]
    fn what_does_not_fit_or_follow_lets_the_segment_before_go_on() {
        for next in [data(100, 201), data(150, 100), data(0, 0), syn()] {
            let mut bench = bench(300);
            assert_eq!(bench.up(micros(0), data(0, 100)), None);
            let (first, _) = bench.outcome.held.expect("it waits");
            bench.up(micros(10), next.clone());
            assert_eq!(bench.outcome.orders, [Order::Before(first)], "{next:?}");
        }
    }

    #[test]
    fn a_segment_that_has_waited_long_enough_is_gone() {
        let mut bench = bench(300);
        assert_eq!(bench.up(micros(0), data(0, 100)), None);
        assert_eq!(bench.up(micros(1001), data(100, 100)), None);
        assert!(bench.outcome.orders.is_empty() && bench.outcome.held.is_some());
    }

    #[test]
    fn the_end_of_what_was_written_does_not_wait() {
        let mut last = data(0, 100);
        if let Body::Tcp(segment) = &mut last.body {
            segment.flags |= TcpFlags::PSH;
        }
        let mut bench = bench(300);
        assert_eq!(bench.up(micros(0), last.clone()), Some(last));
        assert_eq!(bench.up(micros(1), syn()), Some(syn()));
    }

    #[test]
    fn pieces_of_another_middlebox_join_nothing() {
        let mut split = Split::default();
        split.size = 50;
        let mut bench =
            Bench::of([PlacedMiddlebox::new(split), PlacedMiddlebox::new(Merge { size: 300, ..Merge::default() })]);
        assert_eq!(bench.up(micros(0), data(0, 30)), None);
        let (first, _) = bench.outcome.held.expect("it waits");
        assert_eq!(bench.up(micros(10), data(30, 100)), None, "its pieces take its place");
        assert_eq!(bench.outcome.orders, [Order::Before(first)]);
        assert_eq!(
            bench.outcome.onward.iter().map(|piece| segment(piece).payload.length).collect::<Vec<_>>(),
            [50, 50]
        );
    }

    #[test]
    fn the_options_are_those_of_one_segment() {
        let with_timestamps = |offset, value| {
            let mut packet = data(offset, 100);
            if let Body::Tcp(segment) = &mut packet.body {
                segment.options.timestamps = Some(subflow_wire::tcp::Timestamps { value, echo: 0 });
            }
            packet
        };
        for (kept, expected) in [(Kept::First, 1), (Kept::Last, 2)] {
            let mut bench = Bench::of([PlacedMiddlebox::new(Merge { size: 200, kept, ..Merge::default() })]);
            assert_eq!(bench.up(micros(0), with_timestamps(0, 1)), None);
            let whole = bench.up(micros(1), with_timestamps(100, 2)).expect("it has its size");
            assert_eq!(segment(&whole).options.timestamps.map(|timestamps| timestamps.value), Some(expected));
        }
    }
}
