//! Traffic.

use std::sync::LazyLock;

use subflow_policy::bottleneck::BottleneckDetection;
use subflow_policy::catalogue::{Catalogue, Choice};
use subflow_policy::congestion::Algorithm;
use subflow_policy::path_manager::PathManagement;
use subflow_policy::scheduler::Scheduling;

use crate::flow::ProtocolName;
use crate::options;
use crate::table::{Default, TableSchema, named, optional, required, value, word};

/// `[flows.NAME]`.
pub(crate) static FLOW: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "[flows.NAME]",
    doc: "One connection. At most one of `send`, `on_off` and `requests` sets its traffic; without them TCP, MPTCP, \
          SCTP and QUIC, over one path or several, send without end. UDP needs `on_off`.",
    fields: vec![
        required(
            "from",
            "a host, or \"host.interface\"",
            "the host that opens the connection and sends, or with `pairs` those that match; without an interface, its first one from which the other \
             end can be reached, or, when the connection is opened, the first one that the host then has (`[[timeline]]`)",
        ),
        required("to", "a host, or \"host.interface\"", "the host at the other end, or with `pairs` those that match"),
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
            "'unlimited' unless on_off or requests is given",
            "the amount to send, as fast as possible; a table is a distribution of sizes",
        ),
        optional("on_off", "a table", "none", "UDP packets at a constant rate, with pauses"),
        optional("requests", "a table", "none", "requests and responses, in sequence"),
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

/// `on_off = { … }`.
pub(crate) static ON_OFF: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "flows.NAME.on_off = { … }",
    doc: "UDP packets of one size at a constant rate while on, and no packets while off, starting with on. A period \
          is a duration, or `{ exponential = \"1 s\" }`: drawn at random each time, with this mean.",
    fields: vec![
        required("rate", "a rate above zero", "the payload rate while on"),
        value("packet", "a size from 1 to 65507 bytes, over IPv6 to 65487", "'1400 bytes'", "the payload of a packet"),
        value("on", "a period", "'1 s'", "the period of sending"),
        value("off", "a period", "'0 s'", "the period of silence; 0 s gives a constant bit rate"),
    ],
});

/// `requests = { … }`.
pub(crate) static REQUESTS: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "flows.NAME.requests = { … }",
    doc: "Requests, each followed by a response, all over one connection: one after the other with pauses, or with `every` \
          at times of their own.",
    fields: vec![
        value("request", "a size above zero, or a table", "'1 kB'", "the size of a request; a table is a distribution"),
        required("response", "a size above zero, or a table", "the size of a response; a table is a distribution"),
        optional("count", "a whole number, 1 or more", "as many as there is time for", "the number of exchanges"),
        value("think", "a period", "'0 s'", "the pause between a response and the next request"),
        optional(
            "every",
            "a period",
            "after the response and the pause",
            "the time from one request to the next, instead of think: requests wait for no response, and responses come \
             in their order. The first one goes when the connection is established",
        ),
        optional(
            "deadline",
            "a duration above zero",
            "no deadline",
            "the time from a request to the end of its response after which an exchange is late; results have the share \
             in time",
        ),
    ],
});

/// `read = { … }`.
pub(crate) static READ: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "flows.NAME.read = { … }",
    doc: "How the application reads that receives the data: of requests, the one that reads the responses. Goodput, \
          completion and exchanges count what it has read.",
    fields: vec![
        optional(
            "rate",
            "a rate above zero",
            "as fast as data arrives",
            "the rate of reading: after each read the application waits as long as the bytes take at this rate",
        ),
        value("buffer", "a size from 1 byte to 1 GiB", "'16 KiB'", "the most bytes that one read takes"),
        optional("pause", "a table, or a list of tables", "none", "when the application does not read"),
    ],
});

/// `pause = { … }` of `read`.
pub(crate) static PAUSE: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "flows.NAME.read.pause = { … }",
    doc: "A time at which the application does not read. It begins at a time, or after an amount that was read.",
    fields: vec![
        optional("at", "a duration", "another beginning", "the beginning, from the start of the run"),
        optional("after", "a size", "another beginning", "the number of bytes read at which it begins"),
        required("for", "a duration above zero", "the length"),
    ],
});

/// `send = { … }`, and `request` and `response` of `requests`.
pub(crate) static SIZES: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "send, request or response = { … }",
    doc: "Sizes that are drawn from the seed of each run: of transfers (`send`; each flow has its own), of requests and \
          of responses (each has its own). A table has one of `exponential`, `pareto`, `lognormal`, `uniform` and \
          `empirical`.",
    fields: vec![
        optional("exponential", "a size above zero", "another distribution", "exponential, with this mean"),
        optional("pareto", "a size above zero", "another distribution", "Pareto, with this mean and a heavy tail"),
        value("shape", "a ratio from 1.01 to 100", "1.5", "the tail index (pareto); the smaller, the heavier the tail"),
        optional(
            "most",
            "a size above zero",
            "no limit",
            "the size to which larger draws are cut (pareto), which lowers the mean",
        ),
        optional("lognormal", "a size above zero", "another distribution", "log-normal, with this mean"),
        value("sigma", "a ratio from 0 to 10", "1", "the standard deviation of the natural logarithm (lognormal)"),
        optional(
            "uniform",
            "a list of two sizes",
            "another distribution",
            "any size from the first to the second, all equally probable",
        ),
        optional(
            "empirical",
            "a path",
            "another distribution",
            "measured sizes: lines of bytes and the probability of at most so many, as a fraction or per cent, the last \
             one 1 or 100; between two lines sizes are uniform, and below the first line there are none unless it is 0 0",
        ),
    ],
});

/// `{ exponential = … }`.
pub(crate) static PERIOD: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "a period = { … }",
    doc: "A duration that is drawn at random each time.",
    fields: vec![required("exponential", "a duration above zero", "the mean of an exponential distribution")],
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
