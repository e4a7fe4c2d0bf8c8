//! The middleboxes of one link, one behind another.

use core::ops::Range;
use std::collections::BTreeMap;

use subflow_quantity::{Duration, Instant};
use subflow_wire::Packet;

use super::{Fate, Interference, Middlebox, Order, Passage, Sent, Translations, Way};
use crate::PacketId;
use crate::host_table::AddressBook;
use crate::link::Parcel;

/// A middlebox on a link.
#[derive(Clone, Debug)]
pub struct PlacedMiddlebox {
    /// What it does.
    pub middlebox: Middlebox,
    /// Whether it acts on packets from the link's first to its second end, and on those in the other direction.
    pub directions: [bool; 2],
    /// From when on it acts, since the start of the run. Before, packets pass it unchanged.
    pub start: Duration,
}

impl PlacedMiddlebox {
    /// A middlebox that acts in both directions from the start.
    pub fn new(middlebox: impl Into<Middlebox>) -> Self {
        Self { middlebox: middlebox.into(), directions: [true, true], start: Duration::ZERO }
    }

    fn concerns(&self, way: Way, now: Instant) -> bool {
        now >= Instant::ZERO + self.start && (self.directions[way.index()] || self.middlebox.sees_both_directions())
    }
}

/// All middleboxes of a link, in order from its first end to its second. Both directions pass the same ones.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    boxes: Vec<PlacedMiddlebox>,
    salt: u64,
    /// The packets that wait at one of them.
    waiting: BTreeMap<Ticket, Waiting>,
    /// The number of tickets that were given.
    tickets: u64,
}

/// By what a packet is known that waits at a middlebox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// A packet that waits at a middlebox.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    /// The link to which it came: both directions share a chain.
    pub(crate) link: u32,
    pub(crate) parcel: Parcel,
    /// The position of the middlebox.
    pub(crate) at: usize,
}

/// What a middlebox has made of a packet's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivation {
    /// It has sent `copy` because of `cause`, perhaps with a part of its payload.
    Copied {
        /// The packet that has passed.
        cause: PacketId,
        /// The new one.
        copy: PacketId,
    },
    /// The payload of `first` was put before that of `whole`.
    Joined {
        /// The packet that exists no longer.
        first: PacketId,
        /// The one that has both payloads.
        whole: PacketId,
    },
    /// The first byte of the payload was increased by 1, modulo 256; zeros were appended, or bytes removed at the end.
    Rewritten {
        /// The packet.
        packet: PacketId,
        /// By how many bytes the payload is longer.
        longer: i32,
    },
}

/// The packet that has come to a link.
#[derive(Clone, Copy, Debug)]
struct Cause {
    way: Way,
    /// Whether it is the one that passes; otherwise that is one which a middlebox has made because of it.
    is_itself: bool,
}

/// The addresses of the network, for middleboxes that add some.
pub(crate) struct Surroundings<'a> {
    pub(crate) now: Instant,
    pub(crate) translations: &'a mut Translations,
    pub(crate) addresses: &'a mut AddressBook,
}

/// What comes out of a chain besides the packet that entered it.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Packets that leave in the direction of the packet, after it.
    pub(crate) onward: Vec<Packet>,
    /// Packets that leave in the other direction.
    pub(crate) back: Vec<Packet>,
    /// The MTU to report to the packet's source.
    pub(crate) too_big: Option<u32>,
    /// What becomes of packets that waited, and of the payload of this one, in order.
    pub(crate) orders: Vec<Order>,
    /// Where the packet waits from now on, if it does.
    pub(crate) held: Option<(Ticket, usize)>,
}

impl Chain {
    pub(crate) fn new(boxes: Vec<PlacedMiddlebox>, salt: u64) -> Self {
        Self { boxes, salt, waiting: BTreeMap::new(), tickets: 0 }
    }

    /// Lets `packet` pass all middleboxes in the direction `way`, or those behind the one at which it has waited, and
    /// says what became of it.
    pub(crate) fn process(
        &mut self,
        packet: &mut Packet,
        (way, waited_at): (Way, Option<usize>),
        surroundings: &mut Surroundings<'_>,
    ) -> (Fate, Outcome) {
        let mut outcome = Outcome::default();
        let through = waited_at.map_or(0..self.boxes.len(), |at| self.behind(way, at));
        let fate = self.pass(packet, (way, through), Cause { way, is_itself: true }, surroundings, &mut outcome);
        (fate, outcome)
    }

    /// The middleboxes that are left in the direction `way` behind one.
    fn behind(&self, way: Way, number: usize) -> Range<usize> {
        match way {
            Way::Up => number + 1..self.boxes.len(),
            Way::Down => 0..number,
        }
    }

    /// Keeps a packet until it goes on.
    pub(crate) fn keep(&mut self, ticket: Ticket, waiting: Waiting) {
        self.waiting.insert(ticket, waiting);
    }

    /// The packet with this ticket, if it still waits. It does no longer.
    pub(crate) fn take(&mut self, ticket: Ticket) -> Option<Waiting> {
        self.waiting.remove(&ticket)
    }

