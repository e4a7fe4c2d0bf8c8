//! Hop fusion: which hops need no event of their own.
//!
//! If all packets of a link B come from one link A, they come in the order in which they arrive over A, at times that
//! are known as soon as A has accepted them. B can therefore accept a packet at the same moment as A, with its future
//! arrival time as the current time, and no event is needed between them. The result is the same, because the state of
//! a link changes only when packets come to it. There are two conditions:
//!
//! - Nothing may be processed ahead of time if that is visible: between two runs, or when a link changes. Hops are
//!   therefore fused only up to the horizon of the run (its end, or the next change); packets that arrive later are
//!   passed on when the next run begins. Links that change are not fused.
//! - Events at the same instant have an order (see `event_queue/mod.rs`), and fused hops are no events. If a packet
//!   could pass B in zero time, fusion would move it before other events of the same instant. Therefore B must take
//!   time.
//!
//! A link with a backlog is not fused: its state also changes when transmissions start. Nor is one on which a radio sends,
//! whose packets are counted in the order of time.
//!
//! A link is fused with all links that follow it or with none. A change of a link during the run ends its fusion with the
//! links before and after it.

use crate::host_table::{FarEnd, HostTable};
use crate::link::Link;
use crate::routing::{Node, Routes, Wiring};
use crate::{InterfaceId, LinkChange, LinkId, Network, Stop};

/// The links from which packets come to a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeders {
    None,
    One(u32),
    Many,
}

/// For each link, whether it can be fused with those that follow it. If routes are `fixed`, only the steps on them
/// count, else all possible steps. Once a `stop` is requested, the network will not be used, and nothing is fused.
pub(crate) fn fusible(
    wiring: &Wiring,
    routes: &Routes,
    fixed: bool,
    hosts: &HostTable,
    links: &mut [Link],
    stop: Option<&Stop>,
) -> Vec<bool> {
    let mut fusible = vec![false; links.len()];
    let steps = if fixed { steps(wiring, routes, hosts, stop) } else { possible_steps(wiring) };
    let mut feeders = vec![Feeders::None; links.len()];
    for &(link, next) in &steps {
        feeders[next as usize] = match feeders[next as usize] {
            Feeders::None => Feeders::One(link),
            Feeders::One(other) if other == link => Feeders::One(link),
            _ => Feeders::Many,
        };
        let link_ahead = &mut links[link as usize];
        fusible[link as usize] =
            link_ahead.disturbance().is_none() && !link_ahead.has_backlog() && !link_ahead.has_radio();
    }
    for (link, next) in steps {
        let following = &links[next as usize];
        let may_follow = following.takes_time() && !following.has_backlog();
        fusible[link as usize] &= feeders[next as usize] == Feeders::One(link) && may_follow;
    }
    fusible
}

/// All pairs of a link and the next link on a route in use. A pair may occur more than once.
fn steps(wiring: &Wiring, routes: &Routes, hosts: &HostTable, stop: Option<&Stop>) -> Vec<(u32, u32)> {
    let mut steps = Vec::new();
    let mut passed: Vec<Option<InterfaceId>> = vec![None; wiring.routers];
    for destination in wiring.interface_ids() {
        if stop.is_some_and(Stop::is_requested) {
            break;
        }
        let to = hosts.host(destination);
        for source in &hosts.interfaces {
            if !hosts.conversations.allows(source.host, to) {
                continue;
            }
            let mut link = source.link.0;
            // From a router on another source's route, the rest of the route is already known.
            while let Node::Router(router) = wiring.edges[link as usize].to {
                let Some(next) = routes.first(router, destination) else { break };
                steps.push((link, next));
                if passed[router as usize].replace(destination) == Some(destination) {
                    break;
                }
                link = next;
            }
        }
    }
    steps
}

/// The pairs of a link and a possible next link, whatever routers choose, that decide which links can be fused. At a router
/// with more than two links, packets come to each of them from several others, and none is fused: their pairs are left
/// out, which are a product of the links of a large switch with themselves.
fn possible_steps(wiring: &Wiring) -> Vec<(u32, u32)> {
    let out_of = wiring.out_of_routers();
    let is_small = |edge: &u32| match wiring.edges[*edge as usize].to {
        Node::Router(router) => out_of[router as usize].len() <= 2,
        Node::Interface(_) => false,
    };
    let edges = (0..wiring.edges.len() as u32).filter(is_small);
    edges.flat_map(|edge| wiring.following(edge, &out_of).map(move |next| (edge, next))).collect()
}

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
