//! The measurements of one run.

use std::collections::BTreeMap;

use serde::Serialize;
use subflow_quantity::Duration;
use subflow_transport::mptcp::PathRecord;

use super::{Series, number};

/// What one run of the simulator measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunResult {
    /// The seed of every random stream of the run.
    pub seed: u64,
    /// How long the run lasted in simulated seconds.
    #[serde(serialize_with = "number::serialize")]
    pub duration_s: f64,
    /// The flows, in the scenario's order.
    pub flows: Vec<FlowResult>,
    /// The links, in the scenario's order.
    pub links: Vec<LinkResult>,
    /// What the engine did.
    pub engine: Engine,
    /// How true to time the run was, where it ran on the wall clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_time: Option<RealTime>,
    /// Metrics over time, where they were asked for. Written to a file of their own.
    #[serde(skip)]
    pub series: Vec<Series>,
    /// For each flow the samples of its sender's subflows in the order of time, where they were asked for; none for
    /// flows that are not MPTCP.
    #[serde(skip)]
    pub paths: Vec<Vec<PathRecord>>,
}

impl RunResult {
    /// What speaks against believing the run: nothing against a simulated one, or one that was true to time.
    pub fn objections(&self) -> &[String] {
        self.real_time.as_ref().map_or(&[], |real_time| &real_time.objections)
    }
}

/// How true to time a run on the wall clock was.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RealTime {
    /// The kernel's release.
    pub kernel: String,
    /// What joined the kernels' interfaces to the links: `tun`, or `veth` (a pair with a packet socket).
    pub device: &'static str,
    /// Whether the run may be believed: nothing in `objections`.
    pub valid: bool,
    /// What speaks against it.
    pub objections: Vec<String>,
    /// What the scenario asks for and this kernel cannot do.
    pub notes: Vec<String>,
    /// Whether the network's thread ran ahead of all others (SCHED_FIFO).
    pub real_time_priority: bool,
    /// How late packets were given to kernels, in microseconds: half of them at most this late.
    #[serde(serialize_with = "number::serialize")]
    pub late_p50_us: f64,
    /// 99 % of them.
    #[serde(serialize_with = "number::serialize")]
    pub late_p99_us: f64,
    /// 99.9 % of them.
    #[serde(serialize_with = "number::serialize")]
    pub late_p999_us: f64,
    /// The latest.
    #[serde(serialize_with = "number::serialize")]
    pub late_max_us: f64,
    /// Packets that the devices dropped, to and from kernels.
    pub device_drops: u64,
    /// Packets of kernels that the network does not carry: neither TCP nor UDP, or fragments.
    pub ignored_packets: u64,
    /// The share of the machine's CPU time that the run left to others.
    #[serde(serialize_with = "number::serialize")]
    pub cpu_left: f64,
    /// Counters of the kernels' MPTCP (`MPTcpExt`) that are not zero, by host.
    pub mptcp_counters: BTreeMap<String, BTreeMap<String, i64>>,
}

/// What one flow got.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlowResult {
    /// Its name in the scenario.
    pub name: String,
    /// `tcp`, `mptcp`, `sctp` or `udp`. A connection that fell back to TCP is still `mptcp` here; see `fallback`.
    pub protocol: String,
    /// Congestion control, where the protocol has any.
    pub congestion: Option<String>,
    /// Packet scheduler, where the protocol has one.
    pub scheduler: Option<String>,
    /// Path manager, where the protocol has one.
    pub path_manager: Option<String>,
    /// Payload that the receiving application read, in order and once, per time, in Mbit/s: from the flow's start (or
    /// the end of the warm-up, where that is later) to its completion (or its stop, or the end of the run).
    #[serde(serialize_with = "number::serialize")]
    pub goodput_mbps: f64,
    /// Payload bytes that the receiving application read over the whole run. Of requests and responses: responses.
    pub bytes_delivered: u64,
    /// Seconds from the flow's start until the receiving application had read the last byte (of messages that SCTP may give up:
    /// until it knew that nothing more comes); null where it never did, or where there is no last byte.
    #[serde(serialize_with = "number::optional")]
    pub completion_s: Option<f64>,
    /// Segments sent again, by all subflows.
    pub retransmissions: u64,
    /// Retransmission timeouts, of all subflows.
    pub timeouts: u64,
    /// Of an SCTP flow, what was sent again, by reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted: Option<Retransmitted>,
    /// Of an SCTP flow that may give messages up, those.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abandoned: Option<Abandoned>,
    /// Duplicate acknowledgments received, by all subflows.
    pub duplicate_acks: u64,
    /// Data sent again on another subflow, in bytes.
    pub reinjected_bytes: u64,
    /// Whether an MPTCP connection fell back to plain TCP.
    pub fallback: bool,
    /// How the sending end's connection ended: `gracefully`, `reset`, `refused`, `timed-out` or `aborted`; null where it was
    /// still there when the run ended, and for UDP.
    pub ended: Option<&'static str>,
    /// The subflows, in the order in which they were opened; plain TCP has one, UDP none. Of SCTP, the destinations.
    ///
    /// Of a connection with more than [`LISTED_SUBFLOWS`](subflow_transport::mptcp::LISTED_SUBFLOWS) over its life
    /// these are the first ones and the latest; a last one, `others`, is the sum of those between.
    pub subflows: Vec<SubflowResult>,
    /// How many subflows are in the sum `others` only.
    #[serde(skip_serializing_if = "is_zero")]
    pub unlisted_subflows: u64,
    /// Exchanges of a request/response flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<Exchanges>,
    /// Datagrams of a UDP flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<Datagrams>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What one subflow did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SubflowResult {
    /// Its ends, `host.interface-host.interface`; further ones between the same ends count up: `…#2`.
    pub name: String,
    /// Payload that it delivered first (a copy that came later does not count), over the same time as the flow's. What waits
    /// at the end for data missing before it counts here, and not yet in the flow's goodput.
    #[serde(serialize_with = "number::serialize")]
    pub goodput_mbps: f64,
    /// Segments sent, retransmissions included.
    pub packets_sent: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Segments given to it that another subflow had been given before: a scheduler's copies, and reinjections.
    pub copies: u64,
    /// Of an SCTP destination, what was sent again there, by reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted: Option<Retransmitted>,
    /// Smoothed RTT at the end, where there was a sample.
    #[serde(serialize_with = "number::optional")]
    pub srtt_ms: Option<f64>,
    /// Congestion window at the end, in packets.
    #[serde(serialize_with = "number::optional")]
    pub cwnd_packets: Option<f64>,
}

