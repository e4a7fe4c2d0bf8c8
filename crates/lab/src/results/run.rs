//! The measurements of one run.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use subflow_quantity::Duration;
use subflow_transport::mptcp::PathRecord;

use super::{
    ConnectionResult, ExchangeResult, Exchanges, InterfaceResult, LinkResult, ProgramResult, Sequence, Series,
    VideoResult,
};
use crate::number;
use crate::statistics::DurationSummary;

/// The measurements of one run.
///
/// In formats for people numbers are rounded ([`crate::number`]); in others, such as CBOR, they are exact, so that a run
/// that was stored has the same statistics. Runs in real time and [`RunResult::paths`] are not read back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// The seed of every random stream of the run.
    pub seed: u64,
    /// Duration of the run in seconds.
    #[serde(serialize_with = "number::serialize")]
    pub duration_s: f64,
    /// The flows, in the scenario's order, then the connections of programs in hosts.
    pub flows: Vec<FlowResult>,
    /// The links, in the scenario's order.
    pub links: Vec<LinkResult>,
    /// The interfaces whose energy is counted, in the scenario's order. Of simulated runs only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<InterfaceResult>,
    /// Counters of the engine.
    pub engine: Engine,
    /// How true to time the run was, if it ran in real time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_time: Option<RealTime>,
    /// Metrics over time, if requested. They are written to a separate file.
    #[serde(skip)]
    pub series: Vec<Series>,
    /// What happened to the flows' data, packet by packet, if metrics over time were requested. Of simulated runs only.
    #[serde(skip)]
    pub sequences: Vec<Sequence>,
    /// The exchanges of all flows, flow by flow. They are written to a separate file.
    #[serde(skip)]
    pub exchanges: Vec<ExchangeResult>,
    /// The connections of programs in hosts, in the order of their beginnings. They are written to a separate file.
    #[serde(skip)]
    pub connections: Vec<ConnectionResult>,
    /// For each flow the samples of its sender's subflows in the order of time, if requested; empty for flows that are
    /// not MPTCP.
    #[serde(skip)]
    pub paths: Vec<Vec<PathRecord>>,
}

impl RunResult {
    /// The reasons why the run is not valid; empty for a simulated run and for one that was true to time.
    pub fn objections(&self) -> &[String] {
        self.real_time.as_ref().map_or(&[], |real_time| &real_time.objections)
    }
}

/// How true to time a run in real time was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RealTime {
    /// The kernel's release.
    pub kernel: String,
    /// The devices between the kernels' interfaces and the links: `tun`, or `veth` (a pair with a packet socket).
    pub device: String,
    /// Whether the run is valid: `objections` is empty.
    pub valid: bool,
    /// The reasons why the run is not valid.
    pub objections: Vec<String>,
    /// Requests of the scenario that this kernel does not support, and other remarks.
    pub notes: Vec<String>,
    /// Whether the network's thread had real-time priority (SCHED_FIFO).
    pub real_time_priority: bool,
    /// Median of the time in microseconds by which packets were passed to kernels too late.
    #[serde(serialize_with = "number::serialize")]
    pub late_p50_us: f64,
    /// 99th percentile of it.
    #[serde(serialize_with = "number::serialize")]
    pub late_p99_us: f64,
    /// 99.9th percentile of it.
    #[serde(serialize_with = "number::serialize")]
    pub late_p999_us: f64,
    /// Maximum of it.
    #[serde(serialize_with = "number::serialize")]
    pub late_max_us: f64,
    /// Packets that the devices dropped, to and from kernels.
    pub device_drops: u64,
    /// Packets of kernels that the network does not carry: neither TCP nor UDP, or fragments.
    pub ignored_packets: u64,
    /// The share of the machine's CPU time that the run did not use.
    #[serde(serialize_with = "number::serialize")]
    pub cpu_left: f64,
    /// Counters of the kernels' MPTCP (`MPTcpExt`) that are not zero, by host.
    pub mptcp_counters: BTreeMap<String, BTreeMap<String, i64>>,
    /// What switches and their controller counted, if there are switches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switches: Option<SwitchReport>,
    /// How the programs ran, in the scenario's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramResult>,
}

/// What switches and their controller counted in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SwitchReport {
    /// The counters of the switches' ports.
    pub ports: Vec<SwitchPortBytes>,
    /// The connections that the controller knew at the end of the run, with their subflows and paths; null without.
    pub connections: serde_json::Value,
    /// The controller's counters; null without.
    pub controller: serde_json::Value,
}

/// The counters of a port of a switch, with Ethernet headers and LLDP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchPortBytes {
    /// The router in the scenario.
    pub switch: String,
    /// The link that the port is on.
    pub link: String,
    /// Bytes received from the link.
    pub received_bytes: u64,
    /// Bytes sent on the link.
    pub sent_bytes: u64,
}

