//! Links, queues, loss, routers and the event loop that moves packets.

mod capacity_trace;
mod disturbance;
mod event_queue;
mod fusion;
mod host_table;
mod ids;
mod link;
mod loss;
mod metrics;
mod network;
mod probability;
mod queue;
mod routing;
mod run;
mod streams;
mod tap;
mod timeline;
mod timer;
mod topology;

pub use capacity_trace::{CapacityTrace, TraceError};
pub use ids::{HostId, InterfaceId, LinkId, PacketId, RouterId, TimerId};
pub use link::{LinkChange, LinkConfig, LossPosition, Reordering, Service};
pub use loss::{GilbertElliott, LossConfig, LossTrace};
pub use metrics::{LinkMetrics, NetworkMetrics};
pub use network::{Hosts, Network};
pub use probability::Probability;
pub use queue::{Discipline, IdleAgeing, Limit, QueueConfig, RedConfig, RedDrop, RedUnit};
pub use routing::{RouteMetric, RouterMode};
pub use streams::stream;
pub use tap::{Direction, Tap};
pub use topology::{Attachment, DuplexLink, TopologyBuilder, TopologyError};
