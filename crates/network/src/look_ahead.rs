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

/// Set in what was found out about an event whose packet is for a host: the other bits are the packet's number. Without
/// it, they are the packet's next link.
const HOST: u32 = 1 << 31;

/// The packet that is for a host, according to what was found out about its event.
#[inline(always)]
fn for_host(found: u32) -> Option<PacketId> {
    (found & HOST != 0 && found != Event::UNKNOWN).then_some(PacketId(found & !HOST))
}

impl Network {
    /// Prefetches for the next events, if they are known; returns whether they are. Each access is made so many events
    /// ahead that the one before it has been answered.
    #[inline(always)]
    pub(crate) fn look_ahead<H: Hosts>(&mut self, hosts: &mut H) -> bool {
        let is_known = self.arrivals.next_events().is_some();
        if is_known {
            self.prefetch_ahead(hosts);
        }
        is_known
    }

    /// Not a part of the event loop, whose registers it would take.
    #[inline(never)]
    fn prefetch_ahead<H: Hosts>(&mut self, hosts: &mut H) {
        let Some(events) = self.arrivals.next_events() else { return };
        // As long as there are so many, none of the accesses has to be checked.
        let found = match events.first_chunk::<{ FURTHEST + 1 }>() {
            Some(events) => self.prefetch_for(hosts, |place| Some(events[place])),
            None => self.prefetch_for_few(hosts, events),
        };
        self.arrivals.note(FOUND, found);
    }

    #[inline(never)]
    fn prefetch_for_few<H: Hosts>(&self, hosts: &mut H, events: &[Event]) -> u32 {
        self.prefetch_for(hosts, |place| events.get(place).copied())
    }

    /// Prefetches for the next events, by their places. Returns what is found out about the event at [`FOUND`].
    #[inline(always)]
    fn prefetch_for<H: Hosts>(&self, hosts: &mut H, event_at: impl Fn(usize) -> Option<Event>) -> u32 {
        if let Some(event) = event_at(FURTHEST) {
            self.links[event.source as usize].prefetch_first();
        }
        if let Some(event) = event_at(24) {
            self.links[event.source as usize].prefetch_delivery();
        }
        if let Some(event) = event_at(18) {
            self.prefetch_content(hosts, event.source);
        }
        let mut found = Event::UNKNOWN;
        if let Some(event) = event_at(FOUND) {
            found = self.find_out(event.source);
            if let Some(packet) = for_host(found) {
                self.prefetch_for_host(hosts, event.source, packet, LookAhead::Near);
            }
        }
        if let Some(event) = event_at(11)
            && let Some(packet) = for_host(event.found)
        {
            self.prefetch_for_host(hosts, event.source, packet, LookAhead::Nearer);
        }
        if let Some(event) = event_at(8) {
            match self.found(event) {
                Event::UNKNOWN => {}
                found => match for_host(found) {
                    Some(packet) => self.prefetch_for_host(hosts, event.source, packet, LookAhead::Nearest),
                    None => self.links[found as usize].prefetch_acceptance(),
                },
            }
        }
        if let Some(event) = event_at(4) {
            match self.found(event) {
                Event::UNKNOWN => {}
                found => match for_host(found) {
                    Some(packet) => self.prefetch_for_host(hosts, event.source, packet, LookAhead::Next),
                    None => self.links[found as usize].prefetch_queue(),
                },
            }
        }
        found
    }

    /// What was found out about `event`, or is found out now if it was inserted after its turn for that.
    #[inline(always)]
    fn found(&self, event: Event) -> u32 {
        if event.found == Event::UNKNOWN { self.find_out_late(event.source) } else { event.found }
    }

    #[inline(never)]
    fn find_out_late(&self, link: u32) -> u32 {
        self.find_out(link)
    }

    /// The link that the first packet on `link` takes next, unless the router chooses among several; or the packet, if
    /// it is for a host.
    #[inline(always)]
    fn find_out(&self, link: u32) -> u32 {
        let link = &self.links[link as usize];
        let Some(parcel) = link.first_parcel() else { return Event::UNKNOWN };
        match link.far_end {
            FarEnd::Router(router) => self.routing.sole_next_link(router, &parcel).unwrap_or(Event::UNKNOWN),
            FarEnd::Interface(_) => parcel.packet.0 | HOST,
        }
    }

    /// The way of the packet that is first on `link`, or the packet if it is for a host.
    #[inline(always)]
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

    /// What the host at the far end of `link` needs for `packet`, which is the first on the link.
    #[inline(always)]
    fn prefetch_for_host<H: Hosts>(&self, hosts: &mut H, link: u32, packet: PacketId, step: LookAhead) {
        if let FarEnd::Interface(interface) = self.links[link as usize].far_end {
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
