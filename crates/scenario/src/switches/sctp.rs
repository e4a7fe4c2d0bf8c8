//! The switches of SCTP and of concurrent multipath transfer.

use std::sync::LazyLock;

use subflow_quantity::{Duration, Size};
use subflow_transport::sctp::config::{
    BufferSplitting, Config, Distribution, InitialThreshold, MOST_TSNS_AHEAD, RecoveryScope, Reliability,
    RetransmissionPolicy, WindowGrowth,
};

use super::notation::{
    BUFFER, COUNT, Notation, duration, flag, flag_for, one_of, positive_duration, size, unlimited_or, whole,
};
use super::sctp_failures::{VALUE_OF_CMT, failover, handshake, retransmission};
use super::{Stack, Switch, literal, profiles, read, setter, switch, table, wrong_way_round};
use crate::file::{Field, Layers, Problem, Value};
use crate::table::TableSchema;

/// The rows are applied in this order: `cmt` changes the defaults of what follows.
static SWITCHES: LazyLock<Vec<Switch<Stack>>> = LazyLock::new(|| {
    [multipath(), acknowledgments(), sending(), messages(), retransmission(), receiving(), failover(), handshake()]
        .into_iter()
        .flatten()
        .collect()
});

fn multipath() -> Vec<Switch<Stack>> {
    vec![
        switch(
            "window_growth",
            one_of("a way to grow windows", WindowGrowth::ALL),
            |s| &mut s.sctp.window_growth,
            "which acknowledgments increase a window",
        ),
        setter(
            "cmt",
            flag(),
            (
                |s| is_multipath(&s.sctp),
                |s, on, _| {
                    match on {
                        true => s.sctp = s.sctp.clone().with_cmt(s.sctp.window_growth),
                        false => s.sctp.distribution = Distribution::Primary,
                    }
                    Ok(())
                },
            ),
            "whether data is sent over all paths at the same time (concurrent multipath transfer) instead of the \
             primary one",
        ),
        switch(
            "multihomed",
            flag(),
            |s| &mut s.sctp.multihomed,
            "whether the handshake lists all addresses of the host",
        ),
        switch(
            "fast_recovery",
            one_of("whose state fast recovery is", RecoveryScope::ALL),
            |s: &mut Stack| &mut s.sctp.fast_recovery,
            "whether fast recovery is a state of the association or of a destination",
        )
        .by_default("destination with cmt and the window growth per-destination, else association"),
        switch(
            "avoidance_in_recovery",
            flag(),
            |s| &mut s.sctp.avoidance_in_recovery,
            "whether congestion avoidance continues during fast recovery, as in Linux",
        ),
        switch(
            "retransmission",
            one_of("a retransmission policy", RetransmissionPolicy::ALL),
            |s: &mut Stack| &mut s.sctp.retransmission,
            "the destination of retransmissions",
        )
        .by_default("rtx-same with cmt, else rtx-alternate"),
        switch(
            "split_fast_retransmit",
            flag(),
            |s: &mut Stack| &mut s.sctp.split_fast_retransmit,
            "whether only later data of the same destination counts as a miss indication",
        )
        .by_default(VALUE_OF_CMT),
    ]
}

/// Whether data is sent over all paths.
pub(crate) fn is_multipath(config: &Config) -> bool {
    !matches!(config.distribution, Distribution::Primary)
}

