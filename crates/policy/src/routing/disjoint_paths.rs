//! Disjoint paths of minimum total length (Suurballe 1974, Bhandari 1999), computed as a minimum-cost flow in which
//! each link has a capacity of one unit.
//!
//! A greedy search (the shortest path first, then another one without its links) can fail although two disjoint paths
//! exist, because the shortest path may block both. Therefore each further path may traverse a link of an earlier path
//! backwards, which removes that link from both. The result is one more path, and the set has the minimum total length
//! for its size (successive shortest paths, Ford and Fulkerson 1962).

use std::collections::VecDeque;

use super::{Graph, LinkSet, Path};

/// Up to `count` paths from `from` to `to` that share no link, in the same or in opposite directions, and avoid
/// `banned`. The number of paths is the largest possible, and no other set of that size has a smaller total length:
/// first the number of links, then the sum of `weight`s. The paths are sorted by length. If `from` equals `to`, the
/// result is one empty path.
pub fn disjoint_paths(
    graph: &Graph,
    from: u32,
    to: u32,
    count: usize,
    banned: &LinkSet,
    weight: impl Fn(u32) -> u64,
) -> Vec<Path> {
    if from == to {
        return vec![Path::new(); count.min(1)];
    }
    let mut flow = UnitFlow { graph, banned, taken: vec![false; graph.edge_numbers()], weight };
    let found = (0..count).take_while(|_| flow.augment(from, to)).count();
    let mut paths: Vec<Path> = (0..found).map(|_| flow.take_path(from, to)).collect();
    let weight = &flow.weight;
    paths.sort_by_cached_key(|path| (path.len(), path.iter().map(|&edge| weight(edge)).sum::<u64>(), path.clone()));
    paths
}

/// A flow in which each link carries at most one unit, in one direction.
struct UnitFlow<'a, W> {
    graph: &'a Graph,
    banned: &'a LinkSet,
    /// Per edge: whether it carries a unit.
    taken: Vec<bool>,
    weight: W,
}

/// Number of links, then weight. Traversing a used link backwards has its negative cost.
type Cost = (i64, i64);

