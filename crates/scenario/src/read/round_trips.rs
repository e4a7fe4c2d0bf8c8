//! Round trips need time. With a round-trip time of zero an endless connection would send and receive for ever at the
//! same simulated time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use subflow_network::{LinkChange, LinkConfig, Probability, Service};
use subflow_quantity::Duration;

use super::topology::Topology;
use crate::file::{Collector, Section};
use crate::{Attachment, Flow, InterfaceIndex, LinkEvent};

/// The shortest round trip over links of unlimited rate. With a window of 6 MB it gives 48 Tbit/s, more than any other
/// bound of the rate.
const SHORTEST: Duration = Duration::from_micros(1);

/// Rejects connections with a round trip shorter than [`SHORTEST`] of which no link bounds the rate.
pub(super) fn check(
    section: &Section<'_>,
    topology: &Topology,
    flows: &[Flow],
    timeline: &[LinkEvent],
    problems: &mut Collector,
) {
    let mut ways = Ways::of(topology, timeline);
    if ways.sent.is_empty() {
        return;
    }
    let mut flows = flows.iter().peekable();
    for (name, field) in section.entries_of("flows") {
        let Some(flow) = flows.next_if(|flow| flow.name == name) else { continue };
        let Some((from, to, time)) = ways.shortest_round_trip(topology, flow) else { continue };
        let (from_name, to_name) = (topology.interface_name(from), topology.interface_name(to));
        let (link, place) = &topology.plugged[&Attachment::Interface(from)];
        let link = &topology.links[*link].name;
        problems.add(
            field
                .problem(format!(
                    "packets go from {from_name} to {to_name} and back in {time}, and no link on the way bounds their \
                     rate; expected at least {SHORTEST}"
                ))
                .label("simulated time would stand still")
                .also(place, "they leave over this link")
                .help(format!("give a link on the way a rate or a delay, such as links.{link}")),
        );
    }
}

/// The directions of links that bound no rate and take less time than [`SHORTEST`]. An interface has one link, and
/// hosts do not forward packets, so a path consists of the sender's link, links between routers, and the receiver's
/// link.
struct Ways {
    /// The node at which a packet from an interface arrives, and the time until then.
    sent: BTreeMap<InterfaceIndex, (Attachment, Duration)>,
    /// The node from which an interface receives packets.
    received: BTreeMap<InterfaceIndex, (Attachment, Duration)>,
    between_routers: BTreeMap<usize, Vec<(usize, Duration)>>,
    /// The times from routers, computed on demand.
    times: BTreeMap<usize, BTreeMap<usize, Duration>>,
}

impl Ways {
    fn of(topology: &Topology, timeline: &[LinkEvent]) -> Self {
        use Attachment::{Interface, Router};
        let mut directions: Vec<[Direction; 2]> =
            topology.links.iter().map(|link| [Direction::of(&link.up), Direction::of(&link.down)]).collect();
        for event in timeline {
            for (direction, changes) in directions[event.link].iter_mut().zip([&event.up, &event.down]) {
                changes.iter().for_each(|change| direction.change(change));
            }
        }
        let mut ways = Self {
            sent: BTreeMap::new(),
            received: BTreeMap::new(),
            between_routers: BTreeMap::new(),
            times: BTreeMap::new(),
        };
        for (link, [up, down]) in topology.links.iter().zip(directions) {
            let [first, second] = link.ends;
            for (start, end, direction) in [(first, second, up), (second, first, down)] {
                let Some(time) = direction.time().filter(|time| *time < SHORTEST) else { continue };
                if let Interface(interface) = start {
                    ways.sent.insert(interface, (end, time));
                }
                if let Interface(interface) = end {
                    ways.received.insert(interface, (start, time));
                }
                if let (Router(start), Router(end)) = (start, end) {
                    ways.between_routers.entry(start).or_default().push((end, time));
                }
            }
        }
        ways
    }

    /// The first pair of interfaces that a connection can use whose round trip is too short.
    fn shortest_round_trip(
        &mut self,
        topology: &Topology,
        flow: &Flow,
    ) -> Option<(InterfaceIndex, InterfaceIndex, Duration)> {
        if flow.protocol.is_udp() {
            // Datagrams are sent at a constant rate, independent of round trips.
            return None;
        }
        let uses_all = flow.protocol.is_multipath();
        let interfaces = |end: InterfaceIndex| {
            let all = 0..topology.hosts[end.host].interfaces.len();
            let used = if uses_all { all } else { end.interface..end.interface + 1 };
            used.map(move |interface| InterfaceIndex { interface, ..end })
        };
        for from in interfaces(flow.from) {
            for to in interfaces(flow.to) {
                let there = self.time(from, to);
                let round_trip = there.and_then(|there| Some(there + self.time(to, from)?));
                if let Some(time) = round_trip.filter(|time| *time < SHORTEST) {
                    return Some((from, to, time));
                }
            }
        }
        None
    }

    /// The time that a packet takes from one interface to another, if it is less than [`SHORTEST`].
    fn time(&mut self, from: InterfaceIndex, to: InterfaceIndex) -> Option<Duration> {
        let &(next, first) = self.sent.get(&from)?;
        if next == Attachment::Interface(to) {
            return Some(first);
        }
        let &(previous, last) = self.received.get(&to)?;
        let (Attachment::Router(next), Attachment::Router(previous)) = (next, previous) else { return None };
        let between = *self.times_from(next).get(&previous)?;
        Some(first + between + last)
    }

    /// The times from a router to those that are reached in less than [`SHORTEST`] (Dijkstra's algorithm).
    fn times_from(&mut self, start: usize) -> &BTreeMap<usize, Duration> {
        let (onwards, known) = (&self.between_routers, &mut self.times);
        known.entry(start).or_insert_with(|| {
            let mut times = BTreeMap::new();
            let mut next = BinaryHeap::from([Reverse((Duration::ZERO, start))]);
            while let Some(Reverse((time, at))) = next.pop() {
                if time >= SHORTEST || times.contains_key(&at) {
                    continue;
                }
                times.insert(at, time);
                let links = onwards.get(&at).into_iter().flatten();
                next.extend(links.map(|&(end, link)| Reverse((time + link, end))));
            }
            times
        })
    }
}

/// The shortest delays of one direction of a link.
#[derive(Clone, Copy)]
struct Direction {
    bounds_rate: bool,
    delay: Duration,
    /// The delay that jitter adds.
    deviation: Duration,
    /// No packet has the delay of the link.
    skips_delay: bool,
}

impl Direction {
    fn of(config: &LinkConfig) -> Self {
        Self {
            bounds_rate: !matches!(config.service, Service::Unlimited),
            delay: config.delay,
            deviation: config.jitter.map_or(Duration::ZERO, |jitter| jitter.deviation),
            skips_delay: config
                .overtaking
                .is_some_and(|overtaking| overtaking.gap == 1 && overtaking.probability == Probability::ALWAYS),
        }
    }

    fn change(&mut self, change: &LinkChange) {
        match change {
            LinkChange::Service(Service::Unlimited) => self.bounds_rate = false,
            LinkChange::Delay(delay) => self.delay = self.delay.min(*delay),
            LinkChange::Service(_) | LinkChange::Loss(_) | LinkChange::Down | LinkChange::Up => {}
        }
    }

    /// The time that packets take; `None` if the rate of the link is bounded.
    fn time(self) -> Option<Duration> {
        let time = if self.skips_delay { Duration::ZERO } else { self.delay.max(self.deviation) };
        (!self.bounds_rate).then_some(time)
    }
}
