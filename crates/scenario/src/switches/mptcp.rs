//! The switches of the MPTCP level.

use std::sync::LazyLock;

use subflow_policy::path_manager::MAX_SUBFLOWS;

use super::notation::{flag, whole};
use super::{Stack, Switch, profiles, read, switch, table};
use crate::file::{Layers, Problem};
use crate::table::TableSchema;

static SWITCHES: LazyLock<Vec<Switch<Stack>>> = LazyLock::new(|| {
    vec![
        switch(
            "max_subflows",
            whole(1..=MAX_SUBFLOWS as u64),
            |s| &mut s.mptcp.max_subflows,
            "the maximum number of subflows of a connection, including the initial one",
        ),
        switch(
            "capable_syns",
            whole(0..=127),
            |s| &mut s.mptcp.capable_syns,
            "the number of SYNs with MP_CAPABLE, the first included, after which a connection that is not answered is \
             opened without MPTCP, in case something on the path drops these SYNs; 0: never. Linux: \
             `net.mptcp.syn_retrans_before_tcp_fallback` + 1",
        ),
        switch("checksum", flag(), |s| &mut s.mptcp.checksum, "whether DSS checksums are used"),
        switch(
            "opportunistic_retransmission",
            flag(),
            |s| &mut s.mptcp.opportunistic_retransmission,
            "whether the oldest missing data is sent again on a much faster subflow if the receive window or the send \
             buffer is full, as in MPTCP 0.9x",
        ),
        switch(
            "penalisation",
            flag(),
            |s| &mut s.mptcp.penalisation,
            "whether the window of the slower subflow that carries this data is halved in this case",
        ),
        switch(
            "stale_loss_count",
            whole(0..=254),
            |s| &mut s.mptcp.stale_loss_count,
            "0: the data of a subflow is reinjected at its first timeout; otherwise as Linux's \
             `net.mptcp.stale_loss_cnt` (4): after more than this number of periods of some 200 ms without progress, \
             all outstanding data is sent again",
        ),
        switch(
            "subflows_open_window",
            flag(),
            |s| &mut s.mptcp.subflows_open_window,
            "whether each subflow opens the connection's receive window by what it receives itself, and acknowledges \
             every segment meanwhile, as in upstream Linux; otherwise by what all subflows receive, as in MPTCP 0.9x",
        ),
    ]
});

/// `[mptcp]`, `[hosts.NAME.mptcp]`, `[flows.NAME.mptcp]`.
pub(crate) static TABLE: LazyLock<TableSchema> = LazyLock::new(|| {
    table(
        "[mptcp], [hosts.NAME.mptcp], [flows.NAME.mptcp]",
        "Switches of the MPTCP level, with the same priorities as those of TCP.",
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
