//! Congestion control (RFC 9002, section 7), probe timeouts and pacing: the state that all packet number spaces share.

use subflow_policy::congestion::{
    Ack, Controller, DeliverySample, Loss, Outstanding, Pacer, RecoveryState, Rules, Timeout,
};
use subflow_quantity::{Duration, Instant};

use super::Rtt;
use super::config::Config;

/// The time of persistent congestion, in probe timeouts (section 7.6.1).
const PERSISTENT_CONGESTION_THRESHOLD: u64 = 3;
/// The only path of the controller.
const PATH: usize = 0;

/// Windows, packets in flight, and the episode of recovery.
#[derive(Clone, Debug)]
pub(super) struct Recovery {
    pub(super) controller: Controller,
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
    pub(super) fn new(config: &Config, now: Instant) -> Self {
        let mut controller = Controller::new(config.congestion.clone(), Rules::Rfc9002);
        controller.add_path(1, config.initial_window);
        Self {
            controller,
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
    pub(super) fn establish(&mut self, paced: bool, now: Instant) {
        let paced = paced || self.controller.needs_pacing();
        if paced {
            self.pacer = Pacer::ON;
        }
        self.controller.establish(PATH, paced, now);
    }

    /// Packets in flight, of all packet number spaces.
    #[inline]
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// The congestion window in packets.
    #[inline]
    pub(super) fn window(&self) -> u32 {
        self.controller.path(PATH).cwnd()
    }

    pub(super) fn state(&self) -> RecoveryState {
        self.controller.path(PATH).state()
    }

    /// Whether the window and pacing let a packet leave at `now`.
    #[inline]
    pub(super) fn admits(&mut self, now: Instant) -> bool {
        let admits = self.in_flight < self.window() && self.pacer.admits(now);
        self.is_application_limited &= admits;
        admits
    }

    /// There is nothing to send.
    #[inline]
    pub(super) fn on_nothing_to_send(&mut self) {
        self.is_application_limited = self.in_flight < self.window();
    }

    /// A packet of `bytes` bytes that elicits an acknowledgment is sent; a full one has `unit_bytes` of data.
    pub(super) fn on_sent(&mut self, bytes: u32, unit_bytes: u32, now: Instant) {
        if self.in_flight == 0 {
            self.controller.on_transmit_after_idle(PATH, now, now.since(self.last_sent_at));
        }
        self.last_sent_at = now;
        self.in_flight += 1;
        self.controller.on_sent(PATH, 1);
        if self.pacer.is_on() {
            let rate = self.controller.pacing_rate(PATH, Outstanding { amount: self.in_flight, unit_bytes });
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
    pub(super) fn on_acknowledged(&mut self, delivery: &Delivery, rtt: &Rtt) -> Ack {
        if let (Some(_), Some(srtt), Some(min)) = (delivery.rtt, rtt.srtt(), rtt.min()) {
            self.controller.set_rtt(PATH, srtt, min);
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
        self.controller.on_sample(PATH, &ack);
        // Section 7.3.2: recovery ends when a packet is acknowledged that was sent in it.
        if self.state() != RecoveryState::Open && self.began_at.is_none_or(|at| delivery.latest_sent_at > at) {
            if self.state().is_reducing() {
                self.controller.leave_recovery(PATH);
            }
            self.controller.on_state(PATH, RecoveryState::Open);
        }
        ack
    }

    /// Ends what [`on_acknowledged`](Self::on_acknowledged) began, after `lost` packets were found lost.
    pub(super) fn on_delivered(&mut self, ack: Ack, lost: u32) {
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
        self.controller.on_delivered(PATH, &sample);
    }

    /// Packets are lost, the latest of which was sent at `latest_sent_at`: the window is reduced once per round trip.
    pub(super) fn on_lost(&mut self, packets: u32, latest_sent_at: Instant, by_timer: bool, now: Instant) {
        self.in_flight -= packets;
        if self.began_at.is_none_or(|began_at| latest_sent_at > began_at) {
            self.began_at = Some(now);
            self.controller.enter_recovery(PATH, &Loss { now, in_flight: self.in_flight, by_timer });
        }
    }

    /// Whether losses that span so long a time are persistent congestion (section 7.6).
    pub(super) fn is_persistent(span: Duration, rtt: &Rtt, max_ack_delay: Duration) -> bool {
        span >= (rtt.probe_timeout() + max_ack_delay) * PERSISTENT_CONGESTION_THRESHOLD
    }

    /// Persistent congestion: the window is the least one.
    pub(super) fn on_persistent_congestion(&mut self, now: Instant) {
        self.began_at = Some(now);
        self.controller.on_timeout(PATH, &Timeout { now, in_flight: self.in_flight, repeated: true });
    }

    /// The time after which a probe is sent, with backoff (section 6.2.1).
    pub(super) fn backed_off(&self, timeout: Duration) -> Duration {
        timeout.saturating_mul(1 << self.probe_count.min(30))
    }
}
