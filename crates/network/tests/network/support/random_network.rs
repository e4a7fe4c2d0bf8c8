//! Random networks with random load.

use proptest::prelude::*;
use subflow_network::{
    Attachment, Bernoulli, CellularConfig, Distribution, Exchange, GilbertElliott, HostId, InterfaceId, Jitter, Limit,
    LinkChange, LinkConfig, LinkId, LinkMetrics, LossModel, LossPosition, Network, NetworkMetrics, Overtaking,
    Partition, Peak, Probability, QueueConfig, RadioPower, Reordering, RouteMetric, RouterMode, RoutingConfig, Service,
    TokenBucketConfig, TopologyBuilder, WifiConfig, WifiStandard,
};
use subflow_policy::catalogue::Catalogue;
use subflow_policy::queue::{CoDel, CoDelConfig, Discipline, RedConfig};
use subflow_quantity::{Duration, Rate};

use super::disciplines::{InTurn, WaitingFifo};
use super::{Arrival, Recorder, us};

/// The parameters of a random run. Indices are used modulo the number of items.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    routers: usize,
    /// Links between routers in addition to a tree.
    chords: Vec<(usize, usize)>,
    /// For each interface its router; each of the first half of the interfaces has its own host.
    interfaces: Vec<usize>,
    configs: Vec<LinkConfig>,
    by_delay: bool,
    mode: RouterMode,
    reroutes: bool,
    conversations: Vec<(usize, usize)>,
    /// Time in steps of 100 us, source, destination, packets, size.
    bursts: Vec<(u64, usize, usize, u32, u32)>,
    changes: Vec<(u64, usize, LinkChange)>,
    seed: u64,
    radios: bool,
}

/// The observable results of a run.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) arrivals: Vec<Arrival>,
    pub(crate) links: Vec<LinkMetrics>,
    /// Without the number of events.
    pub(crate) network: NetworkMetrics,
}

impl Scenario {
    /// The same with a backlog at every link without a discipline, from which all packets leave in the order of their
    /// arrival.
    pub(crate) fn with_backlogs(mut self) -> Self {
        for config in self.configs.iter_mut().filter(|config| config.queue.discipline.is_drop_tail()) {
            config.queue.discipline = Discipline::Custom("fifo".into(), Box::new(WaitingFifo));
        }
        self
    }

    /// The same with a radio at every interface.
    pub(crate) fn with_radios(self) -> Self {
        Self { radios: true, ..self }
    }

    /// The same with every other direction of a link over one of two WiFi channels.
    pub(crate) fn with_channels(mut self) -> Self {
        for (number, config) in self.configs.iter_mut().enumerate().step_by(2) {
            let channel = if number % 4 == 0 { "a" } else { "b" };
            let standard = if number % 4 == 0 { WifiStandard::N } else { WifiStandard::B };
            config.service = Service::Wifi(Box::new(WifiConfig::new(channel, standard, Rate::from_mbit(11))));
        }
        self
    }

    /// Leaves out new loss models of links whose losses are decided after the queue.
    pub(crate) fn without_changes_of_loss_after_queues(mut self) -> Self {
        let links = self.build(false).0.link_count();
        let configs = &self.configs;
        let is_after = |link: usize| configs[link % links % configs.len()].loss_position == LossPosition::AfterQueue;
        self.changes.retain(|(_, link, change)| !(matches!(change, LinkChange::Loss(_)) && is_after(*link)));
        self
    }

