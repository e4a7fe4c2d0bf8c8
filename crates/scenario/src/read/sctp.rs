//! `[sctp]`: the switches of SCTP. Some defaults depend on whether concurrent multipath transfer is on.

use std::ops::RangeInclusive;

use subflow_quantity::Duration;
use subflow_transport::sctp::config::{
    BufferSplitting, Config, InitialThreshold, MOST_TSNS_AHEAD, RecoveryScope, Reliability, RetransmissionPolicy,
    WindowGrowth,
};

use super::bounds::{BUFFER, COUNT, wrong_way_round};
use crate::SctpOptions;
use crate::file::{Field, Layers, Problem, Value};

pub(super) fn sctp_options(layers: &Layers<'_>) -> Result<SctpOptions, Problem> {
    let flag = |key| layers.value(key).boolean();
    let count = |key| layers.value(key).integer(COUNT).map(|n| n as u32);
    let cmt = flag("cmt")?;
    let flag_or = |key, otherwise| layers.given(key).map_or(Ok(otherwise), |field| field.boolean());
    let window_growth = window_growth(&layers.value("window_growth"))?;
    let usual = if cmt { Config::linux().with_cmt(window_growth) } else { Config::linux() };
    let options = SctpOptions {
        cmt,
        multihomed: flag("multihomed")?,
        window_growth,
        fast_recovery: layers.given("fast_recovery").map_or(Ok(usual.fast_recovery), recovery_scope)?,
        avoidance_in_recovery: flag("avoidance_in_recovery")?,
        retransmission: layers.given("retransmission").map_or(Ok(usual.retransmission), retransmission_policy)?,
        split_fast_retransmit: flag_or("split_fast_retransmit", usual.split_fast_retransmit)?,
        delayed_ack_cmt: flag_or("delayed_ack_cmt", usual.delayed_ack_cmt)?,
        nr_sack: flag("nr_sack")?,
        reneging: flag("reneging")?,
        buffer_splitting: buffer_splitting(&layers.value("buffer_splitting"))?,
        mtu: layers.value("mtu").size(576..=9000)? as u16,
        initial_ssthresh: initial_threshold(&layers.value("initial_ssthresh"))?,
        max_burst: count_unless_unlimited(&layers.value("max_burst"), 1..=1_000_000)?,
        burst_per_message: flag("burst_per_message")?,
        idle_decay: flag("idle_decay")?,
        streams: layers.value("streams").integer(1..=65_535)? as u16,
        message_size: layers.value("message_size").size(1..=16 << 20)? as u32,
        unordered: flag("unordered")?,
        reliability: reliability(&layers.value("lifetime"), &layers.value("max_retransmissions"))?,
        nodelay: flag("nodelay")?,
        initial_rto: layers.value("initial_rto").positive_duration()?,
        min_rto: layers.value("min_rto").positive_duration()?,
        max_rto: layers.value("max_rto").positive_duration()?,
        gap_acks_restart_timer: flag_or("gap_acks_restart_timer", usual.gap_acks_restart_timer)?,
        fast_retransmission_restarts_timer: flag("fast_retransmission_restarts_timer")?,
        late_back_off: flag("late_back_off")?,
        single_fast_packet: flag("single_fast_packet")?,
        segmentation_offload: flag("segmentation_offload")?,
        sack_delay: layers.value("sack_delay").duration()?,
        sack_frequency: layers.value("sack_frequency").integer(1..=1000)? as u32,
        max_gap_blocks: layers.given("max_gap_blocks").map_or(Ok(usual.max_gap_blocks), max_gap_blocks)?,
        most_tsns_ahead: layers.given("most_tsns_ahead").map_or(Ok(usual.most_tsns_ahead), most_tsns_ahead)?,
        receive_buffer: layers.value("receive_buffer").size(BUFFER)?,
        send_buffer: unless_unlimited(&layers.value("send_buffer"), |field| field.size(BUFFER))?,
        association_max_retransmissions: count("association_max_retransmissions")?,
        path_max_retransmissions: count("path_max_retransmissions")?,
        potentially_failed_max_retransmissions: count_unless_unlimited(
            &layers.value("potentially_failed_max_retransmissions"),
            COUNT,
        )?,
        probe_at_once: flag_or("probe_at_once", usual.probe_at_once)?,
        sack_ends_potentially_failed: flag_or("sack_ends_potentially_failed", usual.sack_ends_potentially_failed)?,
        init_retransmissions: count("init_retransmissions")?,
        heartbeat_interval: heartbeat_interval(&layers.value("heartbeat_interval"))?,
        cookie_life: layers.value("cookie_life").positive_duration()?,
        udp_encapsulation: flag("udp_encapsulation")?,
        timer_tick: layers.value("timer_tick").duration()?,
        timer_wheel: flag("timer_wheel")?,
    };
    if options.max_rto < options.min_rto {
        return Err(wrong_way_round(&layers.value("min_rto"), &layers.value("max_rto")));
    }
    Ok(options)
}

