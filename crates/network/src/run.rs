//! The event loop: a packet's way from host to host.

use subflow_quantity::{Duration, Instant};
use subflow_wire::Packet;

use crate::host_table::FarEnd;
use crate::link::Parcel;
use crate::network::Change;
use crate::routing::{FlowWay, Way};
use crate::{Direction, HostId, Hosts, InterfaceId, LinkId, Network, PacketId};

impl Network {
    /// Sends `packet` from `interface` of `host`. If nobody else has its destination address, no route leads there, or
    /// the hosts may not talk, it is counted and dropped. Its source address is not looked at: [`Self::interface_with`]
    /// finds the interface that goes with it.
    pub fn transmit(&mut self, host: HostId, interface: InterfaceId, packet: Packet) {
        let id = self.reserve();
        self.packets[id] = packet;
        self.transmit_reserved(host, interface, id);
    }

    /// [`Self::transmit`] for a packet built in a [reserved](Self::reserve) place, which is the network's again.
    pub fn transmit_reserved(&mut self, host: HostId, interface: InterfaceId, id: PacketId) {
        let sender = self.hosts.interfaces[interface.index()];
        debug_assert_eq!(sender.host, host, "{interface:?} belongs to another host");
        self.counters.transmitted += 1;
        self.reserved -= 1;
        if sender.tapped
            && let Some(tap) = &mut self.tap
        {
            tap.packet(self.now, host, interface, Direction::Out, &self.packets[id]);
        }
        let packet = &self.packets[id];
        let Some(destination) = self.hosts.destination(interface, packet.ip.destination) else {
            self.counters.dropped_unroutable += 1;
            return self.release(id);
        };
        let size = u16::try_from(packet.wire_length()).expect("an IP packet of at most 65535 bytes");
        let flow = match &self.routing.flows {
            None => Some(FlowWay { way: Way::to(destination), hash: 0 }),
            Some(flows) => match flows.find(packet) {
                Some(known) => known,
                None => self.begin_flow(sender.link, destination, id),
            },
        };
        let Some(FlowWay { way, hash }) = flow else { return self.drop_unroutable(id) };
        self.enqueue(sender.link.0, self.now, Parcel { packet: id, way, size, hash });
    }

    /// Processes all events until `end`, those at `end` included, and sets the clock to `end`. An `end` in the past
    /// does nothing. The clock has its end, after 52 days with up to 4096 directions of links and half of that with
    /// each doubling.
    pub fn run_until<H: Hosts>(&mut self, hosts: &mut H, end: Instant) {
        if end < self.now {
            return;
        }
        let after_end = end.saturating_add(Duration::from_nanos(1));
        assert!(after_end <= self.arrivals.end_of_time(), "a run until {end:?}, which is after the end of the clock");
        while let Some((&key, _)) = self.changes.first_key_value()
            && key.0 <= end
        {
            self.run_before(hosts, key.0);
            self.now = key.0;
            match self.changes.remove(&key) {
                Some(Change::Link(link, change)) => self.change(link, change),
                Some(Change::Routes) => self.reroute(),
                None => {}
            }
        }
        self.run_before(hosts, after_end);
        self.now = end;
        for link in &mut self.links {
            link.catch_up(end);
        }
    }

    /// Processes all events before `horizon`.
    fn run_before<H: Hosts>(&mut self, hosts: &mut H, horizon: Instant) {
        self.horizon = horizon;
        for link in 0..self.links.len() {
            if self.links[link].is_fused() {
                self.pass_on_until_horizon(link as u32);
            }
        }
        loop {
            // At the same instant packets come before timers: an acknowledgment that comes just in time is in time.
            let (arrival, straggler, timer) =
                (self.arrivals.first_at(), self.stragglers.first_at(), self.timers.first_at());
            self.counters.events += 1;
            if arrival < horizon && arrival <= straggler && arrival <= timer {
                self.now = arrival;
                self.deliver(hosts, self.arrivals.first_source());
            } else if straggler < horizon && straggler <= timer {
                self.now = straggler;
                if let Some((link, packet)) = self.stragglers.pop() {
                    self.arrive_with_copy(hosts, link.0, packet);
                }
            } else if timer < horizon {
                self.now = timer;
                if let Some(timer) = self.timers.expire_first() {
                    hosts.handle_timer(self, timer);
                }
            } else {
                self.counters.events -= 1;
                return;
            }
        }
    }

