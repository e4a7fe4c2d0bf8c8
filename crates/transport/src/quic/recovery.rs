//! Congestion control (RFC 9002, section 7), probe timeouts and pacing of a path: the state that its packet number spaces
//! share. The controller is that of all paths.

use subflow_policy::congestion::{
    Ack, Controller, DeliverySample, Loss, Outstanding, Pacer, RateSample, RecoveryState, Timeout,
};
use subflow_quantity::{Duration, Instant};

use super::Rtt;
use super::config::Config;
use super::ecn::Ecn;
use super::sent::Losses;
use crate::delivery_rate::{RateEstimator, Snapshot};

/// The time of persistent congestion, in probe timeouts (section 7.6.1).
const PERSISTENT_CONGESTION_THRESHOLD: u64 = 3;

/// Windows, packets in flight, and the episode of recovery.
#[derive(Clone, Debug)]
pub(super) struct Recovery {
    /// The path's index in the controller.
    path: usize,
    pub(super) pacer: Pacer,
    pacing_burst: Duration,
    in_flight: u32,
    /// When the latest reduction of the window began: losses of packets sent before cause no further one.
    began_at: Option<Instant>,
    /// Whether the application, not the window or pacing, limits what is sent.
    is_application_limited: bool,
    /// Packets delivered, and packets considered lost.
    delivered: u64,
    lost: u64,
    /// For congestion controls that take delivery rates.
    pub(super) rate: Option<Box<RateEstimator>>,
    pub(super) ecn: Ecn,
    /// Probe timeouts since the last acknowledgment.
    pub(super) probe_count: u32,
    last_sent_at: Instant,
}

/// What an acknowledgment has delivered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    pub(super) now: Instant,
    /// Packets newly acknowledged.
    pub(super) packets: u32,
    /// When the latest of them was sent.
    pub(super) latest_sent_at: Instant,
    pub(super) rtt: Option<Duration>,
    /// Whether the highest number acknowledged has grown, and how many of them are capable of ECN.
    pub(super) ecn: (bool, u32),
    /// The number of the highest packet acknowledged, plus one, and that of the next packet.
    pub(super) una: u64,
    pub(super) nxt: u64,
}

impl Recovery {
    /// That of path `path`, which the controller gets.
    pub(super) fn new(path: usize, controller: &mut Controller, config: &Config, now: Instant) -> Self {
        controller.set_path(path, 1, config.initial_window);
        Self {
            path,
            pacer: Pacer::OFF,
            pacing_burst: config.pacing_burst,
            in_flight: 0,
            began_at: None,
            is_application_limited: true,
            delivered: 0,
            lost: 0,
            rate: None,
            ecn: Ecn::new(config.ecn),
            probe_count: 0,
            last_sent_at: now,
        }
    }

    /// The handshake is complete.
    pub(super) fn establish(&mut self, controller: &mut Controller, paced: bool, now: Instant) {
        let paced = paced || controller.needs_pacing();
        if paced {
            self.pacer = Pacer::ON;
        }
        if controller.takes_rate_samples() {
            self.rate = Some(Box::new(RateEstimator::new(false, now)));
        }
        controller.establish(self.path, paced, now);
    }

    /// Packets in flight, of all packet number spaces.
    #[inline]
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// The congestion window in packets.
    #[inline]
    pub(super) fn window(&self, controller: &Controller) -> u32 {
        controller.path(self.path).cwnd()
    }

    pub(super) fn state(&self, controller: &Controller) -> RecoveryState {
        controller.path(self.path).state()
    }

    /// Whether the window and pacing let a packet leave at `now`.
    #[inline]
    pub(super) fn admits(&mut self, controller: &Controller, now: Instant) -> bool {
        let has_room = self.in_flight < self.window(controller);
        if !has_room && self.rate.is_some() {
            self.note_held_back(controller);
        }
        let admits = has_room && self.pacer.admits(now + self.pacing_burst);
        self.is_application_limited &= admits;
        admits
    }

    /// There is nothing to send.
    #[inline]
    pub(super) fn on_nothing_to_send(&mut self, controller: &Controller) {
        self.is_application_limited = self.in_flight < self.window(controller);
        let until = self.delivered + u64::from(self.in_flight);
        if let Some(rate) = self.rate.as_deref_mut().filter(|_| self.is_application_limited) {
            rate.limit_until(until);
        }
    }

    /// Congestion control itself keeps the path from sending: what it sends now is application-limited.
    fn note_held_back(&mut self, controller: &Controller) {
        let until = self.delivered + u64::from(self.in_flight);
        if let Some(rate) = self.rate.as_deref_mut().filter(|_| controller.holds_back(self.path)) {
            rate.limit_until(until);
        }
    }

    /// The snapshot of packet `number` of application data, which is about to be sent, if rates are measured.
    #[inline]
    pub(super) fn snapshot(&mut self, number: u64, controller: &mut Controller, now: Instant) -> Option<Snapshot> {
        let (delivered, is_alone) = (self.delivered, self.in_flight == 0);
        let rate = self.rate.as_deref_mut()?;
        if is_alone {
            if rate.is_limited() {
                controller.on_restart(self.path, now);
            }
            rate.on_sent_alone(now);
        }
        Some(rate.snapshot(number, delivered))
    }

