//! Traffic.

use std::sync::LazyLock;

use subflow_policy::bottleneck::BottleneckDetection;
use subflow_policy::catalogue::{Catalogue, Choice};
use subflow_policy::congestion::Algorithm;
use subflow_policy::path_manager::PathManagement;
use subflow_policy::scheduler::Scheduling;

use crate::options;
use crate::protocol_name::ProtocolName;
use crate::table::{Default, TableSchema, named, optional, required, value, word};
use crate::topology::Family;

/// The families of addresses.
pub(crate) const FAMILIES: [Choice<Family>; 2] =
    [Choice::new("ipv4", Family::Ipv4, "IPv4"), Choice::new("ipv6", Family::Ipv6, "IPv6")];

/// `[flows.NAME]`.
pub(crate) static FLOW: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "[flows.NAME]",
    doc: "One connection. At most one of `send`, `on_off`, `requests`, `streams`, `video` and `exchanges` sets its traffic; without them TCP, \
          MPTCP, SCTP and QUIC, over one path or several, send without end. UDP needs `on_off`.",
    fields: vec![
        required(
            "from",
            "a host, or \"host.interface\"",
            "the host that opens the connection and sends, or with `pairs` those that match; without an interface, its first one from which the other \
             end can be reached, or, when the connection is opened, the first one that the host then has (`[[timeline]]`)",
        ),
        required("to", "a host, or \"host.interface\"", "the host at the other end, or with `pairs` those that match"),
        word(
            "family",
            &FAMILIES,
            Default::described("that of the first addresses which both ends have"),
            "the family of the addresses that the connection begins with, where interfaces have several",
        ),
        word("protocol", &ProtocolName::ALL, Default::of("'tcp'"), "the transport protocol"),
        named(
            "congestion",
            "the name of a congestion-control algorithm, or a table with a name and options",
            Algorithm::ALL.to_vec(),
            Default::described("that of the profile"),
            "the congestion control of both ends",
        ),
        named(
            "scheduler",
            "the name of a packet scheduler, or a table with a name and options",
            Scheduling::ALL.to_vec(),
            Default::described("that of the profile; with SCTP the path with the most free window"),
            "the packet scheduler of both ends (MPTCP, MPQUIC, and SCTP with cmt)",
        ),
        optional(
            "primary",
            "\"host.interface\" of the host that the flow goes to",
            "the interface in `to`",
            "where SCTP sends data without cmt, once the address is confirmed; if it fails another address is used",
        ),
        named(
            "path_manager",
            "the name of a path manager, or a table with a name and options",
            PathManagement::ALL.to_vec(),
            Default::described("that of the profile"),
            "the path manager of both ends (MPTCP, MPQUIC); a server of MPQUIC opens no paths",
        ),
        named(
            "bottleneck",
            "the name of a shared-bottleneck detector, or a table",
            BottleneckDetection::ALL.to_vec(),
            Default::described(
                "\"red-cpi\" for the scheduler red-diversity, \"rfc8382\" where coupling needs one, else none",
            ),
            "how subflows that share a bottleneck are detected (MPTCP, MPQUIC)",
        ),
        word(
            "coupling",
            &COUPLINGS,
            Default::of("'connection'"),
            "which subflows a coupled congestion control couples (MPTCP, MPQUIC)",
        ),
        optional(
            "subflows",
            "a list of tables",
            "only those of the path manager",
            "additional subflows, opened when the connection is established (MPTCP, MPQUIC)",
        ),
        optional(
            "send",
            "a size such as \"100 MB\", \"unlimited\", or a table",
            "'unlimited' unless on_off, requests, streams, video or exchanges is given",
            "the amount to send, as fast as possible; a table is a distribution of sizes",
        ),
        optional("on_off", "a table", "none", "UDP packets at a constant rate, with pauses"),
        optional("requests", "a table", "none", "requests and responses, in sequence"),
        optional(
            "streams",
            "a list of tables",
            "none",
            "data on several streams of a connection, with priorities (QUIC, MPQUIC)",
        ),
        optional(
            "video",
            "a table",
            "none",
            "a video that the near end streams, chunk by chunk, in qualities that its player chooses",
        ),
        optional(
            "exchanges",
            "a list of tables",
            "none",
            "requests and responses that wait for each other, also for those of other flows, as those of a page",
        ),
        optional(
            "write",
            "a table",
            "all data at once",
            "how the application writes that sends the data: in bursts (with send)",
        ),
        optional(
            "read",
            "a table",
            "all data at once",
            "how the application reads that receives the data: at a rate, with pauses. What it has not read fills the \
             receive window (not over UDP)",
        ),
        named(
            "pairs",
            "\"permutation\", \"random\", \"all-to-one\", \"all-to-all\", \"stride N\", or the path of a list of flows",
            Choice::descriptions(&PATTERNS),
            Default::described("one pair"),
            "which hosts that match `from` send to which that match `to`, where `*` in both stands for any letters: a flow for \
             each pair, as a group. What is random is drawn from `pairs_seed`, and the same in all repetitions. A list is CSV with the columns from, to and, if they differ, bytes and start_s (in seconds, after `start`), a \
             connection matrix of htsim (.cm), or a flow file of HPCC; hosts are names, or numbers from 0 among those that \
             match",
        ),
        value("pairs_seed", "a whole number", "1", "the seed of `pairs` that are random"),
        optional(
            "count",
            "a whole number from 1 to 50000",
            "one flow",
            "the number of flows of this kind, named NAME.1, NAME.2, …, each with a connection and a port of its own; tables \
             and reports show them as a group, with percentiles of the time to completion",
        ),
        optional(
            "arrivals",
            "a period",
            "all start at once",
            "the time from the start of one flow of the group to that of the next; with `{ exponential = \"20 ms\" }` \
             flows arrive as a Poisson process, drawn from the seed of each run. With a count, flows whose turn would \
             come after the end of the run do not start; without one, flows go on arriving until then",
        ),
        optional(
            "until",
            "a duration",
            "the end of the run",
            "when arrivals without a count end, from the start of the run",
        ),
        value("start", "a duration", "'0 s'", "when the (first) connection is opened, from the start of the run"),
        value(
            "send_after",
            "a duration",
            "'0 s'",
            "the time from the opening of the connection to its first data; goodput and completion are counted from there",
        ),
        optional("stop", "a duration", "the end of the run", "when sending ends, from the start of the run"),
        optional(
            "duration",
            "a duration above zero",
            "until the end of the run",
            "the time of sending, as an alternative to stop",
        ),
        optional(
            "port",
            "a number from 1 to 65535",
            "5001 for the first flow, 5002 for the second, …",
            "the port at the far end",
        ),
        optional("source_port", "a number from 1 to 65535", "chosen by the stack", "the port at the near end"),
        optional(
            "dscp",
            "the name of a codepoint, or a number from 0 to 63",
            "0",
            "the differentiated services codepoint of the flow's packets, in both directions (EF, AF11 to AF43, CS0 to \
             CS7, VOICE-ADMIT, LE): queues such as `prio` and `cake` tell flows apart by it. A kernel's sockets have \
             it as IP_TOS",
        ),
        optional("tcp", "a table", "those of the host", "TCP switches of both ends of this flow"),
        optional("mptcp", "a table", "those of the host", "MPTCP switches of both ends of this flow"),
        optional("sctp", "a table", "those of the host", "SCTP switches of both ends of this flow"),
        optional("quic", "a table", "those of the host", "QUIC switches of both ends of this flow"),
    ],
});

