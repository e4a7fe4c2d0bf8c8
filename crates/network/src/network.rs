//! The network and its event loop.

use std::net::IpAddr;

use subflow_quantity::{Duration, Instant};
use subflow_wire::Packet;

use crate::tap::Tap;
use crate::{HostId, InterfaceId, LinkChange, LinkId, LinkMetrics, NetworkMetrics, PacketId, TimerId};

/// What lives on the hosts. Statically dispatched.
pub trait Hosts {
    /// `packet` arrived for `host` on `interface`. Whoever gets it takes it ([`Network::take`]) or looks at it
    /// ([`Network::packet`]) and releases it ([`Network::release`]).
    fn handle_packet(&mut self, network: &mut Network, host: HostId, interface: InterfaceId, packet: PacketId);
    /// A timer set with [`Network::set_timer`] has expired. It is no longer set.
    fn handle_timer(&mut self, network: &mut Network, timer: TimerId);
}

/// Links, queues and routers in one event loop.
pub struct Network {}

#[allow(unused_variables)]
impl Network {
    /// The time on the simulation's clock.
    pub fn now(&self) -> Instant {
        todo!()
    }
    /// Sends `packet` from `interface` of `host`. One for an unknown or unreachable address is counted and dropped.
    pub fn transmit(&mut self, host: HostId, interface: InterfaceId, packet: Packet) {
        todo!()
    }
    /// The interface of `host` that has `address`: where packets with this source address leave (policy routing).
    pub fn interface_with(&self, host: HostId, address: IpAddr) -> Option<InterfaceId> {
        todo!()
    }
    /// The addresses of `interface`, in the order given.
    pub fn addresses(&self, interface: InterfaceId) -> &[IpAddr] {
        todo!()
    }
    /// The host that `interface` belongs to.
    pub fn host_of(&self, interface: InterfaceId) -> HostId {
        todo!()
    }
    /// A packet in the network.
    pub fn packet(&self, id: PacketId) -> &Packet {
        todo!()
    }
    /// Takes a packet out of the network.
    pub fn take(&mut self, id: PacketId) -> Packet {
        todo!()
    }
    /// Drops a packet that a host has received and read.
    pub fn release(&mut self, id: PacketId) {
        todo!()
    }
    /// A new timer, not set.
    pub fn new_timer(&mut self) -> TimerId {
        todo!()
    }
    /// Sets `timer` to expire at `deadline`, or not at all. Moving a deadline later, or unsetting it, costs nothing.
    pub fn set_timer(&mut self, timer: TimerId, deadline: Option<Instant>) {
        todo!()
    }
    /// Changes `link` at `at`, before packets that move in the same instant. Not to be called from [`Hosts`].
    pub fn schedule_change(&mut self, at: Instant, link: LinkId, change: LinkChange) {
        todo!()
    }
    /// Processes every event until `end`, `end` included, and sets the clock to `end`.
    pub fn run_until<H: Hosts>(&mut self, hosts: &mut H, end: Instant) {
        todo!()
    }
    /// Shows the packets of `interfaces` to `tap`.
    pub fn set_tap(&mut self, interfaces: &[InterfaceId], tap: Box<dyn Tap + Send>) {
        todo!()
    }
    /// Ends tapping.
    pub fn take_tap(&mut self) -> Option<Box<dyn Tap + Send>> {
        todo!()
    }
    /// The name of `link`: the builder's, with `>` for forward and `<` for backward in front.
    pub fn link_name(&self, link: LinkId) -> &str {
        todo!()
    }
    /// How many link directions there are; their ids are 0 … n − 1.
    pub fn link_count(&self) -> usize {
        todo!()
    }
    /// What `link` has done until now.
    pub fn link_metrics(&self, link: LinkId) -> LinkMetrics {
        todo!()
    }
    /// Packets in the queue of `link` now, the one in transmission included.
    pub fn queue_length(&self, link: LinkId) -> u32 {
        todo!()
    }
    /// What the network has done until now.
    pub fn metrics(&self) -> NetworkMetrics {
        todo!()
    }
    /// The sum of propagation delays and no more, from interface to interface along the route; `None` without a route.
    pub fn path_delay(&self, from: InterfaceId, to: InterfaceId) -> Option<Duration> {
        todo!()
    }
}
