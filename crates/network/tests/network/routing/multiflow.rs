//! MultiFlow: subflows of a connection on disjoint paths.

use std::collections::BTreeSet;

use proptest::prelude::*;
use subflow_network::{RouterMode, RoutingConfig, Shape};
use subflow_policy::routing::{InitialSubflow, MultiflowOptions, ReturnPath};

use super::graphs::{links_of, max_flow, random_links};
use super::testbed::Testbed;

fn multiflow(options: MultiflowOptions) -> RoutingConfig {
    RoutingConfig { multiflow: options, ..RoutingConfig::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn as_many_subflows_as_possible_are_disjoint((routers, links) in random_links(), set in 2usize..5) {
        let options = MultiflowOptions { set, ..MultiflowOptions::IMPROVED };
        let mut testbed = Testbed::new(routers, &links, RouterMode::Multiflow, multiflow(options));
        let possible = max_flow(routers, &links).min(set);
        let paths = testbed.open(4);
        prop_assert_eq!(testbed.sink.arrived, 6, "every handshake packet arrives");
        for a in 0..possible {
            for b in 0..a {
                prop_assert!(paths[a].is_disjoint(&paths[b]), "{:?} of {possible} over {:?}", &paths, &links);
            }
        }
        for number in 0..5 {
            let [forth, back] = testbed.both_directions(number);
            prop_assert_eq!(&forth, &paths[usize::from(number)]);
            prop_assert_eq!(&forth, &back);
        }
    }

    #[test]
    fn as_published_joins_are_disjoint_until_no_path_is_left((routers, links) in random_links()) {
        let mut testbed = Testbed::new(routers, &links, RouterMode::Multiflow, multiflow(MultiflowOptions::PUBLISHED));
        let paths = testbed.open(6);
        let exhausted = (2..=6).find(|&join| (1..join).any(|other| !paths[join].is_disjoint(&paths[other])));
        if let Some(join) = exhausted {
            // Without the links of the earlier joins there is no path left.
            let used: BTreeSet<usize> = paths[1..join].iter().flatten().copied().collect();
            let left: Vec<_> = (0..links.len()).filter(|link| !used.contains(link)).map(|link| links[link]).collect();
            prop_assert_eq!(max_flow(routers, &left), 0);
            prop_assert_eq!(&paths[join], &paths[1], "the topology is reset");
        }
        prop_assert_eq!(&paths[0], &paths[1], "the initial subflow is not known to the joins");
    }
}

#[test]
fn in_the_trap_topology_a_set_of_two_finds_the_disjoint_pair_and_a_greedy_search_does_not() {
    let (routers, links) = links_of(&Shape::trap(1));
    let disjoint = |set| {
        let options = MultiflowOptions { set, ..MultiflowOptions::IMPROVED };
        let paths = Testbed::new(routers, &links, RouterMode::Multiflow, multiflow(options)).open(1);
        paths[0].is_disjoint(&paths[1])
    };
    assert_eq!((disjoint(1), disjoint(2)), (false, true));
}

#[test]
fn as_published_acknowledgments_take_the_default_route() {
    let (routers, links) = links_of(&Shape::ring(4, 1));
    let options = MultiflowOptions { return_path: ReturnPath::Default, ..MultiflowOptions::IMPROVED };
    let mut testbed = Testbed::new(routers, &links, RouterMode::Multiflow, multiflow(options));
    let paths = testbed.open(1);
    let [_, back] = testbed.both_directions(1);
    let [_, back_of_initial] = testbed.both_directions(0);
    assert_eq!(back, back_of_initial);
    assert!(paths.contains(&back), "{back:?} is one of {paths:?}");
}

#[test]
fn on_a_spanning_tree_the_initial_subflow_and_answers_take_the_tree_and_joins_any_link() {
    // A circle of six switches, and the server three links away, at the last one.
    let links = [(0, 1), (1, 2), (2, 5), (0, 3), (3, 4), (4, 5)];
    let [upper, lower] = [[0, 1, 2], [3, 4, 5]].map(BTreeSet::from);
    for (root, tree) in [(0, &upper), (4, &lower)] {
        let multiflow = MultiflowOptions { initial: InitialSubflow::DefaultRoute, ..MultiflowOptions::PUBLISHED };
        let config = RoutingConfig { multiflow, spanning_tree: Some(root), ..RoutingConfig::default() };
        let mut testbed = Testbed::new(6, &links, RouterMode::Multiflow, config);
        assert_eq!(testbed.open(2), [tree.clone(), upper.clone(), lower.clone()], "root {root}");
        for number in 0..3 {
            assert_eq!(&testbed.both_directions(number)[1], tree, "root {root}, subflow {number}");
        }
    }
}
