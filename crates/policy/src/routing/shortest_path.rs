//! Shortest paths (Dijkstra 1959), computed from the destination, and the spanning tree of a switched network (IEEE
//! 802.1D), which consists of them.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Graph, LinkSet, Path};

/// The metric of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// The number of links.
    #[default]
    Hops,
    /// The propagation delay, then the number of links.
    Delay,
}

/// A length: the metric, then the value that decides between equal metrics.
type Length = (u64, u64);

impl Metric {
    fn length(self, graph: &Graph, edge: u32) -> Length {
        match self {
            Self::Hops => (1, 0),
            Self::Delay => (graph.edge(edge).delay_nanos, 1),
        }
    }
}

/// The next hops on the shortest paths to one switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextHops {
    /// For each switch the edge to take; of equally good ones, the one that was added first.
    pub first: Vec<Option<u32>>,
    /// For each switch all edges that are on a shortest path, in order of their numbers.
    pub all: Vec<Vec<u32>>,
}

impl Graph {
    /// The shortest paths to `destination` that avoid `banned`.
    pub fn next_hops(&self, destination: u32, metric: Metric, banned: &LinkSet) -> NextHops {
        let lengths = self.lengths(destination, banned, |edge| metric.length(self, edge));
        let mut all = vec![Vec::new(); self.switches()];
        for edge in self.edges().filter(|&edge| !banned.has(edge)) {
            let ends = self.edge(edge);
            let (Some(from), Some(to)) = (lengths[ends.from as usize], lengths[ends.to as usize]) else { continue };
            if ends.from != destination && add(to, metric.length(self, edge)) == from {
                all[ends.from as usize].push(edge);
            }
        }
        NextHops { first: all.iter().map(|edges| edges.first().copied()).collect(), all }
    }

    /// The distance of each switch from `destination`; `None` if there is no path.
    fn lengths(&self, destination: u32, banned: &LinkSet, length: impl Fn(u32) -> Length) -> Vec<Option<Length>> {
        let mut lengths = vec![None; self.switches()];
        lengths[destination as usize] = Some((0, 0));
        let mut queue = BinaryHeap::from([Reverse(((0, 0), destination))]);
        while let Some(Reverse((so_far, switch))) = queue.pop() {
            // A shorter way was found since.
            if lengths[switch as usize] != Some(so_far) {
                continue;
            }
            for &edge in self.into(switch).iter().filter(|&&edge| !banned.has(edge)) {
                let (there, from) = (add(so_far, length(edge)), self.edge(edge).from);
                if lengths[from as usize].is_none_or(|known| there < known) {
                    lengths[from as usize] = Some(there);
                    queue.push(Reverse((there, from)));
                }
            }
        }
        lengths
    }
}

fn add(a: Length, b: Length) -> Length {
    (a.0 + b.0, a.1 + b.1)
}

/// The path with the fewest links from `from` to `to` that avoids `banned`. Of equally short paths, it is the one with
/// the smallest sum of `weight`s; of those, the one that takes at each switch the edge that was added first.
pub fn shortest_path(graph: &Graph, from: u32, to: u32, banned: &LinkSet, weight: impl Fn(u32) -> u64) -> Option<Path> {
    let length = |edge| (1, weight(edge));
    let lengths = graph.lengths(to, banned, length);
    let mut left = lengths[from as usize]?;
    let mut path = Path::new();
    let mut at = from;
    while at != to {
        let usable = graph.out_of(at).iter().filter(|&&edge| !banned.has(edge));
        let edge = *usable
            .min_by_key(|&&edge| match lengths[graph.edge(edge).to as usize] {
                Some(rest) if add(rest, length(edge)) == left => (0, edge),
                _ => (1, edge),
            })
            .expect("a switch with a length has a next hop");
        path.push(edge);
        at = graph.edge(edge).to;
        left = lengths[at as usize].expect("the next hop has a length");
    }
    Some(path)
}

