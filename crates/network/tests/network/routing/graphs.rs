//! Graphs of routers, and the number of disjoint paths in them.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;
use subflow_network::{Shape, ShapeEnd};

/// The maximum number of disjoint paths from router 0 to the last one: Ford and Fulkerson with breadth-first search,
/// independent of the tested code.
pub(crate) fn max_flow(routers: usize, links: &[(usize, usize)]) -> usize {
    let mut capacity: BTreeMap<(usize, usize), i32> = BTreeMap::new();
    for &(a, b) in links {
        *capacity.entry((a, b)).or_default() += 1;
        *capacity.entry((b, a)).or_default() += 1;
    }
    let mut flow = 0;
    loop {
        let mut before = vec![None; routers];
        let mut queue = VecDeque::from([0]);
        while let Some(at) = queue.pop_front() {
            for (next, reached_from) in before.iter_mut().enumerate().skip(1) {
                if reached_from.is_none() && capacity.get(&(at, next)).is_some_and(|&left| left > 0) {
                    *reached_from = Some(at);
                    queue.push_back(next);
                }
            }
        }
        let mut at = routers - 1;
        while let Some(previous) = before[at] {
            *capacity.entry((previous, at)).or_default() -= 1;
            *capacity.entry((at, previous)).or_default() += 1;
            at = previous;
        }
        if at != 0 {
            return flow;
        }
        flow += 1;
    }
}

/// A connected network of up to ten routers: a random tree with some additional links.
pub(crate) fn random_links() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    (3usize..10).prop_flat_map(|routers| {
        let tree: Vec<_> = (1..routers).map(|router| (0..router).prop_map(move |up| (up, router))).collect();
        let more = proptest::collection::vec((0..routers, 0..routers), 0..14);
        (Just(routers), tree, more).prop_map(|(routers, tree, more)| {
            let links = tree.into_iter().chain(more.into_iter().filter(|(a, b)| a != b)).collect();
            (routers, links)
        })
    })
}

/// The number of switches of a shape, and its links, numbered so that the first host is at switch 0 and the last host
/// at the last switch.
pub(crate) fn links_of(shape: &Shape) -> (usize, Vec<(usize, usize)>) {
    let mut ends = Vec::new();
    let mut links = Vec::new();
    for link in &shape.links {
        match link.from {
            ShapeEnd::Host(_) => ends.push(link.to),
            ShapeEnd::Switch(from) => links.push((from, link.to)),
        }
    }
    let routers = shape.switches.len();
    let swap = |a: usize, b: usize, at: usize| {
        if at == a {
            b
        } else if at == b {
            a
        } else {
            at
        }
    };
    let last = swap(ends[0], 0, ends[ends.len() - 1]);
    let place = |at| swap(last, routers - 1, swap(ends[0], 0, at));
    (routers, links.into_iter().map(|(a, b)| (place(a), place(b))).collect())
}

#[test]
fn named_topologies_have_their_known_number_of_disjoint_paths() {
    for (shape, paths) in [
        (Shape::fat_tree(4), 2),
        (Shape::fat_tree(8), 4),
        (Shape::leaf_spine(3, 5, 1), 5),
        (Shape::ring(6, 1), 2),
        (Shape::diamond(3, 1), 3),
        (Shape::dumbbell(1), 1),
        (Shape::trap(1), 2),
    ] {
        let (routers, links) = links_of(&shape);
        assert_eq!(max_flow(routers, &links), paths);
    }
}
