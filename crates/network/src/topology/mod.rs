//! Describing a network: hosts, routers and links, before they become a [`Network`].

mod addresses;
mod build;
mod error;
mod shapes;

use std::net::IpAddr;

use crate::routing::StaticRoute;
use crate::{HostId, InterfaceId, LinkConfig, LinkId, Network, RouteMetric, RouterId, RouterMode, RoutingConfig};
pub(crate) use addresses::AddressBook;
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

/// Describes hosts, routers and links, and makes a [`Network`] of them.
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
    conversations: Vec<(HostId, HostId)>,
    gateways: Vec<(IpAddr, RouterId)>,
    metric: RouteMetric,
    routing: RoutingConfig,
    fuse_hops: bool,
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
            conversations: Vec::new(),
            gateways: Vec::new(),
            metric: RouteMetric::Hops,
            routing: RoutingConfig::default(),
            fuse_hops: true,
        }
    }

    /// Adds a host.
    pub fn host(&mut self, name: &str) -> HostId {
        self.hosts.push(name.into());
        HostId::from_index(self.hosts.len() - 1)
    }

    /// Adds an interface to `host`. Unless [`Self::address`] gives it one, it gets an address of its link: on the link
    /// added as number n = 256 a + b, counted from zero, 10.a.b.1 at the first end and 10.a.b.2 at the second.
    pub fn interface(&mut self, host: HostId, name: &str) -> InterfaceId {
        self.interfaces.push(Interface { host, name: name.into(), addresses: Vec::new() });
        InterfaceId::from_index(self.interfaces.len() - 1)
    }

    /// Gives `interface` an address, IPv4 or IPv6; more calls give more addresses.
    pub fn address(&mut self, interface: InterfaceId, address: IpAddr) {
        self.interfaces[interface.index()].addresses.push(address);
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
        self.links.push(Duplex { name: name.into(), ends, directions: [forward, backward] });
        DuplexLink { forward: LinkId::from_index(2 * number), backward: LinkId::from_index(2 * number + 1) }
    }

    /// Makes `router` send packets for `destination` over `via`, one of its links, whatever the shortest path is.
    pub fn route(&mut self, router: RouterId, destination: InterfaceId, via: LinkId) {
        self.static_routes.push(StaticRoute { router: router.0, destination, via: via.0 });
    }

    /// Makes packets from and to `address`, one of an interface at a router, pass `gateway` on their way, as a loose
    /// source route does: the shortest path to there, and the shortest path on. A packet between two such addresses
    /// passes the source's. Where no path leads to it, packets are dropped as unroutable. All routers have to [keep to
    /// their tables](RouterMode::keeps_to_tables).
    pub fn gateway(&mut self, address: IpAddr, gateway: RouterId) {
        self.gateways.push((address, gateway));
    }

    /// Sets what makes a path short. Default: few links.
    pub fn metric(&mut self, metric: RouteMetric) {
        self.metric = metric;
    }

    /// Sets what concerns the routing of the whole network. Default: a controller as published, and routes that stay as
    /// they are when links fail.
    pub fn routing(&mut self, config: RoutingConfig) {
        self.routing = config;
    }

    /// Says that `a` and `b` exchange packets, in both directions. Once a pair is named, packets between others are
    /// dropped as unroutable; as long as none is named, all may talk to all. The fewer talk, the more hops can be
    /// fused.
    pub fn conversation(&mut self, a: HostId, b: HostId) {
        self.conversations.push((a, b));
    }

    /// Whether hops are fused where that is possible. It changes no result, only the time it takes. Default: yes.
    pub fn fuse_hops(&mut self, fuse: bool) {
        self.fuse_hops = fuse;
    }

    /// Makes the network. `seed` determines everything random in it.
    pub fn build(self, seed: u64) -> Result<Network, TopologyError> {
        build::build(&self, seed)
    }
}
