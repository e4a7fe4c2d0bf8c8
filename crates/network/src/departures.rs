//! What leaves the queue of a host's interface, for hosts that limit how much of each connection's data is in it (TCP
//! small queues), and what leaves and reaches an interface with a radio.
//!
//! The end of a transmission is no event. A report is made when the transmission starts, and says when it ends; a packet
//! that is dropped is reported at once.

use std::collections::VecDeque;
use std::net::SocketAddr;

use subflow_quantity::Instant;
use subflow_wire::{Body, Packet};

use crate::host_table::FarEnd;
use crate::radio::{Meter, RadioPower, RadioUse};
use crate::{Hosts, InterfaceId, Network};

/// Data that leaves the queue of the interface from which it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Address and port of the sender.
    pub source: SocketAddr,
    /// Address and port of the receiver.
    pub destination: SocketAddr,
    /// Bytes of TCP payload, at least 1.
    pub payload: u32,
    /// When the packet has been transmitted, or when it was dropped.
    pub at: Instant,
}

/// Departures that the host has not been told yet, in the order in which they became known.
pub(crate) type Departures = VecDeque<Departure>;

impl Departure {
    /// That of `packet` at `at`; `None` unless it is a TCP segment with data.
    pub(crate) fn of(packet: &Packet, at: Instant) -> Option<Self> {
        let Body::Tcp(segment) = &packet.body else { return None };
        (segment.payload.length > 0).then(|| Self {
            source: SocketAddr::new(packet.ip.source, segment.source_port),
            destination: SocketAddr::new(packet.ip.destination, segment.destination_port),
            payload: segment.payload.length,
            at,
        })
    }
}

impl Network {
    /// Whether the host of `interface` is told what leaves the queue there.
    #[inline]
    pub fn reports_departures(&self, interface: InterfaceId) -> bool {
        let link = &self.links[self.hosts.interfaces[interface.index()].link.index()];
        !link.is_plain() && link.reports_departures()
    }

    /// The next departure from `interface` that its host has not been told.
    pub fn next_departure(&mut self, interface: InterfaceId) -> Option<Departure> {
        let link = self.hosts.interfaces[interface.index()].link;
        self.links[link.index()].next_departure()
    }

    /// Tells the host at the near end of link `index` if anything has left the queue.
    pub(crate) fn report_departures<H: Hosts>(&mut self, hosts: &mut H, index: u32) {
        // The near end of a direction is the far end of the opposite one.
        if self.links[index as usize].has_departures()
            && let FarEnd::Interface(interface) = self.links[(index ^ 1) as usize].far_end
        {
            hosts.handle_departures(self, interface);
        }
    }
}

impl Network {
    /// What the radio of `interface` has taken until now; `None` if it has none ([`crate::TopologyBuilder::radio`]).
    pub fn radio(&self, interface: InterfaceId) -> Option<RadioUse> {
        let mut meter = self.radios.get(interface.index())?.as_deref()?.clone();
        let link = self.hosts.interfaces[interface.index()].link;
        self.links[link.index()].left_by(self.now).for_each(|(at, bytes)| meter.sent(at, bytes));
        Some(meter.used_until(self.now))
    }

    /// Gives `interface` a radio that takes `power`.
    pub(crate) fn place_radio(&mut self, interface: InterfaceId, power: RadioPower) {
        self.radios.resize(self.hosts.interfaces.len(), None);
        self.radios[interface.index()] = Some(Box::new(Meter::new(power)));
        self.hosts.interfaces[interface.index()].place_radio();
    }

    /// Counts what has left on link `index`, which begins at a radio, until now.
    pub(crate) fn count_sent(&mut self, index: u32) {
        // The near end of a direction is the far end of the opposite one.
        let FarEnd::Interface(interface) = self.links[(index ^ 1) as usize].far_end else { return };
        let Some(meter) = self.radios.get_mut(interface.index()).and_then(Option::as_mut) else { return };
        let link = &mut self.links[index as usize];
        link.left_by(self.now).for_each(|(at, bytes)| meter.sent(at, bytes));
        link.count_left(self.now);
    }

    /// Counts a packet of `bytes` that arrives now at `interface`, if that has a radio.
    pub(crate) fn count_received(&mut self, interface: InterfaceId, bytes: u64) {
        self.count_sent(self.hosts.interfaces[interface.index()].link.0);
        if let Some(meter) = self.radios.get_mut(interface.index()).and_then(Option::as_mut) {
            meter.received(self.now, bytes);
        }
    }
}
