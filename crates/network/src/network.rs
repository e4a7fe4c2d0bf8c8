//! The network: its interface to the hosts and to the calling program. The event loop is in `run.rs`.

use std::collections::BTreeMap;
use std::net::IpAddr;

use subflow_quantity::{Duration, Instant};
use subflow_wire::Packet;
use subflow_wire::icmp::IcmpError;

use crate::event_queue::EventQueue;
use crate::host_table::HostTable;
use crate::link::{LatePackets, Link};
use crate::middlebox::{Chain, Derivation, Translations};
use crate::packet_pool::PacketPool;
use crate::parts::Part;
use crate::radio::Meter;
use crate::routing::Routing;
use crate::timer::Timers;
use crate::wifi::Channels;
use crate::{HostId, InterfaceId, LinkChange, LinkId, LinkMetrics, NetworkMetrics, PacketId, Stop, TimerId};

/// The hosts. Calls are statically dispatched: the network calls the hosts directly, and they call the network
/// directly.
pub trait Hosts {
    /// `packet` arrived for `host` on `interface`. The host now owns it: it reads it ([`Network::packet`]) and releases
    /// it ([`Network::release`]), or takes it ([`Network::take`]).
    fn handle_packet(&mut self, network: &mut Network, host: HostId, interface: InterfaceId, packet: PacketId);

    /// A timer set with [`Network::set_timer`] expired and is now unset.
    fn handle_timer(&mut self, network: &mut Network, timer: TimerId);

    /// `packet` is one of the next to arrive for `host`: an opportunity to fetch from memory what its arrival will need.
    /// It is called with each step in turn, with a few events in between, so that each can read what the one before has
    /// fetched; packets that arrive soon after they were sent miss the first steps. Not called in small networks.
    fn look_ahead(&mut self, _network: &Network, _host: HostId, _packet: PacketId, _step: LookAhead) {}

    /// Data has left the queue of `interface`, whose link [reports](crate::LinkConfig::reports_departures) that:
    /// [`Network::next_departure`] tells what.
    fn handle_departures(&mut self, _network: &mut Network, _interface: InterfaceId) {}

    /// An ICMP error arrived for the host of `interface`. Default: it is ignored.
    fn handle_icmp(&mut self, _network: &mut Network, _interface: InterfaceId, _error: &IcmpError) {}

    /// A link duplicated a packet. Hosts that store data for a packet id must store it for the copy, too.
    fn handle_copy(&mut self, _network: &mut Network, _original: PacketId, _copy: PacketId) {}
}

/// How near the arrival of a packet is; see [`Hosts::look_ahead`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookAhead {
    /// The packet is being fetched, and cannot be read yet.
    Far,
    /// It can be read: fetch where it is found out for whom it is.
    Near,
    /// Find out for whom it is, and fetch that.
    Nearer,
    /// Fetch what was found to be needed.
    Nearest,
    /// It arrives after a few events: fetch what that leads to.
    Next,
}

/// Links, queues and routers with one clock.
///
/// How to use it: describe a network with [`crate::TopologyBuilder`] and build it. Start the hosts with
/// [`Self::transmit`] and [`Self::set_timer`]. Then call [`Self::run_until`] with the [`Hosts`]: it moves packets and
/// calls the hosts when packets arrive and timers expire; the hosts call the network to transmit and to set timers.
/// Between runs, read metrics and schedule link changes. Runs may be arbitrarily short: running until t₁ and then until
/// t₂ is the same as running until t₂.
///
/// A seed gives the same run on every machine. The order of events at the same instant looks random but depends only on
/// the instant and the links of the events.
pub struct Network {
    pub(crate) now: Instant,
    /// Events before this instant may be processed.
    pub(crate) horizon: Instant,
    pub(crate) links: Vec<Link>,
    pub(crate) link_names: Vec<String>,
    pub(crate) routing: Routing,
    pub(crate) hosts: HostTable,
    pub(crate) packets: PacketPool,
    /// Slots in the pool that hosts have reserved for packets.
    pub(crate) reserved: u64,
    /// The next event of each link that is not fused: its first arrival, or the next start of a transmission from its
    /// backlog.
    pub(crate) arrivals: EventQueue,
    pub(crate) timers: Timers,
    pub(crate) late_packets: LatePackets,
    /// In order of time, then of scheduling.
    pub(crate) changes: BTreeMap<(Instant, u64), Change>,
    changes_scheduled: u64,
    pub(crate) tap: Option<Box<dyn Tap + Send>>,
    /// The part that this copy of the network runs, if it does not run the whole.
    pub(crate) part: Option<Box<Part>>,
    pub(crate) counters: NetworkMetrics,
    /// The middleboxes of each link with two directions; empty if no link has any.
    pub(crate) middleboxes: Vec<Option<Chain>>,
    pub(crate) translations: Translations,
    /// By interface; empty if no interface has one.
    pub(crate) radios: Vec<Option<Box<Meter>>>,
    /// The WiFi channels.
    pub(crate) wifi: Channels,
    /// What middleboxes have made of packets, if a driver asks for it.
    pub(crate) derived: Option<Vec<Derivation>>,
    /// What ends a run before its time.
    pub(crate) stop: Option<Stop>,
}

