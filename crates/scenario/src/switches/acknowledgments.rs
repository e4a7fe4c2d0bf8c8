//! `delayed_ack` and `sack_compression`: mechanisms with settings that can be switched off.

use std::sync::LazyLock;

use subflow_transport::tcp::config::{AckPolicy, DelayedAck, SackCompression};

use super::notation::{COUNT, Notation, duration, flag, whole};
use super::{Switch, below, inline, read, switch, table};
use crate::file::{Field, Value};
use crate::table::TableSchema;

pub(super) fn ack_policy() -> Notation<AckPolicy> {
    let parse = |field: &Field<'_>| match field.value() {
        Value::Boolean(false) => Ok(AckPolicy::EverySegment),
        Value::Table(_) => {
            let (section, ordered) =
                (field.section(&DELAYED_ACK)?, |delayed: &DelayedAck| delayed.minimum <= delayed.maximum);
            let base = DelayedAck::default();
            below(&section, &DELAYED_ACK_SWITCHES, base, ["minimum", "maximum"], ordered).map(AckPolicy::Delayed)
        }
        _ => Err(field.expected(FALSE_OR_TABLE)),
    };
    let literal = |policy: &AckPolicy| match policy {
        AckPolicy::EverySegment => "false".to_owned(),
        AckPolicy::Delayed(delayed) => inline(&DELAYED_ACK_SWITCHES, delayed, &DelayedAck::default()),
    };
    Notation::new("false, or a table", parse, literal)
}

const FALSE_OR_TABLE: &str = "false, or a table of its parameters ({} for the defaults)";

static DELAYED_ACK_SWITCHES: LazyLock<Vec<Switch<DelayedAck>>> = LazyLock::new(|| {
    vec![
        switch(
            "packets",
            whole(1..=1000),
            |delayed: &mut DelayedAck| &mut delayed.segments,
            "the number of full-sized packets per acknowledgment: 2 in Linux and in RFC 9293. More (stretch ACKs, RFC \
             2525, section 2.13) take less work, but windows grow in bursts, and a window of fewer packets waits for \
             the delay",
        ),
        switch("minimum", duration(), |delayed| &mut delayed.minimum, "the shortest delay"),
        switch("maximum", duration(), |delayed| &mut delayed.maximum, "the longest delay"),
        switch(
            "quick_start",
            flag(),
            |delayed| &mut delayed.quick_start,
            "whether the first packets, and those after a pause, are acknowledged at once",
        ),
    ]
});

/// `delayed_ack = { … }`.
pub(crate) static DELAYED_ACK: LazyLock<TableSchema> = LazyLock::new(|| {
    table(
        "delayed_ack = { … }",
        "One of several full-sized packets is acknowledged, and other packets after an adaptive delay between two \
         bounds.",
        &DELAYED_ACK_SWITCHES,
        &DelayedAck::default(),
    )
});

pub(super) fn sack_compression() -> Notation<Option<SackCompression>> {
    let parse = |field: &Field<'_>| match field.value() {
        Value::Boolean(false) => Ok(None),
        Value::Table(_) => {
            let mut compression = SackCompression::default();
            let section = field.section(&SACK_COMPRESSION)?;
            read(&SACK_COMPRESSION_SWITCHES, |key| section.given(key), &mut compression)?;
            Ok(Some(compression))
        }
        _ => Err(field.expected(FALSE_OR_TABLE)),
    };
    let literal = |compression: &Option<SackCompression>| match compression {
        None => "false".to_owned(),
        Some(compression) => inline(&SACK_COMPRESSION_SWITCHES, compression, &SackCompression::default()),
    };
    Notation::new("false, or a table", parse, literal)
}

static SACK_COMPRESSION_SWITCHES: LazyLock<Vec<Switch<SackCompression>>> = LazyLock::new(|| {
    vec![
        switch("delay", duration(), |compression: &mut SackCompression| &mut compression.delay, "the longest delay"),
        switch(
            "slack",
            duration(),
            |compression| &mut compression.slack,
            "the additional delay of the machine's timer",
        ),
        switch(
            "count",
            whole(COUNT),
            |compression| &mut compression.count,
            "the maximum number of delayed acknowledgments",
        ),
    ]
});

/// `sack_compression = { … }`.
pub(crate) static SACK_COMPRESSION: LazyLock<TableSchema> = LazyLock::new(|| {
    table(
        "sack_compression = { … }",
        "While data is missing, acknowledgments after the third duplicate are delayed by the smaller of 1/20 RTT and \
         `delay`.",
        &SACK_COMPRESSION_SWITCHES,
        &SackCompression::default(),
    )
});
