//! The description of a network: hosts, routers and links, from which a [`Network`] is built.

mod build;
mod error;
mod shapes;

use std::net::IpAddr;

use crate::routing::StaticRoute;
use crate::{
    HostId, InterfaceId, LinkConfig, LinkId, Network, PlacedMiddlebox, RadioPower, RouteMetric, RouterId, RouterMode,
    RoutingConfig, Stop,
};
pub use error::TopologyError;
pub use shapes::{Shape, ShapeEnd, ShapeLink};

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// A host's interface.
    Interface(InterfaceId),
    /// A router.
    Router(RouterId),
}

impl From<InterfaceId> for Attachment {
    fn from(id: InterfaceId) -> Self {
        Self::Interface(id)
    }
}

impl From<RouterId> for Attachment {
    fn from(id: RouterId) -> Self {
        Self::Router(id)
    }
}

/// The two directions of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuplexLink {
    /// From the first end to the second.
    pub forward: LinkId,
    /// From the second end to the first.
    pub backward: LinkId,
}

/// Describes hosts, routers and links, and builds a [`Network`].
///
/// ```
/// # use subflow_network::{LinkConfig, QueueConfig, RouterMode, TopologyBuilder};
/// # use subflow_quantity::{Duration, Rate};
/// let mut topology = TopologyBuilder::new();
/// let phone = topology.host("phone");
/// let wifi = topology.interface(phone, "wifi");
/// let server = topology.host("server");
/// let eth = topology.interface(server, "eth");
/// let internet = topology.router("internet", RouterMode::ShortestPath);
///
/// let radio = LinkConfig::new(Rate::from_mbit(50), Duration::from_millis(10)).with_queue(QueueConfig::packets(100));
/// topology.link("wifi", wifi, internet, radio.clone(), radio);
/// let core = LinkConfig::new(Rate::from_mbit(1000), Duration::from_millis(5));
/// topology.link("core", internet, eth, core.clone(), core);
///
/// let network = topology.build(1).expect("a valid topology");
/// assert_eq!(network.addresses(wifi)[0].to_string(), "10.0.0.1");
/// ```
#[derive(Clone, Debug)]
pub struct TopologyBuilder {
    hosts: Vec<String>,
    interfaces: Vec<Interface>,
    routers: Vec<(String, RouterMode)>,
    links: Vec<Duplex>,
    static_routes: Vec<StaticRoute>,
    single_ways: Vec<InterfaceId>,
    conversations: Vec<(HostId, HostId)>,
    gateways: Vec<(IpAddr, RouterId)>,
    radios: Vec<(InterfaceId, RadioPower)>,
    metric: RouteMetric,
    routing: RoutingConfig,
    fuse_hops: bool,
    point_to_point: bool,
    stop: Option<Stop>,
}

#[derive(Clone, Debug)]
struct Interface {
    host: HostId,
    name: String,
    addresses: Vec<IpAddr>,
}

#[derive(Clone, Debug)]
struct Duplex {
    name: String,
    ends: [Attachment; 2],
    /// Forward, backward.
    directions: [LinkConfig; 2],
    middleboxes: Vec<PlacedMiddlebox>,
}

impl Default for TopologyBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl TopologyBuilder {
    /// An empty network.
    pub fn new() -> Self {
        Self {
            hosts: Vec::new(),
            interfaces: Vec::new(),
            routers: Vec::new(),
            links: Vec::new(),
            static_routes: Vec::new(),
            single_ways: Vec::new(),
            conversations: Vec::new(),
            gateways: Vec::new(),
            radios: Vec::new(),
            metric: RouteMetric::Hops,
            routing: RoutingConfig::default(),
            fuse_hops: true,
            point_to_point: false,
            stop: None,
        }
    }

    /// Adds a host.
    pub fn host(&mut self, name: &str) -> HostId {
        self.hosts.push(name.into());
        HostId::from_index(self.hosts.len() - 1)
    }

    /// Adds an interface to `host`. Without an address set by [`Self::address`] it gets an address of its link: on link
    /// number n = 256 a + b, counted from zero, it is 10.a.b.1 at the first end and 10.a.b.2 at the second.
    pub fn interface(&mut self, host: HostId, name: &str) -> InterfaceId {
        self.interfaces.push(Interface { host, name: name.into(), addresses: Vec::new() });
        InterfaceId::from_index(self.interfaces.len() - 1)
    }