/// Chunks that SCTP sent again, and how often that began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Retransmitted {
    /// After three misses (RFC 9260, section 7.2.4).
    pub fast: u64,
    /// After a timeout (section 6.3.3).
    pub timeout: u64,
    /// How often the retransmission timer expired.
    pub timeouts: u64,
    /// How often misses cut the window. During fast recovery further ones do not (section 7.2.4).
    pub fast_recoveries: u64,
}

impl core::ops::AddAssign for Retransmitted {
    fn add_assign(&mut self, other: Self) {
        self.fast += other.fast;
        self.timeout += other.timeout;
        self.timeouts += other.timeouts;
        self.fast_recoveries += other.fast_recoveries;
    }
}

/// What SCTP gave up (RFC 3758, RFC 7496). Some of it may have arrived all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Abandoned {
    /// Messages.
    pub messages: u64,
    /// Their bytes that were not acknowledged.
    pub bytes: u64,
}

/// Requests and responses.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Exchanges {
    /// How many came to their end.
    pub completed: u64,
    /// Mean time from request to the last byte of its response.
    #[serde(serialize_with = "number::optional")]
    pub mean_ms: Option<f64>,
    /// Median of it.
    #[serde(serialize_with = "number::optional")]
    pub median_ms: Option<f64>,
    /// 95th percentile of it.
    #[serde(serialize_with = "number::optional")]
    pub p95_ms: Option<f64>,
}

/// Datagrams.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Datagrams {
    /// Sent.
    pub sent: u64,
    /// Received, duplicates included.
    pub received: u64,
}

/// What one link carried.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LinkResult {
    /// Its name in the scenario.
    pub name: String,
    /// Packets that reached the far end, both directions together.
    pub packets: u64,
    /// Packets dropped by the queues, both directions together.
    pub drops: u64,
    /// Packets lost after they were transmitted, or because the link was down; both directions together.
    pub losses: u64,
    /// The share of the run (after the warm-up) in which the busier direction transmitted.
    #[serde(serialize_with = "number::serialize")]
    pub utilisation: f64,
    /// From the first end to the second.
    pub up: DirectionResult,
    /// From the second end to the first.
    pub down: DirectionResult,
}

/// What one direction of a link carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DirectionResult {
    /// Packets that reached the far end.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
    /// Packets dropped by the queue.
    pub drops: u64,
    /// Packets lost after they were transmitted, or because the link was down.
    pub losses: u64,
    /// The share of the run (after the warm-up) in which it transmitted.
    #[serde(serialize_with = "number::serialize")]
    pub utilisation: f64,
    /// The most packets that its queue held.
    pub max_queue_packets: u64,
    /// The packets that its queue held on average over time.
    #[serde(serialize_with = "number::serialize")]
    pub mean_queue_packets: f64,
}

impl LinkResult {
    /// A link from its two directions.
    pub fn new(name: impl Into<String>, up: DirectionResult, down: DirectionResult) -> Self {
        Self {
            name: name.into(),
            packets: up.packets + down.packets,
            drops: up.drops + down.drops,
            losses: up.losses + down.losses,
            utilisation: up.utilisation.max(down.utilisation),
            up,
            down,
        }
    }
}

/// What the engine did for a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Engine {
    /// Packets that left a link: one packet over three links is three hops.
    pub packet_hops: u64,
    /// Events processed.
    pub events: u64,
    /// CPU time. The one number that differs between runs with the same seed.
    #[serde(serialize_with = "number::serialize")]
    pub cpu_s: f64,
}

/// The rate of `bytes` in `span`, in Mbit/s; zero for an empty span.
pub fn goodput_mbps(bytes: u64, span: Duration) -> f64 {
    if span.is_zero() { 0.0 } else { bytes as f64 * 8e-6 / span.as_secs_f64() }
}
