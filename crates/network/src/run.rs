//! The event loop, which moves packets from host to host.

use core::ops::ControlFlow;

use subflow_quantity::{Duration, Instant};
use subflow_wire::Packet;

use crate::host_table::FarEnd;
use crate::ids::{FlowRoute, PacketRoute};
use crate::link::{Late, Parcel};
use crate::network::Change;
use crate::routing::FlowStart;
use crate::{Direction, HostId, Hosts, InterfaceId, LinkId, Network, PacketId, Passage, Stop};

/// The number of events between two looks at the request to stop: some hundredths of a second of CPU time.
const EVENTS_PER_LOOK: u64 = 1 << 16;

impl Network {
    /// Sends `packet` from `interface` of `host`. It is dropped and counted as unroutable if no other host has its
    /// destination address, there is no route, or the hosts may not exchange packets. The source address is not
    /// checked; [`Self::interface_with`] returns the interface that has it.
    pub fn transmit(&mut self, host: HostId, interface: InterfaceId, packet: Packet) {
        let id = self.reserve();
        self.packets[id] = packet;
        self.transmit_reserved(host, interface, id);
    }

    /// [`Self::transmit`] for a packet in a [reserved](Self::reserve) slot. The network owns the slot again.
    pub fn transmit_reserved(&mut self, host: HostId, interface: InterfaceId, id: PacketId) {
        let sender = self.hosts.interfaces[interface.index()];
        debug_assert_eq!(sender.host, host, "{interface:?} belongs to another host");
        self.counters.transmitted += 1;
        self.reserved -= 1;
        if sender.observed {
            self.observe_sent(host, interface, id);
        }
        if self.packets.has_overflowed() {
            return self.release(id);
        }
        let packet = &self.packets[id];
        let size = u16::try_from(packet.wire_length()).expect("an IP packet of at most 65535 bytes");
        // A flow that is known needs no look-up of its destination.
        let known = self.routing.flows.as_mut().and_then(|flows| flows.find(packet));
        let flow = match known {
            Some(known) => known,
            None => self.route_of(interface, sender.link, id),
        };
        let Some(FlowRoute { route, hash }) = flow else { return self.drop_unroutable(id) };
        self.enqueue(sender.link.0, self.now, Parcel { packet: id, route, size, hash });
    }

    /// Passes a packet that is sent to the tap, if that observes the interface, and notes its mark.
    #[cold]
    fn observe_sent(&mut self, host: HostId, interface: InterfaceId, id: PacketId) {
        let mut mark = 0;
        if self.hosts.interfaces[interface.index()].is_tapped()
            && let Some(tap) = &mut self.tap
        {
            let passage = Passage { time: self.now, host, interface, direction: Direction::Out };
            tap.packet(passage, &self.packets[id], &mut mark);
        }
        self.packets.set_mark(id, mark);
    }

    /// Passes a packet that arrives to the tap, if that observes the interface, and counts it for a radio.
    #[cold]
    fn observe_received(&mut self, host: HostId, interface: InterfaceId, parcel: Parcel) {
        self.count_received(interface, parcel.size.into());
        if self.hosts.interfaces[interface.index()].is_tapped()
            && let Some(tap) = &mut self.tap
        {
            let passage = Passage { time: self.now, host, interface, direction: Direction::In };
            tap.packet(passage, &self.packets[parcel.packet], &mut self.packets.mark(parcel.packet));
        }
    }

    /// The route of packet `id`, from `interface`, which sends on `link`, if its flow is not known.
    fn route_of(&mut self, interface: InterfaceId, link: LinkId, id: PacketId) -> Option<FlowRoute> {
        let destination = self.hosts.destination(interface, self.packets[id].ip.destination)?;
        match &self.routing.flows {
            None => Some(FlowRoute { route: PacketRoute::to(destination), hash: 0 }),
            Some(_) => self.begin_flow(link, destination, id),
        }
    }