impl<W: Fn(u32) -> u64> UnitFlow<'_, W> {
    /// Adds one unit from `from` to `to` at minimum cost, if possible.
    fn augment(&mut self, from: u32, to: u32) -> bool {
        let Some(steps) = self.cheapest_steps(from, to) else { return false };
        for edge in steps {
            if self.taken[edge as usize ^ 1] {
                self.taken[edge as usize ^ 1] = false;
            } else {
                self.taken[edge as usize] = true;
            }
        }
        true
    }

    /// The cheapest path in the residual graph (Bellman and Ford: costs may be negative, cycles are not).
    fn cheapest_steps(&self, from: u32, to: u32) -> Option<Path> {
        let mut reached: Vec<Option<(Cost, Option<u32>)>> = vec![None; self.graph.switches()];
        reached[from as usize] = Some(((0, 0), None));
        let mut queue = VecDeque::from([from]);
        let mut queued = vec![false; self.graph.switches()];
        while let Some(at) = queue.pop_front() {
            queued[at as usize] = false;
            let Some((so_far, _)) = reached[at as usize] else { continue };
            for &edge in self.graph.out_of(at) {
                let Some(step) = self.cost(edge) else { continue };
                let cost = (so_far.0 + step.0, so_far.1 + step.1);
                let next = self.graph.edge(edge).to;
                if reached[next as usize].is_none_or(|(known, _)| cost < known) {
                    reached[next as usize] = Some((cost, Some(edge)));
                    if !core::mem::replace(&mut queued[next as usize], true) {
                        queue.push_back(next);
                    }
                }
            }
        }
        let mut steps = Path::new();
        let mut at = to;
        while let (_, Some(edge)) = reached[at as usize]? {
            steps.push(edge);
            at = self.graph.edge(edge).from;
        }
        steps.reverse();
        Some(steps)
    }

    /// The cost of a unit over `edge` in the residual graph; `None` if it has no capacity.
    fn cost(&self, edge: u32) -> Option<Cost> {
        let cost = |edge| (1, (self.weight)(edge) as i64);
        if self.banned.has(edge) || self.taken[edge as usize] {
            None
        } else if self.taken[edge as usize ^ 1] {
            let (links, weight) = cost(edge ^ 1);
            Some((-links, -weight))
        } else {
            Some(cost(edge))
        }
    }

    /// Removes one path from the flow and returns it.
    fn take_path(&mut self, from: u32, to: u32) -> Path {
        // A minimum-cost flow has no cycles, so no path removed from it has one.
        let mut path = Path::new();
        let mut at = from;
        while at != to {
            let edges = self.graph.out_of(at);
            let edge =
                *edges.iter().find(|&&edge| self.taken[edge as usize]).expect("a unit that enters a switch leaves it");
            self.taken[edge as usize] = false;
            path.push(edge);
            at = self.graph.edge(edge).to;
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::shortest_path;
    use super::*;

    /// A graph in which the shortest path 0-1-2-5 blocks both 0-1-4-6-5 and 0-3-…-2-5.
    fn trap() -> Graph {
        let mut graph = Graph::new(8);
        let links = [(0, 1), (1, 2), (2, 5), (0, 3), (3, 7), (7, 2), (1, 4), (4, 6), (6, 5)];
        for (number, (a, b)) in links.into_iter().enumerate() {
            graph.add_link(number as u32, a, b, [0; 2]);
        }
        graph
    }

    #[test]
    fn min_sum_finds_two_disjoint_paths_where_a_greedy_search_finds_one() {
        let graph = trap();
        let mut banned = graph.no_links();
        let first = shortest_path(&graph, 0, 5, &banned, |_| 0).expect("a path");
        assert_eq!(first, [0, 2, 4]);
        assert_eq!(disjoint_paths(&graph, 0, 5, 2, &banned, |_| 0), [vec![0, 12, 14, 16], vec![6, 8, 10, 4]]);
        banned.add(&first);
        assert_eq!(shortest_path(&graph, 0, 5, &banned, |_| 0), None);
    }

    #[test]
    fn there_are_no_more_paths_than_asked_for_or_possible() {
        let graph = trap();
        let none = graph.no_links();
        assert_eq!(disjoint_paths(&graph, 0, 5, 1, &none, |_| 0), [vec![0, 2, 4]]);
        assert_eq!(disjoint_paths(&graph, 0, 5, 9, &none, |_| 0).len(), 2);
        assert_eq!(disjoint_paths(&graph, 3, 3, 9, &none, |_| 0), [Path::new()]);
    }

    /// All paths from `from` to `to` that visit no switch twice.
    fn simple_paths(graph: &Graph, from: u32, to: u32, visited: &[u32]) -> Vec<Path> {
        if from == to {
            return vec![Path::new()];
        }
        let visited = [visited, &[from]].concat();
        let next = graph.out_of(from).iter().filter(|&&edge| !visited.contains(&graph.edge(edge).to));
        next.flat_map(|&edge| {
            let rests = simple_paths(graph, graph.edge(edge).to, to, &visited);
            rests.into_iter().map(move |rest| [vec![edge], rest].concat())
        })
        .collect()
    }

    proptest! {
        /// Compares the result with every pair of disjoint paths.
        #[test]
        fn no_pair_has_less_total_length(links in vec((0..6u32, 0..6u32, 0..4u64), 4..11)) {
            let links: Vec<_> = links.into_iter().filter(|(a, b, _)| a != b).collect();
            let mut graph = Graph::new(6);
            for (number, &(a, b, _)) in links.iter().enumerate() {
                graph.add_link(number as u32, a, b, [0; 2]);
            }
            let weight = |edge: u32| links[edge as usize / 2].2;
            let length = |a: &Path, b: &Path| {
                (a.len() + b.len(), a.iter().chain(b).map(|&edge| weight(edge)).sum::<u64>())
            };
            let apart = |a: &Path, b: &Path| a.iter().all(|x| b.iter().all(|y| x / 2 != y / 2));
            let simple = simple_paths(&graph, 0, 5, &[]);
            let pairs = simple.iter().flat_map(|a| simple.iter().map(move |b| (a, b))).filter(|(a, b)| apart(a, b));
            let shortest = pairs.map(|(a, b)| length(a, b)).min();
            match (disjoint_paths(&graph, 0, 5, 2, &graph.no_links(), weight).as_slice(), shortest) {
                ([a, b], Some(shortest)) => {
                    prop_assert!(apart(a, b), "{a:?} {b:?}");
                    prop_assert_eq!(length(a, b), shortest);
                }
                (found, shortest) => prop_assert_eq!((found.len(), shortest), (simple.len().min(1), None)),
            }
        }
    }
}
