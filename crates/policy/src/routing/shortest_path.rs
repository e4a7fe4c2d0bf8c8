//! Shortest paths (Dijkstra 1959), computed from the destination.

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
        let mut queue = BinaryHeap::from([Reverse(((0, 0), destination))]);
        while let Some(Reverse((so_far, switch))) = queue.pop() {
            if lengths[switch as usize].is_some() {
                continue;
            }
            lengths[switch as usize] = Some(so_far);
            for &edge in self.into(switch).iter().filter(|&&edge| !banned.has(edge)) {
                queue.push(Reverse((add(so_far, length(edge)), self.edge(edge).from)));
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

#[cfg(test)]
mod tests {
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
}
