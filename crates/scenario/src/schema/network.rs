//! The topology of the network, its routers, and their routing.

use std::sync::LazyLock;

use subflow_network::RouterMode;
use subflow_policy::catalogue::Choice;
use subflow_policy::routing::{InitialSubflow, MultiflowOptions, ReturnPath, Ties};

use super::topology::losses;
use crate::table::{Default, TableSchema, named, optional, required, value, word};

/// `[topology]`.
pub(crate) static TOPOLOGY: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "[topology]",
    doc: "A network of hosts (h0, h1, …, each with one interface, eth), switches and links with a well-known shape. \
          [hosts], [routers] and [links] may add to it. A link is named after its ends, as in h0-edge0_0 or \
          agg0_1-core2, and leads upwards: from hosts to switches, from the edge to the core. All links have the same \
          properties, except the rate of the hosts' links. There are at most 50000 links.",
    fields: vec![
        word("kind", &SHAPES, Default::Required, "its shape"),
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
        named("loss", "as for a link", losses(), Default::of("'none'"), "the loss model of each link"),
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
});

/// `[routing]`.
pub(crate) static ROUTING: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "[routing]",
    doc: "How routers choose paths. The path of a flow (a 5-tuple: addresses, ports, protocol) is chosen when its \
          first packet leaves its host; the reverse direction is another flow. The last five keys are for multiflow \
          and disjoint.",
    fields: vec![
        word(
            "mode",
            &routing_modes(),
            Default::of("'shortest-path'"),
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
            &INITIAL_SUBFLOWS,
            Default::described("'apart' (multiflow), 'included' (disjoint)"),
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
            &TIES,
            Default::described("'first' (multiflow), 'least-loaded' (disjoint)"),
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
            &RETURN_PATHS,
            Default::described("'default' (multiflow), 'forward' (disjoint)"),
            "the path of the reverse direction of a subflow",
        ),
    ],
});

/// `[routers.NAME]`.
pub(crate) static ROUTER: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "[routers.NAME]",
    doc: "A node that forwards packets.",
    fields: vec![
        word("routing", &ROUTER_MODES, Default::described("the mode of [routing]"), "how it chooses paths"),
        optional(
            "middlebox",
            "a table, or a list of tables",
            "none",
            "what each packet passes in this order when it leaves the router, before it is queued on the next link: as \
             `middlebox` of links, without direction and nat",
        ),
    ],
});

/// The shapes of topologies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShapeKind {
    FatTree,
    LeafSpine,
    Ring,
    Diamond,
    Dumbbell,
    Trap,
}

pub(crate) const SHAPES: [Choice<ShapeKind>; 6] = [
    Choice::new(
        "fat-tree",
        ShapeKind::FatTree,
        "pods of edge and aggregation switches under a core: edgeP_E, aggP_A and coreC, k³/4 hosts",
    )
    .source("Al-Fares, Loukissas, Vahdat, SIGCOMM 2008"),
    Choice::new("leaf-spine", ShapeKind::LeafSpine, "every leafL under every spineS"),
    Choice::new("ring", ShapeKind::Ring, "s0, s1, … in a circle"),
    Choice::new("diamond", ShapeKind::Diamond, "left and right, with mid0, mid1, … side by side between them"),
    Choice::new("dumbbell", ShapeKind::Dumbbell, "left and right, joined by one link"),
    Choice::new("trap", ShapeKind::Trap, "two disjoint paths from left to right that the shortest path blocks"),
];

/// The routing modes by name.
pub(crate) const ROUTER_MODES: [Choice<RouterMode>; 4] = [
    Choice::new(
        "shortest-path",
        RouterMode::ShortestPath,
        "the fewest links, and of equal ways the link that comes first in the file",
    ),
    Choice::new("ecmp-flow", RouterMode::EcmpFlow, "one of the equal ways by a hash of addresses, ports and protocol")
        .source("RFC 2992"),
    Choice::new("ecmp-packet", RouterMode::EcmpPacket, "each of the equal ways in turn, packet by packet"),
    Choice::new(
        "multiflow",
        RouterMode::Multiflow,
        "a controller, which has all routers or none, keeps the subflows of an MPTCP connection apart",
    )
    .source("Sandri, Silva, Verdi 2016"),
];

/// The controller with the better of all choices.
const DISJOINT: Choice<(RouterMode, MultiflowOptions)> = Choice::new(
    "disjoint",
    (RouterMode::Multiflow, MultiflowOptions::IMPROVED),
    "multiflow with the better of all choices: initial = \"included\", ties = \"least-loaded\", disjoint_set = 2, \
     return_path = \"forward\"",
);

/// The modes and, for all routers together, the controller with the better of all choices.
pub(crate) fn routing_modes() -> Vec<Choice<(RouterMode, MultiflowOptions)>> {
    let published = ROUTER_MODES.map(|choice| choice.map(|mode| (mode, MultiflowOptions::PUBLISHED)));
    published.into_iter().chain([DISJOINT]).collect()
}

pub(crate) const INITIAL_SUBFLOWS: [Choice<InitialSubflow>; 3] = [
    Choice::new("apart", InitialSubflow::Apart, "it does not count, as published: its SYN shows no token"),
    Choice::new("default-route", InitialSubflow::DefaultRoute, "it does not count, and takes the default route"),
    Choice::new("included", InitialSubflow::Included, "it counts: its SYN/ACK shows the key that the token is made of"),
];

pub(crate) const TIES: [Choice<Ties>; 3] = [
    Choice::new("first", Ties::First, "the path over the links that come first in the file"),
    Choice::new("random", Ties::Random, "any of them"),
    Choice::new("least-loaded", Ties::LeastLoaded, "the one whose links have the fewest subflows"),
];

pub(crate) const RETURN_PATHS: [Choice<ReturnPath>; 2] = [
    Choice::new("default", ReturnPath::Default, "the shortest path"),
    Choice::new("forward", ReturnPath::Forward, "the subflow's own path, backwards"),
];
