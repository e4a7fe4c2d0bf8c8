//! The keys of a trace with its own columns and units.

use std::sync::LazyLock;

use subflow_policy::catalogue::Choice;

use crate::table::{Default, TableSchema, optional, required, value, word};

/// `trace = { … }`.
pub(crate) static TRACE: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "trace = { … }",
    doc: "The table of a measurement with its own columns and units: at least one of rate, delay, rtt and loss. Times \
          count from the first line; lines of the same time become their mean, and fields without a number change \
          nothing. Commas, semicolons or tabs separate the columns.",
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