    /// A packet of `bytes` bytes that elicits an acknowledgment is sent; a full one has `unit_bytes` of data.
    pub(super) fn on_sent(&mut self, controller: &mut Controller, bytes: u32, unit_bytes: u32, now: Instant) {
        if self.in_flight == 0 {
            controller.on_transmit_after_idle(self.path, now, now.since(self.last_sent_at));
        }
        self.last_sent_at = now;
        self.in_flight += 1;
        controller.on_sent(self.path, 1);
        if self.pacer.is_on() {
            let rate = controller.pacing_rate(self.path, Outstanding { amount: self.in_flight, unit_bytes });
            self.pacer.on_sent(bytes, rate, now);
        }
    }

    /// Packets of a space whose keys are discarded are not in flight any more (RFC 9002, section 6.4).
    pub(super) fn on_discarded(&mut self, packets: u32) {
        self.in_flight -= packets;
        self.probe_count = 0;
    }

    /// Packets are newly acknowledged; `rtt` has a new sample if the delivery has. [`on_delivered`](Self::on_delivered)
    /// must follow, after losses were detected.
    pub(super) fn on_acknowledged(&mut self, controller: &mut Controller, delivery: &Delivery, rtt: &Rtt) -> Ack {
        if let (Some(_), Some(srtt), Some(min)) = (delivery.rtt, rtt.srtt(), rtt.min()) {
            controller.set_rtt(self.path, srtt, min);
        }
        let ack = Ack {
            now: delivery.now,
            acked: delivery.packets,
            rtt: delivery.rtt,
            una: delivery.una,
            nxt: delivery.nxt,
            in_flight: self.in_flight,
        };
        self.in_flight -= delivery.packets;
        self.delivered += u64::from(delivery.packets);
        controller.on_sample(self.path, &ack);
        // Section 7.3.2: recovery ends when a packet is acknowledged that was sent in it.
        if self.state(controller) != RecoveryState::Open && self.began_at.is_none_or(|at| delivery.latest_sent_at > at)
        {
            if self.state(controller).is_reducing() {
                controller.leave_recovery(self.path);
            }
            controller.on_state(self.path, RecoveryState::Open);
        }
        ack
    }

    /// Ends what [`on_acknowledged`](Self::on_acknowledged) began, after `lost` packets were found lost.
    pub(super) fn on_delivered(
        &mut self,
        controller: &mut Controller,
        (ack, lost, ce): (Ack, u32, u32),
        (unit_bytes, min_rtt): (u32, Option<Duration>),
    ) {
        let rate = self.take_rate_sample(&ack, unit_bytes, min_rtt);
        let sample = DeliverySample {
            ack,
            delivered: self.delivered,
            lost,
            in_flight: self.in_flight,
            ce,
            advanced: true,
            progress: true,
            window_limited: !self.is_application_limited,
            rate,
        };
        controller.on_delivered(self.path, &sample);
    }

    fn take_rate_sample(&mut self, ack: &Ack, unit_bytes: u32, min_rtt: Option<Duration>) -> Option<RateSample> {
        let rate = self.rate.as_deref_mut()?;
        let taken = rate.take(ack.acked, self.delivered, min_rtt.unwrap_or(Duration::ZERO), ack.now);
        Some(RateSample {
            delivered: taken.delivered,
            prior_delivered: taken.prior_delivered,
            interval: taken.interval,
            application_limited: taken.application_limited,
            // A single packet waits for the peer's delay of acknowledgments, whatever its size.
            ack_delayed: ack.acked == 1 && taken.prior_delivered + 1 == self.delivered,
            lost: self.lost,
            delivered_at: rate.delivered_at(),
            departure: self.pacer.departure(),
            unit_bytes,
        })
    }

    /// The peer reports marks of packets up to one that was sent at `sent_at`: the window is reduced once per round trip
    /// (section 7.1).
    pub(super) fn on_marked(&mut self, controller: &mut Controller, sent_at: Instant, now: Instant) {
        if self.began_at.is_none_or(|began_at| sent_at > began_at) {
            self.began_at = Some(now);
            controller.on_mark(self.path, &Loss { now, in_flight: self.in_flight, by_timer: false });
        }
    }

    /// Packets are lost: the window is reduced once per round trip.
    pub(super) fn on_lost(&mut self, controller: &mut Controller, losses: &Losses, by_timer: bool, now: Instant) {
        self.in_flight -= losses.packets;
        self.lost += u64::from(losses.packets);
        if self.began_at.is_none_or(|began_at| losses.latest_sent_at > began_at) {
            self.began_at = Some(now);
            controller.enter_recovery(self.path, &Loss { now, in_flight: self.in_flight, by_timer });
        }
    }

    /// Whether losses that span so long a time are persistent congestion (section 7.6).
    pub(super) fn is_persistent(span: Duration, rtt: &Rtt, max_ack_delay: Duration) -> bool {
        span >= (rtt.probe_timeout() + max_ack_delay) * PERSISTENT_CONGESTION_THRESHOLD
    }

    /// Persistent congestion: the window is the least one.
    pub(super) fn on_persistent_congestion(&mut self, controller: &mut Controller, now: Instant) {
        self.began_at = Some(now);
        controller.on_timeout(self.path, &Timeout { now, in_flight: self.in_flight, repeated: true });
    }

    /// The time after which a probe is sent, with backoff (section 6.2.1).
    pub(super) fn backed_off(&self, timeout: Duration) -> Duration {
        timeout.saturating_mul(1 << self.probe_count.min(30))
    }
}
