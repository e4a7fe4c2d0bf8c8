//! The configuration of a link.

use std::sync::Arc;

use subflow_quantity::{Duration, Rate};

use super::{CellularConfig, TokenBucketConfig};
use crate::netem::{Jitter, Overtaking};
use crate::{CapacityTrace, LossModel, Probability, QueueConfig, WifiConfig};

/// The service of one direction of a link: how fast it sends.
#[derive(Clone, Debug, Default)]
pub enum Service {
    /// Infinitely fast: a packet leaves at the instant at which it comes, and no packet waits.
    #[default]
    Unlimited,
    /// A constant rate. A packet occupies the link for (IP length + overhead) · 8 / rate. It leaves at the first whole
    /// nanosecond after that; packets without a pause between them take their rate exactly.
    Rate(Rate),
    /// Delivery opportunities from a recorded trace.
    Trace(Arc<CapacityTrace>),
    /// A token bucket: bursts are sent at once, and the rate is limited in the long run.
    TokenBucket(TokenBucketConfig),
    /// Transport blocks in transmission time intervals, with hybrid ARQ, as LTE and 5G have them.
    Cellular(CellularConfig),
    /// A WiFi channel, for which it contends with other links. Packets wait in a backlog with every queue discipline.
    Wifi(Box<WifiConfig>),
}

/// Where random loss occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossPosition {
    /// On arrival: a lost packet takes no space in the queue and no time on the link (a lossy hop *before* the queue).
    BeforeQueue,
    /// After transmission: a lost packet has waited and used the link like any other (netem loss behind a bottleneck,
    /// radio loss).
    #[default]
    AfterQueue,
}

/// An extra delay for some packets, so that later ones overtake them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reordering {
    /// The probability that a packet has the extra delay.
    pub probability: Probability,
    /// The extra delay, in addition to the propagation delay.
    pub extra_delay: Duration,
}

/// One direction of a link: a queue, a transmitter, a propagation delay, and impairments.
///
/// The order of processing is: loss ([`LossPosition::BeforeQueue`]), queue, transmission, loss
/// ([`LossPosition::AfterQueue`]), propagation, reordering, duplication.
#[derive(Clone, Debug, Default)]
pub struct LinkConfig {
    /// The service. Default: infinitely fast.
    pub service: Service,
    /// Propagation delay. Default: none.
    pub delay: Duration,
    /// Bytes that each packet takes on the link in addition to its IP length: 38 for Ethernet with preamble and gap.
    /// They count for transmission and for limits in bytes, not in reported bytes. Default: 0.
    pub overhead: u16,
    /// Queue. Default: unlimited.
    pub queue: QueueConfig,
    /// Random loss. Default: none.
    pub loss: Option<LossModel>,
    /// Where loss occurs. Default: after the queue.
    pub loss_position: LossPosition,
    /// The probability that a packet is duplicated; the copy takes no time on this link. Default: never.
    pub duplication: Probability,
    /// Variation of the delay. A packet with a shorter delay overtakes others, as in netem. Default: none.
    pub jitter: Option<Jitter>,
    /// Packets without propagation delay. Default: none.
    pub overtaking: Option<Overtaking>,
    /// Reordering by extra delay. Default: none.
    pub reordering: Option<Reordering>,
    /// Whether the host at its near end learns which data leaves the queue, and when ([`crate::Departure`]). Packets then
    /// wait in a backlog with every queue discipline. Default: no.
    pub reports_departures: bool,
}

impl LinkConfig {
    /// A link with a constant rate and an unlimited queue.
    pub fn new(rate: Rate, delay: Duration) -> Self {
        Self { service: Service::Rate(rate), delay, ..Self::default() }
    }

    /// An infinitely fast link.
    pub fn instant(delay: Duration) -> Self {
        Self { delay, ..Self::default() }
    }

    /// The same link with another queue.
    #[must_use]
    pub fn with_queue(self, queue: QueueConfig) -> Self {
        Self { queue, ..self }
    }

    /// The same link with random loss after the queue.
    #[must_use]
    pub fn with_loss(self, loss: impl Into<LossModel>) -> Self {
        Self { loss: Some(loss.into()), ..self }
    }
}
