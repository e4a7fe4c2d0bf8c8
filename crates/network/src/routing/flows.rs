//! Routes of flows. A route is chosen when the flow's first packet leaves its host, and kept.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use rand_core::RngCore;
use rand_pcg::Pcg64Mcg;
use rustc_hash::FxHashMap;
use subflow_policy::routing::{FlowKey, Graph, Multiflow, Request, Signal};
use subflow_wire::tcp::TcpFlags;
use subflow_wire::tcp::mptcp::{Join, MptcpOption};
use subflow_wire::{Body, FlowCache, FlowKeyV4, Packet, TcpSegment};

use super::tables::PerPacket;
use super::{Gateway, Routes};
use crate::InterfaceId;
use crate::ids::{FlowRoute, PacketRoute};

/// The routes of more flows are not all found in one place of memory: 4 MiB.
const MOST_PLACES: usize = 1 << 17;

/// The flows of a network and their routes.
#[derive(Debug)]
pub(crate) struct FlowRoutes {
    /// Routes by 5-tuple: addresses, then ports and protocol. `None`: there is no route. Looked up for each packet that
    /// a host sends.
    v4: FxHashMap<FlowKeyV4, Option<FlowRoute>>,
    v6: FxHashMap<(u128, u128, u64), Option<FlowRoute>>,
    /// A part of `v4`.
    recent: FlowCache<Option<FlowRoute>>,
    flows: Vec<Flow>,
    controller: Option<Multiflow>,
    /// The seed of the flow hash.
    hash_seed: u64,
    rng: Pcg64Mcg,
}

/// A flow with its first and last router.
#[derive(Clone, Copy, Debug)]
struct Flow {
    key: FlowKey,
    start: FlowStart,
}

/// The first and last router of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowStart {
    /// The router that its source is attached to.
    pub(crate) from: u32,
    /// The destination interface, the router that it is attached to, and that router's link to it.
    pub(crate) destination: InterfaceId,
    pub(crate) last_router: u32,
    pub(crate) last_link: u32,
    /// The gateway that it must pass, if there is one.
    pub(crate) gateway: Option<Gateway>,
}

impl FlowRoutes {
    /// Creates it without flows. `controller`, if there is one, routes every new flow.
    pub(crate) fn new(controller: Option<Multiflow>, mut rng: Pcg64Mcg) -> Self {
        Self {
            v4: FxHashMap::default(),
            v6: FxHashMap::default(),
            recent: FlowCache::new(64, MOST_PLACES),
            flows: Vec::new(),
            controller,
            hash_seed: rng.next_u64(),
            rng,
        }
    }

    /// Whether a controller routes the flows.
    pub(crate) const fn has_controller(&self) -> bool {
        self.controller.is_some()
    }

    /// The route of the flow of `packet`; outer `None`: the flow is new.
    #[inline]
    pub(crate) fn find(&mut self, packet: &Packet) -> Option<Option<FlowRoute>> {
        let (ports, protocol) = ports(packet);
        let rest = rest_of_key(ports, protocol);
        match (packet.ip.source, packet.ip.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let key = (v4_addresses(source, destination), rest);
                self.recent.find(key).or_else(|| self.look_up(key))
            }
            (source, destination) => self.v6.get(&(bits(source), bits(destination), rest)).copied(),
        }
    }

    fn look_up(&mut self, key: FlowKeyV4) -> Option<Option<FlowRoute>> {
        let route = self.v4.get(&key).copied()?;
        self.recent.put(key, route);
        Some(route)
    }

    /// Fetches the route of the flow in the opposite direction to `packet` from memory.
    #[inline]
    pub(crate) fn prefetch_opposite(&self, packet: &Packet) {
        let ((source, destination), protocol) = ports(packet);
        if let (IpAddr::V4(from), IpAddr::V4(to)) = (packet.ip.destination, packet.ip.source) {
            self.recent.prefetch((v4_addresses(from, to), rest_of_key((destination, source), protocol)));
        }
    }

    /// Chooses the route of the flow whose first packet is `packet`, and appends its links to `list`.
    pub(crate) fn begin(
        &mut self,
        packet: &Packet,
        start: FlowStart,
        (routes, graph): (&Routes, &Graph),
        list: &mut Vec<u32>,
    ) -> Option<FlowRoute> {
        let key = flow_key(packet);
        let path = match &mut self.controller {
            Some(controller) => controller.route(Request {
                flow: key,
                signal: signal(packet),
                from: start.from,
                to: start.last_router,
                random: self.rng.next_u64(),
            }),
            None => None,
        };
        let flow = Flow { key, start };
        let route = self.route_of(flow, path, (routes, graph), list);
        self.flows.push(flow);
        if self.recent.is_small_for(self.flows.len()) {
            self.recent.reset(2 * self.flows.len());
        }
        self.insert(key, route);
        route
    }

    /// Recomputes the routes of all flows after links failed or recovered. `down` returns whether a link is down;
    /// `routes` is already up to date.
    pub(crate) fn reroute(
        &mut self,
        down: impl Fn(u32) -> bool,
        (routes, graph): (&Routes, &Graph),
        list: &mut Vec<u32>,
    ) {
        if let Some(controller) = &mut self.controller {
            graph.edges().for_each(|edge| controller.set_down(edge, down(edge)));
            controller.reroute(self.rng.next_u64());
        }
        for flow in self.flows.clone() {
            let path = self.controller.as_ref().and_then(|controller| controller.path_of(flow.key));
            let route = self.route_of(flow, path, (routes, graph), list);
            self.insert(flow.key, route);
        }
        self.recent.reset(self.flows.len());
    }

    /// The route over `path` or, without one, by the routers' tables.
    fn route_of(
        &self,
        flow: Flow,
        path: Option<Vec<u32>>,
        (routes, graph): (&Routes, &Graph),
        list: &mut Vec<u32>,
    ) -> Option<FlowRoute> {
        let hash = flow.key.hash(self.hash_seed);
        let mut links = match path {
            Some(path) => path,
            None => match by_tables(flow.start, hash, (routes, graph)) {
                Ok(links) => links?,
                Err(PerPacket) => return Some(FlowRoute { route: PacketRoute::to(flow.start.destination), hash }),
            },
        };
        links.push(flow.start.last_link);
        let route = PacketRoute::listed(list.len());
        list.append(&mut links);
        Some(FlowRoute { route, hash })
    }

    fn insert(&mut self, key: FlowKey, route: Option<FlowRoute>) {
        let (source, destination) = (key.source, key.destination);
        let rest = rest_of_key((source.port(), destination.port()), key.protocol);
        match (source.ip(), destination.ip()) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                self.v4.insert((v4_addresses(from, to), rest), route);
            }
            (from, to) => {
                self.v6.insert((bits(from), bits(to), rest), route);
            }
        }
    }
}

