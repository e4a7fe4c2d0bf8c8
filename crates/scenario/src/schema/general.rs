//! The scenario as a whole, and the timeline.

use std::sync::LazyLock;

use subflow_policy::catalogue::Choice;

use crate::axes::AXIS_UNITS;
use crate::switches::profiles;
use crate::table::{Default, TableSchema, named, optional, required, value, word};

/// The top of the file.
pub(crate) static ROOT: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "the top of the file",
    doc: "Description, duration and number of runs of the experiment.",
    fields: vec![
        optional("title", "a line of text", "the file's name", "a one-line title"),
        value("description", "text", "''", "what the experiment is about"),
        value("duration", "a duration above zero such as \"30 s\"", "'30 s'", "the simulated time of a run"),
        value(
            "warm_up",
            "a duration shorter than the run",
            "'0 s'",
            "the time at the start that is excluded from goodput and utilisation",
        ),
        optional(
            "sample_interval",
            "a duration above zero",
            "a 500th of the run, at least 1 ms and at most 100 ms",
            "the interval between samples of the metrics over time",
        ),
        value("seed", "a whole number, 0 or more", "1", "the seed of the first run; each repetition has the next one"),
        value("repeat", "a whole number, 1 or more", "1", "the number of runs, each with its own seed"),
        named(
            "profile",
            "the name of a profile",
            profiles::descriptions(),
            Default::of("'linux-6.12'"),
            "the stack that hosts run: a set of defaults for [tcp], [mptcp], [sctp], [quic] and flows",
        ),
        optional(
            "tcp",
            "a table",
            "that of the profile",
            "the TCP switches of all hosts (see the table of TCP switches)",
        ),
        optional(
            "mptcp",
            "a table",
            "that of the profile",
            "the MPTCP switches of all hosts (see the table of MPTCP switches)",
        ),
        optional(
            "sctp",
            "a table",
            "that of the profile",
            "the SCTP switches of all hosts (see the table of SCTP switches)",
        ),
        optional(
            "quic",
            "a table",
            "that of the profile",
            "the QUIC switches of all hosts (see the table of QUIC switches)",
        ),
        optional("topology", "a table", "none", "a named topology"),
        optional(
            "hosts",
            "a table of hosts",
            "needed unless there is a topology",
            "the hosts: phone = [\"wifi\", \"lte\"]",
        ),
        optional("routers", "a table of routers", "no routers", "the nodes that forward packets: internet = {}"),
        optional("routing", "a table", "shortest paths", "how routers choose paths"),
        optional(
            "links",
            "a table of links",
            "needed unless there is a topology",
            "the links between hosts and routers",
        ),
        optional("flows", "a table of flows", "needed unless there are programs", "the traffic"),
        optional("programs", "a table of programs", "none", "programs that run in hosts, with `--on linux` only"),
        optional(
            "timeline",
            "a list of events",
            "nothing happens",
            "changes of links, interfaces and addresses during the run",
        ),
        optional("axes", "a table of axes", "as the report calls them", "the titles and units of the axes of figures"),
        optional(
            "sweep",
            "a table of paths with a list or range of values each",
            "no sweep",
            "the values of keys; each combination has one run (times repeat), unless `design` draws some; ranges are \
             \"10 ms .. 50 ms step 10 ms\", and \"1 .. 1000 log 4\" for four values with equal factors, with as many \
             decimals as the ends have",
        ),
    ],
});

/// `design = { … }` in `[sweep]`.
pub(crate) static DESIGN: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "sweep.design = { … }",
    doc: "The combinations of swept values that have runs; without it, or with `design = \"full\"`, all. Values are \
          drawn from lists and ranges, also from ranges without a step: \"10 ms .. 50 ms\" (all numbers are equally \
          probable) and \"1 .. 1000 log\" (equal factors are), with as many decimals as the ends have. No two \
          points have the same places in the lists and ranges.",
    fields: vec![
        word("name", &DESIGNS, Default::Required, "the name of the design"),
        optional(
            "points",
            "a whole number from 1 to 100000",
            "needed unless the design is full",
            "the number of combinations",
        ),
        value(
            "seed",
            "a whole number, 0 or more",
            "1",
            "the seed of the design, which does not depend on the seeds of runs",
        ),
    ],
});

/// `[[timeline]]`.
pub(crate) static EVENT: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "[[timeline]]",
    doc: "A change of a link, an interface or an address, exactly one of which is given, with at least one of down, \
          up, rate, delay, loss and trace. Interfaces and addresses can only go down and up.",
    fields: vec![
        required("at", "a duration before the end of the run", "the time of the change, from the start of the run"),
        optional("link", "the name of a link", "none", "the link; hosts are not notified"),
        optional(
            "interface",
            "\"host.interface\"",
            "none",
            "the interface that goes down or up, together with its link; its host is notified and loses its addresses \
             or gets them back",
        ),
        optional(
            "address",
            "an IP address",
            "none",
            "the address that its host loses or gets back; links are not changed",
        ),
        word("direction", &EVENT_DIRECTIONS, Default::of("'both'"), "the direction of the link that changes"),
        optional(
            "down",
            "true",
            "no change",
            "true: the link fails (queued and new packets are dropped), or the interface or address is lost",
        ),
        optional(
            "up",
            "true",
            "no change",
            "true: the link works again, or the interface or address is available again",
        ),
        optional("rate", "a rate, a trace or \"unlimited\", one or { up, down }", "no change", "the new rate"),
        optional(
            "delay",
            "a duration, one or { up, down }",
            "no change",
            "the new delay, for packets that have not left yet",
        ),
        optional("loss", "a loss model, one or { up, down }", "no change", "the new loss model"),
        optional(
            "trace",
            "the path of a CSV file, or a table",
            "none",
            "rate, delay and loss of a link over time, from `at` on: the columns are time_s and at least one of \
             rate_mbit_s, delay_ms and loss_percent, unless a table names others; an empty field changes nothing, and \
             the last values stay",
        ),
        optional(
            "handovers",
            "a table",
            "none",
            "regular handovers of a satellite link, from `at` on, each with another rate and delay",
        ),
    ],
});

