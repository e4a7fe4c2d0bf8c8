//! Links whose queue discipline acts on departure.
//!
//! Their packets wait in a backlog, and the times of a packet are computed when its transmission starts; from then on it
//! is in the ring, like a packet on any other link. The next start is an event while packets wait. If another packet
//! comes at the same instant, the transmission has started before, whichever of the two events is processed first: what
//! a packet finds does not depend on the order of events.

use subflow_policy::queue::{Codepoint, Departed, Head, QueueDiscipline, Verdict};
use subflow_quantity::{Duration, Instant};

use super::extras::{Extras, QueueState};
use super::{Link, Parcel, Transmitter};
use crate::departures::{Departure, Departures};
use crate::packet_pool::PacketPool;

impl Link {
    /// Whether packets wait in a backlog.
    pub(crate) fn has_backlog(&self) -> bool {
        self.extras.backlog.is_some()
    }

    /// When the next transmission from the backlog starts; [`Instant::MAX`] if no packet waits.
    pub(crate) fn next_start(&self) -> Instant {
        self.extras.backlog.as_ref().map_or(Instant::MAX, |backlog| backlog.next_start)
    }

    /// The next event of the link: a start of a transmission or an arrival.
    pub(crate) fn next_event(&self) -> Instant {
        self.next_arrival().min(self.next_start())
    }

    /// The packets in the queue, including the one in transmission, at the last update.
    pub(crate) fn queued(&self) -> u32 {
        self.held() + self.waiting_for_channel().0 + self.extras.backlog.as_ref().map_or(0, |backlog| backlog.len())
    }

    /// Processes a packet that comes at `now` while the link is down.
    pub(crate) fn refuse(&mut self, now: Instant, parcel: Parcel, packets: &mut PacketPool) {
        self.extras.dropped.down += 1;
        self.report(now, parcel, packets);
        packets.release(parcel.packet);
    }

    /// Processes a packet that comes at `now`. It waits, starts to be transmitted or is dropped.
    pub(crate) fn enqueue(&mut self, now: Instant, parcel: Parcel, packets: &mut PacketPool) {
        self.start_transmissions(now, packets);
        self.catch_up(now);
        if !self.joins_backlog(now, parcel, packets) {
            self.report(now, parcel, packets);
            return packets.release(parcel.packet);
        }
        self.start_transmissions(now, packets);
        self.catch_up(now);
        self.times.max_queue = self.times.max_queue.max(self.queued());
    }

    /// Starts all transmissions that are due at `now`.
    pub(crate) fn start_transmissions(&mut self, now: Instant, packets: &mut PacketPool) {
        while self.next_start() <= now {
            let departed = self.take_from_backlog(self.next_start(), packets);
            let Some(backlog) = &self.extras.backlog else { return };
            let (ready, is_last) = (backlog.ready, backlog.is_empty());
            if let Some(departed) = departed {
                let first = self.restart_if_empty();
                self.schedule(departed.came, ready, departed.packet, first);
                self.report(self.last_departure, departed.packet, packets);
            }
            let next = if is_last { Instant::MAX } else { self.transmitter.takes_next_at(ready, self.last_departure) };
            self.extras.backlog.iter_mut().for_each(|backlog| backlog.next_start = next);
        }
    }

    /// The packet that the discipline chooses at `at`, if it does not drop all that wait.
    #[inline]
    pub(super) fn take_from_backlog(&mut self, at: Instant, packets: &mut PacketPool) -> Option<Departed<Parcel>> {
        let Extras { backlog: Some(backlog), departures, discipline, dropped, .. } = &mut *self.extras else {
            return None;
        };
        let times = &mut self.times;
        let departed = backlog.packets.depart(discipline, at, |removed| {
            dropped.queue += 1;
            times.count_removed(removed.came, at);
            report(departures, at, removed.packet, packets);
            packets.release(removed.packet.packet);
        })?;
        if departed.marked {
            self.extras.mark(&mut packets[departed.packet.packet]);
        }
        Some(departed)
    }

