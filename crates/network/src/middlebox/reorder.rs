//! `reorder`: packets of a flow in another order.

use subflow_policy::catalogue::{Attribute, Catalogued, Description};
use subflow_quantity::{Duration, Instant};
use subflow_wire::{Body, Packet};

use super::{Fate, Flows, Interference, Order, Passage, Ticket};
use crate::routing::flow_key;

/// A device that processes packets in parallel and lets some be overtaken by later ones of the same flow. Packets of
/// other flows stay as they are, and so do TCP segments without data.
///
/// Bennett, Partridge and Shectman found that parallel paths within routers reorder most of all; Hesmans et al. measured
/// what reordering by a middlebox does to TCP and MPTCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reorder {
    /// Each packet with this number in its flow is overtaken.
    pub every: u64,
    /// By how many packets of the flow it is overtaken.
    pub behind: u64,
    /// After what time it goes on in any case.
    pub hold: Duration,
    flows: Flows<Flow>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Flow {
    seen: u64,
    waiting: Option<Waiting>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    ticket: Ticket,
    until: Instant,
    /// The packets that are still to overtake it, at least one.
    left: u64,
}

impl Default for Reorder {
    fn default() -> Self {
        Self { every: 20, behind: 3, hold: Duration::from_millis(20), flows: Flows::default() }
    }
}

impl Catalogued for Reorder {
    const DESCRIPTION: Description = Description {
        name: "reorder",
        aliases: &[],
        summary: "lets packets be overtaken by later ones of their flow",
        source: "Bennett, Partridge, Shectman, Packet reordering is not pathological network behavior, IEEE/ACM \
                 Transactions on Networking 7(6), 1999; Hesmans et al., HotMiddlebox 2013",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::integer(
            "every",
            "of how many packets of a flow one is overtaken",
            [2, 1_000_000_000],
            |reorder| reorder.every,
            |reorder, every| reorder.every = every,
        ),
        Attribute::integer(
            "behind",
            "by how many packets of its flow it is overtaken",
            [1, 1_000_000],
            |reorder| reorder.behind,
            |reorder, behind| reorder.behind = behind,
        ),
        Attribute::positive_duration(
            "hold",
            "the longest time for which a packet waits",
            |reorder| reorder.hold,
            |reorder, hold| reorder.hold = hold,
        ),
    ];
}

impl Interference for Reorder {
    fn process(&mut self, packet: &mut Packet, passage: &mut Passage<'_>) -> Fate {
        if matches!(&packet.body, Body::Tcp(segment) if segment.payload.length == 0) {
            return Fate::Pass;
        }
        let flow = self.flows.of(flow_key(packet));
        flow.seen += 1;
        if let Some(waiting) = &mut flow.waiting {
            waiting.left -= 1;
            let is_gone = waiting.until < passage.now;
            if waiting.left == 0 && !is_gone {
                // It goes on with this packet, which therefore does not wait itself.
                passage.orders.push(Order::After(waiting.ticket));
                flow.waiting = None;
                return Fate::Pass;
            }
            if is_gone {
                flow.waiting = None;
            }
        }
        match passage.ticket {
            Some(ticket) if flow.waiting.is_none() && flow.seen.is_multiple_of(self.every) => {
                let until = passage.now + self.hold;
                flow.waiting = Some(Waiting { ticket, until, left: self.behind });
                Fate::Hold(until)
            }
            _ => Fate::Pass,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::PlacedMiddlebox;
    use super::super::test_packets::{Bench, data, datagram};
    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn bench() -> Bench {
        let hold = millis(10);
        Bench::of([PlacedMiddlebox::new(Reorder { every: 2, behind: 2, hold, ..Reorder::default() })])
    }

    #[test]
    fn a_packet_goes_on_after_those_that_overtake_it() {
        let mut bench = bench();
        assert!(bench.up(millis(0), data(0, 100)).is_some());
        assert!(bench.up(millis(1), data(100, 100)).is_none());
        let (ticket, _) = bench.outcome.held.expect("the second one waits");
        assert!(bench.up(millis(2), data(200, 100)).is_some() && bench.outcome.orders.is_empty());
        assert!(bench.up(millis(3), data(300, 100)).is_some());
        assert_eq!(bench.outcome.orders, [Order::After(ticket)]);
    }

    #[test]
    fn other_flows_and_segments_without_data_neither_wait_nor_overtake() {
        let mut bench = bench();
        assert!(bench.up(millis(0), data(0, 100)).is_some());
        assert!(bench.up(millis(0), data(100, 0)).is_some());
        assert!(bench.up(millis(0), data(100, 100)).is_none());
        for packet in [datagram(), data(200, 0), data(200, 0)] {
            assert!(bench.up(millis(1), packet).is_some() && bench.outcome.orders.is_empty());
        }
    }

    #[test]
    fn what_has_waited_long_enough_is_gone() {
        let mut bench = bench();
        assert!(bench.up(millis(0), data(0, 100)).is_some());
        assert!(bench.up(millis(0), data(100, 100)).is_none());
        assert!(bench.up(millis(11), data(200, 100)).is_some() && bench.outcome.orders.is_empty());
        assert!(bench.up(millis(11), data(300, 100)).is_none(), "the next one that is overtaken");
    }
}
