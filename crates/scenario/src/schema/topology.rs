//! Hosts, routers and links.

use std::sync::LazyLock;

use subflow_network::{Distribution, LossPosition};
use subflow_policy::catalogue::{Choice, Description};
use subflow_policy::queue::{IdleAgeing, RedDrop};

use super::network::ROUTER_MODES;
use crate::HostStack;
use crate::switches::profiles;
use crate::table::{Default, TableSchema, descriptions, named, optional, required, value, word};

/// `[hosts.NAME]`.
pub(crate) static HOST: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "[hosts.NAME]",
    doc: "A host. The short form is the list of interfaces: `phone = [\"wifi\", \"lte\"]`. The order of the \
          interfaces gives MPTCP address identifiers and decides on which one a connection starts.",
    fields: vec![
        required(
            "interfaces",
            "a list of names or tables, at least one",
            "the names of its network interfaces, in order",
        ),
        named(
            "profile",
            "the name of a profile",
            profiles::descriptions(),
            Default::described("the scenario's profile"),
            "the stack that this host runs",
        ),
        word(
            "stack",
            &HOST_STACKS,
            Default::of("'kernel'"),
            "the TCP and MPTCP implementation of the host with `--on linux`; the simulator always runs that of Subflow",
        ),
        optional("tcp", "a table", "those of the scenario", "TCP switches of this host"),
        optional("mptcp", "a table", "those of the scenario", "MPTCP switches of this host"),
        optional("sctp", "a table", "those of the scenario", "SCTP switches of this host"),
    ],
});

/// An element of `interfaces`.
pub(crate) static INTERFACE: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "an element of hosts.NAME.interfaces",
    doc: "An interface. The short form is its name.",
    fields: vec![
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
});

/// `[routers.NAME]`.
pub(crate) static ROUTER: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "[routers.NAME]",
    doc: "A node that forwards packets.",
    fields: vec![word("routing", &ROUTER_MODES, Default::described("the mode of [routing]"), "how it chooses paths")],
});

/// `[links.NAME]`.
pub(crate) static LINK: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "[links.NAME]",
    doc: "A link with two independent directions. `rate`, `delay`, `jitter`, `queue`, `loss`, `overhead`, `duplicate` \
          and `reorder` have one value for both directions or `{ up = …, down = … }`; up is from the first to the \
          second end. A packet is queued or dropped, transmitted, may be lost, reordered or duplicated, and arrives \
          after the delay.",
    fields: vec![
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
            losses(),
            Default::of("'none'"),
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
});

/// `{ up = …, down = … }`.
pub(crate) static DIRECTIONS: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "{ up = …, down = … }",
    doc: "One value for each direction of a link.",
    fields: vec![
        optional("up", "a value", "the key's default", "the value from the link's first end to its second"),
        optional("down", "a value", "the key's default", "the value from the link's second end to its first"),
    ],
});

/// `queue = { … }`.
pub(crate) static QUEUE: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "links.NAME.queue = { … }",
    doc: "A queue. The thresholds of RED are in the unit of the limit: packets, or bytes, which times and bdps stand for. \
          With CoDel, packets are dropped or marked when they leave.",
    fields: vec![
        word("discipline", &DISCIPLINES, Default::of("'drop-tail'"), "which packets are dropped"),
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
        word("drop", &RED_DROPS, Default::of("'per-packet'"), "how RED chooses the packets to drop"),
        word("idle", &RED_AGEING, Default::of("'packets'"), "how RED's average decreases while the queue is empty"),
        value(
            "target",
            "a duration above zero",
            "'5 ms'",
            "the waiting time (CoDel) that a packet may have although the queue does not go empty",
        ),
        value(
            "interval",
            "a duration above zero",
            "'100 ms'",
            "how long all packets must have waited (CoDel) for the target or more until the first is dropped: about a \
             round-trip time",
        ),
        value(
            "ecn",
            "true or false",
            "false",
            "whether (CoDel) packets of transports that use ECN are marked instead of dropped",
        ),
    ],
});

/// `loss = { … }`.
pub(crate) static LOSS: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "links.NAME.loss = { … }",
    doc: "Loss in bursts (`tc netem loss gemodel p r 1-h 1-k`), or from a recorded list.",
    fields: vec![
        word("model", &LOSS_MODELS, Default::Required, "the loss model"),
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
        word("position", &LOSS_POSITIONS, Default::of("'after-queue'"), "where packets are lost"),
    ],
});

/// `rate = { … }`.
pub(crate) static TOKEN_BUCKET: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "links.NAME.rate = { … }",
    doc: "A token bucket, as `tc tbf`: after a pause a burst leaves at once, and the long-term rate is limited. The \
          link's queue is tbf's `limit`.",
    fields: vec![
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
});

