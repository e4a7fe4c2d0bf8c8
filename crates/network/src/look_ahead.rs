//! Fetches from memory what the next events need.
//!
//! In a large network, the links, the packets and the connections of hosts are not in the caches. An event would wait
//! for one after the other: where the first packet of the link is, the packet's next link, the state of that link, the
//! end of its ring. But the next events are known (`event_queue/wheel.rs`). Each of these accesses is made some events
//! ahead, as a prefetch that nobody waits for; the next one can then read what it fetched. Nothing of this changes
//! results.

use prefetch_index::prefetch_index;

use crate::host_table::FarEnd;
use crate::link::Link;
use crate::network::LookAhead;
use crate::routing::FlowRoute;
use crate::{Hosts, InterfaceId, Network, PacketId};

/// The event for which the first access is made, counted from the next event.
const FURTHEST: usize = 30;

/// Fetches the first cache line of `value`, for [`Hosts::look_ahead`].
#[inline]
pub fn prefetch<T>(value: &T) {
    prefetch_index(core::slice::from_ref(value), 0);
}

impl Network {
    /// Prefetches for the next events, if they are known; returns whether they are. Each access is made so many events
    /// ahead that the one before it has been answered.
    #[inline]
    pub(crate) fn look_ahead<H: Hosts>(&self, hosts: &mut H) -> bool {
        let Some(events) = self.arrivals.next_events() else { return false };
        // As long as there are so many, none of the accesses has to be checked.
        match events.first_chunk::<{ FURTHEST + 1 }>() {
            Some(events) => self.prefetch_for(hosts, |place| Some(events[place].source)),
            None => self.prefetch_for(hosts, |place| events.get(place).map(|event| event.source)),
        }
        true
    }

    /// Prefetches for the next events, by the places of their sources.
    #[inline(always)]
    fn prefetch_for<H: Hosts>(&self, hosts: &mut H, source_at: impl Fn(usize) -> Option<u32>) {
        if let Some(link) = source_at(FURTHEST) {
            self.links[link as usize].prefetch_first();
        }
        if let Some(link) = source_at(24) {
            self.links[link as usize].prefetch_delivery();
        }
        if let Some(link) = source_at(18) {
            self.prefetch_content(hosts, link);
        }
        if let Some(link) = source_at(12) {
            self.prefetch_for_host(hosts, link, LookAhead::Near);
        }
        if let Some(link) = source_at(8) {
            self.prefetch_for_next_link(link, Link::prefetch_acceptance);
            self.prefetch_for_host(hosts, link, LookAhead::Nearer);
        }
        if let Some(link) = source_at(4) {
            self.prefetch_for_next_link(link, Link::prefetch_queue);
            self.prefetch_for_host(hosts, link, LookAhead::Next);
        }
    }

    /// The way of the packet that is first on `link`, or the packet if it is for a host.
    #[inline]
    fn prefetch_content<H: Hosts>(&self, hosts: &mut H, link: u32) {
        let link = &self.links[link as usize];
        let parcel = link.first_parcel();
        match link.far_end {
            FarEnd::Router(router) => self.routing.prefetch_next_link(router, &parcel),
            FarEnd::Interface(interface) => {
                self.packets.prefetch(parcel.packet);
                hosts.look_ahead(self, self.hosts.host(interface), parcel.packet, LookAhead::Far);
            }
        }
    }

    /// A part of the next link of the packet that is first on `link`.
    #[inline(always)]
    fn prefetch_for_next_link(&self, link: u32, prefetch: impl Fn(&Link)) {
        let link = &self.links[link as usize];
        if let FarEnd::Router(router) = link.far_end
            && let Some(next) = self.routing.sole_next_link(router, &link.first_parcel())
        {
            prefetch(&self.links[next as usize]);
        }
    }

    /// What the host needs for the packet that is first on `link`.
    #[inline(always)]
    fn prefetch_for_host<H: Hosts>(&self, hosts: &mut H, link: u32, step: LookAhead) {
        let link = &self.links[link as usize];
        if let FarEnd::Interface(interface) = link.far_end {
            let packet = link.first_parcel().packet;
            if step == LookAhead::Near {
                self.prefetch_answer(interface, packet);
            }
            hosts.look_ahead(self, self.hosts.host(interface), packet, step);
        }
    }

    /// The way of the packets with which a host at `interface` answers `packet`.
    #[inline]
    fn prefetch_answer(&self, interface: InterfaceId, packet: PacketId) {
        if let Some(flows) = &self.routing.flows
            && let Some(FlowRoute { route, .. }) = flows.find_opposite(&self.packets[packet])
            && let Some(index) = route.index()
        {
            prefetch_index(&self.routing.listed, index);
        }
        self.links[self.hosts.interfaces[interface.index()].link.index()].prefetch_acceptance();
    }
}
