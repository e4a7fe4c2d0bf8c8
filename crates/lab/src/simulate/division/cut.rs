//! Divides a graph into parts with about equal work, long delays and few links between them.
//!
//! Results do not depend on the parts, so nothing has to be optimal. The nodes get positions on a line: hosts in the
//! scenario's order, then each node moves repeatedly towards the mean of its neighbours, which brings what belongs
//! together to the same place. The line is divided into pieces of equal work, and then single clusters move to
//! the part to which most of their links lead.

use super::graph::{Clusters, Graph};

/// How often the nodes move.
const MOVES: usize = 60;
/// How often all clusters are offered another part.
const PASSES: usize = 8;
/// The maximum number of delays that are tried.
const MOST_DELAYS: usize = 8;
/// The work of the largest part in per cent of the mean, up to which the longest delay is preferred.
const BALANCED: u64 = 115;
/// The same up to which a move may fill a part.
const FULL: u64 = 103;

/// The part of each node; `None` if all work is in one. Some of the `parts` may not be needed.
pub(super) fn cut(graph: &Graph, parts: usize) -> Option<Vec<usize>> {
    let mut delays: Vec<u64> = graph.links.iter().map(|link| link.delay).filter(|&delay| delay > 0).collect();
    delays.sort_unstable();
    delays.dedup();
    let tried = delays.len().min(MOST_DELAYS);
    let longest_first = (0..tried).rev().map(|number| delays[number * (delays.len() - 1) / (tried - 1).max(1)]);
    let mut best: Option<(u64, Vec<usize>)> = None;
    for delay in longest_first {
        let clusters = Clusters::of(graph, delay);
        let of_cluster = divide(&clusters, graph, parts);
        let work = work(&clusters, &of_cluster, parts);
        let (largest, all) = (work.iter().copied().max().unwrap_or(0), work.iter().sum::<u64>());
        if largest < best.as_ref().map_or(all, |(largest, _)| *largest) {
            best = Some((largest, clusters.of_node.iter().map(|&cluster| of_cluster[cluster]).collect()));
        }
        if largest * 100 * parts as u64 <= all * BALANCED {
            break;
        }
    }
    best.map(|(_, of_node)| renumbered(of_node))
}

fn work(clusters: &Clusters, of_cluster: &[usize], parts: usize) -> Vec<u64> {
    let mut work = vec![0; parts];
    clusters.weights.iter().zip(of_cluster).for_each(|(weight, &part)| work[part] += weight);
    work
}

/// The part of each cluster.
fn divide(clusters: &Clusters, graph: &Graph, parts: usize) -> Vec<usize> {
    let positions = positions(clusters, graph);
    let mut order: Vec<usize> = (0..clusters.weights.len()).collect();
    order.sort_by(|&a, &b| positions[a].total_cmp(&positions[b]).then(a.cmp(&b)));
    let all: u64 = clusters.weights.iter().sum();
    let mut of_cluster = vec![0; order.len()];
    let mut before = 0;
    for cluster in order {
        let middle = before + clusters.weights[cluster] / 2;
        of_cluster[cluster] = ((middle * parts as u64 / all.max(1)) as usize).min(parts - 1);
        before += clusters.weights[cluster];
    }
    for _ in 0..PASSES {
        if !improve(clusters, &mut of_cluster, parts) {
            break;
        }
    }
    of_cluster
}

