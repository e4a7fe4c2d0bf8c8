//! Changes of links during a run.

use crate::host_table::FarEnd;
use crate::{LinkChange, LinkId, Network};

impl Network {
    /// Applies a change now. All events before the current time are processed, and none after it.
    pub(crate) fn change(&mut self, id: LinkId, change: LinkChange) {
        self.links[id.index()].change(self.now, change, &mut self.packets);
        self.enter_next_event(id);
    }

    /// Ends the fusion of `id` with the links before and after it.
    pub(crate) fn unfuse(&mut self, id: LinkId) {
        let touching: Vec<LinkId> = (0..self.links.len())
            .map(LinkId::from_index)
            .filter(|&other| self.links[other.index()].is_fused() && (other == id || self.may_follow(other, id)))
            .collect();
        for link in touching {
            self.links[link.index()].set_fused(false);
            self.enter_next_event(link);
        }
    }

    /// Whether `next` starts at the end of `link`.
    fn may_follow(&self, link: LinkId, next: LinkId) -> bool {
        // The near end of a direction is the far end of the opposite one.
        let opposite = LinkId(next.0 ^ 1);
        match self.links[link.index()].far_end {
            FarEnd::Router(router) => self.links[opposite.index()].far_end == FarEnd::Router(router),
            FarEnd::Interface(_) => false,
        }
    }

    fn enter_next_event(&mut self, id: LinkId) {
        self.arrivals.set(id.0, self.links[id.index()].next_event());
    }
}