    /// The first packet on link `index` arrives.
    #[inline]
    fn deliver<H: Hosts>(&mut self, hosts: &mut H, index: u32) {
        let link = &mut self.links[index as usize];
        let (packet, lost) = link.deliver();
        self.arrivals.set(index, link.next_arrival());
        if matches!(link.far_end, FarEnd::Interface(_))
            && let Some(next) = link.first_packet()
        {
            // The host will read it, a while from now: not from memory, where there are too many packets for the cache.
            self.packets.prefetch(next);
        }
        if lost {
            self.release(packet.packet);
        } else if link.disturbance().is_some() {
            self.disturb(hosts, index, packet);
        } else {
            self.arrive(hosts, index, packet);
        }
    }

    /// A packet arrives over a link that may hold it back.
    #[cold]
    fn disturb<H: Hosts>(&mut self, hosts: &mut H, index: u32, packet: Parcel) {
        let disturbance = self.links[index as usize].disturbance();
        match disturbance.and_then(|disturbance| disturbance.holds_back()) {
            Some(extra_delay) => self.stragglers.push(self.now + extra_delay, LinkId(index), packet),
            None => self.arrive_with_copy(hosts, index, packet),
        }
    }

    /// A packet arrives over a link that may duplicate it.
    #[cold]
    fn arrive_with_copy<H: Hosts>(&mut self, hosts: &mut H, index: u32, packet: Parcel) {
        let disturbance = self.links[index as usize].disturbance();
        if disturbance.is_some_and(|disturbance| disturbance.duplicates()) {
            let copy = self.packets[packet.packet].clone();
            let copy = self.packets.insert(copy);
            self.counters.duplicated += 1;
            hosts.handle_copy(self, packet.packet, copy);
            self.arrive(hosts, index, Parcel { packet: copy, ..packet });
        }
        self.arrive(hosts, index, packet);
    }

    /// `packet` is at the far end of link `index`.
    #[inline(always)]
    fn arrive<H: Hosts>(&mut self, hosts: &mut H, index: u32, packet: Parcel) {
        match self.links[index as usize].far_end {
            FarEnd::Router(router) => self.route(router, packet),
            FarEnd::Interface(interface) => self.arrive_at_host(hosts, interface, packet),
        }
    }

    fn arrive_at_host<H: Hosts>(&mut self, hosts: &mut H, interface: InterfaceId, packet: Parcel) {
        let receiver = self.hosts.interfaces[interface.index()];
        // A host has all its addresses on all its interfaces (the weak host model, as Linux), but passes nothing on.
        // A listed way leads where it should.
        if packet.way.destination().is_some_and(|destination| self.hosts.host(destination) != receiver.host) {
            return self.drop_unroutable(packet.packet);
        }
        self.counters.delivered += 1;
        if receiver.tapped
            && let Some(tap) = &mut self.tap
        {
            let content = &self.packets[packet.packet];
            tap.packet(self.now, receiver.host, interface, Direction::In, content);
        }
        hosts.handle_packet(self, receiver.host, interface, packet.packet);
    }

    /// `packet` comes to `router` and goes on.
    #[inline(always)]
    fn route(&mut self, router: u32, mut packet: Parcel) {
        match self.routing.next_link(router, &mut packet) {
            Some(link) => self.enqueue(link, self.now, packet),
            None => self.drop_unroutable(packet.packet),
        }
    }

    /// `packet` comes to link `index` at `at`. Over fused links it goes on at once, as long as it arrives before the
    /// horizon.
    #[inline(always)]
    fn enqueue(&mut self, index: u32, at: Instant, packet: Parcel) {
        let (mut index, mut at, mut packet) = (index, at, packet);
        loop {
            let link = &mut self.links[index as usize];
            let Some(accepted) = link.accept(at, packet) else {
                return self.release(packet.packet);
            };
            if !link.is_fused() {
                if accepted.first {
                    self.arrivals.enter(index, accepted.arrival);
                }
                return;
            }
            if accepted.arrival >= self.horizon {
                return;
            }
            if !accepted.first {
                // Only at the beginning of a run: those before it have been waiting for the horizon to move.
                return self.pass_on_until_horizon(index);
            }
            link.deliver_known(packet.size, accepted.lost);
            let Some(next) = self.pass_on(index, &mut packet, accepted.lost) else { return };
            (index, at) = (next, accepted.arrival);
        }
    }

    /// Passes on what arrives before the horizon at the far end of `index`, a fused link, and was not passed on when it
    /// came because the horizon was nearer then.
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

    /// The link that `packet` comes to behind `index`, a fused link; none, if it does not get there.
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
