//! The switches of QUIC.

use std::sync::LazyLock;

use subflow_quantity::Duration;

use super::notation::{BUFFER, Notation, duration, false_or, flag, positive_duration, size, unlimited_or, whole};
use super::{Stack, Switch, profiles, read, setter, switch, table};
use crate::file::{Field, Layers, Problem};
use crate::table::TableSchema;

/// Delays of acknowledgments are below this (RFC 9000, section 18.2).
const ACK_DELAYS_BELOW: Duration = Duration::from_millis(1 << 14);

static SWITCHES: LazyLock<Vec<Switch<Stack>>> =
    LazyLock::new(|| [sending(), acknowledgments(), limits()].into_iter().flatten().collect());

fn sending() -> Vec<Switch<Stack>> {
    vec![
        switch(
            "mtu",
            size("a size from 1280 to 9000 bytes", 1280..=9000),
            |s| &mut s.quic.mtu,
            "the largest IP packet, which the path is expected to carry: it is not searched for",
        ),
        switch(
            "initial_window",
            whole(1..=1000),
            |s| &mut s.quic.initial_window,
            "the initial congestion window in packets (RFC 9002, section 7.2)",
        ),
        switch(
            "pacing",
            flag(),
            |s| &mut s.quic.pacing,
            "whether packets are spaced by the pacing rate, 1.25 windows per round trip unless the congestion control \
             has its own (RFC 9002, section 7.7)",
        ),
        switch(
            "ecn",
            flag(),
            |s| &mut s.quic.ecn,
            "whether packets are sent as capable of ECN, and marks reduce the window, as long as acknowledgments report the \
             codepoints that were sent (RFC 9000, section 13.4)",
        ),
        switch(
            "packet_threshold",
            whole(1..=1000),
            |s| &mut s.quic.packet_threshold,
            "the number of later packets acknowledged after which a packet is lost (RFC 9002, section 6.1.1)",
        ),
        switch(
            "initial_rtt",
            positive_duration(),
            |s| &mut s.quic.initial_rtt,
            "the round-trip time before the first sample (RFC 9002, section 6.2.2)",
        ),
        switch(
            "certificate",
            whole(1..=16_000),
            |s: &mut Stack| &mut s.quic.handshake.certificate,
            "the bytes of the server's certificate chain and its signature in the handshake, which does not contain \
             them but has their length",
        ),
    ]
}

fn acknowledgments() -> Vec<Switch<Stack>> {
    vec![
        switch(
            "ack_eliciting_threshold",
            whole(1..=1000),
            |s| &mut s.quic.ack_eliciting_threshold,
            "the number of packets per acknowledgment (RFC 9000, section 13.2.2)",
        ),
        setter(
            "max_ack_delay",
            whole_milliseconds(duration()),
            (|s| s.quic.max_ack_delay, set_max_ack_delay),
            "the longest delay of an acknowledgment, in whole milliseconds below 16.384 s (RFC 9000, section 18.2)",
        ),
        setter(
            "idle_timeout",
            false_or(whole_milliseconds(positive_duration())),
            (
                |s| s.quic.idle_timeout,
                |s, timeout, _| {
                    s.quic.idle_timeout = timeout;
                    Ok(())
                },
            ),
            "the time without packets after which a connection ends, the smaller one of both ends (RFC 9000, section \
             10.1); false: never",
        ),
    ]
}

fn limits() -> Vec<Switch<Stack>> {
    vec![
        switch(
            "connection_window",
            size("a size", BUFFER),
            |s| &mut s.quic.connection_window,
            "how many bytes beyond those read the peer may send on all streams together",
        ),
        switch(
            "stream_window",
            size("a size", BUFFER),
            |s| &mut s.quic.stream_window,
            "how many bytes beyond those read the peer may send on a stream",
        ),
        switch(
            "streams",
            whole(1..=1_000_000),
            |s| &mut s.quic.streams,
            "how many bidirectional streams the peer may have open at a time",
        ),
        switch(
            "send_buffer",
            unlimited_or(size("a size", BUFFER)),
            |s| &mut s.quic.send_buffer,
            "the send buffer: the amount of unacknowledged data that the application may write",
        ),
    ]
}

fn set_max_ack_delay(stack: &mut Stack, delay: Duration, field: &Field<'_>) -> Result<(), Problem> {
    if delay >= ACK_DELAYS_BELOW {
        return Err(field.expected("a duration below 16.384 s, which transport parameters can express"));
    }
    stack.quic.max_ack_delay = delay;
    Ok(())
}

/// Transport parameters have times in whole milliseconds.
fn whole_milliseconds(notation: Notation<Duration>) -> Notation<Duration> {
    let Notation { kind, parse, literal } = notation;
    let parse = Box::new(move |field: &Field<'_>| {
        let duration = parse(field)?;
        match Duration::from_millis(duration.as_millis()) == duration {
            true => Ok(duration),
            false => Err(field.expected("whole milliseconds, as transport parameters have")),
        }
    });
    Notation { kind, parse, literal }
}

/// `[quic]`, `[hosts.NAME.quic]`, `[flows.NAME.quic]`.
pub(crate) static TABLE: LazyLock<TableSchema> = LazyLock::new(|| {
    table(
        "[quic], [hosts.NAME.quic], [flows.NAME.quic]",
        "Switches of QUIC, with the same priorities as those of TCP. A flow's data is one stream of a connection unless it \
         says otherwise (`streams`, `requests`), over one path with the protocol quic and over several with mpquic.",
        &SWITCHES,
        &profiles::default().stack,
    )
});

/// Sets in `stack` what `layers` have.
pub(crate) fn apply(layers: &Layers<'_>, stack: &mut Stack) -> Result<(), Problem> {
    read(&SWITCHES, |key| layers.given(key), stack)
}

/// The switches in which `stack` differs from `other`, in TOML.
pub(crate) fn differences(stack: &Stack, other: &Stack) -> Vec<(&'static str, String)> {
    super::differences(&SWITCHES, stack, other)
}
