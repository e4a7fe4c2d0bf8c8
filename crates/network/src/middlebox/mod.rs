//! Middleboxes on links: what they do with packets on their way, other than to queue them.
//!
//! A middlebox is declared with its source and its options; [`Middlebox`] lists them by name. A link without
//! middleboxes has none of this, so that it has no cost.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the catalogue; [`Interference`]: what a middlebox implements; [`Flows`]: what it remembers of flows |
//! | `chain.rs` | the middleboxes of one link, one behind another |
//! | `passing.rs` | how packets of the network pass them; ICMP errors that they send |
//! | `tcp_options.rs` | `strip-option`, `drop-option` |
//! | `packet_size.rs` | `mtu`, `mss-clamp` |
//! | `nat.rs` | `nat`, and all addresses and ports that translators have given |
//! | `reset.rs` | `reset`, and the resets that middleboxes send in the name of others |
//! | `block.rs`, `merge.rs`, `reorder.rs`, `rewrite_payload.rs`, `rewrite_sequence.rs`, `split.rs` | one middlebox each |

mod block;
mod chain;
mod merge;
mod nat;
mod packet_size;
mod passing;
mod reorder;
mod reset;
mod rewrite_payload;
mod rewrite_sequence;
mod split;
mod tcp_options;
#[cfg(test)]
mod test_packets;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use subflow_policy::catalogue::{catalogue, dispatch};
use subflow_policy::routing::FlowKey;
use subflow_quantity::Instant;
use subflow_wire::Packet;

pub use block::Block;
pub(crate) use chain::{Chain, Ticket};
pub use chain::{Derivation, PlacedMiddlebox};
pub use merge::Merge;
pub use nat::Nat;
pub(crate) use nat::Translations;
pub use packet_size::{MssClamp, Mtu};
pub use reorder::Reorder;
pub use reset::Reset;
pub use rewrite_payload::RewritePayload;
pub use rewrite_sequence::RewriteSequence;
pub use split::Split;
pub use tcp_options::{DropOption, StripOption};

use crate::host_table::AddressBook;

/// The largest payload of a packet of IPv6 with the longest TCP header.
const MOST_DATA: u32 = 65_535 - 40 - 60;

// The types of all middleboxes, in the order of lists. See `catalogue/list.rs` in `subflow-policy`.
macro_rules! middleboxes {
    ($macro:ident! $($arguments:tt)*) => {
        $macro! {
            [StripOption DropOption Block Nat MssClamp RewriteSequence RewritePayload Mtu Split Merge Reorder Reset] [] $($arguments)*
        }
    };
}

middleboxes! { catalogue!
    /// A middlebox, chosen by name. Each link takes a clone.
    Middlebox
}

/// The direction in which a packet passes a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// From the first end to the second.
    Up,
    /// From the second end to the first.
    Down,
}

impl Way {
    /// The other direction.
    pub(crate) const fn opposite(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }

    /// Its position in lists of both directions.
    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

/// What becomes of a packet at a middlebox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It goes on.
    Pass,
    /// It is dropped.
    Drop,
    /// The packets that the middlebox sends onward take its place.
    Replace,
    /// It waits here with its [`Passage::ticket`], at the latest until this time: then it goes on by itself.
    Hold(Instant),
}

/// What becomes of a packet that waits at the middlebox, or of the payload of the passing one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// It goes on, before the passing packet.
    Before(Ticket),
    /// It goes on, after the passing packet.
    After(Ticket),
    /// Its payload is in the passing packet now, before that one's own.
    Absorb(Ticket),
    /// The payload of the passing packet was rewritten, and is this many bytes longer.
    Rewritten(i32),
}

/// A packet that a middlebox sends itself.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) packet: Packet,
    /// Whether it goes where the passing packet goes; otherwise it goes to where that one comes from.
    pub(crate) onward: bool,
}

/// The passage of a packet through a middlebox.
pub(crate) struct Passage<'a> {
    pub(crate) now: Instant,
    pub(crate) way: Way,
    /// For each direction, whether the middlebox is to act on packets in it.
    pub(crate) acts: [bool; 2],
    /// A number that differs from link to link and from run to run.
    pub(crate) salt: u64,
    pub(crate) translations: &'a mut Translations,
    pub(crate) addresses: &'a mut AddressBook,
    /// What the middlebox sends because of the packet, in order.
    pub(crate) sends: Vec<Sent>,
    /// The MTU that the middlebox reports to the packet's source.
    pub(crate) too_big: Option<u32>,
    /// By what the packet is known if it waits here; `None` if it cannot, since another middlebox of the link made it.
    pub(crate) ticket: Option<Ticket>,
    /// What becomes of packets that wait here, and of the payload of this one, in order.
    pub(crate) orders: Vec<Order>,
}

impl Passage<'_> {
    /// Sends `packet` where the passing packet goes.
    pub(crate) fn send_onward(&mut self, packet: Packet) {
        self.sends.push(Sent { packet, onward: true });
    }

    /// Sends `packet` to where the passing packet comes from.
    pub(crate) fn send_back(&mut self, packet: Packet) {
        self.sends.push(Sent { packet, onward: false });
    }
}

/// What a middlebox does.
pub(crate) trait Interference {
    /// Processes a packet that passes; it may change it.
    fn process(&mut self, packet: &mut Packet, passage: &mut Passage<'_>) -> Fate;

    /// Whether it has to see packets in both directions, whichever it is to act on. Default: no.
    fn sees_both_directions(&self) -> bool {
        false
    }
}

impl Interference for Middlebox {
    fn process(&mut self, packet: &mut Packet, passage: &mut Passage<'_>) -> Fate {
        middleboxes!(dispatch! self, middlebox => middlebox.process(packet, passage))
    }

    fn sees_both_directions(&self) -> bool {
        middleboxes!(dispatch! self, middlebox => middlebox.sees_both_directions())
    }
}

/// A value for each flow, with bounded memory as in a device: where there is no room for a further flow, the one that
/// came first is forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flows<T> {
    known: FxHashMap<FlowKey, T>,
    /// In the order in which they came.
    order: VecDeque<FlowKey>,
}

impl<T: Default> Flows<T> {
    /// The flows that are known at a time.
    const MOST: usize = 1 << 16;

    /// What is known of a flow; the default if it is new.
    pub(crate) fn of(&mut self, flow: FlowKey) -> &mut T {
        if !self.known.contains_key(&flow) {
            if self.order.len() == Self::MOST
                && let Some(oldest) = self.order.pop_front()
            {
                self.known.remove(&oldest);
            }
            self.order.push_back(flow);
        }
        self.known.entry(flow).or_default()
    }

    /// The same, unless it is new.
    pub(crate) fn get(&self, flow: FlowKey) -> Option<&T> {
        self.known.get(&flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flow_that_came_first_makes_room_for_a_further_one() {
        let flow = |number: usize| {
            let source = ([10, 0, (number >> 16) as u8, 1], number as u16).into();
            FlowKey { source, destination: ([10, 0, 0, 2], 80).into(), protocol: 6 }
        };
        let mut flows = Flows::<usize>::default();
        (0..Flows::<usize>::MOST).for_each(|number| *flows.of(flow(number)) = number);
        *flows.of(flow(0)) += 1;
        *flows.of(flow(Flows::<usize>::MOST)) = 7;
        assert_eq!(
            [0, 1, Flows::<usize>::MOST].map(|number| flows.get(flow(number)).copied()),
            [None, Some(1), Some(7)]
        );
        assert_eq!(flows.known.len(), flows.order.len());
    }
}
