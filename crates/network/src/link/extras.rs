//! Features that most links do not have: RED and custom queues, loss, disturbance; and what is seldom counted.

use rand_core::RngCore;
use subflow_quantity::{Duration, Instant};

use super::disturbance::Disturbance;
use super::{LinkConfig, LinkStreams, LossPosition};
use crate::LossConfig;
use crate::loss::LossProcess;
use crate::metrics::Dropped;
use crate::queue::{Arrival, CustomQueue, Discipline, Occupancy, Red};
use rand_pcg::Pcg64Mcg;

/// The state of a link that a plain one does not use, stored separately so that plain links stay small.
#[derive(Debug)]
pub(crate) struct Extras {
    active: Option<ActiveQueue>,
    loss: Option<LossProcess>,
    loss_random: Pcg64Mcg,
    loss_before_queue: bool,
    pub(crate) disturbance: Option<Disturbance>,
    pub(super) dropped: Dropped,
}

/// A queue discipline that drops packets before the limit is reached.
#[derive(Debug)]
enum ActiveQueue {
    Red(Red),
    Custom(Box<dyn CustomQueue>),
}

/// The state of the queue when a packet comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueState {
    pub(super) packets: u32,
    pub(super) bytes: u64,
    /// Since when the queue is empty, if it is empty.
    pub(super) idle_since: Instant,
    /// When the last packet that it holds leaves.
    pub(super) last_departure: Instant,
}

impl Extras {
    pub(super) fn new(config: &LinkConfig, mut streams: LinkStreams) -> Self {
        Self {
            active: match &config.queue.discipline {
                Discipline::DropTail => None,
                Discipline::Red(red) => Some(ActiveQueue::Red(Red::new(red.clone(), streams.queue))),
                Discipline::Custom(prototype) => {
                    let mut queue = prototype.clone();
                    queue.begin(streams.queue.next_u64());
                    Some(ActiveQueue::Custom(queue))
                }
            },
            loss: LossProcess::new(&config.loss),
            loss_random: streams.loss,
            loss_before_queue: config.loss_position == LossPosition::BeforeQueue,
            disturbance: Disturbance::new(config, streams.disturbance),
            dropped: Dropped::default(),
        }
    }

    /// Whether delays vary between packets.
    pub(super) fn delays_differ(&self) -> bool {
        self.disturbance.as_ref().is_some_and(|disturbance| disturbance.netem_delay().is_some())
    }

    /// Whether the link has none of these features.
    pub(super) fn are_none(&self) -> bool {
        self.active.is_none() && self.loss.is_none() && self.disturbance.is_none()
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

    /// Whether the discipline drops a packet that takes `occupied` bytes. It processes every packet that comes to the
    /// queue, also if the packet then does not fit.
    pub(super) fn queue_drops(
        &mut self,
        now: Instant,
        occupied: u32,
        queue: QueueState,
        transmission_time: impl Fn(u32) -> Duration,
    ) -> bool {
        let QueueState { packets, bytes, idle_since, last_departure } = queue;
        let idle = (packets == 0).then(|| now.since(idle_since));
        match &mut self.active {
            None => false,
            Some(ActiveQueue::Red(red)) => {
                let occupancy = idle.map_or(Occupancy::Holding { packets, bytes }, Occupancy::Idle);
                red.drops(occupancy, occupied, transmission_time)
            }
            Some(ActiveQueue::Custom(queue)) => queue.drops(&Arrival {
                at: now,
                bytes: occupied,
                held_packets: packets,
                held_bytes: bytes,
                wait: last_departure.since(now),
                idle,
            }),
        }
    }

    fn loses(&mut self) -> bool {
        match &mut self.loss {
            None => false,
            Some(loss) => loss.loses(&mut self.loss_random),
        }
    }
}
