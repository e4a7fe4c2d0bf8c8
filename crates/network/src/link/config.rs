//! What a link is, as its builder says it.

use std::sync::Arc;

use subflow_quantity::{Duration, Rate};

use super::TokenBucketConfig;
use crate::netem::{Jitter, Overtaking};
use crate::{CapacityTrace, LossConfig, Probability, QueueConfig};

/// How fast one direction of a link sends.
#[derive(Clone, Debug, Default)]
pub enum Service {
    /// Infinitely fast: a packet leaves in the instant in which it comes, and nothing ever waits.
    #[default]
    Unlimited,
    /// A constant rate. A packet occupies the link for (IP length + overhead) · 8 / rate, rounded up to a nanosecond.
    Rate(Rate),
    /// Delivery opportunities from a recorded trace.
    Trace(Arc<CapacityTrace>),
    /// A token bucket: bursts at once, and a rate in the long run.
    TokenBucket(TokenBucketConfig),
}

/// Where random loss strikes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossPosition {
    /// On arrival: a lost packet takes no place in the queue and no time on the link (a lossy hop *before* the queue).
    BeforeQueue,
    /// After transmission: a lost packet has waited and has occupied the link like any other (netem's loss behind a
    /// bottleneck, radio loss).
    #[default]
    AfterQueue,
}

/// Late delivery of some packets, so that later ones overtake them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reordering {
    /// How likely a packet is held back.
    pub probability: Probability,
    /// For how long, beyond the propagation delay.
    pub extra_delay: Duration,
}

/// One direction of a link: a queue, a transmitter, a propagation delay, and what goes wrong on the way.
///
/// A packet goes through, in this order: loss ([`LossPosition::BeforeQueue`]), queue, transmission, loss
/// ([`LossPosition::AfterQueue`]), propagation, reordering, duplication.
#[derive(Clone, Debug, Default)]
pub struct LinkConfig {
    /// How fast it sends. Default: infinitely fast.
    pub service: Service,
    /// Propagation delay. Default: none.
    pub delay: Duration,
    /// Bytes that each packet occupies on the link beyond its IP length: 38 for Ethernet with preamble and gap.
    /// Counts for transmission and for limits in bytes, not in reported bytes. Default: 0.
    pub overhead: u16,
    /// Queue. Default: unlimited.
    pub queue: QueueConfig,
    /// Random loss. Default: none.
    pub loss: LossConfig,
    /// Where it strikes. Default: after the queue.
    pub loss_position: LossPosition,
    /// How likely a packet arrives twice; the copy takes no time on this link. Default: never.
    pub duplication: Probability,
    /// How far delays stray. A packet that draws a shorter one overtakes others, as in netem. Default: not at all.
    pub jitter: Option<Jitter>,
    /// Packets that take no propagation delay at all. Default: none.
    pub overtaking: Option<Overtaking>,
    /// Late packets. Default: none.
    pub reordering: Option<Reordering>,
}

impl LinkConfig {
    /// A link of constant rate with an unlimited queue.
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
    pub fn with_loss(self, loss: LossConfig) -> Self {
        Self { loss, ..self }
    }
}
