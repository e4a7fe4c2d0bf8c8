//! Delays that follow from places, and the pair of nodes that is farthest apart.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use subflow_quantity::Duration;

use crate::{Network, Position};

/// The mean radius of the earth (IUGG), in kilometres.
const EARTH_RADIUS_KM: f64 = 6371.0088;

/// The great-circle distance in kilometres, by the haversine formula.
pub(crate) fn great_circle_km(from: Position, to: Position) -> f64 {
    let half = |first: f64, second: f64| (second - first).to_radians() / 2.0;
    let haversine = |half: f64| libm::sin(half) * libm::sin(half);
    let parallels = libm::cos(from.latitude.to_radians()) * libm::cos(to.latitude.to_radians());
    let sum = haversine(half(from.latitude, to.latitude)) + parallels * haversine(half(from.longitude, to.longitude));
    2.0 * EARTH_RADIUS_KM * libm::asin(libm::sqrt(sum.clamp(0.0, 1.0)))
}

/// The time of light in `km_per_second` between the ends of a link, in whole microseconds; `None` if the file does not
/// say where they are.
pub(crate) fn propagation(network: &Network, ends: [usize; 2], km_per_second: f64) -> Option<Duration> {
    let [from, to] = ends.map(|end| network.nodes[end].position);
    Some(Duration::from_micros((great_circle_km(from?, to?) / km_per_second * 1e6).round() as u64))
}

/// The two nodes of which the path with the shortest delay is the longest, and of equal ones the pair that comes first in
/// the file. `delays` are those of the links. Nodes without a path between them do not count.
pub(crate) fn farthest_pair(network: &Network, delays: &[Duration]) -> Option<[usize; 2]> {
    let neighbours = neighbours(network, delays);
    let mut farthest: Option<(u64, [usize; 2])> = None;
    for from in 0..neighbours.len() {
        let times = shortest_from(from, &neighbours);
        let reached = (from + 1..times.len()).filter_map(|to| Some((times[to]?, [from, to])));
        for (time, pair) in reached {
            if farthest.is_none_or(|(most, _)| time > most) {
                farthest = Some((time, pair));
            }
        }
    }
    farthest.map(|(_, pair)| pair)
}

/// Whether there is a path between the ends of a pair.
pub(crate) fn is_connected(network: &Network, [from, to]: [usize; 2]) -> bool {
    let none = vec![Duration::ZERO; network.links.len()];
    shortest_from(from, &neighbours(network, &none))[to].is_some()
}

/// The neighbours of each node, each with the cost of the link: its nanoseconds, and one for the hop.
fn neighbours(network: &Network, delays: &[Duration]) -> Vec<Vec<(usize, u64)>> {
    let mut neighbours = vec![Vec::new(); network.nodes.len()];
    for (link, delay) in network.links.iter().zip(delays) {
        let [first, second] = link.ends;
        neighbours[first].push((second, delay.as_nanos() + 1));
        neighbours[second].push((first, delay.as_nanos() + 1));
    }
    neighbours
}

/// Dijkstra's algorithm; `None` for nodes that are not reached.
fn shortest_from(from: usize, neighbours: &[Vec<(usize, u64)>]) -> Vec<Option<u64>> {
    let mut times = vec![None; neighbours.len()];
    let mut open = BinaryHeap::from([Reverse((0, from))]);
    while let Some(Reverse((time, node))) = open.pop() {
        if times[node].is_some() {
            continue;
        }
        times[node] = Some(time);
        open.extend(neighbours[node].iter().map(|(next, cost)| Reverse((time + cost, *next))));
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Link, Node};

    #[test]
    fn distances_are_those_of_a_map() {
        let berlin = Position { latitude: 52.52, longitude: 13.405 };
        let munich = Position { latitude: 48.137, longitude: 11.575 };
        let sydney = Position { latitude: -33.869, longitude: 151.209 };
        // 504 km and 16 094 km by public distance calculators.
        assert!((great_circle_km(berlin, munich) - 504.4).abs() < 1.0);
        assert!((great_circle_km(berlin, sydney) - 16_094.0).abs() < 10.0);
        assert_eq!(great_circle_km(berlin, berlin), 0.0);
    }

    #[test]
    fn the_farthest_pair_is_that_of_the_longest_shortest_path() {
        // A ring of four with a node of its own beside it.
        let nodes = (0..5).map(|node| Node { id: node.to_string(), ..Node::default() }).collect();
        let links = [[0, 1], [1, 2], [2, 3], [3, 0]].map(|ends| Link { ends, ..Link::default() }).into();
        let network = Network { nodes, links, ..Network::default() };
        let delays = [1, 1, 10, 1].map(Duration::from_millis);
        assert_eq!(farthest_pair(&network, &delays), Some([2, 3]), "3 ms around, not 10");
        assert_eq!(farthest_pair(&Network { links: Vec::new(), ..network.clone() }, &[]), None);
        assert!(!is_connected(&network, [0, 4]) && is_connected(&network, [0, 2]));
    }
}