/// `congestion = { … }`.
pub(crate) static CONGESTION: LazyLock<TableSchema> = LazyLock::new(|| {
    options::table::<Algorithm>(
        "flows.NAME.congestion = { … }",
        "A congestion control with options. Each option is for the algorithms that its description names. Switches that \
         belong to a stack are in its `tcp` table. A ratio is a number such as 0.7, or text such as `\"1/2\"`.",
        vec![named(
            "name",
            "the name of a congestion-control algorithm",
            Algorithm::ALL.to_vec(),
            Default::Required,
            "the name of the algorithm",
        )],
        Vec::new(),
    )
});

/// `scheduler = { … }`.
pub(crate) static SCHEDULER: LazyLock<TableSchema> = LazyLock::new(|| {
    options::table::<Scheduling>(
        "flows.NAME.scheduler = { … }",
        "A packet scheduler with options. Each option is for the schedulers that its description names. A ratio is a \
         number such as 1.2, or text such as `\"1/4\"`.",
        vec![named(
            "name",
            "the name of a packet scheduler",
            Scheduling::ALL.to_vec(),
            Default::Required,
            "the name of the scheduler",
        )],
        Vec::new(),
    )
});

/// `path_manager = { … }`.
pub(crate) static PATH_MANAGER: LazyLock<TableSchema> = LazyLock::new(|| {
    options::table::<PathManagement>(
        "flows.NAME.path_manager = { … }",
        "A path manager with options. Each option is for the path managers that its description names.",
        vec![named(
            "name",
            "the name of a path manager",
            PathManagement::ALL.to_vec(),
            Default::Required,
            "the name of the path manager",
        )],
        Vec::new(),
    )
});

