//! The topology of the network, and the routing of its routers.

use super::{Default, TableSchema, named, optional, required, value, word};
use crate::read::words;

/// `[topology]`.
pub(crate) const TOPOLOGY: TableSchema = TableSchema {
    path: "[topology]",
    doc: "A network of hosts (h0, h1, …, each with one interface, eth), switches and links with a well-known shape. \
          [hosts], [routers] and [links] may add to it. A link is named after its ends, as in h0-edge0_0 or \
          agg0_1-core2, and leads upwards: from hosts to switches, from the edge to the core. All links have the same \
          properties, except the rate of the hosts' links. There are at most 50000 links.",
    fields: &[
        word("kind", words::topologies, Default::Required, "its shape"),
        optional("k", "an even number from 2 to 32", "4", "the ports of a switch (fat-tree)"),
        optional("leaves", "a number from 1 to 1000", "4", "the number of leaf switches (leaf-spine)"),
        optional("spines", "a number from 1 to 1000", "2", "the number of spine switches (leaf-spine)"),
        optional("switches", "a number from 3 to 1000", "4", "the number of switches (ring)"),
        optional("width", "a number from 1 to 1000", "2", "the number of parallel switches (diamond)"),
        optional(
            "hosts",
            "a number from 1 to 1000",
            "1",
            "the number of hosts at each leaf, at each switch of a ring, or on each side of diamond, dumbbell and trap",
        ),
        required("rate", "as for a link", "the rate of the links"),
        optional("host_rate", "as for a link", "as rate", "the rate of the hosts' links"),
        value("delay", "as for a link", "'0 ms'", "the propagation delay of one direction of a link"),
        value("queue", "as for a link", "'100 packets'", "the queue of each link"),
        named("loss", "as for a link", words::losses, Default::Value("'none'"), "the loss model of each link"),
        value(
            "overhead",
            "as for a link",
            "'0 B'",
            "the bytes that each packet takes on a link in addition to its IP length",
        ),
        value("duplicate", "as for a link", "'0 %'", "the probability that a link duplicates a packet"),
        optional("jitter", "as for a link", "none", "the variation of the delay"),
        optional("reorder", "as for a link", "none", "the reordering of packets on each link"),
    ],
};

/// `[routing]`.
pub(crate) const ROUTING: TableSchema = TableSchema {
    path: "[routing]",
    doc: "How routers choose paths. The path of a flow (a 5-tuple: addresses, ports, protocol) is chosen when its \
          first packet leaves its host; the reverse direction is another flow. The last five keys are for multiflow \
          and disjoint.",
    fields: &[
        word(
            "mode",
            words::routing_modes,
            Default::Value("'shortest-path'"),
            "the mode of all routers without their own mode",
        ),
        optional(
            "reroute_after",
            "a duration",
            "never",
            "the time after which routes change when a link between routers fails or recovers",
        ),
        optional(
            "single_way_to",
            "a list of names of hosts",
            "[]",
            "hosts to which all routers take the first of equal ways, whatever their mode: their traffic occupies one \
             path",
        ),
        word(
            "initial",
            words::initial_subflows,
            Default::None("'apart' (multiflow), 'included' (disjoint)"),
            "whether the path of a connection's initial subflow counts as used",
        ),
        optional(
            "spanning_tree",
            "the name of a router",
            "default routes are shortest paths",
            "the root of a spanning tree (IEEE 802.1D) that the default routes follow, as those of a switched network \
             do",
        ),
        word(
            "ties",
            words::ties,
            Default::None("'first' (multiflow), 'least-loaded' (disjoint)"),
            "which of equally short paths a subflow takes",
        ),
        optional(
            "disjoint_set",
            "a number from 1 to 16",
            "1 (multiflow), 2 (disjoint)",
            "the number of disjoint paths to search for at once, with minimum total length; 1 is greedy and does not \
             find the pair in a trap",
        ),
        word(
            "return_path",
            words::return_paths,
            Default::None("'default' (multiflow), 'forward' (disjoint)"),
            "the path of the reverse direction of a subflow",
        ),
    ],
};