/// The measurements of one flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowResult {
    /// Its name in the scenario; with `count`, the name, a dot and a number counted from 1.
    pub name: String,
    /// What makes it one of a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupMember>,
    /// `tcp`, `mptcp`, `sctp` or `udp`. A connection that fell back to TCP is still `mptcp` here; see `fallback`.
    pub protocol: String,
    /// Congestion control, if the protocol has one.
    pub congestion: Option<String>,
    /// Packet scheduler, if the protocol has one.
    pub scheduler: Option<String>,
    /// Path manager, if the protocol has one.
    pub path_manager: Option<String>,
    /// Rate in Mbit/s at which the receiving application read payload. The period is from the flow's start (or the end
    /// of the warm-up if that is later) to its completion (or its stop, or the end of the run).
    #[serde(serialize_with = "number::serialize")]
    pub goodput_mbps: f64,
    /// Payload bytes that the receiving application read over the whole run. For requests and responses, these are the
    /// bytes of responses.
    pub bytes_delivered: u64,
    /// Seconds from the flow's start until the receiving application had read the last byte (for messages that SCTP may
    /// abandon, until it knew that no more would come). Null if it did not complete, or if the flow has no last byte.
    #[serde(serialize_with = "number::optional")]
    pub completion_s: Option<f64>,
    /// Retransmitted segments of all subflows.
    pub retransmissions: u64,
    /// Retransmission timeouts of all subflows.
    pub timeouts: u64,
    /// The retransmissions of an SCTP flow by reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted: Option<Retransmitted>,
    /// The abandoned messages of an SCTP flow with partial reliability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abandoned: Option<Abandoned>,
    /// Duplicate acknowledgments received by all subflows.
    pub duplicate_acks: u64,
    /// Reinjected data in bytes: sent again on another subflow.
    pub reinjected_bytes: u64,
    /// Whether an MPTCP connection fell back to plain TCP.
    pub fallback: bool,
    /// How the sending end's connection ended: `gracefully`, `reset`, `refused`, `timed-out` or `aborted`; null if it
    /// was still open when the run ended, and for UDP.
    #[serde(deserialize_with = "end")]
    pub ended: Option<End>,
    /// The subflows, in the order in which they were opened; plain TCP has one, UDP none. For SCTP, the destinations.
    ///
    /// If a connection had more than [`LISTED_SUBFLOWS`](subflow_transport::mptcp::LISTED_SUBFLOWS) in all, these are
    /// the first and the latest ones; the last entry, `others`, is the sum of those between.
    pub subflows: Vec<SubflowResult>,
    /// Number of subflows that are only in the sum `others`.
    #[serde(default, skip_serializing_if = "number::is_zero")]
    pub unlisted_subflows: u64,
    /// Exchanges of a request/response flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<Exchanges>,
    /// What the player of a video flow has shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub video: Option<VideoResult>,
    /// Datagrams of a UDP flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<Datagrams>,
    /// From the first transmission of data until the application could read it, per segment (SCTP: chunk), after the
    /// warm-up. Of simulated runs with metrics over time only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Latency>,
    /// The part of `delay` after the arrival, in which the data waited for earlier data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reassembly_delay: Option<Latency>,
    /// Of what program's connection it is the direction with more data, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<Box<ConnectionResult>>,
}

impl FlowResult {
    /// The name of the line that it has in tables and figures: its own, or that of its group.
    pub fn line(&self) -> &str {
        self.group.as_ref().map_or(&self.name, |group| &group.name)
    }
}

/// The part of a flow in a group (`count`), as it was drawn for the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupMember {
    /// The name of the group in the scenario.
    pub name: String,
    /// Seconds from the start of the run to that of the flow. A flow whose start is after the end of the run sent nothing.
    #[serde(serialize_with = "number::serialize")]
    pub start_s: f64,
    /// Bytes that it was to send; null if it sends without end, or not one amount.
    pub send_bytes: Option<u64>,
}

/// The name of how a connection ended. A name of its own keeps serde from borrowing it from the input.
type End = &'static str;

/// The names of [`FlowResult::ended`].
const ENDS: [End; 5] = ["gracefully", "reset", "refused", "timed-out", "aborted"];

fn end<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<End>, D::Error> {
    let Some(name) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let known = ENDS.into_iter().find(|known| *known == name);
    known.map(Some).ok_or_else(|| serde::de::Error::custom(format!("found {name:?} as the end of a connection")))
}

