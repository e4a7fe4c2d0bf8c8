//! Packets that cross from one part of a network to another.

use super::{Batch, Crossing};
use crate::Network;
use crate::host_table::FarEnd;
use crate::ids::PacketRoute;
use crate::link::{Accepted, Parcel};

/// A route that the receiver was not told.
const UNKNOWN: u32 = u32::MAX;

impl Network {
    /// Hands over `parcel`, which link `index` to another part has accepted.
    #[cold]
    pub(crate) fn export(&mut self, index: u32, mut parcel: Parcel, accepted: Accepted) {
        let link = index as usize;
        self.links[link].hand_over();
        let packet = self.packets.take(parcel.packet);
        let Some(part) = &mut self.part else { return };
        let receiver = usize::from(part.ends[link][1]);
        if let (Some(at), FarEnd::Router(_)) = (parcel.route.index(), self.links[link].far_end) {
            let told = &mut part.told[receiver];
            if told.len() < self.routing.listed.len() {
                told.resize(self.routing.listed.len(), UNKNOWN);
            }
            if told[at] == UNKNOWN {
                told[at] = part.routes_told[receiver];
                part.routes_told[receiver] += 1;
                let leads_on = |link: &u32| matches!(self.links[*link as usize].far_end, FarEnd::Router(_));
                let rest = &self.routing.listed[at..];
                let routers = rest.iter().take_while(|link| leads_on(link)).count();
                part.outgoing[receiver].routes.extend_from_slice(&rest[..=routers]);
            }
            parcel.route = PacketRoute::listed(told[at] as usize);
        }
        let Accepted { arrival, lost, .. } = accepted;
        part.first_arrival = part.first_arrival.min(arrival);
        part.outgoing[receiver].crossings.push(Crossing { link: index, arrival, lost, parcel, packet });
    }

    /// Takes over what part `from` has handed over, and empties `batch`.
    pub(super) fn import(&mut self, from: usize, batch: &mut Batch) {
        self.learn_routes(from, &mut batch.routes);
        for Crossing { link, arrival, lost, mut parcel, packet } in batch.crossings.drain(..) {
            let copy = &mut self.links[link as usize];
            if let (Some(number), FarEnd::Router(_), Some(part)) = (parcel.route.index(), copy.far_end, &self.part) {
                parcel.route = part.known[from][number];
            }
            parcel.packet = self.packets.insert(packet);
            // Of fused links, packets are passed on when the next window begins.
            if copy.take_over(arrival, parcel, lost) && !copy.is_fused() {
                self.arrivals.insert(link, arrival);
            }
        }
    }

    fn learn_routes(&mut self, from: usize, routes: &mut Vec<u32>) {
        let Some(part) = &mut self.part else { return };
        let mut begins = true;
        for link in routes.drain(..) {
            if begins {
                part.known[from].push(PacketRoute::listed(self.routing.listed.len()));
            }
            self.routing.listed.push(link);
            begins = matches!(self.links[link as usize].far_end, FarEnd::Interface(_));
        }
    }
}
