//! The event loop: a packet's way from host to host.

use subflow_quantity::{Duration, Instant};
use subflow_wire::Packet;

use crate::host_table::FarEnd;
use crate::link::{Descriptor, Fate};
use crate::{Direction, HostId, Hosts, InterfaceId, LinkId, Network, PacketId};

impl Network {
    /// Sends `packet` from `interface` of `host`. If nobody else has its destination address, no route leads there, or
    /// the hosts may not talk, it is counted and dropped. Its source address is not looked at: [`Self::interface_with`]
    /// finds the interface that goes with it.
    pub fn transmit(&mut self, host: HostId, interface: InterfaceId, packet: Packet) {
        let sender = self.hosts.interfaces[interface.index()];
        debug_assert_eq!(sender.host, host, "{interface:?} belongs to another host");
        self.counters.transmitted += 1;
        if sender.tapped {
            self.show(interface, Direction::Out, &packet);
        }
        let destination = self
            .hosts
            .addresses
            .interface(packet.ip.destination)
            .filter(|&to| self.hosts.conversations.allows(host, self.hosts.host(to)));
        let Some(destination) = destination else {
            self.counters.dropped_unroutable += 1;
            return;
        };
        let size = u16::try_from(packet.wire_length()).expect("an IP packet of at most 65535 bytes");
        let id = PacketId(self.packets.insert(packet) as u32);
        self.enqueue(sender.link.0, self.now, id, destination.0, size);
    }

    /// Processes all events until `end`, those at `end` included, and sets the clock to `end`. An `end` in the past does
    /// nothing.
    pub fn run_until<H: Hosts>(&mut self, hosts: &mut H, end: Instant) {
        if end < self.now {
            return;
        }
        let after_end = end.saturating_add(Duration::from_nanos(1));
        while let Some((&key, _)) = self.changes.first_key_value()
            && key.0 <= end
        {
            self.run_before(hosts, key.0);
            self.now = key.0;
            if let Some((link, change)) = self.changes.remove(&key) {
                self.change(link, change);
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
                self.forward(link as u32);
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
                    self.pass_on(hosts, link.0, packet);
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

    /// The first packet on `link` arrives.
    fn deliver<H: Hosts>(&mut self, hosts: &mut H, index: u32) {
        let link = &mut self.links[index as usize];
        let packet = link.deliver();
        self.arrivals.set(index, link.next_arrival());
        if packet.lost {
            self.release(packet.packet);
            return;
        }
        if let Some(disturbance) = &mut link.disturbance
            && let Some(extra_delay) = disturbance.holds_back()
        {
            self.stragglers.push(self.now + extra_delay, LinkId(index), packet);
            return;
        }
        self.pass_on(hosts, index, packet);
    }

    /// `packet` is at the far end of `link`, twice if the link so decides.
    fn pass_on<H: Hosts>(&mut self, hosts: &mut H, index: u32, packet: Descriptor) {
        let link = &mut self.links[index as usize];
        let far_end = link.far_end;
        if let Some(disturbance) = &mut link.disturbance
            && disturbance.duplicates()
        {
            let copy = self.packets[packet.packet.index()].clone();
            let copy = PacketId(self.packets.insert(copy) as u32);
            self.counters.duplicated += 1;
            self.arrive(hosts, far_end, Descriptor { packet: copy, ..packet });
        }
        self.arrive(hosts, far_end, packet);
    }

    /// `packet` is at a node.
    #[inline]
    fn arrive<H: Hosts>(&mut self, hosts: &mut H, at: FarEnd, packet: Descriptor) {
        match at {
            FarEnd::Router(router) => self.route(router, self.now, packet),
            FarEnd::Interface(interface) => self.arrive_at_host(hosts, interface, packet),
        }
    }

    fn arrive_at_host<H: Hosts>(&mut self, hosts: &mut H, interface: InterfaceId, packet: Descriptor) {
        let receiver = self.hosts.interfaces[interface.index()];
        // A host has all its addresses on all its interfaces (the weak host model, as Linux), but passes nothing on.
        if self.hosts.host(InterfaceId(packet.destination)) != receiver.host {
            self.counters.dropped_unroutable += 1;
            self.release(packet.packet);
            return;
        }
        self.counters.delivered += 1;
        if receiver.tapped
            && let Some(tap) = &mut self.tap
        {
            let content = &self.packets[packet.packet.index()];
            tap.packet(self.now, receiver.host, interface, Direction::In, content);
        }
        hosts.handle_packet(self, receiver.host, interface, packet.packet);
    }

    /// `packet` comes to `router` at `at` and goes on.
    #[inline(always)]
    fn route(&mut self, router: u32, at: Instant, packet: Descriptor) {
        match self.routes.next(router, packet.destination) {
            Some(link) => self.enqueue(link, at, packet.packet, packet.destination, packet.size),
            None => {
                self.counters.dropped_unroutable += 1;
                self.release(packet.packet);
            }
        }
    }

    /// A packet comes to link `index` at `at`.
    #[inline(always)]
    fn enqueue(&mut self, index: u32, at: Instant, packet: PacketId, destination: u32, size: u16) {
        let link = &mut self.links[index as usize];
        match link.accept(at, packet, destination, size) {
            Fate::Dropped => self.release(packet),
            _ if link.is_fused() => self.forward(index),
            Fate::First(arrival) => self.arrivals.enter(index, arrival),
            Fate::Behind => {}
        }
    }

    /// Passes on what arrives before the horizon at the far end of `index`, a fused link.
    fn forward(&mut self, index: u32) {
        let FarEnd::Router(router) = self.links[index as usize].far_end else { return };
        loop {
            let link = &mut self.links[index as usize];
            if link.next_arrival().is_none_or(|at| at >= self.horizon) {
                return;
            }
            let packet = link.deliver();
            if packet.lost {
                self.release(packet.packet);
            } else {
                self.route(router, packet.arrival, packet);
            }
        }
    }

    fn show(&mut self, interface: InterfaceId, direction: Direction, packet: &Packet) {
        let host = self.hosts.host(interface);
        if let Some(tap) = &mut self.tap {
            tap.packet(self.now, host, interface, direction, packet);
        }
    }
}
