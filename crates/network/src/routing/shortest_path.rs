//! Shortest paths to every interface (Dijkstra 1959, from the destination backwards).

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{RouteMetric, Routes};

/// Where a link ends. Hosts pass nothing on, so that paths lead over routers only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Router(u32),
    Interface(u32),
}

/// One direction of a link, as routing sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) from: Node,
    pub(crate) to: Node,
    pub(crate) delay_nanos: u64,
}

/// The network as routing sees it; an edge's place is its link's number.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) edges: Vec<Edge>,
    pub(crate) routers: usize,
    pub(crate) interfaces: usize,
}

/// A length: what counts first, then what decides between equals.
type Length = (u64, u64);

impl Graph {
    /// The shortest paths from every router to every interface.
    pub(crate) fn shortest_paths(&self, metric: RouteMetric) -> Routes {
        let mut into: Vec<Vec<u32>> = vec![Vec::new(); self.routers];
        for (link, edge) in self.edges.iter().enumerate() {
            if let Node::Router(to) = edge.to {
                into[to as usize].push(link as u32);
            }
        }
        let mut routes = Routes::new(self.routers, self.interfaces);
        for last in 0..self.edges.len() {
            if let Edge { from: Node::Router(_), to: Node::Interface(destination), .. } = self.edges[last] {
                self.paths_over(last as u32, destination, metric, &into, &mut routes);
            }
        }
        routes
    }

    /// Enters the way to `destination`, whose only link from a router is `last`, into the table of every router. `into`
    /// holds the links that end at each router.
    fn paths_over(&self, last: u32, destination: u32, metric: RouteMetric, into: &[Vec<u32>], routes: &mut Routes) {
        // Links are taken in order of the path that begins with them, then of their number: the first to reach a router
        // is on its shortest path, and the one added first of several.
        let mut reached = vec![false; self.routers];
        let mut queue = BinaryHeap::from([Reverse((self.length(last, metric), last))]);
        while let Some(Reverse((length, link))) = queue.pop() {
            let Node::Router(router) = self.edges[link as usize].from else { continue };
            if core::mem::replace(&mut reached[router as usize], true) {
                continue;
            }
            routes.set(router as usize, destination as usize, link);
            for &before in &into[router as usize] {
                let step = self.length(before, metric);
                queue.push(Reverse(((length.0 + step.0, length.1 + step.1), before)));
            }
        }
    }

    fn length(&self, link: u32, metric: RouteMetric) -> Length {
        match metric {
            RouteMetric::Hops => (1, 0),
            RouteMetric::Delay => (self.edges[link as usize].delay_nanos, 1),
        }
    }
}
