//! Hosts, routers and links.

use super::{Default, TableSchema, named, optional, required, value, word};
use crate::read::words;

/// `[hosts.NAME]`.
pub(crate) const HOST: TableSchema = TableSchema {
    path: "[hosts.NAME]",
    doc: "A host. The short form is the list of interfaces: `phone = [\"wifi\", \"lte\"]`. The order of the \
          interfaces gives MPTCP address identifiers and decides on which one a connection starts.",
    fields: &[
        required(
            "interfaces",
            "a list of names or tables, at least one",
            "the names of its network interfaces, in order",
        ),
        named(
            "profile",
            "the name of a profile",
            words::profiles,
            Default::None("the scenario's profile"),
            "the stack that this host runs",
        ),
        word(
            "stack",
            words::host_stacks,
            Default::Value("'kernel'"),
            "the TCP and MPTCP implementation of the host with `--on linux`; the simulator always runs that of Subflow",
        ),
        optional("tcp", "a table", "those of the scenario", "TCP switches of this host"),
        optional("mptcp", "a table", "those of the scenario", "MPTCP switches of this host"),
        optional("sctp", "a table", "those of the scenario", "SCTP switches of this host"),
    ],
};

/// An element of `interfaces`.
pub(crate) const INTERFACE: TableSchema = TableSchema {
    path: "an element of hosts.NAME.interfaces",
    doc: "An interface. The short form is its name.",
    fields: &[
        required("name", "a name, unique within the host", "its name"),
        optional(
            "address",
            "an IP address or a list of them",
            "10.A.B.C, A·256 + B the host's number, C the interface's, from 1",
            "its address or addresses, except link-local ones (fe80::/10); MPTCP may open subflows on each of them",
        ),
        optional(
            "gateways",
            "a list of names of routers, one for each address",
            "packets take the shortest path",
            "the routers that packets from and to its addresses pass, as with a loose source route over relays; \
             path_manager = \"binder\" opens a subflow through each",
        ),
        value("backup", "true or false", "false", "whether MPTCP subflows over it are used only if no other works"),
    ],
};

/// `[routers.NAME]`.
pub(crate) const ROUTER: TableSchema = TableSchema {
    path: "[routers.NAME]",
    doc: "A node that forwards packets.",
    fields: &[word("routing", words::router_modes, Default::None("the mode of [routing]"), "how it chooses paths")],
};

/// `[links.NAME]`.
pub(crate) const LINK: TableSchema = TableSchema {
    path: "[links.NAME]",
    doc: "A link with two independent directions. `rate`, `delay`, `jitter`, `queue`, `loss`, `overhead`, `duplicate` \
          and `reorder` have one value for both directions or `{ up = …, down = … }`; up is from the first to the \
          second end. A packet is queued or dropped, transmitted, may be lost, reordered or duplicated, and arrives \
          after the delay.",
    fields: &[
        required(
            "between",
            "a list of two ends, each \"host.interface\" or a router's name",
            "the two ends; a host with one interface may be named without it",
        ),
        required(
            "rate",
            "a rate such as \"50 Mbit/s\", \"unlimited\", a table (token bucket), or the path of a mahimahi trace",
            "the rate; a trace has one line per 1500 bytes with the millisecond at which they may leave, and repeats",
        ),
        value("delay", "a duration such as \"10 ms\"", "'0 ms'", "the propagation delay of one direction"),
        optional(
            "jitter",
            "a duration above zero, or a table",
            "none",
            "the variation of the delay; packets with a shorter delay overtake others",
        ),
        value(
            "queue",
            "a limit such as \"100 packets\", \"64 KiB\", \"50 ms\" or \"1 bdp\", \"unlimited\", or a table",
            "'100 packets'",
            "the queue; packets that do not fit are dropped. A time is what the link sends in it by its rate; a bdp is what it sends during its delay there and back",
        ),
        named(
            "loss",
            "a probability such as \"1 %\", \"none\", or a table",
            words::losses,
            Default::Value("'none'"),
            "the loss model; packets are lost after transmission",
        ),
        value(
            "overhead",
            "a size such as \"38 B\"",
            "'0 B'",
            "the bytes that each packet takes on the link in addition to its IP length",
        ),
        value("duplicate", "a probability", "'0 %'", "the probability that a packet is duplicated"),
        optional("reorder", "a table", "none", "the reordering of packets"),
    ],
};

/// `{ up = …, down = … }`.
pub(crate) const DIRECTIONS: TableSchema = TableSchema {
    path: "{ up = …, down = … }",
    doc: "One value for each direction of a link.",
    fields: &[
        optional("up", "a value", "the key's default", "the value from the link's first end to its second"),
        optional("down", "a value", "the key's default", "the value from the link's second end to its first"),
    ],
};

