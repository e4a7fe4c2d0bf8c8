//! `n = "disjoint-paths"`: as many subflows as there are paths without a common link.

use subflow_policy::path_manager::MAX_SUBFLOWS;
use subflow_policy::routing::{Graph, disjoint_paths};

use super::topology::Topology;
use crate::{Attachment, InterfaceIndex};

/// The largest number of paths between the routers of two interfaces that share no link; the links of the interfaces
/// themselves do not count. It is 1 if a link joins the two interfaces, or if both have the same router.
pub(super) fn number_of_paths(topology: &Topology, from: InterfaceIndex, to: InterfaceIndex) -> usize {
    let [Some(from), Some(to)] = [from, to].map(|interface| router_of(topology, interface)) else { return 1 };
    let mut graph = Graph::new(topology.routers.len());
    for (number, link) in topology.links.iter().enumerate() {
        if let [Attachment::Router(a), Attachment::Router(b)] = link.ends {
            graph.add_link(number as u32, a as u32, b as u32, [0, 0]);
        }
    }
    disjoint_paths(&graph, from, to, MAX_SUBFLOWS, &graph.no_links(), |_| 0).len().max(1)
}

/// The router at the other end of an interface's link.
fn router_of(topology: &Topology, interface: InterfaceIndex) -> Option<u32> {
    let interface = Attachment::Interface(interface);
    let (link, _) = topology.plugged.get(&interface)?;
    topology.links[*link].ends.iter().find_map(|end| match end {
        Attachment::Router(router) => Some(*router as u32),
        Attachment::Interface(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_policy::catalogue::{Catalogue, Value};

    use crate::Scenario;
    use crate::file::Document;

    /// What `ndiffports` has for its number of subflows between two hosts of a fat tree, whose connections have at most
    /// `most`.
    fn subflows(to: &str, most: usize) -> Value {
        let text = format!(
            "duration = \"1 s\"\nmptcp = {{ max_subflows = {most} }}\n\
             [topology]\nkind = \"fat-tree\"\nk = 4\nrate = \"10 Mbit/s\"\n\
             [flows.data]\nfrom = \"h0\"\nto = \"{to}\"\nprotocol = \"mptcp\"\n\
             path_manager = {{ name = \"ndiffports\", n = \"disjoint-paths\" }}\n"
        );
        let document = Document::parse(Path::new("fat-tree.toml"), text).expect("it is TOML");
        let scenario = Scenario::read(&document).unwrap_or_else(|problems| panic!("{problems:?}"));
        let manager = scenario.flows[0].protocol.path_manager().expect("it is MPTCP");
        manager.options().into_iter().find(|option| option.key == "n").expect("it has a number").value
    }

    #[test]
    fn there_are_as_many_subflows_as_paths_without_a_common_link() {
        assert_eq!(subflows("h8", 8), Value::Integer(2), "over either switch above the edge");
        assert_eq!(subflows("h1", 8), Value::Integer(1), "at the same switch");
        assert_eq!(subflows("h8", 1), Value::Integer(1), "the connection may have no more");
    }
}
