//! Links that do more with a packet than to decide about it when it comes: they have middleboxes, a backlog, or delays
//! that differ from packet to packet.

use subflow_quantity::Instant;

use crate::link::Parcel;
use crate::{Hosts, Network};

impl Network {
    /// Adds `packet`, which comes now, to link `index`, which has a backlog or middleboxes, or is down.
    #[inline(never)]
    pub(crate) fn enqueue_apart(&mut self, index: u32, packet: Parcel) {
        let link = &mut self.links[index as usize];
        if !link.is_up() {
            return link.refuse(self.now, packet, &mut self.packets);
        }
        if link.has_middleboxes() {
            return self.pass_middleboxes(index, packet);
        }
        self.wait_in_backlog(index, packet);
    }

    /// Adds `packet`, which comes now, to the backlog of link `index`.
    pub(crate) fn wait_in_backlog(&mut self, index: u32, packet: Parcel) {
        let link = &mut self.links[index as usize];
        let before = link.next_event();
        link.enqueue(self.now, packet, &mut self.packets);
        self.update_event_of(index, before);
        self.contend(index);
    }

    /// The event of link `index` may have moved from `before`.
    #[inline]
    pub(crate) fn update_event_of(&mut self, index: u32, before: Instant) {
        match self.next_event_of(index) {
            same if same == before => {}
            new if before == Instant::MAX => self.arrivals.insert(index, new),
            moved => self.arrivals.set(index, moved),
        }
    }

    /// Processes the event of link `index` that is due: the start of a transmission or an arrival.
    #[inline(never)]
    pub(crate) fn process_event_of<H: Hosts>(&mut self, hosts: &mut H, index: u32) {
        let link = &mut self.links[index as usize];
        if link.next_start() <= self.now {
            link.start_transmissions(self.now, &mut self.packets);
            let next = self.next_event_of(index);
            self.arrivals.replace_first(index, next);
            return self.report_departures(hosts, index);
        }
        let has_radio = link.has_radio();
        if has_radio {
            self.count_sent(index);
        }
        let link = &mut self.links[index as usize];
        let (packet, lost) = link.deliver();
        if has_radio {
            link.forget_counted();
        }
        self.arrivals.replace_first(index, link.next_event());
        self.leave(hosts, index, packet, lost);
    }

    /// The next event of link `index`, after packets whose transmission has started were handed over if its far end is
    /// in another part of the network.
    fn next_event_of(&mut self, index: u32) -> Instant {
        while self.links[index as usize].is_exported()
            && let Some((parcel, accepted)) = self.links[index as usize].first_to_hand_over()
        {
            self.export(index, parcel, accepted);
        }
        self.links[index as usize].next_event()
    }
}
