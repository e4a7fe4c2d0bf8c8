//! Which queue of a tin a packet joins, and whose share of the rate the queue takes part in: sets of eight queues, within
//! which a flow finds a free one, and the hosts of flows (Linux `cake_hash`).

use super::super::Arrival;
use crate::catalogue::Choice;

/// What makes a flow, and between which hosts the rate is shared first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Isolation {
    /// All packets are one flow.
    FlowBlind,
    /// Flows are hosts that send.
    SourceHost,
    /// Flows are hosts that receive.
    DestinationHost,
    /// Flows are pairs of hosts.
    Hosts,
    /// Flows are 5-tuples.
    Flows,
    /// Hosts that send share the rate, and the flows of each share its part.
    DualSourceHost,
    /// The same with hosts that receive.
    DualDestinationHost,
    /// Both: a flow gets the part that is the smaller one of the two.
    #[default]
    Triple,
}

impl Isolation {
    pub(super) const ALL: [Choice<Self>; 8] = [
        Choice::new("flowblind", Self::FlowBlind, "all packets are one flow"),
        Choice::new("srchost", Self::SourceHost, "flows are hosts that send"),
        Choice::new("dsthost", Self::DestinationHost, "flows are hosts that receive"),
        Choice::new("hosts", Self::Hosts, "flows are pairs of hosts"),
        Choice::new("flows", Self::Flows, "flows are 5-tuples"),
        Choice::new("dual-srchost", Self::DualSourceHost, "hosts that send share the rate, then their flows"),
        Choice::new("dual-dsthost", Self::DualDestinationHost, "hosts that receive share the rate, then their flows"),
        Choice::new("triple-isolate", Self::Triple, "both kinds of hosts share the rate, then their flows"),
    ];

    /// Whether hosts that send, and hosts that receive, share the rate.
    const fn shares_between_hosts(self) -> [bool; 2] {
        [matches!(self, Self::DualSourceHost | Self::Triple), matches!(self, Self::DualDestinationHost | Self::Triple)]
    }

    /// The hash and the tag of the flow of a packet. Flows of 5-tuples also differ if the hashes of their hosts do.
    fn flow(self, arrival: &Arrival) -> (u16, u64) {
        let [source, destination] = arrival.hosts;
        let alone = |hash: u16| (hash, u64::from(hash));
        match self {
            Self::FlowBlind => alone(0),
            Self::SourceHost => alone(source),
            Self::DestinationHost => alone(destination),
            Self::Hosts => alone(source ^ destination),
            Self::Flows | Self::DualSourceHost | Self::DualDestinationHost | Self::Triple => {
                let tag = u64::from(arrival.flow) | u64::from(source) << 16 | u64::from(destination) << 32;
                (arrival.flow, tag)
            }
        }
    }
}

/// The queues of a tin.
pub(super) const QUEUES: usize = 1024;

/// So many queues are a set.
const WAYS: usize = 8;

