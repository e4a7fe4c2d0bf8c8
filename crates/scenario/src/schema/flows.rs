//! Traffic.

use super::{Default, TableSchema, named, optional, required, value, word};
use crate::read::words;
use crate::{CongestionName, DetectorName, PathManagerName, SchedulerName};

/// `[flows.NAME]`.
pub(crate) const FLOW: TableSchema = TableSchema {
    path: "[flows.NAME]",
    doc: "One connection. At most one of `send`, `on_off` and `requests` says what goes over it; without any, TCP, MPTCP and SCTP send without end. UDP needs `on_off`.",
    fields: &[
        required(
            "from",
            "a host, or \"host.interface\"",
            "the host that opens the connection and sends; a host alone means its first interface from which the other end can be reached",
        ),
        required("to", "a host, or \"host.interface\"", "the host at the other end"),
        word("protocol", words::protocols, Default::Value("'tcp'"), "the transport protocol"),
        named(
            "congestion",
            "the name of a congestion-control algorithm",
            CongestionName::catalogue,
            Default::None("what the profile says"),
            "the congestion control of both ends",
        ),
        named(
            "scheduler",
            "the name of a packet scheduler, or a table with a name and options",
            SchedulerName::catalogue,
            Default::None("what the profile says; with SCTP the path with the most free window"),
            "the packet scheduler of both ends (MPTCP, and SCTP with cmt)",
        ),
        optional(
            "primary",
            "\"host.interface\" of the host that the flow goes to",
            "the interface in `to`",
            "where SCTP sends data without cmt, once the address is confirmed; while it does not answer another one takes its place",
        ),
        named(
            "path_manager",
            "the name of a path manager, or a table with a name and options",
            PathManagerName::catalogue,
            Default::None("what the profile says"),
            "the path manager of both ends (MPTCP)",
        ),
        named(
            "bottleneck",
            "the name of a shared-bottleneck detector, or a table",
            DetectorName::catalogue,
            Default::None(
                "\"red-cpi\" for the scheduler red-diversity, \"rfc8382\" where coupling needs one, else none",
            ),
            "how subflows that share a bottleneck are told (MPTCP)",
        ),
        word(
            "coupling",
            words::couplings,
            Default::Value("'connection'"),
            "which subflows a coupled congestion control couples (MPTCP)",
        ),
        optional(
            "subflows",
            "a list of tables",
            "only those of the path manager",
            "the further subflows to open as soon as the connection stands (MPTCP)",
        ),
        optional(
            "send",
            "a size such as \"100 MB\", or \"unlimited\"",
            "'unlimited' unless on_off or requests is given",
            "how much to send, as fast as it goes",
        ),
        optional("on_off", "a table", "none", "UDP packets at a constant rate, with pauses"),
        optional("requests", "a table", "none", "requests and responses, one after the other"),
        value("start", "a duration", "'0 s'", "when the connection is opened, counted from the start of the run"),
        optional("stop", "a duration", "the end of the run", "when sending ends, counted from the start of the run"),
        optional("duration", "a duration above zero", "until the end of the run", "how long to send; instead of stop"),
        optional(
            "port",
            "a number from 1 to 65535",
            "5001 for the first flow, 5002 for the second, …",
            "the port at the far end",
        ),
        optional("source_port", "a number from 1 to 65535", "chosen by the stack", "the port at the near end"),
        optional("tcp", "a table", "what the host says", "TCP switches of both ends of this flow"),
        optional("mptcp", "a table", "what the host says", "MPTCP switches of both ends of this flow"),
        optional("sctp", "a table", "what the host says", "SCTP switches of both ends of this flow"),
    ],
};

/// `scheduler = { … }`.
pub(crate) const SCHEDULER: TableSchema = TableSchema {
    path: "flows.NAME.scheduler = { … }",
    doc: "A packet scheduler with options. Each option belongs to one scheduler, which its meaning names. A ratio is a number such as 1.2, or text such as `\"1/4\"`.",
    fields: &[
        named(
            "name",
            "the name of a packet scheduler",
            SchedulerName::catalogue,
            Default::Required,
            "which scheduler it is",
        ),
        value(
            "beta",
            "a ratio from 0 to 10",
            "'1/4'",
            "how much more of an advantage (ecf) it takes to use a slow subflow again after waiting",
        ),
        value(
            "lambda",
            "a ratio from 0 to 10",
            "1.2",
            "what the estimate of blocking (blest) is multiplied by at the start",
        ),
        value("lambda_min", "a ratio from 0 to 10", "1.0", "the least that lambda becomes"),
        value("lambda_max", "a ratio from 0 to 10", "1.3", "the most that lambda becomes"),
    ],
};

