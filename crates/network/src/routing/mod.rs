//! Which way packets go: the routers' tables, and the routes of flows.
//!
//! The algorithms are in [`subflow_policy::routing`]; this drives them. Where all routers take shortest paths, a packet
//! is looked up in their tables by its destination at each hop (`tables.rs`). Otherwise, and where addresses have
//! gateways (`gateways.rs`), the routers' choices are made once for each flow, when its first packet leaves its host,
//! and the flow's packets carry their place in a list of links (`flows.rs`); only behind routers that choose anew for
//! every packet they are looked up at each hop again.

mod flows;
mod gateways;
mod tables;
mod way;
mod wiring;

use subflow_policy::routing::MultiflowOptions;
use subflow_quantity::Duration;

pub(crate) use flows::{FlowRoutes, FlowStart};
pub(crate) use gateways::{Gateway, Gateways};
pub use subflow_policy::routing::Metric as RouteMetric;
pub(crate) use tables::{Routes, StaticRoute, TableRules};
pub(crate) use way::{FlowWay, Way};
pub(crate) use wiring::{Edge, Node, Wiring};

/// How a router chooses the next link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouterMode {
    /// The shortest path to the destination interface; of equally short ones the link that was added first.
    #[default]
    ShortestPath,
    /// Of equally short ways one by a hash of the packet's 5-tuple, in which each router mixes a number of its own. The
    /// other direction of a flow has another hash and may take another way.
    EcmpFlow,
    /// Equally short ways in turn, packet by packet. Destinations with the same choice share the turns.
    EcmpPacket,
    /// As a central controller says, which sees the first packet of each flow and keeps the subflows of an MPTCP
    /// connection apart; the shortest path for all that it does not place. All routers are under the controller, or
    /// none.
    Multiflow,
}

impl RouterMode {
    /// Whether all packets of a flow take the way that tables give: what [gateways](crate::TopologyBuilder::gateway)
    /// need.
    pub const fn keeps_to_tables(self) -> bool {
        matches!(self, Self::ShortestPath | Self::EcmpFlow)
    }
}

/// What concerns the routing of the whole network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutingConfig {
    /// What the controller of [`RouterMode::Multiflow`] does. Default: as published.
    pub multiflow: MultiflowOptions,
    /// How long after a link between routers has gone down, or come up, routes take it into account: tables are
    /// computed anew, and flows whose way has changed move. Packets under way on the old one stay on it. Default:
    /// never.
    pub reroute_after: Option<Duration>,
}

impl Default for RoutingConfig {
    fn default() -> Self {
        Self { multiflow: MultiflowOptions::PUBLISHED, reroute_after: None }
    }
}