    /// Lets `packet` pass the middleboxes with the numbers `through`, because of the packet `cause`. What they send onward
    /// beside it follows it, also through those that are left.
    fn pass(
        &mut self,
        packet: &mut Packet,
        (way, through): (Way, Range<usize>),
        cause: Cause,
        surroundings: &mut Surroundings<'_>,
        outcome: &mut Outcome,
    ) -> Fate {
        let (mut fate, mut following) = (Fate::Pass, Vec::new());
        for step in 0..through.len() {
            let number = match way {
                Way::Up => through.start + step,
                Way::Down => through.end - 1 - step,
            };
            if !self.boxes[number].concerns(way, surroundings.now) {
                continue;
            }
            let ticket = Ticket(self.tickets);
            let mut passage = Passage {
                now: surroundings.now,
                way,
                acts: self.boxes[number].directions,
                salt: self.salt,
                translations: &mut *surroundings.translations,
                addresses: &mut *surroundings.addresses,
                sends: Vec::new(),
                too_big: None,
                ticket: cause.is_itself.then_some(ticket),
                orders: Vec::new(),
            };
            fate = self.boxes[number].middlebox.process(packet, &mut passage);
            let Passage { sends, too_big, orders, .. } = passage;
            if way == cause.way {
                outcome.too_big = outcome.too_big.or(too_big);
            }
            // What a middlebox has made itself has no payload of a host of its own.
            let is_noted = |order: &Order| cause.is_itself || !matches!(order, Order::Rewritten(_));
            outcome.orders.extend(orders.into_iter().filter(is_noted));
            for Sent { packet, onward } in sends {
                match onward {
                    true => following.push((packet, number)),
                    false => self.follow(packet, (way.opposite(), number), cause.way, surroundings, outcome),
                }
            }
            if let Fate::Hold(_) = fate {
                self.tickets += 1;
                outcome.held = Some((ticket, number));
            }
            if fate != Fate::Pass {
                break;
            }
        }
        for (packet, number) in following {
            self.follow(packet, (way, number), cause.way, surroundings, outcome);
        }
        fate
    }

    /// Lets `packet`, which middlebox `number` sends in the direction `way`, pass those that are left.
    fn follow(
        &mut self,
        mut packet: Packet,
        (way, number): (Way, usize),
        main: Way,
        surroundings: &mut Surroundings<'_>,
        outcome: &mut Outcome,
    ) {
        let (through, cause) = (self.behind(way, number), Cause { way: main, is_itself: false });
        if self.pass(&mut packet, (way, through), cause, surroundings, outcome) == Fate::Pass {
            if way == main { outcome.onward.push(packet) } else { outcome.back.push(packet) }
        }
    }
}

#[cfg(test)]
mod tests {
    use subflow_wire::tcp::TcpFlags;

    use super::super::test_packets::{Bench, segment, syn};
    use super::super::{Block, Mtu, Nat, StripOption};
    use super::*;

    #[test]
    fn a_middlebox_acts_in_its_direction_and_from_its_start_only() {
        let strip = PlacedMiddlebox {
            directions: [true, false],
            start: Duration::from_secs(1),
            ..PlacedMiddlebox::new(StripOption::default())
        };
        let mut bench = Bench::of([strip]);
        let has_options = |packet: &Packet| !segment(packet).options.mptcp.is_empty();
        let [early, late] = [Duration::from_millis(999), Duration::from_secs(1)];
        assert!(has_options(&bench.up(early, syn()).expect("it passes")));
        assert!(!has_options(&bench.up(late, syn()).expect("it passes")));
        assert!(has_options(&bench.down(late, syn()).expect("it passes")));
    }

    #[test]
    fn an_answer_passes_the_middleboxes_before_the_one_that_sends_it() {
        let refusing = Block::by_name("tcp", 80, "reset");
        let mut bench = Bench::of([PlacedMiddlebox::new(Nat::default()), PlacedMiddlebox::new(refusing)]);
        let original = syn();
        let source = original.ip.source;
        assert!(bench.up(Duration::ZERO, original).is_none());
        let [answer] = &bench.outcome.back[..] else { panic!("one answer: {:?}", bench.outcome) };
        assert_eq!(answer.ip.destination, source, "translated back");
        assert!(segment(answer).flags.contains(TcpFlags::RST));
    }

    #[test]
    fn a_packet_that_is_dropped_does_not_reach_the_next_middlebox() {
        let mtu = |mtu| PlacedMiddlebox::new(Mtu { mtu, reports: true });
        let mut bench = Bench::of([mtu(1400), mtu(1300)]);
        let large = super::super::test_packets::data(0, 1460);
        assert!(bench.up(Duration::ZERO, large.clone()).is_none());
        assert_eq!(bench.outcome.too_big, Some(1400));
        assert!(bench.down(Duration::ZERO, large).is_none());
        assert_eq!(bench.outcome.too_big, Some(1300));
    }
}