    pub(crate) fn build(&self, fuse: bool) -> (Network, Vec<InterfaceId>) {
        let mut topology = TopologyBuilder::new();
        let mut configs = self.configs.iter().cycle().cloned();
        let mut config = || configs.next().expect("configurations");
        let routers: Vec<_> = (0..self.routers).map(|n| topology.router(&format!("r{n}"), self.mode)).collect();
        for (n, &router) in routers.iter().enumerate().skip(1) {
            topology.link(&format!("tree{n}"), routers[(n - 1) / 2], router, config(), config());
        }
        for (n, &(a, b)) in self.chords.iter().enumerate() {
            let (a, b) = (routers[a % self.routers], routers[b % self.routers]);
            topology.link(&format!("chord{n}"), a, b, config(), config());
        }
        let own = self.interfaces.len().div_ceil(2);
        let mut hosts = Vec::new();
        let mut interfaces = Vec::new();
        for (n, &router) in self.interfaces.iter().enumerate() {
            if n < own {
                hosts.push(topology.host(&format!("h{n}")));
            }
            let interface = topology.interface(hosts[n % own], &format!("i{n}"));
            let router: Attachment = routers[router % self.routers].into();
            topology.link(&format!("access{n}"), interface, router, config(), config());
            interfaces.push(interface);
        }
        if self.radios {
            interfaces.iter().for_each(|&interface| topology.radio(interface, RadioPower::LTE_HUANG2012));
        }
        for &(a, b) in &self.conversations {
            topology.conversation(hosts[a % own], hosts[b % own]);
        }
        topology.metric(if self.by_delay { RouteMetric::Delay } else { RouteMetric::Hops });
        let reroute_after = self.reroutes.then_some(Duration::from_millis(3));
        topology.routing(RoutingConfig { reroute_after, ..RoutingConfig::default() });
        topology.fuse_hops(fuse);
        (topology.build(self.seed).expect("a connected network"), interfaces)
    }

    /// The network and its hosts before the run, with the load of those hosts for which `sends` is true.
    pub(crate) fn begin(&self, fuse: bool, sends: impl Fn(HostId) -> bool) -> (Network, Recorder) {
        let (mut network, interfaces) = self.build(fuse);
        let mut hosts = Recorder { answer_below: 1 << 16, ..Recorder::default() };
        let mut number = 0;
        for &(at, from, to, packets, size) in &self.bursts {
            let (from, to) = (interfaces[from % interfaces.len()], interfaces[to % interfaces.len()]);
            for _ in 0..packets {
                if sends(network.host_of(from)) {
                    hosts.send_at(&mut network, us(100 * at), from, to, number, size);
                }
                number += 1;
            }
        }
        for (at, link, change) in &self.changes {
            let link = LinkId::from_index(link % network.link_count());
            network.schedule_change(us(100 * at), link, change.clone());
        }
        (network, hosts)
    }

    /// A partition like `wishes`, the parts of the hosts and routers in turn, without links between parts that cannot
    /// be there.
    pub(crate) fn partition(&self, wishes: &[usize]) -> Partition {
        let own = self.interfaces.len().div_ceil(2);
        let tree = (1..self.routers).map(|n| [own + (n - 1) / 2, own + n]);
        let chords = self.chords.iter().map(|&(a, b)| [own + a % self.routers, own + b % self.routers]);
        let access = self.interfaces.iter().enumerate().map(|(n, router)| [n % own, own + router % self.routers]);
        let links: Vec<[usize; 2]> = tree.chain(chords).chain(access).collect();
        let mut configs = self.configs.iter().cycle();
        let mut least =
            || configs.next().is_none_or(|c| c.delay.is_zero() || c.jitter.is_some() || c.overtaking.is_some());
        let mut joined: Vec<bool> = links.iter().map(|_| least() | least()).collect();
        for (_, link, _) in &self.changes {
            joined[link % (2 * links.len()) / 2] = true;
        }
        let mut parts: Vec<usize> = wishes.iter().copied().cycle().take(own + self.routers).collect();
        for _ in 0..parts.len() {
            for (&[a, b], _) in links.iter().zip(&joined).filter(|(_, joined)| **joined) {
                let part = parts[a].min(parts[b]);
                (parts[a], parts[b]) = (part, part);
            }
        }
        Partition::new(parts[..own].to_vec(), parts[own..].to_vec())
    }

