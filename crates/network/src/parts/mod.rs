//! One network on several threads.
//!
//! Every thread has a copy of the whole network, built from the same description, and processes the events of one part
//! of it: some of the hosts and routers ([`Partition`]). The results are those of one thread, to the bit:
//!
//! - A link decides everything about a packet when it accepts it, so the arrival of a packet at another part is known
//!   at least the delay of the link ahead (the *lookahead*). All parts therefore process a window of that length at the
//!   same time, hand over the packets that cross (`export.rs`) and go on with the next window (`exchange.rs`).
//!   A link with a backlog decides when the transmission of a packet starts, which is at least its delay ahead, too.
//! - Events of different parts at the same instant do not influence each other, because every link between parts takes
//!   time. Within a part the order of events at an instant does not depend on when they were inserted
//!   (`event_queue/mod.rs`, `timer.rs`), so it is that of one thread.
//! - Random numbers come from one stream per component, and each component acts in one part only.
//!
//! A link between parts has its queue, transmitter and random numbers in the sender's part, and its packets in
//! propagation, their disturbance and the count of arrivals in the receiver's part (`link/hand_over.rs`).
//! [`Network::gather`] brings them together.
//!
//! Not every link can be between parts: not one without delay, with delays of its own for each packet, or that changes
//! during the run. A controller that routes all flows needs the whole network.

mod exchange;
mod export;
mod partition;

pub use exchange::Exchange;
pub use partition::{Partition, PartitionError};

use subflow_quantity::Instant;
use subflow_wire::Packet;

use crate::ids::PacketRoute;
use crate::link::Parcel;

/// The part of a network that a copy of it runs.
#[derive(Debug)]
pub(crate) struct Part {
    number: usize,
    /// The parts of the near and the far end of each link.
    ends: Vec<[u16; 2]>,
    /// By receiving part, what was not handed over yet.
    outgoing: Vec<Batch>,
    /// The first arrival of a packet in `outgoing`.
    first_arrival: Instant,
    /// By receiving part, its number of each route from an index of the list of links on.
    told: Vec<Vec<u32>>,
    /// By receiving part, how many routes it knows.
    routes_told: Vec<u32>,
    /// By sending part, where each of its routes is in the own list of links.
    known: Vec<Vec<PacketRoute>>,
}

/// What one part hands over to another one.
#[derive(Debug, Default)]
struct Batch {
    /// Routes that the receiver does not know yet, concatenated: each ends with the link to an interface.
    routes: Vec<u32>,
    crossings: Vec<Crossing>,
}

/// A packet on its way to another part.
#[derive(Debug)]
struct Crossing {
    link: u32,
    arrival: Instant,
    lost: bool,
    /// Its packet id is the sender's. The index of a listed route is the number that the receiver was told.
    parcel: Parcel,
    packet: Packet,
}

impl Part {
    fn new(number: usize, parts: usize, ends: Vec<[usize; 2]>) -> Self {
        Self {
            number,
            ends: ends.into_iter().map(|ends| ends.map(|part| part as u16)).collect(),
            outgoing: (0..parts).map(|_| Batch::default()).collect(),
            first_arrival: Instant::MAX,
            told: vec![Vec::new(); parts],
            routes_told: vec![0; parts],
            known: vec![Vec::new(); parts],
        }
    }

    /// The parts of the near and the far end of a link.
    fn ends(&self, link: usize) -> [usize; 2] {
        self.ends[link].map(usize::from)
    }
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.crossings.is_empty()
    }
}
