//! Routing: the routers' tables, and the routes of flows.
//!
//! The algorithms are in [`subflow_policy::routing`]; this module uses them. If all routers use shortest paths, each
//! router looks up a packet's destination in its table (`tables.rs`). Otherwise, and if addresses have gateways
//! the route of a flow is chosen once, when its first packet leaves its host, and the flow's packets
//! carry an index into a list of links (`flows.rs`). Only after routers that choose for every packet is the destination
//! looked up at each hop.

mod flows;
mod tables;
mod wiring;

use prefetch_index::prefetch_index;
use subflow_policy::routing::{Graph, MultiflowOptions};
use subflow_quantity::Duration;

pub(crate) use flows::{FlowRoutes, FlowStart};
pub use flows::{flow_key, signal};
pub use subflow_policy::routing::Metric as RouteMetric;
pub(crate) use tables::{Gateway, Gateways, Routes, StaticRoute, TableRules};
pub(crate) use wiring::{Edge, Node, Wiring};

use crate::link::Parcel;

/// How a router chooses the next link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouterMode {
    /// The shortest path to the destination interface; of equally short ones, the link that was added first.
    #[default]
    ShortestPath,
    /// One of the equal-cost links, by a hash of the packet's 5-tuple with a salt per router. The reverse direction of
    /// a flow has another hash and may use another path.
    EcmpFlow,
    /// The equal-cost links in turn, per packet. Destinations with the same set of links share the turns.
    EcmpPacket,
    /// By a central controller, which gets the first packet of each flow and places the subflows of an MPTCP connection
    /// on disjoint paths; other flows use the shortest path. Either all routers have a controller or none.
    Multiflow,
}

impl RouterMode {
    /// Whether all packets of a flow follow the tables, as [gateways](crate::TopologyBuilder::gateway) require.
    pub const fn follows_tables(self) -> bool {
        matches!(self, Self::ShortestPath | Self::EcmpFlow)
    }
}

/// The routing options of the whole network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutingConfig {
    /// Options of the controller of [`RouterMode::Multiflow`]. Default: as published.
    pub multiflow: MultiflowOptions,
    /// The time after which routes change when a link between routers fails or recovers: tables are recomputed, and
    /// flows whose route changed move. Packets in flight stay on the old route. Default: never.
    pub reroute_after: Option<Duration>,
    /// The router, by its number in the order of their addition, at the root of the spanning tree (IEEE 802.1D) that all
    /// tables follow. Default: none, tables follow shortest paths.
    pub spanning_tree: Option<u32>,
}

impl Default for RoutingConfig {
    fn default() -> Self {
        Self { multiflow: MultiflowOptions::PUBLISHED, reroute_after: None, spanning_tree: None }
    }
}

/// The routing state.
#[derive(Debug)]
pub(crate) struct Routing {
    pub(crate) wiring: Wiring,
    pub(crate) graph: Graph,
    pub(crate) rules: TableRules,
    pub(crate) tables: Routes,
    /// The router of each interface, and the link from there.
    pub(crate) attachments: Vec<Option<(u32, u32)>>,
    /// The links of the flows' routes, without the first link of each, concatenated.
    pub(crate) listed: Vec<u32>,
    /// The routes of flows, if not all routers use shortest paths or addresses have gateways.
    pub(crate) flows: Option<Box<FlowRoutes>>,
    pub(crate) reroute_after: Option<Duration>,
}

impl Routing {
    /// The next link of `packet` after `router`. Advances the packet's route.
    #[inline(always)]
    pub(crate) fn next_link(&mut self, router: u32, packet: &mut Parcel) -> Option<u32> {
        match packet.route.index() {
            Some(index) => {
                packet.route = packet.route.next();
                Some(self.listed[index])
            }
            None => self.tables.next(router, packet.route.destination()?, packet.hash),
        }
    }

    /// Fetches what decides on the next link of `packet` after `router`.
    #[inline]
    pub(crate) fn prefetch_next_link(&self, router: u32, packet: &Parcel) {
        match (packet.route.index(), packet.route.destination()) {
            (Some(index), _) => prefetch_index(&self.listed, index),
            (None, Some(destination)) => self.tables.prefetch(router, destination),
            (None, None) => {}
        }
    }

    /// The next link of `packet` after `router`, unless the router chooses among several.
    #[inline]
    pub(crate) fn sole_next_link(&self, router: u32, packet: &Parcel) -> Option<u32> {
        match packet.route.index() {
            Some(index) => Some(self.listed[index]),
            None => self.tables.sole(router, packet.route.destination()?),
        }
    }
}
