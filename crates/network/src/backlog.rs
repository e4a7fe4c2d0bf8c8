//! Packets at links that do not decide at once: their packets wait in a backlog (`link/departures.rs`), or the link is down.

use subflow_quantity::Instant;

use crate::link::Parcel;
use crate::{Hosts, Network};

impl Network {
    /// Adds `packet`, which comes now, to link `index`.
    #[inline(never)]
    pub(crate) fn enqueue_in_backlog(&mut self, index: u32, packet: Parcel) {
        let link = &mut self.links[index as usize];
        if !link.is_up() {
            return link.refuse(packet, &mut self.packets);
        }
        let before = link.next_event();
        link.enqueue(self.now, packet, &mut self.packets);
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
            return self.arrivals.replace_first(index, next);
        }
        let (packet, lost) = link.deliver();
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
