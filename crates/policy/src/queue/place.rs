//! What is known of the queue in which a discipline is: its limit, what packets take there, and how fast it is served.

use subflow_quantity::{Duration, Rate};

/// The limit of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// No limit.
    #[default]
    Unlimited,
    /// In packets.
    Packets(u32),
    /// In bytes, including link overhead.
    Bytes(u64),
}

/// Where a discipline is: what is known of its queue before the first packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The limit of the queue.
    pub limit: Limit,
    /// What each packet takes on the link besides its IP length, in bytes.
    pub overhead: u16,
}

impl Place {
    /// The bytes, with overhead, that a packet of 1500 bytes takes there.
    pub fn full_packet(&self) -> u32 {
        FULL_PACKET + u32::from(self.overhead)
    }
}

/// The length of a full-sized IP packet, in bytes.
pub const FULL_PACKET: u32 = 1500;

/// How fast a link transmits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// Infinitely fast.
    Unlimited,
    /// A constant rate, or the long-term rate of a token bucket.
    Rate(Rate),
    /// A varying rate with this mean, in bits per second.
    Mean(f64),
}

impl Speed {
    /// The transmission time of `bytes`; the mean if it varies.
    pub fn transmission_time(self, bytes: u32) -> Duration {
        match self {
            Self::Unlimited => Duration::ZERO,
            Self::Rate(rate) => rate.transmission_time(bytes.into()),
            Self::Mean(bits_per_second) => Duration::from_secs_f64(f64::from(bytes) * 8.0 / bits_per_second),
        }
    }
}
