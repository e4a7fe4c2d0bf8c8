//! Maximum flow through a graph with capacities (Dinic 1970).

/// A directed graph with capacities.
#[derive(Debug, Default)]
pub(super) struct FlowGraph {
    /// The edges that leave each node, as indices into `edges`.
    leaving: Vec<Vec<usize>>,
    /// Edge `e ^ 1` is the reverse of edge `e`.
    edges: Vec<Edge>,
}

#[derive(Debug)]
struct Edge {
    to: usize,
    /// The capacity that is left.
    left: u128,
}

/// The level of a node that cannot be reached, or from which the sink cannot be reached.
const UNREACHED: usize = usize::MAX;

impl FlowGraph {
    /// Adds a node.
    pub(super) fn node(&mut self) -> usize {
        self.leaving.push(Vec::new());
        self.leaving.len() - 1
    }

    /// Adds an edge and returns its index.
    pub(super) fn edge(&mut self, from: usize, to: usize, capacity: u128) -> usize {
        let index = self.edges.len();
        self.edges.push(Edge { to, left: capacity });
        self.edges.push(Edge { to: from, left: 0 });
        self.leaving[from].push(index);
        self.leaving[to].push(index + 1);
        index
    }

    /// The flow over an edge.
    pub(super) fn flow(&self, edge: usize) -> u128 {
        self.edges[edge ^ 1].left
    }

    /// Finds a maximum flow from `source` to `sink`.
    pub(super) fn maximise(&mut self, source: usize, sink: usize) {
        loop {
            let mut levels = self.levels(source);
            if levels[sink] == UNREACHED {
                return;
            }
            self.block(source, sink, &mut levels);
        }
    }

    /// The distance of each node from `source` over edges with capacity left, in edges.
    fn levels(&self, source: usize) -> Vec<usize> {
        let mut levels = vec![UNREACHED; self.leaving.len()];
        levels[source] = 0;
        let mut reached = vec![source];
        let mut next = 0;
        while let Some(&node) = reached.get(next) {
            next += 1;
            for edge in self.leaving[node].iter().map(|&edge| &self.edges[edge]) {
                if edge.left > 0 && levels[edge.to] == UNREACHED {
                    levels[edge.to] = levels[node] + 1;
                    reached.push(edge.to);
                }
            }
        }
        levels
    }

    /// Adds flow over shortest paths until each of them has an edge without capacity left (a blocking flow).
    fn block(&mut self, source: usize, sink: usize, levels: &mut [usize]) {
        // For each node, the first of its edges that may still lead to the sink.
        let mut first = vec![0; self.leaving.len()];
        let mut path: Vec<usize> = Vec::new();
        loop {
            let node = path.last().map_or(source, |&edge| self.edges[edge].to);
            if node == sink {
                let most = path.iter().map(|&edge| self.edges[edge].left).min().unwrap_or(0);
                for edge in path.drain(..) {
                    self.edges[edge].left -= most;
                    self.edges[edge ^ 1].left += most;
                }
                continue;
            }
            let onwards = self.leaving[node][first[node]..].iter().position(|&edge| {
                let Edge { to, left } = self.edges[edge];
                left > 0 && levels[to] == levels[node] + 1
            });
            match onwards {
                Some(skipped) => {
                    first[node] += skipped;
                    path.push(self.leaving[node][first[node]]);
                }
                None => {
                    levels[node] = UNREACHED;
                    if path.pop().is_none() {
                        return;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flow from node 0 to the last node.
    fn maximum(nodes: usize, edges: &[(usize, usize, u128)]) -> u128 {
        let mut graph = FlowGraph::default();
        for _ in 0..nodes {
            graph.node();
        }
        let edges: Vec<(usize, usize)> =
            edges.iter().map(|&(from, to, capacity)| (from, graph.edge(from, to, capacity))).collect();
        graph.maximise(0, nodes - 1);
        edges.iter().filter(|(from, _)| *from == 0).map(|&(_, edge)| graph.flow(edge)).sum()
    }

    #[test]
    fn a_chain_carries_the_capacity_of_its_narrowest_edge() {
        assert_eq!(maximum(4, &[(0, 1, 9), (1, 2, 4), (2, 3, 7)]), 4);
        assert_eq!(maximum(3, &[(0, 1, 9)]), 0, "the sink is not reached");
    }

    #[test]
    fn flow_is_moved_when_another_path_needs_the_edge() {
        // The shortest path 0-1-4-5 takes the edge that 0-3-1 also needs, unless 1-2 is used.
        let edges = [(0, 1, 3), (1, 4, 3), (4, 5, 6), (0, 3, 3), (3, 1, 3), (1, 2, 2), (2, 4, 2)];
        assert_eq!(maximum(6, &edges), 5);
        // The textbook's graph (Cormen et al., section 24.2, figure 24.1).
        let textbook =
            [(0, 1, 16), (0, 2, 13), (1, 3, 12), (2, 1, 4), (2, 4, 14), (3, 2, 9), (3, 5, 20), (4, 3, 7), (4, 5, 4)];
        assert_eq!(maximum(6, &textbook), 23);
    }
}
