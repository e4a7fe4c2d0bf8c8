//! Fetches from memory what the next events need.
//!
//! In a large network, the links, the packets and the connections of hosts are not in the caches. An event would wait
//! for one after the other: where the first packet of the link is, the packet's next link, the state of that link, the
//! end of its ring. But the next events are known (`event_queue/wheel.rs`). Each of these accesses is made some events
//! ahead, as a prefetch that nobody waits for; the next one can then read what it fetched. Nothing of this changes
//! results.

use crate::event_queue::Event;
use crate::host_table::FarEnd;
use crate::network::LookAhead;
use crate::{Hosts, InterfaceId, Network, PacketId};

/// The event for which the first access is made, counted from the next event.
const FURTHEST: usize = 30;
/// The event of which it is found out where its packet goes.
const FOUND: usize = 14;

/// The packet of an event is for a host. Other values are links.
const HOST: u32 = Event::UNKNOWN - 1;

impl Network {
    /// Prefetches for the next events, if they are known; returns whether they are. Each access is made so many events
    /// ahead that the one before it has been answered.
    #[inline]
    pub(crate) fn look_ahead<H: Hosts>(&mut self, hosts: &mut H) -> bool {
        let Some(events) = self.arrivals.next_events() else { return false };
        if let Some(event) = events.get(FOUND) {
            let found = self.find_out(event.source);
            self.arrivals.note(FOUND, found);
        }
        let Some(events) = self.arrivals.next_events() else { return false };
        // As long as there are so many, none of the accesses has to be checked.
        match events.first_chunk::<{ FURTHEST + 1 }>() {
            Some(events) => self.prefetch_for(hosts, |place| Some(events[place])),
            None => self.prefetch_for(hosts, |place| events.get(place).copied()),
        }
        true
    }

    /// Prefetches for the next events, by their places.
    #[inline(always)]
    fn prefetch_for<H: Hosts>(&self, hosts: &mut H, event_at: impl Fn(usize) -> Option<Event>) {
        if let Some(event) = event_at(FURTHEST) {
            self.links[event.source as usize].prefetch_first();
        }
        if let Some(event) = event_at(24) {
            self.links[event.source as usize].prefetch_delivery();
        }
        if let Some(event) = event_at(18) {
            self.prefetch_content(hosts, event.source);
        }
        if let Some(event) = event_at(FOUND)
            && event.found == HOST
        {
            self.prefetch_for_host(hosts, event.source, LookAhead::Near);
        }
        if let Some(event) = event_at(11)
            && event.found == HOST
        {
            self.prefetch_for_host(hosts, event.source, LookAhead::Nearer);
        }
        if let Some(event) = event_at(8) {
            match self.found(event) {
                Event::UNKNOWN => {}
                HOST => self.prefetch_for_host(hosts, event.source, LookAhead::Nearest),
                next => self.links[next as usize].prefetch_acceptance(),
            }
        }
        if let Some(event) = event_at(4) {
            match self.found(event) {
                Event::UNKNOWN => {}
                HOST => self.prefetch_for_host(hosts, event.source, LookAhead::Next),
                next => self.links[next as usize].prefetch_queue(),
            }
        }
    }

    /// What was found out about `event`, or is found out now if it was inserted after its turn for that.
    #[inline]
    fn found(&self, event: Event) -> u32 {
        if event.found == Event::UNKNOWN { self.find_out(event.source) } else { event.found }
    }

    /// The link that the first packet on `link` takes next, unless the router chooses among several; or [`HOST`].
    #[inline]
    fn find_out(&self, link: u32) -> u32 {
        let link = &self.links[link as usize];
        match link.far_end {
            FarEnd::Router(router) => {
                let next = link.first_parcel().and_then(|parcel| self.routing.sole_next_link(router, &parcel));
                next.unwrap_or(Event::UNKNOWN)
            }
            FarEnd::Interface(_) => HOST,
        }
    }

    /// The way of the packet that is first on `link`, or the packet if it is for a host.
    #[inline]
    fn prefetch_content<H: Hosts>(&self, hosts: &mut H, link: u32) {
        let link = &self.links[link as usize];
        let Some(parcel) = link.first_parcel() else { return };
        match link.far_end {
            FarEnd::Router(router) => self.routing.prefetch_next_link(router, &parcel),
            FarEnd::Interface(interface) => {
                self.packets.prefetch(parcel.packet);
                hosts.look_ahead(self, self.hosts.host(interface), parcel.packet, LookAhead::Far);
            }
        }
    }

    /// What the host needs for the packet that is first on `link`.
    #[inline(never)]
    fn prefetch_for_host<H: Hosts>(&self, hosts: &mut H, link: u32, step: LookAhead) {
        let link = &self.links[link as usize];
        if let FarEnd::Interface(interface) = link.far_end
            && let Some(packet) = link.first_packet()
        {
            if step == LookAhead::Near {
                self.prefetch_answer(interface, packet);
            }
            hosts.look_ahead(self, self.hosts.host(interface), packet, step);
        }
    }

    /// The way of the packets with which a host at `interface` answers `packet`.
    #[inline]
    fn prefetch_answer(&self, interface: InterfaceId, packet: PacketId) {
        if let Some(flows) = &self.routing.flows {
            flows.prefetch_opposite(&self.packets[packet]);
        }
        self.links[self.hosts.interfaces[interface.index()].link.index()].prefetch_acceptance();
    }
}