/// `bottleneck = { … }`.
pub(crate) static BOTTLENECK: LazyLock<TableSchema> = LazyLock::new(|| {
    options::table::<BottleneckDetection>(
        "flows.NAME.bottleneck = { … }",
        "A shared-bottleneck detector with its parameters; `docs/src/detectors.md` describes them for each detector.",
        vec![named(
            "detector",
            "the name of a shared-bottleneck detector",
            BottleneckDetection::ALL.to_vec(),
            Default::Required,
            "the name of the detector",
        )],
        vec![value(
            "regroup",
            "a duration above zero",
            "'350 ms'",
            "the interval at which coupling = \"shared-bottleneck\" uses the results of the detector",
        )],
    )
});

/// An element of `subflows`.
pub(crate) static SUBFLOW: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "an element of flows.NAME.subflows",
    doc: "A subflow that is opened when the connection is established, in addition to those of the path manager. With \
          different source ports there may be several between the same addresses.",
    fields: vec![
        required("from", "\"host.interface\"", "the interface of the near end"),
        required("to", "\"host.interface\"", "the interface of the far end"),
        optional("source_port", "a number from 1 to 65535", "chosen by the stack", "the port at the near end"),
        value("backup", "true or false", "false", "whether it is used only if no other works"),
    ],
});

/// Which of many hosts send to which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    Permutation,
    Random,
    AllToOne,
    AllToAll,
    Stride,
}

pub(crate) const PATTERNS: [Choice<Pattern>; 5] = [
    Choice::new("permutation", Pattern::Permutation, "each host sends to one other, and receives from one at most"),
    Choice::new("random", Pattern::Random, "each host sends to any other one"),
    Choice::new("all-to-one", Pattern::AllToOne, "all hosts send to the same one (incast)"),
    Choice::new("all-to-all", Pattern::AllToAll, "each host sends to each other one"),
    Choice::new("stride", Pattern::Stride, "\"stride N\": each host sends to the Nth after it")
        .source("Al-Fares et al., SIGCOMM 2008, section 5.2"),
];

/// Which subflows of a connection coupled congestion control couples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coupling {
    /// All (RFC 6356).
    Connection,
    /// Those that share a bottleneck.
    SharedBottleneck,
}

pub(crate) const COUPLINGS: [Choice<Coupling>; 2] = [
    Choice::new("connection", Coupling::Connection, "all subflows").source("RFC 6356"),
    Choice::new(
        "shared-bottleneck",
        Coupling::SharedBottleneck,
        "those that share a bottleneck, as the detector finds",
    ),
];
