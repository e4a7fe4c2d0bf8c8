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
pub(crate) use export::Part;
pub use partition::{Partition, PartitionError};
