//! Shortest paths, as the scenario's routers take them: the fewest links, and of equally short ways the link that comes
//! first in the file. Hosts do not forward.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use crate::layout::Layout;

/// A route to the network of a link at which a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// The node that has it.
    pub(crate) node: usize,
    /// The first address of the network of four.
    pub(crate) network: Ipv4Addr,
    /// The port that packets leave through.
    pub(crate) port: usize,
    /// The address at the other end of the port's link.
    pub(crate) via: Ipv4Addr,
}

/// The routes of all routers, for each link at a host that they are not at themselves.
pub(crate) fn of_routers(layout: &Layout<'_>) -> Vec<Route> {
    let mut routes = Vec::new();
    for (target, cable) in layout.cables.iter().enumerate() {
        if cable.ends.iter().any(|end| layout.nodes[end.node].is_host) {
            routes.extend(to(layout, target));
        }
    }
    routes.sort_by_key(|route| (route.node, route.network));
    routes
}

/// The routes of all routers to the network of one link.
fn to(layout: &Layout<'_>, target: usize) -> Vec<Route> {
    let mut distance: Vec<Option<usize>> = vec![None; layout.nodes.len()];
    let mut queue: VecDeque<usize> = layout.cables[target].ends.iter().map(|end| end.node).collect();
    for &node in &queue {
        distance[node] = Some(0);
    }
    // Packets pass routers only; a host is where they begin or end.
    while let Some(node) = queue.pop_front() {
        if layout.nodes[node].is_host {
            continue;
        }
        for next in neighbours(layout, node) {
            if distance[next].is_none() {
                distance[next] = distance[node].map(|links| links + 1);
                queue.push_back(next);
            }
        }
    }
    let network = Ipv4Addr::from(u32::from(layout.cables[target].ends[0].address) - 1);
    let route = |node: usize| {
        let closer = distance[node].filter(|links| *links > 0)? - 1;
        let towards = |&(link, end): &(usize, usize)| {
            let other = layout.cables[link].ends[1 - end].node;
            distance[other] == Some(closer) && !layout.nodes[other].is_host
        };
        let port = layout.nodes[node].ports.iter().position(towards)?;
        let (link, end) = layout.nodes[node].ports[port];
        Some(Route { node, network, port, via: layout.cables[link].ends[1 - end].address })
    };
    (0..layout.nodes.len()).filter(|node| !layout.nodes[*node].is_host).filter_map(route).collect()
}

fn neighbours(layout: &Layout<'_>, node: usize) -> Vec<usize> {
    layout.nodes[node].ports.iter().map(|&(link, end)| layout.cables[link].ends[1 - end].node).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use proptest::prelude::*;
    use subflow_scenario::file::Document;
    use subflow_scenario::sweep::Plan;

    use super::*;
    use crate::Target;

    /// A tree of routers with further links between them, and two hosts at each.
    fn scenario(parents: &[usize], extra: &[(usize, usize)]) -> Arc<subflow_scenario::Scenario> {
        use std::fmt::Write;
        let routers = parents.len() + 1;
        let (mut text, mut links) = ("duration = \"1 s\"\n[hosts]\n".to_owned(), String::new());
        let mut link = |a: String, b: String| {
            let number = links.lines().count();
            let _ = writeln!(
                links,
                "l{number} = {{ between = [\"{a}\", \"{b}\"], rate = \"1 Mbit/s\", delay = \"1 ms\" }}"
            );
        };
        for router in 0..routers {
            for host in ["a", "b"] {
                let _ = writeln!(text, "{host}{router} = [\"e\"]");
                link(format!("{host}{router}"), format!("r{router}"));
            }
        }
        for (child, parent) in parents.iter().enumerate() {
            link(format!("r{}", child + 1), format!("r{}", parent % (child + 1)));
        }
        for (a, b) in extra.iter().map(|(a, b)| (a % routers, b % routers)).filter(|(a, b)| a != b) {
            link(format!("r{a}"), format!("r{b}"));
        }
        let names: String = (0..routers).map(|router| format!("r{router} = {{}}\n")).collect();
        let _ = write!(text, "[routers]\n{names}[links]\n{links}[flows]\nf = {{ from = \"a0\", to = \"b0\" }}\n");
        let document = Document::parse(Path::new("tree.toml"), text).expect("it is TOML");
        Plan::read(document).expect("a good scenario").points.remove(0).scenario
    }

    proptest! {
        /// Following the routes from any router, a packet comes to every host, over fewer links than there are routers.
        #[test]
        fn every_host_is_reached_from_everywhere(
            parents in prop::collection::vec(0_usize..8, 1..8),
            extra in prop::collection::vec((0_usize..8, 0_usize..8), 0..6),
        ) {
            let scenario = scenario(&parents, &extra);
            let layout = Layout::new(&scenario, Target::Netem).expect("small");
            let routes = of_routers(&layout);
            for (target, cable) in layout.cables.iter().enumerate().filter(|(_, cable)| layout.nodes[cable.ends[0].node].is_host) {
                let network = Ipv4Addr::from(u32::from(cable.ends[0].address) - 1);
                for start in (0..layout.nodes.len()).filter(|node| !layout.nodes[*node].is_host) {
                    let (mut node, mut links) = (start, 0);
                    while !layout.nodes[node].ports.iter().any(|(link, _)| *link == target) {
                        let route = routes.iter().find(|route| route.node == node && route.network == network);
                        let (link, end) = layout.nodes[node].ports[route.expect("there is a route").port];
                        node = layout.cables[link].ends[1 - end].node;
                        links += 1;
                        prop_assert!(links < parents.len() + 1, "a loop");
                    }
                }
            }
        }
    }
}