impl Graph {
    /// The links that the spanning tree with the root `root` leaves out, including those of `banned`. Each other switch
    /// keeps the link to its neighbour with the shortest way to the root; of several neighbours the one with the lowest
    /// number, and of several links to it the first. Switches that do not reach the root have a tree of their own,
    /// whose root is the lowest of them.
    pub fn outside_of_tree(&self, root: u32, banned: &LinkSet) -> LinkSet {
        let mut outside = self.no_links();
        self.edges().for_each(|edge| outside.set(edge, true));
        let mut reached = vec![false; self.switches()];
        for root in core::iter::once(root).chain(0..self.switches() as u32) {
            if reached[root as usize] {
                continue;
            }
            reached[root as usize] = true;
            let next_hops = self.next_hops(root, Metric::Hops, banned);
            for (switch, edges) in next_hops.all.iter().enumerate() {
                let Some(&kept) = edges.iter().min_by_key(|&&edge| (self.edge(edge).to, edge)) else { continue };
                outside.set(kept, false);
                reached[switch] = true;
            }
        }
        outside
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::shortest_path;
    use super::*;

    /// 0 – 1 – 3 and 0 – 2 – 3, and a slow link 0 – 3.
    fn diamond() -> Graph {
        let mut graph = Graph::new(5);
        for (number, (a, b, delay)) in [(0, 1, 1), (1, 3, 5), (0, 2, 1), (2, 3, 1), (0, 3, 100)].into_iter().enumerate()
        {
            graph.add_link(number as u32, a, b, [delay; 2]);
        }
        graph
    }

    #[test]
    fn a_path_minimises_hops_or_delay() {
        let graph = diamond();
        let none = graph.no_links();
        assert_eq!(graph.next_hops(3, Metric::Hops, &none).all[0], [8]);
        assert_eq!(graph.next_hops(3, Metric::Delay, &none).all[0], [4]);
        assert_eq!(graph.next_hops(3, Metric::Hops, &none).first[4], None, "switch 4 has no links");
    }

    #[test]
    fn all_equal_cost_next_hops_are_found_and_the_one_added_first_is_preferred() {
        let graph = diamond();
        let mut banned = graph.no_links();
        banned.set(8, true);
        let next_hops = graph.next_hops(3, Metric::Hops, &banned);
        assert_eq!((next_hops.first[0], next_hops.all[0].as_slice()), (Some(0), [0, 4].as_slice()));
        assert_eq!(shortest_path(&graph, 0, 3, &banned, |_| 0), Some(vec![0, 2]));
    }

    #[test]
    fn weights_decide_only_between_equally_short_paths() {
        let graph = diamond();
        let mut banned = graph.no_links();
        let weight = |edge| u64::from(edge / 2 == 0 || edge / 2 == 4) * 1000;
        assert_eq!(shortest_path(&graph, 0, 3, &banned, weight), Some(vec![8]), "one link is shorter than two");
        banned.set(8, true);
        assert_eq!(shortest_path(&graph, 0, 3, &banned, weight), Some(vec![4, 6]));
        banned.set(6, true);
        banned.set(2, true);
        assert_eq!(shortest_path(&graph, 0, 3, &banned, weight), None);
    }

    /// Six switches in a circle.
    fn ring() -> Graph {
        let mut graph = Graph::new(6);
        (0..6).for_each(|switch| graph.add_link(switch, switch, (switch + 1) % 6, [0; 2]));
        graph
    }

    fn left_out(graph: &Graph, root: u32, banned: &LinkSet) -> Vec<u32> {
        let outside = graph.outside_of_tree(root, banned);
        graph.edges().filter(|edge| edge % 2 == 0 && outside.has(*edge)).map(|edge| edge / 2).collect()
    }

    #[test]
    fn a_ring_is_opened_opposite_the_root_and_ties_go_to_the_lower_neighbour() {
        let graph = ring();
        // Switch 3 is three links from the root either way; its neighbours are 2 and 4.
        assert_eq!(left_out(&graph, 0, &graph.no_links()), [3]);
        assert_eq!(left_out(&graph, 4, &graph.no_links()), [1], "switch 1 keeps the link to switch 0");
    }

    #[test]
    fn a_failed_link_is_left_out_and_the_other_one_comes_back() {
        let graph = ring();
        let mut down = graph.no_links();
        down.set(2, true);
        assert_eq!(left_out(&graph, 0, &down), [1]);
    }

    proptest! {
        #[test]
        fn there_is_exactly_one_way_between_switches_that_are_connected(links in vec((0..7u32, 0..7u32), 1..15)) {
            let mut graph = Graph::new(7);
            for (number, &(a, b)) in links.iter().filter(|(a, b)| a != b).enumerate() {
                graph.add_link(number as u32, a, b, [0; 2]);
            }
            let none = graph.no_links();
            let outside = graph.outside_of_tree(3, &none);
            let inside = graph.edges().filter(|edge| edge % 2 == 0 && !outside.has(*edge)).count();
            let mut parts = 0;
            for a in 0..7 {
                let connected = |b, banned: &LinkSet| shortest_path(&graph, a, b, banned, |_| 0).is_some();
                prop_assert!((0..7).all(|b| connected(b, &none) == connected(b, &outside)));
                parts += usize::from((0..a).all(|b| !connected(b, &none)));
            }
            prop_assert_eq!(inside, 7 - parts, "a tree has one link less than switches");
        }
    }
}