    /// Runs for 100 ms, divided into `steps` runs, with a thread for each part.
    pub(crate) fn run_parts(&self, partition: &Partition, steps: u64) -> (Outcome, u64) {
        let begin = |part: usize| self.begin(true, |host| partition.of_host(host) == part);
        let mut parts: Vec<(Network, Recorder)> = (0..partition.parts()).map(begin).collect();
        let mut lookahead = Duration::ZERO;
        for (number, (network, _)) in parts.iter_mut().enumerate() {
            lookahead = network.restrict(partition, number).expect("a partition of this network");
        }
        let exchange = Exchange::new(partition.parts(), lookahead);
        let mut links = Vec::new();
        for step in 1..=steps {
            let end = us(100_000 * step / steps);
            std::thread::scope(|scope| {
                for (network, hosts) in &mut parts {
                    scope.spawn(|| network.run_part_until(hosts, end, &exchange));
                }
            });
            let mut others = parts.iter_mut().map(|(network, _)| network);
            let whole = others.next().expect("a part");
            let mut others: Vec<&mut Network> = others.collect();
            Network::gather(whole, &mut others);
            links = (0..whole.link_count()).map(|link| whole.link_metrics(LinkId::from_index(link))).collect();
            Network::scatter(whole, &mut others);
        }
        let metrics = NetworkMetrics::sum(parts.iter().map(|(network, _)| network.metrics()));
        let arrivals = parts.iter().flat_map(|(_, hosts)| hosts.arrivals.clone()).collect();
        (Outcome { arrivals, links, network: NetworkMetrics { events: 0, ..metrics } }, metrics.events)
    }

    /// Runs for 100 ms, divided into `steps` runs.
    pub(crate) fn run(&self, fuse: bool, steps: u64) -> (Outcome, u64) {
        let (mut network, mut hosts) = self.begin(fuse, |_| true);
        for step in 1..=steps {
            network.run_until(&mut hosts, us(100_000 * step / steps));
        }
        let links = (0..network.link_count()).map(|link| network.link_metrics(LinkId::from_index(link))).collect();
        let metrics = network.metrics();
        let outcome = Outcome { arrivals: hosts.arrivals, links, network: NetworkMetrics { events: 0, ..metrics } };
        (outcome, metrics.events)
    }
}

/// Few different values, so that many events happen at the same instant.
fn delay() -> impl Strategy<Value = Duration> {
    prop_oneof![
        2 => Just(Duration::ZERO),
        3 => Just(Duration::from_micros(1200)),
        2 => (0u64..3).prop_map(Duration::from_millis),
        1 => (0u64..5000).prop_map(Duration::from_micros),
    ]
}

fn service() -> impl Strategy<Value = Service> {
    prop_oneof![
        1 => Just(Service::Unlimited),
        3 => Just(Service::Rate(Rate::from_mbit(10))),
        1 => (1u64..30).prop_map(|mbit| Service::Rate(Rate::from_mbit(mbit))),
        1 => (1500u32..9000, any::<bool>()).prop_map(|(burst, peak)| {
            let peak = peak.then_some(Peak { rate: Rate::from_mbit(30), burst: 1500 });
            Service::TokenBucket(TokenBucketConfig { rate: Rate::from_mbit(10), burst, peak })
        }),
    ]
}

/// Of links that do not change: what counts as in transmission on a cellular link is another number with a backlog.
fn first_service() -> impl Strategy<Value = Service> {
    prop_oneof![
        6 => service(),
        1 => (0u32..3, 0u64..3).prop_map(|(tenths, grant_delay)| Service::Cellular(CellularConfig {
            rate: Rate::from_mbit(10),
            tti: Duration::from_micros(1000),
            block_error_rate: Probability::new(f64::from(tenths) / 10.0).expect("a probability"),
            harq_intervals: 8,
            grant_delay: Duration::from_millis(grant_delay),
        })),
    ]
}

fn loss() -> impl Strategy<Value = Option<LossModel>> {
    let p = |value: f64| Probability::new(value).expect("a probability");
    prop_oneof![
        6 => Just(None),
        1 => Just(Some(Bernoulli::new(p(0.1)).into())),
        1 => Just(Some(LossModel::from(GilbertElliott {
            good_to_bad: p(0.1),
            bad_to_good: p(0.3),
            loss_in_bad: p(0.8),
            ..GilbertElliott::default()
        }))),
    ]
}

fn queue() -> impl Strategy<Value = QueueConfig> {
    prop_oneof![
        2 => Just(QueueConfig::default()),
        2 => (1u32..30).prop_map(QueueConfig::packets),
        1 => (1u32..30).prop_map(|limit| QueueConfig::packets(limit).counting_waiting_only()),
        1 => (1500u64..20_000).prop_map(QueueConfig::bytes),
        1 => Just(QueueConfig::red(
            RedConfig { weight: 0.2, max_probability: 0.3, ..RedConfig::floyd(2.0, 8.0) },
            Limit::Packets(20),
        )),
        2 => discipline_on_departure(),
    ]
}

