//! Congestion control (RFC 9002, section 7), probe timeouts and pacing of a path: the state that its packet number spaces
//! share. The controller is that of all paths.

use subflow_policy::congestion::{Ack, Controller, DeliverySample, Loss, Outstanding, Pacer, RecoveryState, Timeout};
use subflow_quantity::{Duration, Instant};

use super::Rtt;
use super::config::Config;
use super::sent::Losses;

/// The time of persistent congestion, in probe timeouts (section 7.6.1).
const PERSISTENT_CONGESTION_THRESHOLD: u64 = 3;

/// Windows, packets in flight, and the episode of recovery.
#[derive(Clone, Debug)]
pub(super) struct Recovery {
    /// The path's index in the controller.
    path: usize,
    pub(super) pacer: Pacer,
    in_flight: u32,
    /// When the latest reduction of the window began: losses of packets sent before cause no further one.
    began_at: Option<Instant>,
    /// Whether the application, not the window or pacing, limits what is sent.
    is_application_limited: bool,
    /// Packets delivered.
    delivered: u64,
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
            in_flight: 0,
            began_at: None,
            is_application_limited: true,
            delivered: 0,
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
        let admits = self.in_flight < self.window(controller) && self.pacer.admits(now);
        self.is_application_limited &= admits;
        admits
    }

    /// There is nothing to send.
    #[inline]
    pub(super) fn on_nothing_to_send(&mut self, controller: &Controller) {
        self.is_application_limited = self.in_flight < self.window(controller);
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
    pub(super) fn on_delivered(&self, controller: &mut Controller, ack: Ack, lost: u32) {
        let sample = DeliverySample {
            ack,
            delivered: self.delivered,
            lost,
            in_flight: self.in_flight,
            ce: 0,
            advanced: true,
            progress: true,
            window_limited: !self.is_application_limited,
            rate: None,
        };
        controller.on_delivered(self.path, &sample);
    }

    /// Packets are lost: the window is reduced once per round trip.
    pub(super) fn on_lost(&mut self, controller: &mut Controller, losses: &Losses, by_timer: bool, now: Instant) {
        self.in_flight -= losses.packets;
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
