//! Changes of a link while packets are on it.

use subflow_quantity::{Duration, Instant};

use super::{Intake, Link, Service, Transmitter};
use crate::LossModel;
use crate::packet_pool::PacketPool;

/// A change of one direction of a link at some instant.
#[derive(Clone, Debug)]
pub enum LinkChange {
    /// Another rate. The transmitted part of the current packet stays transmitted; the rest is sent at the new rate.
    /// (When changing to or from a capacity trace, a token bucket or a cellular service, the whole packet is sent again.)
    /// A link over a WiFi channel stays one, and no other becomes one: such changes have no effect.
    Service(Service),
    /// Another propagation delay for packets that have not left yet. No packet overtakes an earlier one: after a
    /// decrease they arrive no earlier than the last packet with the old delay.
    Delay(Duration),
    /// Another loss model, or none. It applies to packets that have not left yet if loss is after the queue, else to packets
    /// that come later.
    Loss(Option<LossModel>),
    /// The link fails. All packets in the queue, including the one in transmission, and all that come later are
    /// dropped. Packets that have left still arrive.
    Down,
    /// The link works again.
    Up,
}

impl Link {
    /// Applies `change` at `now` to packets that have not left by then. Packets dropped by it are removed from `packets`.
    pub(crate) fn change(&mut self, now: Instant, change: LinkChange, packets: &mut PacketPool) {
        self.start_transmissions(now, packets);
        self.catch_up(now);
        match change {
            LinkChange::Service(service) => self.change_service(now, &service),
            LinkChange::Delay(delay) if self.extras.delays_differ() => {
                // For packets on the link the delay is drawn at the far end.
                self.extras.disturbance.iter_mut().for_each(|disturbance| disturbance.set_netem_delay(delay));
            }
            LinkChange::Delay(delay) => {
                self.delay = delay;
                self.recompute_arrivals(now);
            }
            LinkChange::Loss(model) => self.change_loss(model),
            LinkChange::Down => self.take_down(now, packets),
            LinkChange::Up => self.set_intake(Intake::of(&self.extras)),
        }
    }

    fn change_service(&mut self, now: Instant, service: &Service) {
        if self.wifi().is_some() || matches!(service, Service::Wifi(_)) {
            return;
        }
        let before = {
            let new = Transmitter::new(service, &mut self.extras.service_random);
            core::mem::replace(&mut self.transmitter, new)
        };
        let last_departure = self.last_departure;
        let mut turn = now;
        for number in self.held_numbers() {
            let overhead = u32::from(self.overhead);
            let packet = self.ring.at_mut(number);
            let bytes = u32::from(packet.parcel.size) + overhead;
            let departure = if number == self.departed {
                self.transmitter.departure_of_rest(&before, packet.departure.since(now), now, bytes)
            } else {
                self.transmitter.departure(now, turn, bytes)
            };
            self.times.move_departure(packet.departure, departure);
            packet.departure = departure;
            self.last_start = turn;
            self.last_departure = departure;
            turn = departure;
        }
        self.times.move_end_of_busy_period(last_departure, self.last_departure);
        self.recompute_arrivals(now);
        self.wait_for_new_transmitter(now);
    }

    fn set_intake(&mut self, intake: Intake) {
        self.intake = intake;
        self.plain = intake == Intake::AtOnce && self.extras.are_none();
    }

    fn change_loss(&mut self, model: Option<LossModel>) {
        self.extras.set_loss(model);
        self.set_intake(self.intake);
        for number in self.held_numbers() {
            let lost = self.extras.loses_after_queue();
            self.ring.at_mut(number).lost = lost;
        }
    }

    fn take_down(&mut self, now: Instant, packets: &mut PacketPool) {
        self.set_intake(Intake::Down);
        for number in self.held_numbers() {
            let packet = self.ring.at(number);
            packets.release(packet.parcel.packet);
            self.extras.dropped.down += 1;
            self.times.move_departure(packet.departure, now);
        }
        if self.held() > 0 {
            self.times.move_end_of_busy_period(self.last_departure, now);
            self.last_departure = now;
            self.last_start = now;
        }
        self.clear_backlog(now, packets);
        self.transmitter.clear(now);
        self.ring.truncate(self.departed);
        self.held_bytes = 0;
        self.recompute_arrivals(now);
    }

    /// Recomputes the arrivals of the held packets and the time of the last arrival.
    fn recompute_arrivals(&mut self, now: Instant) {
        self.last_arrival =
            if self.departed == self.delivered { now } else { self.ring.at(self.departed.wrapping_sub(1)).arrival };
        for number in self.held_numbers() {
            let packet = self.ring.at_mut(number);
            packet.arrival = packet.departure.saturating_add(self.delay).max(self.last_arrival);
            self.last_arrival = packet.arrival;
        }
    }

    /// The numbers of the descriptors of the packets held by the queue.
    fn held_numbers(&self) -> impl Iterator<Item = u32> + use<> {
        let first = self.departed;
        (0..self.held()).map(move |offset| first.wrapping_add(offset))
    }
}
