//! The graph of the network including hosts.

use subflow_policy::routing::Graph;

use crate::InterfaceId;

/// The end of a link. Hosts do not forward, so paths consist of routers only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Router(u32),
    Interface(u32),
}

/// One direction of a link in the graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) from: Node,
    pub(crate) to: Node,
    pub(crate) delay_nanos: u64,
}

/// The graph of the network. The index of an edge is the number of its link.
#[derive(Debug)]
pub(crate) struct Wiring {
    pub(crate) edges: Vec<Edge>,
    pub(crate) routers: usize,
    pub(crate) interfaces: usize,
}

impl Wiring {
    /// The graph of routers only. Its edges have the same numbers.
    pub(crate) fn graph(&self) -> Graph {
        let mut graph = Graph::new(self.routers);
        for (link, pair) in self.edges.chunks_exact(2).enumerate() {
            if let (Node::Router(a), Node::Router(b)) = (pair[0].from, pair[0].to) {
                graph.add_link(link as u32, a, b, [pair[0].delay_nanos, pair[1].delay_nanos]);
            }
        }
        graph
    }

    /// The router that each interface is attached to, and the link from it; `None` if it is linked to a host.
    pub(crate) fn attachments(&self) -> Vec<Option<(u32, u32)>> {
        let mut attachments = vec![None; self.interfaces];
        for (link, edge) in self.edges.iter().enumerate() {
            if let (Node::Router(router), Node::Interface(interface)) = (edge.from, edge.to) {
                attachments[interface as usize] = Some((router, link as u32));
            }
        }
        attachments
    }

    /// All edges that a packet may take after `edge`: those of the router at its end, except back.
    pub(crate) fn following(&self, edge: u32, out_of: &[Vec<u32>]) -> impl Iterator<Item = u32> + use<> {
        let next = match self.edges[edge as usize].to {
            Node::Router(router) => out_of[router as usize].clone(),
            Node::Interface(_) => Vec::new(),
        };
        next.into_iter().filter(move |&next| next != edge ^ 1)
    }

    /// The edges that leave each router.
    pub(crate) fn out_of_routers(&self) -> Vec<Vec<u32>> {
        let mut out_of = vec![Vec::new(); self.routers];
        for (link, edge) in self.edges.iter().enumerate() {
            if let Node::Router(router) = edge.from {
                out_of[router as usize].push(link as u32);
            }
        }
        out_of
    }

    /// All interfaces, in order.
    pub(crate) fn interface_ids(&self) -> impl Iterator<Item = InterfaceId> + use<> {
        (0..self.interfaces).map(InterfaceId::from_index)
    }
}