/// `jitter = { … }`.
pub(crate) static JITTER: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "links.NAME.jitter = { … }",
    doc: "Varying delay, as in `tc netem delay`. The short form is the deviation.",
    fields: vec![
        required(
            "deviation",
            "a duration above zero",
            "σ: half the width of the uniform distribution, the standard deviation of the normal one",
        ),
        word("distribution", &DISTRIBUTIONS, Default::of("'uniform'"), "the distribution of delays"),
        value("correlation", "a probability", "'0 %'", "the weight of the previous packet's draw in each draw"),
    ],
});

/// `reorder = { … }`.
pub(crate) static REORDER: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "links.NAME.reorder = { … }",
    doc: "Reordering. Without `extra_delay` some packets have no delay, as in `tc netem reorder`; with it some \
          packets have an extra delay.",
    fields: vec![
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
});

pub(crate) const HOST_STACKS: [Choice<HostStack>; 2] = [
    Choice::new("kernel", HostStack::Kernel, "the kernel's own"),
    Choice::new("subflow", HostStack::Subflow, "Subflow's, in this process"),
];

/// A built-in queue discipline by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueKind {
    DropTail,
    Red,
    CoDel,
}

pub(crate) const DISCIPLINES: [Choice<QueueKind>; 3] = [
    Choice::new("drop-tail", QueueKind::DropTail, "drops the packets that find it full; limited in packets or bytes")
        .source("tc netem, ns-3 DropTailQueue"),
    Choice::new("red", QueueKind::Red, "random early detection: drops some packets before it is full")
        .source("Floyd, Jacobson, ToN 1993; gentle: Floyd 2000; FreeBSD dummynet"),
    Choice::new(
        "codel",
        QueueKind::CoDel,
        "controlled delay: drops or marks packets while none of the last ones has waited for less than the target",
    )
    .source("RFC 8289; Linux sch_codel (ecn)"),
];

pub(crate) const RED_DROPS: [Choice<RedDrop>; 2] = [
    Choice::new("per-packet", RedDrop::PerPacket, "each packet by a draw of its own")
        .source("Floyd, Jacobson, ToN 1993, section 4"),
    Choice::new("per-interval", RedDrop::PerInterval, "one draw for each stretch of packets between two drops")
        .source("Floyd, Jacobson, ToN 1993, section 11; FreeBSD dummynet"),
];

pub(crate) const RED_AGEING: [Choice<IdleAgeing>; 2] = [
    Choice::new("packets", IdleAgeing::Packets { packet: 1500 }, "as if packets of 1500 bytes had passed")
        .source("Floyd, Jacobson, ToN 1993, section 4"),
    Choice::new("dummynet", IdleAgeing::Dummynet { hz: 1000 }, "one step per millisecond").source("FreeBSD dummynet"),
];

/// A loss model by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossModel {
    Bernoulli,
    GilbertElliott,
    Trace,
}

pub(crate) const LOSS_MODELS: [Choice<LossModel>; 3] = [
    Choice::new("bernoulli", LossModel::Bernoulli, "each packet with the same probability; short form: loss = \"1 %\"")
        .source("tc netem loss random"),
    Choice::new(
        "gilbert-elliott",
        LossModel::GilbertElliott,
        "bursts: a good and a bad state with a loss probability each",
    )
    .source("Gilbert 1960, Elliott 1963; tc netem loss gemodel"),
    Choice::new("trace", LossModel::Trace, "the packets that a recorded list of zeros and ones names"),
];

/// What `loss` takes: a model, or none.
pub(super) fn losses() -> Vec<Description> {
    let none = Choice::new("none", (), "no packet is lost; short form only: loss = \"none\"").description;
    [none].into_iter().chain(descriptions(&LOSS_MODELS)).collect()
}

pub(crate) const LOSS_POSITIONS: [Choice<LossPosition>; 2] = [
    Choice::new(
        "after-queue",
        LossPosition::AfterQueue,
        "a lost packet has waited and been transmitted like any other",
    ),
    Choice::new("before-queue", LossPosition::BeforeQueue, "a lost packet never took a place"),
];

pub(crate) const DISTRIBUTIONS: [Choice<Distribution>; 3] = [
    Choice::new("uniform", Distribution::Uniform, "every delay within the deviation is as likely").source("tc netem"),
    Choice::new("normal", Distribution::Normal, "the deviation is the standard deviation").source("tc netem"),
    Choice::new("pareto", Distribution::Pareto, "a long tail of late packets").source("tc netem"),
];
