//! The scenario as a whole, and the timeline.

use super::{Default, TableSchema, named, optional, required, value, word};
use crate::read::words;

/// The top of the file.
pub(crate) const ROOT: TableSchema = TableSchema {
    path: "the top of the file",
    doc: "What the experiment is, how long it runs and how often.",
    fields: &[
        optional("title", "a line of text", "the file's name", "one line that says what the experiment shows"),
        value("description", "text", "''", "what the experiment is about"),
        value("duration", "a duration above zero such as \"30 s\"", "'30 s'", "how long a run lasts in simulated time"),
        value(
            "warm_up",
            "a duration shorter than the run",
            "'0 s'",
            "the time at the start that goodput and utilisation leave out",
        ),
        optional(
            "sample_interval",
            "a duration above zero",
            "a 500th of the run, at least 1 ms and at most 100 ms",
            "how far apart the samples of the metrics over time lie",
        ),
        value("seed", "a whole number, 0 or more", "1", "the seed of the first run; repetitions count up from it"),
        value("repeat", "a whole number, 1 or more", "1", "how many runs to make, each with its own seed"),
        named(
            "profile",
            "the name of a profile",
            words::profiles,
            Default::Value("'linux-6.12'"),
            "the stack that hosts run: a set of defaults for [tcp], [mptcp], [sctp] and flows",
        ),
        optional(
            "tcp",
            "a table",
            "what the profile says",
            "the TCP switches of all hosts (see the table of TCP switches)",
        ),
        optional(
            "mptcp",
            "a table",
            "what the profile says",
            "the MPTCP switches of all hosts (see the table of MPTCP switches)",
        ),
        optional(
            "sctp",
            "a table",
            "what the profile says",
            "the SCTP switches of all hosts (see the table of SCTP switches)",
        ),
        optional("topology", "a table", "none", "a network of a well-known shape"),
        optional(
            "hosts",
            "a table of hosts",
            "needed unless there is a topology",
            "the computers at the edge: phone = [\"wifi\", \"lte\"]",
        ),
        optional("routers", "a table of routers", "no routers", "the nodes that forward packets: internet = {}"),
        optional("routing", "a table", "shortest paths", "how routers choose ways"),
        optional("links", "a table of links", "needed unless there is a topology", "what joins hosts and routers"),
        required("flows", "a table of flows", "the traffic"),
        optional("timeline", "a list of events", "nothing happens", "what happens to links during the run"),
        optional(
            "sweep",
            "a table of paths with a list of values each",
            "no sweep",
            "the values to go through, one run (times repeat) for each combination",
        ),
    ],
};

/// `[[timeline]]`.
pub(crate) const EVENT: TableSchema = TableSchema {
    path: "[[timeline]]",
    doc: "Something happens to a link, to an interface or to an address; one of them is named. At least one of down, up, rate, delay and loss says what; interfaces and addresses only go down and come up.",
    fields: &[
        required("at", "a duration before the end of the run", "when it happens, counted from the start of the run"),
        optional("link", "the name of a link", "none", "the link that it happens to; hosts are not told"),
        optional(
            "interface",
            "\"host.interface\"",
            "none",
            "the interface that goes down, with its link, or comes up again; its host knows and loses or gets back its addresses",
        ),
        optional("address", "an IP address", "none", "the address that its host loses or gets back; links go on"),
        word("direction", words::directions, Default::Value("'both'"), "the direction it concerns"),
        optional(
            "down",
            "true",
            "no change",
            "true where the link stops to carry packets (what is queued or comes is dropped), or the interface or address is lost",
        ),
        optional("up", "true", "no change", "true where it carries packets again, or is there again"),
        optional("rate", "a rate, a trace or \"unlimited\", one or { up, down }", "no change", "the new rate"),
        optional(
            "delay",
            "a duration, one or { up, down }",
            "no change",
            "the new delay, for packets that have not left yet",
        ),
        optional("loss", "a loss model, one or { up, down }", "no change", "the new loss model"),
    ],
};
