//! Links, queues, loss, routers and the event loop that moves packets.
//!
//! [`TopologyBuilder`] describes a network, [`Network`] is one that runs, [`Hosts`] is what lives at its ends. The
//! crate knows packets ([`subflow_wire::Packet`]) and time, and nothing of transport protocols.
//!
//! # A packet's way
//!
//! 1. A host calls [`Network::transmit`] (`run.rs`). The packet is put in a place where it stays until the last host
//!    has read it; from here on a small parcel of its place, destination and size goes around.
//! 2. The link accepts it (`link/mod.rs`), or drops it: down, lost before the queue (`loss.rs`), dropped by RED or over
//!    the limit (`queue/`). When it leaves and when it arrives is settled now, and it joins the link's ring.
//! 3. The first arrival of each link stands in the event queue (`event_queue.rs`). When its turn comes, the packet is
//!    at the far end: late or twice, if the link disturbs packets (`disturbance.rs`).
//! 4. A router looks the next link up, or the parcel says which it is (`routing/`), and it is step 2 again. That was
//!    one hop, and one event. Where only one link leads to the next, not even that: the next link accepts it at once
//!    (`fusion.rs`).
//! 5. At a host's interface a tap may see it (`tap.rs`), and [`Hosts::handle_packet`] gets it.
//!
//! Links change in mid-run by [`Network::schedule_change`] (`link/change.rs`): the departures of the packets that still
//! wait are computed anew. Everything random comes from one stream per component (`streams.rs`).
//!
//! # Not supported
//!
//! Queues that decide when a packet leaves (CoDel; see `queue/mod.rs`), ECN marking, fragmentation and an MTU, address
//! resolution, IP packets of more than 65535 bytes.

mod capacity_trace;
mod disturbance;
mod event_queue;
mod fusion;
mod host_table;
mod ids;
mod link;
mod loss;
mod metrics;
mod netem;
mod network;
mod packet_pool;
mod probability;
mod queue;
mod route;
mod routing;
mod run;
mod streams;
mod tap;
mod timeline;
mod timer;
mod topology;

pub use capacity_trace::{CapacityTrace, TraceError};
pub use ids::{HostId, InterfaceId, LinkId, PacketId, RouterId, TimerId};
pub use link::{LinkChange, LinkConfig, LossPosition, Peak, Reordering, Service, TokenBucketConfig};
pub use loss::{GilbertElliott, LossConfig, LossTrace};
pub use metrics::{LinkMetrics, NetworkMetrics};
pub use netem::{Distribution, Jitter, Overtaking};
pub use network::{Hosts, Network};
pub use probability::Probability;
pub use queue::{Discipline, IdleAgeing, Limit, QueueConfig, RedConfig, RedDrop, RedUnit};
pub use routing::{RouteMetric, RouterMode, RoutingConfig};
pub use streams::stream;
pub use tap::{Direction, Tap};
pub use topology::{Attachment, DuplexLink, Shape, ShapeEnd, ShapeLink, TopologyBuilder, TopologyError};