/// A scheduled change.
#[derive(Debug)]
pub(crate) enum Change {
    Link(LinkId, LinkChange),
    /// Routes are recomputed without the links that are down.
    Routes,
}

impl Network {
    pub(crate) fn new(links: Vec<Link>, link_names: Vec<String>, routing: Routing, hosts: HostTable) -> Self {
        Self {
            now: Instant::ZERO,
            horizon: Instant::ZERO,
            arrivals: EventQueue::new(links.len()),
            links,
            link_names,
            routing,
            hosts,
            packets: PacketPool::default(),
            reserved: 0,
            timers: Timers::default(),
            late_packets: LatePackets::default(),
            changes: BTreeMap::new(),
            changes_scheduled: 0,
            tap: None,
            part: None,
            counters: NetworkMetrics::default(),
            middleboxes: Vec::new(),
            translations: Translations::default(),
            radios: Vec::new(),
            wifi: Channels::default(),
            derived: None,
            stop: None,
        }
    }

    /// The current time of the simulation.
    #[inline]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The time of the next event, if there is one. The event may turn out to be obsolete: a timer that was moved.
    pub fn next_event(&self) -> Option<Instant> {
        let next = self.first_event(&self.fused_links());
        (next < self.arrivals.end_of_time()).then_some(next)
    }

    /// The time of the next event or change; `fused` are the links that are fused. At or after the end of time if there
    /// is none.
    pub(crate) fn first_event(&self, fused: &[u32]) -> Instant {
        let fused = fused.iter().map(|&link| self.links[link as usize].next_arrival());
        let changes = self.changes.first_key_value().map(|(&(at, _), _)| at);
        let first = self.arrivals.first_at().min(self.late_packets.first_at()).min(self.timers.first_at());
        fused.chain(changes).fold(first, Instant::min)
    }

    /// A packet in the network.
    #[inline]
    pub fn packet(&self, id: PacketId) -> &Packet {
        &self.packets[id]
    }

    /// Removes a packet that has arrived and returns it.
    #[inline]
    pub fn take(&mut self, id: PacketId) -> Packet {
        self.packets.take(id)
    }

    /// Removes a packet that has arrived.
    #[inline]
    pub fn release(&mut self, id: PacketId) {
        self.packets.release(id);
    }

    /// Reserves a slot in which to build a packet; [`Self::transmit_reserved`] sends it. The slot contains an old
    /// packet.
    #[inline]
    pub fn reserve(&mut self) -> PacketId {
        self.reserved += 1;
        self.packets.reserve()
    }

