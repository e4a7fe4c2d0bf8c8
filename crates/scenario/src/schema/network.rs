//! The shape of the network, and how its routers choose ways.

use super::{Default, TableSchema, named, optional, required, value, word};
use crate::read::words;

/// `[topology]`.
pub(crate) const TOPOLOGY: TableSchema = TableSchema {
    path: "[topology]",
    doc: "A network of hosts (h0, h1, …, each with one interface, eth), switches and links with a well-known shape, next to what [hosts], [routers] and [links] add. A link is called after its ends, as in h0-edge0_0 or agg0_1-core2, and leads upwards: from hosts to switches, from the edge to the core. All links are alike but for the rate of hosts' own. There are at most 50000 of them.",
    fields: &[
        word("kind", words::topologies, Default::Required, "its shape"),
        optional("k", "an even number from 2 to 32", "4", "the ports of a switch (fat-tree)"),
        optional("leaves", "a number from 1 to 1000", "4", "how many leaf switches there are (leaf-spine)"),
        optional("spines", "a number from 1 to 1000", "2", "how many spine switches there are (leaf-spine)"),
        optional("switches", "a number from 3 to 1000", "4", "how many switches there are (ring)"),
        optional("width", "a number from 1 to 1000", "2", "how many switches are side by side (diamond)"),
        optional(
            "hosts",
            "a number from 1 to 1000",
            "1",
            "how many hosts there are at each leaf, at each switch of a ring, or on each side of diamond, dumbbell and trap",
        ),
        required("rate", "as for a link", "how fast links send"),
        optional("host_rate", "as for a link", "as rate", "how fast the links of hosts send"),
        value("delay", "as for a link", "'0 ms'", "the propagation delay of one direction of a link"),
        value("queue", "as for a link", "'100 packets'", "where packets wait at each link"),
        named("loss", "as for a link", words::losses, Default::Value("'none'"), "which packets get lost on each link"),
        value("overhead", "as for a link", "'0 B'", "what each packet occupies a link for on top of its IP length"),
        value("duplicate", "as for a link", "'0 %'", "the share of packets that a link lets arrive twice"),
        optional("jitter", "as for a link", "none", "by how much the delay of packets varies"),
        optional("reorder", "as for a link", "none", "which packets a link holds back"),
    ],
};

/// `[routing]`.
pub(crate) const ROUTING: TableSchema = TableSchema {
    path: "[routing]",
    doc: "How routers choose ways. The ways of a flow (a 5-tuple: addresses, ports, protocol) are chosen when its first packet leaves its host; its other direction is another flow. The last four keys are for multiflow and disjoint.",
    fields: &[
        word(
            "mode",
            words::routing_modes,
            Default::Value("'shortest-path'"),
            "what routers do that do not say otherwise",
        ),
        optional(
            "reroute_after",
            "a duration",
            "never",
            "how long after a link between routers goes down or comes up routes take it into account",
        ),
        word(
            "initial",
            words::initial_subflows,
            Default::None("'apart' (multiflow), 'included' (disjoint)"),
            "whether the path of a connection's initial subflow counts as used",
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
            "how many disjoint paths are looked for at once, together of least length; 1 is greedy and misses pairs in a trap",
        ),
        word(
            "return_path",
            words::return_paths,
            Default::None("'default' (multiflow), 'forward' (disjoint)"),
            "the way that the other direction of a subflow takes",
        ),
    ],
};
