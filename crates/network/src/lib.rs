//! Links, queues, loss, routers and the event loop that moves packets.
//!
//! This crate is internal to Subflow: its items may change in any release.
//!
//! Two hosts, a link, and three packets that come at once:
//!
//! ```
//! use subflow_network::{
//!     HostId, Hosts, InterfaceId, LinkConfig, Network, PacketId, QueueConfig, TimerId, TopologyBuilder,
//! };
//! use subflow_quantity::{Duration, Instant, Rate};
//! use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, Payload, UdpDatagram};
//!
//! /// Hosts that note when packets arrive.
//! #[derive(Default)]
//! struct Arrivals(Vec<Instant>);
//!
//! impl Hosts for Arrivals {
//!     fn handle_packet(&mut self, network: &mut Network, _: HostId, _: InterfaceId, packet: PacketId) {
//!         network.take(packet);
//!         self.0.push(network.now());
//!     }
//!     fn handle_timer(&mut self, _: &mut Network, _: TimerId) {}
//! }
//!
//! let mut topology = TopologyBuilder::new();
//! let (a, b) = (topology.host("a"), topology.host("b"));
//! let (a, b) = (topology.interface(a, "eth"), topology.interface(b, "eth"));
//! let link = LinkConfig::new(Rate::from_mbit(8), Duration::from_millis(10)).with_queue(QueueConfig::packets(2));
//! topology.link("cable", a, b, link.clone(), link);
//! let mut network = topology.build(1).expect("a valid topology");
//!
//! // Three packets of 1000 bytes at once: a millisecond each, and the queue holds two.
//! let ip = IpHeader {
//!     source: network.addresses(a)[0],
//!     destination: network.addresses(b)[0],
//!     hop_limit: 64,
//!     dscp: Dscp::DEFAULT,
//!     ecn: Ecn::NotEct,
//! };
//! let payload = Payload { stream_offset: 0, length: 972, sum: 0 };
//! let packet = Packet { ip, body: Body::Udp(UdpDatagram { source_port: 1, destination_port: 1, payload }) };
//! for _ in 0..3 {
//!     network.transmit(network.host_of(a), a, packet.clone());
//! }
//! let mut hosts = Arrivals::default();
//! network.run_until(&mut hosts, Instant::ZERO + Duration::from_secs(1));
//! assert_eq!(hosts.0, [11, 12].map(|ms| Instant::ZERO + Duration::from_millis(ms)));
//! ```
//!
//! [`TopologyBuilder`] describes a network, [`Network`] runs it, [`Hosts`] is the interface to the hosts. The crate
//! handles packets ([`subflow_wire::Packet`]) and time; it does not depend on transport protocols.
//!
//! # The path of a packet
//!
//! 1. A host calls [`Network::transmit`] (`run.rs`). The packet is stored in a slot until the receiving host has read
//!    it. Only a `Parcel`, with the slot, the route and the size, moves through the network.
//! 2. The packet passes the middleboxes of the link, if it has any (`middlebox/`). The link accepts it
//!    (`link/mod.rs`), or drops it: the link is down, the packet is lost before the queue
//!    (`loss/`), the queue discipline drops it or the queue is full (`queue/`). Its departure and arrival times are
//!    computed now, and it is added to the link's ring. If the discipline acts on departure, the packet waits in a
//!    backlog, and this happens when its transmission starts (`link/departures.rs`, `backlog.rs`).
//! 3. The first arrival of each link is in the event queue (`event_queue/mod.rs`). When this event is processed, the
//!    packet is at the far end. The link may delay it further or duplicate it (`link/disturbance.rs`).
//! 4. A router looks up the next link, or the parcel's route determines it (`routing/`). Then step 2 follows again.
//!    This was one hop and one event. If all packets of the next link come from this link, the hop needs no event: the
//!    next link accepts the packet at once (`fusion.rs`).
//! 5. At a host's interface a tap may record it ([`Tap`]), and [`Hosts::handle_packet`] receives it.
//!
//! Links change during a run by [`Network::schedule_change`] (`link/change.rs`): the departures of waiting packets are
//! recomputed. Random numbers come from one stream per component (`random.rs`).
//!
//! # Not supported
//!
//! Fragmentation, address resolution, IP packets of more than 65535 bytes.

mod capacity_trace;
mod departures;
mod event_queue;
mod fusion;
mod host_table;
mod ids;
mod link;
mod link_events;
mod look_ahead;
mod loss;
mod metrics;
mod middlebox;
mod netem;
mod network;
mod packet_pool;
mod parts;
mod prefetch;
mod queue;
mod radio;
mod random;
mod routing;
mod run;
mod stop;
mod timer;
mod topology;
mod wifi;

pub use capacity_trace::{CapacityTrace, TraceError};
pub use departures::Departure;
pub use event_queue::longest_run;
pub use ids::{HostId, InterfaceId, LinkId, PacketId, RouterId, TimerId};
pub use link::{CellularConfig, LinkChange, LinkConfig, LossPosition, Peak, Reordering, Service, TokenBucketConfig};
pub use loss::{Bernoulli, GilbertElliott, LossModel, PacketLoss, Trace};
pub use metrics::{LinkMetrics, NetworkMetrics};
pub use middlebox::{
    Block, Derivation, DropOption, Merge, Middlebox, MssClamp, Mtu, Nat, PlacedMiddlebox, Reorder, Reset,
    RewritePayload, RewriteSequence, Split, StripOption,
};
pub use netem::{Distribution, Jitter, Overtaking};
pub use network::{Direction, Hosts, LookAhead, Network, Passage, Tap};
pub use parts::{Exchange, Partition, PartitionError};
pub use prefetch::prefetch;
pub use queue::{Limit, QueueConfig};
pub use radio::{Listening, RadioPower, RadioState, RadioUse};
pub use random::{Probability, stream};
pub use routing::{RouteMetric, RouterMode, RoutingConfig, flow_key, signal};
pub use stop::Stop;
pub use topology::{Attachment, DuplexLink, Shape, ShapeEnd, ShapeLink, TopologyBuilder, TopologyError};
pub use wifi::{ContentionConfig, WifiConfig, WifiStandard};
