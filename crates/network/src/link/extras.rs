//! Features that most links do not have: RED, loss, disturbance.

use subflow_quantity::{Duration, Instant};

use super::disturbance::Disturbance;
use super::{LinkConfig, LinkStreams, LossPosition};
use crate::LossConfig;
use crate::loss::LossProcess;
use crate::queue::{Discipline, Occupancy, Red};
use rand_pcg::Pcg64Mcg;

/// The state of a link that a plain one does not use, stored separately so that plain links stay small.
#[derive(Debug)]
pub(crate) struct Extras {
    red: Option<Red>,
    loss: Option<LossProcess>,
    loss_random: Pcg64Mcg,
    loss_before_queue: bool,
    pub(crate) disturbance: Option<Disturbance>,
}

/// The state of the queue when a packet comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueState {
    pub(super) packets: u32,
    pub(super) bytes: u64,
    /// Since when the queue is empty, if it is empty.
    pub(super) idle_since: Instant,
}

impl Extras {
    pub(super) fn new(config: &LinkConfig, streams: LinkStreams) -> Self {
        Self {
            red: match &config.queue.discipline {
                Discipline::DropTail => None,
                Discipline::Red(red) => Some(Red::new(red.clone(), streams.red)),
            },
            loss: LossProcess::new(&config.loss),
            loss_random: streams.loss,
            loss_before_queue: config.loss_position == LossPosition::BeforeQueue,
            disturbance: Disturbance::new(config, streams.disturbance),
        }
    }

    /// Whether delays vary between packets.
    pub(super) fn delays_differ(&self) -> bool {
        self.disturbance.as_ref().is_some_and(|disturbance| disturbance.netem_delay().is_some())
    }

    /// Whether the link has none of these features.
    pub(super) fn are_none(&self) -> bool {
        self.red.is_none() && self.loss.is_none() && self.disturbance.is_none()
    }

    pub(super) fn set_loss(&mut self, config: &LossConfig) {
        self.loss = LossProcess::new(config);
    }

    /// Whether the packet that comes is lost before the queue.
    pub(super) fn loses_before_queue(&mut self) -> bool {
        self.loss_before_queue && self.loses()
    }

    /// Whether the accepted packet is lost after transmission.
    pub(super) fn loses_after_queue(&mut self) -> bool {
        !self.loss_before_queue && self.loses()
    }

    /// Whether RED drops a packet that takes `occupied` bytes. RED processes every packet that comes to the queue, also
    /// if the packet then does not fit.
    pub(super) fn red_drops(
        &mut self,
        now: Instant,
        occupied: u32,
        queue: QueueState,
        transmission_time: impl Fn(u32) -> Duration,
    ) -> bool {
        let Some(red) = &mut self.red else { return false };
        let QueueState { packets, bytes, idle_since } = queue;
        let occupancy =
            if packets > 0 { Occupancy::Holding { packets, bytes } } else { Occupancy::Idle(now.since(idle_since)) };
        red.drops(occupancy, occupied, transmission_time)
    }

    fn loses(&mut self) -> bool {
        match &mut self.loss {
            None => false,
            Some(loss) => loss.loses(&mut self.loss_random),
        }
    }
}
