//! Hosts and links.

use std::sync::LazyLock;

use subflow_network::{Distribution, LossModel, LossPosition, Middlebox};
use subflow_policy::catalogue::{Catalogue, Choice, Description};
use subflow_policy::queue::{Discipline, Limit, QueueDiscipline};
use subflow_quantity::Size;

use super::energy::RADIOS;
use super::general::EVENT_DIRECTIONS;
use super::wifi;
use crate::switches::profiles;
use crate::table::{Default, TableSchema, named, optional, required, value, word, words};
use crate::{HostStack, options};

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
        optional(
            "namespace",
            "text",
            "a new one",
            "an existing network namespace that becomes the host, with `--on linux` and `subflow up`: a name as `ip netns` \
             lists it, or the number of a process in it, such as a container's. It keeps its settings",
        ),
        optional("tcp", "a table", "those of the scenario", "TCP switches of this host"),
        optional("mptcp", "a table", "those of the scenario", "MPTCP switches of this host"),
        optional("sctp", "a table", "those of the scenario", "SCTP switches of this host"),
        optional("quic", "a table", "those of the scenario", "QUIC switches of this host"),
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
        value(
            "backup",
            "true or false",
            "false",
            "whether paths of MPTCP and multipath QUIC over it are used only if no other works",
        ),
        named(
            "energy",
            "the name of an energy model, or a table",
            Choice::descriptions(&RADIOS),
            Default::described("its energy is not counted"),
            "what its radio takes, in the simulator; it changes nothing about packets",
        ),
    ],
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
            "a rate such as \"50 Mbit/s\", \"unlimited\", a table, or the path of a mahimahi trace",
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
        optional(
            "middlebox",
            "a table, or a list of tables",
            "none",
            "what packets of both directions pass before they are queued, in order from the first end to the second",
        ),
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

/// The description of a queue's limit, with what it is where disciplines have one of their own.
fn usual_limits() -> String {
    let own = Discipline::prototypes().into_iter().filter_map(|discipline| {
        let limit = match discipline.usual_limit()? {
            Limit::Packets(packets) => format!("{packets} packets"),
            Limit::Bytes(bytes) => Size::from_bytes(bytes).to_string(),
            Limit::Unlimited => "none".to_owned(),
        };
        Some(format!("{limit} for {}", discipline.name()))
    });
    format!("the limit; if it is not given, {}", own.collect::<Vec<_>>().join(", "))
}

/// `queue = { … }`.
pub(crate) static QUEUE: LazyLock<TableSchema> = LazyLock::new(|| {
    options::table::<Discipline>(
        "links.NAME.queue = { … }",
        "A queue. Each option is for the disciplines that its description names. The thresholds of RED are in the unit \
         of the limit: packets, or bytes, which times and bdps stand for. CoDel drops or marks packets when they leave.",
        vec![
            words("discipline", Discipline::ALL.to_vec(), Default::of("'drop-tail'"), "which packets are dropped"),
            value(
                "limit",
                "a limit such as \"100 packets\", \"64 KiB\", \"50 ms\" or \"1 bdp\", or \"unlimited\"",
                "'100 packets'",
                &usual_limits(),
            ),
            value(
                "counts_transmitting",
                "true or false",
                "true",
                "whether the packet in transmission counts towards the limit, as in tc netem, but not in ns-3 and \
                 dummynet",
            ),
        ],
        Vec::new(),
    )
});

/// `loss = { … }`.
pub(crate) static LOSS: LazyLock<TableSchema> = LazyLock::new(|| {
    options::table::<LossModel>(
        "links.NAME.loss = { … }",
        "Loss in bursts (`tc netem loss gemodel p r 1-h 1-k`), or from a recorded list. Each option is for the models \
         that its description names.",
        vec![words("model", LossModel::ALL.to_vec(), Default::Required, "the loss model")],
        vec![word("position", &LOSS_POSITIONS, Default::of("'after-queue'"), "where packets are lost")],
    )
});

/// `middlebox = { … }`.
pub(crate) static MIDDLEBOX: LazyLock<TableSchema> = LazyLock::new(|| {
    options::table::<Middlebox>(
        "links.NAME.middlebox = { … }",
        "A middlebox. Each option is for the kinds that its description names. nat has the inside at the link's first \
         end, whatever its direction.",
        vec![words("kind", Middlebox::ALL.to_vec(), Default::Required, "what it does")],
        vec![
            word(
                "direction",
                &EVENT_DIRECTIONS,
                Default::of("'both'"),
                "the direction of the packets on which it acts",
            ),
            value("start", "a duration", "'0 s'", "the time from which it acts; packets pass it unchanged before"),
        ],
    )
});

/// `rate = { … }`.
pub(crate) static RATE: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "links.NAME.rate = { … }",
    doc: "With `burst` a token bucket, as `tc tbf`: after a pause a burst leaves at once, and the long-term rate is limited. \
          The link's queue is tbf's `limit`. With `tti` a cellular link: a transport block in each transmission time \
          interval, which is sent again one HARQ round trip later if it was not decoded, in place of a new one, while what \
          follows waits. The defaults are those of LTE in FDD: HARQ after eight intervals of 1 ms (3GPP TS 36.321), and one \
          block in ten that is not decoded, which is what link adaptation aims at. With `standard` a WiFi link, which contends \
          for its channel and sends aggregates (A-MPDU); its stations have the best effort of EDCA, or DCF.",
    fields: vec![
        required(
            "rate",
            "a rate above zero",
            "the token rate; of a cellular link, the rate without errors; of a WiFi link, that of its frames",
        ),
        optional(
            "burst",
            "a size of at least 1500 bytes",
            "no token bucket",
            "the amount that may leave at once after a pause",
        ),
        optional("peak_rate", "a rate above the rate", "bursts leave at once", "the rate limit of a burst"),
        value(
            "mtu",
            "a size of at least 1500 bytes",
            "'1500 bytes'",
            "the amount that may leave at once at the peak rate",
        ),
        optional("tti", "a duration above zero", "no cellular link", "the transmission time interval: 1 ms in LTE"),
        value(
            "block_error_rate",
            "a probability",
            "'10 %'",
            "the probability that a transmission of a block is not decoded, at most 90 %",
        ),
        value(
            "harq_rtt",
            "a duration above zero",
            "'8 ms'",
            "the time from a transmission of a block to the next one, a whole number of intervals",
        ),
        value(
            "grant_delay",
            "a duration",
            "'0 ms'",
            "the time for which what comes to an idle link waits for a grant, before the next interval may be its own",
        ),
    ]
    .into_iter()
    .chain(wifi::fields())
    .collect(),
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

/// What `loss` takes: a model, or none.
pub(super) fn losses() -> Vec<Description> {
    let none = Choice::new("none", (), "no packet is lost; short form only: loss = \"none\"").description;
    [none].into_iter().chain(LossModel::ALL.iter().copied()).collect()
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