/// The clusters on a line, so that neighbours are near each other.
fn positions(clusters: &Clusters, graph: &Graph) -> Vec<f64> {
    let count = clusters.weights.len();
    let (mut sums, mut hosts) = (vec![0.0; count], vec![0.0; count]);
    for host in 0..graph.hosts {
        sums[clusters.of_node[host]] += host as f64 / graph.hosts as f64 - 0.5;
        hosts[clusters.of_node[host]] += 1.0;
    }
    let mut at: Vec<f64> =
        sums.iter().zip(&hosts).map(|(sum, hosts)| if *hosts > 0.0 { sum / hosts } else { 0.0 }).collect();
    for _ in 0..MOVES {
        let towards = |cluster: usize| match clusters.neighbours[cluster].as_slice() {
            [] => at[cluster],
            near => near.iter().map(|&other| at[other]).sum::<f64>() / near.len() as f64,
        };
        let moved: Vec<f64> = (0..count).map(|cluster| f64::midpoint(at[cluster], towards(cluster))).collect();
        let mean = moved.iter().sum::<f64>() / count as f64;
        let widest = moved.iter().map(|at| (at - mean).abs()).fold(f64::MIN_POSITIVE, f64::max);
        at = moved.iter().map(|at| (at - mean) / widest).collect();
    }
    at
}

/// Moves clusters to another part if fewer links are between parts then, or as many and the work is more equal.
fn improve(clusters: &Clusters, of_cluster: &mut [usize], parts: usize) -> bool {
    let mut work = work(clusters, of_cluster, parts);
    let full = work.iter().sum::<u64>() * FULL / 100 / parts as u64;
    let mut moved = false;
    for cluster in 0..of_cluster.len() {
        let mut links = vec![0u32; parts];
        clusters.neighbours[cluster].iter().for_each(|&other| links[of_cluster[other]] += 1);
        let (from, weight) = (of_cluster[cluster], clusters.weights[cluster]);
        let best = (0..parts).filter(|&to| to != from).max_by_key(|&to| (links[to], core::cmp::Reverse(to)));
        let Some(to) = best else { continue };
        let fits = work[to] + weight <= full.max(work[from]);
        let evens = work[to] + weight < work[from];
        if (links[to] > links[from] && fits) || (links[to] == links[from] && evens) {
            of_cluster[cluster] = to;
            work[from] -= weight;
            work[to] += weight;
            moved = true;
        }
    }
    moved
}

/// The same parts, numbered without gaps.
fn renumbered(mut of_node: Vec<usize>) -> Vec<usize> {
    let mut used = of_node.clone();
    used.sort_unstable();
    used.dedup();
    for part in &mut of_node {
        *part = used.partition_point(|known| known < part);
    }
    of_node
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two routers with this many hosts each, in turn, and a flow between each pair.
    fn dumbbell(pairs: usize, bottleneck: u64, access: u64) -> Graph {
        let mut graph = Graph::new(2 * pairs, 2);
        let routers = [2 * pairs, 2 * pairs + 1];
        graph.add_link(routers, bottleneck);
        for pair in 0..pairs {
            graph.add_link([2 * pair, routers[0]], access);
            graph.add_link([2 * pair + 1, routers[1]], access);
            graph.add_flow([2 * pair, 2 * pair + 1]);
        }
        graph.weigh_routers();
        graph
    }

    #[test]
    fn the_link_with_the_long_delay_is_between_the_parts() {
        let parts = cut(&dumbbell(5, 8_000_000, 1_000_000), 2).expect("two parts");
        assert_eq!(parts, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn of_equal_delays_the_fewest_links_are_between_the_parts() {
        let parts = cut(&dumbbell(20, 1000, 1000), 2).expect("two parts");
        assert!((0..20).all(|pair| parts[2 * pair] == 0 && parts[2 * pair + 1] == 1), "{parts:?}");
    }

    #[test]
    fn links_without_delay_are_in_one_part() {
        let parts = cut(&dumbbell(5, 0, 1000), 2).expect("two parts");
        assert_eq!(parts[10], parts[11]);
        assert_eq!(cut(&dumbbell(5, 0, 0), 2), None);
    }

    #[test]
    fn what_is_joined_stays_together() {
        let mut graph = dumbbell(2, 1000, 1000);
        graph.join([0, 1]);
        let parts = cut(&graph, 3).expect("parts");
        assert_eq!(parts[0], parts[1]);
        graph.join([1, 2]);
        graph.join([2, 3]);
        assert_eq!(cut(&graph, 3).map(|parts| parts[..4].to_vec()), Some(vec![0; 4]));
    }
}