fn window_growth(field: &Field<'_>) -> Result<WindowGrowth, Problem> {
    by_name(field, "a way to grow windows", WindowGrowth::NAMES, WindowGrowth::from_name)
}

fn recovery_scope(field: Field<'_>) -> Result<RecoveryScope, Problem> {
    by_name(&field, "whose state fast recovery is", RecoveryScope::NAMES, RecoveryScope::from_name)
}

fn retransmission_policy(field: Field<'_>) -> Result<RetransmissionPolicy, Problem> {
    by_name(&field, "a retransmission policy", RetransmissionPolicy::NAMES, RetransmissionPolicy::from_name)
}

fn buffer_splitting(field: &Field<'_>) -> Result<BufferSplitting, Problem> {
    by_name(field, "which buffers are split", BufferSplitting::NAMES, BufferSplitting::from_name)
}

fn max_gap_blocks(field: Field<'_>) -> Result<Option<u16>, Problem> {
    Ok(count_unless_unlimited(&field, 1..=65_535)?.map(|most| most as u16))
}

fn most_tsns_ahead(field: Field<'_>) -> Result<u16, Problem> {
    Ok(field.integer(1..=u64::from(MOST_TSNS_AHEAD))? as u16)
}

/// A type whose values have names.
fn by_name<T>(
    field: &Field<'_>,
    what: &str,
    names: &'static [&'static str],
    parse: fn(&str) -> Option<T>,
) -> Result<T, Problem> {
    let name = field.string(what)?;
    parse(name).ok_or_else(|| field.unknown_name(name, what, names.iter().copied()))
}

/// A bound, or the name that stands for no bound.
fn unless_unlimited<T>(
    field: &Field<'_>,
    read: impl Fn(&Field<'_>) -> Result<T, Problem>,
) -> Result<Option<T>, Problem> {
    match field.value() {
        Value::String(text) if text == "unlimited" => Ok(None),
        _ => read(field).map(Some),
    }
}

/// A bound that is a number, or the name that stands for no bound.
fn count_unless_unlimited(field: &Field<'_>, bounds: RangeInclusive<u64>) -> Result<Option<u32>, Problem> {
    Ok(unless_unlimited(field, |field| field.integer(bounds.clone()))?.map(|count| count as u32))
}

fn initial_threshold(field: &Field<'_>) -> Result<InitialThreshold, Problem> {
    match field.value() {
        Value::String(text) if text == "peer-window" => Ok(InitialThreshold::PeerWindow),
        Value::String(text) if text == "infinite" => Ok(InitialThreshold::Infinite),
        _ => field.size(1500..=u64::from(u32::MAX)).map(|bytes| InitialThreshold::Bytes(bytes as u32)),
    }
}

fn reliability(lifetime: &Field<'_>, retransmissions: &Field<'_>) -> Result<Reliability, Problem> {
    let span: Option<Duration> = unless_unlimited(lifetime, |field| field.positive_duration())?;
    match (span, count_unless_unlimited(retransmissions, COUNT)?) {
        (None, None) => Ok(Reliability::Full),
        (Some(span), None) => Ok(Reliability::Lifetime(span)),
        (None, Some(most)) => Ok(Reliability::Retransmissions(most)),
        (Some(_), Some(_)) => Err(retransmissions
            .problem("found lifetime and max_retransmissions, expected one of them")
            .label("one too many")),
    }
}

fn heartbeat_interval(field: &Field<'_>) -> Result<Option<Duration>, Problem> {
    match field.value() {
        Value::Boolean(false) => Ok(None),
        _ => field.positive_duration().map(Some),
    }
}