    /// Adds an address, IPv4 or IPv6, to `interface`. An interface may have several.
    pub fn address(&mut self, interface: InterfaceId, address: IpAddr) {
        self.interfaces[interface.index()].addresses.push(address);
    }

    /// Gives `interface` a radio, whose energy [`Network::radio`] tells. It changes nothing about packets.
    pub fn radio(&mut self, interface: InterfaceId, power: RadioPower) {
        self.radios.push((interface, power));
    }

    /// Adds a router.
    pub fn router(&mut self, name: &str, mode: RouterMode) -> RouterId {
        self.routers.push((name.into(), mode));
        RouterId::from_index(self.routers.len() - 1)
    }

    /// Connects `a` and `b`. `forward` leads from `a` to `b`. An interface is on exactly one link; two hosts may be
    /// connected directly.
    pub fn link(
        &mut self,
        name: &str,
        a: impl Into<Attachment>,
        b: impl Into<Attachment>,
        forward: LinkConfig,
        backward: LinkConfig,
    ) -> DuplexLink {
        let number = self.links.len();
        let ends = [a.into(), b.into()];
        self.links.push(Duplex { name: name.into(), ends, directions: [forward, backward], middleboxes: Vec::new() });
        DuplexLink { forward: LinkId::from_index(2 * number), backward: LinkId::from_index(2 * number + 1) }
    }

    /// Puts middleboxes on `link`, in order from its first end to its second. Packets pass them before they come to the
    /// queue of their direction.
    pub fn middleboxes(&mut self, link: DuplexLink, middleboxes: Vec<PlacedMiddlebox>) {
        self.links[link.forward.index() / 2].middleboxes = middleboxes;
    }

    /// Adds a static route: `router` sends packets for `destination` over `via`, one of its links.
    pub fn route(&mut self, router: RouterId, destination: InterfaceId, via: LinkId) {
        self.static_routes.push(StaticRoute { router: router.0, destination, via: via.0 });
    }

    /// Lets all routers send packets for `destination` over the first of equal ways, whatever their modes.
    pub fn single_way_to(&mut self, destination: InterfaceId) {
        self.single_ways.push(destination);
    }

    /// Routes packets from and to `address`, an address of an interface at a router, through `gateway`, like a loose
    /// source route: the shortest path to the gateway, and the shortest path from it. A packet between two such
    /// addresses passes the gateway of its source. If there is no path, packets are dropped as unroutable. All routers
    /// must [follow their tables](RouterMode::follows_tables).
    pub fn gateway(&mut self, address: IpAddr, gateway: RouterId) {
        self.gateways.push((address, gateway));
    }

    /// Sets the metric of shortest paths. Default: the number of links.
    pub fn metric(&mut self, metric: RouteMetric) {
        self.metric = metric;
    }

    /// Sets the routing options of the whole network. Default: a controller as published, and routes that do not change
    /// when links fail.
    pub fn routing(&mut self, config: RoutingConfig) {
        self.routing = config;
    }

    /// Allows `a` and `b` to exchange packets. If any pair is named, packets between other hosts are dropped as
    /// unroutable; if none is, all hosts may exchange packets. With fewer pairs, more hops can be fused.
    pub fn conversation(&mut self, a: HostId, b: HostId) {
        self.conversations.push((a, b));
    }

    /// Sets whether hops are fused where possible. Fusion does not change results, only the running time. Default: yes.
    pub fn fuse_hops(&mut self, fuse: bool) {
        self.fuse_hops = fuse;
    }

    /// Lets every packet that is sent on a link between two interfaces arrive at its other end, whatever its destination:
    /// for links whose ends forward it themselves, outside of the network.
    pub fn point_to_point(&mut self) {
        self.point_to_point = true;
    }

    /// Ends the building of the network with [`TopologyError::Stopped`], and each of its runs, soon after `stop` is
    /// requested. Until then it changes nothing.
    pub fn stop_on(&mut self, stop: Stop) {
        self.stop = Some(stop);
    }

    /// Builds the network. `seed` determines all of its random numbers.
    pub fn build(self, seed: u64) -> Result<Network, TopologyError> {
        build::build(&self, seed)
    }
}