fn acknowledgments() -> Vec<Switch<Stack>> {
    vec![
        switch(
            "delayed_ack_cmt",
            flag(),
            |s: &mut Stack| &mut s.sctp.delayed_ack_cmt,
            "whether acknowledgments may be delayed despite gaps, with the number of packets that they acknowledge \
             (DAC)",
        )
        .by_default(VALUE_OF_CMT),
        switch(
            "ecn",
            flag(),
            |s| &mut s.sctp.ecn,
            "whether explicit congestion notification is offered (RFC 9260, appendix A)",
        ),
        switch(
            "nr_sack",
            flag(),
            |s| &mut s.sctp.nr_sack,
            "whether acknowledgments list the data beyond a gap that will not be dropped, if both ends support it",
        ),
        switch(
            "reneging",
            flag(),
            |s| &mut s.sctp.reneging,
            "whether received data beyond a gap may be dropped when the buffer is full",
        ),
        switch(
            "buffer_splitting",
            one_of("which buffers are split", BufferSplitting::ALL),
            |s| &mut s.sctp.buffer_splitting,
            "which buffers are divided among the paths, so that a slow path cannot fill them",
        ),
    ]
}

fn sending() -> Vec<Switch<Stack>> {
    vec![
        switch("mtu", size("a size from 576 to 9000 bytes", 576..=9000), |s| &mut s.sctp.mtu, "the largest IP packet"),
        switch(
            "initial_ssthresh",
            initial_threshold(),
            |s| &mut s.sctp.initial_ssthresh,
            "the slow-start threshold before the first loss: the peer's initial window, none, or this size",
        ),
        switch(
            "max_burst",
            unlimited_or(whole(1..=1_000_000)),
            |s| &mut s.sctp.max_burst,
            "the maximum number of packets of new data sent at once",
        ),
        switch(
            "burst_per_message",
            flag(),
            |s| &mut s.sctp.burst_per_message,
            "whether max_burst applies to each written message, as in Linux; this matters if the application waits \
             for the send buffer",
        ),
        switch("idle_decay", flag(), |s| &mut s.sctp.idle_decay, "whether a window decreases while nothing is sent"),
    ]
}

fn messages() -> Vec<Switch<Stack>> {
    vec![
        switch("streams", whole(1..=65_535), |s| &mut s.sctp.streams, "the number of requested outbound streams"),
        switch(
            "message_size",
            size("a size from 1 byte to 16 MiB", 1..=16 << 20),
            |s| &mut s.sctp.message_size,
            "the size of the messages into which the data of a flow is divided",
        ),
        switch(
            "unordered",
            flag(),
            |s| &mut s.sctp.message.unordered,
            "whether messages may be delivered before earlier ones",
        ),
        setter(
            "lifetime",
            unlimited_or(positive_duration()),
            (lifetime, |s, lifetime, _| {
                s.sctp.message.reliability = lifetime.map_or(Reliability::Full, Reliability::Lifetime);
                Ok(())
            }),
            "the time after which an unacknowledged message is abandoned, from when it is written (RFC 3758): with an \
             unlimited send buffer that is the start of a transfer; not with `requests`",
        ),
        setter(
            "max_retransmissions",
            unlimited_or(whole(COUNT)),
            (max_retransmissions, set_max_retransmissions),
            "how often a message is retransmitted before it is abandoned (RFC 7496); not with `requests`",
        ),
        switch(
            "nodelay",
            flag_for(false, true),
            |s| &mut s.sctp.nagle,
            "whether a packet that is not full is sent while data is outstanding",
        ),
    ]
}

fn lifetime(stack: &Stack) -> Option<Duration> {
    match stack.sctp.message.reliability {
        Reliability::Lifetime(lifetime) => Some(lifetime),
        Reliability::Full | Reliability::Retransmissions(_) => None,
    }
}

fn max_retransmissions(stack: &Stack) -> Option<u32> {
    match stack.sctp.message.reliability {
        Reliability::Retransmissions(most) => Some(most),
        Reliability::Full | Reliability::Lifetime(_) => None,
    }
}

fn set_max_retransmissions(stack: &mut Stack, most: Option<u32>, field: &Field<'_>) -> Result<(), Problem> {
    let Some(most) = most else { return Ok(()) };
    if lifetime(stack).is_some() {
        return Err(field
            .problem("found lifetime and max_retransmissions, expected one of them")
            .label("one too many"));
    }
    stack.sctp.message.reliability = Reliability::Retransmissions(most);
    Ok(())
}