/// The measurements of one subflow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SubflowResult {
    /// Its ends, `host.interface-host.interface`; further ones between the same ends have a number: `…#2`.
    pub name: String,
    /// Whether it was opened in place of an earlier one between the same ends, which had ended.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub opened_again: bool,
    /// Rate of payload that it delivered first (later copies do not count), over the same period as the flow's. Data
    /// that still waits for earlier data at the end counts here, but not in the flow's goodput.
    #[serde(serialize_with = "number::serialize")]
    pub goodput_mbps: f64,
    /// Segments sent, retransmissions included.
    pub packets_sent: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Segments with data that another subflow had sent before: copies made by the scheduler, and reinjections.
    pub copies: u64,
    /// The retransmissions to an SCTP destination by reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted: Option<Retransmitted>,
    /// Smoothed RTT in milliseconds at the end, if there was a sample.
    #[serde(serialize_with = "number::optional")]
    pub srtt_ms: Option<f64>,
    /// Congestion window at the end, in packets.
    #[serde(serialize_with = "number::optional")]
    pub cwnd_packets: Option<f64>,
    /// From the transmission of data until it arrived, of data that was sent once, after the warm-up: with the queues,
    /// without retransmissions. Of simulated runs with metrics over time only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_way_delay: Option<Latency>,
    /// The RTT samples of the sender (RFC 6298, section 3) after the warm-up, each of the segment that was sent last
    /// among those newly acknowledged. Likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Latency>,
}

impl SubflowResult {
    /// What tables and figures for readers call it: its name, and whether it was opened again.
    pub fn label(&self) -> String {
        label_of_subflow(&self.name, self.opened_again)
    }
}

/// The label of a subflow with this name.
pub(crate) fn label_of_subflow(name: &str, opened_again: bool) -> String {
    if opened_again { format!("{name} (opened again)") } else { name.to_owned() }
}

/// Mean and percentiles of times in milliseconds. With more than 4096 of them, the percentiles are within 0.1 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Number of times.
    pub samples: u64,
    /// Their mean.
    #[serde(serialize_with = "number::serialize")]
    pub mean_ms: f64,
    /// Their median.
    #[serde(serialize_with = "number::serialize")]
    pub p50_ms: f64,
    /// Their 95th percentile.
    #[serde(serialize_with = "number::serialize")]
    pub p95_ms: f64,
    /// Their 99th percentile.
    #[serde(serialize_with = "number::serialize")]
    pub p99_ms: f64,
}

impl Latency {
    /// From a summary; `None` if it is empty.
    pub fn of(summary: &DurationSummary) -> Option<Self> {
        Self::of_all(summary.clone())
    }

    /// From a summary of which nothing else is asked.
    pub(crate) fn of_all(summary: DurationSummary) -> Option<Self> {
        let (samples, mean_ms) = (summary.count(), summary.mean()? * 1e3);
        let [p50_ms, p95_ms, p99_ms] = summary.into_quantiles([0.5, 0.95, 0.99])?.map(|seconds| seconds * 1e3);
        Some(Self { samples, mean_ms, p50_ms, p95_ms, p99_ms })
    }
}

/// Retransmitted chunks of SCTP, and the number of timeouts and fast recoveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retransmitted {
    /// Chunks retransmitted after three miss indications (RFC 9260, section 7.2.4).
    pub fast: u64,
    /// Chunks retransmitted after a timeout (section 6.3.3).
    pub timeout: u64,
    /// Number of expirations of the retransmission timer.
    pub timeouts: u64,
    /// Number of fast recoveries: of window reductions after miss indications (section 7.2.4).
    pub fast_recoveries: u64,
    /// Number of fast retransmissions: one for each SACK and path, however many chunks (Linux `SctpFastRetransmits`).
    #[serde(default)]
    pub fast_retransmits: u64,
}

impl core::ops::AddAssign for Retransmitted {
    fn add_assign(&mut self, other: Self) {
        self.fast += other.fast;
        self.timeout += other.timeout;
        self.timeouts += other.timeouts;
        self.fast_recoveries += other.fast_recoveries;
        self.fast_retransmits += other.fast_retransmits;
    }
}

/// Messages that SCTP abandoned (RFC 3758, RFC 7496). Some of them may have arrived nevertheless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abandoned {
    /// Number of messages.
    pub messages: u64,
    /// Bytes of them that were not acknowledged.
    pub bytes: u64,
}

/// Numbers of datagrams.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Datagrams {
    /// Sent.
    pub sent: u64,
    /// Received, duplicates included.
    pub received: u64,
}

/// Counters of the engine for one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Engine {
    /// Packets that left a link: a packet that passes three links counts three times.
    pub packet_hops: u64,
    /// Events processed.
    pub events: u64,
    /// CPU time in seconds. Only this number differs between runs with the same seed.
    #[serde(serialize_with = "number::serialize")]
    pub cpu_s: f64,
}

/// The rate of `bytes` in `span`, in Mbit/s; zero for an empty span.
pub fn goodput_mbps(bytes: u64, span: Duration) -> f64 {
    if span.is_zero() { 0.0 } else { bytes as f64 * 8e-6 / span.as_secs_f64() }
}
