//! Which host and router belongs to which part.

use core::fmt;

use subflow_quantity::Duration;

use super::Part;
use crate::network::Change;
use crate::routing::Node;
use crate::{HostId, LinkId, Network, NetworkMetrics};

/// The part of each host and router of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    hosts: Vec<usize>,
    routers: Vec<usize>,
    parts: usize,
}

/// Why a network cannot be divided in this way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartitionError {
    /// The network has another number of hosts or routers than the partition.
    OtherNetwork,
    /// A link between two parts has no delay that all its packets have at least.
    NoDelay {
        /// The link.
        link: String,
    },
    /// A link between two parts changes during the run.
    Changes {
        /// The link.
        link: String,
    },
    /// The routers have a controller, which routes all flows.
    Controller,
    /// Packets of interfaces are passed to a tap.
    Tapped,
    /// Links have middleboxes, which see both directions.
    Middleboxes,
    /// Links share WiFi channels.
    Channels,
}

impl fmt::Display for PartitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherNetwork => write!(f, "the partition is that of another network"),
            Self::NoDelay { link } => write!(f, "the link {link} between two parts has no least delay"),
            Self::Changes { link } => write!(f, "the link {link} between two parts changes during the run"),
            Self::Controller => write!(f, "a controller routes all flows"),
            Self::Tapped => write!(f, "packets are passed to a tap"),
            Self::Middleboxes => write!(f, "links have middleboxes"),
            Self::Channels => write!(f, "links share WiFi channels"),
        }
    }
}

impl core::error::Error for PartitionError {}

impl Partition {
    /// From the part of each host and of each router, in the order in which they were added. Parts count from zero.
    pub fn new(hosts: Vec<usize>, routers: Vec<usize>) -> Self {
        let parts = hosts.iter().chain(&routers).max().map_or(1, |last| last + 1);
        Self { hosts, routers, parts }
    }

    /// The number of parts.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// The part of a host.
    pub fn of_host(&self, host: HostId) -> usize {
        self.hosts[host.index()]
    }
}

impl Network {
    /// Makes this network run `part` of `partition` only ([`Network::run_part_until`]). Returns the lookahead: how long
    /// a packet takes at least from one part to another. It is the same in all parts.
    ///
    /// Call it before the first run, after changes were scheduled.
    pub fn restrict(&mut self, partition: &Partition, part: usize) -> Result<Duration, PartitionError> {
        self.check_partition(partition)?;
        let of = |node| match node {
            Node::Router(router) => partition.routers[router as usize],
            Node::Interface(interface) => partition.of_host(self.hosts.interfaces[interface as usize].host),
        };
        let ends: Vec<[usize; 2]> = self.routing.wiring.edges.iter().map(|edge| [of(edge.from), of(edge.to)]).collect();
        let mut lookahead = Duration::MAX;
        for (link, [from, to]) in ends.iter().enumerate().filter(|(_, [from, to])| from != to) {
            let name = || self.link_name(LinkId::from_index(link)).to_owned();
            let delay = self.links[link].least_delay();
            if delay.is_zero() {
                return Err(PartitionError::NoDelay { link: name() });
            }
            let changes = |change: &Change| matches!(change, Change::Link(id, _) if id.index() == link);
            if self.changes.values().any(changes) {
                return Err(PartitionError::Changes { link: name() });
            }
            lookahead = lookahead.min(delay);
            debug_assert!(*from < partition.parts && *to < partition.parts);
        }
        for (link, [from, to]) in ends.iter().enumerate() {
            if from != to && *from == part {
                self.links[link].set_exported();
            }
        }
        self.part = Some(Box::new(Part::new(part, partition.parts, ends)));
        // The others would wait for it in vain.
        self.stop = None;
        Ok(lookahead)
    }

    fn check_partition(&self, partition: &Partition) -> Result<(), PartitionError> {
        let last_host = self.hosts.interfaces.iter().map(|interface| interface.host.index()).max();
        let enough = last_host.is_none_or(|last| last < partition.hosts.len());
        if !enough || partition.routers.len() != self.routing.wiring.routers {
            return Err(PartitionError::OtherNetwork);
        }
        if self.routing.flows.as_ref().is_some_and(|flows| flows.has_controller()) {
            return Err(PartitionError::Controller);
        }
        if self.has_middleboxes() {
            return Err(PartitionError::Middleboxes);
        }
        if self.wifi.are_any() {
            return Err(PartitionError::Channels);
        }
        if self.tap.is_some() { Err(PartitionError::Tapped) } else { Ok(()) }
    }

    /// Brings all links together in `whole`, the first part, with their counters at the end of the last run; `others`
    /// are the other parts in order. Nothing can be run until [`Network::scatter`] has undone it.
    pub fn gather(whole: &mut Self, others: &mut [&mut Self]) {
        for link in 0..whole.links.len() {
            match whole.ends_of(link) {
                [0, 0] => {}
                [0, to] => whole.links[link].collect_arrivals(&mut others[to - 1].links[link]),
                [from, 0] => others[from - 1].links[link].collect_arrivals(&mut whole.links[link]),
                [from, to] if from == to => {}
                [from, to] => {
                    let [sender, receiver] =
                        others.get_disjoint_mut([from - 1, to - 1]).expect("two different parts that exist");
                    sender.links[link].collect_arrivals(&mut receiver.links[link]);
                }
            }
        }
        Self::scatter(whole, others);
    }

    /// Undoes [`Network::gather`], so that all parts can be run further.
    pub fn scatter(whole: &mut Self, others: &mut [&mut Self]) {
        for link in 0..whole.links.len() {
            if let Some(owner) = whole.ends_of(link)[0].checked_sub(1) {
                core::mem::swap(&mut whole.links[link], &mut others[owner].links[link]);
            }
        }
    }

    fn ends_of(&self, link: usize) -> [usize; 2] {
        self.part.as_ref().map_or([0, 0], |part| part.ends(link))
    }
}

impl NetworkMetrics {
    /// The counters of a whole network from those of its parts.
    #[must_use]
    pub fn sum(parts: impl IntoIterator<Item = Self>) -> Self {
        parts.into_iter().fold(Self::default(), |sum, part| Self {
            transmitted: sum.transmitted + part.transmitted,
            duplicated: sum.duplicated + part.duplicated,
            delivered: sum.delivered + part.delivered,
            dropped: sum.dropped + part.dropped,
            dropped_unroutable: sum.dropped_unroutable + part.dropped_unroutable,
            in_flight: sum.in_flight + part.in_flight,
            packet_hops: sum.packet_hops + part.packet_hops,
            events: sum.events + part.events,
        })
    }
}