    /// The packet in a reserved slot.
    #[inline]
    pub fn packet_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id]
    }

    /// Creates a timer that is not set.
    pub fn new_timer(&mut self) -> TimerId {
        self.timers.add()
    }

    /// Sets `timer` to expire at `deadline`, or unsets it. Moving a deadline later, or unsetting it, has almost no
    /// cost. A deadline in the past expires now.
    #[inline]
    pub fn set_timer(&mut self, timer: TimerId, deadline: Option<Instant>) {
        self.timers.set(timer, deadline.map_or(Instant::MAX, |deadline| deadline.max(self.now)));
    }

    /// When `timer` expires, if it is set.
    pub fn timer_deadline(&self, timer: TimerId) -> Option<Instant> {
        let deadline = self.timers.deadline(timer);
        (deadline != Instant::MAX).then_some(deadline)
    }

    /// The interface of `host` that has `address`, on which packets from this address leave (policy routing, as `ip
    /// rule from ADDRESS`).
    pub fn interface_with(&self, host: HostId, address: IpAddr) -> Option<InterfaceId> {
        self.hosts.addresses.interface(address).filter(|&interface| self.hosts.host(interface) == host)
    }

    /// The addresses of `interface`, in the order in which they were added.
    pub fn addresses(&self, interface: InterfaceId) -> &[IpAddr] {
        self.hosts.addresses.addresses(interface)
    }

    /// The host of `interface`.
    pub fn host_of(&self, interface: InterfaceId) -> HostId {
        self.hosts.host(interface)
    }

    /// Changes `link` at `at`, or now if that is in the past. Changes happen before packets of the same instant, in
    /// order of scheduling. The link is no longer fused with others.
    ///
    /// Call it between runs, not from hosts during a run: then links may be ahead of the clock, up to the next
    /// scheduled change.
    pub fn schedule_change(&mut self, at: Instant, link: LinkId, change: LinkChange) {
        assert!(self.horizon <= self.now + Duration::from_nanos(1), "a change was scheduled during a run");
        assert!(self.part.is_none(), "a change was scheduled in a part of a network");
        self.unfuse(link);
        let at = at.max(self.now);
        let moves_routes = matches!(change, LinkChange::Down | LinkChange::Up);
        self.schedule(at, Change::Link(link, change));
        if let (true, Some(after)) = (moves_routes, self.routing.reroute_after) {
            self.schedule(at + after, Change::Routes);
        }
    }

    fn schedule(&mut self, at: Instant, change: Change) {
        self.changes.insert((at, self.changes_scheduled), change);
        self.changes_scheduled += 1;
    }

    /// Passes all packets of `interfaces`, and no others, to `tap`.
    pub fn set_tap(&mut self, interfaces: &[InterfaceId], tap: Box<dyn Tap + Send>) {
        assert!(self.part.is_none(), "a tap was set in a part of a network");
        self.take_tap();
        for interface in &mut self.hosts.interfaces {
            interface.observed = true;
        }
        for interface in interfaces {
            self.hosts.interfaces[interface.index()].set_tapped(true);
        }
        self.tap = Some(tap);
    }

    /// Removes the tap and returns it.
    pub fn take_tap(&mut self) -> Option<Box<dyn Tap + Send>> {
        for interface in &mut self.hosts.interfaces {
            interface.observed = false;
            interface.set_tapped(false);
        }
        self.tap.take()
    }

    /// Orders packets that arrive now at different interfaces, in this order. With links that all take time and do not
    /// disturb packets, it is the order of all events at this instant, before timers.
    pub fn arrival_order(&self, interface: InterfaceId) -> u64 {
        self.arrivals.key(self.now, self.hosts.interfaces[interface.index()].link.0 ^ 1)
    }

    /// The number of link directions. Their ids count from zero; the two directions of a link are consecutive, the
    /// forward one first.
    pub fn link_count(&self) -> usize {
        self.links.len()
    }

    /// The name of `link`, the same for both directions.
    pub fn link_name(&self, link: LinkId) -> &str {
        &self.link_names[link.index() / 2]
    }

    /// The counters of `link` at the end of the last run.
    pub fn link_metrics(&self, link: LinkId) -> LinkMetrics {
        self.links[link.index()].metrics(self.now)
    }

    /// Packets in the queue of `link` at the end of the last run, including the one in transmission.
    pub fn queue_length(&self, link: LinkId) -> u32 {
        self.links[link.index()].queued()
    }

    /// Packets in queues and on links at the end of the last run.
    pub fn packets_in_flight(&self) -> u64 {
        self.packets.len() as u64 - self.reserved
    }

    /// The maximum number of packets in the network at once, which need about 1 GB.
    pub const MOST_PACKETS: usize = PacketPool::MOST;

    /// Whether there have been more than [`Self::MOST_PACKETS`] packets at once. Hosts transmit nothing from then on: the
    /// results of the run are not valid.
    pub fn has_overflowed(&self) -> bool {
        self.packets.has_overflowed()
    }

    /// Events that the loop has processed.
    pub fn events(&self) -> u64 {
        self.counters.events
    }

    /// The largest number of packets that were in the network at once, with reserved slots.
    pub fn most_packets(&self) -> usize {
        self.packets.slots()
    }

    /// The counters of the network at the end of the last run.
    pub fn metrics(&self) -> NetworkMetrics {
        let on_links: u64 = self.links.iter().map(|link| link.metrics(self.now).drops()).sum();
        NetworkMetrics {
            dropped: self.counters.dropped_unroutable + on_links,
            in_flight: self.packets_in_flight(),
            packet_hops: self.links.iter().map(Link::hops).sum(),
            ..self.counters
        }
    }

    /// The propagation delay from `from` to `to` along the route; `None` if there is no route.
    pub fn path_delay(&self, from: InterfaceId, to: InterfaceId) -> Option<Duration> {
        let first = &self.links[self.hosts.interfaces[from.index()].link.index()];
        Some(first.delay() + self.delay_from(first.far_end, to)?)
    }
}

/// The direction of a tapped packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the host into the network.
    Out,
    /// From the network to the host.
    In,
}

/// Where and when a packet passes a tapped interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When.
    pub time: Instant,
    /// The host that sends or receives it.
    pub host: HostId,
    /// The interface of that host.
    pub interface: InterfaceId,
    /// Which of both.
    pub direction: Direction,
}

/// Observes the packets of tapped interfaces, for captures.
pub trait Tap {
    /// Called when `packet` passes an interface. A sent packet is observed before its first queue, even if that queue
    /// drops it.
    ///
    /// `mark` is what the tap has noted with the packet when it was sent, 0 before that, and 0 for packets that
    /// middleboxes make of their own accord. Copies of a packet, and what middleboxes make of it, have its mark.
    fn packet(&mut self, passage: Passage, packet: &Packet, mark: &mut u16);
}