/// `path_manager = { … }`.
pub(crate) const PATH_MANAGER: TableSchema = TableSchema {
    path: "flows.NAME.path_manager = { … }",
    doc: "A path manager with options. Each option belongs to one path manager, which its meaning names.",
    fields: &[
        named(
            "name",
            "the name of a path manager",
            PathManagerName::catalogue,
            Default::Required,
            "which path manager it is",
        ),
        value(
            "subflows_per_pair",
            "a whole number from 1 to 64",
            "1",
            "how many subflows (full-mesh) each pair of addresses gets",
        ),
        value(
            "n",
            "a whole number from 1 to 64",
            "2",
            "how many subflows (ndiffports) there are, the initial one included",
        ),
    ],
};

/// `bottleneck = { … }`.
pub(crate) const BOTTLENECK: TableSchema = TableSchema {
    path: "flows.NAME.bottleneck = { … }",
    doc: "A shared-bottleneck detector with its parameters; `docs/src/detectors.md` says what they mean to each.",
    fields: &[
        named(
            "detector",
            "the name of a shared-bottleneck detector",
            DetectorName::catalogue,
            Default::Required,
            "which detector it is",
        ),
        optional(
            "window",
            "a whole number from 5 to 10000",
            "50",
            "how many values the statistics of a path go back (N)",
        ),
        optional(
            "threshold",
            "a number from 0 to 1",
            "0.8; 0.1 for rfc8382",
            "where a shared bottleneck begins (the coefficient φ; for rfc8382 the skewness c_s)",
        ),
        optional(
            "interval",
            "a duration",
            "10 us for red-cpi, 10 ms for mscm, 350 ms for rfc8382",
            "the least time between two values of a path (for rfc8382 the base interval T, above zero)",
        ),
        value(
            "regroup",
            "a duration above zero",
            "'350 ms'",
            "how often coupling = \"shared-bottleneck\" looks at what the detector finds",
        ),
    ],
};

/// An element of `subflows`.
pub(crate) const SUBFLOW: TableSchema = TableSchema {
    path: "an element of flows.NAME.subflows",
    doc: "A subflow that is opened as soon as the connection stands, next to those of the path manager. Other source ports make several between the same addresses.",
    fields: &[
        required("from", "\"host.interface\"", "the interface of the near end"),
        required("to", "\"host.interface\"", "the interface of the far end"),
        optional("source_port", "a number from 1 to 65535", "chosen by the stack", "the port at the near end"),
        value("backup", "true or false", "false", "whether it is used only where no other works"),
    ],
};

/// `on_off = { … }`.
pub(crate) const ON_OFF: TableSchema = TableSchema {
    path: "flows.NAME.on_off = { … }",
    doc: "UDP packets of one size at a constant rate while on, nothing while off, beginning with on. A period is a duration, or `{ exponential = \"1 s\" }`: drawn anew each time, with this mean.",
    fields: &[
        required("rate", "a rate above zero", "the payload rate while on"),
        value("packet", "a size from 1 to 65507 bytes, over IPv6 to 65487", "'1400 bytes'", "the payload of a packet"),
        value("on", "a period", "'1 s'", "how long it sends"),
        value("off", "a period", "'0 s'", "how long it pauses; 0 s makes a constant bit rate"),
    ],
};

/// `requests = { … }`.
pub(crate) const REQUESTS: TableSchema = TableSchema {
    path: "flows.NAME.requests = { … }",
    doc: "A request goes out, a response comes back, and after a pause the next request goes, all over one connection.",
    fields: &[
        value("request", "a size above zero", "'1 kB'", "the size of a request"),
        required("response", "a size above zero", "the size of a response"),
        optional("count", "a whole number, 1 or more", "as many as there is time for", "how many exchanges to make"),
        value("think", "a period", "'0 s'", "the pause between a response and the next request"),
    ],
};

/// `{ exponential = … }`.
pub(crate) const PERIOD: TableSchema = TableSchema {
    path: "a period = { … }",
    doc: "A length of time that is drawn anew each time.",
    fields: &[required("exponential", "a duration above zero", "the mean of an exponential distribution")],
};