/// The links from a flow's first router to its last one, through its gateway; inner `None`: there is no route.
fn by_tables(start: FlowStart, hash: u16, (routes, graph): (&Routes, &Graph)) -> Result<Option<Vec<u32>>, PerPacket> {
    let mut links = Vec::new();
    let mut at = start.from;
    let gateway = start.gateway.map(|gateway| (gateway.destination, gateway.router));
    for (destination, router) in gateway.into_iter().chain([(start.destination, start.last_router)]) {
        let before = links.len();
        while at != router {
            if links.len() - before > graph.switches() {
                // Static routes combined with equal-cost routes can form a loop.
                return Ok(None);
            }
            let Some(next) = routes.next_of_flow(at, destination, hash)? else { return Ok(None) };
            links.push(next);
            at = graph.edge(next).to;
        }
    }
    Ok(Some(links))
}

#[inline]
fn v4_addresses(source: Ipv4Addr, destination: Ipv4Addr) -> u64 {
    u64::from(source.to_bits()) << 32 | u64::from(destination.to_bits())
}

#[inline]
fn rest_of_key((source, destination): (u16, u16), protocol: u8) -> u64 {
    u64::from(source) << 32 | u64::from(destination) << 16 | u64::from(protocol)
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

/// Source and destination port, and IP protocol number.
#[inline]
fn ports(packet: &Packet) -> ((u16, u16), u8) {
    match &packet.body {
        Body::Tcp(segment) => ((segment.source_port, segment.destination_port), 6),
        Body::Udp(datagram) => ((datagram.source_port, datagram.destination_port), 17),
        Body::Quic(datagram) => ((datagram.source_port, datagram.destination_port), 17),
        Body::Sctp(packet) => match packet.encapsulation {
            None => ((packet.source_port, packet.destination_port), 132),
            Some(udp) => ((udp.source_port, udp.destination_port), 17),
        },
    }
}

/// The flow of a packet.
pub fn flow_key(packet: &Packet) -> FlowKey {
    let (ports, protocol) = ports(packet);
    FlowKey {
        source: SocketAddr::new(packet.ip.source, ports.0),
        destination: SocketAddr::new(packet.ip.destination, ports.1),
        protocol,
    }
}

/// The MPTCP handshake option of a packet, which a controller reads.
pub fn signal(packet: &Packet) -> Signal {
    match &packet.body {
        Body::Tcp(segment) if segment.flags.contains(TcpFlags::SYN) => signal_of_syn(segment),
        _ => Signal::None,
    }
}

fn signal_of_syn(segment: &TcpSegment) -> Signal {
    let reply = segment.flags.contains(TcpFlags::ACK);
    let signals = segment.options.mptcp.iter().filter_map(|option| match option {
        MptcpOption::Join(Join::Syn { token, .. }) if !reply => Some(Signal::Join { token: *token }),
        MptcpOption::Capable(_) if !reply => Some(Signal::Capable),
        MptcpOption::Capable(capable) => capable.sender_key.map(|key| Signal::CapableReply { key }),
        _ => None,
    });
    signals.take(1).next().unwrap_or_default()
}
