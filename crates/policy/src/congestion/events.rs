//! What a transport tells its controller. Amounts are in the path's unit.

use subflow_quantity::{Duration, Instant};

/// The content of an acknowledgment.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Instant,
    /// Newly delivered amount (cumulative and selective).
    pub acked: u32,
    /// RTT sample of this acknowledgment, measured on the newest delivered segment that was sent only once (Linux:
    /// `ack_sample.rtt_us`). The estimate [`Path::srtt`](super::Path::srtt) uses the oldest such segment, which includes
    /// the delay of the acknowledgment at the receiver; delay-based decisions must not include it.
    pub rtt: Option<Duration>,
    /// All stream bytes of this path acknowledged so far (SND.UNA as a 64-bit offset).
    pub una: u64,
    /// All stream bytes of this path sent so far (SND.NXT as a 64-bit offset): a round ends when `una` passes the value
    /// that `nxt` had at its start.
    pub nxt: u64,
    /// Amount in flight before this acknowledgment.
    pub in_flight: u32,
}

/// An acknowledgment after loss detection: what it delivered and what it proved lost (Linux: `rate_sample`).
#[derive(Clone, Copy, Debug)]
pub struct DeliverySample {
    /// The acknowledgment itself.
    pub ack: Ack,
    /// Amount delivered since the path began, with this acknowledgment.
    pub delivered: u64,
    /// Amount that became lost with this acknowledgment.
    pub lost: u32,
    /// Amount in flight after this acknowledgment.
    pub in_flight: u32,
    /// Newly delivered packets that the peer reported as marked by ECN; 0 without ECN.
    pub ce: u32,
    /// Whether SND.UNA advanced.
    pub advanced: bool,
    /// Whether the transport counts the delivery as progress that may grow the window.
    pub progress: bool,
    /// Whether the window, not the application or the peer, limited what was sent.
    pub window_limited: bool,
    /// The delivery rate, if the algorithm [takes it](super::CongestionControl::takes_rate_samples) and the transport
    /// measures it.
    pub rate: Option<RateSample>,
}

/// A sample of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation-02; Linux `struct rate_sample`): the rate at
/// which the network delivered the data that was in flight with the newest packet delivered by an acknowledgment. It ends
/// with the acknowledgment, and begins with the last delivery before that packet was sent.
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Amount delivered in that time; 0 if the acknowledgment delivered no packet.
    pub delivered: u64,
    /// Amount that had been delivered when the packet was sent. A round trip ends with the first packet that was sent
    /// after it began.
    pub prior_delivered: u64,
    /// The time in which the amount was sent, or that in which it was acknowledged if that is longer. `None` if the
    /// sample gives no rate: no packet was delivered, its time is below the smallest RTT, or the peer has discarded data
    /// that it had acknowledged selectively.
    pub interval: Option<Duration>,
    /// Whether the application, not the network, limited the rate.
    pub application_limited: bool,
    /// Whether the peer may have delayed the acknowledgment: it covers one packet below full size.
    pub ack_delayed: bool,
    /// Amount that became lost since the path began.
    pub lost: u64,
    /// When the path last delivered something, or began to send while nothing was in flight.
    pub delivered_at: Instant,
    /// When pacing lets the next packet leave; a time in the past if it may leave now.
    pub departure: Instant,
    /// Payload bytes of one unit, as in [`Outstanding::unit_bytes`].
    pub unit_bytes: u32,
}

/// What an algorithm with a model of its path estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathModel {
    /// Bandwidth of the bottleneck, in bytes of payload per second.
    pub bandwidth: u64,
    /// Round-trip time without queues, if there was a sample.
    pub min_rtt: Option<Duration>,
}

/// A loss that begins fast recovery.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When it was detected.
    pub now: Instant,
    /// Amount in flight, without what is lost.
    pub in_flight: u32,
    /// A timer detected it, such as RACK's reordering timer: no acknowledgment allows the first retransmission.
    pub by_timer: bool,
}

/// A retransmission timeout.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// When it happened.
    pub now: Instant,
    /// Amount in flight, without what is lost.
    pub in_flight: u32,
    /// It continues an episode of loss for which the threshold was reduced already.
    pub repeated: bool,
}

/// What a pacing rate depends on beside the window.
#[derive(Clone, Copy, Debug)]
pub struct Outstanding {
    /// Amount sent and not acknowledged.
    pub amount: u32,
    /// Payload bytes of one unit.
    pub unit_bytes: u32,
}