    /// The route of a new flow whose first packet is `id`, from a host that sends on `link`, to `destination`.
    #[cold]
    fn begin_flow(&mut self, link: LinkId, destination: InterfaceId, id: PacketId) -> Option<FlowRoute> {
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

    /// Processes all events up to and including `end`, and sets the clock to `end`. An `end` in the past has no effect.
    /// The clock ends after 52 days with up to 4096 link directions, half of that with each doubling.
    ///
    /// Where the network has a [request to stop](crate::TopologyBuilder::stop_on), the run ends soon after it, somewhere
    /// before `end`; the network is not to be used any more then.
    pub fn run_until<H: Hosts>(&mut self, hosts: &mut H, end: Instant) {
        if end < self.now || self.is_stopped() {
            return;
        }
        let after_end = end.saturating_add(Duration::from_nanos(1));
        assert!(after_end <= self.arrivals.end_of_time(), "a run until {end:?}, which is after the end of the clock");
        let fused = self.fused_links();
        if self.advance_before(hosts, after_end, &fused).is_continue() {
            self.end_run(end);
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(Stop::is_requested)
    }

    /// The links that are fused with those that follow them. Only changes between runs unfuse links.
    pub(crate) fn fused_links(&self) -> Vec<u32> {
        (0..self.links.len() as u32).filter(|&link| self.links[link as usize].is_fused()).collect()
    }

    /// Sets the clock to `end`, up to which all events have been processed.
    pub(crate) fn end_run(&mut self, end: Instant) {
        self.now = end;
        for link in &mut self.links {
            link.catch_up(end);
        }
    }

    /// Processes all changes and events before `horizon`, unless it is asked to stop; `fused` are the links that are fused.
    pub(crate) fn advance_before<H: Hosts>(
        &mut self,
        hosts: &mut H,
        horizon: Instant,
        fused: &[u32],
    ) -> ControlFlow<()> {
        while let Some((&key, _)) = self.changes.first_key_value()
            && key.0 < horizon
        {
            self.run_before(hosts, key.0, fused)?;
            self.now = key.0;
            match self.changes.remove(&key) {
                Some(Change::Link(link, change)) => self.change(link, change),
                Some(Change::Routes) => self.reroute(),
                None => {}
            }
        }
        self.run_before(hosts, horizon, fused)
    }

    /// Recomputes the routes without the links that are down.
    fn reroute(&mut self) {
        let routing = &mut self.routing;
        let mut down = routing.graph.no_links();
        for edge in routing.graph.edges().filter(|&edge| !self.links[edge as usize].is_up()) {
            down.set(edge, true);
        }
        let tables = routing.rules.tables(&routing.wiring, &routing.graph, &down, self.stop.as_ref());
        // Without them the run is about to end.
        let Some(tables) = tables else { return };
        routing.tables = tables;
        if let Some(flows) = &mut routing.flows {
            flows.reroute(|edge| down.has(edge), (&routing.tables, &routing.graph), &mut routing.listed);
        }
    }

    /// Processes all events before `horizon`, unless it is asked to stop.
    fn run_before<H: Hosts>(&mut self, hosts: &mut H, horizon: Instant, fused: &[u32]) -> ControlFlow<()> {
        self.horizon = horizon;
        for &link in fused {
            self.pass_on_until_horizon(link);
        }
        loop {
            // At the same instant packets come before timers: an acknowledgment at the instant of a timeout is in time.
            let (arrival, late_packet, timer) =
                (self.arrivals.first_at(), self.late_packets.first_at(), self.timers.first_at());
            self.counters.events += 1;
            if self.counters.events.is_multiple_of(EVENTS_PER_LOOK) && self.is_stopped() {
                return ControlFlow::Break(());
            }
            if arrival < horizon && arrival <= late_packet && arrival <= timer {
                self.now = arrival;
                self.deliver(hosts, self.arrivals.first_source());
            } else if late_packet < horizon && late_packet <= timer {
                debug_assert!(late_packet >= self.now, "time does not run backwards");
                self.now = late_packet;
                match self.late_packets.pop() {
                    Some(Late::Packet(link, packet)) => self.arrive_with_copy(hosts, link.0, packet),
                    Some(Late::Error(interface, error)) => hosts.handle_icmp(self, interface, &error),
                    Some(Late::Held(link, ticket)) => self.end_waiting(link.0, ticket),
                    Some(Late::Access(access)) => self.access_channel(hosts, access),
                    None => {}
                }
            } else if timer < horizon {
                self.now = timer;
                if let Some(timer) = self.timers.expire_first() {
                    hosts.handle_timer(self, timer);
                }
            } else {
                self.counters.events -= 1;
                return ControlFlow::Continue(());
            }
        }
    }

    /// Processes the arrival of the first packet on link `index`.
    #[inline]
    fn deliver<H: Hosts>(&mut self, hosts: &mut H, index: u32) {
        let looked_ahead = self.look_ahead(hosts);
        let link = &mut self.links[index as usize];
        if !link.is_plain() {
            return self.process_event_of(hosts, index);
        }
        let (packet, lost) = link.deliver();
        self.arrivals.replace_first(index, link.next_arrival());
        if !looked_ahead
            && matches!(link.far_end, FarEnd::Interface(_))
            && let Some(next) = link.first_packet()
        {
            // The host will read it later. With many packets it would not be in the cache.
            self.packets.prefetch(next);
        }
        match lost {
            true => self.release(packet.packet),
            false => self.arrive(hosts, index, packet),
        }
    }

    /// Processes `packet`, which was the first on link `index`, at its far end.
    pub(crate) fn leave<H: Hosts>(&mut self, hosts: &mut H, index: u32, packet: Parcel, lost: bool) {
        if lost {
            self.release(packet.packet);
        } else if self.links[index as usize].disturbance().is_some() {
            self.disturb(hosts, index, packet);
        } else {
            self.arrive(hosts, index, packet);
        }
    }

    /// Processes the arrival over a link that may delay the packet further.
    #[cold]
    fn disturb<H: Hosts>(&mut self, hosts: &mut H, index: u32, packet: Parcel) {
        let disturbance = self.links[index as usize].disturbance();
        match disturbance.and_then(|disturbance| disturbance.holds_back()) {
            Some(extra_delay) => self.late_packets.push(self.now + extra_delay, LinkId(index), packet),
            None => self.arrive_with_copy(hosts, index, packet),
        }
    }

    /// Processes the arrival over a link that may duplicate the packet.
    #[cold]
    fn arrive_with_copy<H: Hosts>(&mut self, hosts: &mut H, index: u32, packet: Parcel) {
        let disturbance = self.links[index as usize].disturbance();
        if disturbance.is_some_and(|disturbance| disturbance.duplicates()) {
            let copy = self.packets[packet.packet].clone();
            let copy = self.packets.insert_with_mark_of(copy, packet.packet);
            self.counters.duplicated += 1;
            hosts.handle_copy(self, packet.packet, copy);
            self.arrive(hosts, index, Parcel { packet: copy, ..packet });
        }
        self.arrive(hosts, index, packet);
    }

    /// Processes `packet` at the far end of link `index`.
    #[inline(always)]
    fn arrive<H: Hosts>(&mut self, hosts: &mut H, index: u32, packet: Parcel) {
        match self.links[index as usize].far_end {
            FarEnd::Router(router) => self.route(router, packet),
            FarEnd::Interface(interface) => self.arrive_at_host(hosts, interface, packet),
        }
    }

    fn arrive_at_host<H: Hosts>(&mut self, hosts: &mut H, interface: InterfaceId, packet: Parcel) {
        let receiver = self.hosts.interfaces[interface.index()];
        // A host accepts all its addresses on all its interfaces (the weak host model, as in Linux), but does not
        // forward. A listed route always leads to the destination.
        let leads_here = |destination| destination == interface || self.hosts.host(destination) == receiver.host;
        if !packet.route.destination().is_none_or(leads_here) {
            return self.drop_unroutable(packet.packet);
        }
        self.counters.delivered += 1;
        if receiver.watched {
            self.observe_received(receiver.host, interface, packet);
        }
        hosts.handle_packet(self, receiver.host, interface, packet.packet);
    }

    /// Forwards `packet` at `router`.
    #[inline(always)]
    fn route(&mut self, router: u32, mut packet: Parcel) {
        match self.routing.next_link(router, &mut packet) {
            Some(link) => self.enqueue(link, self.now, packet),
            None => self.drop_unroutable(packet.packet),
        }
    }

    /// Adds `packet` to link `index` at `at`. Over fused links it is passed on at once, as long as it arrives before
    /// the horizon.
    #[inline(always)]
    fn enqueue(&mut self, index: u32, at: Instant, packet: Parcel) {
        let (mut index, mut at, mut packet) = (index, at, packet);
        loop {
            let link = &mut self.links[index as usize];
            let Some(accepted) = link.accept(at, packet, &mut self.packets) else {
                return self.refuse(index, packet);
            };
            if !link.passes_on() {
                if accepted.first {
                    self.arrivals.insert(index, accepted.arrival);
                }
                return;
            }
            if accepted.arrival >= self.horizon {
                // At another part every packet arrives after the horizon, which is less than a lookahead away.
                if link.is_exported() {
                    self.export(index, packet, accepted);
                }
                return;
            }
            if !accepted.first {
                // Only at the start of a run: earlier packets wait for the horizon to move.
                return self.pass_on_until_horizon(index);
            }
            link.deliver_known(packet.size, accepted.lost);
            let Some(next) = self.pass_on(index, &mut packet, accepted.lost) else { return };
            (index, at) = (next, accepted.arrival);
        }
    }

    /// Processes `packet`, which link `index` has not accepted at once: it drops the packet, or has a backlog or
    /// middleboxes.
    #[inline(never)]
    fn refuse(&mut self, index: u32, packet: Parcel) {
        match self.links[index as usize].decides_at_once() {
            true => self.release(packet.packet),
            false => self.enqueue_apart(index, packet),
        }
    }

    /// Passes on the packets that arrive before the horizon over the fused link `index` and were not passed on earlier
    /// because they arrive after the previous horizon.
    fn pass_on_until_horizon(&mut self, index: u32) {
        loop {
            let arrival = self.links[index as usize].next_arrival();
            if arrival >= self.horizon {
                return;
            }
            let (mut packet, lost) = self.links[index as usize].deliver();
            if let Some(next) = self.pass_on(index, &mut packet, lost) {
                self.enqueue(next, arrival, packet);
            }
        }
    }

    /// The next link of `packet` after the fused link `index`; `None` if the packet is lost or has no route.
    #[inline(always)]
    fn pass_on(&mut self, index: u32, packet: &mut Parcel, lost: bool) -> Option<u32> {
        if lost {
            self.release(packet.packet);
            return None;
        }
        let FarEnd::Router(router) = self.links[index as usize].far_end else {
            unreachable!("only links to routers are fused")
        };
        let next = self.routing.next_link(router, packet);
        if next.is_none() {
            self.drop_unroutable(packet.packet);
        }
        next
    }

    fn drop_unroutable(&mut self, packet: PacketId) {
        self.counters.dropped_unroutable += 1;
        self.release(packet);
    }
}
