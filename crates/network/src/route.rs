//! Routing during a run: the next link of a packet, the route of a new flow, and failed links.

use prefetch_index::prefetch_index;
use subflow_policy::routing::Graph;
use subflow_quantity::Duration;

use crate::host_table::FarEnd;
use crate::link::Parcel;
use crate::routing::{FlowRoute, FlowRoutes, FlowStart, PacketRoute, Routes, TableRules, Wiring};
use crate::{InterfaceId, LinkId, Network, PacketId};

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

impl Network {
    /// The route of a new flow whose first packet is `id`, from a host that sends on `link`, to `destination`.
    #[cold]
    pub(crate) fn begin_flow(&mut self, link: LinkId, destination: InterfaceId, id: PacketId) -> Option<FlowRoute> {
        let FarEnd::Router(from) = self.links[link.index()].far_end else {
            return Some(FlowRoute { route: PacketRoute::to(destination), hash: 0 });
        };
        let routing = &mut self.routing;
        let (last_router, last_link) = routing.attachments[destination.index()]?;
        let packet = &self.packets[id];
        let gateway = routing.rules.gateways.between(packet.ip.source, packet.ip.destination);
        let start = FlowStart { from, destination, last_router, last_link, gateway };
        let flows = routing.flows.as_mut()?;
        flows.begin(packet, start, (&routing.tables, &routing.graph), &mut routing.listed)
    }

    /// Recomputes the routes without the links that are down.
    pub(crate) fn reroute(&mut self) {
        let routing = &mut self.routing;
        let mut down = routing.graph.no_links();
        for edge in routing.graph.edges().filter(|&edge| !self.links[edge as usize].is_up()) {
            down.set(edge, true);
        }
        routing.tables = routing.rules.tables(&routing.wiring, &routing.graph, &down);
        if let Some(flows) = &mut routing.flows {
            flows.reroute(|edge| down.has(edge), (&routing.tables, &routing.graph), &mut routing.listed);
        }
    }
}
