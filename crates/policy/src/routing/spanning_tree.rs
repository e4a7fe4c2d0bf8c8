//! The spanning tree of a switched network (IEEE 802.1D).

use super::{Graph, LinkSet, Metric};

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
