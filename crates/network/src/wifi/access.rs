//! Accesses to WiFi channels in the event loop.
//!
//! The next access to a channel is an event among those of late packets, which a network without WiFi does not have. If it
//! moves, the old event stays, and is recognised by its time.

use rand_pcg::Pcg64Mcg;
use subflow_quantity::Duration;

use super::channel::{Access, Channel, Seat, Station};
use crate::link::OnAir;
use crate::{Hosts, Network};

/// A station that sends.
#[derive(Clone, Copy)]
struct Sender {
    station: usize,
    link: u32,
    on_air: OnAir,
}

impl Network {
    /// Link `index` is over a WiFi channel. If its sender has no station there yet, that has the stream `random`.
    pub(crate) fn join_channel(&mut self, index: u32, random: Pcg64Mcg) {
        let sender = self.routing.wiring.edges[index as usize].from;
        if let Some(config) = self.links[index as usize].wifi() {
            self.wifi.join(config, index, sender, random);
        }
    }

    /// Packets have come to the backlog of link `index`: its station contends, if it has one.
    #[inline]
    pub(crate) fn contend(&mut self, index: u32) {
        if self.wifi.are_any() && self.links[index as usize].has_frames() {
            self.contend_for_channel(index);
        }
    }

    fn contend_for_channel(&mut self, index: u32) {
        let Some(Seat { channel, station }) = self.wifi.seat(index) else { return };
        self.wifi.all[channel].contention.has_frames(station, self.now);
        self.schedule_access(channel);
    }

    fn schedule_access(&mut self, number: usize) {
        let channel = &mut self.wifi.all[number];
        let next = channel.contention.next_access().map(|at| Access { channel: number as u32, at });
        if next != channel.scheduled
            && let Some(access) = next
        {
            self.late_packets.push_access(access.at, access);
        }
        channel.scheduled = next;
    }

    /// Stations begin to send, unless the access was moved.
    pub(crate) fn access_channel<H: Hosts>(&mut self, hosts: &mut H, access: Access) {
        let number = access.channel as usize;
        if self.wifi.all[number].scheduled != Some(access) {
            return;
        }
        self.wifi.all[number].scheduled = None;
        let mut senders = Vec::new();
        for station in self.wifi.all[number].contention.access() {
            match self.begin_attempt(number, station) {
                Some(sender) => senders.push(sender),
                // The link has failed, or the queue discipline has dropped all that waited.
                None => self.wifi.all[number].contention.has_none(station),
            }
        }
        // Where nobody sends, the channel stays idle, and the waits go on.
        if !senders.is_empty() {
            self.wifi.all[number].contention.count_down();
        }
        match senders[..] {
            [] => {}
            [sender] => self.succeed(number, sender),
            _ => self.collide(number, &senders),
        }
        for Sender { station, link, .. } in &senders {
            let Channel { contention, stations, .. } = &mut self.wifi.all[number];
            if !stations[*station].links.iter().any(|link| self.links[*link as usize].has_frames()) {
                contention.has_none(*station);
            }
            self.report_departures(hosts, *link);
        }
        self.schedule_access(number);
    }

    /// The link for which `station` sends now, and what: again if that failed, else the next link in turn with packets.
    fn begin_attempt(&mut self, channel: usize, station: usize) -> Option<Sender> {
        let Station { links, turn, .. } = &mut self.wifi.all[channel].stations[station];
        let (count, first) = (links.len(), *turn);
        let repeated = links.iter().position(|link| self.links[*link as usize].repeats());
        for place in repeated.into_iter().chain((0..count).map(|offset| (first + offset) % count)) {
            let link = links[place];
            if let Some(on_air) = self.links[link as usize].begin_attempt(self.now, &mut self.packets) {
                *turn = place + 1;
                return Some(Sender { station, link, on_air });
            }
        }
        None
    }

    fn succeed(&mut self, channel: usize, Sender { station, link, on_air }: Sender) {
        let end = self.now + on_air.time;
        let before = self.links[link as usize].next_event();
        self.links[link as usize].send_aggregate(self.now, end, &mut self.packets);
        self.update_event_of(link, before);
        let contention = &mut self.wifi.all[channel].contention;
        contention.succeeded(station);
        contention.busy_until(end + on_air.response);
    }

    fn collide(&mut self, channel: usize, senders: &[Sender]) {
        let (mut longest, mut recovery) = (self.now, Duration::ZERO);
        for Sender { station, link, on_air } in senders {
            longest = longest.max(self.now + on_air.time);
            let waits = self.links[*link as usize].wifi().map(|config| config.after_collision());
            recovery = recovery.max(waits.unwrap_or_default());
            if self.wifi.all[channel].contention.failed(*station) {
                self.links[*link as usize].give_up(self.now, &mut self.packets);
            }
        }
        self.wifi.all[channel].contention.busy_until(longest + recovery);
    }
}