fn discipline_on_departure() -> impl Strategy<Value = QueueConfig> {
    // Some packets wait for longer than 2 ms, and an interval is over within some bursts.
    let codel =
        CoDelConfig { target: Duration::from_millis(2), interval: Duration::from_millis(6), ..CoDelConfig::default() };
    let discipline = prop_oneof![
        2 => prop::sample::select(Discipline::prototypes()),
        1 => Just(Discipline::from(CoDel::new(codel))),
        1 => Just(Discipline::Custom("in-turn".into(), Box::new(InTurn::default()))),
    ];
    (discipline, 1u32..30, any::<bool>()).prop_map(|(discipline, limit, counts_transmitting)| QueueConfig {
        discipline,
        limit: Limit::Packets(limit),
        counts_transmitting,
    })
}

fn link() -> impl Strategy<Value = LinkConfig> {
    let disturbance = prop_oneof![
        8 => Just((Probability::NEVER, None)),
        1 => Just((Probability::new(0.2).unwrap(), None)),
        1 => Just((Probability::NEVER, Some(Reordering {
            probability: Probability::new(0.2).unwrap(),
            extra_delay: Duration::from_micros(2400),
        }))),
    ];
    let half = Probability::new(0.5).unwrap();
    let netem = prop_oneof![
        8 => Just((None, None)),
        1 => Just((Some(Jitter {
            deviation: Duration::from_micros(600),
            distribution: Distribution::Uniform,
            correlation: half,
        }), None)),
        1 => Just((None, Some(Overtaking { probability: half, correlation: half, gap: 2 }))),
    ];
    let flags = (any::<bool>(), any::<bool>());
    (first_service(), delay(), queue(), loss(), flags, disturbance, netem).prop_map(
        |(
            service,
            delay,
            queue,
            loss,
            (before, reports_departures),
            (duplication, reordering),
            (jitter, overtaking),
        )| LinkConfig {
            delay,
            queue: QueueConfig {
                counts_transmitting: queue.counts_transmitting || matches!(service, Service::Cellular(_)),
                ..queue
            },
            service,
            loss,
            loss_position: if before { LossPosition::BeforeQueue } else { LossPosition::AfterQueue },
            duplication,
            jitter,
            overtaking,
            reordering,
            reports_departures,
            overhead: 0,
        },
    )
}

fn change() -> impl Strategy<Value = LinkChange> {
    prop_oneof![
        service().prop_map(LinkChange::Service),
        delay().prop_map(LinkChange::Delay),
        loss().prop_map(LinkChange::Loss),
        Just(LinkChange::Down),
        Just(LinkChange::Up),
    ]
}

fn mode() -> impl Strategy<Value = RouterMode> {
    prop_oneof![2 => Just(RouterMode::ShortestPath), 1 => Just(RouterMode::EcmpFlow), 1 => Just(RouterMode::EcmpPacket)]
}

pub(crate) fn scenario() -> impl Strategy<Value = Scenario> {
    let index = 0usize..100;
    let burst = (0u64..500, index.clone(), index.clone(), 1u32..20, prop_oneof![Just(1500u32), 28u32..1500]);
    (
        (1usize..6, proptest::collection::vec((index.clone(), index.clone()), 0..3)),
        proptest::collection::vec(index.clone(), 2..7),
        proptest::collection::vec(link(), 1..12),
        (any::<bool>(), mode(), any::<bool>()),
        proptest::collection::vec((index.clone(), index.clone()), 0..3),
        proptest::collection::vec(burst, 1..30),
        proptest::collection::vec((0u64..800, index, change()), 0..3),
        any::<u64>(),
    )
        .prop_map(
            |(
                (routers, chords),
                interfaces,
                configs,
                (by_delay, mode, reroutes),
                conversations,
                bursts,
                changes,
                seed,
            )| {
                Scenario {
                    routers,
                    chords,
                    interfaces,
                    configs,
                    by_delay,
                    mode,
                    reroutes,
                    conversations,
                    bursts,
                    changes,
                    seed,
                    radios: false,
                }
            },
        )
}