/// Whose the queues of a tin are.
#[derive(Clone, Debug)]
pub(super) struct Owners {
    /// The flow that had each queue last.
    flows: Vec<Option<u64>>,
    /// The places of the flow's hosts in `hosts`.
    ends: Vec<[u16; 2]>,
    /// Hosts that send, and hosts that receive.
    hosts: [Vec<Host>; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Host {
    hash: Option<u16>,
    /// Its flows that always have packets.
    bulk_flows: u16,
}

impl Owners {
    pub(super) fn new() -> Self {
        Self {
            flows: vec![None; QUEUES],
            ends: vec![[0; 2]; QUEUES],
            hosts: [vec![Host::default(); QUEUES], vec![Host::default(); QUEUES]],
        }
    }

    /// The queue in which packets of the same flow wait.
    pub(super) fn find(&self, isolation: Isolation, arrival: &Arrival) -> Option<u16> {
        let (hash, tag) = isolation.flow(arrival);
        ways(hash).find(|&queue| self.flows[queue] == Some(tag)).map(|queue| queue as u16)
    }

    /// The queue for a packet that comes: that of its flow, an unused one of the set, or that of another flow.
    pub(super) fn queue_for(
        &mut self,
        isolation: Isolation,
        arrival: &Arrival,
        is_used: impl Fn(usize) -> bool,
        is_bulk: impl Fn(usize) -> bool,
    ) -> u16 {
        let (hash, tag) = isolation.flow(arrival);
        let own = ways(hash).find(|&queue| self.flows[queue] == Some(tag));
        if let Some(queue) = own.filter(|&queue| is_used(queue)) {
            return queue as u16;
        }
        let free = || ways(hash).find(|&queue| !is_used(queue));
        let queue = own.or_else(free).unwrap_or(usize::from(hash) % QUEUES);
        if is_bulk(queue) {
            self.count_bulk(isolation, queue as u16, false);
        }
        self.flows[queue] = Some(tag);
        for (side, hosts) in self.hosts.iter_mut().enumerate() {
            if isolation.shares_between_hosts()[side] {
                self.ends[queue][side] = place_of(hosts, arrival.hosts[side]);
            }
        }
        if is_bulk(queue) {
            self.count_bulk(isolation, queue as u16, true);
        }
        queue as u16
    }

    /// The flow of `queue` has packets always from now on, or not any more.
    pub(super) fn count_bulk(&mut self, isolation: Isolation, queue: u16, more: bool) {
        for (side, hosts) in self.hosts.iter_mut().enumerate() {
            if isolation.shares_between_hosts()[side] {
                let host = &mut hosts[usize::from(self.ends[usize::from(queue)][side])];
                host.bulk_flows = if more { host.bulk_flows + 1 } else { host.bulk_flows.saturating_sub(1) };
            }
        }
    }

    /// Among how many flows a host of this queue's flow divides its share, of the host with more: at least 1.
    pub(super) fn host_load(&self, isolation: Isolation, queue: u16) -> u16 {
        let load = |side: usize| self.hosts[side][usize::from(self.ends[usize::from(queue)][side])].bulk_flows;
        let of_shared = (0..2).filter(|&side| isolation.shares_between_hosts()[side]).map(load);
        of_shared.max().unwrap_or(1).max(1)
    }
}

/// The places of the set of `hash`, from its own on.
fn ways(hash: u16) -> impl Iterator<Item = usize> {
    let place = usize::from(hash) % QUEUES;
    let set = place - place % WAYS;
    (0..WAYS).map(move |way| set + (place + way) % WAYS)
}

/// The place of a host: its own, or one without bulk flows, or that of another.
fn place_of(hosts: &mut [Host], hash: u16) -> u16 {
    let known = ways(hash).find(|&place| hosts[place].hash == Some(hash));
    let unused = || ways(hash).find(|&place| hosts[place].bulk_flows == 0);
    let place = known.or_else(unused).unwrap_or(usize::from(hash) % QUEUES);
    hosts[place].hash = Some(hash);
    place as u16
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Instant;

    use super::*;
    use crate::queue::tests::arrival;

    fn packet(flow: u16, hosts: [u16; 2]) -> Arrival {
        Arrival { hosts, ..arrival(Instant::ZERO, flow, 1500) }
    }

    #[test]
    fn eight_flows_of_a_set_have_queues_of_their_own_and_the_ninth_shares_one() {
        let mut owners = Owners::new();
        let mut used = Vec::new();
        // All of these have the remainder 3.
        for flow in 0..8 {
            let queue = owners.queue_for(
                Isolation::Flows,
                &packet(3 + 1024 * flow, [1, 2]),
                |queue| used.contains(&queue),
                |_| false,
            );
            used.push(usize::from(queue));
        }
        assert_eq!(used, [3, 4, 5, 6, 7, 0, 1, 2]);
        let again = owners.find(Isolation::Flows, &packet(3 + 1024 * 5, [1, 2]));
        assert_eq!(again, Some(0));
        let ninth = owners.queue_for(Isolation::Flows, &packet(3 + 1024 * 8, [1, 2]), |_| true, |_| false);
        assert_eq!(ninth, 3);
        // The same hash between other hosts is another flow.
        assert_eq!(owners.find(Isolation::Flows, &packet(3 + 1024, [1, 9])), None);
    }

    #[test]
    fn what_is_a_flow_depends_on_the_isolation() {
        let packets = [packet(10, [1, 2]), packet(20, [1, 2]), packet(30, [1, 3]), packet(40, [4, 2])];
        for (isolation, queues) in [
            (Isolation::FlowBlind, [0, 0, 0, 0]),
            (Isolation::SourceHost, [1, 1, 1, 4]),
            (Isolation::DestinationHost, [2, 2, 3, 2]),
            (Isolation::Hosts, [3, 3, 2, 6]),
            (Isolation::Flows, [10, 20, 30, 40]),
            (Isolation::Triple, [10, 20, 30, 40]),
        ] {
            let mut owners = Owners::new();
            let queue = |packet| owners.queue_for(isolation, packet, |_| false, |_| false);
            assert_eq!(packets.each_ref().map(queue), queues, "{isolation:?}");
        }
    }

    #[test]
    fn the_load_of_a_host_is_the_number_of_its_bulk_flows() {
        for (isolation, expected) in [
            (Isolation::Flows, [1, 1, 1]),
            (Isolation::DualSourceHost, [2, 2, 1]),
            (Isolation::DualDestinationHost, [1, 2, 2]),
            (Isolation::Triple, [2, 2, 2]),
        ] {
            let mut owners = Owners::new();
            // One sender has two flows, to two receivers; another sender has one, to the second of these.
            let queues = [packet(10, [1, 5]), packet(20, [1, 6]), packet(30, [2, 6])]
                .map(|packet| owners.queue_for(isolation, &packet, |_| false, |_| false));
            queues.iter().for_each(|&queue| owners.count_bulk(isolation, queue, true));
            assert_eq!(queues.map(|queue| owners.host_load(isolation, queue)), expected, "{isolation:?}");
            owners.count_bulk(isolation, queues[1], false);
            assert_eq!(owners.host_load(isolation, queues[0]), 1);
        }
    }
}
