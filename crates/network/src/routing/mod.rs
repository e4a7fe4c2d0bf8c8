//! Which way packets go.

mod shortest_path;

use crate::InterfaceId;
pub(crate) use shortest_path::{Edge, Graph, Node};

// Modes that read packets or keep state join here: a packet then goes through its router's mode in `run.rs` instead of
// straight through the tables, and its router does not take part in fusion (`fusion.rs`).
/// How a router chooses the next link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouterMode {
    /// The shortest path to the destination interface; of equally short ones the link that was added first.
    #[default]
    ShortestPath,
}

/// What makes a path short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouteMetric {
    /// Few links.
    #[default]
    Hops,
    /// Little propagation delay, then few links.
    Delay,
}

/// The routers' tables: for each router and destination interface the next link.
#[derive(Debug)]
pub(crate) struct Routes {
    next: Box<[u32]>,
    interfaces: usize,
}

/// In a table, where no link leads to the destination.
const NOWHERE: u32 = u32::MAX;

impl Routes {
    pub(crate) fn new(routers: usize, interfaces: usize) -> Self {
        Self { next: vec![NOWHERE; routers * interfaces].into_boxed_slice(), interfaces }
    }

    pub(crate) fn set(&mut self, router: usize, destination: usize, link: u32) {
        self.next[router * self.interfaces + destination] = link;
    }

    /// The link that `router` sends to on the way to interface `destination`.
    #[inline]
    pub(crate) fn next(&self, router: u32, destination: InterfaceId) -> Option<u32> {
        let next = self.next[router as usize * self.interfaces + destination.index()];
        if next == NOWHERE { None } else { Some(next) }
    }
}