fn receiving() -> Vec<Switch<Stack>> {
    vec![
        switch(
            "sack_delay",
            duration(),
            |s| &mut s.sctp.sack_delay,
            "how long an acknowledgment waits for another packet",
        ),
        switch(
            "sack_frequency",
            whole(1..=1000),
            |s| &mut s.sctp.sack_frequency,
            "the number of packets of data per acknowledgment",
        ),
        switch(
            "max_gap_blocks",
            unlimited_or(whole(1..=65_535)),
            |s: &mut Stack| &mut s.sctp.max_gap_blocks,
            "the maximum number of ranges beyond the first gap in an acknowledgment; 16 in Linux, where holes of one \
             path can hide the data that arrived over another",
        )
        .by_default("unlimited with cmt, else 16"),
        switch(
            "most_tsns_ahead",
            whole(1..=MOST_TSNS_AHEAD.into()),
            |s: &mut Stack| &mut s.sctp.most_tsns_ahead,
            "how many chunks beyond the first gap data is accepted; 4096 in Linux, and at most half of the range of a \
             stream's 16-bit sequence number",
        )
        .by_default("32767 with cmt, else 4096"),
        switch(
            "receive_buffer",
            size("a size", BUFFER),
            |s| &mut s.sctp.receive_buffer,
            "the receive buffer, all of which is advertised",
        ),
        switch(
            "send_buffer",
            unlimited_or(size("a size", BUFFER)),
            |s| &mut s.sctp.send_buffer,
            "the send buffer: the amount of unacknowledged data that the application may write",
        ),
    ]
}

fn initial_threshold() -> Notation<InitialThreshold> {
    let parse = |field: &Field<'_>| match field.value() {
        Value::String(text) if text == "peer-window" => Ok(InitialThreshold::PeerWindow),
        Value::String(text) if text == "infinite" => Ok(InitialThreshold::Infinite),
        _ => field.size(1500..=u64::from(u32::MAX)).map(|bytes| InitialThreshold::Bytes(bytes as u32)),
    };
    let literal = |threshold: &InitialThreshold| match threshold {
        InitialThreshold::PeerWindow => "'peer-window'".to_owned(),
        InitialThreshold::Infinite => "'infinite'".to_owned(),
        InitialThreshold::Bytes(bytes) => format!("'{}'", Size::from_bytes(u64::from(*bytes))),
    };
    Notation::new("\"peer-window\", \"infinite\" or a size", parse, literal)
}

/// `[sctp]`, `[hosts.NAME.sctp]`, `[flows.NAME.sctp]`.
pub(crate) static TABLE: LazyLock<TableSchema> = LazyLock::new(|| {
    table(
        "[sctp], [hosts.NAME.sctp], [flows.NAME.sctp]",
        "Switches of SCTP, with the same priorities as those of TCP. The flow's `from` and `to` are the path of the \
         handshake, and the primary one unless the flow has `primary`. With `multihomed`, all other interfaces of both \
         hosts add paths, first to first, second to second.",
        &SWITCHES,
        &profiles::default().stack,
    )
});

/// Sets in `stack` what `layers` have.
pub(crate) fn apply(layers: &Layers<'_>, stack: &mut Stack) -> Result<(), Problem> {
    read(&SWITCHES, |key| layers.given(key), stack)?;
    if stack.sctp.rto.max < stack.sctp.rto.min {
        let field = |key| layers.given_or(key, &literal(&SWITCHES, key, stack));
        return Err(wrong_way_round(&field("min_rto"), &field("max_rto")));
    }
    Ok(())
}

/// The switches in which `stack` differs from `other`, in TOML.
pub(crate) fn differences(stack: &Stack, other: &Stack) -> Vec<(&'static str, String)> {
    super::differences(&SWITCHES, stack, other)
}