/// `handovers = { … }`.
pub(crate) static HANDOVERS: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "handovers = { … }",
    doc: "Handovers of a link, the first one `at` the time of the event. At each of them packets wait for the outage, and the \
          link has another rate and another delay afterwards, or one of both, which are drawn in each run: all values of a \
          range are equally probable. The defaults are those of Starlink, whose links are reconfigured every 15 s at the \
          same time everywhere (Mohan et al., WWW 2024), with spikes of the latency for about 140 ms at the beginning of \
          each interval (arXiv:2601.08439).",
    fields: vec![
        value("every", "a duration above zero", "'15 s'", "the time from one handover to the next"),
        value("outage", "a duration", "'140 ms'", "for how long packets wait at a handover, less than `every`"),
        optional(
            "rate",
            "a list of two rates, one or { up, down }",
            "it stays",
            "the lowest and the highest rate; the rate of a direction is drawn on its own",
        ),
        optional(
            "delay",
            "a list of two durations",
            "it stays",
            "the shortest and the longest delay; both directions have the same one",
        ),
    ],
});

/// `trace = { … }`.
pub(crate) static TRACE: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "trace = { … }",
    doc: "The table of a measurement with its own columns and units: at least one of rate, delay, rtt and loss. Times \
          count from the first line; lines of the same time become their mean, and fields without a number change \
          nothing. Commas, semicolons, tabs or blanks separate the columns; those of a file whose first line has numbers \
          alone are called `1`, `2`, ….",
    fields: vec![
        required("file", "a path", "the file"),
        value(
            "time",
            "the name of a column",
            "'time_s'",
            "the column of times: numbers, or dates with a time of day and perhaps a zone",
        ),
        word("time_unit", &TIME_UNITS, Default::of("'s'"), "the unit of times that are numbers"),
        optional("rate", "the name of a column", "none", "the column of rates"),
        word("rate_unit", &RATE_UNITS, Default::of("'Mbit/s'"), "the unit of rates"),
        optional("delay", "the name of a column", "none", "the column of delays of one direction"),
        optional("rtt", "the name of a column", "none", "the column of round-trip times, half of which is the delay"),
        word("delay_unit", &TIME_UNITS, Default::of("'ms'"), "the unit of delays and round-trip times"),
        optional("loss", "the name of a column", "none", "the column of losses"),
        word("loss_unit", &LOSS_UNITS, Default::of("'%'"), "the unit of losses"),
    ],
});

/// `[axes.NAME]`.
pub(crate) static AXIS: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "[axes.NAME]",
    doc: "The title and the unit of an axis in the report, in `--figures svg` and in Python's `plot`. NAME is what the \
          report calls the axis, without its unit (goodput, \"congestion window\"), or a swept path \
          (\"links.lte.delay\"). Values are converted to the unit, which is of the same quantity; results, tables and \
          series keep their units.",
    fields: vec![
        optional("title", "a line of text", "as the report calls it", "the title of the axis, without its unit"),
        word("unit", &AXIS_UNITS, Default::None("that of the report".into()), "the unit of its values"),
    ],
});

/// Units of times, in seconds.
pub(crate) const TIME_UNITS: [Choice<f64>; 4] = [
    Choice::new("s", 1.0, "seconds"),
    Choice::new("ms", 1e-3, "milliseconds"),
    Choice::new("us", 1e-6, "microseconds"),
    Choice::new("ns", 1e-9, "nanoseconds"),
];

/// Units of rates, in bits per second.
pub(crate) const RATE_UNITS: [Choice<f64>; 7] = [
    Choice::new("bit/s", 1.0, "bits per second"),
    Choice::new("kbit/s", 1e3, "kilobits per second"),
    Choice::new("Mbit/s", 1e6, "megabits per second"),
    Choice::new("Gbit/s", 1e9, "gigabits per second"),
    Choice::new("B/s", 8.0, "bytes per second"),
    Choice::new("kB/s", 8e3, "kilobytes per second"),
    Choice::new("MB/s", 8e6, "megabytes per second"),
];

/// Units of losses, as a part of 1.
pub(crate) const LOSS_UNITS: [Choice<f64>; 2] =
    [Choice::new("%", 0.01, "per cent"), Choice::new("1", 1.0, "fractions of 1")];

/// How the combinations of a design are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// All values independently.
    Random,
    /// One from each of equal parts of every list or range.
    LatinHypercube,
}

/// The designs; none is the full one.
pub(crate) const DESIGNS: [Choice<Option<Sampling>>; 3] = [
    Choice::new("full", None, "all combinations"),
    Choice::new("random", Some(Sampling::Random), "different combinations, each value drawn on its own"),
    Choice::new(
        "latin-hypercube",
        Some(Sampling::LatinHypercube),
        "one point in each of as many equal parts of every list or range as there are points",
    )
    .source("McKay, Beckman, Conover 1979"),
];

/// The directions of a link, up and down, that an event changes.
pub(crate) const EVENT_DIRECTIONS: [Choice<[bool; 2]>; 3] = [
    Choice::new("both", [true, true], "both directions"),
    Choice::new("up", [true, false], "from the link's first to its second end"),
    Choice::new("down", [false, true], "from the link's second to its first end"),
];
