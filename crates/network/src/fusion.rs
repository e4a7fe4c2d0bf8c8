//! Which hops can be fused.
//!
//! Where everything that comes to a link B comes from one link A, B's packets come in the order in which A's arrive, at
//! times known as soon as A has accepted them. So B can accept a packet at once when A has, in the name of its arrival
//! time, and the event between them is saved. What B does is the same, for the clock of a link is the packets that
//! come to it. Two things have to be minded:
//!
//! - Nothing may happen before its time where it could be seen: between two runs, or when a link changes. So hops are
//!   fused only up to the horizon of the run (its end, or the next change); what arrives later is passed on when the
//!   next run begins. Links that change are not fused at all.
//! - Events at the same instant have an order (see `event_queue.rs`), which only those see that are still events. A
//!   link in which a packet can take no time at all would have its event brought forward to the instant of the hop
//!   before it, past others of that instant. So B has to take time.
//!
//! A link is fused with all that follow it or with none.

use crate::InterfaceId;
use crate::host_table::HostTable;
use crate::link::Link;
use crate::routing::{Node, Routes, Wiring};

/// From which links packets come to a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeders {
    None,
    One(u32),
    Many,
}

/// For each link, whether it can be fused with those that follow it. Where routes are `fixed`, only the steps on them
/// count; else all that there can be.
pub(crate) fn fusible(
    wiring: &Wiring,
    routes: &Routes,
    fixed: bool,
    hosts: &HostTable,
    links: &mut [Link],
) -> Vec<bool> {
    let mut fusible = vec![false; links.len()];
    let steps = if fixed { steps(wiring, routes, hosts) } else { possible_steps(wiring) };
    let mut feeders = vec![Feeders::None; links.len()];
    for &(link, next) in &steps {
        feeders[next as usize] = match feeders[next as usize] {
            Feeders::None => Feeders::One(link),
            Feeders::One(other) if other == link => Feeders::One(link),
            _ => Feeders::Many,
        };
        fusible[link as usize] = links[link as usize].disturbance().is_none();
    }
    for (link, next) in steps {
        fusible[link as usize] &= feeders[next as usize] == Feeders::One(link) && links[next as usize].takes_time();
    }
    fusible
}

/// All pairs of a link and one that follows it on some route in use. A pair may occur more than once.
fn steps(wiring: &Wiring, routes: &Routes, hosts: &HostTable) -> Vec<(u32, u32)> {
    let mut steps = Vec::new();
    let mut passed: Vec<Option<InterfaceId>> = vec![None; wiring.routers];
    for destination in wiring.interface_ids() {
        let to = hosts.host(destination);
        for source in &hosts.interfaces {
            if !hosts.conversations.allows(source.host, to) {
                continue;
            }
            let mut link = source.link.0;
            // From a router that another source's route has passed, the rest of the way is known.
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

/// All pairs of a link and one that may follow it, whatever routers choose.
fn possible_steps(wiring: &Wiring) -> Vec<(u32, u32)> {
    let out_of = wiring.out_of_routers();
    let edges = 0..wiring.edges.len() as u32;
    edges.flat_map(|edge| wiring.following(edge, &out_of).map(move |next| (edge, next))).collect()
}
