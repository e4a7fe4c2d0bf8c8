//! Link failures in every router mode.

use proptest::prelude::*;
use subflow_network::{LinkChange, LinkId, RouterMode, RoutingConfig};
use subflow_policy::routing::MultiflowOptions;
use subflow_quantity::Duration;

use super::graphs::{max_flow, random_links};
use super::testbed::Testbed;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_failed_link_is_routed_around((routers, links) in random_links()) {
        for (mode, options) in [
            (RouterMode::ShortestPath, MultiflowOptions::PUBLISHED),
            (RouterMode::EcmpFlow, MultiflowOptions::PUBLISHED),
            (RouterMode::EcmpPacket, MultiflowOptions::PUBLISHED),
            (RouterMode::Multiflow, MultiflowOptions::IMPROVED),
        ] {
            let config = RoutingConfig {
                multiflow: options,
                reroute_after: Some(Duration::from_millis(50)),
                ..RoutingConfig::default()
            };
            let mut testbed = Testbed::new(routers, &links, mode, config);
            let paths = testbed.open(1);
            let Some(&cut) = paths[1].first() else { continue };
            let now = testbed.network.now();
            for direction in [2 * cut, 2 * cut + 1] {
                testbed.network.schedule_change(now, LinkId::from_index(direction), LinkChange::Down);
            }
            let end = now + Duration::from_millis(60);
            testbed.network.run_until(&mut testbed.sink, end);
            let arrived = testbed.sink.arrived;
            let [forth, back] = testbed.both_directions(1);
            let mut left = links.clone();
            left.remove(cut);
            let reachable = max_flow(routers, &left) > 0;
            prop_assert_eq!(testbed.sink.arrived - arrived, if reachable { 2 } else { 0 }, "{:?}", mode);
            if reachable {
                prop_assert!(!forth.contains(&cut) && !back.contains(&cut));
            }
        }
    }
}
