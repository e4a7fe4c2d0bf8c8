//! HEARTBEAT: confirms addresses, monitors idle ones (RFC 9260, sections 5.4 and 8.3), probes failed ones (RFC 7829).

use std::net::IpAddr;

use rand_core::RngCore;
use subflow_quantity::{Duration, Instant};
use subflow_wire::sctp::Chunk;

use super::Association;
use super::input::Origin;
use super::path_failure::Unanswered;
use super::reachability::Reachability;

/// The heartbeats of one destination.
#[derive(Clone, Debug, Default)]
pub(super) struct Heartbeat {
    /// When the next HEARTBEAT, or the answer to the last one, is due.
    at: Option<Instant>,
    /// The contents of the unanswered HEARTBEAT, and when it was sent.
    pending: Option<(u64, Instant)>,
}

impl Heartbeat {
    /// When the next one, or the answer to the last one, is due.
    #[inline]
    pub(super) fn at(&self) -> Option<Instant> {
        self.at
    }

    /// No further one is due.
    fn stop(&mut self) {
        self.at = None;
    }

    /// The time has come. Returns whether the last one was not answered.
    fn expire(&mut self) -> bool {
        self.at = None;
        self.pending.take().is_some()
    }

    /// An answer with the contents of the unanswered one. Returns when that was sent.
    fn answer(&mut self, contents: u64) -> Option<Instant> {
        self.pending.take_if(|(expected, _)| *expected == contents).map(|(_, sent_at)| sent_at)
    }
}

/// The contents of a HEARTBEAT and its HEARTBEAT ACK: the index of the destination and a secret random number.
const HEARTBEAT_INFO_LENGTH: usize = 16;

impl Association {
    /// The association is established, or the destination has become potentially failed: a destination that has to be
    /// probed is probed at once or after an RTO, another one when it is idle.
    pub(super) fn start_heartbeat(&mut self, index: usize, now: Instant) {
        let at_once = match self.destinations[index].reachability() {
            Reachability::Unconfirmed => true,
            Reachability::PotentiallyFailed => self.config.probe_at_once,
            Reachability::Active | Reachability::Inactive => false,
        };
        if at_once && self.probing_interval(index).is_some() {
            self.send_heartbeat(index, now);
        } else {
            self.schedule_heartbeat(index, now);
        }
    }

    /// Sends a HEARTBEAT, of which an earlier one that is not answered is forgotten, and schedules the next.
    pub(super) fn send_heartbeat(&mut self, index: usize, now: Instant) {
        let nonce = self.rng.next_u64();
        let destination = &mut self.destinations[index];
        destination.counters.heartbeats_sent += 1;
        destination.heartbeat.pending = Some((nonce, now));
        let info = [(index as u64).to_be_bytes(), nonce.to_be_bytes()].concat();
        self.control.push(index, Chunk::Heartbeat(info.into_boxed_slice()));
        self.schedule_heartbeat(index, now);
    }

    /// The next one is due after the interval plus an RTO with a jitter of ±50 %.
    fn schedule_heartbeat(&mut self, index: usize, now: Instant) {
        let Some(interval) = self.probing_interval(index) else {
            self.destinations[index].heartbeat.stop();
            return;
        };
        let rto = self.destinations[index].timer.rto();
        let jitter = Duration::from_nanos(self.rng.next_u64() % rto.as_nanos().max(1));
        let delay = interval + rto / 2 + jitter;
        self.destinations[index].heartbeat.at = Some(self.config.deadline(now, delay));
    }

    /// HB.interval has changed.
    pub(super) fn reschedule_heartbeat(&mut self, index: usize, now: Instant) {
        if self.destinations[index].heartbeat.pending.is_none() {
            self.schedule_heartbeat(index, now);
        }
    }

    /// HB.interval; zero for an address that is potentially failed (RFC 7829, section 3.2), or not confirmed yet, until
    /// Path.Max.Retrans probes have gone unanswered (section 5.4). `None` where no HEARTBEAT is due: they are disabled,
    /// or end with SHUTDOWN and SHUTDOWN ACK (section 8.3).
    fn probing_interval(&self, index: usize) -> Option<Duration> {
        let probes = self.phase.state().may_send_data();
        let destination = &self.destinations[index];
        let at_once = match destination.reachability() {
            Reachability::PotentiallyFailed => true,
            Reachability::Unconfirmed => destination.health.errors() <= self.config.path_max_retransmissions,
            Reachability::Active | Reachability::Inactive => false,
        };
        let interval = if at_once { Some(Duration::ZERO) } else { self.config.heartbeat_interval };
        interval.filter(|_| probes)
    }

    /// SHUTDOWN or SHUTDOWN ACK is sent: no further HEARTBEAT is.
    pub(super) fn stop_heartbeats(&mut self) {
        self.destinations.iter_mut().for_each(|destination| destination.heartbeat.stop());
    }

    pub(super) fn on_heartbeat_timer(&mut self, index: usize, now: Instant) {
        let destination = &mut self.destinations[index];
        if destination.heartbeat.expire() {
            destination.timer.back_off();
            self.on_destination_error(index, Unanswered::Heartbeat, now);
            if self.phase.is_closed() || self.probing_interval(index).is_none() {
                return;
            }
        } else if self.destinations[index].is_active() && self.is_busy(index, now) {
            // Data that is acknowledged or times out gives the same information.
            self.schedule_heartbeat(index, now);
            return;
        }
        self.decay_idle_window(index, now);
        self.send_heartbeat(index, now);
    }

    /// Whether data was sent there within the interval.
    fn is_busy(&self, index: usize, now: Instant) -> bool {
        let interval = self.config.heartbeat_interval.unwrap_or(Duration::ZERO);
        let destination = &self.destinations[index];
        destination.flight.bytes() > 0 || destination.idle.is_below(interval, now)
    }

    /// A HEARTBEAT is returned to its source address, from the one that it was sent to, unchanged: it asks about this
    /// pair of addresses.
    pub(super) fn answer_heartbeat(&mut self, info: Box<[u8]>, origin: Origin) {
        if let Some(destination) = origin.destination {
            self.control.push_answer(destination, origin.local, Chunk::HeartbeatAck(info));
        }
    }

    pub(super) fn on_heartbeat_ack(&mut self, info: &[u8], now: Instant) {
        let Some((index, nonce)) = info.split_at_checked(HEARTBEAT_INFO_LENGTH / 2) else { return };
        let (Ok(index), Ok(nonce)) = (index.try_into(), nonce.try_into()) else { return };
        let (index, nonce) = (u64::from_be_bytes(index) as usize, u64::from_be_bytes(nonce));
        if index >= self.destinations.len() {
            return;
        }
        let Some(sent_at) = self.destinations[index].heartbeat.answer(nonce) else { return };
        self.on_rtt(index, now.since(sent_at));
        self.destinations.on_answer();
        self.set_active(index);
        self.schedule_heartbeat(index, now);
    }

    /// The peer is proven to have this address: only the peer could have sent the packet.
    pub(super) fn confirm(&mut self, source: IpAddr) {
        for index in 0..self.destinations.len() {
            if index == 0 || self.destinations[index].remote == source {
                self.set_active(index);
            }
        }
    }
}