    /// Whether a packet is not lost before the queue and accepted by the discipline and the limit, with others dropped
    /// in its place if the discipline wants that. It then waits.
    fn joins_backlog(&mut self, now: Instant, parcel: Parcel, packets: &mut PacketPool) -> bool {
        if self.extras.loses_before_queue() {
            self.extras.dropped.loss += 1;
            return false;
        }
        let bytes = self.occupied(parcel);
        let (in_transmission, bytes_in_transmission) =
            if self.counts_transmitting { (self.held(), self.held_bytes) } else { (0, 0) };
        let (for_channel, bytes_for_channel) = self.waiting_for_channel();
        let (in_transmission, bytes_in_transmission) =
            (in_transmission + for_channel, bytes_in_transmission + bytes_for_channel);
        let (waiting, waiting_bytes) =
            self.extras.backlog.as_ref().map_or((0, 0), |backlog| (backlog.len(), backlog.bytes()));
        let queue = QueueState {
            packets: in_transmission + waiting,
            bytes: bytes_in_transmission + waiting_bytes,
            idle_since: if self.counts_transmitting { self.last_departure } else { self.last_start },
            last_departure: self.last_departure,
        };
        let speed = self.transmitter.speed();
        let arrival = self.extras.arrival(now, bytes, queue, speed, &packets[parcel.packet]);
        let Extras { backlog: Some(backlog), departures, discipline, dropped, .. } = &mut *self.extras else {
            return false;
        };
        if backlog.is_empty() && self.last_departure <= now {
            discipline.on_empty(self.last_departure);
        }
        let verdict = discipline.on_arrival(&arrival).applied_to(arrival.ecn);
        if verdict == Verdict::Drop {
            dropped.queue += 1;
            return false;
        }
        let fits = |packets, waiting_bytes| {
            self.limit.fits(in_transmission + packets, bytes_in_transmission + waiting_bytes, bytes)
        };
        let mut is_surplus_possible = false;
        while let waiting = backlog.packets.waiting()
            && !(fits(waiting.packets(), waiting.bytes()) && discipline.admits(&arrival, waiting))
        {
            dropped.queue += 1;
            let victim = discipline.victim(&arrival, waiting);
            let Some(removed) = victim.and_then(|victim| backlog.packets.remove(victim)) else { return false };
            self.times.count_removed(removed.came, now);
            report(departures, now, removed.packet, packets);
            packets.release(removed.packet.packet);
            is_surplus_possible = true;
        }
        while is_surplus_possible
            && let Some(removed) =
                discipline.surplus(backlog.packets.waiting()).and_then(|victim| backlog.packets.remove(victim))
        {
            dropped.queue += 1;
            self.times.count_removed(removed.came, now);
            report(departures, now, removed.packet, packets);
            packets.release(removed.packet.packet);
        }
        if backlog.is_empty() {
            backlog.ready = now;
            backlog.next_start = self.transmitter.takes_next_at(now, now.max(self.last_departure));
        }
        let marks = verdict == Verdict::Mark;
        let ecn = if marks { Codepoint::Ce } else { arrival.ecn };
        backlog.packets.push(discipline.queue_of(&arrival), Head { came: now, bytes, ecn }, parcel);
        if marks {
            self.extras.mark(&mut packets[parcel.packet]);
        }
        true
    }

    /// The transmission of a packet ends at `at`, or it was dropped then.
    pub(super) fn report(&mut self, at: Instant, parcel: Parcel, packets: &PacketPool) {
        report(&mut self.extras.departures, at, parcel, packets);
    }

    /// The next report of what has left the queue.
    pub(crate) fn next_departure(&mut self) -> Option<Departure> {
        self.extras.departures.as_mut()?.pop_front()
    }

    /// Whether there is one.
    pub(crate) fn has_departures(&self) -> bool {
        self.extras.departures.as_ref().is_some_and(|departures| !departures.is_empty())
    }

    /// Whether what leaves the queue is reported.
    pub(crate) fn reports_departures(&self) -> bool {
        self.extras.departures.is_some()
    }

    /// The transmitter was replaced at `now`, which changes when the next transmission starts.
    pub(super) fn wait_for_new_transmitter(&mut self, now: Instant) {
        let Some(backlog) = self.extras.backlog.as_mut().filter(|backlog| !backlog.is_empty()) else { return };
        // With a trace, packets may have waited for the next opportunity while nothing was transmitted.
        self.times.count_busy(backlog.ready.max(self.last_departure), now);
        backlog.ready = now;
        backlog.next_start = self.transmitter.takes_next_at(now, now.max(self.last_departure));
    }

    /// For how long packets in a backlog have waited for a block of a cellular link while nothing else was transmitted,
    /// which is not counted before they are taken.
    pub(super) fn waits_for_a_block(&self, now: Instant) -> Duration {
        match (&self.transmitter, &self.extras.backlog) {
            (Transmitter::Cellular(_), Some(backlog)) if !backlog.is_empty() => {
                now.since(backlog.ready.max(self.last_departure))
            }
            _ => Duration::ZERO,
        }
    }

    /// Drops all waiting packets because the link is down.
    pub(super) fn clear_backlog(&mut self, now: Instant, packets: &mut PacketPool) {
        self.clear_frames(now, packets);
        let Extras { backlog: Some(backlog), departures, dropped, .. } = &mut *self.extras else { return };
        if !backlog.is_empty() && !matches!(self.transmitter, Transmitter::Wifi(_)) {
            // As in `wait_for_new_transmitter`.
            self.times.count_busy(backlog.ready.max(self.last_departure), now);
            (self.last_departure, self.last_start) = (now, now);
        }
        for removed in backlog.packets.clear() {
            dropped.down += 1;
            self.times.count_removed(removed.came, now);
            report(departures, now, removed.packet, packets);
            packets.release(removed.packet.packet);
        }
        backlog.next_start = Instant::MAX;
    }
}

/// Reports `parcel` if that is wanted and it has data.
fn report(departures: &mut Option<Box<Departures>>, at: Instant, parcel: Parcel, packets: &PacketPool) {
    if let Some(departures) = departures {
        departures.extend(Departure::of(&packets[parcel.packet], at));
    }
}