/// `queue = { … }`.
pub(crate) const QUEUE: TableSchema = TableSchema {
    path: "links.NAME.queue = { … }",
    doc: "A queue. The thresholds of RED are in the unit of the limit: packets, or bytes, which times and bdps stand for.",
    fields: &[
        word("discipline", words::queues, Default::Value("'drop-tail'"), "which packets are dropped"),
        value(
            "limit",
            "a limit such as \"100 packets\", \"64 KiB\", \"50 ms\" or \"1 bdp\", or \"unlimited\"",
            "'100 packets'",
            "the limit",
        ),
        value(
            "counts_transmitting",
            "true or false",
            "true",
            "whether the packet in transmission counts towards the limit, as in tc netem, but not in ns-3 and dummynet",
        ),
        optional(
            "min_threshold",
            "packets, a size, a duration or a bdp",
            "a sixth of the limit",
            "the average (RED) below which nothing is dropped",
        ),
        optional(
            "max_threshold",
            "packets, a size, a duration or a bdp",
            "half the limit",
            "the average (RED) at which the drop probability is max_probability",
        ),
        value("max_probability", "a probability", "'10 %'", "the drop probability (RED) at max_threshold"),
        value("weight", "a number above 0, at most 1", "0.002", "the weight (RED) of a new sample in the average"),
        value(
            "gentle",
            "true or false",
            "true",
            "whether (RED) the drop probability increases to 1 between max_threshold and twice that, instead of \
             jumping to 1",
        ),
        word("drop", words::red_drops, Default::Value("'per-packet'"), "how RED chooses the packets to drop"),
        word(
            "idle",
            words::red_ageing,
            Default::Value("'packets'"),
            "how RED's average decreases while the queue is empty",
        ),
    ],
};

/// `loss = { … }`.
pub(crate) const LOSS: TableSchema = TableSchema {
    path: "links.NAME.loss = { … }",
    doc: "Loss in bursts (`tc netem loss gemodel p r 1-h 1-k`), or from a recorded list.",
    fields: &[
        word("model", words::loss_models, Default::Required, "the loss model"),
        optional(
            "probability",
            "a probability",
            "needed by bernoulli",
            "the probability that a packet is lost (bernoulli)",
        ),
        optional(
            "good_to_bad",
            "a probability",
            "needed by gilbert-elliott",
            "the transition probability from the good to the bad state, per packet (p)",
        ),
        optional(
            "bad_to_good",
            "a probability",
            "needed by gilbert-elliott",
            "the transition probability from the bad to the good state, per packet (r)",
        ),
        value("loss_in_bad", "a probability", "'100 %'", "the loss probability in the bad state (1 − h)"),
        value("loss_in_good", "a probability", "'0 %'", "the loss probability in the good state (1 − k)"),
        optional(
            "file",
            "a path",
            "needed by trace",
            "the recorded list: 0 (arrives) or 1 (lost) for each packet, line breaks allowed anywhere; it repeats",
        ),
        word("position", words::loss_positions, Default::Value("'after-queue'"), "where packets are lost"),
    ],
};

/// `rate = { … }`.
pub(crate) const TOKEN_BUCKET: TableSchema = TableSchema {
    path: "links.NAME.rate = { … }",
    doc: "A token bucket, as `tc tbf`: after a pause a burst leaves at once, and the long-term rate is limited. The \
          link's queue is tbf's `limit`.",
    fields: &[
        required("rate", "a rate above zero", "the token rate"),
        required("burst", "a size of at least 1500 bytes", "the amount that may leave at once after a pause"),
        optional("peak_rate", "a rate above the rate", "bursts leave at once", "the rate limit of a burst"),
        value(
            "mtu",
            "a size of at least 1500 bytes",
            "'1500 bytes'",
            "the amount that may leave at once at the peak rate",
        ),
    ],
};

/// `jitter = { … }`.
pub(crate) const JITTER: TableSchema = TableSchema {
    path: "links.NAME.jitter = { … }",
    doc: "Varying delay, as in `tc netem delay`. The short form is the deviation.",
    fields: &[
        required(
            "deviation",
            "a duration above zero",
            "σ: half the width of the uniform distribution, the standard deviation of the normal one",
        ),
        word("distribution", words::distributions, Default::Value("'uniform'"), "the distribution of delays"),
        value("correlation", "a probability", "'0 %'", "the weight of the previous packet's draw in each draw"),
    ],
};

/// `reorder = { … }`.
pub(crate) const REORDER: TableSchema = TableSchema {
    path: "links.NAME.reorder = { … }",
    doc: "Reordering. Without `extra_delay` some packets have no delay, as in `tc netem reorder`; with it some \
          packets have an extra delay.",
    fields: &[
        required(
            "probability",
            "a probability",
            "the probability that a packet, if the gap allows it, has no delay or the extra delay",
        ),
        optional(
            "extra_delay",
            "a duration above zero",
            "packets skip the delay",
            "the extra delay, in addition to the normal delay",
        ),
        value("gap", "a whole number, 1 or more", "1", "the spacing: every gap-th packet may have no delay"),
        value("correlation", "a probability", "'0 %'", "the weight of the previous packet's draw in each draw"),
    ],
};
