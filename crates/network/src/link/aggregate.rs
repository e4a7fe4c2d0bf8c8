//! What a link over a WiFi channel sends at once.

use subflow_quantity::{Duration, Instant};

use super::Parcel;
use crate::WifiConfig;

/// The transmitter of a link over a WiFi channel.
#[derive(Debug)]
pub(crate) struct WifiTransmitter {
    pub(super) config: WifiConfig,
    /// Taken from the queue, to be sent together, and again after a collision.
    pub(super) aggregate: Vec<Frame>,
    /// What it takes as an aggregate, in bytes.
    pub(super) aggregate_bytes: u64,
    /// Taken from the queue, but it did not fit any more: the first of the next aggregate.
    pub(super) next: Option<Frame>,
    /// When the current transmission ends.
    pub(super) ends: Instant,
}

/// A packet that waits for the channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) came: Instant,
    pub(super) parcel: Parcel,
}

/// What a transmission takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OnAir {
    /// Its time on the air.
    pub(crate) time: Duration,
    /// The time from its end to that of the acknowledgment.
    pub(crate) response: Duration,
}

impl WifiTransmitter {
    pub(super) fn new(config: WifiConfig) -> Self {
        Self { config, aggregate: Vec::new(), aggregate_bytes: 0, next: None, ends: Instant::ZERO }
    }

    /// The packets that have left the queue and were not sent.
    pub(super) fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.aggregate.iter().chain(&self.next)
    }

    /// Adds `frame`, which takes `occupied` bytes on the link, to the aggregate, if that is within its limits then.
    pub(super) fn admits(&mut self, frame: Frame, occupied: u32) -> bool {
        let config = &self.config;
        let bytes = self.aggregate_bytes + config.subframe_bytes(occupied);
        let is_admitted = self.aggregate.is_empty()
            || (bytes <= config.most_bytes.into() && config.aggregate_time(bytes) <= config.longest);
        if is_admitted {
            self.aggregate_bytes = bytes;
            self.aggregate.push(frame);
        } else {
            self.next = Some(frame);
        }
        is_admitted
    }

    /// What an attempt with the aggregate takes, whose packets have so many bytes on the link; `None` if it is empty.
    pub(super) fn on_air(&self, occupied: impl Fn(&Frame) -> u32) -> Option<OnAir> {
        let time = match &self.aggregate[..] {
            [] => return None,
            [frame] => self.config.single_time(occupied(frame)),
            _ => self.config.aggregate_time(self.aggregate_bytes),
        };
        Some(OnAir { time, response: self.config.response_time(self.aggregate.len()) })
    }

    /// The packets of the attempt, which is over.
    pub(super) fn take_aggregate(&mut self) -> Vec<Frame> {
        self.aggregate_bytes = 0;
        core::mem::take(&mut self.aggregate)
    }
}
